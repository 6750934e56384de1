"""Solve one problem on each part of the rows: a component for each k, or several components of one k.

`choice` and `noise` make a `RowSolver` and call its `solve` for all rows, held-out parts, draws or shuffled
tables. `groups` reads its rows by `read_rows` as well.
"""

from dataclasses import dataclass, field
from typing import Any

import scipy.sparse as sp

from nspca.api import solve, sweep
from nspca.covariance.linalg import Array
from nspca.covariance.moments import moments
from nspca.covariance.numbers import real_numbers, sparse_table
from nspca.errors import InvalidProblem
from nspca.problem import Problem
from nspca.progress import Event, Report
from nspca.solvers import METHODS
from nspca.validation.features import features_of


@dataclass(frozen=True)
class RowSolver:
    """Solver of one problem on different rows, with options as in `nspca.solve` and `Problem.from_data`.

    Parameters
    ----------
    ks : tuple of int
        In increasing order; a single one where several components are sought.
    components : int
        The largest number of components.
    options : dict
        Further options of the method and of `nspca.solve`.
    """

    ks: tuple[int, ...]
    components: int = 1
    method: str = "auto"
    nonneg: bool = True
    center: bool = True
    forced: tuple[int, ...] = ()
    seed: int = 0
    options: dict[str, Any] = field(default_factory=dict)

    def problem(self, X: Any) -> Problem:
        """Return the problem for some rows X (m, n)."""
        return Problem.from_data(X, self.ks[0], self.nonneg, self.center, forced=self.forced)

    def solve(self, X: Any, report: Report) -> list[Array]:
        """Return the components of rows X (m, n): (n, 1) for each k, or (n, 1), (n, 2), ... for one k."""
        problem, method = self.problem(X), self.method
        given: dict[str, Any] = {"certify": None, "seed": self.seed, "report": report, **self.options}
        if self.components == 1:
            results = sweep(problem, self.ks, methods=(method,), **given)
            return [results[method, k].components for k in self.ks]
        counts = range(1, self.components + 1)
        if method in METHODS and METHODS[method].joint:
            return [solve(problem, method, components=count, **given).components for count in counts]
        V = solve(problem, method, components=self.components, **given).components
        return [V[:, :count] for count in counts]


def read_rows(X: Any, scale: bool) -> Any:
    """Return X as rows of numbers (m, n), dense or CSR, with standardised columns if `scale`.

    Standard deviations are those of all rows, so that parts of the rows need not be scaled again.
    """
    if getattr(X, "is_covariance", False) is True:
        raise InvalidProblem(
            "rows of samples are required, got a data set that is a covariance; give the data that it is of"
        )
    X = features_of(X)[0]
    X = sparse_table(X, "data") if sp.issparse(X) else real_numbers(X, "data")
    if X.ndim != 2:
        raise InvalidProblem(f"data must be a table of rows and columns, got shape {X.shape}")
    return standardised(X) if scale else X


def standardised(X: Any) -> Any:
    """Return X with its columns divided by their standard deviations; constant columns are refused."""
    spread = moments(X)[1]
    if not spread.all():
        raise InvalidProblem(
            f"scaling needs columns that vary, got {int((spread == 0).sum())} constant ones; drop them or "
            "turn scaling off"
        )
    return sp.csr_array(X.multiply(1 / spread)) if sp.issparse(X) else X / spread


def report_whole(report: Report, done: int, total: int, stage: str) -> Report:
    """Return a report hook for a part of a longer run: each event of the part reports `done` of `total`."""
    return lambda event: report(Event(stage, done, total))
