"""Read data in blocks of rows, in passes; nothing that is read is trusted.

Data are a dense table, a sparse one, or a reader of one on disk. A reader has `shape` and `blocks()`, which
yields the rows in order as compressed rows, any number of times. Blocks are hashed in the first pass, and
each later pass must yield blocks with equal hashes.

Y is the float64 matrix that X becomes when each column is taken times a power of two of its own, and columns
that are more than half full are shifted by a float near their mean. Where means are taken off, columns that
hold one value are 0 in Y. `matrix` forms entries of A from sums of products of columns of Y.

Sparse products are those of SciPy: sums of products of stored entries, each added once, in any order. A
program error there could prove a wrong bound, as one in NumPy could.

With weights w of the samples, A is defined by rows d_i y_i, where d is the float64 vector
``sqrt(w / mean(w))`` of the rows of positive weight, and by the projection that takes off d:
``A_ij = z_i'z_j / m``, where z is the column of these rows minus its part along d. That is
``sum w (x - mean)(x - mean)' / sum w`` for the weights d_i^2.
"""

import hashlib
import math
import mmap
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy import ndarray as Array

from nspca.checker.numbers import floats, not_masked, numbers_of
from nspca.checker.refusal import require

PIECE = 4096
"""Maximum number of rows processed together."""
AT_ONCE = 2**22
"""Maximum dense entries, of columns that are shifted, held together."""
PART = 2**23
"""Numbers of a dense table that are read at a time: 64 MB."""
ROWS = 2**16
"""Number of rows of sparse data in a block."""
HELD = 2**25
"""Maximum numbers of a Y that is held: 256 MB."""
GONE = 5000
"""Exponent of columns that are 0 in Y: every float divided by 2^GONE is 0."""
COST = 50
"""Time of a product of stored entries, as a multiple of that of a product in a dense matrix product."""

Block = tuple[int, int, int, int]
"""Ranges of places (a, b) and (c, d) in an order of the features."""


class Dense:
    """A dense table of numbers, read in blocks of rows.

    Nobody else can change the shape of a view of an array. Blocks of a data set of h5py have theirs checked.
    """

    def __init__(self, X: Any, pages: Any = None) -> None:
        self.X, self.pages = X[...] if isinstance(X, Array) else X, pages
        self.shape = tuple(map(int, X.shape))

    def blocks(self) -> Iterator[Array]:
        """Yield the rows in blocks, as copies in float64 without negative zeros.

        Pages of a file that is mapped read-only are given back after each block. Otherwise they would count
        as memory of this process.
        """
        step = max(1, PART // self.shape[1])
        for start in range(0, self.shape[0], step):
            B = floats(np.asarray(self.X[start : start + step])) + 0.0
            whole = B.shape == (min(step, self.shape[0] - start), self.shape[1])
            require(whole, f"each row of the data must have {self.shape[1]} numbers, got shape {B.shape}")
            if isinstance(self.pages, mmap.mmap):
                self.pages.madvise(mmap.MADV_DONTNEED)
            yield B


class Sparse:
    """A sparse table in compressed rows, copied once, with duplicates summed and zeros left out."""

    def __init__(self, X: Any) -> None:
        X = X.tocsr().copy()
        X.sum_duplicates()
        X.eliminate_zeros()
        require(X.dtype.kind in "biuf", f"the data must be real numbers, none masked, got {X.dtype}")
        self.shape, self.values = tuple(X.shape), floats(X.data)
        self.starts, self.indices = np.array(X.indptr, "<i8"), np.array(X.indices, "<i8")

    def blocks(self) -> Iterator[SimpleNamespace]:
        """Yield blocks of rows, as a reader of data does."""
        for start in range(0, self.shape[0], ROWS):
            starts = self.starts[start : start + ROWS + 1]
            here = slice(starts[0], starts[-1])
            parts = {"indices": self.indices[here], "data": self.values[here]}
            yield SimpleNamespace(indptr=starts - starts[0], **parts)


def table_of(data: Any) -> Dense | Sparse:
    """Return the data as a table of real numbers; a data set of h5py stays in its file."""
    if type(data).__module__.startswith("h5py."):
        return Dense(data)
    if not hasattr(type(data), "tocsr"):  # not `data`: a column of a data frame may be called tocsr
        in_file = isinstance(data, np.memmap) and data.mode == "r"
        return Dense(numbers_of(data), data._mmap if in_file else None)
    not_masked(getattr(data, "data", None))
    return Sparse(data)


class Rows:
    """Rows of X (m, n), and of Y, which is X scaled and shifted by columns.

    Attributes
    ----------
    exponent : exponent of the unit scale, that of the largest number in columns that are not 0 in Y
    powers : (n,), exponents of the factors that bring columns of Y to unit scale
    sums, squares : (n,), sums and sums of squares of the columns of Y
    plain : (n,), sums of squares of the columns of Y that are not shifted
    constant : (n,), which columns hold one value
    exponents : (n,), exponents of the powers of two by which columns of X are divided
    shifts : (n,), the float that is taken off each shifted column after that, 0 for all others
    full : whether pieces of Y are dense arrays, since X is or most columns are shifted
    pieces_read : number of pieces of at most `piece` rows into which sums over rows are divided
    held : the pieces of Y, for small data in memory; else None
    factors : (m,), by which rows of Y are multiplied after the shift, or None; then `sums` are weighted by
        them too
    first : number of the first row of the block that was read last
    """

    def __init__(
        self,
        data: Any,
        shape: tuple[int, int],
        center: bool,
        scale: bool,
        digest: str,
        factors: Array | None = None,
    ) -> None:
        (self.m, self.n), self.data, self.piece = shape, data, PIECE
        self.factors, self.first = factors, 0
        self.prints: list[bytes] | None = None
        self.held: list[Any] | None = None
        # Three passes: counts and sizes of the columns; means; sums of Y. The content hash of sparse data
        # takes starts, columns and values one after the other, each in a pass.
        m, n, kind = self.m, self.n, "dense" if isinstance(self.data, Dense) else "sparse"
        content, before = hashlib.sha256(f"{kind} {m} {n}".encode()), 0
        counts, least, most = np.zeros(n, dtype=np.int64), np.full(n, np.inf), np.full(n, -np.inf)
        for number, X in enumerate(self.passed()):
            if isinstance(X, Array):
                content.update(X.data)
                counts += np.count_nonzero(X, axis=0)
                least, most = np.minimum(least, X.min(axis=0)), np.maximum(most, X.max(axis=0))
            else:
                content.update((X.indptr[bool(number) :] + before).data)
                before += X.nnz
                counts += np.bincount(X.indices, minlength=n)
                np.minimum.at(least, X.indices, X.data)
                np.maximum.at(most, X.indices, X.data)
        self.constant = (counts == 0) | ((counts == m) & (least == most))
        gone = self.constant & (center and not scale)
        largest = np.where((counts == 0) | gone, 0.0, np.maximum(most, -least))
        self.exponent = int(np.frexp(largest.max(initial=0.0))[1])
        own = np.frexp(largest)[1]
        self.powers = np.where(largest > 0, own - self.exponent, 0)
        self.exponents = np.where(gone, GONE, own)
        self.shifts, self.full = np.zeros(n), kind == "dense"
        sums = np.zeros(n)
        for X in self.passed():
            if kind == "sparse":
                content.update(X.indices.data)
            for Y, d in self.with_factors(X):
                sums += column_sums(Y, d)
        dense = (2 * counts > m) & ~gone & (center or scale)
        self.shifts = np.where(dense, sums / m, 0.0)
        count = n if self.full else int(np.count_nonzero(dense))
        self.piece, self.full = max(1, min(PIECE, AT_ONCE // max(1, count))), 2 * count > n
        self._sum(content, kind == "sparse", center)
        right = content.hexdigest() == digest
        require(right, "the data is not the data of the certificate: the digests differ")

    def _sum(self, digest: Any, of_values: bool, center: bool) -> None:
        """Compute sums and sums of squares of columns, while the digest takes the values of sparse data.

        From here on Y is shifted only if means are taken off, and Y of small data in memory is held.
        """
        n, self.pieces_read, entries, held = self.n, 0, 0, []
        self.sums, self.squares, self.plain = np.zeros(n), np.zeros(n), np.zeros(n)
        shifts, none = self.shifts, np.zeros(n)
        for X in self.passed():
            if of_values:
                digest.update(X.data.data)
            self.shifts = shifts
            shifted = list(self.with_factors(X))
            self.shifts = none
            plain = self.with_factors(X) if shifts.any() else shifted
            for (Y, d), (Z, _) in zip(shifted, plain, strict=True):
                self.pieces_read += 1
                self.sums += column_sums(Y, d)
                self.squares += squared_sums(Y)
                self.plain += squared_sums(Z)
                entries += Y.size
                if isinstance(self.data, Dense | Sparse) and entries <= HELD:
                    held.append(Y if center else Z)
        self.shifts = shifts if center else none
        self.held = held if len(held) == self.pieces_read else None

    def passed(self) -> Iterator[Any]:
        """Yield the blocks, dense or as compressed rows, copied and checked; they are equal in every pass."""
        rows, prints = 0, []
        for number, X in enumerate(self.data.blocks()):
            if isinstance(self.data, Dense):
                require(np.isfinite(X).all(), "the data must be finite numbers")
                parts = [X]
            else:
                parts = [np.array(X.indptr, "<i8"), np.array(X.indices, "<i8"), floats(np.asarray(X.data))]
                self._in_order(*parts)
                shape = parts[0].size - 1, self.n
                X = sp.csr_array((parts[2], parts[1], parts[0]), shape=shape, copy=False)
                X.indptr, X.indices = parts[0], parts[1]  # SciPy may have narrowed the integers
            self.first, rows = rows, rows + X.shape[0]
            own = hashlib.sha256()
            for part in parts:
                own.update(part.data)
            prints.append(own.digest())
            same = self.prints is None or self.prints[number : number + 1] == prints[-1:]
            require(same, f"block {number} of the data is not what it was when it was read first")
            yield X
        require(rows == self.m, f"the data must have {self.m} rows, got {rows}")
        require(self.prints in (None, prints), "the data have fewer blocks than when they were read first")
        self.prints = prints

    def _in_order(self, starts: Array, columns: Array, values: Array) -> None:
        """Refuse a block unless it has compressed rows with increasing columns and finite nonzero numbers.

        So one table has one hash.
        """
        flat = starts.ndim == columns.ndim == values.ndim == 1 and starts.size > 0
        agree = flat and starts[0] == 0 and starts[-1] == columns.size == values.size
        require(agree and (np.diff(starts) >= 0).all(), "the parts of the data disagree")
        inside = ((columns >= 0) & (columns < self.n)).all()
        rising = np.diff(columns) > 0
        rising[starts[1:-1][(starts[1:-1] > 0) & (starts[1:-1] < columns.size)] - 1] = True
        require(inside and rising.all(), "the columns of a row of the data must rise, and be there")
        require(np.isfinite(values).all() and values.all(), "the data must be finite numbers, zeros left out")

    def with_factors(self, X: Any) -> Iterator[tuple[Any, Array | None]]:
        """Yield the rows of Y of the block that was read last, at most `piece` at a time, dense or as
        compressed rows, with the factors of the rows.
        """
        at = self.first
        for Y in self._shifted(X):
            d = None if self.factors is None else self.factors[at : at + Y.shape[0]]
            at += Y.shape[0]
            if d is None:
                yield Y, d
            elif isinstance(Y, Array):
                yield Y * d[:, None], d
            else:
                values = Y.data * np.repeat(d, np.diff(Y.indptr))
                yield sp.csr_array((values, Y.indices, Y.indptr), Y.shape), d

    def _shifted(self, X: Any) -> Iterator[Any]:
        """Yield pieces of a block, scaled and shifted."""
        for start in range(0, X.shape[0], self.piece):
            part = X[start : start + self.piece]
            if self.full:
                D = scaled(part if isinstance(part, Array) else part.toarray(), self.exponents)
                D -= self.shifts
                yield D
                continue
            rows, at = np.repeat(np.arange(part.shape[0]), np.diff(part.indptr)), part.indices
            y, shifted = np.ldexp(part.data, -self.exponents[at]), np.flatnonzero(self.shifts)
            if shifted.size:  # such a column has an entry in every row
                D = scaled(part[:, shifted].toarray(), self.exponents[shifted]) - self.shifts[shifted]
                rest = self.shifts[at] == 0
                rows = np.concatenate((rows[rest], np.repeat(np.arange(len(D)), shifted.size)))
                at = np.concatenate((at[rest], np.tile(shifted, len(D))))
                y = np.concatenate((y[rest], D.ravel()))
            yield sp.csr_array((y, (rows, at)), shape=part.shape)

    def pieces(self) -> Iterator[Any]:
        """Yield the pieces of Y: those that are held, or in a pass over the data."""
        if self.held is not None:
            yield from self.held
        else:
            for X in self.passed():
                yield from (Y for Y, _ in self.with_factors(X))

    def columns(self, J: Array) -> Array:
        """Return the columns J of Y (m, p), dense."""
        parts = [Y[:, J] for Y in self.pieces()]
        return np.concatenate([part if isinstance(part, Array) else part.toarray() for part in parts])

    def products(self, order: Array, blocks: list[Block]) -> list[Array]:
        """Return Y_I'Y_J for every block (a, b, c, d), in one pass: I is order[a:b], J is order[c:d]."""
        sums = [np.zeros((b - a, d - c)) for a, b, c, d in blocks]
        for Y in self.pieces():
            some = Y.take(order, axis=1) if isinstance(Y, Array) else Y.tocsc()[:, order]
            for total, block in zip(sums, blocks, strict=True):
                total += product(some, *block)
        return sums


def scaled(X: Array, exponents: Array) -> Array:
    """Return the columns of X divided by powers of two, as a new array; columns that are GONE are 0."""
    if np.abs(exponents[exponents != GONE]).max(initial=0) <= 1000:  # `ldexp` of each number is slower
        return X * np.ldexp(1.0, -exponents)
    return np.ldexp(X, -exponents)


def column_sums(Y: Any, d: Array | None) -> Array:
    """Return the sums of the columns of a piece of Y, weighted by the factors d of its rows."""
    if d is not None:
        return d @ Y
    return Y.sum(axis=0) if isinstance(Y, Array) else np.bincount(Y.indices, Y.data, Y.shape[1])


def squared_sums(Y: Any) -> Array:
    """Return the sums of the squares of the columns of a piece of Y."""
    if isinstance(Y, Array):
        return np.einsum("ij,ij->j", Y, Y)
    return np.bincount(Y.indices, Y.data * Y.data, Y.shape[1])


def product(Y: Any, a: int, b: int, c: int, d: int) -> Array:
    """Return Y_I'Y_J for the places a to b and c to d of the columns of Y.

    Each sum has as many additions as there are rows, at most.
    """
    left, right = Y[:, a:b], Y[:, c:d]
    if isinstance(Y, Array):
        return left.T @ right
    left, right = sp.csr_array(left), sp.csr_array(right)
    stored = float(np.diff(left.indptr) @ np.diff(right.indptr))
    if COST * stored > Y.shape[0] * (b - a) * (d - c):
        left = left.toarray()
        return left.T @ (left if (a, b) == (c, d) else right.toarray())
    return (left.T @ right).toarray()


def weighted(table: Any, given: Any, wanted: str) -> tuple[Any, Array | None]:
    """Return the rows of positive weight of a table in memory, and their d (m,), None for equal weights.

    Weights whose content hash is not the `wanted` one of the certificate are refused.
    """
    if given is None:
        require(not wanted, "the certificate is about samples with weights: give them as sample_weight")
        return table, None
    w = floats(numbers_of(given))
    right = w.shape == (int(table.shape[0]),) and bool(np.isfinite(w).all() and (w >= 0).all() and w.any())
    require(right, "sample_weight must be a finite number of at least 0 for each sample, not all of them 0")
    held = isinstance(table, Sparse) or (isinstance(table, Dense) and isinstance(table.X, Array))
    require(held, "samples with weights must be a table in memory")
    kept, w = w > 0, w[w > 0]
    equal = (w == w[0]).all()
    digest = "" if equal else hashlib.sha256(b"weights" + w.astype("<f8").tobytes()).hexdigest()
    require(digest == wanted, "the weights are not the weights of the certificate: the digests differ")
    if isinstance(table, Sparse):
        X = sp.csr_array((table.values, table.indices, table.starts), shape=table.shape)
        table = table if kept.all() else Sparse(X[kept])
    else:
        table = table if kept.all() else Dense(table.X[kept])
    if equal:
        return table, None
    w = w / w.max()
    require(w.min() >= 0.99e-30, "weights that differ by a factor beyond 1e30 may underflow")
    return table, np.sqrt(w * (len(w) / math.fsum(w)))
