"""Figures for choosing k: variance of held-out rows, stability of the features, and the variance that
shuffled tables explain.

The sections "other rows" and "noise" of the page Sweep draw them. So does the section "How many?" of the
pages about several components.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from nspca.plots import kaxis
from nspca.plots.theme import add_curve, new_figure
from nspca.presentation.colours import CONTEXT, MAIN, RECOMMENDED, SECOND, fade

HELD_OUT, AGREEMENT = "of rows held out", "the same features"
UPPER, LOWER = [0.46, 1.0], [0.0, 0.34]
Columns = Mapping[str, Any]


def choice_figure(
    ks: Sequence[int],
    columns: Columns,
    total: float,
    best: int | None = None,
    simplest: int | None = None,
    *,
    of: str = "k",
    agreement: bool = True,
) -> go.Figure:
    """Draw, for each number of features or components, the variance that is explained of held-out rows and of
    the rows they were fitted to.

    Below stands the agreement of the features when rows are drawn again, unless there is no place for it.
    Both carry their standard errors. `columns` are those of `nspca.Choice`, of whose `total` variance the
    `best` number explains most, and the `simplest` nearly as much. `of` is "k", or the plural of components.
    """
    known = {name: np.array(column, dtype=float) for name, column in columns.items()}
    figure = new_figure(_alt(ks, known, best, simplest, of), height=520 if agreement else 360)
    shown = "k = " if of == "k" else f"{of}: "
    found = 100 * known["value"] / (total or 1.0)
    hover, line = f"<b>{shown}%{{x}}</b><br>%{{y:.4g}} % of the variance of all rows", {"color": CONTEXT}
    add_curve(figure, list(ks), found, "of the rows they were found on", hover, line=line | {"dash": "dot"})
    held_out = 100 * known["held_out"], 100 * known["held_out_error"]
    _with_errors(figure, ks, held_out, HELD_OUT, MAIN, shown=shown)
    if agreement:
        same = known["stability"], known["stability_error"]
        _with_errors(figure, ks, same, AGREEMENT, SECOND, "y2", shown)
    for k, symbol, name in ((simplest, "circle-open", "smallest as good"), (best, "star", "best")):
        if k is not None:
            height = 100 * known["held_out"][list(ks).index(k)]
            marker = {"symbol": symbol, "size": 15, "color": RECOMMENDED, "line": {"width": 2}}
            add_curve(figure, [k], [height], name, marker=marker)
    kaxis.lay_out(figure, list(ks), kaxis.TITLE if of == "k" else f"number of {of}")
    upper = {"title": {"text": "% of the variance"}, "rangemode": "tozero"}
    if not agreement:
        return figure.update_layout(yaxis=upper, xaxis={"dtick": 1})
    lower = {"domain": LOWER, "range": [-0.05, 1.08], "title": {"text": "agreement"}, "tickformat": ".1f"}
    return figure.update_layout(yaxis=upper | {"domain": UPPER}, yaxis2=lower, xaxis={"anchor": "y2"})


def _with_errors(
    figure: go.Figure,
    ks: Sequence[int],
    found: tuple[np.ndarray, np.ndarray],
    name: str,
    colour: str,
    axis: str = "y",
    shown: str = "k = ",
) -> None:
    """Draw a curve with error bars; `found` has its values and their standard errors."""
    values, errors = found
    said = [
        f"<b>{shown}{k}</b>, {name}<br>{value:.4g} ± {error:.2g}"
        for k, value, error in zip(ks, values, errors, strict=True)
    ]
    bars = {"type": "data", "array": np.nan_to_num(errors), "color": fade(colour, 0.7)}
    look: dict[str, Any] = {"marker": {}, "line": {"color": colour, "width": 2.5}, "error_y": bars}
    add_curve(figure, list(ks), values, name, said, yaxis=axis, **look)


def _alt(
    ks: Sequence[int], known: Mapping[str, np.ndarray], best: int | None, simplest: int | None, of: str
) -> str:
    shown = f"Variance of held-out rows against the number of {'features' if of == 'k' else of}"
    if best is None:
        return f"{shown}: nothing is ready yet."
    most = 100 * np.nanmax(known["held_out"])
    return (
        f"{shown}, from {ks[0]} to {ks[-1]}: most is explained by {best}, {most:.3g} %, and {simplest} is as "
        "good within a standard error."
    )


def noise_figure(value: float, noise: Sequence[float] | np.ndarray, total: float) -> go.Figure:
    """Draw the variance that components of shuffled tables explain as strokes, and that of the table itself
    as a line, both of a `nspca.NoiseTest`.
    """
    unit = 100 / (total or 1.0)
    found, others = unit * value, unit * np.array(noise, dtype=float)
    alt = (
        f"The component explains {found:.3g} % of the variance; those of {len(others)} shuffled tables "
        f"explain {others.min():.3g} % to {others.max():.3g} %."
    )
    figure = new_figure(alt, height=210, showlegend=False)
    stroke = {"symbol": "line-ns-open", "size": 44, "color": fade(CONTEXT, 0.8), "line": {"width": 2}}
    hover = "a shuffled table: %{x:.3g} %"
    add_curve(figure, others, np.zeros(len(others)), hover=hover, marker=stroke)
    figure.add_vline(x=found, line={"color": MAIN, "width": 3})
    look = {"yref": "paper", "showarrow": False, "yanchor": "bottom"}
    figure.add_annotation(x=found, y=1.0, text="this component", **look)
    figure.add_annotation(x=float(np.median(others)), y=0.0, text="shuffled tables", **look)
    figure.update_xaxes(title_text="% of the variance", rangemode="tozero")
    return figure.update_yaxes(visible=False, range=[-1, 1])
