"""Draw components in the form of their data: an image, a spectrum, a word list, or ranked bars.

Most pages draw `component_figure` for every single component. Compare and Spannogram call the forms below it.
In all functions `sure` is the argument of `component_figure`.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from nspca.plots.joint import hue
from nspca.plots.theme import (
    WEIGHT_OF_PIXEL,
    add_bars,
    add_curve,
    add_pixels,
    grey_behind,
    hide_axes,
    largest_weights,
    name_rows,
    new_figure,
    plain,
    weight_colours,
)
from nspca.presentation.colours import CONTEXT, FAINT, NEGATIVE, POSITIVE


def _count(x: np.ndarray) -> str:
    return f"{np.count_nonzero(x)} of {x.size} features"


def component_figure(
    x: Any,
    *,
    kind: str = "table",
    image_shape: Sequence[int] | None = None,
    axis: ArrayLike | None = None,
    axis_name: str = "",
    feature_names: Sequence[str] | None = None,
    mean: ArrayLike | None = None,
    spread: ArrayLike | None = None,
    top: int = 40,
    sure: Any = None,
) -> go.Figure:
    """Draw one component x (n,) in the form that suits its data set, whose fields the keywords are.

    `mean` and `spread` (n,) of the data lie behind a spectrum, the mean behind an image. Words and bars show
    the `top` features. Those proved to be in every good answer, `sure` (n,), are drawn solid and the others
    hatched (rings in a spectrum).
    """
    x = np.asarray(x, float)
    if kind == "image" and image_shape is not None:
        return component_image(x, image_shape, mean=mean, sure=sure)
    if kind == "spectrum" and axis is not None:
        return component_spectrum(x, axis, axis_name, mean=mean, spread=spread, sure=sure)
    names = [f"feature {j}" for j in range(x.size)] if feature_names is None else feature_names
    return (component_words if kind == "words" else component_bars)(names, x, top=top, sure=sure)


def _sure(x: np.ndarray, sure: Any) -> str:
    """Return the sentence about proved features for the description of a figure; empty without `sure`."""
    return "" if sure is None else f" {np.count_nonzero(sure & (x != 0))} of them solid, the others hatched."


def component_image(
    x: ArrayLike, shape: Sequence[int], mean: ArrayLike | None = None, sure: Any = None
) -> go.Figure:
    """Draw weights as pixels, over the mean image in grey when it is given; pixels outside the support are
    transparent.
    """
    x = np.asarray(x, float)
    alt = f"Component as an image of {shape[0]} × {shape[1]} pixels: {_count(x)} used.{_sure(x, sure)}"
    figure = new_figure(alt, height=380)
    behind, grey = grey_behind(mean, x.size)
    add_pixels(figure, behind.reshape(shape), grey, opacity=1 if mean is None else 0.55)
    drawn = np.where(x == 0, np.nan, x).reshape(shape)
    add_pixels(figure, drawn, *weight_colours(x), WEIGHT_OF_PIXEL, "weight")
    if sure is not None:
        _hatch(figure, np.flatnonzero((x != 0) & ~sure), shape)
    return hide_axes(figure)


STROKES = (((-0.5, 0), (0, -0.5)), ((-0.5, 0.5), (0.5, -0.5)), ((0, 0.5), (0.5, 0)))
"""Ends of the strokes across a pixel, as (column, row) from its centre."""


def _hatch(figure: go.Figure, pixels: np.ndarray, shape: Sequence[int]) -> None:
    centre = np.column_stack(np.divmod(pixels, shape[1])[::-1])
    gap = np.full((pixels.size, 2), np.nan)
    ends = [part for first, last in STROKES for part in (centre + first, centre + last, gap)]
    x, y = np.stack(ends, axis=1).reshape(-1, 2).T
    add_curve(
        figure, x, y, "not proved", line={"color": "rgba(255,255,255,0.85)", "width": 1.2}, showlegend=False
    )


def _add_mean(figure: go.Figure, axis: np.ndarray, mean: np.ndarray, spread: ArrayLike | None) -> None:
    # An instrument with two overlapping channels has two stretches over which the axis rises.
    order = np.arange(axis.size)[:: -1 if axis.size > 1 and axis[-1] < axis[0] else 1]
    for index, part in enumerate(np.split(order, np.flatnonzero(np.diff(axis[order]) < 0) + 1)):
        at, middle = axis[part], mean[part]
        look: dict[str, Any] = {"showlegend": index == 0, "yaxis": "y2"}
        if spread is not None:
            width = np.asarray(spread, float)[part]
            x, y = np.append(at, at[::-1]), np.append(middle + width, (middle - width)[::-1])
            filled = look | {"fill": "toself", "fillcolor": FAINT, "line": {"width": 0}}
            add_curve(figure, x, y, "± one standard deviation", legendgroup="spread", **filled)
        line, hover = {"color": CONTEXT, "width": 1.5}, "At %{x:.4g} the mean is %{y:.4g}."
        add_curve(figure, at, middle, "mean spectrum", hover, line=line, legendgroup="mean", **look)


def component_spectrum(
    x: ArrayLike,
    axis: Any,
    axis_name: str = "",
    mean: ArrayLike | None = None,
    spread: ArrayLike | None = None,
    sure: Any = None,
) -> go.Figure:
    """Draw weights as stems over wavelength; behind them lie the mean spectrum and one standard deviation
    around it.
    """
    x, axis = np.asarray(x, float), np.asarray(axis, float)
    used, where = np.flatnonzero(x), ""
    if used.size:
        where = f", between {axis[used].min():.4g} and {axis[used].max():.4g} {plain(axis_name)}"
    figure = new_figure(f"Component as a spectrum: {_count(x)} used{where}.{_sure(x, sure)}", height=400)
    if mean is not None:
        _add_mean(figure, axis, np.asarray(mean, float), spread)
    add_curve(figure, *stems(axis, x), line={"color": POSITIVE, "width": 3})
    hover = f"{plain(axis_name) or 'position'} %{{x:.4g}}: weight %{{y:.3f}}."
    marker = {"color": POSITIVE, "size": 8, "line": {"color": POSITIVE, "width": 1.5}}
    if sure is not None:
        marker["symbol"] = ["circle" if sure[j] else "circle-open" for j in used]
    add_curve(figure, axis[used], x[used], "weights", hover, marker=marker)
    figure.update_xaxes(title_text=plain(axis_name))
    return with_weights(figure, x, "" if mean is None else "mean spectrum")


def stems(axis: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return x and y of lines from zero to each nonzero weight of x (n,), at its place on the axis (n,)."""
    used = np.flatnonzero(x)
    feet, gap = np.zeros(used.size), np.full(used.size, np.nan)
    return np.repeat(axis[used], 3), np.column_stack([feet, x[used], gap]).ravel()


def with_weights(figure: go.Figure, X: np.ndarray, mean: str) -> go.Figure:
    """Return the figure with an axis for the weights X, and a second one on the right that is called `mean`,
    unless that is empty.
    """
    low, high = 1.1 * X.min(initial=0), 1.15 * X.max(initial=0) or 1
    weights = {"title": {"text": "weight"}, "range": [low, high], "tickmode": "auto"}
    if not mean:
        return figure.update_layout(yaxis=weights)
    # The weights lie on the first axis, so the second one is put beneath them.
    behind = {"side": "right", "title": {"text": mean}, "showgrid": False, "rangemode": "tozero"}
    return figure.update_layout(yaxis={**weights, "overlaying": "y2", "side": "left"}, yaxis2=behind)


def _ranked_bars(
    names: Sequence[str], weights: ArrayLike, top: int, sure: Any, what: str, height: int, opacity: float
) -> tuple[go.Figure, list[str], np.ndarray]:
    """Return a figure with bars of the `top` largest weights, with the names and the values of the bars.

    `what` is the plural noun of the description, and `height` that of a bar in pixels.
    """
    weights = np.asarray(weights, float)
    used, count = largest_weights(weights, top), np.count_nonzero(weights)
    labels, values = [plain(names[j]) for j in used], weights[used]
    listed = ", ".join(f"{label} {value:.2g}" for label, value in zip(labels[:5], values, strict=False))
    others = " and others" if count > 5 else ""
    alt = f"Ranked {what} of the component: {listed}{others}." if labels else f"A component without {what}."
    figure = new_figure(alt + _sure(weights, sure), height=70 + height * max(1, len(labels)))
    if count > len(used):
        figure.update_layout(title={"text": f"the {top} largest of {count}", "font": {"size": 14}})
    colours = [NEGATIVE if v < 0 else POSITIVE for v in values]
    marker: dict[str, Any] = {"color": colours, "opacity": opacity}
    if sure is not None:
        shape = ["" if one else "/" for one in np.asarray(sure)[used]]
        marker["pattern"] = {"shape": shape, "fgcolor": colours, "size": 7, "bgcolor": "rgba(0,0,0,0)"}
        marker["pattern"] |= {"fillmode": "replace", "solidity": 0.35}
        marker["line"] = {"color": colours, "width": 1}
    look: dict[str, Any] = {"orientation": "h", "customdata": labels, "marker": marker}
    hover = "%{customdata}<br>weight %{x:.4f}"
    add_bars(figure, values, np.arange(len(values)), colours, hover=hover, **look)
    figure.update_layout(bargap=0.25, margin={"t": 36, "b": 40})
    return figure.update_xaxes(title_text="weight", zeroline=True), labels, values


def component_words(names: Sequence[str], weights: ArrayLike, top: int = 40, sure: Any = None) -> go.Figure:
    """Draw the component as a word list, largest weight first, with each word as large as its weight over a
    bar of that length.
    """
    figure, labels, values = _ranked_bars(names, weights, top, sure, "words", 27, 0.3)
    largest = np.abs(values).max(initial=0) or 1
    words, sizes = [f" {word}" for word in labels], [12 + 9 * abs(v) / largest for v in values]
    look: dict[str, Any] = {"mode": "text", "textposition": "middle right", "textfont": {"size": sizes}}
    x, y = np.zeros(len(values)), np.arange(len(values))
    add_curve(figure, x, y, text=words, cliponaxis=False, **look)
    # Room for a long word on a short bar.
    return figure.update_xaxes(
        range=[min(1.05 * values.min(initial=0), 0), 1.25 * largest], showgrid=False
    ).update_yaxes(visible=False, range=[len(labels) - 0.4, -0.6])


def component_bars(names: Sequence[str], weights: ArrayLike, top: int = 40, sure: Any = None) -> go.Figure:
    """Draw the component as bars with the names of its features, largest weight first."""
    figure, labels, _ = _ranked_bars(names, weights, top, sure, "features", 20, 0.9)
    return name_rows(figure, labels, range=[len(labels) - 0.4, -0.6], tickfont={"size": 12})


def profiles_figure(
    X: ArrayLike, axis: Any, axis_name: str, *, mean: ArrayLike, names: Sequence[str]
) -> go.Figure:
    """Draw each component of X (n, r) as stems over the axis (n,), with the mean of the data behind them."""
    X, axis = np.asarray(X, float), np.asarray(axis, float)
    used = int(np.count_nonzero(X.any(axis=1)))
    figure = new_figure(
        f"{X.shape[1]} components over {plain(axis_name) or 'the axis'}: {used} of {X.shape[0]} features are "
        "in one of them.",
        height=400,
        showlegend=True,
    )
    order = np.argsort(axis, kind="stable")
    middle, line = np.asarray(mean, float)[order], {"color": CONTEXT, "width": 1}
    add_curve(figure, axis[order], middle, "mean of the data", yaxis="y2", line=line)
    for j, x in enumerate(X.T):
        name, line = plain(names[j]), {"color": hue(j), "width": 2.5}
        hover = f"{name}<br>%{{x:.4g}}: weight %{{y:.3f}}"
        add_curve(figure, *stems(axis, x), name, hover, line=line, marker={"size": 5})
    figure.update_xaxes(title_text=plain(axis_name))
    figure.update_layout(legend={"y": -0.2, "yanchor": "top"}, margin={"t": 16, "b": 80})
    return with_weights(figure, X, "mean")
