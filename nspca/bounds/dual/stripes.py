"""Passes over matrices, stripe by stripe: what is done to every entry is done while the stripe is near."""

from collections.abc import Iterator

import numpy as np

Precision = type[np.float64] | type[np.float32]
ENTRIES = 2**16
"""Of a stripe: a few of them stay in the processor's own memory together."""


class Stripes:
    """Consecutive rows of (n, n) matrices.

    Attributes
    ----------
    buffer : (height, n)
        For what lies between two steps of the arithmetic.
    """

    def __init__(self, n: int, precision: Precision):
        self.n, self.height = n, max(1, ENTRIES // max(n, 1))
        self.buffer = np.empty((min(self.height, n), n), precision)

    def __iter__(self) -> Iterator[tuple[slice, np.ndarray]]:
        """The rows of each stripe, and as much of the buffer."""
        for start in range(0, self.n, self.height):
            end = min(start + self.height, self.n)
            yield slice(start, end), self.buffer[: end - start]
