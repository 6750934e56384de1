"""Figures of several components: parts of images, reconstructions, and the gain of a search.

The page Components draws them.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from nspca.data.names import pixel_names
from nspca.plots.theme import add_pixels, grey_behind, hide_axes, new_figure, plain, sheet, weight_colours
from nspca.presentation.colours import HUES, fade

IN_A_ROW = 8
"""Maximum components drawn as pictures in one row."""
PALEST = 0.25
"""Opacity of the smallest weight of a part."""


def hue(number: int) -> str:
    """Return the colour of a component, counted from 0, in every picture of it."""
    return HUES[number % len(HUES)]


def _tints(colour: str) -> list[list[Any]]:
    return [[0, fade(colour, PALEST)], [1, colour]]


def parts_figure(
    X: ArrayLike,
    shape: Sequence[int],
    *,
    mean: ArrayLike | None = None,
    captions: Sequence[str] | None = None,
    largest: float | None = None,
    name: str = "",
    hover: str = "weight %{z:.3f}",
    one: str = "part",
) -> go.Figure:
    """Draw components (n, r) as pictures, at most `IN_A_ROW` in a row, over the mean image in grey.

    Each has its `hue`, stronger for a larger weight; weights of both signs have two colours. Pixels outside
    a support are transparent. The weight `largest` has the strongest colour, so that figures can be compared.
    A hovered pixel says `one` with the number of the picture, and then `hover`.
    """
    X = np.asarray(X, float)
    r = X.shape[1]
    columns, room = min(IN_A_ROW, r), max(3, shape[0] // 5)
    lines = -(-r // columns)
    said = ", ".join(map(plain, captions or []))
    alt = f"{r} components by {plain(name)} as {shape[0]} × {shape[1]} images: {said}."
    figure = new_figure(alt, height=lines * (150 if columns > 4 else 190))
    behind, grey = grey_behind(mean, X.shape[0])
    face, places = sheet([behind] * r, shape, columns, room)
    add_pixels(figure, face, grey, opacity=0.55)
    colours, limits = weight_colours(X, largest)
    for j, (x, (middle, top)) in enumerate(zip(X.T, places, strict=True)):
        drawn = np.where(x == 0, np.nan, x).reshape(shape)
        tints = colours if limits[0] else _tints(hue(j))
        corner: dict[str, Any] = {"x0": middle - (shape[1] - 1) / 2, "y0": top}
        add_pixels(figure, drawn, tints, limits, f"{one} {j + 1}: {hover}", **corner)
    return captioned(figure, places, captions)


def union_figure(X: Any, shape: Sequence[int], *, mean: ArrayLike | None = None, name: str = "") -> go.Figure:
    """Draw disjoint components (n, r) in one picture: every pixel has the `hue` of its part, as strong as its
    weight.

    Borders, and a number at the centre of each part, tell the parts apart without colour.
    """
    X = np.abs(np.asarray(X, float))
    used = np.count_nonzero(X.any(axis=1))
    said = f"{used} of {X.shape[0]} pixels are in one of them"
    figure = new_figure(f"{X.shape[1]} parts by {plain(name)} in one image: {said}.", height=330)
    behind, grey = grey_behind(mean, X.shape[0])
    add_pixels(figure, behind.reshape(shape), grey, opacity=0.45)
    numbers, pixels = [], np.reshape(pixel_names((shape[0], shape[1])), shape)
    for j, x in enumerate(X.T):
        drawn = np.where(x == 0, np.nan, x / (x.max() or 1.0)).reshape(shape)
        hover = f"%{{customdata}}<br>part {j + 1}: %{{z:.2f}} of its largest weight"
        add_pixels(figure, drawn, _tints(hue(j)), (0, 1), hover, customdata=pixels)
        if x.any():
            row, column = _centre(x.reshape(shape))
            label = {"text": f"<b>{j + 1}</b>", "showarrow": False, "font": {"size": 14, "color": "white"}}
            numbers.append({"x": column, "y": row, "bgcolor": "rgba(0,0,0,0.55)", "borderpad": 2, **label})
    figure.update_layout(annotations=numbers)  # at once: one by one, each copies those before it
    labels = np.where(X.any(axis=1), 1 + np.argmax(X, axis=1), 0).reshape(shape)
    edge = {"color": "rgba(15,20,30,0.9)", "width": 2}
    if path := _borders(labels):
        figure.add_shape(type="path", path=path, line=edge)
    return hide_axes(figure).update_layout(margin={"l": 4, "r": 4, "t": 30, "b": 4})  # the tool bar is above


def _centre(weights: np.ndarray) -> tuple[int, int]:
    """Return the pixel that is farthest from the border of a part, and of these the nearest to its middle."""
    from scipy.ndimage import distance_transform_edt

    depth = distance_transform_edt(np.pad(weights != 0, 1))[1:-1, 1:-1]
    pixels = np.argwhere(depth == depth.max())
    middle = np.average(np.argwhere(weights), axis=0, weights=weights[weights != 0])
    row, column = pixels[np.argmin(np.square(pixels - middle).sum(axis=1))]
    return int(row), int(column)


def _borders(labels: np.ndarray) -> str:
    framed = np.pad(labels, 1)
    left, above = np.argwhere(framed[:, 1:] != framed[:, :-1]), np.argwhere(framed[1:] != framed[:-1])
    lines = [f"M {column - 0.5},{row - 1.5} V {row - 0.5}" for row, column in left]
    lines += [f"M {column - 1.5},{row - 0.5} H {column - 0.5}" for row, column in above]
    return " ".join(lines)


def pictures_figure(
    pictures: Any, shape: Sequence[int], captions: Sequence[str], *, low: float, high: float
) -> go.Figure:
    """Draw grey images side by side on one scale, each with a caption, `IN_A_ROW` at most in a row.

    A typical use is an original beside its reconstructions. Pictures are (r, n); `low` is drawn black and
    `high` white.
    """
    room, columns = max(3, shape[0] // 5), min(IN_A_ROW, len(pictures))
    canvas, places = sheet(pictures, shape, columns, room)
    lines = -(-len(pictures) // columns)
    figure = new_figure(f"Images side by side: {', '.join(map(plain, captions))}.", height=lines * 150)
    add_pixels(figure, canvas, "Greys_r", (low, high), "%{z:.4g}")
    return captioned(figure, places, captions)


def captioned(
    figure: go.Figure, places: Sequence[tuple[float, int]], captions: Sequence[str] | None
) -> go.Figure:
    """Return the figure without axes or margins, with a caption above each picture."""
    for (middle, top), caption in zip(places, captions or [], strict=False):
        figure.add_annotation(
            x=middle, y=top - 0.6, text=plain(caption), showarrow=False, yanchor="bottom", font={"size": 13}
        )
    # On a narrow screen the pictures stay under their heading, and captions need more than their own rows.
    hide_axes(figure).update_yaxes(constraintoward="top")
    return figure.update_layout(margin={"l": 4, "r": 4, "t": 18, "b": 4})
