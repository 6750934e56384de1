"""Collect the entries of A above a level, as a sparse matrix: the remainder outside a dense core.

With ``W_ij = min(A_ij, tau)`` (signed: clipped to [-tau, tau]) for pairs of features that are not both in the
core, the remainder of A is ``N_ij = (A_ij - tau)+`` (signed: with the sign of A_ij). A is never formed as a
whole. It is read in strips of columns, largest variances first, and only entries above the level are kept.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from nspca.bounds.inequality import SLACK
from nspca.covariance.covariance import Covariance, DataCovariance, SparseCovariance
from nspca.covariance.linalg import UNIT_ROUNDOFF
from nspca.covariance.parts import Parts

MOST = 2_000_000
"""Maximum number of entries that are kept (32 MB). If there are more, the level is raised."""
STRIP = 512
"""Columns of A in a strip: n x 512 numbers are 50 MB for n = 12 000."""
WIDE, PASSES = 2**25, 20
"""Entries of a strip of an A on disk (256 MB), each strip being a pass over the data; and maximum passes."""
LOWER = 0.85
"""Entries are collected down to this share of the requested level, since lower levels often follow."""
SINGLE = 512
"""Maximum samples for computing entries in single precision, which takes half the time."""
SINGLE_ROUNDOFF = 2.0**-24


@dataclass(frozen=True, eq=False)
class Remainder:
    """Entries of A above a level, each an upper bound on the size of the exact one.

    Attributes
    ----------
    n : int
        Number of features.
    level : float
        Every entry of A above this level is included.
    i, j : (p,) int32
        Features of each entry, each pair once.
    sizes : (p,) float
        The entries (signed: their absolute values), rounded up.
    """

    n: int
    level: float
    i: np.ndarray
    j: np.ndarray
    sizes: np.ndarray

    def above(self, tau: float) -> sp.csr_array:
        """Return ``|N|`` for a threshold tau that is at least `level`: (n, n), symmetric and sparse."""
        near = self.sizes > tau
        i, j, values = self.i[near], self.j[near], self.sizes[near] - tau
        across = i != j
        rows, columns = np.concatenate((i, j[across])), np.concatenate((j, i[across]))
        return sp.csr_array((np.concatenate((values, values[across])), (rows, columns)), (self.n, self.n))

    def within(self, tau: float, features: np.ndarray) -> sp.csr_array:
        """Return ``|N|`` restricted to some features, for a threshold tau that is at least `level`."""
        return sp.csr_array(self.above(tau)[features][:, features])


def can_be_read(A: Covariance) -> bool:
    """Tell whether strips of columns of A are affordable; for data on disk, each strip is a pass."""
    return not isinstance(A, Parts) or A.n**2 <= PASSES * WIDE


def _width(A: Covariance) -> int:
    """Return the number of columns in a strip."""
    return max(STRIP, WIDE // A.n) if isinstance(A, Parts) else STRIP


def entry_error(A: Covariance) -> float:
    """Return a bound on the rounding error of an entry of A when a checker recomputes it."""
    samples = A.shape[0] if A.source == "data" else 1
    return SLACK * UNIT_ROUNDOFF * (samples + 64) * float(A.diagonal.max())


def collect(A: Covariance, nonneg: bool, level: float) -> Remainder:
    """Return the entries of A above `level`, or above a higher level if there are more than `MOST`.

    The last remainder is cached with A and is returned again if it covers the level.
    """
    kept: dict[str, Any] = A.once(("remainder", nonneg), dict)
    if "last" not in kept or (kept["last"].level > level and not kept["capped"]):
        kept["last"], kept["capped"] = _collect(A, nonneg, LOWER * level)
    return kept["last"]


def _collect(A: Covariance, nonneg: bool, level: float) -> tuple[Remainder, bool]:
    """Return the entries of A above `level`, and whether the level was raised to limit their number."""
    order = np.argsort(-A.diagonal, kind="stable")
    parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    count, capped = 0, False
    for start, C, error in _strips(A, order, level):
        if not nonneg:
            C = np.abs(C)
        at = np.flatnonzero(level - error < C)
        i, j = np.divmod(at, C.shape[1])
        upper = i >= j  # the first rows of a strip are its own columns, so only one triangle counts
        i, j = i[upper], j[upper]
        sizes = C[i, j].astype(np.float64) + error
        parts.append(((j + start).astype(np.int32), (i + start).astype(np.int32), sizes))
        count += sizes.size
        if count > MOST:
            every = np.concatenate([part[2] for part in parts])
            level = float(np.partition(every, count - MOST // 2)[count - MOST // 2])
            parts = [(j[s > level], i[s > level], s[s > level]) for j, i, s in parts]
            count, capped = sum(part[2].size for part in parts), True
    if not parts:
        none = np.zeros(0, dtype=np.int32)
        return Remainder(A.n, level, none, none, np.zeros(0)), capped
    i, j, sizes = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Remainder(A.n, level, order[i].astype(np.int32), order[j].astype(np.int32), sizes), capped


def _strips(A: Any, order: np.ndarray, level: float) -> Iterator[tuple[int, np.ndarray, float]]:
    """Yield (start, C, error): C holds columns ``order[start:...]`` of A, from row ``order[start]`` on.

    Rows end where ``sqrt(A_ii A_jj)`` falls to the level. For psd A, all entries below are smaller.
    `error` bounds the rounding error of C.
    """
    size = np.sqrt(np.maximum(A.diagonal[order], 0.0) + getattr(A, "nu", 0.0))
    error = entry_error(A)
    dense = isinstance(A, DataCovariance) and not isinstance(A, SparseCovariance) and not A._small
    Z = None
    if dense and A.m <= SINGLE:
        # sums of m products of entries of Z, rounded to single precision
        error += (A.m + 16) * SINGLE_ROUNDOFF * float(A.diagonal.max())
        Z = np.ascontiguousarray(A.Z[:, order], dtype=np.float32)
    width = _width(A)
    for start in range(0, A.n, width):
        within = size[start] * size[start:] > level - error
        end = start + int(np.count_nonzero(within))
        if end == start:
            return
        stop = min(start + width, A.n)
        if Z is not None:
            yield start, Z[:, start:end].T @ Z[:, start:stop] / np.float32(A.m), error
        else:
            yield start, np.asarray(A.columns(order[start:stop])[order[start:end]]), error


def across(A: Covariance, nonneg: bool, rows: np.ndarray, others: np.ndarray, tau: float) -> sp.csr_array:
    """Return the sparse part ``N[others][:, rows]`` of the remainder for a threshold tau (float64)."""
    error, parts = entry_error(A), []
    width = max(1, (WIDE if isinstance(A, Parts) else WIDE // 4) // A.n)
    for start in range(0, rows.size, width):
        C = np.asarray(A.columns(rows[start : start + width]))[others]
        over = np.maximum((C if nonneg else np.abs(C)) + (error - tau), 0.0)
        parts.append(sp.csc_array(over if nonneg else np.copysign(over, C) * (over > 0)))
    if not parts:
        return sp.csr_array((others.size, 0))
    return sp.csr_array(sp.hstack(parts))
