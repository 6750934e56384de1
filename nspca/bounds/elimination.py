"""B4, the threshold dual, and the choice of kept rows: what makes duals possible for thousands of features.

Threshold: ``W_ij = min(A_ij, tau)`` off the diagonal (signed: clipped to [-tau, tau]) and ``W_ii = tau``, so

    OPT <= lambda_max(offdiagonal part above tau + diag A - tau) + k tau,

that is (k-1) tau plus the eigenvalue with the diagonal left whole. Safe elimination: where row i of A has no
entry above tau (signed: in absolute value), take W_ij = A_ij there; nothing of A is left in that row, so only
the kept rows need a witness, with tau at least every entry outside and lambda_max at least 0. The features
stay in the problem: it is the bound that needs fewer rows.

n x n is never formed: for psd A, A_ij <= max(A_ii, A_jj), so an entry above tau lies in a row or column whose
variance is.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nspca.bounds.inequality import SLACK
from nspca.bounds.peaks import peaks as peaks_of_parts
from nspca.covariance.covariance import Covariance
from nspca.covariance.linalg import UNIT_ROUNDOFF, Array, krylov, largest_eigenpairs, largest_eigenvalue
from nspca.covariance.parts import Parts
from nspca.problem import Problem

CHUNK = 2**22
"""Entries of A formed at a time: 32 MB."""
LARGEST = 2000
"""Most features whose columns are looked at: the smallest tau that can be tried is the next variance."""
LEADING = 12
"""Eigenpairs of the block computed once: more than any lift or first step uses."""
DIRECT, FOLLOWED = 100, 6
"""Larger blocks have their largest eigenvalue estimated in the line search, from so many vectors."""
GRID = 24
"""Values of tau tried in each of two passes of the line search."""


@dataclass(frozen=True, eq=False)
class Kept:
    """The rows that a bound speaks of.

    Attributes
    ----------
    rows : (r,) int, or None for all
    block : (r, r)
        A on them, plus `folded`.
    floor : float
        Level that W may have outside the rows: the threshold tau is at least this.
    free : int
        Features outside them that a support may use.
    fixed : int
        The first so many rows belong to every support looked at.
    weights : (n - r,) float64, or None
        Positive weights y of the features outside, increasing by number; None where no entry outside
        exceeds the floor.
    folded : (r, r) float64, or None
        Matrix K by which the entries above the floor outside the rows are felt on them.
    outside : float
        Bound on the eigenvalues of what is left outside: a spectral claim t is at least this.
    """

    rows: np.ndarray | None
    block: Array
    floor: float
    free: int = 0
    fixed: int = 0
    weights: Array | None = None
    folded: Array | None = None
    outside: float = 0.0

    @property
    def least(self) -> float:
        """Smallest spectral claim t that these rows allow; -inf where all rows are kept."""
        return -np.inf if self.rows is None else self.outside

    @property
    def features(self) -> np.ndarray:
        """The rows by number, also where they are all of them."""
        return np.arange(len(self.block)) if self.rows is None else self.rows

    def largest(self, values: Array, count: int) -> float:
        """Return the sum of the first `count` eigenvalues, each raised to what is left outside the rows."""
        return float(np.maximum(values[:count], self.outside).sum()) + self.outside * max(
            0, count - values.size
        )

    def spread(self, part: Array, n: int) -> Array:
        """A matrix on the rows (r, r) as one on n features, which is 0 elsewhere."""
        full = np.zeros((n, n))
        full[np.ix_(self.features, self.features)] = part
        return full

    @cached_property
    def leading(self) -> tuple[Array, Array]:
        """The largest eigenvalues of the block, decreasing, and their eigenvectors: up to `LEADING`."""
        return largest_eigenpairs(self.block, LEADING)


def peaks(A: Covariance, nonneg: bool) -> tuple[Array, float]:
    """Largest entry (signed: in absolute value) of every row, right where it exceeds the returned level."""
    return A.once(("peaks", nonneg), lambda: _peaks(A, nonneg))


def _peaks(A: Covariance, nonneg: bool) -> tuple[Array, float]:
    if isinstance(A, Parts):
        return peaks_of_parts(A, nonneg)
    order = np.argsort(-A.diagonal, kind="stable")
    # A given matrix may be indefinite by a rounding, so every row is looked at: all are in memory anyway.
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


def all_rows(problem: Problem) -> Kept:
    """Nothing eliminated."""
    return Kept(None, problem.covariance.matrix, 0.0)


def keep(problem: Problem, most: int) -> Kept:
    """At most about `most` rows: those with the largest peaks; ties at the level are left out together.

    Forced features are among them and come first, and alone where no others may be used.
    """
    A, forced = problem.covariance, np.array(problem.forced, dtype=int)
    usable, most = problem.usable, max(most, forced.size)
    if forced.size and usable.size <= most:
        return Kept(usable, A.block(usable), 0.0, fixed=forced.size)
    if A.n <= most:
        return all_rows(problem)
    largest, level = _beyond(problem, most)
    rows = np.append(forced, np.setdiff1d(np.flatnonzero(largest > level), forced))
    samples = A.shape[0] if A.source == "data" else 1
    rounding = SLACK * UNIT_ROUNDOFF * (samples + 64) * float(A.diagonal.max())
    return Kept(rows, A.block(rows), level + rounding, free=A.n - rows.size, fixed=forced.size)


def enough_rows(problem: Problem, numbers: tuple[int, ...], most: float) -> int:
    """The first of these numbers of rows at which a support full of entries left out is worth at most `most`,
    or the last.
    """
    for number in numbers:
        number = max(number, len(problem.forced))
        if problem.n <= number or sum(problem.sizes) * _beyond(problem, number)[1] <= most:
            return number
    return number


def leaves_out_little(problem: Problem, number: int, most: float) -> bool:
    """Return whether k features at the level that so many kept rows leave out are worth at most `most`."""
    A, k = problem.covariance, sum(problem.sizes)
    if problem.n <= number:
        return True
    if A.source == "data" and not isinstance(A, Parts) and A.n > LARGEST:
        # rows that are not looked at have a level of this variance, whatever their entries are
        next_variance = float(np.partition(A.diagonal, A.n - LARGEST - 1)[A.n - LARGEST - 1])
    else:
        next_variance = 0.0
    if k * next_variance > most:
        return False
    return k * _beyond(problem, number)[1] <= most


def _beyond(problem: Problem, most: int) -> tuple[Array, float]:
    """The peaks, inf for forced features, and the level that no entry outside the `most` largest exceeds."""
    A = problem.covariance
    largest, least = peaks(A, problem.nonneg)
    largest = np.where(np.isin(np.arange(A.n), problem.forced), np.inf, largest)
    return largest, max(least, float(np.partition(largest, A.n - most - 1)[A.n - most - 1]))


def search_threshold(kept: Kept, problem: Problem) -> tuple[float, Array]:
    """B4: the best tau, not below the floor, and its W."""
    B, k = kept.block, problem.size
    if B.size == 0:
        return kept.floor, np.zeros_like(B)
    entries = B if problem.nonneg else np.abs(B)
    low, high = kept.floor, max(kept.floor, float(entries.max()))
    best, tau, top = np.inf, high, _Top(kept)
    for _ in range(2):
        grid = np.linspace(low, high, GRID)
        values = [top(B - clipped(B, level, problem.nonneg)) + k * level for level in grid]
        at = int(np.argmin(values))
        if values[at] < best:
            best, tau = values[at], float(grid[at])
        low, high = grid[max(at - 1, 0)], grid[min(at + 1, GRID - 1)]
    return tau, clipped(B, tau, problem.nonneg)


def clipped(B: Array, tau: float, nonneg: bool) -> Array:
    """W of B4 for one tau."""
    W = np.minimum(B, tau) if nonneg else np.clip(B, -tau, tau)
    np.fill_diagonal(W, tau)
    return W


class _Top:
    """Estimates the largest eigenvalues of matrices on the kept rows, each much like the one before."""

    def __init__(self, kept: Kept):
        self.least = kept.least
        self.basis = kept.leading[1][:, :FOLLOWED] if len(kept.block) > DIRECT else None

    def __call__(self, R: Array) -> float:
        if self.basis is None:
            return max(largest_eigenvalue(R), self.least)
        Q, values, Z = krylov(R, self.basis)
        self.basis = Q @ Z[:, :FOLLOWED]
        return max(float(values[0]), self.least)
