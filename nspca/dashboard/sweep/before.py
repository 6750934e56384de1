"""The finished curve that a change replaced, to compare with the shown one.

The page Sweep draws it in its figure, and compares the shown answer with it (`side_by_side`). The page Runs
names another sweep in its place.
"""

from dataclasses import dataclass

import pandas as pd

from nspca.dashboard import open_data
from nspca.dashboard.app import state
from nspca.dashboard.proof.answer import Answer
from nspca.dashboard.runs import lookup
from nspca.dashboard.runs.lookup import Watched
from nspca.dashboard.runs.sweeps import SWEEP, differences
from nspca.errors import NSPCAError
from nspca.specs import SweepSpec
from nspca.specs.data import OF_FEATURES, features_words


@dataclass(frozen=True)
class Before:
    """The results of another sweep with their data and problem, and how it differs, in a few words."""

    answer: Answer
    label: str

    def drawn(self, axis: str) -> tuple[pd.DataFrame, float, str]:
        """Return the curve for `sweep_figure`: rows, the variance that counts as 100 %, and a name."""
        problem = self.answer.problem
        unit = problem.leading_eigenvalue if axis == "leading" else problem.total_variance
        return self.answer.sweep.frame, unit or 1.0, f"before: {self.label}"


def find(run: Watched) -> Before | None:
    """Return the sweep to compare the shown one with, None if there is none or it no longer exists."""
    run_id = state.get("before")
    if run_id is None or run_id == run.id:
        return None
    try:
        other = lookup.named(SWEEP, run_id)
        sweep = other.results
        of_a_folder = other.of.table is not None
        problem = other.measured() if of_a_folder else open_data.problem_of(other.of, other.asked)
    except NSPCAError:
        sweep = problem = None
    if sweep is None or problem is None or not other.of_these_data:
        state.put(before=None)
        return None
    data = "" if other.asked.content == run.asked.content else other.of.dataset.name
    if data == run.of.dataset.name:
        data = _changed(other.asked, run.asked)
    label = ", ".join(part for part in (data, differences(other.asked, run.asked)) if part)
    method, k = next(iter(sweep))
    answer = Answer(other.of, other.asked, problem, sweep, k, method, id=run_id)
    return Before(answer, label or "the same, other values of k")


def _changed(other: SweepSpec, shown: SweepSpec) -> str:
    """Return a phrase about the different preparation of another curve with the same name."""
    first, second = (asked.data.but_for(*OF_FEATURES) for asked in (other, shown))
    if first == second:
        return features_words(other.data)
    return ", ".join(other.data.change_words()) or "data as they are"
