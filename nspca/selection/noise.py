"""Permutation test of a component against noise: does it explain more than components of shuffled tables?

Each column is shuffled on its own, so features keep their values and lose what they have in common.
`nspca.noise_test` is public; the page Sweep runs it through its spec.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from nspca.covariance.linalg import Array
from nspca.errors import Cancelled, within_memory
from nspca.problem import Problem
from nspca.progress import Event, Report, silent
from nspca.selection.rows import RowSolver, read_rows, report_whole
from nspca.validation.options import check_whole, flag, known_seed

TABLES = 99
"""Default number of shuffled tables: the smallest possible p is then 0.01."""
TIES = 1e-9
"""Relative difference up to which values count as equal, so that noise counts as having reached them."""


@dataclass(frozen=True, eq=False)
class NoiseTest:
    """Explained variance of a table and of shuffled tables.

    Attributes
    ----------
    value : float
        Explained variance of the component of the table, in the units of the data.
    noise : (B,) explained variance of the component of each shuffled table
    """

    value: float
    noise: Array

    @property
    def reached(self) -> int:
        """Number of shuffled tables that explain as much as the table, or more."""
        return int(np.count_nonzero(self.noise >= self.value * (1 - TIES)))

    @property
    def p(self) -> float:
        """P-value ``(1 + reached) / (1 + B)``, which counts the table itself as one of the shuffled ones."""
        return (1 + self.reached) / (1 + len(self.noise))


@within_memory()
def noise_test(
    X: Any,
    k: int,
    *,
    method: str = "auto",
    nonneg: bool = True,
    center: bool = True,
    scale: bool = False,
    forced: Iterable[int] = (),
    tables: int = TABLES,
    seed: int = 0,
    report: Report | None = None,
    **options: Any,
) -> NoiseTest:
    """Test whether the first component explains more than it would if the features were independent.

    A permutation test: columns are shuffled independently, and the same method runs on each shuffled table.
    If rows and features are independent, the given table and the shuffled ones are equally likely. Then p is
    at most a with probability at most a, for every method. A small p says that features go together, not that
    these k are the right ones.

    Parameters
    ----------
    X : (m, n) array, data frame, scipy.sparse matrix or `nspca.Dataset`
    k : int
    method, **options
        As for `nspca.solve`.
    nonneg, center, scale, forced
        As for `Problem.from_data`.
    tables : int
        Number of shuffled tables; the smallest possible p is ``1 / (tables + 1)``.
    seed : int
    report : callable, optional
        Gets an event after each table, with its value in the payload. When it raises `Cancelled`, the
        attribute `best` of the exception is the `NoiseTest` of the tables so far.

    Returns
    -------
    NoiseTest
    """
    check_whole("tables", tables, 1)
    seed, say = known_seed(seed), silent if report is None else report
    Z = read_rows(X, flag("scale", scale))
    problem = Problem.from_data(Z, k, nonneg, center, forced=forced)
    solver = RowSolver((problem.size,), 1, method, nonneg, center, problem.forced, seed, options)
    value, noise, now = None, [], None
    try:
        value = problem.value(solver.solve(Z, report_whole(say, 0, tables, "the table itself"))[0][:, 0])
        for b, other in enumerate(shuffled(Z, tables, seed)):
            stage = f"shuffled table {b + 1} of {tables}"
            x = solver.solve(other, report_whole(say, b, tables, stage))[0][:, 0]
            noise.append(solver.problem(other).value(x))
            now = NoiseTest(value, np.array(noise))
            say(Event(stage, b + 1, tables, payload={"row": {"value": value, "noise": noise[-1]}}))
    except Cancelled as stop:
        stop.best = now
        raise
    assert now is not None  # there is one table at least
    return now


def shuffled(X: Any, count: int, seed: int) -> Iterator[Any]:
    """Yield `count` copies of X (m, n), dense or CSR, with each column shuffled on its own."""
    columns = sp.csc_array(X) if sp.issparse(X) else None
    for b in range(count):
        rng = np.random.default_rng([seed, b])
        if columns is None:
            yield rng.permuted(X, axis=0)
            continue
        rows, starts = np.empty_like(columns.indices), columns.indptr
        for start, end in pairwise(starts):  # stored entries move to random rows
            rows[start:end] = rng.choice(X.shape[0], end - start, replace=False)
        yield sp.csr_array(sp.csc_array((columns.data, rows, starts), shape=X.shape))
