"""Find the features that every answer better than the best known one must have, or cannot have.

A `FixingTree` reports them as texts in its events, and a `JointTree` reports them for each component.
`specs.optimum` reads the texts by `unhexed` for the page that shows a running proof.
"""

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from nspca.bounds.fixing.node import Supports

NAMED = 100_000
"""Maximum features for reporting fates in a progress event: two texts of 25 kB. Of several components, the
features of each count.
"""
SPARED = 9
"""Fates of features are computed again after this multiple of the time that the last computation took."""


class Pace:
    """Keeps the time for fates to a tenth of a search: they are next computed at the time `due`."""

    def __init__(self) -> None:
        self.due = -np.inf

    def of(self, compute: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Return ``compute()``, or nothing where the last computation was recent."""
        if (began := time.perf_counter()) < self.due:
            return {}
        found, ended = compute(), time.perf_counter()
        self.due = ended + SPARED * (ended - began)
        return found


def fates(left: Sequence[Supports], n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return masks of the features that every better answer has, and of those that it may have.

    A better answer lies in one of the open nodes. So it has every feature that all open nodes have fixed in,
    and lacks every feature that is impossible in all open nodes.

    Parameters
    ----------
    left : sequence of Supports
        Supports of the open nodes. Without open nodes no better answer exists, and no feature is possible.
    n : int
        Number of features.

    Returns
    -------
    certain, possible : (n,) bool
    """
    into, free = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=bool)
    for supports in left:
        into[supports.certain] += 1
        free[supports.possible] = True
    return (into == len(left)) & (into > 0), (into > 0) | free


def hexed(mask: np.ndarray) -> str:
    """Return a mask, of any shape, as a text of hexadecimal digits, with four features per digit."""
    return np.packbits(mask).tobytes().hex()


def unhexed(text: str, *shape: int) -> np.ndarray:
    """Return the mask of this shape from a text of `hexed`.

    Raises
    ------
    ValueError
        For a text that is not hexadecimal or does not have the length for this shape.
    """
    n = math.prod(shape)
    bits = np.unpackbits(np.frombuffer(bytes.fromhex(text), dtype=np.uint8))
    if bits.size != 8 * -(-n // 8):
        raise ValueError(f"{n} features need {2 * -(-n // 8)} digits, got {len(text)}")
    return bits[:n].astype(bool).reshape(shape)
