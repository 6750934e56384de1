"""Redraw figures of published papers: panels of curves with the paper's own axes, components as pictures.

The page Papers and the HTML report on the papers draw them.
"""

import textwrap
from collections.abc import Mapping, Sequence
from html import escape
from itertools import cycle
from typing import Any

import numpy as np
import plotly.graph_objects as go

from nspca.plots.compare import styles
from nspca.plots.data_preview import strip
from nspca.plots.theme import add_curve, add_pixels, hide_axes, light, new_figure, plain, sheet, svg
from nspca.presentation.colours import COLOURS, CONTEXT, SEQUENTIAL, fade
from nspca.presentation.numerals import format_value, percent_down

IN_A_ROW = 10
CUT = 36
"""Characters of a line of words in a small picture."""
TITLE = 30  # characters of an axis title in one line
NESTED = 7  # curves up to which a later one is thinner, so that equal curves show around each other
MOST_SHOWN = 6
"""Maximum images of a small picture."""
MOST_DRAWN = 12
"""Maximum curves of a small picture."""
MOST_NAMED = 6
"""Maximum curves that the description of a figure names."""


def miniature(outcome: Mapping[str, Any]) -> str:
    """Return the first picture of an outcome, a dict of `nspca.papers.Outcome`, as a small SVG.

    An outcome without pictures is drawn as its first words, or as a table of its first numbers.
    """
    if outcome["galleries"]:
        gallery = outcome["galleries"][0]
        return strip(np.array(gallery["columns"][:MOST_SHOWN]), gallery["shape"])
    width, height = 240, 84
    curves = [curve for panel in outcome["panels"][:1] for curve in panel["curves"] if len(curve["x"]) > 1]
    inside = "" if curves else _small_table(outcome)
    if curves:
        x, y = (np.array([v for curve in curves for v in curve[axis]], float) for axis in ("x", "y"))
        (left, low), (right, high) = ((pick(x), pick(y)) for pick in (np.nanmin, np.nanmax))
        for curve, colour in zip(curves[:MOST_DRAWN], cycle(COLOURS)):
            across = 4 + (width - 8) * (np.array(curve["x"], float) - left) / (right - left or 1)
            down = height - 4 - (height - 8) * (np.array(curve["y"], float) - low) / (high - low or 1)
            known = np.isfinite(across) & np.isfinite(down)
            points = " ".join(f"{a:.0f},{b:.0f}" for a, b in zip(across[known], down[known], strict=True))
            inside += f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>'
    return svg(width, height, inside, f'fill="{CONTEXT}"')


def _small_table(outcome: Mapping[str, Any]) -> str:
    rows = [[", ".join(one)[:CUT]] for words in outcome["words"] for one in words["lists"]]
    if not rows:
        found = [one["value"] for several in outcome["found"].values() for one in several]
        numbers = [format_value(value, 3) for value in found if isinstance(value, float)]
        rows = [numbers[i : i + 3] for i in range(0, len(numbers), 3)] or [["…"]]
    inside = ""
    for i, row in enumerate(rows[:4]):
        y = 18 + 20 * i
        inside += f'<rect x="0" y="{y + 5}" width="240" height="1" opacity=".5"/>'
        for j, cell in enumerate(row):
            place = f'x="{2 + 80 * j}" y="{y}" font-family="sans-serif" font-size="13"'
            inside += f"<text {place}>{escape(cell)}</text>"
    return inside


def panel_figure(panel: Mapping[str, Any]) -> go.Figure:
    """Draw curves on the axes of a paper; `panel` has the fields of `nspca.papers.item.Panel`."""
    curves = panel["curves"]
    figure = new_figure(_panel_alt(panel), height=400, showlegend=True)
    style = styles([curve["name"] for curve in curves], nested=len(curves) <= NESTED)
    if panel["band"]:
        lower, upper = (next(c for c in curves if c["name"] == name) for name in panel["band"])
        x, y = ([*lower[axis], *reversed(upper[axis])] for axis in "xy")
        add_curve(figure, x, y, fill="toself", line={"width": 0}, fillcolor=fade(CONTEXT, 0.25))
        if panel["share_at"] is not None:
            _print_share(figure, lower, upper, panel["share_at"])
    many = len(curves) > 12
    for curve in curves:
        look, spread = style[curve["name"]], curve["spread"]
        figure.add_scatter(
            x=light(np.array(curve["x"])),
            y=light(np.array(curve["y"])),
            name=plain(curve["name"]),
            mode="lines+markers" if curve["marks"] else "lines",
            line=look["line"] | {"dash": curve["dash"]},
            marker=look["marker"] if len(curves) <= NESTED else look["marker"] | {"size": 7},
            error_y=None if spread is None else {"array": spread, "thickness": 1, "width": 3},
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
    """Draw the height of a curve at x as an arrow from zero, with its share in a bound beside it."""
    low, high = (curve["y"][curve["x"].index(x)] for curve in (lower, upper))
    up = {"x": x, "ax": x, "axref": "x", "ayref": "y", "text": "", "arrowcolor": CONTEXT}
    figure.add_annotation(**up, y=high, ay=low, arrowhead=0, arrowwidth=1)
    figure.add_annotation(**up, y=low, ay=0, arrowside="end+start", arrowhead=2, startarrowhead=2)
    said = f"{percent_down(low / high, 1)} of the bound"
    figure.add_annotation(x=x, y=low / 2, text=said, showarrow=False, xanchor="left", xshift=6)


def _panel_alt(panel: Mapping[str, Any]) -> str:
    curves = panel["curves"]
    places = [x for curve in curves for x in curve["x"]]
    axes = ""
    if panel["x"] and places:
        axes = f" {panel['y']} against {panel['x']} from {min(places):.4g} to {max(places):.4g};"
    names = [plain(curve["name"]) for curve in curves[:MOST_NAMED] if curve["name"]]
    more = f", first {', '.join(names)}" if names else ""
    return f"{panel['title']}:{axes} {len(curves)} curve{'s' * (len(curves) != 1)}{more}."


def gallery_figure(title: str, shape: Sequence[int], columns: Sequence[Sequence[float]]) -> go.Figure:
    """Draw the absolute weights (n,) of components as pictures side by side, each scaled to its largest."""
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
