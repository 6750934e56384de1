"""Parts of images: components that share no pixel, and reconstructed images.

The page Components draws images by these functions.
"""

from functools import partial
from typing import Any

import numpy as np
import plotly.graph_objects as go
import scipy.sparse as sp
import streamlit as st

import nspca
from nspca.covariance.moments import moments
from nspca.dashboard.app import state, wording
from nspca.dashboard.components import figures
from nspca.dashboard.joint.headline import each, heading
from nspca.dashboard.proof.answer import Answer
from nspca.dashboard.views import component
from nspca.plots import fixing_figure
from nspca.plots.joint import parts_figure, pictures_figure, union_figure
from nspca.problem import Problem
from nspca.specs.optimum import Standing

HOW = (
    "An image is the mean image plus the sum of the parts, each times its score. Parts have length one and "
    "share no pixel, so no other mixture of these parts comes closer."
)
HOW_RAW = (
    "An image is the sum of the parts, each times its score. Parts have length one and share no pixel, so "
    "no other mixture of these parts comes closer. Pixels outside the parts are black."
)


def picture(answer: Answer) -> None:
    """Draw all parts of the best method in one image, and each part alone."""
    best = answer.method
    left, right = st.columns([3, 5], gap="medium", vertical_alignment="center")
    with left:
        figures.draw_plot(union(answer), f"union_{answer.id}")
    with right:
        figures.draw_plot(row(answer, best), f"parts_{best}_{answer.id}", same=answer.id)


def after(answer: Answer) -> str:
    """Return the sentence about the picture and the next step."""
    said = "A part has one number and one colour, and captures the percentage above its picture."
    if state.get("present"):
        return said
    return f"{said} Next, choose an image below to see it put together from the parts."


def so_far(answer: Answer) -> None:
    """Draw what a run at work has found, without a control."""
    st.markdown(heading(answer, answer.displayed))
    figures.draw_plot(row(answer, answer.method), f"row_{answer.id}", same=answer.id)


def row(answer: Answer, method: str) -> partial[go.Figure]:
    """Return the plot of the parts of a method side by side; all methods share a colour scale."""
    results = answer.ordered
    result = results[method]
    largest = max(float(np.abs(one.components).max()) for one in results.values())
    return partial(
        parts_figure,
        result.components,
        component.grid(answer.of.dataset),
        mean=_mean(answer),
        captions=captions(result, answer),
        largest=largest,
        name=method,
    )


def captions(result: nspca.Result, answer: Answer) -> list[str]:
    """Return the text above the picture of each part: its number, and the share that it captures."""
    return [f"{j}: {said}" for j, said in enumerate(each(result, answer), 1)]


def union(answer: Answer) -> partial[go.Figure]:
    """Return the plot of all parts of the best method in one image, each in a colour of its own."""
    X = answer.displayed.components
    return partial(union_figure, X, component.grid(answer.of.dataset), mean=_mean(answer), name=answer.method)


def fates(answer: Answer, result: nspca.Result, standing: Standing) -> None:
    """Draw which pixels of each part are certain, undecided or ruled out in a search for better parts."""
    figure = fixing_figure(
        result.components,
        standing.certain,
        standing.possible,
        image_shape=component.grid(answer.of.dataset),
        captions=captions(result, answer),
    )
    figures.draw(figure, "fixing", same=f"fixing {answer.id}")


def drawn(answer: Answer) -> dict[str, go.Figure]:
    """Return the figures for export, by file name."""
    rows = {f"parts-by-{method}": row(answer, method)() for method in answer.results}
    return {f"all-parts-by-{answer.method}": union(answer)(), **rows}


def _mean(answer: Answer) -> np.ndarray:
    """Return the mean image (n,), which is drawn behind the parts."""
    return moments(answer.of.dataset.X)[0]


def look(answer: Answer) -> None:
    """Draw a chosen image, its reconstruction by each method, and its reconstruction part by part."""
    data, problem, r = answer.of.dataset, answer.problem, answer.asked.r
    left, right = st.columns([2, 1], gap="medium", vertical_alignment="bottom")
    with left:
        face = _browse(data.X.shape[0])
    using = min(max(1, state.get("using") or r), r)
    if r > 1:
        using = right.slider("Parts used, largest first", 1, r, **state.bind("using", using))
    original = _image(data.X, face - 1)
    pictures, captions = [original], ["original"]
    for method, result in answer.ordered.items():
        made, explained = reconstruction(data.X, problem, result.components[:, :using], face - 1)
        pictures.append(made)
        captions.append(f"{method} {wording.down(explained)}")
    low, high = float(original.min()), float(original.max())
    figures.draw(
        pictures_figure(pictures, component.grid(data), captions, low=low, high=high),
        f"again_{answer.id}",
    )
    off = "the mean image" if answer.asked.center else "black"
    scaled = ", each pixel over its standard deviation" if answer.asked.scale else ""
    name, how = wording.plain(data.sample_names[face - 1]), HOW if answer.asked.center else HOW_RAW
    label = "" if data.labels is None else f", labelled {wording.plain(str(data.labels[face - 1]))}"
    st.caption(
        f"The original is {name}{label}. The percentage is the share of its difference from {off} that the "
        f"parts explain (sum of squares{scaled}). {how}"
    )
    _one_after_another(answer, face)


def recurring(answer: Answer, F: np.ndarray, overlaps: list[float]) -> None:
    """Draw each part with pixels shaded by their frequency under resampling (see `lists.recurring`)."""
    captions = [f"{j}: {100 * overlap:.0f} %" for j, overlap in enumerate(overlaps, 1)]
    figure = parts_figure(
        F, component.grid(answer.of.dataset), captions=captions, largest=1.0, name=answer.method
    )
    figure.data[1].hovertemplate = "part %{customdata}: in %{z:.0%} of the draws<extra></extra>"
    figures.draw(figure, f"stability_{answer.id}")
    st.caption(
        "A pixel is the darker the more draws have it in this part. Parts with sharp edges do not depend "
        "on which images were there. In %: how much of a part the draws have, weights counted, on average."
    )


def _one_after_another(answer: Answer, face: int) -> None:
    """Draw the reconstructions of a chosen image from the first 1, 2, ... parts of the best method."""
    data, best = answer.of.dataset, answer.method
    X, original = answer.displayed.components, _image(data.X, face - 1)
    steps = [
        reconstruction(data.X, answer.problem, X[:, :count], face - 1) for count in range(X.shape[1] + 1)
    ]
    captions = [
        "mean" if answer.asked.center else "nothing",
        *(f"+ {j}: {wording.down(explained)}" for j, (_, explained) in enumerate(steps) if j),
    ]
    st.markdown(
        f"**One part after another**, by {wording.plain(best)}: the share of the original, the last picture, "
        "that is explained so far."
    )
    pictures = [*(picture for picture, _ in steps), original]
    scale: dict[str, Any] = {"low": float(original.min()), "high": float(original.max()), "columns": 8}
    figures.draw(
        pictures_figure(pictures, component.grid(data), [*captions, "original"], **scale),
        f"growing_{answer.id}",
    )


def reconstruction(X: Any, problem: Problem, parts: np.ndarray, row: int) -> tuple[np.ndarray, float]:
    """Return the reconstruction (n,) of the image `row` from disjoint unit `parts` (n, r), and its share.

    The share is that of the sum of squares, centred and scaled as the problem says.
    """
    A, (mean, spread) = problem.covariance, moments(X)
    mean = mean if A.center else np.zeros(X.shape[1])
    spread = spread if A.scale else np.ones(X.shape[1])
    z = (_image(X, row) - mean) / spread
    scores = parts.T @ z
    return mean + spread * (parts @ scores), float(scores @ scores / (z @ z or 1.0))


def _image(X: Any, row: int) -> np.ndarray:
    """Return the image (n,) in a row of a table, which may be sparse."""
    image = X[[row]]
    return np.asarray(image.toarray() if sp.issparse(image) else image, float).ravel()


def _browse(m: int) -> int:
    """Draw the choice of one of m images, a slider with buttons, and return its number from 1."""
    face = min(max(1, state.get("face")), m)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.button(
            "Previous", key="face_back", icon=":material/chevron_left:", on_click=_step, args=(face - 1, m)
        )
        face = st.slider("Image", 1, m, **state.bind("face", face))
        st.button("Next", key="face_on", icon=":material/chevron_right:", on_click=_step, args=(face + 1, m))
    return face


def _step(face: int, m: int) -> None:
    """Choose image number `face` of m; after the last comes the first, and before the first the last."""
    state.put(face=(face - 1) % m + 1)
