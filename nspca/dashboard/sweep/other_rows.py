"""Validation below a sweep, by held-out rows and bootstrap samples, when a visitor asks.

`SweepPage.more` calls `show`.
"""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from nspca.dashboard import open_folder
from nspca.dashboard.app import wording
from nspca.dashboard.components import figures
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.runs import cost_estimate, lookup
from nspca.dashboard.views.section import Section
from nspca.plots.selection import choice_figure
from nspca.problem import Problem
from nspca.selection import Choice
from nspca.selection.choice import DRAWS, FOLDS
from nspca.specs import ChoiceSpec, SweepSpec
from nspca.specs.rows import Row, Weighed
from nspca.specs.selection import choice_of, row_of

MOST = 12  # values of k that are looked at: each is solved for every part of the rows
WITHOUT_PROOF = 0.5  # of the seconds of a fast sweep, in which half goes into the proofs


def show(of: Chosen, problem: Problem, asked: SweepSpec, method: str) -> None:
    """Draw the folded button of the validation, or its outcome so far."""
    why = _not_offered(of)
    spec = None if why else _spec(asked, method)
    begun = spec is not None and lookup.that_asks(spec) is not None
    title = f"What would other {_noun(of)} say?"
    with st.expander(title, icon=":material/casino:", expanded=begun, key="fold_choice"):
        if spec is None:
            st.caption(why)
            return
        st.caption(
            f"A fifth of the {_noun(of)} is held out, and components are found on the rest. Every fifth "
            f"takes its turn. Then as many {_noun(of)} are drawn again with replacement, {DRAWS} times."
        )
        seconds = WITHOUT_PROOF * cost_estimate.each_k(of, "fast") * len(spec.ks) * spec.total
        Section(
            "choice",
            spec,
            lambda: f"Hold out and draw again: {cost_estimate.took(seconds)}",
            lambda rows: _draw(problem, rows, method),
            lambda choice, rows: _draw(problem, [row_of(choice)], method),
            ("These curves, CSV", "other-rows", lambda choice: choice.frame),
            spec.total,
            Weighed,
            ":material/casino:",
        ).show(of)


def _not_offered(of: Chosen) -> str:
    m = of.dataset.X.shape[0]
    if not no_rows(of) and m < FOLDS:
        return f"This needs at least {FOLDS} {_noun(of)}, and there are {m}."
    return no_rows(of)


def no_rows(of: Chosen) -> str:
    """Return why rows cannot be resampled; empty if they can."""
    if of.dataset.is_covariance:
        return "This needs rows, and this data set is a covariance matrix without rows."
    return "" if of.table is None else open_folder.ALL_ROWS


def _noun(of: Chosen) -> str:
    return "documents" if of.dataset.kind == "words" else "samples"


def _spec(asked: SweepSpec, method: str) -> ChoiceSpec:
    """Return the question of the validation, for some values of k of a sweep and one of its methods."""
    return ChoiceSpec(**asked.about_problem(), ks=tuple(some(asked.ks)), method=method, seed=asked.seed)


def some(ks: Sequence[int]) -> list[int]:
    """Return at most `MOST` of the values of k, including the first and the last."""
    ordered = sorted(ks)
    if len(ordered) <= MOST:
        return ordered
    return [ordered[i] for i in np.linspace(0, len(ordered) - 1, MOST).round().astype(int)]


def _draw(problem: Problem, rows: list[Row], method: str) -> None:
    row = next((row for row in reversed(rows) if isinstance(row, Weighed)), None)
    if row is None:
        return
    choice = choice_of(row)
    if choice.best is not None:
        st.markdown(sentence(choice))
    drawn = choice_figure(row.numbers, choice.columns, problem.total_variance, choice.best, choice.simplest)
    figures.draw(drawn, "sweep_choice")
    st.caption(
        "Bars are standard errors. Agreement says how often draws choose the same features: 1 is always, 0 "
        "is what chance gives. All of this is an estimate from these rows, by "
        f"{wording.plain(method)}; the proofs above are about the rows that are there."
    )


def sentence(choice: Choice) -> str:
    """Return sentences about the outcome of the validation."""
    rows = {int(k): i for i, k in enumerate(choice.numbers)}
    assert choice.best is not None and choice.simplest is not None  # something was held out
    best = rows[choice.best]
    share, error = 100 * choice.held_out[best], 100 * choice.held_out_error[best]
    within = f" ± {error:.1f}" if np.isfinite(error) else ""
    line = f"**k = {choice.best}** explains most of what was held out, {share:.1f}{within} % of its variance"
    if choice.simplest < choice.best:
        line += f"; **k = {choice.simplest}** is as good within a standard error"
    agreed = choice.stability[rows[choice.simplest]]
    if np.isfinite(agreed):
        line += f". At k = {choice.simplest} the features of two draws agree to {agreed:.2f}"
    return f"{line}."
