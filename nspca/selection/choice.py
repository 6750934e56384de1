"""Compare numbers of features or components: value on all rows, on held-out rows, and stability.

`nspca.choose_k` and `nspca.choose_components` are public; the pages run them through `specs.selection`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nspca.components import check_disjoint, shares_of_rows
from nspca.covariance.linalg import Array
from nspca.covariance.moments import moments
from nspca.errors import Cancelled, InvalidOption, InvalidProblem, within_memory
from nspca.problem import Problem
from nspca.progress import Event, Report, silent
from nspca.result import PLATEAU
from nspca.selection import stability
from nspca.selection.rows import RowSolver, read_rows, report_whole
from nspca.validation.options import check_whole, flag, known_seed

if TYPE_CHECKING:
    import pandas as pd

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
    """Return the share of the variance of some `rows` of X (m, n) that each answer in `found` explains.

    Answers (n, r) were found on the rows `others`, whose means are used for centring.
    """
    mean = moments(X[others])[0] if center else np.zeros(X.shape[1])
    each = shares_of_rows(X[rows], np.hstack(found), mean, np.ones(X.shape[1]))
    ends = np.cumsum([V.shape[1] for V in found])[:-1]
    return np.array([part.sum() for part in np.split(each, ends)])
