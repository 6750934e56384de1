"""A comparison as the page draws it: while it runs (`Compared`), and finished at one k (`Seen`).

`ComparePage` makes both, and the sections and the downloads take a `Seen`.
"""

from typing import Any

import numpy as np
import pandas as pd

import nspca
from nspca.dashboard.app import state, wording
from nspca.dashboard.runs.lookup import Watched
from nspca.dashboard.runs.methods import baselines
from nspca.dashboard.views import curve, statement
from nspca.plots.compare import styles
from nspca.presentation.numerals import percent_down
from nspca.presentation.phrases import rival_name
from nspca.specs import ComparisonSpec

ENOUGH = 0.5
"""Share of the largest value that the first shown k must reach."""


class Compared:
    """A comparison with its data and its problem.

    Attributes
    ----------
    run : its run
    data, asked : the data and the question
    problem : the problem with its leading eigenvalue; its k is the first k of the question
    """

    def __init__(self, run: Watched) -> None:
        self.run, self.data = run, run.of
        self.asked: ComparisonSpec = run.asked
        problem = run.measured()
        assert problem is not None  # `answer_page` waits for it
        self.problem = problem

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


class Seen(Compared):
    """A finished comparison at the shown k.

    Attributes
    ----------
    sweep : the results
    table : values and bounds, one row for each method and k
    ks, k : the finished values of k, and the shown one
    of_k : the results at k by method
    """

    def __init__(self, run: Watched, sweep: nspca.Sweep) -> None:
        super().__init__(run)
        self.sweep = sweep
        self.table = sweep.frame.astype({"upper": float, "ratio": float})
        self.ks = sorted(set(self.table["k"]))
        self.k = state.get("k") if state.get("k") in self.ks else _telling(self.table)
        self.of_k = {
            method: sweep[method, self.k]
            for method in self.asked.methods
            if (method, self.k) in sweep.results
        }

    @property
    def shared(self) -> dict[str, Any]:
        """Keyword arguments that all figures against k share."""
        return {"ks": self.asked.ks, "style": self.style, "selected": self.k}

    def sentences(self) -> tuple[statement.Statement, str, str]:
        """Return the statement about the best answer, a heading with the methods that found it, and a line
        with how good it is at least and what the bars are.
        """
        best = max(self.of_k.values(), key=lambda result: result.value)
        said = statement.state_result(self.data.dataset, self.problem, best, self.k)
        unit = self.problem.leading_eigenvalue or 1.0
        # The bars print these shares. Methods with the same number on their bars do equally well.
        shares = {name: percent_down(result.value / unit, said.digits) for name, result in self.of_k.items()}
        first = [method for method, share in shares.items() if share == said.share_text]
        if len(first) == 1:
            best_ones = f"{wording.plain(rival_name(first[0]))} does best"
        elif len(first) == len(self.of_k):
            best_ones = f"all {len(first)} methods do equally well"
        else:
            best_ones = f"{len(first)} of {len(self.of_k)} methods do best"
        size = wording.things(self.k, wording.noun(self.data.dataset))
        found = f"{said.share_text} of the variance of the first principal component."
        more = " Move the slider to compare with more or fewer." * (len(self.ks) > 1)
        least = f"This is {wording.proof(best.ratio)}. " if said.most_text else ""
        return (
            said,
            f"With {size}, {best_ones}: {found} {said.limit}".rstrip(),
            f"{least}Each bar is what one method captures.{more}",
        )

    @property
    def upper(self) -> float | None:
        """The least proved upper bound at k, None without one."""
        known = self.table.loc[self.table["k"] == self.k, "upper"].dropna()
        return float(known.min()) if len(known) else None


def _telling(table: pd.DataFrame) -> int:
    """Return the k shown first: the smallest that reaches half of the largest value."""
    best = table.groupby("k")["value"].max()
    return int(best.index[best >= ENOUGH * best.max()].min())
