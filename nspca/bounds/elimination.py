"""Choose the kept rows of a bound (safe elimination), and compute the threshold bound B4.

Threshold bound: ``W_ij = min(A_ij, tau)`` off the diagonal (signed: clipped to [-tau, tau]) and
``W_ii = tau``, so

    OPT <= lambda_max(A - W) + k tau.

Safe elimination: if row i of A has no entry above tau (signed: in absolute value), take ``W_ij = A_ij``.
Then A - W is 0 in that row, so only the other rows, the kept ones, need a witness. Conditions are that tau
is at least every eliminated entry, and that lambda_max counts as at least 0. The eliminated features stay in
the problem. Elimination makes bounds possible for thousands of features.

No n x n matrix is formed: for psd A, ``A_ij <= max(A_ii, A_jj)``, so an entry above tau lies in a row or
column whose variance is above tau.

Every search for a bound on kept rows gets them as a `Kept`: from `keep` or `all_rows` here, from `core`, or
from `fixing.ground` for the node of a tree.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nspca.bounds.remainder import collect, entry_error
from nspca.covariance.covariance import Covariance
from nspca.covariance.data import CANDIDATES
from nspca.covariance.linalg import Array, krylov, largest_eigenpairs
from nspca.problem import Problem

CHUNK = 2**22
"""Entries of A formed at a time: 32 MB."""
LARGEST = 2000
"""Maximum features whose columns are read. The next variance is then the smallest possible tau."""
MOST_KEPT = 1600
"""Maximum rows that a bound keeps. Of data in parts, largest entries are found for about as many rows."""
LEADING = 12
"""Number of leading eigenpairs of the block that are computed once, more than any lift needs."""
DIRECT, FOLLOWED = 100, 5
"""Maximum rows for exact eigenvalues in the line search; and number of vectors, besides those sought, that
estimate the eigenvalues of larger blocks.
"""
GRID = 24
"""Number of values of tau in each of the two passes of the line search."""


@dataclass(frozen=True, eq=False)
class Kept:
    """The kept rows of A, on which a bound has its witness.

    Attributes
    ----------
    rows : (r,) int, or None for all
    block : (r, r)
        The part of A on the kept rows, plus `folded`.
    floor : float
        Largest entry that W may have outside the kept rows. The threshold tau is at least this.
    free : int
        Number of features outside the kept rows that a support may use.
    fixed : int
        Number of leading rows that belong to every support.
    weights : (n - r,) float64, or None
        Positive weights y of the features outside, in increasing order of the features. None if no entry
        outside exceeds the floor (safe elimination).
    folded : (r, r) float64, or None
        Matrix K that bounds the effect of entries above the floor outside the kept rows; see `core`.
    outside : float
        Bound on the eigenvalues of A - W outside the kept rows. The spectral claim t is at least this.
    prices : (r,) float64, or None
        Price that a support pays for each row, 0 for the fixed rows; None where no feature has a price.
    paid : float
        Sum of the prices of the fixed rows, rounded down.
    """

    rows: np.ndarray | None
    block: Array
    floor: float
    free: int = 0
    fixed: int = 0
    weights: Array | None = None
    folded: Array | None = None
    outside: float = 0.0
    prices: Array | None = None
    paid: float = 0.0

    @property
    def least(self) -> float:
        """Smallest spectral claim t that these rows allow; -inf where all rows are kept."""
        return -np.inf if self.rows is None else self.outside

    @property
    def features(self) -> np.ndarray:
        """Numbers of the kept rows, also when all rows are kept."""
        return np.arange(len(self.block)) if self.rows is None else self.rows

    def largest(self, values: Array, count: int) -> float:
        """Return the sum of the first `count` of `values` (decreasing), each raised to the least claim t.

        The values are eigenvalues on the kept rows. Where fewer than `count` are given, `outside` stands for
        each missing one. Of several components no claim is below 0.
        """
        least = self.least if count == 1 else self.outside
        return float(np.maximum(values[:count], least).sum()) + self.outside * max(0, count - values.size)

    @cached_property
    def leading(self) -> tuple[Array, Array]:
        """Up to `LEADING` largest eigenvalues of the block, decreasing, and their eigenvectors."""
        return largest_eigenpairs(self.block, LEADING)


def peaks(A: Covariance, nonneg: bool) -> tuple[Array, float]:
    """Return the largest entry (signed: absolute value) of every row, and a level, computed once per A.

    Of rows whose largest entry exceeds the level it is exact, of data in parts rounded up.
    """
    return A.once(("peaks", nonneg), lambda: _peaks(A, nonneg))


def _peaks(A: Covariance, nonneg: bool) -> tuple[Array, float]:
    """Compute the result of `peaks`, which is cached there."""
    order = np.argsort(-A.diagonal, kind="stable")
    if not A.cheap_blocks:
        return _peaks_in_parts(A, nonneg, order)
    # A given matrix may be indefinite by rounding, so all its rows are read. They are in memory anyway.
    looked = order if A.source == "covariance" else order[:LARGEST]
    found = np.zeros(A.n)
    width = max(1, CHUNK // A.n)
    for start in range(0, looked.size, width):
        chosen = looked[start : start + width]
        C = A.columns(chosen)
        C = np.asarray(C if nonneg else np.abs(C))
        found = np.maximum(found, C.max(axis=1))
        found[chosen] = np.maximum(found[chosen], C.max(axis=0))
    return found, float(A.diagonal[order[looked.size]]) if looked.size < A.n else 0.0


def _peaks_in_parts(A: Covariance, nonneg: bool, order: np.ndarray) -> tuple[Array, float]:
    """Compute the result of `peaks` for data in parts, with features in the `order` of variance.

    The level is that of the ``MOST_KEPT + 1``-st row or more. It is at least the largest variance outside the
    candidates, as no entry of two features there is above that, and far enough above the rounding of an entry
    that features without variance are in reach of none.
    """
    error = entry_error(A)
    own = A.block(order[:CANDIDATES])
    own = (own if nonneg else np.abs(own)).max(axis=1)
    last = max(own.size - 1 - MOST_KEPT, 0)
    level = max(np.partition(own, last)[last], A.diagonal[order[CANDIDATES:]].max(initial=4 * error))
    remainder = collect(A, nonneg, float(level))
    level, found = max(float(level) + 2 * error, remainder.level), np.zeros(A.n)
    above = remainder.sizes > level
    for features in (remainder.i, remainder.j):
        np.maximum.at(found, features[above], remainder.sizes[above])
    return found, level


def all_rows(problem: Problem) -> Kept:
    """Return the kept rows without elimination: all rows."""
    return Kept(None, problem.covariance.matrix, 0.0)


def keep(problem: Problem, most: int) -> Kept:
    """Return the kept rows of safe elimination: those with the largest entries, at most `most` of them.

    Rows whose largest entries are equal at the limit are all left out. Forced features come first. When the
    usable features fit into `most` rows, exactly these are kept.
    """
    A, forced = problem.covariance, np.array(problem.forced, dtype=int)
    usable, most = problem.usable, max(most, forced.size)
    if forced.size and usable.size <= most:
        return Kept(usable, A.block(usable), 0.0, fixed=forced.size)
    if A.n <= most:
        return all_rows(problem)
    largest, level = _beyond(problem, most)
    rows = np.append(forced, np.setdiff1d(np.flatnonzero(largest > level), forced))
    return Kept(rows, A.block(rows), level + entry_error(A), free=A.n - rows.size, fixed=forced.size)


def enough_rows(problem: Problem, numbers: tuple[int, ...], most: float) -> int:
    """Return the first of `numbers` of rows for which k times the largest eliminated entry is at most `most`.

    Returns the last number if there is none. `most` is in unit scale.
    """
    for number in numbers:
        number = max(number, len(problem.forced))
        if problem.n <= number or sum(problem.sizes) * _beyond(problem, number)[1] <= most:
            return number
    return number


def leaves_out_little(problem: Problem, number: int, most: float) -> bool:
    """Tell whether k times the largest eliminated entry is at most `most` when `number` rows are kept."""
    A, k = problem.covariance, sum(problem.sizes)
    if problem.n <= number:
        return True
    if A.source == "data" and A.cheap_blocks and A.n > LARGEST:
        # entries of rows that are not read are only known to be at most this variance
        next_variance = float(np.partition(A.diagonal, A.n - LARGEST - 1)[A.n - LARGEST - 1])
    else:
        next_variance = 0.0
    if k * next_variance > most:
        return False
    return k * _beyond(problem, number)[1] <= most


def _beyond(problem: Problem, most: int) -> tuple[Array, float]:
    """Return the largest entry of every row (inf for forced features), and the largest eliminated entry.

    The latter is for keeping the `most` rows with the largest entries.
    """
    A = problem.covariance
    largest, least = peaks(A, problem.nonneg)
    largest = np.where(np.isin(np.arange(A.n), problem.forced), np.inf, largest)
    return largest, max(least, float(np.partition(largest, A.n - most - 1)[A.n - most - 1]))


def search_threshold(kept: Kept, problem: Problem) -> tuple[float, Array]:
    """Return the tau of the smallest bound B4, at least the floor, and its W on the kept rows.

    Of r components the r largest eigenvalues count, and the sum of their sizes in place of k.
    """
    B, k = kept.block, sum(problem.sizes)
    if B.size == 0:
        return kept.floor, np.zeros_like(B)
    entries = B if problem.nonneg else np.abs(B)
    low, high = kept.floor, max(kept.floor, float(entries.max()))
    best, tau, top = np.inf, high, _Top(kept, len(problem.sizes))
    for _ in range(2):
        grid = np.linspace(low, high, GRID)
        values = [top(B - clipped(B, level, problem.nonneg)) + k * level for level in grid]
        at = int(np.argmin(values))
        if values[at] < best:
            best, tau = values[at], float(grid[at])
        low, high = grid[max(at - 1, 0)], grid[min(at + 1, GRID - 1)]
    return tau, clipped(B, tau, problem.nonneg)


def clipped(B: Array, tau: float, nonneg: bool) -> Array:
    """Return the W of the bound B4 for the block B and one tau."""
    W = np.minimum(B, tau) if nonneg else np.clip(B, -tau, tau)
    np.fill_diagonal(W, tau)
    return W


class _Top:
    """Estimator of the sum of the largest eigenvalues of matrices that change little from call to call.

    `search_threshold` calls it for every tau. Each of the `count` eigenvalues is raised to the least that the
    kept rows allow.
    """

    def __init__(self, kept: Kept, count: int):
        self.count, self.least = count, kept.least if count == 1 else kept.outside
        self.followed, enough = count + FOLLOWED, count + FOLLOWED <= LEADING
        self.basis: Array | None = None
        if len(kept.block) > DIRECT:
            vectors = kept.leading[1] if enough else largest_eigenpairs(kept.block, self.followed)[1]
            self.basis = vectors[:, : self.followed]

    def __call__(self, R: Array) -> float:
        """Return the estimate for R; for large R the search starts from the eigenvectors of the last call."""
        if self.basis is None:
            values = largest_eigenpairs(R, self.count)[0]
        else:
            Q, values, Z = krylov(R, self.basis)
            self.basis = Q @ Z[:, : self.followed]
        return float(np.maximum(values[: self.count], self.least).sum())
