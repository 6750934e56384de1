"""Draw all methods side by side: their variances, one by one and added up."""

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

import nspca
from nspca.dashboard.app import tables, wording
from nspca.dashboard.components import figures
from nspca.dashboard.runs import methods
from nspca.dashboard.runs.answer import Answer
from nspca.plots.compare import cumulative_figure, styles
from nspca.presentation.numerals import format_change, format_guarantee, format_value, round_down
from nspca.result import Result

ROUNDING = 1e-12
"""Relative difference of two variances that can come from rounding alone: their sums have up to 10⁴ terms."""


def show(answer: Answer) -> None:
    """Draw which methods gain most, the table of methods and the cumulative variance."""
    if sentence := gain_sentence(answer):
        st.markdown(sentence)
    _table(answer)
    figures.draw(cumulative(answer), f"cumulative_{answer.id}", same=answer.id)


def gain(results: Mapping[str, Result]) -> tuple[str, str, float] | None:
    """Return the best method that finds components together, the best other method, and the relative gain."""
    groups = [
        {m: r.value for m, r in results.items() if nspca.METHODS[m].joint is at_once}
        for at_once in (True, False)
    ]
    if not all(groups):
        return None
    joint, single = (max(group, key=lambda name: group[name]) for group in groups)
    if groups[1][single] <= 0:
        return None
    return joint, single, groups[0][joint] / groups[1][single] - 1


def gain_sentence(answer: Answer) -> str:
    """Return a sentence about the gain of finding all components together; empty without a comparison."""
    found = gain(answer.results)
    if found is None:
        return ""
    joint, single, change = found
    first, second = (format_value(answer.results[one].value) for one in (joint, single))
    gained = f"{format_change(change)} {'more' if change >= 0 else 'less'} than"
    numbers = f"{first} and {second}"
    if first == second:
        gained, numbers = "as much as", first
    return (
        f"**{wording.plain(joint)}** looks for all {answer.nouns.many} together and explains {gained} "
        f"**{wording.plain(single)}**, the best of the methods that find one after another ({numbers} in the "
        "units of the data)."
    )


def cumulative(answer: Answer) -> go.Figure:
    """Return the figure of the cumulative variance of the components of each method."""
    curves = {method: np.cumsum(result.values) for method, result in answer.ordered.items()}
    upper = None if answer.certificate is None else answer.certificate.upper
    return cumulative_figure(curves, total=answer.total, style=styles(curves), upper=upper)


def table(answer: Answer) -> tuple[pd.DataFrame, str]:
    """Return a table with one row per method, and the method that the others are compared with."""
    results, rows = answer.results, []
    at_once = [method for method in results if nspca.METHODS[method].joint]
    best = max(at_once or results, key=lambda method: results[method].value)
    used = {method: np.count_nonzero(result.components, axis=1) for method, result in results.items()}
    for method, result in results.items():
        gain = 100 * (results[best].value / result.value - 1) if result.value > 0 else None
        row = {
            "method": method,
            "found": methods.how(method),
            "explained": result.value,
            "share": 100 * result.value / answer.total,
            "gain": gain,
            "features": int(np.count_nonzero(used[method])),
            "shared": int(np.count_nonzero(used[method] > 1)),
            "common": int(np.count_nonzero(used[method] * used[best])),
            "least": None if result.ratio is None else _per_cent(result.ratio),
            "seconds": result.seconds,
        }
        rows.append(row)
    return pd.DataFrame(rows), best


def _per_cent(ratio: float) -> float:
    """Return a proved ratio in per cent, rounded down; only a ratio of exactly 1 gives 100."""
    return 100.0 if ratio >= 1 else math.nextafter(100 * ratio, 0.0)


def _signed(gained: float | None) -> str:
    """Return a gain in per cent as text, empty where it is unknown; a difference by rounding is no gain."""
    if gained is None or pd.isna(gained):
        return ""
    is_none = abs(gained) < 100 * ROUNDING
    return "0.0 %" if is_none else f"{'−' if gained < 0 else ''}{format_change(gained / 100)}"


def _table(answer: Answer) -> None:
    rows, best = table(answer)
    n, feature, one = answer.problem.n, answer.nouns.feature, answer.nouns.one
    rows["share"] = [round_down(share, 1) for share in rows["share"]]  # as in the headings
    rows["gain"] = [_signed(gained) for gained in rows["gain"]]
    ratios = [result.ratio for result in answer.results.values()]
    rows["least"] = ["" if ratio is None else format_guarantee(ratio) for ratio in ratios]
    number, text = st.column_config.NumberColumn, st.column_config.TextColumn
    tables.show(
        rows if rows["least"].any() else rows.drop(columns="least"),
        alt="The methods with what their components explain together, how many features they use, and the "
        "time they took",
        column_config={
            "method": text("Method"),
            "found": text("Found"),
            "explained": number(
                "Explained",
                format="scientific" if rows["explained"].max() >= 1e7 else "%.6g",
                help=f"Variance of all {one}s together, in the units of the data.",
            ),
            "share": number("% of the variance", format="%.1f"),
            "gain": text(
                f"{best} gains", alignment="right", help=f"How much more {best} explains than this method."
            ),
            "features": number(f"{feature.capitalize()}s used", help=f"Of {n:,}."),
            "shared": number(
                f"Shared {feature}s",
                help=f"{feature.capitalize()}s that more than one {one} uses. No method may use one twice.",
            ),
            "common": number(f"Also in {best}", help=f"{feature.capitalize()}s that {best} uses too."),
            "least": text(
                "Proved", alignment="right", help=f"At least this share of what the best {one}s explain."
            ),
            "seconds": number("Seconds", format="%.2f"),
        },
    )
