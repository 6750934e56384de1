"""Finished curves to compare with: those that a visitor pinned, and the one that a change replaced.

The page Sweep draws them in its figure, and compares the shown answer with one of them (`side_by_side`).
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

import nspca
from nspca.dashboard import open_data
from nspca.dashboard.app import buttons, state, wording
from nspca.dashboard.proof.answer import Answer
from nspca.dashboard.runs import lookup
from nspca.dashboard.runs.lookup import Watched
from nspca.dashboard.runs.sweeps import SWEEP, differences
from nspca.errors import NSPCAError
from nspca.specs import SweepSpec
from nspca.specs.data import OF_FEATURES, features_words

HELP = "It stays in the figure while you change one thing and run again."
MOST = 4  # curves that a figure can still tell apart
PINNED, BEFORE = "pinned", "before"


@dataclass(frozen=True)
class Pinned:
    """A sweep to compare with the shown one.

    Attributes
    ----------
    answer : its results with their data and problem
    label : how it differs from the shown sweep, in a few words
    why : `PINNED`, or `BEFORE` for the sweep that a change replaced
    """

    answer: Answer
    label: str
    why: str


def beside(run: Watched) -> list[Pinned]:
    """Return the pinned sweeps and the one that a change replaced, without the shown one (`run`).

    A deleted sweep is removed; a pinned one with a message.
    """
    asked = dict.fromkeys(state.get("pin")[:MOST], PINNED)
    if state.get("before") is not None:
        asked.setdefault(state.get("before"), BEFORE)
    others = [_opened(run_id, why, run) for run_id, why in asked.items() if run_id != run.id]
    return [other for other in others if other is not None]


def _opened(run_id: str, why: str, run: Watched) -> Pinned | None:
    """Return a sweep to compare with; None if it no longer exists, after a message for a pinned one."""
    try:
        other = lookup.named(SWEEP, run_id)
        sweep = other.results
        if not other.of_these_data or sweep is None:
            raise nspca.InvalidData("The pinned curve is no longer there: pin another.")
        problem = (
            other.measured() if other.of.table is not None else open_data.problem_of(other.of, other.asked)
        )
        if problem is None:
            raise nspca.InvalidData("The variance of the pinned folder is being measured: pin it again then.")
    except NSPCAError as error:
        if why == PINNED:
            st.caption(wording.plain(error))
            _unpin(run_id)
        else:
            state.put(before=None)
        return None
    data = "" if other.asked.content == run.asked.content else other.of.dataset.name
    if data == run.of.dataset.name:
        data = _changed(other.asked, run.asked)
    label = ", ".join(part for part in (data, differences(other.asked, run.asked)) if part)
    method, k = next(iter(sweep))
    answer = Answer(other.of, other.asked, problem, sweep, k, method, id=run_id)
    return Pinned(answer, label or "the same, other values of k", why)


def _changed(other: SweepSpec, shown: SweepSpec) -> str:
    """Return a phrase about the different preparation of another curve with the same name."""
    first, second = (asked.data.but_for(*OF_FEATURES) for asked in (other, shown))
    if first == second:
        return features_words(other.data)
    return ", ".join(other.data.change_words()) or "data as they are"


def drawn(others: list[Pinned], axis: str) -> list[tuple[Any, ...]]:
    """Return the curves for `sweep_figure`: rows, the variance that counts as 100 %, and a name for each.

    `axis` is "leading" for the leading eigenvalue as 100 %, or "total" for the total variance.
    """
    found = []
    for other in others:
        problem = other.answer.problem
        unit = problem.leading_eigenvalue if axis == "leading" else problem.total_variance
        found.append((other.answer.sweep.frame, unit or 1.0, f"{other.why}: {other.label}"))
    return found


def switch(run: Watched, others: list[Pinned]) -> None:
    """Draw the buttons that pin the shown curve or remove pinned ones; nothing for a shared run."""
    if not run.own:
        return
    pins = state.get("pin")
    if run.id not in pins and len(pins) < MOST:
        buttons.button(
            "Pin this curve", "pin", lambda: state.put(pin=[*pins, run.id]), icon=":material/keep:", help=HELP
        )
    if not pins:
        return
    with st.popover(f"Pinned: {len(pins)}", icon=":material/keep:"):
        names = {other.answer.id: wording.plain(other.label) for other in others}
        for i, run_id in enumerate(pins):
            label = f"Unpin: {names.get(run_id, 'the curve that is shown')}"
            buttons.button(label, f"unpin_{i}", partial(_unpin, run_id), icon=":material/keep_off:")
    if not others:
        st.caption(
            "Now change one thing in the form (weights, standardise, effort, method): both curves are then "
            "in one figure."
        )


def _unpin(run_id: str) -> None:
    state.put(pin=[pin for pin in state.get("pin") if pin != run_id])
