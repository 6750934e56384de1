"""Tell which features a better answer than the best one known must have, and which it cannot have."""

from collections.abc import Sequence

import numpy as np

from nspca.bounds.fixing.node import Supports

NAMED = 100_000
"""Largest number of features whose fates are reported: two texts of 25 kB, which a progress message holds."""


def fates(left: Sequence[Supports], n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return which features every better answer has, and which features a better answer may have.

    A better answer lies in one of the open nodes. So it has what all of them have in, and lacks what none of
    them has in or possible.

    Parameters
    ----------
    left : sequence of Supports
        Those of the open nodes. When there are none, no better answer exists, and nothing is possible.
    n : int

    Returns
    -------
    certain, possible : (n,) bool
    """
    into, free = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=bool)
    for supports in left:
        into[supports.into] += 1
        free[supports.possible] = True
    return (into == len(left)) & (into > 0), (into > 0) | free


def hexed(mask: np.ndarray) -> str:
    """Return a mask (n,) as hexadecimal digits, four features in each."""
    return np.packbits(mask).tobytes().hex()


def unhexed(text: str, n: int) -> np.ndarray:
    """Return the mask (n,) that `hexed` made a text of.

    Raises
    ------
    ValueError
        When the text is not one, or has not the length for n features.
    """
    bits = np.unpackbits(np.frombuffer(bytes.fromhex(text), dtype=np.uint8))
    if bits.size != 8 * -(-n // 8):
        raise ValueError(f"{n} features need {2 * -(-n // 8)} digits, got {len(text)}")
    return bits[:n].astype(bool)
