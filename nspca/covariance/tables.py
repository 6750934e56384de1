"""Tables that `nspca.covariance.rows` reads: one in memory, and a dense one in a file that is never copied.

Folders of shards are tables as well (`nspca.shards`).
"""

import hashlib
import mmap
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from nspca.covariance.linalg import Array
from nspca.covariance.numbers import dense_digest, refuse_rounded, sparse_digest
from nspca.errors import InvalidProblem
from nspca.progress import Event, tell

LEAST_SIZE = 2**25
"""Minimum numbers of a table that stays in its file (256 MB). Smaller ones are copied in no time."""
WIDEST = 10_000
"""Maximum columns of a table that stays in its file: A is then formed whole, and takes 800 MB."""
BLOCK = 2**21
"""Numbers of a block of rows of a file: 16 MB."""


class Held:
    """A dense array or canonical CSR array in memory, as a table of one block."""

    def __init__(self, X: Any) -> None:
        self.X, self.shape = X, X.shape
        data = X.data if sp.issparse(X) else X
        # Two searches for extremes take half the time of |X|, which would need a copy of X.
        self.largest = float(max(np.max(data, initial=0.0), -np.min(data, initial=0.0)))
        self.digest = sparse_digest(X) if sp.issparse(X) else dense_digest(X)

    def blocks(self) -> Iterator[Any]:
        """Yield the table."""
        yield self.X


class DenseFile:
    """A large dense table in a file: a read-only memory map of NumPy, or a data set of h5py."""

    def __init__(self, X: Any) -> None:
        self.X, self.shape = X, X.shape

    @cached_property
    def _measured(self) -> tuple[str, float]:
        """The content hash, and the largest absolute value."""
        (m, n), largest = self.shape, 0.0
        digest = hashlib.sha256(f"dense {m} {n}".encode())
        for number, B in enumerate(self.blocks()):
            if not np.isfinite(B).all():
                i, j = np.argwhere(~np.isfinite(B))[0]
                raise InvalidProblem(
                    f"data must be finite numbers, got {B[i, j]} at row {number * self._step + i + 1}, "
                    f"column {j + 1}; remove or fill it"
                )
            largest = max(largest, float(B.max()), -float(B.min()))
            digest.update((B + 0.0).data)  # adding 0 leaves no negative zero
        return digest.hexdigest(), largest

    digest = property(lambda self: self._measured[0])
    largest = property(lambda self: self._measured[1])

    @property
    def _step(self) -> int:
        return max(1, BLOCK // self.shape[1])

    def blocks(self) -> Iterator[Array]:
        """Yield the rows in blocks of float64 numbers.

        The pages of a block are given back before the next is read: they would count as memory of this
        process.
        """
        file: Any = self.X
        while isinstance(file, np.ndarray):
            file = file.base
        free = file.madvise if isinstance(file, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED") else None
        for start in range(0, self.shape[0], self._step):
            tell(Event("covariance", start, self.shape[0]))
            B = self.X[start : start + self._step]
            refuse_rounded(B, "data")
            yield np.asarray(B, dtype="<f8", order="C")
            if free is not None:
                free(mmap.MADV_DONTNEED)


def is_long(X: Any) -> bool:
    """Tell whether X is a large read-only table in a file that is longer than wide, to be read in blocks.

    X may be a memory map of NumPy or a data set of h5py.
    """
    is_mapped = isinstance(X, np.memmap) and X.mode == "r"
    of_hdf5 = type(X).__module__.startswith("h5py.") and hasattr(X, "dtype") and X.file.mode == "r"
    if not (is_mapped or of_hdf5) or X.ndim != 2 or X.dtype.kind not in "biuf":
        return False
    return X.size >= LEAST_SIZE and X.shape[1] <= min(X.shape[0], WIDEST)
