"""Draw the guesses of a class for the teacher's screen, and the answer once it is shown."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from nspca.plots.theme import add_curve, add_pixels, hide_axes, light, new_figure
from nspca.presentation.colours import LIMIT, MAIN, PROVED, SECOND, SEQUENTIAL, STAR, fade

GUESSED = {"size": 14, "color": fade(SECOND, 0.75), "line": {"width": 1, "color": "white"}}
MARGIN = 0.03
"""Part of an axis at its ends, so that guesses there are whole and the numbers of both axes stand apart."""
BIN = 1.0
"""Width in per cent of a stack of guesses."""
STACK = 5.0
"""Width in degrees of a stack of guessed angles."""


def guess_curve(
    at: ArrayLike,
    shares: ArrayLike,
    axis: tuple[str, float, float],
    value_name: str,
    answer: tuple[ArrayLike, ArrayLike] | None = None,
) -> go.Figure:
    """Draw guessed angles as stacks of dots, and once the answer is shown at the height that each reaches.

    Parameters
    ----------
    at : (m,) guessed angles in degrees
    shares : (m,) per cent of the best that each reaches
    axis : title, smallest and largest angle
    value_name : title of the height
    answer : (p,) angles and (p,) per cent, optional
        The curve, drawn with a star at its highest point. Without it a height would tell who is right.
    """
    at, shares = np.asarray(at, float), np.asarray(shares, float)
    if answer is None:
        at = np.sort(at)
        shares = _stacked(at, STACK)
    said = f"{at.size} guesses of an angle."
    if answer is not None:
        grid, curve = (np.asarray(part, float) for part in answer)
        best = int(np.argmax(curve))
        said += f" The best angle is {grid[best]:.0f}°."
    figure = new_figure(said, height=430)
    if answer is not None:
        line = {"color": MAIN, "width": 2.5}
        figure.add_scatter(x=light(grid), y=light(curve), mode="lines", line=line, name="all angles")
    hover = "%{x:.0f}°" if answer is None else "%{x:.0f}°: %{y:.0f} %"
    add_curve(figure, light(at), light(shares), f"guesses: {at.size}", hover, marker=GUESSED)
    if answer is not None:
        star = {"symbol": "star", "size": 20, "color": STAR}
        figure.add_scatter(
            x=[grid[best]], y=[curve[best]], mode="markers", marker=star, name="the best angle"
        )
    title, low, high = axis
    side = MARGIN * (high - low)
    figure.update_xaxes(title_text=title, range=[low - side, high + side], dtick=30, ticksuffix="°")
    if answer is None:
        top = max(6.0, float(shares.max(initial=0)) + 1)
        return figure.update_yaxes(title_text="guesses", range=[0, top], dtick=max(1, round(top / 6)))
    return figure.update_yaxes(title_text=value_name, range=[0, 108], ticksuffix=" %")


def _stacked(values: np.ndarray, width: float) -> np.ndarray:
    """Return the heights (m,) of dots at increasing `values` (m,): those in one bin stand on each other."""
    bins = np.floor(values / width)
    return np.array([np.sum(bins[:i] == bin_) for i, bin_ in enumerate(bins)], float) + 1


def guess_strip(shares: ArrayLike, best: float) -> go.Figure:
    """Draw what each guess reaches as a stack of dots, with the best found and the proved limit.

    Parameters
    ----------
    shares : (m,) per cent of the proved limit
    best : float
        Per cent of the best found.
    """
    shares = np.sort(np.asarray(shares, float))
    height = _stacked(shares, BIN)
    figure = new_figure(f"What {shares.size} guesses reach, in per cent of the proved limit.", height=430)
    add_curve(figure, light(shares), light(height), f"guesses: {shares.size}", "%{x:.0f} %", marker=GUESSED)
    top = max(6.0, float(height.max(initial=0)) + 1)
    for x, colour, name in ((best, MAIN, "the best found"), (100.0, LIMIT, "proved limit")):
        line = {"color": colour, "width": 3, "dash": "solid" if x < 100 else "dot"}
        add_curve(figure, [x, x], [0, top], name, line=line)
    figure.add_vrect(x0=best, x1=100, fillcolor=fade(PROVED, 0.25), line_width=0, layer="below")
    figure.update_xaxes(
        title_text="% of what no 8 pixels can pass", range=[-100 * MARGIN, 104], ticksuffix=" %"
    )
    return figure.update_yaxes(title_text="guesses", range=[0, top], dtick=max(1, round(top / 6)))


def votes_figure(guesses: Sequence[Sequence[int]], shape: tuple[int, int]) -> go.Figure:
    """Draw how many guesses have each pixel.

    Parameters
    ----------
    guesses : sequence of sequences of pixel numbers
    shape : (rows, columns)
    """
    chosen = np.array([pixel for guess in guesses for pixel in guess], int)
    votes = np.bincount(chosen, minlength=shape[0] * shape[1])
    figure = new_figure(f"How many of {len(guesses)} guesses have each pixel.", height=430)
    drawn, most = np.where(votes == 0, np.nan, votes).reshape(shape), max(1, int(votes.max()))
    add_pixels(figure, drawn, SEQUENTIAL, (0, most), "row %{y}, column %{x}: %{z}", "guesses", gap=1)
    figure.update_xaxes(range=[-0.5, shape[1] - 0.5])
    return hide_axes(figure)
