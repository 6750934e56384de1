"""Figures of the page Learn: a direction in a plane, two directions as images, steps of two older methods,
and the guesses of a class.
"""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from nspca.plots.theme import (
    add_bars,
    add_curve,
    add_pixels,
    add_swatch,
    colorbar,
    hide_axes,
    light,
    new_figure,
    plain,
)
from nspca.presentation.colours import CHOSEN, CONTEXT, LIMIT, MAIN, PROVED, SECOND, SEQUENTIAL, STAR, fade

LARGEST = 26  # pixels: the disc of the values that occur most


def direction_figure(points: ArrayLike, direction: np.ndarray | None, names: Sequence[str]) -> go.Figure:
    """Draw samples (m, 2), the direction along which they vary most, if it is told, and that across it.

    Equal samples become one disc, whose area is their number.
    """
    points, turned = np.asarray(points, float), np.array([[0, -1], [1, 0]])  # by a right angle
    at, count = np.unique(points, axis=0, return_counts=True)
    middle, said = points.mean(axis=0), ""
    if direction is not None:
        said = f"; they vary most along a line at {np.degrees(np.arctan2(*direction[::-1])):.0f} degrees"
    figure = new_figure(f"{len(points)} samples of two features{said}.", height=460)
    hover, sizes = "%{customdata} samples have the values %{x:g} and %{y:g}.", np.sqrt(count / count.max())
    disc = {"size": LARGEST * sizes, "color": fade(CONTEXT, 0.55), "line": {"width": 0}}
    x, y = light(at.T)
    add_curve(figure, x, y, hover=hover, marker=disc, customdata=count)
    lines: list[tuple[np.ndarray, str, float, str]] = []
    if direction is not None:
        lines = [(turned @ direction, SECOND, 2.5, "across it"), (direction, MAIN, 5, "most variance")]
    for along, colour, width, words in lines:
        places, variance = (points - middle) @ along, np.var(points @ along)
        reach = np.ptp(places) / 2 if width > 3 else 2 * np.std(places)
        (x, y), name = (middle + np.outer([-reach, reach], along)).T, f"{words}: {variance:.3g}"
        hover, line = f"Along this line the variance is {variance:.4g}.", {"color": colour, "width": width}
        add_curve(figure, x, y, name, hover, line=line)
    figure.update_xaxes(title_text=plain(names[0]), constrain="domain")
    return figure.update_yaxes(title_text=plain(names[1]), scaleanchor="x", constrain="domain")


def marked_pixels(
    mean: ArrayLike, shape: Sequence[int], pixels: Sequence[int], names: Sequence[str]
) -> go.Figure:
    """Draw a mean image in grey with some of its pixels framed and named."""
    figure = new_figure(f"The mean image, with {' and '.join(names)} marked.", height=460)
    _add_grey(figure, mean, shape)
    for pixel, colour, name in zip(pixels, (MAIN, SECOND), names, strict=True):
        row, column = divmod(pixel, shape[1])
        corners = {"x0": column - 0.5, "x1": column + 0.5, "y0": row - 0.5, "y1": row + 0.5}
        figure.add_shape(type="rect", **corners, line={"color": colour, "width": 5})
        add_swatch(figure, plain(name), colour)
    figure.update_xaxes(range=[-0.5, shape[1] - 0.5])
    return hide_axes(figure)


def overlay_figure(mine: ArrayLike, best: ArrayLike, shape: Sequence[int], mean: ArrayLike) -> go.Figure:
    """Draw two sets of pixels over a mean image: of the first alone, of the second alone, and of both."""
    mine, best = np.asarray(mine, bool), np.asarray(best, bool)
    kinds = (
        ("yours only", mine & ~best, CHOSEN),
        ("both", mine & best, PROVED),
        ("the best found only", best & ~mine, MAIN),
    )
    said = ", ".join(f"{name}: {np.sum(which)}" for name, which, _ in kinds)
    figure = new_figure(f"Pixels of two answers. {said}.", height=400)
    _add_grey(figure, mean, shape)
    for name, which, colour in kinds:
        drawn = np.where(which, 1.0, np.nan).reshape(shape)
        add_pixels(figure, drawn, [[0, colour], [1, colour]], (0, 1), gap=1)
        add_swatch(figure, f"{name}: {np.sum(which)}", colour)
    figure.update_xaxes(range=[-0.5, shape[1] - 0.5])
    return hide_axes(figure)


def _add_grey(figure: go.Figure, mean: ArrayLike, shape: Sequence[int]) -> None:
    add_pixels(figure, light(mean).reshape(shape), [[0, "#777"], [1, "#fff"]], gap=1)


def quartic_figure(
    curves: Sequence[tuple[float, float, float]], best: Sequence[float], names: Sequence[str]
) -> go.Figure:
    """Draw the objective as a function of one weight u >= 0 with all others fixed, for each price.

    A curve (c2, c1, alpha) is ``-alpha/4 u^4 + c2/2 u^2 + c1 u``, and `best` has the maximiser of each.
    """
    u = np.linspace(0, 1.35 * max([*best, 0.1]), 161)
    highest = ", ".join(f"{name} at {at:.2f}" for name, at in zip(names, best, strict=True))
    figure = new_figure(f"Curves of degree four in one weight; highest: {highest}.", height=300)
    for (c2, c1, alpha), at, name, colour in zip(curves, best, names, (MAIN, SECOND), strict=True):
        worth = np.polynomial.Polynomial([0, c1, c2 / 2, 0, -alpha / 4])
        line = {"color": colour, "width": 2.5}
        figure.add_scatter(x=light(u), y=light(worth(u)), mode="lines", line=line, name=name)
        star = {"symbol": "star", "size": 15, "color": colour}
        add_curve(figure, [at], [worth(at)], hover="Highest at a weight of %{x:.3f}.", marker=star)
    figure.update_xaxes(title_text="weight of one pixel")
    return figure.update_yaxes(title_text="objective")


def descent_figure(sizes: ArrayLike, k: int) -> go.Figure:
    """Draw nonnegative entries (n,) in decreasing order, and the level above which k < n of them rise."""
    order = np.sort(np.asarray(sizes, float))[::-1]
    level = order[k]
    figure = new_figure(
        f"{len(order)} entries from the largest down; {np.sum(order > level)} of them rise above the level.",
        height=300,
    )
    rank = np.arange(1, len(order) + 1)
    below, above = light(np.minimum(order, level)), light(np.maximum(order - level, 0))
    hover = "Entry %{x}: %{y:.3g} is "
    add_bars(figure, rank, below, fade(CONTEXT, 0.6), "taken away", f"{hover}taken away.")
    add_bars(figure, rank, above, MAIN, f"what is left of the {k} largest", f"{hover}left.")
    figure.add_hline(y=float(level), line={"color": LIMIT, "width": 1.5, "dash": "dot"})
    figure.update_layout(barmode="stack", bargap=0.15)
    figure.update_xaxes(title_text="entries, the largest first")
    return figure.update_yaxes(title_text="size")


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
    curves: np.ndarray | None = None,
) -> go.Figure:
    """Draw guessed angles (m,) in degrees as stacks of dots, and once there is an answer as high as the
    `shares` in per cent that they reach.

    `axis` is title, smallest and largest angle, and `answer` the angles and heights of the curve, which is
    drawn with a star at its highest point. Without it a height would tell who is right, and only `curves`
    (n, p) at evenly spaced angles stand above the stacks.
    """
    at, (title, low, high) = np.asarray(at, float), axis
    figure = new_figure(f"{at.size} guesses of an angle.", height=430)
    if answer is None:
        _add_stacks(figure, at, STACK, "%{x:.0f}°")
        if curves is not None:
            ends = np.pad(curves, ((0, 0), (0, 1)), constant_values=np.nan)  # gaps between
            angles = np.tile(np.append(np.linspace(low, high, curves.shape[1]), np.nan), len(curves))
            line = {"color": CONTEXT, "width": 1}
            add_curve(figure, light(angles), light(ends.ravel()), line=line, yaxis="y2")
            upper = {"domain": [0.38, 1], "anchor": "x", "title": {"text": "weight of a pixel"}}
            figure.update_layout(yaxis={"domain": [0, 0.3]}, yaxis2={**upper, "showticklabels": False})
    else:
        grid, curve = (np.asarray(part, float) for part in answer)
        best = int(np.argmax(curve))
        figure.layout.meta["alt"] += f" The best angle is {grid[best]:.0f}°."
        add_curve(figure, light(grid), light(curve), "all angles", line={"color": MAIN, "width": 2.5})
        said = f"guesses: {at.size}"
        add_curve(figure, light(at), light(shares), said, "%{x:.0f}°: %{y:.0f} %", marker=GUESSED)
        star = {"symbol": "star", "size": 20, "color": STAR}
        add_curve(figure, [grid[best]], [curve[best]], "the best angle", marker=star)
        figure.update_yaxes(title_text=value_name, range=[0, 108], ticksuffix=" %")
    side = MARGIN * (high - low)
    return figure.update_xaxes(title_text=title, range=[low - side, high + side], dtick=30, ticksuffix="°")


def _add_stacks(figure: go.Figure, values: np.ndarray, width: float, hover: str) -> float:
    """Draw values (m,) as stacks of dots, one for each bin of a `width`; return the end of the axis."""
    values = np.sort(values)
    bins = np.floor(values / width)
    height = np.array([np.sum(bins[:i] == bin_) for i, bin_ in enumerate(bins)], float) + 1
    add_curve(figure, light(values), light(height), f"guesses: {values.size}", hover, marker=GUESSED)
    top = max(6.0, float(height.max(initial=0)) + 1)
    figure.update_yaxes(title_text="guesses", range=[0, top], dtick=max(1, round(top / 6)))
    return top


def guess_strip(shares: ArrayLike, best: float) -> go.Figure:
    """Draw what guesses reach, in per cent of the proved limit, as stacks of dots with the best found."""
    shares = np.asarray(shares, float)
    figure = new_figure(f"What {shares.size} guesses reach, in per cent of the proved limit.", height=430)
    top = _add_stacks(figure, shares, BIN, "%{x:.0f} %")
    for x, colour, name in ((best, MAIN, "the best found"), (100.0, LIMIT, "proved limit")):
        line = {"color": colour, "width": 3, "dash": "solid" if x < 100 else "dot"}
        add_curve(figure, [x, x], [0, top], name, line=line)
    figure.add_vrect(x0=best, x1=100, fillcolor=fade(PROVED, 0.25), line_width=0, layer="below")
    title = "% of what no 8 pixels can pass"
    return figure.update_xaxes(title_text=title, range=[-100 * MARGIN, 104], ticksuffix=" %")


def votes_figure(guesses: Sequence[Sequence[int]], shape: tuple[int, int], mean: ArrayLike) -> go.Figure:
    """Draw how many guesses, each some numbers of pixels, have each pixel of a mean image (n,)."""
    chosen = np.array([pixel for guess in guesses for pixel in guess], int)
    votes = np.bincount(chosen, minlength=shape[0] * shape[1])
    figure = new_figure(f"How many of {len(guesses)} guesses have each pixel.", height=430)
    _add_grey(figure, mean, shape)
    if guesses:
        drawn, most = np.where(votes == 0, np.nan, votes).reshape(shape), int(votes.max())
        scale = {**colorbar("guesses"), "dtick": max(1, round(most / 5))}
        said = "row %{y}, column %{x}: %{z}"
        add_pixels(figure, drawn, SEQUENTIAL, (0, most), said, gap=1, showscale=True, colorbar=scale)
    figure.update_xaxes(range=[-0.5, shape[1] - 0.5])
    return hide_axes(figure)
