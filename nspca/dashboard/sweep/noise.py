"""The noise test below a sweep, which shuffles columns when a visitor asks. `SweepPage.more` calls `show`."""

import numpy as np
import streamlit as st

from nspca.dashboard.app import wording
from nspca.dashboard.components import figures
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.runs import cost_estimate, lookup
from nspca.dashboard.sweep.other_rows import WITHOUT_PROOF, no_rows
from nspca.dashboard.views.section import Section
from nspca.plots.selection import noise_figure
from nspca.problem import Problem
from nspca.selection import NoiseTest
from nspca.selection.noise import TABLES
from nspca.specs import NoiseSpec, SweepSpec
from nspca.specs.rows import Row, Shuffled

SMALL_P = 0.05  # maximum p-value for the statement that there is more than noise


def show(of: Chosen, problem: Problem, asked: SweepSpec, method: str) -> None:
    """Draw the folded button of the test for the k of `problem`, or its outcome so far."""
    why = no_rows(of)
    spec = NoiseSpec(**asked.about_problem(), k=problem.size, method=method, seed=asked.seed)
    begun = not why and lookup.that_asks(spec) is not None
    with st.expander(
        "Is it more than noise would give?", icon=":material/shuffle:", expanded=begun, key="fold_noise"
    ):
        if why:
            st.caption(why)
            return
        st.caption(
            "The values of every feature are shuffled among the samples, so that features have nothing in "
            "common. Then a component is found again."
        )
        seconds = WITHOUT_PROOF * cost_estimate.each_k(of, "fast") * (1 + TABLES)
        Section(
            "noise",
            spec,
            lambda: f"Shuffle {TABLES} times at k = {problem.size}: {cost_estimate.took(seconds)}",
            lambda rows: _draw_rows(problem, rows),
            lambda test, rows: _draw(problem, test),
            total=TABLES,
            only=Shuffled,
            icon=":material/shuffle:",
        ).show(of)


def _draw_rows(problem: Problem, rows: list[Row]) -> None:
    values = [row for row in rows if isinstance(row, Shuffled)]
    if values:
        _draw(problem, NoiseTest(values[0].value, np.array([row.noise for row in values])))


def _draw(problem: Problem, test: NoiseTest) -> None:
    st.markdown(sentence(test, problem.total_variance))
    figures.draw(noise_figure(test.value, test.noise, problem.total_variance), "sweep_noise")


def sentence(test: NoiseTest, total: float) -> str:
    """Return the outcome of the test in plain words, in per cent of the variance `total`."""
    unit, count = 100 / (total or 1.0), len(test.noise)
    found = f"This component explains {unit * test.value:.3g} % of the variance"
    most = f"the best of {wording.things(count, 'shuffled table')} {unit * test.noise.max():.3g} %"
    p = f"p = {test.p:.2g}"
    small = test.p <= SMALL_P
    verdict = "More than noise would give" if small else "Noise can give as much"
    if count < TABLES:
        verdict = (
            "So far more than noise gives" if small or not test.reached else "So far noise can give as much"
        )
    if not test.reached:
        return f"**{verdict}.** {found}, {most}: none reached it, {p}, the least that {count} can say."
    reached = f"{test.reached} of {wording.things(count, 'shuffled table')} reached it, {p}"
    return f"**{verdict}.** {found}; {reached}."
