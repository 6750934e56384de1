"""Sections that find components again on other rows: how many there should be, and how stable they are."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from nspca.dashboard.app import state, wording
from nspca.dashboard.runs import cost_estimate
from nspca.dashboard.runs.answer import Answer, display_order
from nspca.dashboard.views import choice
from nspca.dashboard.views.section import Section
from nspca.selection import Choice
from nspca.selection.choice import MOST
from nspca.specs import ChoiceSpec, StabilitySpec
from nspca.specs.rows import Redrawn, Row
from nspca.specs.stability import RESAMPLES

BEYOND = 2  # larger numbers of components that are tried, beyond the one on the page


def show_how_many(answer: Answer) -> None:
    """Draw the button of the choice of the number of components, or its outcome so far."""
    nouns, of = answer.nouns, answer.of
    st.markdown(
        f"**How many {nouns.many} do held-out samples ask for?** A fifth of the samples is set aside, the "
        f"{nouns.many} are found on the rest, and the variance that they explain of the fifth is measured. "
        "Each fifth has its turn."
    )
    if why := choice.not_offered(of):
        st.caption(why)
        return
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
    choice.show(of, spec, answer.total, f"Try 1 to {nouns.count(most)}", seconds, nouns.one, take)


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
    st.markdown(
        f"**Would other samples give the same {one}s?** As many samples are drawn again with replacement, "
        f"and {wording.plain(best)} looks for the {one}s anew."
    )
    if why := choice.no_rows(answer.of):
        st.caption(why)
        return
    spec, result = _stability_spec(answer), answer.shown
    seconds = RESAMPLES * max(result.seconds, 0.05)

    def rows_of(found: dict[str, list[dict[str, Any]]]) -> list[Row]:
        return [Redrawn(**one) for one in found[best]]

    Section(
        "stability",
        spec,
        lambda: f"Draw the rows {RESAMPLES} times: {cost_estimate.took(seconds)}",
        lambda found, rows: _draw_stability(answer, rows_of(found), draw),
        lambda rows: _draw_stability(answer, rows, draw),
        ("Frequencies, CSV", "stability", lambda found: frequency_table(answer, rows_of(found))),
        ":material/casino:",
    ).show(answer.of, components=result.components)


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
