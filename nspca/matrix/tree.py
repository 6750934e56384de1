"""Sums over blocks of rows, in a tree that has the same shape whoever computes a part of it.

Eight neighbours are joined in order, then eight of what that gave, and so on: a floating-point sum depends on
its order, and this order depends on nothing but the blocks. Sums of 8, 64, ... blocks from a multiple of that
on are branches of the tree, so workers may compute them apart (`matrix.spread`).
"""

from collections.abc import Callable, Iterable
from itertools import count
from typing import Any

FAN = 8
"""Neighbours that are joined: with fewer, more sums are held at a time; with more, larger branches."""

Part = tuple[Any, ...]
"""What a pass has for some of the blocks: arrays."""
Join = Callable[[Any, Any], Any]
"""Of two neighbours one: a part that may be changed, and arrays that may be made as they are asked for."""


def folded(parts: Iterable[Any], join: Join, first: Callable[[Any], Any] = tuple) -> Any:
    """All parts joined, in the order of the tree; a sum for each of its levels is held meanwhile, which
    begins as `first` of what there is.
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
    """Sums of arrays."""
    for total, part in zip(one, other, strict=True):
        total += part
    return one


def gathered(one: Part, other: Iterable[Any]) -> Part:
    """One after the other."""
    return *one, *other
