"""Draw the features of a search for a better component: certain, undecided or ruled out.

The search for the optimum on Home and Sweep draws `fixing_figure`, and the last screen of the lesson does.
"""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from nspca.plots.theme import hide_axes, new_figure, plain
from nspca.presentation.colours import CHOSEN, CONTEXT, PROVED, UNDECIDED, fade

CERTAIN, UNKNOWN, OUT = "in every better component", "undecided", "in no better component"
BEST, RULED_OUT = "in the best component", "ruled out"
NOW = "the best component so far"
LOOK = {OUT: fade(CONTEXT, 0.45), UNKNOWN: fade(UNDECIDED, 0.45), CERTAIN: fade(PROVED, 0.9)}
"""Colour of each kind of feature, in the order of the codes 0, 1 and 2 of `fates_of`."""
MOST = 40
"""Features drawn by name: as many as fit on a screen."""


def fates_of(x: np.ndarray, certain: np.ndarray, possible: np.ndarray) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return the code of each feature (n,) and the names of the codes: 0 ruled out, 1 undecided, 2 certain.

    When no feature is possible, no better component exists, and `x` is the best component.
    """
    if not possible.any():
        return np.where(x != 0, 2, 0), (RULED_OUT, UNKNOWN, BEST)
    return np.where(certain, 2, np.where(possible, 1, 0)), tuple(LOOK)


def fixing_figure(
    x: np.ndarray,
    certain: np.ndarray,
    possible: np.ndarray,
    *,
    image_shape: tuple[int, int] | None = None,
    names: Sequence[str] | None = None,
) -> go.Figure:
    """Draw the features of a search for a better component, each in a colour that says what is known of it.

    Parameters
    ----------
    x : (n,)
        Weights of the best component so far.
    certain, possible : (n,) bool
        Features that every better component has, and features that one may have.
    image_shape : (rows, columns), optional
        When features are pixels.
    names : sequence of str, optional
        Names of the features, when they are no pixels.
    """
    x, certain, possible = np.asarray(x, float), np.asarray(certain, bool), np.asarray(possible, bool)
    codes, words = fates_of(x, certain, possible)
    counts = [int(np.sum(codes == code)) for code in range(3)]
    said = ", ".join(f"{counts[code]:,} {words[code]}" for code in (2, 1, 0) if counts[code] or code != 1)
    figure = new_figure(f"{x.size:,} features: {said}.", height=420)
    for code in (2, 1, 0):
        if counts[code] or (code == 2 and words[code] == CERTAIN):
            _swatch(figure, f"{words[code]}: {counts[code]:,}", tuple(LOOK.values())[code], "square")
    if image_shape is not None:
        _add_pixels(figure, x, codes, image_shape, bool(possible.any()))
    else:
        _add_bars(figure, x, codes, names)
    return figure


def _swatch(figure: go.Figure, name: str, colour: str, symbol: str) -> None:
    """Add a legend entry."""
    marker = {"color": colour, "symbol": symbol, "size": 12}
    figure.add_scatter(x=[None], y=[None], mode="markers", marker=marker, name=name, hoverinfo="skip")


def _add_pixels(
    figure: go.Figure, x: np.ndarray, codes: np.ndarray, shape: tuple[int, int], is_open: bool
) -> None:
    """Draw each pixel in the colour of its code, with dots on the component while the search is open."""
    thirds = [(place / 3, colour) for i, colour in enumerate(LOOK.values()) for place in (i, i + 1)]
    figure.add_heatmap(
        z=codes.reshape(shape).astype(np.int8),
        zmin=-0.5,
        zmax=2.5,
        colorscale=thirds,
        showscale=False,
        xgap=1 if x.size < 500 else 0,
        ygap=1 if x.size < 500 else 0,
        hovertemplate="The pixel in row %{y}, column %{x}<extra></extra>",
    )
    rows, columns = np.divmod(np.flatnonzero(x), shape[1])
    dot = {"color": CHOSEN, "symbol": "circle", "size": 9 if x.size < 500 else 5}
    if is_open:
        figure.add_scatter(x=columns, y=rows, mode="markers", marker=dot, name=NOW, hoverinfo="skip")
    hide_axes(figure)


def _add_bars(figure: go.Figure, x: np.ndarray, codes: np.ndarray, names: Sequence[str] | None) -> None:
    """Draw a bar of its weight for each feature of the component, and list others that are not ruled out."""
    names = [f"feature {j}" for j in range(x.size)] if names is None else names
    rank = np.lexsort((np.arange(x.size), -codes, -np.abs(x)))
    shown = rank[(x[rank] != 0) | (codes[rank] > 0)][:MOST]
    at = np.arange(shown.size)
    colours = [tuple(LOOK.values())[code] for code in codes[shown]]
    weights = np.abs(x[shown])
    hover = [f"{plain(names[j])}<br>weight {x[j]:.3g}" for j in shown]
    figure.add_bar(
        x=weights,
        y=at,
        orientation="h",
        marker={"color": colours},
        text=hover,
        textposition="none",
        hovertemplate="%{text}<extra></extra>",
        showlegend=False,
    )
    marker = {"color": colours, "symbol": "square", "size": 9}
    figure.add_scatter(
        x=np.zeros(shown.size), y=at, mode="markers", marker=marker, showlegend=False, hoverinfo="skip"
    )
    left = int(np.sum((x != 0) | (codes > 0))) - shown.size
    title = "weight in the best component so far" + (f"; {left:,} more undecided" if left > 0 else "")
    figure.update_xaxes(title_text=title, rangemode="tozero")
    figure.update_yaxes(
        tickmode="array", tickvals=at, ticktext=[plain(names[j], 30) for j in shown], autorange="reversed"
    )
    figure.update_layout(height=max(260, 130 + 20 * shown.size))
