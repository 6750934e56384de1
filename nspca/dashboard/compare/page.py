"""The comparison that the address names: filling in, ended, or with everything there is to see about it."""

from datetime import UTC, datetime

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

import nspca
from nspca.api import line_of
from nspca.dashboard.app import frame, state, wording
from nspca.dashboard.compare import archive
from nspca.dashboard.compare import form as compare_form
from nspca.dashboard.compare import loadings as compare_loadings
from nspca.dashboard.compare import more as compare_more
from nspca.dashboard.compare import run as compare_run
from nspca.dashboard.compare.kinds import BASELINE, COMPARISON, SOME
from nspca.dashboard.compare.run import Compared
from nspca.dashboard.components import figures
from nspca.dashboard.export import offer
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.runs import export, first_answer, progress
from nspca.dashboard.runs.methods import baselines
from nspca.dashboard.views import curve, filling
from nspca.dashboard.views.filling import download
from nspca.plots.compare import overlap_figure, ratios_figure, times_figure, values_figure
from nspca.presentation.numerals import round_down, round_up
from nspca.result import COLUMNS
from nspca.specs.rows import Found, Proved, Row, unpack

SAME = 1e-6  # relative difference below which two methods have found the same
ENOUGH = 0.5  # of the largest value: the k looked at first
SHOWN_DIGITS, PLACES = 6, 5
"""Significant digits of variances and bounds, and decimals of ratios, in the table of all numbers."""
LIGHTER = (
    "Of many features it was made at fewer values of k, and of very many by fewer methods, than the "
    "form offers."
)


def show(of: Chosen) -> None:
    """The run of the address, or the answer that stands here before anybody asks."""
    usual = compare_form.usual(of)
    seen = first_answer.look(COMPARISON, of, usual)
    if seen is not None:
        run = compare_run.of(seen)
        first_answer.announce(
            seen, usual.describe().asked, "Compare", LIGHTER if run.problem.n > SOME else ""
        )
        if seen.now.state != "done":
            filling.await_it(seen, _steps(run), lambda rows: _filling(run, rows), only=Found | Proved)
            return
    else:
        run = compare_run.find()
    if run is None:
        return
    if run.sweep is not None:
        if run.now.state == "cancelled":
            progress.ended(run.now, "again_compare")
        _finished(run)
        return
    filling.watch(
        run.now,
        _steps(run),
        lambda rows: _filling(run, rows),
        "compare",
        Found | Proved,
        stop=lambda: progress.stop(run.id),
    )


def _steps(run: Compared) -> int:
    return run.asked.total


def _filling(run: Compared, rows: list[Row]) -> None:
    """The curves as far as they are known; the region appears as its proofs do."""
    table = known(rows)
    said = {"unit_name": _unit_name(), "signed": not run.asked.nonneg, "ceiling": run.ceiling}
    figure = values_figure(table, unit=run.unit, ks=run.asked.ks, style=run.style, **said)
    figures.draw(figure.update_layout(height=430), "compare_filling", same=run.id)
    filling.refusals(rows)


def known(rows: list[Row]) -> pd.DataFrame:
    """Rows of values and rows of proofs as one table."""
    table = pd.DataFrame([vars(row) for row in rows if isinstance(row, Found)], columns=list(COLUMNS))
    proofs = {row.k: (row.upper, row.kind) for row in rows if isinstance(row, Proved)}
    table["upper"] = [proofs.get(k, (np.nan, None))[0] for k in table["k"]]
    table["kind"] = [proofs.get(k, (np.nan, None))[1] for k in table["k"]]
    return table


def _unit_name() -> str:
    return curve.AXES[curve.axis()]


def _finished(run: Compared) -> None:
    sweep, table = run.sweep, run.sweep.frame.astype({"upper": float, "ratio": float})
    filling.refusals(unpack(run.now.rows))
    ready = sorted(set(table["k"]))
    k = state.get("k") if state.get("k") in ready else _telling(table)
    _curves(run, table, k)
    _baselines(run)
    _table(run, table)
    with st.container(border=True):
        _slider(ready, k)
        of_k = {method: sweep[method, k] for method in run.asked.methods if (method, k) in sweep.results}
        _verdict(of_k)
        _same(of_k)
        compare_loadings.show(run, of_k)
    compare_more.cumulative(run, k, list(of_k))
    compare_more.stability(run, k, list(of_k))
    _whole(run, table, k)


def _drawn(run: Compared, table: pd.DataFrame, k: int) -> dict[str, go.Figure]:
    """The three curves, by the names under which they are taken home."""
    shared = {"ks": run.asked.ks, "style": run.style, "selected": k}
    values = values_figure(
        table, unit=run.unit, unit_name=_unit_name(), signed=not run.asked.nonneg, **shared
    )
    drawn = (values, ratios_figure(table, **shared), times_figure(table, **shared))
    return dict(zip(archive.ABOUT, drawn, strict=True))


def _whole(run: Compared, table: pd.DataFrame, k: int) -> None:
    """Everything as one file."""
    of = f"{run.id} {run.now.finished} {curve.axis()} {k}"
    name, drawn = f"{archive.whole(run).folder}.zip", _drawn(run, table, k)
    make = lambda drawn, pictures: archive.pack(run, drawn, pictures, datetime.now(UTC))  # noqa: E731
    offer.everything(name, of, lambda: drawn, make)


def _curves(run: Compared, table: pd.DataFrame, k: int) -> None:
    values, ratios, times = _drawn(run, table, k).values()
    with frame.picture():
        _axis()
        left, right = st.columns(2, gap="medium")
    with left:
        st.markdown("**What is found**, and where the optimum is proved to lie")
        figures.draw(values, "compare_values", same=run.id)
    with right:
        st.markdown("**How good that is at least**: found over proved bound")
        figures.draw(ratios, "compare_ratios", same=run.id)
    st.markdown("**What it costs**: seconds of each method, without the proof")
    figures.draw(times, "compare_times", same=run.id)
    paths = [name for name in run.asked.methods if line_of(name).path]
    one_pass = (
        f" {wording.listed(paths)} answer{'s' if len(paths) == 1 else ''} all k in one pass, whose time is "
        "shared out evenly."
        if len(run.asked.ks) > 1 and paths
        else ""
    )
    st.caption(
        "Methods run one after another and do not see each other's answers; leading eigenvectors are ready "
        f"before.{one_pass}"
    )


def _axis() -> None:
    """What 100 % means."""
    st.segmented_control(
        "Variance in % of",
        list(curve.AXES),
        format_func=lambda axis: f"% of {curve.AXES[axis]}",
        required=True,
        label_visibility="collapsed",
        help=curve.AXIS_HELP,
        **state.bind("axis", curve.axis()),
    )


def _baselines(run: Compared) -> None:
    among = [name for name in run.asked.methods if name in baselines()]
    if among:
        st.caption(
            f"Dotted, {wording.listed(among)}: {BASELINE}. The loading is scikit-learn's, its largest k "
            "entries are kept."
        )


def _table(run: Compared, table: pd.DataFrame) -> None:
    """Every number, to read and to take home."""
    with st.expander("All numbers", icon=":material/table:"):
        st.dataframe(
            shown(table),
            hide_index=True,
            alt="Every method at every k: value, share of the best found, proved ratio, bound, seconds",
            column_config={
                "method": "Method",
                "value": st.column_config.NumberColumn("Variance explained", format=f"%.{SHOWN_DIGITS}g"),
                "best": st.column_config.NumberColumn("Of the best found", format=f"%.{PLACES}f"),
                "ratio": st.column_config.NumberColumn(
                    "Proved ratio", format=f"%.{PLACES}f", help="At least this part of the unknown optimum."
                ),
                "upper": st.column_config.NumberColumn("Nothing above", format=f"%.{SHOWN_DIGITS}g"),
                "seconds": st.column_config.NumberColumn("Seconds", format="%.3f"),
            },
        )
    with st.container(horizontal=True):
        download("All numbers, CSV", table, run.of, "compare")
        export.offer(run.asked, run.of)


def shown(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table as it is shown: numbers are rounded before a browser rounds them to nearest.

    Bounds are rounded up and shares down, to the digits of the columns' formats.
    """
    best = table["value"] / table.groupby("k")["value"].transform("max")
    rows = table.assign(
        best=[round_down(share, PLACES) for share in best.fillna(1.0)],
        ratio=[ratio if pd.isna(ratio) else round_down(ratio, PLACES) for ratio in table["ratio"]],
        upper=[upper if pd.isna(upper) else round_up(upper, SHOWN_DIGITS) for upper in table["upper"]],
    )
    return rows[["method", "k", "value", "best", "ratio", "upper", "seconds"]]


def _slider(ks: list[int], k: int) -> None:
    if len(ks) > 1:
        st.select_slider("Look at k", ks, **state.bind("k", k))
    else:
        st.markdown(f"**k = {k}**")


def _verdict(of_k: dict[str, nspca.Result]) -> None:
    """Who found the most at this k, and how far the others are below."""
    best = max(result.value for result in of_k.values()) or 1.0
    first = [method for method, result in of_k.items() if result.value >= best * (1 - SAME)]
    below = sorted(
        ((1 - result.value / best, method) for method, result in of_k.items() if method not in first)
    )
    others = ", ".join(f"{method} {100 * gap:.2g} % less" for gap, method in below)
    st.markdown(
        f"**{wording.listed(first)}** find{'s' if len(first) == 1 else ''} the most "
        f"here{f'; {others}' if others else ''}."
    )


def _same(of_k: dict[str, nspca.Result]) -> None:
    """Which methods agree, in a sentence, then the map."""
    supports = {method: np.flatnonzero(result.components[:, 0]) for method, result in of_k.items()}
    if len(supports) < 2:
        return
    groups: dict[tuple, list[str]] = {}
    for method, support in supports.items():
        groups.setdefault(tuple(support), []).append(method)
    if len(groups) == 1:
        st.markdown("**Do they choose the same features?** All of them, exactly.")
        return
    same = [wording.listed(group) for group in groups.values() if len(group) > 1]
    agree = f"{'; '.join(same)}: exactly the same." if same else "No two of them, exactly."
    st.markdown(f"**Do they choose the same features?** {agree}")
    figures.draw(overlap_figure(supports), "compare_overlap")


def _telling(table: pd.DataFrame) -> int:
    """The k shown first: the smallest that reaches half of what the largest does."""
    best = table.groupby("k")["value"].max()
    return int(best.index[best >= ENOUGH * best.max()].min())
