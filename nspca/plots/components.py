"""A component drawn as what it is: an image, a spectrum, a word list, or ranked bars."""

import numpy as np
import plotly.graph_objects as go

from nspca.colours import CONTEXT, DIVERGING, FAINT, NEGATIVE, POSITIVE, SEQUENTIAL
from nspca.plots.theme import colorbar, hide_axes, light, new_figure, plain


def _signed(x: np.ndarray) -> bool:
    return bool((x < 0).any())


def _count(x: np.ndarray) -> str:
    return f"{np.count_nonzero(x)} of {x.size} features"


def component_figure(
    x,
    *,
    kind="table",
    image_shape=None,
    axis=None,
    axis_name="",
    feature_names=None,
    mean=None,
    spread=None,
    top=40,
    sure=None,
) -> go.Figure:
    """One component as its data set wants it drawn; the keywords are the fields of a data set of the same
    name.

    Parameters
    ----------
    x : (n,) weights, zero outside the support
    kind : "image" | "spectrum" | "words" | "table"
    mean, spread : (n,) mean and standard deviation of the data, drawn behind images and spectra
    sure : (n,) bool, optional
        Features that are proved to be in every good answer: drawn solid, the others hatched (rings in a
        spectrum).
    """
    x = np.asarray(x, float)
    if kind == "image" and image_shape is not None:
        return component_image(x, image_shape, mean=mean, sure=sure)
    if kind == "spectrum" and axis is not None:
        return component_spectrum(x, axis, axis_name, mean=mean, spread=spread, sure=sure)
    names = (
        feature_names
        if feature_names is not None and len(feature_names)
        else [f"feature {j}" for j in range(x.size)]
    )
    return (component_words if kind == "words" else component_bars)(names, x, top=top, sure=sure)


def _sure(x: np.ndarray, sure) -> str:
    """What is said of the features that are drawn solid."""
    return "" if sure is None else f" {np.count_nonzero(sure & (x != 0))} of them solid, the others hatched."


def component_image(x, shape, mean=None, sure=None) -> go.Figure:
    """Weights as pixels, over the mean image in grey when it is given; pixels outside the support stay
    see-through.
    """
    x = np.asarray(x, float)
    alt = f"Component as a {shape[0]} × {shape[1]} image: {_count(x)} used.{_sure(x, sure)}"
    figure = new_figure(alt, height=380)
    if mean is not None:
        figure.add_heatmap(
            z=light(mean).reshape(shape),
            colorscale="Greys_r",
            showscale=False,
            opacity=0.55,
            hoverinfo="skip",
        )
    else:
        figure.add_heatmap(
            z=np.zeros(shape, np.float32),
            colorscale=[[0, FAINT], [1, FAINT]],
            showscale=False,
            hoverinfo="skip",
        )
    size = float(np.abs(x).max(initial=0)) or 1.0
    figure.add_heatmap(
        z=light(np.where(x == 0, np.nan, x)).reshape(shape),
        colorscale=DIVERGING if _signed(x) else SEQUENTIAL,
        zmin=-size if _signed(x) else 0,
        zmax=size,
        colorbar=colorbar("weight"),
        hoverongaps=False,
        hovertemplate="The pixel in row %{y}, column %{x}<br>has weight %{z:.3f}.<extra></extra>",
    )
    if sure is not None:
        _hatch(figure, np.flatnonzero((x != 0) & ~sure), shape)
    return hide_axes(figure)


STROKES = (((-0.5, 0), (0, -0.5)), ((-0.5, 0.5), (0.5, -0.5)), ((0, 0.5), (0.5, 0)))
"""Across a pixel, from its centre: column and row of both ends."""


def _hatch(figure: go.Figure, pixels: np.ndarray, shape) -> None:
    """Strokes across each pixel, as in hatched bars."""
    centre = np.column_stack(np.divmod(pixels, shape[1])[::-1])
    gap = np.full((pixels.size, 2), np.nan)
    ends = [part for first, last in STROKES for part in (centre + first, centre + last, gap)]
    x, y = np.stack(ends, axis=1).reshape(-1, 2).T
    figure.add_scatter(
        x=x,
        y=y,
        mode="lines",
        line={"color": "rgba(255,255,255,0.85)", "width": 1.2},
        hoverinfo="skip",
        showlegend=False,
        name="not proved",
    )


def _passes(axis: np.ndarray) -> list[np.ndarray]:
    """Stretches over which the axis rises: an instrument with two overlapping channels has two."""
    order = np.arange(axis.size)[:: -1 if axis.size > 1 and axis[-1] < axis[0] else 1]
    return [part for part in np.split(order, np.flatnonzero(np.diff(axis[order]) < 0) + 1) if part.size]


def _add_mean(figure: go.Figure, axis: np.ndarray, mean: np.ndarray, spread) -> None:
    for index, part in enumerate(_passes(axis)):
        at, middle, first = axis[part], mean[part], index == 0
        if spread is not None:
            width = np.asarray(spread, float)[part]
            figure.add_scatter(
                x=np.concatenate([at, at[::-1]]),
                y=np.concatenate([middle + width, (middle - width)[::-1]]),
                fill="toself",
                fillcolor=FAINT,
                line={"width": 0},
                mode="lines",
                hoverinfo="skip",
                name="± one standard deviation",
                legendgroup="spread",
                showlegend=first,
                yaxis="y2",
            )
        figure.add_scatter(
            x=at,
            y=middle,
            mode="lines",
            line={"color": CONTEXT, "width": 1.5},
            name="mean spectrum",
            legendgroup="mean",
            showlegend=first,
            yaxis="y2",
            hovertemplate="At %{x:.4g} the mean is %{y:.4g}.<extra></extra>",
        )


def component_spectrum(x, axis, axis_name="", mean=None, spread=None, sure=None) -> go.Figure:
    """Weights as stems over wavelength, with the mean spectrum and one standard deviation around it
    behind.
    """
    x, axis = np.asarray(x, float), np.asarray(axis, float)
    used = np.flatnonzero(x)
    where = (
        f", between {axis[used].min():.4g} and {axis[used].max():.4g} {plain(axis_name)}" if used.size else ""
    )
    figure = new_figure(f"Component as a spectrum: {_count(x)} used{where}.{_sure(x, sure)}", height=400)
    if mean is not None:
        _add_mean(figure, axis, np.asarray(mean, float), spread)
    feet, tops, gap = np.zeros(used.size), x[used], np.full(used.size, np.nan)
    figure.add_scatter(
        x=np.repeat(axis[used], 3),
        y=np.column_stack([feet, tops, gap]).ravel(),
        mode="lines",
        line={"color": POSITIVE, "width": 3},
        hoverinfo="skip",
        showlegend=False,
    )
    figure.add_scatter(
        x=axis[used],
        y=tops,
        mode="markers",
        marker=_rings(used, sure),
        name="weights",
        hovertemplate=f"{plain(axis_name) or 'position'} %{{x:.4g}}: weight %{{y:.3f}}.<extra></extra>",
    )
    figure.update_xaxes(title_text=plain(axis_name))
    weights = {
        "title": {"text": "weight"},
        "range": [1.1 * x.min(initial=0), 1.15 * x.max(initial=0) or 1],
        "tickmode": "auto",
    }
    if mean is None:
        return figure.update_layout(yaxis=weights)
    # The weights lie on the first axis, so the second one is put beneath them.
    behind = {"side": "right", "title": {"text": "mean spectrum"}, "showgrid": False, "rangemode": "tozero"}
    return figure.update_layout(yaxis={**weights, "overlaying": "y2", "side": "left"}, yaxis2=behind)


def _rings(used: np.ndarray, sure) -> dict:
    """Markers: discs, and rings for those that are not proved."""
    marker = {"color": POSITIVE, "size": 8, "line": {"color": POSITIVE, "width": 1.5}}
    if sure is not None:
        marker["symbol"] = ["circle" if sure[j] else "circle-open" for j in used]
    return marker


def ranked(names, weights, top: int) -> tuple[list[str], np.ndarray, int]:
    """Names and weights of the `top` largest in size, largest first, and how many more there are; ties keep
    their order.
    """
    weights = np.asarray(weights, float)
    order = np.argsort(-np.abs(weights), kind="stable")
    used = order[: np.count_nonzero(weights)]
    return [plain(names[j]) for j in used[:top]], weights[used[:top]], max(0, len(used) - top)


def _ranked_figure(
    names, weights, top: int, height: int, what: str, sure=None
) -> tuple[go.Figure, list[str], np.ndarray]:
    labels, values, more = ranked(names, weights, top)
    listed = ", ".join(labels[:5])
    alt = (
        f"Ranked {what} of the component: {listed}{' and others' if len(values) + more > 5 else ''}."
        if labels
        else f"A component without {what}."
    )
    alt += _sure(np.asarray(weights, float), sure)
    figure = new_figure(alt, height=70 + height * max(1, len(labels)))
    if more:
        figure.update_layout(title={"text": f"the {top} largest of {top + more}", "font": {"size": 14}})
    return figure, labels, values


def _bars(figure: go.Figure, labels, values, opacity: float, solid=None) -> go.Figure:
    """`solid`: whether each bar is; none are hatched where that is not said."""
    position = np.arange(len(values))
    colours = [NEGATIVE if v < 0 else POSITIVE for v in values]
    marker: dict = {"color": colours, "opacity": opacity}
    if solid is not None:
        marker["pattern"] = {"shape": ["" if one else "/" for one in solid], "fgcolor": colours, "size": 7}
        marker["pattern"] |= {"bgcolor": "rgba(0,0,0,0)", "fillmode": "replace", "solidity": 0.35}
        marker["line"] = {"color": colours, "width": 1}
    figure.add_bar(
        y=position,
        x=values,
        orientation="h",
        customdata=labels,
        marker=marker,
        hovertemplate="%{customdata}<br>weight %{x:.4f}<extra></extra>",
        showlegend=False,
    )
    figure.update_layout(bargap=0.25, margin={"t": 36, "b": 40})
    return figure.update_xaxes(title_text="weight", zeroline=True)


def _solid(weights, top: int, sure):
    """Whether each of the ranked features is drawn solid."""
    if sure is None:
        return None
    weights = np.asarray(weights, float)
    return np.asarray(sure)[
        np.argsort(-np.abs(weights), kind="stable")[: min(top, np.count_nonzero(weights))]
    ]


def component_words(words, weights, top=40, sure=None) -> go.Figure:
    """The component as a word list: largest weight first, each word as large as its weight, on a soft bar of
    its length.
    """
    figure, labels, values = _ranked_figure(words, weights, top, 27, "words", sure)
    _bars(figure, labels, values, 0.3, _solid(weights, top, sure))
    largest = np.abs(values).max(initial=0) or 1
    figure.add_scatter(
        x=np.zeros(len(values)),
        y=np.arange(len(values)),
        text=[f" {word}" for word in labels],
        mode="text",
        textposition="middle right",
        textfont={"size": [12 + 9 * abs(v) / largest for v in values]},
        hoverinfo="skip",
        showlegend=False,
        cliponaxis=False,
    )
    # Room for a long word on a short bar.
    return figure.update_xaxes(
        range=[min(1.05 * values.min(initial=0), 0), 1.25 * largest], showgrid=False
    ).update_yaxes(visible=False, range=[len(labels) - 0.4, -0.6])


def component_bars(names, weights, top=40, sure=None) -> go.Figure:
    """The component as bars with the names of its features, largest weight first."""
    figure, labels, values = _ranked_figure(names, weights, top, 20, "features", sure)
    _bars(figure, labels, values, 0.9, _solid(weights, top, sure))
    return figure.update_yaxes(
        tickvals=list(range(len(labels))),
        ticktext=labels,
        range=[len(labels) - 0.4, -0.6],
        showgrid=False,
        tickfont={"size": 12},
    )
