"""Find the largest entry of every row of an A that is held in parts, computing few entries of A.

An A in parts is never formed, since a block of it costs a pass over the data. `elimination.peaks` calls
`peaks` to choose the kept rows.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from nspca.covariance.data import CANDIDATES
from nspca.covariance.linalg import Array

Pair = tuple[np.ndarray, np.ndarray]
"""Numbers (I, J) of features: the block of A with rows I and columns J."""

MOST_KEPT = 1600
"""Maximum rows that a bound keeps. Largest entries need to be exact only for rows that may be among these."""
NARROWEST = 16
"""Number of features J in the first set of pairs."""
AT_ONCE = 2**25
"""Entries of A computed in one pass: 256 MB."""


def peaks(A: Any, nonneg: bool) -> tuple[Array, float]:
    """Return the largest entry of every row of A, (n,), and a level; absolute values unless `nonneg`.

    The entries are exact for rows whose largest entry exceeds the level. The level is at most the largest
    entry of the ``MOST_KEPT + 1``-st row, and at least the largest variance outside the `CANDIDATES` with the
    largest variances. An entry of a candidate j with another feature i is computed only if A_ii A_jj exceeds
    the square of the level: by Cauchy-Schwarz, all other entries are below the level.

    One pass over the data follows that for the block of the candidates. More are needed only if thousands of
    features have nearly the same large variance.
    """
    sign = (lambda B: B) if nonneg else np.abs
    order = np.argsort(-A.diagonal, kind="stable")
    inside, outside = order[:CANDIDATES], order[CANDIDATES:]
    found = np.zeros(A.n)
    found[inside] = sign(A.block(inside)).max(axis=1)
    if not outside.size:
        return found, 0.0
    below = inside.size - 1 - min(MOST_KEPT, inside.size - 1)
    level = max(float(np.partition(found[inside], below)[below]), float(A.diagonal[outside[0]]))
    for pairs in for_each_pass(in_reach(np.sqrt(A.diagonal), inside, outside, level)):
        for (I, J), B in zip(pairs, A.crossed(pairs), strict=True):
            B = sign(B)
            found[I] = np.maximum(found[I], B.max(axis=1))
            found[J] = np.maximum(found[J], B.max(axis=0))
    return found, level


def in_reach(size: Array, inside: np.ndarray, outside: np.ndarray, level: float) -> list[Pair]:
    """Return blocks (I, J) that cover all i in `outside`, j in `inside` with ``size_i size_j > level``.

    `size` (n,) holds the standard deviations, so that ``size_i size_j`` bounds A_ij. `inside` and `outside`
    are feature numbers by decreasing size. Each J is twice as long as the one before.
    """
    pairs, start, width = [], 0, NARROWEST
    while start < inside.size:
        J = inside[start : start + width]
        count = int(np.searchsorted(-size[outside] * size[J[0]], -level, side="left"))
        if not count:
            break
        pairs.append((outside[:count], J))
        start, width = start + width, 2 * width
    return pairs


def for_each_pass(pairs: list[Pair]) -> Iterator[list[Pair]]:
    """Split blocks into lists of smaller blocks; each list has about `AT_ONCE` entries and costs one pass."""
    taken: list[Pair] = []
    entries = 0
    for I, J in pairs:
        rows = max(1, AT_ONCE // J.size)
        for piece in (I[start : start + rows] for start in range(0, I.size, rows)):
            if taken and entries + piece.size * J.size > AT_ONCE:
                yield taken
                taken, entries = [], 0
            taken.append((piece, J))
            entries += piece.size * J.size
    if taken:
        yield taken
