"""Covariance of a long dense table that stays in its file: A is formed whole in two passes over its rows.

A table with more rows than features is larger than A. One pass hashes and measures the columns, and the other
adds up ``(y - s)(y - s)'`` over the rows y in unit scale, where s are the measured means. The rounding of s
is subtracted at the end, so no digits are lost at any offset. The table is never copied: a block of rows is
in memory at a time, and pages of the file that were read are given back. After that everything works on A.

`nspca.problem.Problem` asks `is_long` and calls `from_file`.
"""

import hashlib
import mmap
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dsyr, dsyrk

from nspca.covariance.covariance import Covariance, MatrixCovariance
from nspca.covariance.data import WHOLE_LIMIT, DataCovariance
from nspca.covariance.inputs import refuse_constant, require_two_rows
from nspca.covariance.linalg import Array, Indices, scaled
from nspca.covariance.moments import STILL
from nspca.covariance.numbers import refuse_rounded
from nspca.errors import InvalidProblem
from nspca.progress import Event, tell

LEAST_SIZE = 2**25
"""Minimum numbers of a table that stays in its file (256 MB). Smaller ones are copied in no time."""
MODERATE = 2.0**900
"""Largest number of a table whose columns are added up as they are. Others take the usual way."""
MEASURED = 2**18
"""Numbers that are hashed and measured at a time: 2 MB, which fit into a cache."""
AT_ONCE = 2**23
"""Numbers of a block of rows that is multiplied at a time: 64 MB, in about a second."""
TILE = 512
"""Columns of A that are completed at a time."""


def is_long(X: Any) -> bool:
    """Tell whether X is a large read-only table in a file, longer than wide, of which A can be formed whole.

    X may be a memory map of NumPy or a data set of h5py.
    """
    is_mapped = isinstance(X, np.memmap) and X.mode == "r"
    of_hdf5 = type(X).__module__.startswith("h5py.") and hasattr(X, "dtype") and X.file.mode == "r"
    if not (is_mapped or of_hdf5) or X.ndim != 2 or X.dtype.kind not in "biuf":
        return False
    m, n = X.shape
    return X.size >= LEAST_SIZE and n <= min(m, WHOLE_LIMIT)


def from_file(X: Any, center: bool, scale: bool, names: Any = None) -> "LongCovariance | None":
    """Return the covariance of a table X (m, n) for which `is_long` holds; parameters as for `from_dense`.

    None where numbers are so large that their sums might overflow.
    """
    m, n = X.shape
    require_two_rows(m, center or scale)
    digest = hashlib.sha256(f"dense {m} {n}".encode())
    high, low, sums = np.full(n, -np.inf), np.full(n, np.inf), np.zeros(n)
    for start, B in _blocks(X, MEASURED):
        tell(Event("covariance", start, m))
        high, low = np.maximum(high, B.max(axis=0)), np.minimum(low, B.min(axis=0))
        if not (np.isfinite(high).all() and np.isfinite(low).all()):
            _refuse_infinite(B, start)
        sums += B.sum(axis=0)
        digest.update((B + 0.0).data)  # adding 0 leaves no negative zero
    largest = np.maximum(high, -low)
    if largest.max() > MODERATE:
        return None
    varies = high != low if center else largest != 0
    if scale:
        refuse_constant(high - low <= STILL * largest, names)
    elif center:
        largest = np.where(varies, largest, 0.0)
    exponent = np.asarray(np.frexp(largest if scale else largest.max())[1], dtype=np.int64)
    recipe: dict[str, Any] = {"center": center, "scale": scale, "digest": digest.hexdigest()}
    recipe["exponent"] = 0 if scale else 2 * int(exponent)
    near = scaled(sums / m, -exponent)
    return LongCovariance(X, near, exponent, varies, shape=(m, n), source="data", **recipe)


class LongCovariance(DataCovariance):
    """Covariance of a table in a file that is longer than wide; A is formed whole at the first use.

    Attributes
    ----------
    table : (m, n) memory map, or data set of h5py that stays open
    near : (n,)
        Means of the columns in unit scale, up to rounding.
    powers
        Exponent of the power of two by which the columns are divided, one for all or one for each.
    """

    def __init__(
        self, table: Any, near: Array, powers: NDArray[np.int64], varies: NDArray[np.bool_], **recipe: Any
    ) -> None:
        Covariance.__init__(self, n=table.shape[1], **recipe)
        self.table, self.m, self._varies = table, table.shape[0], varies
        self.near, self.powers = near, powers

    @cached_property
    def Z(self) -> Array:
        """The centred and scaled table as a copy in memory, for methods that work on all samples."""
        _, mean, weight = self._sums
        return np.concatenate([(Y - mean) * weight for Y in self._shifted()])

    @cached_property
    def diagonal(self) -> Array:
        """Return the variances of the features, (n,)."""
        return np.diag(self.matrix).copy()

    def explained(self, x: Array) -> float:
        """Return ``x'Ax`` from A, since the samples would take another pass over the file."""
        return self.quadratic(x)

    def scores(self, X: Array) -> Array:
        """Return ``Z @ X``, the samples along components X (n, r), in unit scale, in one pass."""
        _, mean, weight = self._sums
        X = (X.T * weight).T
        return np.concatenate([Y @ X for Y in self._shifted()]) - mean @ X

    # a part of A is in memory and needs no samples, unlike the parts of other data
    def restrict(self, features: Indices) -> MatrixCovariance:  # type: ignore[override]
        """Return A on the given features alone."""
        return self._as_matrix(self.block(features))

    def _formed(self) -> Array:
        """Return the whole of A."""
        return self._sums[0]

    def _shifted(self) -> Iterator[Array]:
        """Yield the rows in unit scale minus `near`, block by block."""
        for start, B in _blocks(self.table, AT_ONCE):
            tell(Event("covariance", start, self.m))
            Y = scaled(B, -self.powers)
            Y -= self.near
            yield Y

    @cached_property
    def _sums(self) -> tuple[Array, Array, Array]:
        """A, and the means (n,) to subtract and factors (n,) to apply to shifted rows for rows of Z."""
        m, n = self.m, self.n
        G, sums = np.zeros((n, n), order="F"), np.zeros(n)
        for Y in self._shifted():
            sums += Y.sum(axis=0)
            G = dsyrk(1.0, Y.T, beta=1.0, c=G, overwrite_c=True)  # the triangle on and above the diagonal
        mean = sums / m
        G = dsyr(-m, mean, a=G, overwrite_a=True)
        weight = np.ones(n)
        if self.scale:
            weight = 1 / np.sqrt(np.diag(G) / m)
        elif self.center:
            weight[~self._varies] = 0.0
        if not self.center:
            G = dsyr(m, self.near + mean, a=G, overwrite_a=True)
            mean = -self.near
        for start in range(0, n, TILE):
            stop = min(start + TILE, n)
            part = G[:stop, start:stop]
            part *= weight[:stop, None] * (weight[start:stop] / m)
            corner = part[start:]
            corner[:] = np.triu(corner) + np.triu(corner, 1).T
            G[start:stop, :start] = part[:start].T
        return G.T, mean, weight  # symmetric; its transpose has rows in one piece


def _blocks(X: Any, most: int) -> Iterator[tuple[int, Array]]:
    """Yield blocks of at most `most` numbers of a table in a file as float64, each with its first row.

    The pages of a block are given back before the next is read: they would count as memory of this process.
    """
    file: Any = X
    while isinstance(file, np.ndarray):
        file = file.base
    free = file.madvise if isinstance(file, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED") else None
    step, read = max(1, most // X.shape[1]), 0
    for start in range(0, X.shape[0], step):
        B = X[start : start + step]
        refuse_rounded(B, "data")
        yield start, np.asarray(B, dtype="<f8", order="C")
        read += B.size
        if free is not None and (read >= AT_ONCE or start + step >= X.shape[0]):
            free(mmap.MADV_DONTNEED)
            read = 0


def _refuse_infinite(B: Array, start: int) -> None:
    """Raise the error for the first number of a block that is not finite; its first row is row `start`."""
    i, j = np.argwhere(~np.isfinite(B))[0]
    raise InvalidProblem(
        f"data must be finite numbers, got {B[i, j]} at row {start + i + 1}, column {j + 1}; remove or "
        "fill it"
    )
