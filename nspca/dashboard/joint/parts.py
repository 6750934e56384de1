"""Images and their parts: a row of pictures per method, and an image put together again."""

import numpy as np
import streamlit as st

from nspca.dashboard.browser import figures
from nspca.dashboard.browser.live import live_plot
from nspca.dashboard.joint.form import Subject
from nspca.dashboard.joint.outcome import Outcome, View
from nspca.dashboard.joint.views import ordered
from nspca.dashboard.runs import methods
from nspca.dashboard.shell import state, words
from nspca.plots.joint import parts_figure, pictures_figure

SUBJECT = Subject("parts", "pictures", "part", "pixel", "cbcl", lambda data: data.image_shape is not None, 5, 40)
HOW = """Each image is its mean plus the sum of the parts, each times its score. The parts do not overlap and have length one, so the scores
are the least-squares coefficients as well: no other mixture of these parts comes closer. Where there is no part, the mean is seen."""
HOW_RAW = HOW.replace("its mean plus the sum of the parts", "the sum of the parts").replace("the mean is seen", "the image is black")


def components(outcome: Outcome) -> None:
    """One row of pictures per method."""
    data, total = outcome.of.dataset, outcome.problem.total_variance or 1.0
    results = ordered(outcome.results)
    mean = data.X.mean(axis=0)
    largest = max(float(np.abs(result.components).max()) for result in results.values())
    for method, result in results.items():
        st.markdown(
            f"**{words.plain(method)}** :small[:gray[{methods.how(method)}, {100 * result.value / total:.2f} % of the total variance]]"
        )
        captions = [f"{j}: {100 * value / total:.1f} %" for j, value in enumerate(result.values, 1)]
        figure = parts_figure(result.components, data.image_shape, mean=mean, captions=captions, largest=largest, name=method)
        if outcome.live:
            live_plot(figure, key=f"parts_{method}", height=figure.layout.height)
        else:
            figures.draw(figure, f"parts_{method}_{outcome.run_id}")


def again(outcome: Outcome) -> None:
    """A chosen image beside what each method makes of it."""
    data, problem, r = outcome.of.dataset, outcome.problem, outcome.asked.r
    m = data.X.shape[0]
    st.markdown("##### An image from its parts")
    left, right = st.columns([2, 1], gap="medium", vertical_alignment="bottom")
    with left:
        face = _browse(m)
    using = min(max(1, state.get("using") or r), r)
    if r > 1:
        using = right.slider("Parts used, largest first", 1, r, **state.bind("using", using))
    original = data.X[face - 1].astype(float)
    pictures, captions = [original], ["original"]
    for method, result in ordered(outcome.results).items():
        picture, share = reconstruction(data.X, problem, result.components[:, :using], face - 1)
        pictures.append(picture)
        captions.append(f"{method} {100 * share:.0f} %")
    low, high = float(original.min()), float(original.max())
    figures.draw(pictures_figure(pictures, data.image_shape, captions, low=low, high=high), f"again_{outcome.run_id}")
    off = "the mean" if outcome.asked.center else "black"
    st.caption(
        f"{words.plain(data.sample_names[face - 1])}. In %: how much of its difference from {off} "
        f"(sum of squares{', each pixel over its standard deviation' if outcome.asked.scale else ''}) the parts explain. "
        f"{HOW if outcome.asked.center else HOW_RAW}"
    )


def reconstruction(X, problem, parts, row: int) -> tuple[np.ndarray, float]:
    """An image from disjoint unit `parts` (n, r) by its scores, and the share of its centred sum of squares that they explain."""
    image = X[row].astype(float)
    A = problem.covariance
    mean = X.mean(axis=0) if A.center else np.zeros(X.shape[1])
    spread = X.std(axis=0) if A.scale else np.ones(X.shape[1])
    z = (image - mean) / spread
    scores = parts.T @ z
    return mean + spread * (parts @ scores), float(scores @ scores / (z @ z or 1.0))


def _browse(m: int) -> int:
    """The image that is looked at: a slider with a step back and a step on."""
    face = min(max(1, state.get("face")), m)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.button("Previous", key="face_back", icon=":material/chevron_left:", on_click=_step, args=(face - 1, m))
        face = st.slider("Image", 1, m, **state.bind("face", face))
        st.button("Next", key="face_on", icon=":material/chevron_right:", on_click=_step, args=(face + 1, m))
    return face


def _step(face: int, m: int) -> None:
    state.put(face=(face - 1) % m + 1)


EMPTY = "Nothing has run yet. Choose how many parts of how many pixels, and press Find; they appear here."
VIEW = View(components, again, lambda: None, EMPTY)
