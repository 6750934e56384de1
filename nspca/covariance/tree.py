"""Sum over blocks of rows in a tree of fixed shape, so that the sum does not depend on who adds up what.

Eight neighbours are joined in order, then eight of these results, and so on. A floating-point sum depends on
its order, and this order depends only on the blocks. A sum of 8, 64, ... blocks that starts at a multiple of
that number is a branch of the tree, so different workers may compute different branches
(`nspca.covariance.distributed`). `passes.Rows` joins the results of every pass with `folded`.
"""

from collections.abc import Callable, Iterable
from itertools import count
from typing import Any

FAN = 8
"""Number of neighbours joined together: fewer means more sums in memory, more means larger branches."""

Part = tuple[Any, ...]
"""Result of a pass over some of the blocks: arrays."""
Join = Callable[[Any, Any], Any]
"""Function that joins two neighbours: a part that may be changed, and an iterable of arrays."""


def folded(parts: Iterable[Any], join: Join, first: Callable[[Any], Any] = tuple) -> Any:
    """Join all parts in the order of the tree, with one partial sum in memory per level.

    `first` makes a partial sum of one part; by default it is the tuple of its arrays.
    """
    sums: list[Any] = []
    counts: list[int] = []
    for part in parts:
        for level in count():
            if level == len(sums):
                sums.append(None)
                counts.append(0)
            if counts[level]:
                sums[level] = join(sums[level], part)
            else:
                sums[level] = part if level else first(part)
            counts[level] += 1
            if counts[level] < FAN:
                break
            part, sums[level], counts[level] = sums[level], None, 0
    total, *above = [found for found, held in zip(sums, counts, strict=True) if held]
    for found in above:
        total = join(found, total)
    return total


def added(one: Part, other: Iterable[Any]) -> Part:
    """Add the arrays of `other` to the arrays of `one`, in place."""
    for total, part in zip(one, other, strict=True):
        total += part
    return one


def gathered(one: Part, other: Iterable[Any]) -> Part:
    """Return the tuple of the arrays of both parts, in order."""
    return *one, *other
