"""Choose the number of components by the variance that they explain of held-out rows.

The section "How many?" of the page Components calls `show`.
"""

import numpy as np
import streamlit as st

from nspca.dashboard import open_folder
from nspca.dashboard.app import state, wording
from nspca.dashboard.components import figures
from nspca.dashboard.joint.outcome import Outcome
from nspca.dashboard.runs import cost_estimate
from nspca.dashboard.views.section import Section
from nspca.plots.selection import choice_figure
from nspca.selection import Choice
from nspca.selection.choice import FOLDS, MOST
from nspca.specs import ChoiceSpec
from nspca.specs.rows import Row, Weighed
from nspca.specs.selection import choice_of, row_of

BEYOND = 2
"""Larger numbers of components that are tried, beyond the one on the page."""


def show(outcome: Outcome) -> None:
    """Draw the button of the choice, or its outcome so far."""
    one, data = outcome.about.one, outcome.of.dataset
    st.markdown(
        f"**How many {one}s do held-out samples ask for?** A fifth of the samples is set aside, the {one}s "
        "are found on the rest, and the variance that they explain of the fifth is measured. Each fifth has "
        "its turn."
    )
    if data.is_covariance:
        st.caption("Not offered: these data are a covariance matrix, which has no samples.")
        return
    if outcome.of.table is not None:
        st.caption(open_folder.ALL_ROWS)
        return
    if data.X.shape[0] < FOLDS:
        st.caption(f"Not offered: {FOLDS} samples are needed at least, and there are {data.X.shape[0]}.")
        return
    spec = question(outcome)
    most = spec.most or 1
    # Smaller numbers of components take less time, about half of it on average.
    seconds = most * spec.total * max(outcome.results[outcome.best].seconds, 0.05) / 2
    Section(
        "many",
        spec,
        lambda: f"Try 1 to {outcome.about.count(most)}: {cost_estimate.took(seconds)}",
        lambda rows: _draw_rows(outcome, rows),
        lambda choice, rows: _draw_rows(outcome, [row_of(choice)]),
        ("These numbers, CSV", "how-many", lambda choice: choice.frame),
        spec.total,
        Weighed,
        ":material/stacked_line_chart:",
    ).show(outcome.of)


def question(outcome: Outcome) -> ChoiceSpec:
    """Return the spec of the choice, for components of the largest size on the page."""
    asked, n = outcome.asked, outcome.problem.n
    k = max(asked.sizes)
    return ChoiceSpec(
        **{name: value for name, value in asked.about_problem().items() if name != "forced"},
        ks=(k,),
        most=max(1, min(max(MOST, asked.r + BEYOND), n // k)),
        method=outcome.best,
        draws=0,
        seed=asked.seed,
    )


def _draw_rows(outcome: Outcome, rows: list[Row]) -> None:
    row = next((row for row in reversed(rows) if isinstance(row, Weighed)), None)
    if row is None:
        return
    choice = choice_of(row, "components")
    if choice.best is not None:
        st.markdown(sentence(choice, outcome.about.one))
        _take(outcome, choice)
    drawn = choice_figure(
        row.numbers,
        choice.columns,
        outcome.total,
        choice.best,
        choice.simplest,
        of=f"{outcome.about.many}",
        agreement=False,
    )
    figures.draw(drawn, "components_many")
    st.caption(
        f"By {wording.plain(outcome.best)}, with {outcome.about.features(max(outcome.asked.sizes))} in each "
        f"{outcome.about.one}. Bars are standard errors. This is an estimate from these samples, and no "
        "proof."
    )


def _take(outcome: Outcome, choice: Choice) -> None:
    assert choice.simplest is not None  # set when some rows are held out
    if choice.simplest != outcome.asked.r:
        count = choice.simplest
        st.button(
            f"Ask for {outcome.about.count(count)}",
            key="take_many",
            icon=":material/arrow_upward:",
            on_click=lambda: state.put(r=count, size=str(max(outcome.asked.sizes))),
            help="Changes the question above; press Find there.",
        )


def sentence(choice: Choice, one: str) -> str:
    """Return a sentence about the number of components that held-out samples recommend."""
    rows = {int(number): i for i, number in enumerate(choice.numbers)}
    assert choice.best is not None and choice.simplest is not None  # something was held out
    best, error = rows[choice.best], choice.held_out_error[rows[choice.best]]
    within = f" ± {100 * error:.1f}" if np.isfinite(error) else ""
    share = 100 * choice.held_out[best]
    line = (
        f"**{wording.things(choice.best, one)}** explain{'s' * (choice.best == 1)} most of the held-out "
        f"samples: {share:.1f}{within} % of their variance."
    )
    if choice.simplest < choice.best:
        less = 100 * choice.held_out[rows[choice.simplest]]
        line += (
            f" **{choice.simplest}** explain{'s' * (choice.simplest == 1)} {less:.1f} %, which is as good "
            "within a standard error."
        )
    return line
