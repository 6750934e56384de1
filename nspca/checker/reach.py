"""Find the entries of A that may exceed a level, in few blocks of A: |A_ij| is at most size_i size_j.

`remainder` compares the threshold tau with them, or forms N from them.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy import ndarray as Array

from nspca.checker.blocks import Block
from nspca.checker.rounding import gamma

Found = tuple[Array, Array, Array]
"""Rows, columns and values of some entries of a block."""

NARROWEST, WIDEST = 64, 1024
"""Number of features of the first block, and maximum number. Each block has twice as many as the one before,
since sizes fall and fewer pairs are in reach.
"""
MOST = 2**22
"""Maximum entries of a block: 32 MB."""


def entries_above(
    A: Any, first: Array, second: Array | None, level: float, nonneg: bool
) -> Iterator[tuple[Array, Array, Array, float]]:
    """Yield (i, j, E, error): features of some pairs, and their computed entries, off by at most `error`.

    Every pair of a feature i of `first` and j of `second` with A_ij (signed: |A_ij|) above the level is among
    them. The two sets have nothing in common. If `second` is None, j is of `first` too, and each pair comes
    once. All pairs of a feature i come together, except pairs within `first`.
    """
    inside, parts = second is None, [first] if second is None else [first, second]
    order = np.concatenate([part[np.argsort(-A.size[part], kind="stable")] for part in parts])
    blocks = list(in_reach(A.size[order], first.size, level, inside))
    largest = [A.size[order[a]] * A.size[order[c]] for a, _, c, _ in blocks]
    # two roundings of the difference of an entry and the level are added
    errors = [(A.eps * size + A.lost) * (1 + gamma(8)) + gamma(8) * (size + level) for size in largest]
    all_found = A.larger(order, blocks, [level - error for error in errors], nonneg)
    for (a, _, c, _), error, (i, j, E) in zip(blocks, errors, all_found, strict=True):
        i, j = i + a, j + c
        once = i <= j if inside else slice(None)
        yield order[i[once]], order[j[once]], E[once], error


def in_reach(sizes: Array, count: int, level: float, inside: bool) -> Iterator[Block]:
    """Yield blocks (a, b, c, d), which cover every pair of places i < count and j, size_i size_j > level.

    Blocks pair the places from a to b with those from c to d. If `inside`, j is from i on, else from `count`
    on. From there on sizes decrease, as do the first `count`.
    """
    start, width = 0, NARROWEST
    while start < count:
        other = start if inside else count
        reach = int(np.count_nonzero(sizes[start] * sizes[other:] > level))
        if not reach:
            return
        stop = min(start + max(1, min(width, MOST // reach)), count)
        yield start, stop, other, other + reach
        start, width = stop, min(2 * width, WIDEST)


def larger(E: Array, least: float, nonneg: bool) -> Found:
    """Return rows, columns and values of the entries of E (signed: their sizes) above `least`, and of NaN."""
    found = np.flatnonzero(~((E if nonneg else np.abs(E)) <= least))
    return *np.divmod(found, max(1, E.shape[1])), E.ravel()[found]
