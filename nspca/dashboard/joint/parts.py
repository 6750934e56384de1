"""Images and their parts: a row of pictures per method, and an image put together again."""

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from nspca.dashboard.app import state, wording
from nspca.dashboard.components import figures
from nspca.dashboard.joint import stability
from nspca.dashboard.joint.form import Subject
from nspca.dashboard.joint.outcome import Outcome, View
from nspca.dashboard.joint.views import heading, ordered
from nspca.plots.joint import parts_figure, pictures_figure, union_figure

SUBJECT = Subject(
    "parts", "pictures", "part", "pixel", "cbcl", "digits", lambda data: data.image_shape is not None, 5, 40
)
HOW = """Each image is its mean plus the sum of the parts, each times its score. The parts do not overlap and
have length one, so the scores
are the least-squares coefficients as well: no other mixture of these parts comes closer. Where there is no
part, the mean is seen."""
HOW_RAW = HOW.replace("its mean plus the sum of the parts", "the sum of the parts").replace(
    "the mean is seen", "the image is black"
)


def components(outcome: Outcome) -> None:
    """One row of pictures per method."""
    results = ordered(outcome.results)
    if not outcome.live:
        _together(outcome, results)
    for method, figure in rows(outcome).items():
        st.markdown(heading(outcome, results[method]))
        figures.draw(figure, f"parts_{method}_{outcome.run_id}", same=outcome.run_id)


def rows(outcome: Outcome) -> dict[str, go.Figure]:
    """The parts of each method side by side, all on one scale."""
    data, total = outcome.of.dataset, outcome.problem.total_variance or 1.0
    results, drawn = ordered(outcome.results), {}
    largest = max(float(np.abs(result.components).max()) for result in results.values())
    for method, result in results.items():
        captions = [f"{j}: {100 * value / total:.1f} %" for j, value in enumerate(result.values, 1)]
        options = {"mean": _behind(outcome), "captions": captions, "largest": largest, "name": method}
        drawn[method] = parts_figure(result.components, data.image_shape, **options)
    return drawn


def union(outcome: Outcome) -> go.Figure:
    """All parts of the best method in one image, each in its colour."""
    best = outcome.best
    X = ordered(outcome.results)[best].components
    return union_figure(X, outcome.of.dataset.image_shape, mean=_behind(outcome), name=best)


def taken(outcome: Outcome) -> dict[str, go.Figure]:
    """The pictures of the parts, by name."""
    drawn = {f"parts-by-{method}": figure for method, figure in rows(outcome).items()}
    return {f"all-parts-by-{outcome.best}": union(outcome), **drawn}


def _behind(outcome: Outcome) -> np.ndarray | None:
    return outcome.of.dataset.X.mean(axis=0) if state.get("over") else None


def _together(outcome: Outcome, results: dict) -> None:
    """The best method in one image, and what that shows."""
    best = outcome.best
    left, right = st.columns([3, 4], gap="medium", vertical_alignment="center")
    with left:
        figures.draw(union(outcome), f"union_{outcome.run_id}")
    with right:
        used = int(np.count_nonzero(results[best].components.any(axis=1)))
        st.markdown(
            f"**All {outcome.about.count(outcome.asked.r)} in one image**, each in its own colour: they "
            f"share no pixel, and leave {outcome.problem.n - used} of {outcome.problem.n} pixels out. "
            "Below, each part by itself with the share of the total variance that it explains, all on one "
            "scale of colour."
        )
        help_over = "The mean of all images, in grey behind the parts; without it a part stands alone."
        st.toggle("Over the mean image", help=help_over, **state.bind("over"))


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
    figures.draw(
        pictures_figure(pictures, data.image_shape, captions, low=low, high=high), f"again_{outcome.run_id}"
    )
    _one_after_another(outcome, face)
    off = "the mean" if outcome.asked.center else "black"
    st.caption(
        f"{wording.plain(data.sample_names[face - 1])}. In %: how much of its difference from {off} (sum of "
        f"squares{', each pixel over its standard deviation' if outcome.asked.scale else ''}) the parts "
        f"explain. {HOW if outcome.asked.center else HOW_RAW}"
    )
    stability.show(outcome, _recurring)


def _recurring(outcome: Outcome, F: np.ndarray, overlaps: list[float]) -> None:
    """Each part shaded by how often its pixels come up."""
    captions = [f"{j}: {100 * overlap:.0f} %" for j, overlap in enumerate(overlaps, 1)]
    figure = parts_figure(
        F, outcome.of.dataset.image_shape, captions=captions, largest=1.0, name=outcome.best
    )
    figure.data[1].hovertemplate = "part %{customdata}: in %{z:.0%} of the draws<extra></extra>"
    figures.draw(figure, f"stability_{outcome.run_id}")
    st.caption(
        "A pixel is the darker the more draws have it in this part: parts with sharp edges do not hang on "
        "which images were there. In %: how much of a part the draws have, weights counted, on average."
    )


def _one_after_another(outcome: Outcome, face: int) -> None:
    """The chosen image growing: the parts of the best method added one by one, and what is still missing."""
    data, best = outcome.of.dataset, outcome.best
    X, original = ordered(outcome.results)[best].components, data.X[face - 1].astype(float)
    steps = [
        reconstruction(data.X, outcome.problem, X[:, :count], face - 1) for count in range(X.shape[1] + 1)
    ]
    captions = [
        "mean" if outcome.asked.center else "nothing",
        *(f"+ {j}: {100 * (1 - share):.0f} %" for j, (_, share) in enumerate(steps) if j),
    ]
    st.markdown(
        f"**One part after another**, by {wording.plain(best)}; in %: what is still missing of the original, "
        "the last one."
    )
    pictures = [*(picture for picture, _ in steps), original]
    scale = {"low": float(original.min()), "high": float(original.max()), "columns": 8}
    figures.draw(
        pictures_figure(pictures, data.image_shape, [*captions, "original"], **scale),
        f"growing_{outcome.run_id}",
    )


def reconstruction(X, problem, parts, row: int) -> tuple[np.ndarray, float]:
    """An image from disjoint unit `parts` (n, r) by its scores, and the share of its centred sum of squares
    that they explain.
    """
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
        st.button(
            "Previous", key="face_back", icon=":material/chevron_left:", on_click=_step, args=(face - 1, m)
        )
        face = st.slider("Image", 1, m, **state.bind("face", face))
        st.button("Next", key="face_on", icon=":material/chevron_right:", on_click=_step, args=(face + 1, m))
    return face


def _step(face: int, m: int) -> None:
    state.put(face=(face - 1) % m + 1)


EMPTY = "Nothing has run yet. Choose how many parts of how many pixels, and press Find; they appear here."
VIEW = View(components, again, lambda: None, EMPTY, taken)
