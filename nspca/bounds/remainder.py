"""Collect the entries of A above a level, as a sparse matrix: the remainder outside a dense core.

On the features of a core W, M and U are free (`core`). With ``W_ij = min(A_ij, tau)`` (signed: clipped to
[-tau, tau]) for pairs of features that are not both in the core, what is left of A there is
``N_ij = (A_ij - tau)+`` (signed: with the sign of A_ij). A is never formed whole: it is read in strips of
columns, largest variances first, and only entries above the level are kept. As ``|A_ij|`` is at most
``sqrt(A_ii A_jj)``, few pairs need a look where variances differ: a million of the billion pairs of 50 000
words. `core` collects a remainder before it tries cores, and when it rebuilds the core of a certificate.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from nspca.bounds.inequality import SLACK
from nspca.covariance.covariance import Covariance
from nspca.covariance.data import CANDIDATES
from nspca.covariance.linalg import UNIT_ROUNDOFF, Array, Indices
from nspca.progress import Event, tell

MOST = 2_000_000
"""Maximum number of entries that are kept (32 MB). If there are more, the level is raised."""
STRIP = 512
"""Columns of A in a strip: n x 512 numbers are 50 MB for n = 12 000."""
NARROWEST = 16
"""Columns of the first strip for data that are held in parts. Each next strip has twice as many columns,
since the variances fall and fewer pairs of features are in reach.
"""
WIDE, PASSES = 2**25, 20
"""Maximum entries of A formed in one pass over the rows of data in parts (256 MB), and maximum passes."""
LOWER = 0.85
"""Entries are collected down to this share of the level asked for, so that the next lower level needs no
new pass.
"""
LOWEST = 1e-6
"""Where too many pairs are in reach, the level is raised to this share of the largest variance at least."""
SINGLE = 512
"""Maximum samples for computing entries in single precision, which takes half the time."""
TILE = 2048
"""Rows of a strip that are computed together in single precision: 4 MB, which stay in the cache."""
PAIRS = 2**22
"""Numbers of one side that are multiplied together by `in_double`: 32 MB."""
SINGLE_ROUNDOFF = 2.0**-24
"""Largest relative error of one rounding in single precision."""


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
        Features of each entry, i <= j in the order in which they were read.
    entries : (p,) float
        The entries (signed: with their signs), rounded away from 0.
    """

    n: int
    level: float
    i: np.ndarray
    j: np.ndarray
    entries: np.ndarray

    @property
    def sizes(self) -> np.ndarray:
        return np.abs(self.entries)

    def above(self, tau: float, signs: bool = False) -> sp.csr_array:
        """Return ``|N|``, or N with its signs, for a threshold tau that is at least `level`.

        The matrix is (n, n), symmetric and sparse.
        """
        near = self.sizes > tau
        i, j, entries = self.i[near], self.j[near], self.entries[near]
        values = np.abs(entries) - tau
        values = np.copysign(values, entries) if signs else values
        across = i != j
        rows, columns = np.concatenate((i, j[across])), np.concatenate((j, i[across]))
        return sp.csr_array((np.concatenate((values, values[across])), (rows, columns)), (self.n, self.n))


def can_be_read(A: Covariance, level: float) -> bool:
    """Tell whether entries of A above a level can be read, for data in parts in at most `PASSES` passes."""
    return A.cheap_blocks or pairs_in_reach(A, level) <= PASSES * WIDE


def pairs_in_reach(A: Covariance, level: float) -> int:
    """Return the number of pairs of features whose entry of A may exceed a positive level."""
    size = np.sort(_sizes(A))[::-1]
    size = size[size > 0]
    ends = np.searchsorted(-size, -level / size)
    return int(np.maximum(ends - np.arange(size.size), 0).sum())


def _sizes(A: Covariance) -> Array:
    """Return numbers (n,) with ``|A_ij| <= size_i size_j``."""
    return np.sqrt(np.maximum(A.diagonal, 0.0) + A.nu)


def entry_error(A: Covariance) -> float:
    """Return a bound on the rounding error of an entry of A when a checker recomputes it."""
    samples = A.shape[0] if A.source == "data" else 1
    return SLACK * UNIT_ROUNDOFF * (samples + 64) * float(A.diagonal.max())


def read_in_single(A: Covariance) -> bool:
    """Tell whether entries of A are collected in single precision: dense data, few samples, A not formed."""
    return A.Z is not None and not A.small and A.shape[0] <= SINGLE


def in_double(A: Any, i: Indices, j: Indices) -> Array:
    """Return the entries (p,) of A of p pairs of features in double precision (see `read_in_single`)."""
    step = max(1, PAIRS // A.m)
    blocks = [slice(start, start + step) for start in range(0, i.size, step)]
    found = [np.einsum("sp,sp->p", A.Z[:, i[block]], A.Z[:, j[block]]) / A.m for block in blocks]
    return np.concatenate(found) if found else np.zeros(0)


def collect(A: Covariance, nonneg: bool, level: float) -> Remainder:
    """Return the entries of A above `level`, or above a higher level if there are more than `MOST`.

    The remainder with the lowest level so far is cached with A. It is returned again if it covers the level,
    or if a level had to be raised, so callers compare its `level`. So whatever could be formed of the entries
    once can be formed again.
    """
    kept: dict[str, Any] = A.once(("remainder", nonneg), dict)
    if "last" not in kept or (kept["last"].level > level and not kept["capped"]):
        found, kept["capped"] = _collect(A, nonneg, LOWER * level)
        if "last" not in kept or found.level < kept["last"].level:
            kept["last"] = found
    return kept["last"]


def _collect(A: Covariance, nonneg: bool, level: float) -> tuple[Remainder, bool]:
    """Return the entries of A above `level`, and whether the level was raised to limit their number."""
    order = np.argsort(-A.diagonal, kind="stable")
    parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    count, capped = 0, False
    while not can_be_read(A, level):
        level, capped = max(level / LOWER, LOWEST * float(A.diagonal.max())), True
    for first, start, C, error in _strips(A, order, level):
        at = np.flatnonzero((C if nonneg else np.abs(C)) > level - error)
        i, j = np.divmod(at, C.shape[1])
        # the first rows of a strip are its own columns, so only one triangle counts
        upper = i + first >= j + start
        i, j = i[upper], j[upper]
        entries = C[i, j].astype(np.float64)
        entries += np.copysign(error, entries)
        parts.append(((j + start).astype(np.int32), (i + first).astype(np.int32), entries))
        count += entries.size
        if count > MOST:
            every = np.abs(np.concatenate([part[2] for part in parts]))
            level = float(np.partition(every, count - MOST // 2)[count - MOST // 2])
            parts = [tuple(array[np.abs(part[2]) > level] for array in part) for part in parts]
            count, capped = sum(part[2].size for part in parts), True
    if not parts:
        none = np.zeros(0, dtype=np.int32)
        return Remainder(A.n, level, none, none, np.zeros(0)), capped
    i, j, entries = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Remainder(A.n, level, order[i].astype(np.int32), order[j].astype(np.int32), entries), capped


def _strips(A: Any, order: np.ndarray, level: float) -> Iterator[tuple[int, int, np.ndarray, float]]:
    """Yield (first, start, C, error): C has columns ``order[start:...]`` of A, from row ``order[first]`` on.

    The rows of some columns come in one piece or in several. They end where ``sqrt(A_ii A_jj)`` falls to the
    level. For psd A, all entries below are smaller. `error` bounds the rounding error of C.
    """
    size, error = _sizes(A)[order], entry_error(A)
    if not A.cheap_blocks:
        yield from ((start, start, C, error) for start, C in _in_parts(A, order, size, level - error))
        return
    Z = None
    if read_in_single(A):
        # sums of m products of entries of Z, rounded to single precision
        error += (A.m + 16) * SINGLE_ROUNDOFF * float(A.diagonal.max())
        Z = np.ascontiguousarray(A.Z[:, order] / np.sqrt(A.m), dtype=np.float32)
    for start in range(0, A.n, STRIP):
        tell(Event("covariance", start, A.n))
        within = size[start] * size[start:] > level - error
        end = start + int(np.count_nonzero(within))
        if end == start:
            return
        stop = min(start + STRIP, A.n)
        if Z is not None:
            for first in range(start, end, TILE):
                # whole tiles, as roundings depend on the shape of a product: they may not depend on the level
                C = Z[:, first : first + TILE].T @ Z[:, start:stop]
                yield first, start, C[: end - first], error
        else:
            yield start, start, np.asarray(A.columns(order[start:stop])[order[start:end]]), error


def _in_parts(A: Any, order: Indices, size: Array, level: float) -> Iterator[tuple[int, Array]]:
    """Yield (start, C), a whole strip; one pass over the rows forms strips of `WIDE` entries together.

    `size` (n,) has the numbers of `_sizes` in the given order. Entries of features on which A is stored are
    taken from there.
    """
    known = A.held(order[:CANDIDATES])
    known = np.zeros((0, 0)) if known is None else known
    inner = len(known)
    starts: list[tuple[int, int]] = []
    pairs: list[tuple[Indices, Indices]] = []

    def read() -> Iterator[tuple[int, Array]]:
        """Yield (start, C) of the strips collected so far, by one pass over the rows."""
        for (start, stop), C in zip(starts, A.crossed(pairs), strict=True):
            yield start, C if stop > inner else np.vstack((known[start:, start:stop], C))

    start, width, entries = 0, NARROWEST, 0
    while start < A.n:
        end = start + int(np.count_nonzero(size[start] * size[start:] > level))
        if end == start:
            break
        most = inner if start < inner else end
        stop = min(start + max(1, min(width, WIDE // (end - start))), end, most)
        others = order[max(start, inner) if stop <= inner else start : max(end, inner)]
        if entries and entries + others.size * (stop - start) > WIDE:
            yield from read()
            starts, pairs, entries = [], [], 0
        starts.append((start, stop))
        pairs.append((others, order[start:stop]))
        start, width, entries = stop, 2 * width, entries + others.size * (stop - start)
    yield from read()
