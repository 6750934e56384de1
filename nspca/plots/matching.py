"""Draw the matching of features to components of Asteris et al. 2015, on the pages of several components."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from nspca.plots.theme import add_curve, new_figure, plain
from nspca.presentation.colours import COLOURS, CONTEXT, MAIN, fade

NAME: dict[str, Any] = {"showarrow": False, "font": {"size": 14}}


def matching_figure(
    weights: ArrayLike, labels: ArrayLike, features: Any, components: Any, sizes: Sequence[int]
) -> go.Figure:
    """Draw the bipartite graph of Fig. 1 of Asteris et al. 2015: slots of the components left, features
    right, the matching bold.

    Parameters
    ----------
    weights : (n, r), W_ij^2: what feature i is worth in component j
    labels : (n,) int
        Component of every feature, -1 for unused.
    features, components : names, n and r
    sizes : r slots each
    """
    weights, labels = np.asarray(weights, float), np.asarray(labels)
    n, r = weights.shape
    total = float(sum(weights[i, labels[i]] for i in range(n) if labels[i] >= 0))
    chosen = "; ".join(
        f"{components[j]}: {', '.join(str(features[i]) for i in np.flatnonzero(labels == j))}"
        for j in range(r)
    )
    figure = new_figure(
        f"Matching of total weight {total:.4g}. {plain(chosen, 400)}.",
        height=max(300, 46 * n),
        showlegend=False,
    )
    slots = _slots(sizes, n)
    right = np.linspace(0, -(n - 1), n)
    for j in range(r):
        mine = np.flatnonzero(labels == j)
        to_slot = dict(zip(mine, slots[j], strict=False))
        other = [(y, right[i]) for i in range(n) for y in slots[j] if to_slot.get(i) != y]
        _edges(figure, other, fade(CONTEXT, 0.35), 1)
        colour, name = COLOURS[j % len(COLOURS)], plain(components[j])
        _edges(figure, [(y, right[i]) for i, y in to_slot.items()], colour, 4)
        _nodes(figure, 0, slots[j], colour, [f"slot {s + 1} of {name}" for s in range(len(slots[j]))])
        figure.add_annotation(x=-0.04, y=float(np.mean(slots[j])), text=name, xanchor="right", **NAME)
    colours = [COLOURS[j % len(COLOURS)] if j >= 0 else CONTEXT for j in labels]
    worth = [
        "<br>".join(f"{plain(components[j])}: W² = {weights[i, j]:.3g}" for j in range(r)) for i in range(n)
    ]
    _nodes(figure, 1, right, colours, [f"{plain(features[i])}<br>{worth[i]}" for i in range(n)])
    for i in range(n):
        name = plain(features[i], 18) + (f" {weights[i, labels[i]]:.2f}" if labels[i] >= 0 else "")
        figure.add_annotation(x=1.04, y=right[i], text=name, xanchor="left", **NAME)
    figure.update_xaxes(visible=False, range=[-0.42, 1.5], fixedrange=True)
    figure.update_yaxes(visible=False, range=[-n + 0.4, 0.6], fixedrange=True)
    return figure.update_layout(margin={"l": 4, "r": 4, "t": 8, "b": 8})


def _slots(sizes: Sequence[int], n: int) -> list[np.ndarray]:
    """Return the heights of the slots of each component, with a wider space between components."""
    heights, at = [], 0.0
    for size in sizes:
        heights.append(at - np.arange(size))
        at -= size + 0.6
    low = at + 1.6
    scale = (n - 1) / -low if low < 0 else 1.0
    return [height * scale for height in heights]


def _edges(figure: go.Figure, pairs: Any, colour: str, width: float) -> None:
    """Draw the lines of a matching, from x = 0 to x = 1, for pairs (left height, right height)."""
    xs, ys = [], []
    for left, right in pairs:
        xs += [0, 1, None]
        ys += [left, right, None]
    add_curve(figure, xs, ys, line={"color": colour, "width": width})


def _nodes(figure: go.Figure, x: float, ys: Any, colour: Any, text: Any) -> None:
    """Draw a column of dots at x, at the heights `ys`, with one colour or one each, and a hover text each."""
    marker = {"size": 14, "color": colour, "line": {"width": 1, "color": MAIN if x else "rgba(0,0,0,0)"}}
    add_curve(figure, [x] * len(ys), ys, hover=text, marker=marker)
