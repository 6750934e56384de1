"""Parts of images: components that share no pixel, and an image put together from them."""

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
from nspca.dashboard.joint import annotations, samples
from nspca.dashboard.runs.answer import Answer
from nspca.dashboard.views import component
from nspca.plots.fixing import fixing_figure
from nspca.plots.joint import parts_figure, pictures_figure, union_figure
from nspca.problem import Problem
from nspca.specs.optimum import Standing

MOST_TRIED = 1000  # maximum images, evenly spaced, among which the one is chosen that the parts show best


def picture(answer: Answer) -> None:
    """Draw all parts in one image, each part alone, and one image put together from them."""
    left, right = st.columns([2, 3], gap="medium")
    with left:
        figures.draw_plot(union(answer), f"union_{answer.id}")
    with right:
        figures.draw_plot(row(answer), f"parts_{answer.id}", same=answer.id)
        _one_after_another(answer)


def so_far(answer: Answer) -> None:
    """Draw what a run at work has found, without a control."""
    figures.draw_plot(row(answer), f"row_{answer.id}", same=answer.id)


def look(answer: Answer) -> None:
    """Draw the images on a map, and how far the parts go with annotations."""
    st.markdown("### Which images have which parts")
    # Without annotations of few groups there is nothing beside the map.
    scores = samples.scores_of(answer)
    linked = scores is not None and annotations.links(scores, samples.label_columns(answer.of.dataset))
    left, right = st.columns([3, 2], gap="large") if linked else (st.container(), st.container())
    with left:
        samples.show(answer)
    with right:
        samples.search(answer)
        samples.say_outliers(answer)
        annotations.show(answer)


def row(answer: Answer, method: str = "") -> partial[go.Figure]:
    """Return the plot of the parts of a method side by side, by default of the shown one."""
    results, method = answer.ordered, method or answer.method
    largest = max(float(np.abs(one.components).max()) for one in results.values())
    return partial(
        parts_figure,
        results[method].components,
        component.grid(answer.of.dataset),
        mean=_mean(answer),
        captions=captions(results[method], answer),
        largest=largest,
        name=method,
    )


def captions(result: nspca.Result, answer: Answer) -> list[str]:
    """Return the text above the picture of each part: its number, and its share of the variance."""
    return [f"{j}: {said}" for j, said in enumerate(answer.shares(result), 1)]


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


def recurring(answer: Answer, F: np.ndarray, overlaps: list[float]) -> None:
    """Draw each part with pixels shaded by their frequency under resampling (see `lists.recurring`)."""
    figure = parts_figure(
        F,
        component.grid(answer.of.dataset),
        captions=[f"{j}: {100 * overlap:.0f} %" for j, overlap in enumerate(overlaps, 1)],
        largest=1.0,
        name=answer.method,
        hover="in %{z:.0%} of the draws",
    )
    figures.draw(figure, f"stability_{answer.id}", same=answer.id)
    st.caption(
        "A pixel is the darker the more draws have it in this part. Parts with sharp edges do not depend "
        "on which images were there. In %: how much of a part the draws have, weights counted, on average."
    )


def _mean(answer: Answer) -> np.ndarray:
    return moments(answer.of.dataset.X)[0]


def _one_after_another(answer: Answer) -> None:
    """Draw the choice of one image, and that image put together from the first 1, 2, ... parts."""
    data, X = answer.of.dataset, answer.displayed.components
    m = data.X.shape[0]
    face = min(state.get("face"), m)
    if face < 1:
        face = 1 + best_shown(data.X, answer.problem, X)
    figure = st.empty()
    name = wording.plain(data.sample_names[face - 1])
    start, whole = ("mean", "what differs from the mean") if answer.asked.center else ("nothing", "it")
    said = f"{name}, put together from the parts: how much of {whole} they show. Another image:"
    face = st.slider(said, 1, m, **state.bind("face", face))
    original = image(data.X, face - 1)
    steps = [
        reconstruction(data.X, answer.problem, X[:, :count], face - 1) for count in range(X.shape[1] + 1)
    ]
    captions = [start, *(f"+ {j}: {wording.down(explained)}" for j, (_, explained) in enumerate(steps) if j)]
    pictures = [*(picture for picture, _ in steps), original]
    scale = {"low": float(original.min()), "high": float(original.max())}
    with figure:
        figures.draw(
            pictures_figure(pictures, component.grid(data), [*captions, "original"], **scale),
            f"growing_{answer.id}",
        )


def reconstruction(X: Any, problem: Problem, parts: np.ndarray, row: int) -> tuple[np.ndarray, float]:
    """Return the reconstruction (n,) of the image `row` from disjoint unit `parts` (n, r), and its share.

    The share is that of the sum of squares, centred and scaled as the problem says. No other mixture of the
    parts comes closer, since they are orthonormal.
    """
    mean, spread = _prepared_by(X, problem)
    z = (image(X, row) - mean) / spread
    scores = parts.T @ z
    return mean + spread * (parts @ scores), float(scores @ scores / (z @ z or 1.0))


def best_shown(X: Any, problem: Problem, parts: np.ndarray) -> int:
    """Return the row of the image that the parts (n, r) show best, among at most `MOST_TRIED` of them."""
    mean, spread = _prepared_by(X, problem)
    rows = np.unique(np.linspace(0, X.shape[0] - 1, MOST_TRIED).astype(int))
    tried = X[rows].toarray() if sp.issparse(X) else X[rows]
    Z = (np.asarray(tried, float) - mean) / spread
    whole = np.square(Z).sum(axis=1)
    return int(rows[np.argmax(np.square(Z @ parts).sum(axis=1) / np.where(whole > 0, whole, 1.0))])


def _prepared_by(X: Any, problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """Return what a problem subtracts from each pixel (n,), and by what it divides it (n,)."""
    A, (mean, spread) = problem.covariance, moments(X)
    n = X.shape[1]
    return mean if A.center else np.zeros(n), spread if A.scale else np.ones(n)


def image(X: Any, row: int) -> np.ndarray:
    """Return the image (n,) in a row of a table, which may be sparse."""
    found = X[[row]]
    return np.asarray(found.toarray() if sp.issparse(found) else found, float).ravel()
