"""Largest entries of the rows of A where A is held in parts: few pairs of features need a look."""

from collections.abc import Iterator

import numpy as np

from nspca.covariance.linalg import Array
from nspca.covariance.parts import CANDIDATES, Parts

Pair = tuple[np.ndarray, np.ndarray]

MOST_KEPT = 1600
"""Most rows that a bound keeps: what matters of the others is only whether they belong to these."""
NARROWEST = 16
"""Features in the first set of pairs."""
AT_ONCE = 2**25
"""Entries looked at in one pass: 256 MB."""


def peaks(A: Parts, nonneg: bool) -> tuple[Array, float]:
    """Largest entry (signed: in absolute value) of every row, right where it exceeds the returned level; one
    pass besides that for the block of the `candidates` of A, more only where thousands of features have
    nearly the same large variance.

    The level is at most the peak of the `MOST_KEPT` + 1st row, and at least the first variance that is no
    candidate's. An entry of a candidate j with another i is only looked at where A_ii A_jj is above the
    square of the level: by Cauchy-Schwarz the others stay below.
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
    """Sets of features (I, J) that hold every pair of i `outside` and j `inside`, both largest first, with
    ``size_i size_j > level``; each J is twice as long as the one before.
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
    """Yield the pairs of features in smaller sets, as many at a time as have `AT_ONCE` entries together."""
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
