"""What other rows say of a number of features or of components: held-out rows, draws, and shuffled tables.

`nspca.choose_k`, `nspca.choose_components` and `nspca.noise_test` are public; pages run them through
`specs.selection`. A `RowSolver` solves one problem on all rows, held-out parts, draws or shuffled tables.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from nspca.api import solve, sweep
from nspca.components import check_disjoint, shares_of_rows
from nspca.covariance.linalg import Array
from nspca.covariance.moments import moments
from nspca.covariance.numbers import real_numbers, sparse_table
from nspca.errors import Cancelled, InvalidOption, InvalidProblem, within_memory
from nspca.problem import Problem
from nspca.progress import Event, Report, silent
from nspca.result import PLATEAU
from nspca.selection import stability
from nspca.solvers import METHODS
from nspca.validation.features import features_of
from nspca.validation.options import check_whole, flag, known_seed

if TYPE_CHECKING:
    import pandas as pd


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


FOLDS, DRAWS = 5, 20
"""Default number of parts of the rows that are held out in turn, and of tables of rows drawn again."""
MOST = 6
"""Default for the largest number of components."""


@dataclass(frozen=True, eq=False)
class Choice:
    """Evidence for each number of features, or of components.

    Attributes
    ----------
    of : "k" or "components"
    numbers : (q,) ints, in increasing order
    value : (q,) explained variance on all rows, in the units of the data
    held_out, held_out_error : (q,) mean share of the variance of held-out rows, and its standard error
    stability, stability_error : (q,) agreement of the features over draws, and its standard error

    Numbers that were not requested, or not reached before cancellation, are nan.
    """

    of: str
    numbers: Array
    value: Array
    held_out: Array
    held_out_error: Array
    stability: Array
    stability_error: Array

    @property
    def frame(self) -> "pd.DataFrame":
        """Table with a row for each number and a column for each attribute; `of` names the first."""
        import pandas as pd  # slow to import, and needed only here

        return pd.DataFrame({self.of: self.numbers, **self.columns})

    @property
    def columns(self) -> dict[str, Array]:
        """Columns of evidence by name: all attributes but `of` and `numbers`."""
        names = ("value", "held_out", "held_out_error", "stability", "stability_error")
        return {name: getattr(self, name) for name in names}

    @property
    def knee(self) -> int:
        """The smallest number that reaches 95 % of the largest value, see `nspca.knee`."""
        return int(self.numbers[np.flatnonzero(self.value >= PLATEAU * self.value.max())[0]])

    @property
    def best(self) -> int | None:
        """The number that explains most of held-out rows, the smallest of equal ones; None without any."""
        return None if np.isnan(self.held_out).all() else int(self.numbers[np.nanargmax(self.held_out)])

    @property
    def simplest(self) -> int | None:
        """The smallest number whose held-out variance is within one standard error of the best.

        Larger numbers cannot be told from noise (Breiman et al. 1984). None without held-out rows.
        """
        if self.best is None:
            return None
        top = np.nanargmax(self.held_out)
        least = self.held_out[top] - np.nan_to_num(self.held_out_error[top])
        return int(self.numbers[np.flatnonzero(self.held_out >= least)[0]])


@within_memory()
def choose_k(
    X: Any,
    ks: Iterable[int] | int,
    *,
    method: str = "auto",
    nonneg: bool = True,
    center: bool = True,
    scale: bool = False,
    forced: Iterable[int] = (),
    folds: int = FOLDS,
    draws: int = DRAWS,
    seed: int = 0,
    report: Report | None = None,
    **options: Any,
) -> Choice:
    """Compare numbers of features k: variance explained, held-out variance, and stability of the features.

    Nothing here is proved. These are estimates about other rows from the same source. They treat the rows as
    independent.

    Parameters
    ----------
    X : (m, n) array, data frame, scipy.sparse matrix or `nspca.Dataset`
    ks : iterable of int, or one
    method, **options
        As for `nspca.solve`.
    nonneg, center, scale, forced
        As for `Problem.from_data`. Parts of the rows are scaled by the standard deviations of all rows.
    folds : int
        Parts that are held out in turn; 0 for none.
    draws : int
        Tables of as many rows drawn with replacement; 0 for none.
    seed : int
    report : callable, optional
        Gets an event after each part, with the numbers so far in its payload. When it raises `Cancelled`, the
        attribute `best` of the exception is the `Choice` so far.

    Returns
    -------
    Choice
    """
    Z = read_rows(X, flag("scale", scale))
    forced = tuple(forced) if isinstance(forced, Iterable) else forced
    listed = list(ks) if isinstance(ks, Iterable) else [ks]
    if not listed:
        raise InvalidProblem("a choice needs at least one k, got none")
    problem = Problem.from_data(Z, listed[0], nonneg, center, forced=forced)
    sizes = tuple(sorted({problem.with_k(k).size for k in listed}))
    solver = RowSolver(sizes, 1, method, nonneg, center, problem.forced, known_seed(seed), options)
    return _compare(Z, solver, folds, draws, silent if report is None else report)


@within_memory()
def choose_components(
    X: Any,
    k: int,
    most: int | None = None,
    *,
    method: str = "auto",
    nonneg: bool = True,
    center: bool = True,
    scale: bool = False,
    folds: int = FOLDS,
    draws: int = DRAWS,
    seed: int = 0,
    report: Report | None = None,
    **options: Any,
) -> Choice:
    """Compare 1, 2, ... disjoint components of k features each, by the measures of `choose_k`.

    Parameters
    ----------
    X : (m, n) array, data frame, scipy.sparse matrix or `nspca.Dataset`
    k : int
    most : int, optional
        The largest number; 6, or as many as there are features for.
    method, nonneg, center, scale, folds, draws, seed, report, **options
        As for `choose_k`. Methods that find components together run again for each number.

    Returns
    -------
    Choice
        Its stability is the mean over components, each matched with a component of all rows.
    """
    Z = read_rows(X, flag("scale", scale))
    n = Z.shape[1]
    size = Problem.from_data(Z, k, nonneg, center).size
    if most is None:
        most = min(MOST, n // size)
    check_whole("most", most, 1, n)
    check_disjoint(most, size, n, "fewer components")
    solver = RowSolver((size,), int(most), method, nonneg, center, (), known_seed(seed), options)
    return _compare(Z, solver, folds, draws, silent if report is None else report, of="components")


def _compare(X: Any, solver: RowSolver, folds: int, draws: int, report: Report, of: str = "k") -> Choice:
    """Return the evidence for each number of features or of components, reported after each part."""
    check_whole("folds", folds, 0)
    check_whole("draws", draws, 0)
    m, total = X.shape[0], 1 + folds + draws
    if folds and not 2 <= folds <= m:
        raise InvalidOption(f"folds must be 0, or 2 to the number of rows, {m}, got {folds}")
    numbers = np.array(solver.ks if of == "k" else range(1, solver.components + 1))
    nothing = np.full(len(numbers), np.nan)
    so_far = dict.fromkeys(("held_out", "held_out_error", "stability", "stability_error"), nothing)
    problem = solver.problem(X)
    choice: Choice | None = None

    def update(done: int, stage: str, **more: Array) -> Choice:
        """Return the evidence so far with `more` columns of numbers, and report it."""
        so_far.update(more)
        now = Choice(of, numbers, value, **so_far)
        report(Event(stage, done, total, payload={"row": as_row(now)}))
        return now

    try:
        found = solver.solve(X, report_whole(report, 0, total, "all rows"))
        value = np.array([sum(problem.value(x) for x in V.T) for V in found])
        choice = Choice(of, numbers, value, **so_far)
        choice = update(1, "all rows")
        shares = []
        for i, (others, held) in enumerate(split_folds(m, folds, solver.seed) if folds else ()):
            stage = f"rows held out, part {i + 1} of {folds}"
            parts = solver.solve(X[others], report_whole(report, 1 + i, total, stage))
            shares.append(_held_out_shares(X, held, others, parts, solver.center))
            mean = np.mean(shares, axis=0)
            error = np.std(shares, axis=0, ddof=1) / np.sqrt(len(shares)) if i else nothing
            choice = update(2 + i, stage, held_out=mean, held_out_error=error)
        supports: list[list[list[stability.Features]]] = [[] for _ in numbers]
        for b, rows in enumerate(stability.draws(m, draws, solver.seed)):
            stage = f"rows drawn again, {b + 1} of {draws}"
            again = solver.solve(X[rows], report_whole(report, 1 + folds + b, total, stage))
            for known, V, seen in zip(found, again, supports, strict=True):
                order = stability.matched(known, V)[0]
                seen.append([np.flatnonzero(V[:, j]) for j in order])
            agreed = np.array([stability.agreement(seen, problem.n) for seen in supports])
            choice = update(2 + folds + b, stage, stability=agreed[:, 0], stability_error=agreed[:, 1])
    except Cancelled as stop:
        stop.best = choice
        raise
    assert choice is not None  # set once all rows were solved
    return choice


def as_row(choice: Choice) -> dict[str, list[Any]]:
    """Return the numbers and columns of a choice as plain values for JSON, with None for nan."""
    columns = {
        name: [None if np.isnan(one) else float(one) for one in column]
        for name, column in choice.columns.items()
    }
    return {"numbers": choice.numbers.tolist(), **columns}


def split_folds(m: int, count: int, seed: int) -> Iterator[tuple[Array, Array]]:
    """Split m rows at random into `count` parts; yield for each part the other rows, then its own rows."""
    order = np.random.default_rng(seed).permutation(m)
    for part in np.array_split(order, count):
        yield np.setdiff1d(order, part), np.sort(part)


def _held_out_shares(X: Any, rows: Array, others: Array, found: list[Array], center: bool) -> Array:
    """Return the share of the variance of `rows` of X that answers found on `others` explain."""
    mean = moments(X[others])[0] if center else np.zeros(X.shape[1])
    each = shares_of_rows(X[rows], np.hstack(found), mean, np.ones(X.shape[1]))
    ends = np.cumsum([V.shape[1] for V in found])[:-1]
    return np.array([part.sum() for part in np.split(each, ends)])


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
