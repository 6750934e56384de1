"""A comparison with its data and its problem, as the parts of the page share them."""

from dataclasses import dataclass

import numpy as np

import nspca
from nspca.dashboard.compare.kinds import COMPARISON
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.runs import lookup
from nspca.dashboard.runs.lookup import Watched
from nspca.dashboard.runs.methods import baselines
from nspca.dashboard.runs.results import kept
from nspca.dashboard.views import curve
from nspca.jobs import JobState
from nspca.plots.compare import styles
from nspca.specs import ComparisonSpec


@dataclass(frozen=True)
class Compared:
    """A run, its data and its problem, as the parts of the page share them; `sweep` is None until there is
    something to open.
    """

    id: str
    of: Chosen
    asked: ComparisonSpec
    now: JobState
    problem: nspca.Problem
    sweep: nspca.Sweep | None

    @property
    def unit(self) -> float:
        return (
            self.problem.leading_eigenvalue if curve.axis() == "leading" else self.problem.total_variance
        ) or 1.0

    @property
    def ceiling(self) -> float:
        """What no component of any of the k exceeds, known at once: the leading eigenvalue, and the variances
        of as many features.
        """
        A = self.problem.covariance
        largest = np.sort(A.diagonal)[-max(self.asked.ks) :].sum() * A.unit
        return float(min(self.problem.leading_eigenvalue, largest)) or 1.0

    @property
    def style(self) -> dict:
        return styles(self.asked.methods, baselines())


def of(run: Watched) -> Compared:
    """A run with all that belongs to it."""
    return Compared(run.id, run.of, run.asked, run.now, run.measured(), kept(run))


def find() -> Compared | None:
    """The comparison that the address names; None when there is none, and what to do is said."""
    run = lookup.in_address(COMPARISON)
    return None if run is None else of(run)
