"""Redraw figures of published papers: panels of curves with the paper's own axes, components as pictures,
and scores of what the papers use components for.

The page Papers draws them, and the HTML report on the papers draws the first two.
"""

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from nspca.plots.compare import named, styles
from nspca.plots.theme import add_curve, add_pixels, hide_axes, light, new_figure, plain, sheet
from nspca.presentation.colours import CONTEXT, SEQUENTIAL, fade

IN_A_ROW = 10
TITLE = 30  # characters of an axis title in one line
NESTED = 7  # curves up to which a later one is thinner, so that equal curves show around each other
MOST_NAMED = 6
"""Maximum curves that the description of a figure names."""


def panel_figure(panel: Mapping[str, Any]) -> go.Figure:
    """Draw curves on the axes of a paper.

    Parameters
    ----------
    panel : dict
        ``title, x, y, curves``, each curve with ``name, x, y, spread, marks, dash``; ``xrange, yrange, band,
        share_at, logarithmic, equal``, see `nspca.papers.item.Panel`.
    """
    curves = panel["curves"]
    figure = new_figure(_panel_alt(panel), height=400, showlegend=True)
    style = styles([curve["name"] for curve in curves], nested=len(curves) <= NESTED)
    if panel["band"]:
        lower, upper = (next(c for c in curves if c["name"] == name) for name in panel["band"])
        add_curve(
            figure,
            [*lower["x"], *reversed(upper["x"])],
            [*lower["y"], *reversed(upper["y"])],
            fill="toself",
            line={"width": 0},
            fillcolor=fade(CONTEXT, 0.25),
        )
        if panel["share_at"] is not None:
            _print_share(figure, lower, upper, panel["share_at"])
    many = len(curves) > 12
    for curve in curves:
        look = style[curve["name"]]
        figure.add_scatter(
            x=light(np.array(curve["x"])),
            y=light(np.array(curve["y"])),
            name=plain(curve["name"]),
            mode="lines+markers" if curve["marks"] else "lines",
            line=look["line"] | {"dash": curve["dash"]},
            marker=look["marker"] if len(curves) <= NESTED else look["marker"] | {"size": 7},
            error_y=None
            if curve["spread"] is None
            else {"array": curve["spread"], "thickness": 1, "width": 3},
            showlegend=not many,
            hovertemplate=f"<b>{plain(curve['name'])}</b><br>%{{x:.4g}}: %{{y:.5g}}<extra></extra>",
        )
    for axis, update in (("x", figure.update_xaxes), ("y", figure.update_yaxes)):
        scale = "log" if axis in panel["logarithmic"] else "linear"
        limits = panel[f"{axis}range"]
        if limits is not None and scale == "log":
            limits = np.log10(limits).tolist()
        update(title_text="<br>".join(textwrap.wrap(panel[axis], TITLE)), type=scale, range=limits)
    if panel["equal"]:
        figure.update_yaxes(scaleanchor="x")
    if not panel["x"]:
        figure.update_xaxes(visible=False).update_yaxes(visible=False)
    return figure


def _print_share(figure: go.Figure, lower: Mapping[str, Any], upper: Mapping[str, Any], x: float) -> None:
    """Draw the height of a curve at x as an arrow from zero, with its share in a bound beside it.

    A thin line goes on to the bound.
    """
    low, high = (curve["y"][curve["x"].index(x)] for curve in (lower, upper))
    up = {"x": x, "ax": x, "axref": "x", "ayref": "y", "text": "", "arrowcolor": CONTEXT}
    figure.add_annotation(**up, y=high, ay=low, arrowhead=0, arrowwidth=1)
    figure.add_annotation(**up, y=low, ay=0, arrowside="end+start", arrowhead=2, startarrowhead=2)
    said = f"{100 * low / high:.4g} % of the bound"
    figure.add_annotation(x=x, y=low / 2, text=said, showarrow=False, xanchor="left", xshift=6)


def _panel_alt(panel: Mapping[str, Any]) -> str:
    """Return the description of a panel: its axes with the range of x, and its curves."""
    curves = panel["curves"]
    places = [x for curve in curves for x in curve["x"]]
    axes = ""
    if panel["x"] and places:
        axes = f" {panel['y']} against {panel['x']} from {min(places):.4g} to {max(places):.4g};"
    names = [plain(curve["name"]) for curve in curves[:MOST_NAMED] if curve["name"]]
    more = f", first {', '.join(names)}" if names else ""
    return f"{panel['title']}:{axes} {len(curves)} curve{'s' * (len(curves) != 1)}{more}."


def gallery_figure(title: str, shape: Sequence[int], columns: Sequence[Sequence[float]]) -> go.Figure:
    """Draw the absolute weights of components as pictures side by side, each scaled to its own largest
    weight.

    Parameters
    ----------
    title : for the description
    shape : (rows, columns) of a picture
    columns : weights (n,) of each component
    """
    height, width = shape
    rows = -(-len(columns) // IN_A_ROW)
    weights = [np.abs(np.array(column, dtype=float)) for column in columns]
    scaled = [one / (one.max() or 1.0) for one in weights]
    pictures = sheet(scaled, shape, min(IN_A_ROW, len(columns)), room=1, gap=1)[0][1:]
    figure = new_figure(
        f"{title}: {len(columns)} pictures of {height} x {width} pixels.", height=8 + 104 * rows
    )
    add_pixels(figure, pictures, SEQUENTIAL)
    return hide_axes(figure).update_layout(margin={"l": 0, "r": 0, "t": 4, "b": 4})


def selections_figure(rows: Sequence[Mapping[str, Any]]) -> go.Figure:
    """Draw the score of k-means on selected genes against their number, with mean and standard deviation over
    the starts (2008, Fig. 4).

    The score on all genes is a band across the figure.

    Parameters
    ----------
    rows : dicts with ``selection, genes, mean, spread``: how genes were selected ("all genes" for no
        selection), their number, and mean and standard deviation of the score
    """
    frame = pd.DataFrame(rows, columns=["selection", "genes", "mean", "spread"])
    some, every = frame[frame["selection"] != "all genes"], frame[frame["selection"] == "all genes"]
    best = some.sort_values("mean", ascending=False).drop_duplicates("selection") if len(some) else some
    says = ", ".join(
        f"{plain(row.selection)} {row.mean:.2f} with {row.genes} genes" for row in best.itertuples()
    )
    figure = new_figure(
        f"Jaccard score of k-means against the number of genes; the best of each: {says or 'nothing yet'}.",
        height=430,
    )
    names = list(dict.fromkeys(some["selection"]))
    style = styles(names, ["CE + SR"], nested=False)
    for i, name in enumerate(names):
        mine = some[some["selection"] == name].sort_values("genes")
        beside = mine["genes"] + 1.2 * (i - 1)  # so that the bars of two selections do not hide each other
        hover = "%{customdata} genes: %{y:.3f} ± %{error_y.array:.3f}"
        bars = {
            "error_y": {"array": list(mine["spread"]), "thickness": 1.2, "width": 3},
            "customdata": list(mine["genes"]),
        }
        hover = f"<b>{named(name)}</b>, {hover}"
        add_curve(figure, beside, mine["mean"], named(name), hover, **style[name], **bars)
    for row in every.itertuples():
        figure.add_hrect(
            y0=row.mean - row.spread, y1=row.mean + row.spread, fillcolor=fade(CONTEXT, 0.16), line_width=0
        )
        note = {"text": f"all {row.genes:,} genes: {row.mean:.2f} ± {row.spread:.2f}", "font": {"size": 13}}
        figure.add_hline(
            y=row.mean,
            line={"color": CONTEXT, "dash": "dash"},
            annotation=note,
            annotation_position="bottom right",
        )
    figure.update_xaxes(title_text="genes selected")
    return figure.update_yaxes(title_text="Jaccard score, 1 is perfect", range=[0, 1])


def roc_figure(rows: Sequence[Mapping[str, Any]]) -> go.Figure:
    """Draw ROC curves: the share of faces found against the share of other images called faces (2006, Fig.
    4).

    Parameters
    ----------
    rows : dicts with ``method, false, true, area``: shares from 0 to 1 along the curve, and the area under it
    """
    says = ", ".join(f"{plain(row['method'])} {row['area']:.3f}" for row in rows)
    figure = new_figure(
        f"ROC curves of face detection; area under each: {says or 'nothing yet'}.", height=460
    )
    style = styles([row["method"] for row in rows])
    for row in sorted(rows, key=lambda row: -row["area"]):
        name = row["method"]
        add_curve(
            figure,
            [100 * v for v in row["false"]],
            [100 * v for v in row["true"]],
            f"{named(name)}: {row['area']:.3f}",
            f"<b>{named(name)}</b>: %{{y:.1f}} % of the faces found<br>with %{{x:.1f}} % false alarms",
            line=style[name]["line"],
        )
    add_curve(figure, [0, 100], [0, 100], "by chance: 0.5", line={"color": CONTEXT, "dash": "dot"})
    figure.update_xaxes(title_text="false positives, % of the others", range=[-1, 101])
    return figure.update_yaxes(title_text="true positives, % of the faces", range=[-1, 101])
