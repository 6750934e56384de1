"""Draw small SVG previews of a data set: `thumbnail` for a card, `strip` for a row of images."""

import base64
import io
from collections.abc import Sequence
from itertools import cycle
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from PIL import Image

from nspca.plots.theme import plain, sheet, svg
from nspca.presentation.colours import COLOURS, CONTEXT, DIVERGING, MAIN

WIDTH, HEIGHT = 240, 84
_IMAGES, _LINES, _WORDS = (3, 8), 5, 7
"""Rows and columns of small images, number of spectra, and number of words in a preview."""
_LETTER = 0.66
"""Width of a letter in units of the font size, in a wide font."""
_CELLS = (21, 60)
"""Maximum rows and columns of a table in a preview."""


def thumbnail(
    X: Any,
    *,
    kind: str = "table",
    image_shape: Sequence[int] | None = None,
    axis: ArrayLike | None = None,
    feature_names: Sequence[str] | None = None,
) -> str:
    """Draw the first images, some spectra, frequent words or a thinned table as SVG of `WIDTH` × `HEIGHT`."""
    if kind == "image" and image_shape is not None:
        inside = _picture(_sheet(X, image_shape, *_IMAGES))
    elif kind == "spectrum":
        inside = _lines(X, axis, _LINES, WIDTH, HEIGHT)
    elif kind == "words" and feature_names is not None:
        inside = _words(X, feature_names)
    else:
        inside = _cells(X)
    return svg(WIDTH, HEIGHT, inside, f'width="{WIDTH}" height="{HEIGHT}"')


def strip(X: Any, shape: Sequence[int], lines: int = 1) -> str:
    """Draw all rows of X as images of `shape` in some lines, in an SVG with the proportions of the images."""
    pixels = _sheet(X, shape, lines, -(-X.shape[0] // lines))
    height, width = pixels.shape[:2]
    return svg(width, height, _picture(pixels, size=(width, height)))


def _sheet(X: Any, shape: Sequence[int], lines: int, columns: int) -> np.ndarray:
    """Return the pixels (rows, columns, RGBA) of a sheet with the first rows of X as images.

    Each image has its own range of grey, and there are `lines` times `columns` places.
    """
    rows = _dense(X[: lines * columns])
    low, high = rows.min(axis=1, keepdims=True), rows.max(axis=1, keepdims=True)
    grey = np.full((lines * columns, X.shape[1]), np.nan)
    grey[: len(rows)] = 255 * (rows - low) / np.where(high > low, high - low, 1)
    pictures = sheet(grey, shape, columns, room=1, gap=1)[0][1:]
    shown = np.isfinite(pictures)
    return np.dstack([*[np.where(shown, pictures, 0)] * 3, 255 * shown]).astype(np.uint8)


def _dense(part: Any) -> np.ndarray:
    return np.asarray(part.toarray() if sp.issparse(part) else part, float)


def lines(X: Any, axis: ArrayLike | None, count: int) -> str:
    """Draw `count` rows of X as lines, in an SVG that is as wide as a page."""
    width, height = 960, 170
    return svg(width, height, _lines(X, axis, count, width, height), 'preserveAspectRatio="none"')


def _lines(X: Any, axis: ArrayLike | None, count: int, width: int, height: int) -> str:
    """Draw some rows, evenly chosen, over the axis on one scale."""
    at = np.arange(X.shape[1]) if axis is None else np.asarray(axis, float)
    order = np.argsort(at, kind="stable")
    rows = _dense(X[np.unique(np.linspace(0, X.shape[0] - 1, count).astype(int))])[:, order]
    rows = rows / max(float(np.abs(rows).max()), np.finfo(float).tiny)  # differences then stay finite
    low, high = rows.min(), rows.max()
    x = 4 + (width - 8) * (at[order] - at.min()) / (np.ptp(at) or 1)
    y = height - 6 - (height - 12) * (rows - low) / ((high - low) or 1)
    return "".join(
        f'<polyline fill="none" stroke="{colour}" stroke-width="1.6" stroke-opacity="0.85" points="'
        + " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, line, strict=True))
        + '"/>'
        for colour, line in zip(cycle(COLOURS), y)
    )


def _words(X: Any, names: Sequence[str]) -> str:
    counts = np.asarray(X.sum(axis=0)).ravel()
    most = np.argsort(-counts, kind="stable")[:_WORDS]
    drawn, x, y = [], 6.0, 26.0
    for place, j in enumerate(most):
        size = 11 + 11 * counts[j] / counts[most[0]]
        word = plain(names[j], 16)
        width = _LETTER * size * len(word) + 8
        if x + width > WIDTH:
            x, y = 6.0, y + 25
        if y > HEIGHT:
            break
        fill = MAIN if place < 3 else CONTEXT
        drawn.append(
            f'<text x="{x:.0f}" y="{y:.0f}" font-family="sans-serif" font-size="{size:.1f}" '
            f'fill="{fill}">{word}</text>'
        )
        x += width
    return "".join(drawn)


def _cells(X: Any) -> str:
    """Draw a table as a heat map in standard deviations from the mean of each column, thinned evenly."""
    i, j = (
        np.unique(np.linspace(0, count - 1, min(count, most)).astype(int))
        for count, most in zip(X.shape, _CELLS, strict=True)
    )
    part = _dense(X[:, j])
    spread = part.std(axis=0)
    z = np.clip((part - part.mean(axis=0)) / np.where(spread > 0, spread, 1), -2, 2)[i]
    at = np.array([stop for stop, _ in DIVERGING], dtype=float)
    colours = np.array([[int(str(colour)[k : k + 2], 16) for k in (1, 3, 5)] for _, colour in DIVERGING])
    shade = np.stack(
        [np.interp((z + 2) / 4, at, colours[:, channel]) for channel in range(3)], axis=-1
    ).astype(np.uint8)
    return _picture(shade, stretch=True)


def _picture(pixels: np.ndarray, stretch: bool = False, size: tuple[int, int] = (WIDTH, HEIGHT)) -> str:
    """Return an SVG image element of pixels that fills the preview, with their own proportions unless
    `stretch`.
    """
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "PNG", optimize=True)
    data = base64.b64encode(stream.getvalue()).decode()
    fit = "none" if stretch else "xMidYMid meet"
    place = f'width="{size[0]}" height="{size[1]}" preserveAspectRatio="{fit}"'
    return f'<image {place} style="image-rendering:pixelated" href="data:image/png;base64,{data}"/>'
