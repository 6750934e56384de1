"""The class `Compared`: a comparison with its data and its problem, for all modules of the page."""

from dataclasses import dataclass
from typing import Any

import numpy as np

import nspca
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.runs.lookup import Watched
from nspca.dashboard.runs.methods import baselines
from nspca.dashboard.views import curve
from nspca.jobs import JobState
from nspca.plots.compare import styles
from nspca.specs import ComparisonSpec


@dataclass(frozen=True)
class Compared:
    """A comparison with its data and its problem.

    Attributes
    ----------
    id, now : id and state of its run
    data : the data
    asked : the question
    problem : the problem with its leading eigenvalue; its k is the first k of the question
    sweep : the results; None until there are some
    """

    id: str
    data: Chosen
    asked: ComparisonSpec
    now: JobState
    problem: nspca.Problem
    sweep: nspca.Sweep | None

    @classmethod
    def from_run(cls, run: Watched) -> "Compared":
        """Return the comparison of a run, with its problem and its results."""
        problem = run.measured()
        assert problem is not None  # `answer_page` waits for it
        return cls(run.id, run.of, run.asked, run.now, problem, run.results)

    @property
    def unit(self) -> float:
        """Variance that the figure shows as 100 %: the leading eigenvalue, or the total variance."""
        return (
            self.problem.leading_eigenvalue if curve.axis() == "leading" else self.problem.total_variance
        ) or 1.0

    @property
    def ceiling(self) -> float:
        """Upper limit of the axis of values: the leading eigenvalue or the sum of the largest variances."""
        A = self.problem.covariance
        largest = np.sort(A.diagonal)[-max(self.asked.ks) :].sum() * A.unit
        return float(min(self.problem.leading_eigenvalue, largest)) or 1.0

    @property
    def style(self) -> dict[str, Any]:
        """Line and marker style of each method in the figures."""
        return styles(self.asked.methods, baselines())
