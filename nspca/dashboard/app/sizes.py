"""Estimate how many bytes of memory objects hold, as far as they are not shared, for the limit of `cache`."""

import mmap
import sys
import types
from collections.abc import Sequence
from gc import get_referents
from typing import Any

import numpy as np

# Types of objects that belong to the program and not to a cached value.
_PROGRAM = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.CodeType)
# Types of most objects, which refer to no others.
_ATOMS = frozenset((str, bytes, int, float, bool, type(None)))
# Maximum items of a sequence that are measured; the others are assumed to be of similar size.
_SAMPLE = 1000
# Maximum objects visited for one value. A figure has some thousands.
_MOST = 50_000


def bytes_of(value: Any, seen: set[int]) -> int:
    """Return the bytes of `value` and of all objects that it refers to, without those in `seen`.

    An array counts with the memory that it views, and a memory-mapped file counts as 0. The size of a long
    sequence is extrapolated from some of its items.

    Parameters
    ----------
    value : object
    seen : set of int
        Identities of the objects that were counted before. Those of this value are added, so several values
        that share an array pay for it once. The values have to stay alive as long as the set is used.
    """
    total, waiting, left = 0, [value], _MOST
    while waiting and left:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, _PROGRAM):
            continue
        seen.add(id(one))
        left -= 1
        if type(one) in _ATOMS:
            total += sys.getsizeof(one)
            continue
        if isinstance(one, np.ndarray):
            total += _of_array(one, seen, waiting)
        elif isinstance(one, Sequence | set | frozenset) and len(one) > _SAMPLE and not _is_flat(one):
            total += _of_many(one, seen)
        else:
            # The size that a data frame reports includes its arrays, which are counted below.
            plain = type(one).__module__ == "builtins"
            total += sys.getsizeof(one, 0) if plain else object.__sizeof__(one)
            waiting += get_referents(one)
    return total


def _of_array(array: np.ndarray, seen: set[int], waiting: list[Any]) -> int:
    """Return the bytes of the memory that an array views, unless it was counted before or is in a file.

    The items of an array of objects are added to `waiting`, the objects that `bytes_of` visits next.
    """
    owner: Any = array
    while isinstance(owner, np.ndarray) and owner.base is not None:
        owner = owner.base
    if owner is not array and id(owner) in seen:
        return 0
    seen.add(id(owner))
    if isinstance(owner, mmap.mmap):
        return 0
    if isinstance(owner, np.ndarray):
        if owner.dtype.hasobject:
            waiting.append(owner.ravel()[:_SAMPLE].tolist())
        return owner.nbytes
    return array.nbytes


def _of_many(items: "Sequence[Any] | set[Any] | frozenset[Any]", seen: set[int]) -> int:
    """Return the bytes of a long sequence, extrapolated from some of its items."""
    if not isinstance(items, list | tuple | set | frozenset):
        return sys.getsizeof(items, 0)  # a sequence that makes its items on access
    sample = [one for one, _ in zip(items, range(_SAMPLE), strict=False)]
    return sys.getsizeof(items, 0) + bytes_of(sample, seen) * len(items) // _SAMPLE


def _is_flat(one: Any) -> bool:
    """Tell whether a value has no items that need counting, although it is a sequence."""
    return isinstance(one, str | bytes | bytearray | memoryview | range)
