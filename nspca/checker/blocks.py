"""Read data in blocks of rows, in passes; a reader is not trusted.

A reader has `shape` and `blocks()`, which yields the rows in order as compressed rows, any number of times.
Blocks are hashed in the first pass, and each later pass must yield blocks with equal hashes. No column is
ever held whole.

Y is the float64 matrix that X becomes when each column is taken times a power of two of its own, and columns
that are more than half full are shifted by a float near their mean. Where means are taken off, columns that
hold one value are 0 in Y. `rowblocks.RowMatrix` forms entries of A from such a `Rows`.
"""

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy import ndarray as Array

from nspca.checker.numbers import floats
from nspca.checker.products import Block, FullPiece, Piece
from nspca.checker.refusal import require

PIECE = 4096
"""Number of rows processed together."""
AT_ONCE = 2**22
"""Maximum dense entries, of columns that are shifted, held together."""
GONE = 5000
"""Exponent of columns that are 0 in Y: every float divided by 2^GONE is 0."""


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
    full : whether most columns are shifted; pieces are dense arrays then
    pieces_read : number of pieces of at most `piece` rows into which these sums were divided
    """

    def __init__(self, reader: Any, shape: tuple[int, int], shifted: bool, scaled: bool, digest: str) -> None:
        (self.m, self.n), self.reader, self.piece = shape, reader, PIECE
        self.prints: list[bytes] | None = None
        self._read(shifted, scaled, digest)

    def _read(self, shifted: bool, scaled: bool, wanted: str) -> None:
        """Read the data in three passes, since the content hash takes starts, columns and values one after
        the other.

        Each pass also computes something that needs the pass before: counts and sizes; means; sums of Y.
        """
        n, digest = self.n, hashlib.sha256(f"sparse {self.m} {self.n}".encode())
        before, counts = 0, np.zeros(n, dtype=np.int64)
        least, most = np.full(n, np.inf), np.full(n, -np.inf)
        for number, (starts, columns, values) in enumerate(self.passed()):
            digest.update((starts[bool(number) :] + before).data)
            before += int(starts[-1])
            counts += np.bincount(columns, minlength=n)
            np.minimum.at(least, columns, values)
            np.maximum.at(most, columns, values)
        self.constant = (counts == 0) | ((counts == self.m) & (least == most))
        gone = self.constant & (shifted and not scaled)
        largest = np.where((counts == 0) | gone, 0.0, np.maximum(most, -least))
        self.exponent = int(np.frexp(largest.max(initial=0.0))[1])
        own = np.frexp(largest)[1]
        self.powers = np.where(largest > 0, own - self.exponent, 0)
        self.exponents = np.where(gone, GONE, own)
        sums = np.zeros(n)
        for _, columns, values in self.passed():
            digest.update(columns.data)
            sums += np.bincount(columns, weights=self.unit(columns, values), minlength=n)
        dense = (2 * counts > self.m) & ~gone if shifted else np.zeros(n, dtype=bool)
        self.shifts, count = np.where(dense, sums / self.m, 0.0), int(np.count_nonzero(dense))
        self.piece, self.full = max(1, min(PIECE, AT_ONCE // max(1, count))), 2 * count > n
        self._sum(digest)
        right = digest.hexdigest() == wanted
        require(right, "the data is not the data of the certificate: the digests differ")

    def _sum(self, digest: Any) -> None:
        """Compute sums and sums of squares of columns, while the digest takes the values."""
        n, self.pieces_read = self.n, 0
        self.sums, self.squares, self.plain = np.zeros(n), np.zeros(n), np.zeros(n)
        for starts, columns, values in self.passed():
            digest.update(values.data)
            for part in self.parts(starts):
                self.pieces_read += 1
                if self.full:
                    Y = self.dense(part, columns, values, np.arange(n)) - self.shifts
                    self.sums += Y.sum(axis=0)
                    self.squares += np.einsum("ij,ij->j", Y, Y)
                else:
                    _, at, y = self.entries(part, columns, values)
                    self.sums += np.bincount(at, weights=y, minlength=n)
                    self.squares += np.bincount(at, weights=y * y, minlength=n)
                at = columns[part[0] : part[-1]]
                z = self.unit(at, values[part[0] : part[-1]])
                self.plain += np.bincount(at, weights=z * z, minlength=n)

    def passed(self) -> Iterator[tuple[Array, Array, Array]]:
        """Yield the blocks (starts, columns, values), each copied and checked; they are equal in
        every pass.
        """
        rows, prints = 0, []
        for number, X in enumerate(self.reader.blocks()):
            starts, columns = (np.array(part, "<i8") for part in (X.indptr, X.indices))
            values = floats(np.asarray(X.data))
            self._in_order(starts, columns, values)
            rows += starts.size - 1
            own = hashlib.sha256()
            for part in (starts, columns, values):
                own.update(part.data)
            prints.append(own.digest())
            same = self.prints is None or self.prints[number : number + 1] == prints[-1:]
            require(same, f"block {number} of the data is not what it was when it was read first")
            yield starts, columns, values
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

    def unit(self, columns: Array, values: Array) -> Array:
        """Return values times the power of two of their column."""
        return np.ldexp(values, -self.exponents[columns])

    def parts(self, starts: Array) -> Iterator[Array]:
        """Yield the row starts of a block in pieces of at most `piece` rows."""
        for start in range(0, starts.size - 1, self.piece):
            yield starts[start : start + self.piece + 1]

    def entries(self, part: Array, columns: Array, values: Array) -> tuple[Array, Array, Array]:
        """Return the entries of Y (rows, columns, y) in the rows of `part`; shifted columns have one in every
        row.
        """
        shifted, here = np.flatnonzero(self.shifts), slice(part[0], part[-1])
        at, rows = columns[here], np.repeat(np.arange(part.size - 1), np.diff(part))
        y = self.unit(at, values[here])
        if shifted.size:
            D = self.dense(part, columns, values, shifted) - self.shifts[shifted]
            rest = self.shifts[at] == 0
            rows = np.concatenate((rows[rest], np.repeat(np.arange(len(D)), shifted.size)))
            at = np.concatenate((at[rest], np.tile(shifted, len(D))))
            y = np.concatenate((y[rest], D.ravel()))
        return rows, at, y

    def dense(self, part: Array, columns: Array, values: Array, J: Array) -> Array:
        """Return the columns J of the rows of `part`, each times its power of two, not shifted."""
        here, count = slice(part[0], part[-1]), part.size - 1
        if here.stop - here.start == count * self.n:  # a row has no column twice, so every one is there
            return np.ldexp(values[here].reshape(count, self.n).take(J, axis=1), -self.exponents[J])
        place = np.full(self.n, -1)
        place[J] = np.arange(len(J))
        at = columns[here]
        rows, to = np.repeat(np.arange(count), np.diff(part)), place[at]
        D = np.zeros((count, len(J)))
        keep = to >= 0
        D[rows[keep], to[keep]] = self.unit(at, values[here])[keep]
        return D

    def pieces(self, order: Array) -> Iterator[FullPiece | Piece]:
        """Yield the entries of the features `order` of Y, piece by piece; no feature is in `order` twice."""
        place = np.full(self.n, -1)
        place[order] = np.arange(len(order))
        for starts, columns, values in self.passed():
            for part in self.parts(starts):
                if self.full:
                    yield FullPiece(self.dense(part, columns, values, order) - self.shifts[order])
                    continue
                rows, at, y = self.entries(part, columns, values)
                known = place[at] >= 0
                yield Piece(part.size - 1, rows[known], place[at[known]], y[known])

    def products(self, order: Array, blocks: list[Block]) -> list[Array]:
        """Return Y_I'Y_J for every block (a, b, c, d), in one pass: I is order[a:b], J is order[c:d]."""
        sums = [np.zeros((b - a, d - c)) for a, b, c, d in blocks]
        for piece in self.pieces(order[: max(max(b, d) for _, b, _, d in blocks)]):
            for total, block in zip(sums, blocks, strict=True):
                total += piece.product(*block)
        return sums
