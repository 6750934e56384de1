"""The sections below a comparison, drawn for `ComparePage.more`.

Only one is drawn at a time, so that the page stays short.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

import nspca
from nspca.dashboard.app import tables, wording
from nspca.dashboard.app.choices import choose_one
from nspca.dashboard.compare import loadings, more
from nspca.dashboard.compare.form import BASELINE
from nspca.dashboard.compare.seen import Seen
from nspca.dashboard.components import figures
from nspca.dashboard.runs.methods import baselines
from nspca.dashboard.views import curve
from nspca.plots.compare import overlap_figure, ratios_figure, times_figure
from nspca.presentation.numerals import round_down, round_up
from nspca.solving import line_of

SHOWN_DIGITS, PLACES = 6, 5
"""Significant digits of variances and bounds, and decimals of ratios, in the table of all numbers."""
ROUNDING = 1e-14
"""Relative difference of two values that comes from rounding alone: both are then the best found."""
LABELS = {
    "loadings": "Loadings",
    "proof": "How good at least",
    "seconds": "What it costs",
    "numbers": "All numbers",
    "components": "More components",
    "again": "Other samples",
}


def show(seen: Seen) -> None:
    """Draw the selector of sections, and the chosen section."""
    chosen = choose_one("More about this", "look", LABELS)
    draw: Callable[[Seen], object] = {
        "loadings": _loadings,
        "proof": _ratios,
        "seconds": _seconds,
        "numbers": _numbers,
        "components": more.cumulative,
        "again": more.stability,
    }[chosen]
    with st.container(border=True):
        draw(seen)


def _loadings(seen: Seen) -> None:
    """Draw the components of all methods, and the overlap of their supports."""
    _baselines(seen)
    loadings.show(seen)
    _agreement(seen.of_k)


def _ratios(seen: Seen) -> None:
    """Draw the proved share of the optimum for every method and k."""
    st.markdown("**How good each method is at least**: its value over the proved limit")
    drawn = partial(ratios_figure, seen.table, **seen.shared)
    figures.draw_plot(drawn, "compare_ratios", same=seen.run.id)


def _seconds(seen: Seen) -> None:
    """Draw the elapsed seconds of every method, without those of the proof."""
    st.markdown("**What it costs**: seconds of each method, without the proof")
    drawn = partial(times_figure, seen.table, **seen.shared)
    figures.draw_plot(drawn, "compare_times", same=seen.run.id)
    paths = [name for name in seen.asked.methods if line_of(name).path]
    one_pass = ""
    if len(seen.asked.ks) > 1 and paths:
        answers = "answers" if len(paths) == 1 else "answer"
        one_pass = f" {wording.listed(paths)} {answers} all k in one pass, whose time is shared out evenly."
    st.caption(
        "Methods run one after another and do not see each other's answers. Leading eigenvectors "
        f"are computed before.{one_pass}"
    )


def _baselines(seen: Seen) -> None:
    """Draw the caption about baselines, if the comparison has any."""
    among = [name for name in seen.asked.methods if name in baselines()]
    if among:
        st.caption(f"Dotted, {wording.listed(among)}: {BASELINE}.")


def _numbers(seen: Seen) -> None:
    """Draw a table of all numbers, and the choice of the unit (100 %) of the curve."""
    curve.draw_axis()
    draw_table(seen.table)


def draw_table(table: pd.DataFrame) -> None:
    """Draw the table of all numbers of a comparison: `Seen.table`, one row for each method and k."""
    tables.show(
        shown(table),
        alt="Every method at every k: value, share of the best found, proved ratio, bound, seconds",
        column_config={
            "method": "Method",
            "value": st.column_config.NumberColumn("Variance explained", format=f"%.{SHOWN_DIGITS}g"),
            "best": st.column_config.NumberColumn("Of the best found", format=f"%.{PLACES}f"),
            "ratio": st.column_config.NumberColumn(
                "Proved ratio", format=f"%.{PLACES}f", help="At least this share of the unknown optimum."
            ),
            "upper": st.column_config.NumberColumn("Nothing above", format=f"%.{SHOWN_DIGITS}g"),
            "seconds": st.column_config.NumberColumn("Seconds", format="%.3f"),
        },
    )


def shown(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with bounds rounded up and shares rounded down, to the digits of their columns.

    A browser would round all numbers to nearest.
    """
    best = table["value"] / table.groupby("k")["value"].transform("max")
    best = best.fillna(1.0).where(best < 1 - ROUNDING, 1.0)
    rows = table.assign(
        best=[round_down(share, PLACES) for share in best],
        ratio=[ratio if pd.isna(ratio) else round_down(ratio, PLACES) for ratio in table["ratio"]],
        upper=[upper if pd.isna(upper) else round_up(upper, SHOWN_DIGITS) for upper in table["upper"]],
    )
    return rows[["method", "k", "value", "best", "ratio", "upper", "seconds"]]


def _agreement(of_k: dict[str, nspca.Result]) -> None:
    """Draw which methods choose the same features, and unless all do, the overlap of every pair."""
    supports = {method: np.flatnonzero(result.components[:, 0]) for method, result in of_k.items()}
    if len(supports) < 2:
        return
    groups: dict[tuple[int, ...], list[str]] = {}
    for method, support in supports.items():
        groups.setdefault(tuple(support), []).append(method)
    if len(groups) == 1:
        st.markdown("**Do they choose the same features?** All of them do.")
        return
    same = [wording.listed(group) for group in groups.values() if len(group) > 1]
    agree = f"{same[0]} do." if same else "No two of them do."
    if len(same) > 1:
        agree = f"The methods of each of these groups do: {'; '.join(same)}."
    st.markdown(f"**Do they choose the same features?** {agree}")
    figures.draw(overlap_figure(supports), "compare_overlap")
