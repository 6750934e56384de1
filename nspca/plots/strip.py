"""Draw the strip under the curve of a sweep: the proved gap at every k, which is too small to be seen on the
curve. `sweeps` calls `add`.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from nspca.plots.theme import add_curve, add_note, certainty
from nspca.presentation.colours import CONTEXT, PAPER, PROVED
from nspca.presentation.numerals import OPTIMAL_GAP, format_guarantee, format_value, proved_ratio

CURVE, STRIP = [0.455, 1.0], [0.0, 0.26]
"""Parts of the height of the figure."""
TITLE, TITLE_AT = "How far below the best possible, at most (proved)", 0.275
BEST = "nothing better exists, up to rounding"
TICKS = 2
LOOKS = {
    "ours": {"color": PROVED, "symbol": "circle-open", "closed": "circle"},
    "paper": {"color": PAPER, "symbol": "triangle-down-open", "closed": "triangle-down"},
}


def add(figure: go.Figure, regions: dict[str, pd.DataFrame], k: int | None = None) -> None:
    """Draw the strip into a figure. The axes get their places even when nothing is proved yet.

    Parameters
    ----------
    regions : dict
        "ours" and "paper" to rows ``lower, upper`` by k, and ``probability`` where the bound holds with one.
    k : the chosen number of features, whose gap stands above the strip
    """
    gaps = {whose: _gaps(region) for whose, region in regions.items() if len(region)}
    known = [gap for found in gaps.values() for gap in found["gap"] if gap > OPTIMAL_GAP]
    top = min(0, math.ceil(math.log10(max(known, default=1e-1))))
    bottom = min(top - 1, math.floor(math.log10(min(known, default=1e-3))))
    floor = bottom - max(0.5, 0.36 * (top - bottom))
    for whose, found in gaps.items():
        _draw(figure, found, LOOKS[whose], floor)
    figure.add_hline(y=10**floor, yref="y2", line={"color": CONTEXT, "width": 1}, layer="below")
    _lay_out(figure, bottom, top, floor, _title(gaps.get("ours"), k))


def _gaps(region: pd.DataFrame) -> pd.DataFrame:
    """Return the rows whose bound is above 0, with the proved ratio and the gap that is left."""
    region = region[region["upper"] > 0]
    ratio = [proved_ratio(low, high) for low, high in zip(region["lower"], region["upper"], strict=True)]
    return region.assign(ratio=ratio, gap=1 - np.array(ratio))


def _draw(figure: go.Figure, found: pd.DataFrame, look: Mapping[str, str], floor: float) -> None:
    """Draw the gaps of one kind of bound, rows as `_gaps` returns them; optimal values stand at 10^floor."""
    done = found["gap"] <= OPTIMAL_GAP
    said = [
        f"<b>k = {k}</b>, {certainty(probability)}<br>{BEST if over else _at_least(ratio)}."
        for k, ratio, probability, over in zip(
            found.index, found["ratio"], found["probability"], done, strict=True
        )
    ]
    add_curve(
        figure,
        list(found.index),
        [10**floor if over else gap for gap, over in zip(found["gap"], done, strict=True)],
        "gap",
        said,
        yaxis="y2",
        line={"color": look["color"], "width": 1, "dash": "dot"},
        marker={"size": 8, "symbol": [look["closed"] if over else look["symbol"] for over in done]},
        cliponaxis=False,
        showlegend=False,
        customdata=[[int(k)] for k in found.index],
    )


def _at_least(ratio: float) -> str:
    """Return the proved ratio in words."""
    return f"at least {format_guarantee(ratio)} of the best possible"


def _title(found: pd.DataFrame | None, k: int | None) -> str:
    """Return the title of the strip, with what is proved at k in a second line where it is known."""
    if found is None or k not in found.index:
        return TITLE
    is_best = found.loc[k, "gap"] <= OPTIMAL_GAP
    return f"{TITLE}<br>k = {k}: {BEST if is_best else _at_least(found.loc[k, 'ratio'])}"


def _lay_out(figure: go.Figure, bottom: int, top: int, floor: float, title: str) -> None:
    """Set both vertical axes; `bottom`, `top` and `floor` are exponents of ten.

    Gaps lie between the first two, and values that are proved optimal stand at `floor`.
    """
    every = max(1, math.ceil((top - bottom) / TICKS))
    decades: Sequence[int] = range(bottom, top + 1, every)
    low, high = floor - 0.1 * (top - floor), top + 0.12 * (top - floor)
    figure.update_layout(
        yaxis={"domain": CURVE},
        yaxis2={
            "domain": STRIP,
            "type": "log",
            "range": [low, high],
            "minallowed": low,
            "maxallowed": high,
            "fixedrange": True,
            "tickvals": [10**floor, *(10.0**decade for decade in decades)],
            "ticktext": ["optimal", *(f"{format_value(10.0 ** (decade + 2), 1)} %" for decade in decades)],
            "tickfont": {"size": 12},
            "zeroline": False,
        },
        xaxis={"anchor": "y2"},
    )
    add_note(figure, title, 0, TITLE_AT, "bottom left", align="left", font={"size": 13})
