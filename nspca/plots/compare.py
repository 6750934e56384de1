"""Figures that compare methods: value and proof against k, time, overlap of supports, weights, and selection
frequency.

The section "Methods side by side" of Sweep draws them. The page Components also draws `cumulative_figure`.
Where a figure takes `style`, it has the look of each method, as `styles` returns it.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from nspca.plots import kaxis
from nspca.plots.samples import SYMBOLS
from nspca.plots.sweeps import NOTHING_ABOVE, add_proved, in_percent
from nspca.plots.theme import (
    add_bars,
    add_curve,
    add_note,
    add_pixels,
    name_rows,
    new_figure,
    plain,
    weight_colours,
)
from nspca.presentation.colours import BOUND, CONTEXT, FOUND, HUES
from nspca.presentation.numerals import (
    format_bound_share,
    format_guarantee,
    format_value_share,
    percent_down,
    proved_ratio,
)
from nspca.presentation.phrases import rival_name

Styles: TypeAlias = dict[str, dict[str, Any]]
"""Line and marker of each method; see `styles`."""
BAR = 22  # pixels of a bar in a ranking
MOST_FEATURES = 30  # rows of a heat map that can still be read


def named(method: object) -> str:
    """Return the name of a method as Plotly text."""
    return plain(rival_name(str(method)))


def styles(methods: Iterable[str], baselines: Iterable[str] = (), nested: bool = True) -> Styles:
    """Return the line and marker style of each method, for use in every figure.

    Baselines are dotted, with open symbols. With `nested` the first line is the widest and has the largest
    marks, so that lines that agree show around each other.
    """
    dotted, methods, found = set(baselines), list(methods), {}
    is_nested = nested and len(methods) > 1
    sizes = np.linspace(15, 6, len(methods)) if is_nested else np.full(len(methods), 9.0)
    widths = np.linspace(6, 1.5, len(methods)) if is_nested else np.full(len(methods), 2.5)
    for i, name in enumerate(methods):
        open_ = "-open" if name in dotted else ""
        dash = "dot" if open_ else ("solid", "dash")[i // len(HUES) % 2]
        line = {"color": HUES[i % len(HUES)], "width": float(widths[i]), "dash": dash}
        marker = {"size": float(sizes[i]), "symbol": SYMBOLS[i % len(SYMBOLS)] + open_}
        found[name] = {"line": line, "marker": marker | {"color": line["color"]}}
    return found


def _draw_lines(
    figure: go.Figure, frame: pd.DataFrame, ks: Sequence[int], style: Styles, selected: int | None
) -> None:
    """Draw the line of every method through the `height` of its rows, which are `said` on hovering, with a
    line at the selected k.
    """
    for method, own in frame.groupby("method", sort=False):
        rows = own.sort_values("k")
        hover = [f"<b>{named(method)}</b>, k = {row.k}: {row.said}" for row in rows.itertuples()]
        add_curve(figure, [*rows["k"]], [*rows["height"]], named(method), hover, **style[method])
    figure.update_layout(showlegend=True)  # a single method needs its name too
    kaxis.lay_out(figure, sorted(set(ks)))
    if selected is not None:
        figure.add_vline(x=selected, line={"color": CONTEXT, "width": 1, "dash": "dash"})


def values_figure(
    frame: Any,
    *,
    unit: float,
    unit_name: str,
    ks: Sequence[int],
    style: Styles,
    signed: bool = False,
    selected: int | None = None,
    ceiling: float | None = None,
) -> go.Figure:
    """Draw the variance explained by every method against k, and behind it the region in which the optimum
    is proved to lie.

    `frame` has rows ``method, k, value, upper, kind`` so far; `upper` is NaN where nothing is proved. The
    `unit` is 100 %. No component exceeds the `ceiling`, where the axis ends, also before there is a point.
    """
    frame = pd.DataFrame(frame)
    frame = frame.assign(value=frame["value"].astype(float), upper=frame["upper"].astype(float))
    figure = new_figure(_values_alt(frame, unit, unit_name), height=430)
    rows = in_percent(frame.assign(probability=math.nan), unit)
    add_proved(figure, rows, sorted(set(ks)), unit_name, "sparse" if signed else "nonnegative sparse")
    figure.update_traces(showlegend=True, selector={"name": NOTHING_ABOVE})
    said = [f"{format_value_share(value, unit)} of {unit_name}" for value in frame["value"]]
    _draw_lines(figure, frame.assign(height=100 * frame["value"] / unit, said=said), ks, style, selected)
    top = {} if ceiling is None else {"range": [0, 105 * ceiling / unit]}
    return figure.update_yaxes(title_text=f"% of {unit_name}", rangemode="tozero", **top)


def ranking_figure(
    values: Mapping[str, float], *, unit: float, unit_name: str, upper: float | None, limit: str, places: int
) -> go.Figure:
    """Draw the variance that each method explains at one k as bars, the largest on top, and the proved limit.

    The `unit` is 100 %. `upper` bounds all values, and `limit` is what the page prints of it, empty where it
    is reached. Percentages are rounded down to `places` decimals.
    """
    names = sorted(values, key=lambda name: values[name])
    said = [percent_down(min(1.0, proved_ratio(values[name], unit)), places) for name in names]
    ends = ", ".join(f"{named(name)} {text}" for name, text in zip(names, said, strict=True))
    figure = new_figure(
        f"Variance explained by each method, of {unit_name}: {ends}.",
        height=BAR * len(names) + 34,
        margin={"l": 8, "r": 8, "t": 26, "b": 8},
    )
    x, y = [100 * values[name] / unit for name in names], [named(name) for name in names]
    inside: dict[str, Any] = {"textposition": "inside", "constraintext": "none", "textfont": {"size": 13}}
    add_bars(figure, x, y, FOUND, orientation="h", text=said, **inside)
    if upper is not None:
        figure.add_vline(
            x=100 * upper / unit,
            line={"color": BOUND, "width": 2, "dash": "dot"},
            annotation={"text": f"proved limit {limit}".rstrip(), "xanchor": "right"},
            annotation_position="top",
        )
    most = max([*values.values(), upper or 0.0], default=1.0)
    return figure.update_xaxes(visible=False, range=[0, 115 * most / unit])


def _values_alt(frame: pd.DataFrame, unit: float, unit_name: str) -> str:
    if not len(frame):
        return "Variance against k: nothing is ready yet."
    k, count = int(frame["k"].max()), frame["method"].nunique()
    last = frame[frame["k"] == k]
    ends = ", ".join(
        f"{named(row.method)} {format_value_share(row.value, unit)}" for row in last.itertuples()
    )
    return (
        f"Variance explained against k for {count} method{'s' * (count > 1)}. At k = {k}, of {unit_name}: "
        f"{ends}."
    )


def ratios_figure(frame: Any, *, ks: Sequence[int], style: Styles, selected: int | None = None) -> go.Figure:
    """Draw the proved share of the optimum that every method reaches, against k; rows as in `values_figure`
    with `ratio`.
    """
    frame = pd.DataFrame(frame).dropna(subset=["ratio"])
    worst = frame.groupby("method", sort=False)["ratio"].min()
    says = ", ".join(f"{named(name)} {format_guarantee(ratio)}" for name, ratio in worst.items())
    figure = new_figure(
        f"Proved share of the best possible; the least of each method: {says or 'nothing proved yet'}.",
        height=430,
    )
    said = [f"at least {format_guarantee(one)}<br>of the best possible, proved" for one in frame["ratio"]]
    _draw_lines(figure, frame.assign(height=100 * frame["ratio"], said=said), ks, style, selected)
    return figure.update_yaxes(title_text="at least this % of the best possible")


def times_figure(frame: Any, *, ks: Sequence[int], style: Styles, selected: int | None = None) -> go.Figure:
    """Draw the seconds of every method against k, on a logarithmic axis; arguments as in `values_figure`."""
    frame = pd.DataFrame(frame)
    total = frame.groupby("method", sort=False)["seconds"].sum()
    says = ", ".join(f"{named(name)} {seconds:.3g} s" for name, seconds in total.items())
    figure = new_figure(
        f"Time of every method against k; all values of k together: {says or 'nothing yet'}.", height=380
    )
    rows = frame.assign(
        height=frame["seconds"].clip(lower=1e-5), said=[f"{seconds:.3g} s" for seconds in frame["seconds"]]
    )
    _draw_lines(figure, rows, ks, style, selected)
    return figure.update_yaxes(title_text="seconds", type="log", dtick=1)


def weights_figure(
    X: ArrayLike,
    feature_names: Sequence[str],
    methods: Sequence[str],
    *,
    what: str = "weight",
    order: ArrayLike | None = None,
) -> go.Figure:
    """Draw features (rows) against methods (columns) as a heat map, the strongest features first.

    A cell of X (n, methods) is the weight of a feature, or `what` else it is; shares end at 1. Rows follow
    the `order` (n,) of the features, such as their wavelength, if it is given.
    """
    X = np.asarray(X, dtype=float)
    used = np.flatnonzero(np.abs(X).sum(axis=1) > 0)
    rows = used[np.argsort(-np.abs(X[used]).sum(axis=1), kind="stable")][:MOST_FEATURES]
    if order is not None:
        rows = rows[np.argsort(np.asarray(order)[rows], kind="stable")]
    names = [plain(feature_names[j], 28) for j in rows]
    alt = (
        f"{what[0].upper()}{what[1:]} of {len(rows)} features for {len(methods)} methods, first "
        f"{', '.join(names[:3])}."
    )
    figure = new_figure(alt, height=150 + 22 * max(1, len(rows)))
    if used.size > len(rows):
        strongest = f"the {len(rows)} strongest of {used.size} features in use"
        add_note(figure, strongest, 0, -0.01, "top left")
    add_pixels(
        figure,
        np.where(X[rows] == 0, np.nan, X[rows]),
        *weight_colours(X, None if what == "weight" else 1.0),
        f"%{{customdata}}<br>%{{x}}: {what} %{{z:.3f}}",
        what.replace(" ", "<br>"),
        x=[named(name) for name in methods],
        y=np.arange(len(rows)),
        customdata=[[name] * len(methods) for name in names],
        xgap=2,
        ygap=1,
        texttemplate="%{z:.2f}" if len(methods) <= 8 else None,
        textfont={"size": 11},
    )
    figure.update_xaxes(side="top", showgrid=False)
    return name_rows(figure, names, zeroline=False)


def cumulative_figure(
    curves: Mapping[str, Sequence[float] | np.ndarray],
    *,
    total: float,
    style: Styles,
    upper: float | None = None,
) -> go.Figure:
    """Draw the variance of 1, 2, 3, ... components of each method (Fig. 2 (a) of Asteris et al. 2015).

    The `total` is 100 %, and `upper` a proved bound on the variance of the most components.
    """
    title, most = "variance explained, % of total", max((len(one) for one in curves.values()), default=1)
    said = {name: [format_value_share(value, total) for value in one] for name, one in curves.items()}
    ends = ", ".join(f"{named(name)} {texts[-1]} with {len(texts)}" for name, texts in said.items() if texts)
    figure = new_figure(
        f"{title[0].upper()}{title[1:]} against the number of components: {ends or 'nothing yet'}.",
        height=380,
        showlegend=True,
    )
    for name, values in curves.items():
        hover = [f"<b>{named(name)}</b>, the first {j}: {text}" for j, text in enumerate(said[name], 1)]
        x, y = list(range(1, len(values) + 1)), [100 * value / total for value in values]
        add_curve(figure, x, y, named(name), hover, **style[name])
    if upper is not None:
        limit = format_bound_share(upper, total)
        hover = [f"No {most} disjoint components explain more than {limit}: proved."]
        ends_of_line, height = [most - 0.35, most + 0.35], 100 * upper / total
        line = {"color": BOUND, "width": 2.5}
        add_curve(figure, ends_of_line, [height] * 2, NOTHING_ABOVE, hover * 2, line=line)
    figure.update_xaxes(
        title_text="number of components", dtick=1 if most <= 12 else None, range=[0.6, most + 0.4]
    )
    return figure.update_yaxes(title_text=title, rangemode="tozero")
