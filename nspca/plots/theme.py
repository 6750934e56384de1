"""The figure template, small helpers and the phrases that all figures of this package share."""

from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from nspca.presentation.colours import COLOURS, DIVERGING, FAINT, GRID, MAIN, SEQUENTIAL
from nspca.presentation.numerals import NO_BOUND, format_guarantee

FONTS = '"Source Sans", "Source Sans Pro", system-ui, sans-serif'
# Everything a viewer may want to replace (Streamlit's theme, the live component) is in the template, never in
# the figure itself.
_AXIS = dict.fromkeys(("gridcolor", "zerolinecolor", "linecolor"), GRID) | {
    "automargin": True,
    "title": {"standoff": 10, "font": {"size": 14}},
}
TEMPLATE = go.layout.Template(
    layout={
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": FONTS, "size": 14, "color": "#747b87"},
        "colorway": list(COLOURS),
        "xaxis": _AXIS,
        "yaxis": _AXIS,
        "margin": {"l": 60, "r": 20, "t": 44, "b": 50},
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": "rgba(128,128,128,0.7)", "activecolor": MAIN},
        "hovermode": "closest",
        "hoverlabel": {"align": "left", "namelength": 0},
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "xanchor": "left"},
    }
)
WEIGHT_OF_PIXEL = "The pixel in row %{y}, column %{x}<br>has weight %{z:.3f}."
"""Text on hovering over a pixel of a component."""


def new_figure(alt: str, height: int = 420, **layout: Any) -> go.Figure:
    """Return an empty figure with the theme, a height in pixels and a text description for screen readers."""
    return go.Figure(layout={"template": TEMPLATE, "height": height, "meta": {"alt": alt}, **layout})


def alt_text(figure: go.Figure) -> str:
    """Return the description of a figure made by this package: one or two sentences with its main numbers."""
    return figure.layout.meta["alt"]


def colorbar(title: str) -> dict[str, Any]:
    """Return the settings of the colour scale beside a picture."""
    return {"title": {"text": title, "font": {"size": 13}}, "thickness": 12, "len": 0.8}


def hide_axes(figure: go.Figure) -> go.Figure:
    """Return the figure laid out as a picture: square pixels, no axes, first row on top."""
    figure.update_xaxes(visible=False, constrain="domain")
    figure.update_yaxes(visible=False, autorange="reversed", scaleanchor="x", constrain="domain")
    return figure.update_layout(margin={"l": 8, "r": 8, "t": 40, "b": 8})


def sheet(
    pictures: Any, shape: Sequence[int], columns: int, room: int, gap: int | None = None
) -> tuple[np.ndarray, list[tuple[float, int]]]:
    """Return pictures (r, n) side by side in one array with NaN between them, and the (middle column, top
    row) of each.

    There are `columns` pictures in a line. Above every line `room` rows are left for a caption, and between
    two pictures `gap` columns, by default a tenth of a picture.
    """
    height, width = shape
    lines, gap = -(-len(pictures) // columns), max(1, width // 10) if gap is None else gap
    canvas = np.full((lines * (height + room), columns * (width + gap) - gap), np.nan)
    places = []
    for i, picture in enumerate(pictures):
        top, left = (i // columns) * (height + room) + room, (i % columns) * (width + gap)
        canvas[top : top + height, left : left + width] = np.asarray(picture, float).reshape(shape)
        places.append((left + (width - 1) / 2, top))
    return canvas, places


def add_curve(
    figure: go.Figure, x: Any, y: Any, name: str = "", hover: str | Sequence[str] = "", **look: Any
) -> None:
    """Draw points, joined by lines where `look` has a ``line``, and marked where it has a ``marker``.

    Without a name they have no entry in the legend. `hover` is a template, or the text of each point; nothing
    is shown without it.
    """
    mode = "+".join(f"{part}s" for part in ("line", "marker") if part in look)
    figure.add_scatter(x=x, y=y, **{"mode": mode} | _words(name, hover) | look)


def add_bars(
    figure: go.Figure,
    x: Any,
    y: Any,
    colour: Any,
    name: str = "",
    hover: str | Sequence[str] = "",
    **look: Any,
) -> None:
    """Draw bars of one colour, or of one each; `name` and `hover` are as in `add_curve`."""
    figure.add_bar(x=x, y=y, **{"marker": {"color": colour}} | _words(name, hover) | look)


def _words(name: str, hover: str | Sequence[str]) -> dict[str, Any]:
    legend = {"name": name} if name else {"showlegend": False}
    text = {} if isinstance(hover, str) else {"text": hover}
    template = f"{hover if isinstance(hover, str) else '%{text}'}<extra></extra>"
    return legend | (text | {"hovertemplate": template} if len(hover) else {"hoverinfo": "skip"})


def add_pixels(
    figure: go.Figure,
    z: ArrayLike,
    colours: Any,
    limits: Sequence[float] = (),
    hover: str = "",
    title: str = "",
    gap: int = 0,
    **look: Any,
) -> None:
    """Draw an array (rows, columns) as coloured cells with `gap` between them; those of NaN stay empty.

    `limits` are the values of the first and the last colour. `hover` is a template; nothing is shown without
    it. A `title` stands at the scale of colours, which is left out without one.
    """
    look = {"zmin": limits[0], "zmax": limits[1]} | look if limits else look
    look = ({"colorbar": colorbar(title)} if title else {"showscale": False}) | look
    template = {"hovertemplate": f"{hover}<extra></extra>", "hoverongaps": False}
    shown = template if hover else {"hoverinfo": "skip"}
    figure.add_heatmap(z=light(z), colorscale=colours, **{"xgap": gap, "ygap": gap} | shown | look)


def add_note(figure: go.Figure, text: str, x: float, y: float, corner: str, **look: Any) -> None:
    """Write a text with one corner of it, such as "bottom right", at x and y.

    The figure reaches from (0, 0) at its bottom left to (1, 1).
    """
    vertical, horizontal = corner.split()
    place = {"xref": "paper", "yref": "paper", "x": x, "y": y, "xanchor": horizontal, "yanchor": vertical}
    figure.add_annotation(text=text, showarrow=False, **place | look)


def weight_colours(X: np.ndarray, largest: float | None = None) -> tuple[Any, tuple[float, float]]:
    """Return the colours of weights and their limits, around 0 where some are negative and else from 0.

    `largest` is the size of the strongest colour, by default that of the largest weight.
    """
    size = largest or float(np.abs(X).max(initial=0)) or 1.0
    return (DIVERGING, (-size, size)) if (X < 0).any() else (SEQUENTIAL, (0, size))


def grey_behind(mean: ArrayLike | None, n: int) -> tuple[np.ndarray, Any]:
    """Return the mean image (n,) that lies behind weights, and its colours; a faint area without a mean."""
    if mean is None:
        return np.zeros(n), [[0, FAINT], [1, FAINT]]
    return np.asarray(mean, float), "Greys_r"


def largest_weights(weights: ArrayLike, most: int | None = None) -> np.ndarray:
    """Return the numbers of the weights that are not zero, largest first, or of the `most` largest of them.

    Ties keep their order.
    """
    size = np.abs(np.asarray(weights, float))
    return np.argsort(-size, kind="stable")[: np.count_nonzero(size)][:most]


def name_rows(figure: go.Figure, labels: Sequence[str], **look: Any) -> go.Figure:
    """Return the figure with a label for each of its rows, the first on top."""
    rows = {"tickvals": list(range(len(labels))), "ticktext": list(labels), "ticks": "", "showgrid": False}
    return figure.update_yaxes(rows | {"range": [len(labels) - 0.5, -0.5]} | look)


def add_swatch(figure: go.Figure, name: str, colour: str) -> None:
    """Add a square of a colour to the legend."""
    marker = {"color": colour, "symbol": "square", "size": 12}
    add_curve(figure, [None], [None], name, marker=marker)


def ratio_sentence(ratio: float | None, probability: float | None = None) -> str:
    """Return the meaning of a ratio in words, for example "at least 99.2 % of the best possible, proved".

    A bound that holds with a probability (None or NaN: it is certain) proves nothing, and the sentence says
    so instead.
    """
    text = format_guarantee(ratio)
    if text == NO_BOUND:
        return "nothing proved about it yet"
    return f"at least {text} of the best possible, {certainty(probability)}"


def certainty(probability: float | None) -> str:
    """Return "proved", or "with probability at least 99.7 %" with the probability rounded down."""
    if probability is None or not isfinite(probability):
        return "proved"
    return f"with probability at least {format_guarantee(probability)}"


def plain(name: object, width: int = 40) -> str:
    """Return a name as Plotly text, with its markup escaped and its length bounded."""
    text = str(name)
    text = text if len(text) <= width else text[: width - 1] + "…"
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def svg(width: float, height: float, inside: str, look: str = "") -> str:
    """Return a small drawing as SVG of so many units, with further attributes as `look`."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
    return f"{head}{look and ' '}{look}>{inside}</svg>"


def light(values: ArrayLike) -> np.ndarray:
    """Return values as float32, which Plotly sends in binary: enough for a screen at half the bytes."""
    return np.ascontiguousarray(values, dtype=np.float32)
