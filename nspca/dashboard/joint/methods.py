"""Further questions about several components: all methods side by side, how many there should be, and whether
other rows give the same.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

import nspca
from nspca.dashboard.app import state, tables, wording
from nspca.dashboard.components import figures
from nspca.dashboard.runs import methods
from nspca.dashboard.runs.answer import Answer, display_order
from nspca.dashboard.views import section
from nspca.dashboard.views.section import Section
from nspca.plots.compare import cumulative_figure, styles
from nspca.presentation.numerals import format_change, format_guarantee, format_value, round_down
from nspca.result import Result
from nspca.selection import Choice
from nspca.selection.choice import MOST
from nspca.specs import ChoiceSpec, StabilitySpec
from nspca.specs.rows import Redrawn, Row
from nspca.specs.selection import RESAMPLES

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


BEYOND = 2  # larger numbers of components that are tried, beyond the one on the page


def show_how_many(answer: Answer) -> None:
    """Draw the button of the choice of the number of components, or its outcome so far."""
    nouns = answer.nouns
    spec = _choice_spec(answer)
    most = spec.most or 1

    def take(found: Choice) -> None:
        count = found.simplest
        if count is not None and count != answer.asked.r:
            st.button(
                f"Ask for {nouns.count(count)}",
                key="take_many",
                icon=":material/arrow_upward:",
                on_click=lambda: state.put(r=count, size=str(max(answer.k))),
                help="Changes the question above; press Find there.",
            )

    # Smaller numbers of components take less time, about half of it on average.
    seconds = most * spec.total * max(answer.shown.seconds, 0.05) / 2
    intro = (
        f"**How many {nouns.many} do held-out samples ask for?** A fifth of the samples is set aside, the "
        f"{nouns.many} are found on the rest, and the variance that they explain of the fifth is measured. "
        "Each fifth has its turn."
    )
    section.choose_section(
        answer, spec, intro, f"Try 1 to {nouns.count(most)}", seconds, nouns.one, take
    ).show(answer.of)


def _choice_spec(answer: Answer) -> ChoiceSpec:
    asked, n = answer.asked, answer.problem.n
    k = max(asked.sizes)
    return ChoiceSpec(
        **{name: value for name, value in asked.about_problem().items() if name != "forced"},
        ks=(k,),
        most=max(1, min(max(MOST, asked.r + BEYOND), n // k)),
        method=answer.method,
        draws=0,
        seed=asked.seed,
    )


def show_stability(answer: Answer, draw: Callable[[Answer, np.ndarray, list[float]], None]) -> None:
    """Draw the button of the analysis, or its outcome so far, for the best method."""
    one, best = answer.nouns.one, answer.method

    def rows_of(found: dict[str, list[dict[str, Any]]]) -> list[Row]:
        return [Redrawn(**one) for one in found[best]]

    Section(
        "stability",
        _stability_spec(answer),
        f"Draw the rows {RESAMPLES} times",
        lambda found, rows: _draw_stability(answer, rows_of(found), draw),
        lambda rows: _draw_stability(answer, rows, draw),
        ("Frequencies, CSV", "stability", lambda found: frequency_table(answer, rows_of(found))),
        ":material/casino:",
        seconds=RESAMPLES * max(answer.shown.seconds, 0.05),
        intro=f"**Would other samples give the same {one}s?** As many samples are drawn again with "
        f"replacement, and {wording.plain(best)} looks for the {one}s anew.",
        why_not=section.no_rows(answer.of),
    ).show(answer.of, components=answer.shown.components)


def _stability_spec(answer: Answer) -> StabilitySpec:
    asked, best = answer.asked, answer.method
    return StabilitySpec(
        **asked.about_problem(),
        k=asked.sizes,
        methods=(best,),
        options=asked.options_of([best]),
        seed=asked.seed,
    )


def frequencies(rows: list[Row], n: int) -> tuple[np.ndarray, list[float]]:
    """Return the frequency of n features in each component (n, r), and the mean overlap of each (r,)."""
    draws = [row for row in rows if isinstance(row, Redrawn)]
    F = np.zeros((n, len(draws[0].supports) if draws else 0))
    for row in draws:
        for j, support in enumerate(row.supports):
            F[support, j] += 1 / len(draws)
    return F, np.mean([row.overlaps for row in draws] or [[]], axis=0).tolist()


def _shown(answer: Answer, rows: list[Row]) -> tuple[np.ndarray, list[float]]:
    """Return `frequencies`, for the components in the order in which the page shows them."""
    F, overlaps = frequencies(rows, answer.problem.n)
    order = display_order(answer.shown)[: len(overlaps)]
    return F[:, order], [overlaps[j] for j in order]


def frequency_table(answer: Answer, rows: list[Row]) -> pd.DataFrame:
    """Return a table of the features of all draws, with their frequency in each component."""
    F, _ = _shown(answer, rows)
    names = [f"{answer.nouns.one} {j}" for j in range(1, F.shape[1] + 1)]
    frame = pd.DataFrame(F, columns=names).round(6)
    frame.insert(0, "feature", list(answer.of.dataset.feature_names))
    return frame[F.any(axis=1)]


def _draw_stability(answer: Answer, rows: list[Row], draw: Callable[..., object]) -> None:
    F, overlaps = _shown(answer, rows)
    if not overlaps:
        return
    kept = float(F[answer.displayed.components != 0].mean())
    draws = sum(isinstance(row, Redrawn) for row in rows)
    so_far = f" ({wording.things(draws, 'draw')} so far)" if draws < RESAMPLES else ""
    nouns = answer.nouns
    st.markdown(
        f"On average {100 * kept:.0f} % of the {nouns.feature}s of a {nouns.one} are there again{so_far}."
    )
    draw(answer, F, overlaps)
