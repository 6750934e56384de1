"""Find the entries of A that may exceed a level, in few blocks of A: |A_ij| is at most size_i size_j."""

import numpy as np

from nspca.checker.rounding import gamma

NARROWEST, WIDEST = 64, 1024
"""Number of features of the first block, and maximum number. Each next one has twice as many: fewer of their
pairs are in reach."""
MOST = 2**22
"""Maximum entries of a block: 32 MB."""


def entries_above(A, first, second, level, nonneg):
    """Yield (i, j, E, error): features of some pairs, and their computed entries, off by at most `error`.

    Every pair of a feature i of `first` and j of `second` with A_ij (signed: |A_ij|) above the level is among
    them. The two sets have nothing in common. If `second` is None, j is of `first` too, and each pair comes
    once. All pairs of a feature i come together, except pairs within `first`.
    """
    by_size = lambda features: features[np.argsort(-A.size[features], kind="stable")]  # noqa: E731
    first, inside = by_size(first), second is None
    order = first if inside else np.concatenate([first, by_size(second)])
    blocks = list(in_reach(A.size[order], first.size, level, inside))
    largest = [A.size[order[a]] * A.size[order[c]] for a, _, c, _ in blocks]
    # two roundings of the difference of an entry and the level are added
    errors = [(A.eps * size + A.lost) * (1 + gamma(8)) + gamma(8) * (size + level) for size in largest]
    all_found = A.larger(order, blocks, [level - error for error in errors], nonneg)
    for (a, _, c, _), error, (i, j, E) in zip(blocks, errors, all_found, strict=True):
        i, j = i + a, j + c
        once = i <= j if inside else slice(None)
        yield order[i[once]], order[j[once]], E[once], error


def in_reach(sizes, count, level, inside):
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


def larger(E, least, nonneg):
    """Return rows, columns and values of the entries of E (signed: their sizes) above `least`."""
    found = np.flatnonzero((E if nonneg else np.abs(E)) > least)
    return *np.divmod(found, max(1, E.shape[1])), E.ravel()[found]
