"""Iterate over large matrices in stripes of rows that fit the processor cache.

The blocks `entries.Entries` and `rowcuts.Cuts` of a splitting make their steps stripe by stripe.
"""

from collections.abc import Iterator

import numpy as np

Precision = type[np.float64] | type[np.float32]
ENTRIES = 2**16
"""Entries of a stripe. A few stripes fit the processor cache together."""


class Stripes:
    """Stripes of consecutive rows of (n, n) matrices.

    Iteration yields them with a `buffer` (height, n) for intermediate results.
    """

    def __init__(self, n: int, precision: Precision):
        self.n, self.height = n, max(1, ENTRIES // max(n, 1))
        self.buffer = np.empty((min(self.height, n), n), precision)

    def __iter__(self) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield the rows of each stripe as a slice, and a part of the buffer with as many rows."""
        for start in range(0, self.n, self.height):
            end = min(start + self.height, self.n)
            yield slice(start, end), self.buffer[: end - start]
