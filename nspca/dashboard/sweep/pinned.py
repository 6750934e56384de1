"""A finished curve that stays in the figure while one thing about it is changed."""

from dataclasses import dataclass

import streamlit as st

import nspca
from nspca.dashboard.runs import found
from nspca.dashboard.runs.found import Watched
from nspca.dashboard.runs.request import SWEEP
from nspca.dashboard.shell import presses, state, words
from nspca.dashboard.sweep.kept import kept
from nspca.errors import NSPCAError

HELP = "It stays in the figure while you change one thing and run again."


@dataclass(frozen=True)
class Pinned:
    """A sweep to compare with: its table, its problem, and what is different about it."""

    sweep: nspca.Sweep
    problem: nspca.Problem
    label: str

    def drawn(self, axis: str) -> tuple:
        """What `sweep_figure` takes: each curve in per cent of its own 100 %."""
        unit = self.problem.leading_eigenvalue if axis == "leading" else self.problem.total_variance
        return self.sweep.frame, unit or 1.0, self.label


def beside(run: Watched) -> Pinned | None:
    """The pinned sweep, unless it is the one that is shown."""
    if state.get("pin") in (None, run.id):
        return None
    try:
        pinned = found.named(SWEEP, state.get("pin"))
        sweep = kept(pinned)
        if not pinned.of_these_data or sweep is None:
            raise nspca.InvalidData("The pinned curve is no longer there: pin another.")
        problem = pinned.asked.problem(pinned.of)
    except NSPCAError as error:
        st.caption(words.plain(error))
        state.put(pin=None)
        return None
    other = pinned.of.dataset.name if pinned.asked.content != run.asked.content else ""
    label = ", ".join(part for part in (other, pinned.asked.beside(run.asked)) if part)
    return Pinned(sweep, problem, label or "the same, other values of k")


def switch(run: Watched, pinned: Pinned | None) -> None:
    """Pin the curve that is shown, or let the pinned one go; one that somebody shared stays on its page."""
    if not run.own:
        return
    if state.get("pin") is None:
        presses.button("Pin this curve", "pin", lambda: state.put(pin=run.id), icon=":material/keep:", help=HELP)
        return
    label = f"Pinned: {words.plain(pinned.label)}" if pinned else "This curve is pinned."
    presses.button("Unpin", "unpin", lambda: state.put(pin=None), icon=":material/keep_off:", help=label)
    if pinned is None:
        st.caption("Now change one thing above (weights, standardise, effort, method) and press Run: both curves are then in one figure.")
