"""Draw the features of a search for a better answer: certain, undecided or ruled out.

Searches for the optimum on Home, Sweep and Parts draw `fixing_figure`, and so does the last screen of the
lesson. An answer is one component, or several that share no feature.
"""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from nspca.plots.joint import IN_A_ROW, captioned
from nspca.plots.theme import (
    add_bars,
    add_curve,
    add_pixels,
    add_swatch,
    hide_axes,
    light,
    new_figure,
    plain,
    sheet,
)
from nspca.presentation.colours import CHOSEN, CONTEXT, PROVED, UNDECIDED, fade

CERTAIN, UNKNOWN, OUT = "in every better answer", "undecided", "in no better answer"
BEST, RULED_OUT = "in the best answer", "ruled out"
NOW = "the best answer so far"
LOOK = {OUT: fade(CONTEXT, 0.45), UNKNOWN: fade(UNDECIDED, 0.45), CERTAIN: fade(PROVED, 0.9)}
"""Colour of each kind of feature, in the order of the codes 0, 1 and 2 of `fates_of`."""
MOST = 40
"""Features drawn by name: as many as fit on a screen."""
SMALL = 500
"""Pixels below which an image is drawn with lines between its pixels."""
LEGEND = 60
"""Height in pixels of the legend above several pictures."""


def fates_of(x: np.ndarray, certain: np.ndarray, possible: np.ndarray) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return the code of each feature and the names of the codes: 0 ruled out, 1 undecided, 2 certain.

    All arrays are (n,), or (n, r) for several components. When no feature is possible, no better answer
    exists, and `x` is the best answer.
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
    captions: Sequence[str] = (),
) -> go.Figure:
    """Draw the features of a search for a better answer, each in a colour that says what is known of it.

    Every better answer has the `certain` features, and none has others than the `possible` ones. They and the
    weights `x` of the best answer so far are (n,), or (n, r) for several components, which are drawn side by
    side and need an `image_shape`.
    """
    x, certain, possible = np.asarray(x, float), np.asarray(certain, bool), np.asarray(possible, bool)
    codes, words = fates_of(x, certain, possible)
    counts = [int(np.sum(codes == code)) for code in range(3)]
    said = ", ".join(f"{counts[code]:,} {words[code]}" for code in (2, 1, 0) if counts[code] or code != 1)
    each = f" in each of {x.shape[1]} components" if x.size > len(x) else ""
    figure = new_figure(f"{len(x):,} features{each}: {said}.", height=420)
    for code in (2, 1, 0):
        if counts[code] or (code == 2 and words[code] == CERTAIN):
            add_swatch(figure, f"{words[code]}: {counts[code]:,}", tuple(LOOK.values())[code])
    if image_shape is not None:
        _add_pixels(figure, x, codes, image_shape, bool(possible.any()), captions)
    else:
        _add_bars(figure, x, codes, names)
    return figure


def _add_pixels(
    figure: go.Figure,
    x: np.ndarray,
    codes: np.ndarray,
    shape: tuple[int, int],
    is_open: bool,
    captions: Sequence[str],
) -> None:
    """Draw each pixel in the colour of its code, with dots on the components while the search is open."""
    X, each = x.reshape(len(x), -1), codes.reshape(len(x), -1)
    n, r = X.shape
    columns, room = min(IN_A_ROW, r), max(3, shape[0] // 5) if captions else 0
    thirds = [(place / 3, colour) for i, colour in enumerate(LOOK.values()) for place in (i, i + 1)]
    pictures, places = sheet(each.T, shape, columns, room)
    numbers = light(sheet([np.full(n, j + 1) for j in range(r)], shape, columns, room)[0])
    hover = "part %{customdata}" if r > 1 else "The pixel in row %{y}, column %{x}"
    gap = 1 if n < SMALL else 0
    add_pixels(figure, pictures, thirds, (-0.5, 2.5), hover, gap=gap, customdata=numbers)
    used = np.argwhere(np.nan_to_num(sheet(X.T, shape, columns, room)[0]))
    dot = {"color": CHOSEN, "symbol": "circle", "size": 9 if n < SMALL and r == 1 else 5}
    if is_open:
        down, across = used.T
        add_curve(figure, across, down, NOW, marker=dot)
    if captions:
        captioned(figure, places, captions)
    hide_axes(figure)
    if r > 1:
        figure.update_layout(height=LEGEND + -(-r // columns) * (190 if columns > 4 else 220))


def _add_bars(figure: go.Figure, x: np.ndarray, codes: np.ndarray, names: Sequence[str] | None) -> None:
    names = [f"feature {j}" for j in range(x.size)] if names is None else names
    rank = np.lexsort((np.arange(x.size), -codes, -np.abs(x)))
    shown = rank[(x[rank] != 0) | (codes[rank] > 0)][:MOST]
    at = np.arange(shown.size)
    colours = [tuple(LOOK.values())[code] for code in codes[shown]]
    hover = [f"{plain(names[j])}<br>weight {x[j]:.3g}" for j in shown]
    add_bars(figure, np.abs(x[shown]), at, colours, hover=hover, orientation="h", textposition="none")
    marker = {"color": colours, "symbol": "square", "size": 9}
    add_curve(figure, np.zeros(shown.size), at, marker=marker)
    left = int(np.sum((x != 0) | (codes > 0))) - shown.size
    title = "weight in the best component so far" + (f"; {left:,} more undecided" if left > 0 else "")
    figure.update_xaxes(title_text=title, rangemode="tozero")
    figure.update_yaxes(
        tickmode="array", tickvals=at, ticktext=[plain(names[j], 30) for j in shown], autorange="reversed"
    )
    figure.update_layout(height=max(260, 130 + 20 * shown.size))
