"""The speed of this machine, measured once in each process in some twenty milliseconds."""

import time
from functools import cache

import numpy as np
import scipy.sparse as sp

ENTRIES = 2**18
"""Entries of the sparse matrix that is multiplied."""
DENSE, TEXT = 1 / 4, 10
"""Times of a multiplication in a dense product, and of a byte of text, relative to the measured one."""


@cache
def speed() -> float:
    """Return the seconds of one multiplication in a sparse matrix product: the quickest of three products."""
    indices = np.random.default_rng(0).integers(0, 2**16, ENTRIES)
    pointers = np.arange(0, ENTRIES + 1, 2**6)
    X = sp.csr_array((np.ones(ENTRIES), indices, pointers), shape=(ENTRIES // 2**6, 2**16))
    Y, seconds = np.ones((2**16, 4)), []
    for _ in range(3):
        begun = time.perf_counter()
        X.T @ (X @ Y)
        seconds.append(time.perf_counter() - begun)
    return max(min(seconds), 1e-9) / (8 * ENTRIES)
