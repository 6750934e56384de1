"""Figures of a list of good answers: how often each feature occurs, and how far the sets are from each other.

`nspca.dashboard.proof.alone` draws them.
"""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from nspca.covariance.linalg import Array
from nspca.plots.theme import add_bars, add_curve, new_figure
from nspca.presentation.colours import MAIN, PROVED, RECOMMENDED, fade
from nspca.presentation.phrases import short

MOST = 40
"""Maximum number of features in a strip, those in most sets."""


def strip(counts: np.ndarray, total: int, names: Sequence[str]) -> go.Figure:
    """Draw in how many of `total` sets each feature (n,) is, the most frequent ones first."""
    order = np.argsort(-counts, kind="stable")[: min(MOST, np.count_nonzero(counts))]
    every = int((counts == total).sum())
    alt = f"Of {np.count_nonzero(counts)} features in {total} sets, {every} are in every set."
    figure = new_figure(alt, height=240, showlegend=False)
    at, colours = [*range(len(order))], [PROVED if counts[j] == total else fade(MAIN, 0.6) for j in order]
    hover = [f"{names[j]}: in {counts[j]} of {total} sets" for j in order]
    add_bars(figure, at, counts[order], colours, hover=hover)
    figure.update_xaxes(tickangle=-45, tickvals=at, ticktext=[short(str(names[j])) for j in order])
    return figure.update_yaxes(title_text=f"of {total} sets", range=[0, total])


def distances(components: Array) -> np.ndarray:
    """Return places (m, 2) of the sets of m components (n, m), as far apart as the features they exchange.

    Classical scaling of the numbers of features that one of two sets has and the other has not.
    """
    used = (components != 0).astype(float)
    common = used.T @ used
    apart = np.add.outer(common.diagonal(), common.diagonal()) - 2 * common
    apart -= apart.mean(axis=0)
    apart -= apart.mean(axis=1, keepdims=True)
    values, vectors = np.linalg.eigh(-apart / 2)
    return vectors[:, ::-1][:, :2] * np.sqrt(np.maximum(values[::-1][:2], 0))


def distance_map(components: Array, values: Array, value: float) -> go.Figure:
    """Draw the sets of m components (n, m) as points, near each other where they share features.

    `values` (m,) are what they explain, and `value` the best one.
    """
    places, loss = distances(components), 100 * (1 - values / value)
    alt = f"{len(values)} sets; the last one explains {loss.max():.3g} % less than the best."
    figure = new_figure(alt, height=320, showlegend=False)
    hover = [f"set {i}: −{lost:.3g} %" for i, lost in enumerate(loss, 1)]
    for own, colour, size in ((slice(1, None), fade(MAIN, 0.6), 8), (slice(0, 1), RECOMMENDED, 14)):
        x, y = places[own].T
        add_curve(figure, x, y, hover=hover[own], marker={"size": size, "color": colour})
    figure.update_xaxes(visible=False)
    return figure.update_yaxes(visible=False, scaleanchor="x")
