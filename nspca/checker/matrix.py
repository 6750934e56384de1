"""The matrix A at unit scale, formed from the raw data in blocks.

Data X: A = Z'Z / m, where Z is the float64 matrix that centring and scaling make of X, each column times a
power of two of its own. A is *defined* by that Z. A covariance X: A = (B + B') / 2, where B is X times a
power of two. With a shift, A has another diagonal (`Matrix.relief`). In the units of the data the matrix is
2^exponent A. The unit scale is that of the largest number, of centred data that of the largest in columns
that do not hold one value.

`entry` makes the `Matrix` of a certificate, from which every form takes its entries.
"""

import hashlib
import mmap
from collections.abc import Iterator
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy import ndarray as Array

from nspca.checker.blocks import GONE
from nspca.checker.numbers import floats, not_masked, numbers_of
from nspca.checker.products import Block
from nspca.checker.reach import Found, larger
from nspca.checker.reading import Recipe
from nspca.checker.refusal import require
from nspca.checker.rounding import ROOT_TINY, TINY, gamma

DENSE_LIMIT = 4000
"""Maximum number of rows of A formed at once, unless A is given as a whole."""
HELD = 2**25
"""Maximum numbers of a Z that is held: 256 MB."""
ROWS = 2**16
"""Number of rows of sparse data in a block."""
PART = 2**23
"""Numbers of a dense table, or of a few columns, that are processed at a time: 64 MB."""
SUMS = 2**24
"""Approximate number of sums that are held together while entries of A are checked: 128 MB."""


def require_few(A: Any, rows: Array) -> None:
    """Refuse more rows than a dense matrix may have, unless the entries of A are given."""
    few = not A.gram or rows.size <= DENSE_LIMIT
    require(few, f"at most {DENSE_LIMIT} rows can be factorised, the witness keeps {rows.size}")


def split(J: Array, size: int) -> list[Array]:
    """Return the features J in pieces, of which each has `size` numbers for every feature in memory."""
    width = max(1, PART // size)
    return [J[i : i + width] for i in range(0, len(J), width)]


class Matrix:
    """The matrix A, accessed in blocks of its features.

    Attributes
    ----------
    m, n : numbers of samples and features
    size : (n,), with |A_ij| <= size_i size_j
    eps, lost : a computed entry is off by at most eps size_i size_j + lost
    relative : true when a computed entry is off by at most eps |A_ij| + lost
    exponent : exponent of the unit scale
    entries : (n, n), the computed entries where they are held, else None
    gram : true for data; then A is psd by definition
    by_rows : true when each access to A is a pass over blocks of rows
    whole : (n, n), A as computed in one pass, where it is small and accessed by passes
    more : roundings of a column of Z besides those in the definition of Z
    relief : for unit x, the given matrix explains at most x'Ax - relief; 0 without a shift
    X : the raw data, as `Dense`, `Sparse` or the `Rows` of a reader
    high, low : largest and smallest numbers of the columns of X
    own, first, second, factor : (n,), what makes Z of X, column by column (`_of_data`)
    Z, last : Z where it is held, and the columns of Z that were asked for last, with their features
    """

    entries: Array | None = None
    whole: Array | None = None
    Z: Array | None = None
    last: tuple[Array, Array] | None = None
    by_rows, gram, more, relief = False, True, 0, Fraction(0)

    def __init__(self, data: Any, recipe: Recipe) -> None:
        X: Any = data if isinstance(data, Dense | Sparse) else real_numbers(data)
        shape = tuple(recipe.shape)
        right = len(X.shape) == 2 and shape == X.shape and min(shape) > 0
        require(right, f"the data must have shape {shape}, got {X.shape}")
        self.high, self.low, digest = X.read()
        require(np.isfinite([self.high, self.low]).all(), "the data must be finite numbers")
        same = digest == recipe.digest
        require(same, "the data is not the data of the certificate: the digests differ")
        (self.m, self.n), self.X = X.shape, X
        if recipe.source == "data":  # a covariance is taken as it is
            self._of_data(recipe.center, recipe.scale)
        else:
            square = recipe.source == "covariance" and self.m == self.n
            require(square, f"the source must be data or a square covariance, got {recipe.source!r}")
            self._of_covariance(recipe.shift)
        sentence = (
            f"the exponent of the unit scale is {self.exponent}, the certificate says {recipe.exponent}"
        )
        require(recipe.exponent == self.exponent, sentence)

    def _of_data(self, center: bool, scale: bool) -> None:
        """Set what makes Z of the data, then sizes and errors, where |A_ij| <= |z_i| |z_j| / m.

        By columns, Z = ((X / 2^own - first) - second) factor.

        Roundings: m + 1 for A_ij (rule PRODUCT), m + 5 for a size.

        The lengths of columns are taken before they are brought to the unit scale, where squares may
        underflow. A size that is not 0 is at least ROOT_TINY (rule NORM).
        """
        m, n, largest = self.m, self.n, np.maximum(self.high, -self.low)
        varies = self.high != self.low if center or scale else largest > 0
        require(varies.all() or not scale, "a constant column cannot be scaled to unit variance")
        self.own = np.frexp(largest)[1]
        self.first, self.second = np.zeros(n), np.zeros(n)
        if center or scale:
            self._set_means()
        squares = self._squares()
        if scale:
            self.factor = 1 / np.sqrt(squares / m)
            if not center:
                self.first, self.second = np.zeros(n), np.zeros(n)
                squares = self._squares()
        self.exponent, self.relative, self.by_rows = 0, False, m * n > HELD
        if not scale:
            shift = int(self.own[varies].max()) if varies.any() else 0
            self.exponent = 2 * shift
            self.factor = np.ldexp(1.0, np.where(varies, self.own - shift, -GONE))
        self.eps, self.lost = gamma(m + 8), TINY
        self.size = (np.sqrt(squares / m) * self.factor + ROOT_TINY * varies) * (1 + self.eps)
        if not self.by_rows:
            self.Z = self.columns(np.arange(n))

    def _set_means(self) -> None:
        """Set `first`, the means of the first block, and `second`, those of what is left of the columns.

        They are subtracted one after the other, since the rounding of a large mean is still there.
        """
        sums = np.zeros(self.n)
        for number, B in enumerate(self.X.blocks()):
            if number == 0:
                self.first = self._centred(B).mean(axis=0)
            sums += self._centred(B).sum(axis=0)
        self.second = sums / self.m

    def _squares(self) -> Array:
        """Return the sums of squares of the columns of Z before their factors."""
        sums = np.zeros(self.n)
        for B in self.X.blocks():
            C = self._centred(B)
            sums += np.einsum("ij,ij->j", C, C)
        return sums

    def _centred(self, B: Array, J: Array | slice = slice(None)) -> Array:
        """Return Z before its factors for some rows B of the data and the features J."""
        C = scaled(B if isinstance(J, slice) else B.take(J, axis=1), -self.own[J])
        C -= self.first[J]
        C -= self.second[J]
        return C

    def _of_covariance(self, added: float | int) -> None:
        """Set entries, sizes and errors for a covariance, where |A_ij| is at most the largest entry of row i,
        and of row j.

        A symmetric B is A, exactly, unless entries underflow at unit scale; else B + B' rounds once.

        With `added` to the diagonal, A has ``d' = fl(d + added)`` in place of the diagonal d. For unit x,
        ``x'Bx = x'Ax - sum (d'_i - d_i) x_i^2 <= x'Ax - min_i (d'_i - d_i)``, whatever was added. The sum
        ``b_ii + b_ii`` is exact, so a new diagonal entry has no error but underflow, also where d cancels.
        """
        given = self.X.table()
        shift = int(np.frexp(max(np.max(self.high), -np.min(self.low)))[1])
        B = np.ldexp(given, -shift)
        exact = np.array_equal(B, B.T) and np.array_equal(np.ldexp(B, shift), given)
        self.entries, self.exponent, self.relative, self.gram = (B + B.T) / 2, shift, True, False
        self.eps, self.lost = (0.0, 0.0) if exact else (gamma(2), TINY)
        if added:
            before = np.diag(self.entries).copy()
            after = before + float(added)
            require(np.isfinite(after).all(), f"a shift must be a finite number, got {added!r}")
            np.fill_diagonal(self.entries, after)
            pairs = zip(after.tolist(), before.tolist(), strict=True)
            self.relief = min(Fraction(a) - Fraction(b) for a, b in pairs)
        largest = np.abs(self.entries).max(axis=0)
        rounded = False if exact else given.any(axis=0) | given.any(axis=1)  # zeros are exact
        self.size = (np.sqrt(largest) + ROOT_TINY * rounded) * (1 + gamma(8))

    def pieces(self, J: Array) -> Iterator[Array]:
        """Yield Z for the features J, some rows at a time; of a Z that is held the last part is kept."""
        if self.Z is not None:
            if self.last is None or not np.array_equal(self.last[0], J):
                self.last = J, self.Z.take(J, axis=1)
            yield self.last[1]
            return
        for B in self.X.blocks():
            yield self._centred(B, J) * self.factor[J]

    def columns(self, J: Array) -> Array:
        """Return Z for the features J."""
        return np.concatenate(list(self.pieces(J)))

    def block(self, I: Array, J: Array) -> Array:
        """Return A[I, J], as computed."""
        if self.entries is not None:
            return self.entries[np.ix_(I, J)]
        if self.by_rows and self.n <= DENSE_LIMIT:
            self.whole = self._gram(np.arange(self.n)) if self.whole is None else self.whole
            return self.whole[np.ix_(I, J)]
        if self.by_rows or np.array_equal(I, J):  # half the work
            both = np.union1d(I, J)
            require_few(self, both)
            return self._gram(both)[np.ix_(*(np.searchsorted(both, part) for part in (I, J)))]
        return self.columns(I).T @ self.columns(J) / self.m

    def _gram(self, J: Array) -> Array:
        """Return A[J, J], computed in one pass over the rows."""
        (sums,) = self.sums(J, [(0, len(J), 0, len(J))])
        return self.finished(sums, J, J)

    def sums(self, order: Array, blocks: list[Block]) -> list[Array]:
        """Return Z_I'Z_J for every block (a, b, c, d), in one pass: I is order[a:b], J is order[c:d]."""
        sums: list[Array] = []
        for Z in self.pieces(order):
            more = [Z[:, a:b].T @ Z[:, c:d] for a, b, c, d in blocks]
            sums = [np.add(S, E, out=S) for S, E in zip(sums, more, strict=True)] if sums else more
        return sums

    def finished(self, sums: Array, I: Array, J: Array) -> Array:
        """Return entries of A from the sums z_i'z_j."""
        return sums / self.m

    def larger(self, order: Array, blocks: list[Block], least: list[float], nonneg: bool) -> Iterator[Found]:
        """Yield for every block (a, b, c, d) the entries of A[order[a:b], order[c:d]] above the level of
        `least`: their rows and columns in the block, and their values. Some blocks share a pass.
        """
        near, levels = self.entries is not None or self.n <= DENSE_LIMIT, iter(least)
        areas = np.cumsum([(b - a) * (d - c) for a, b, c, d in blocks])
        for some in np.split(np.arange(len(blocks)), np.flatnonzero(np.diff(areas // SUMS)) + 1):
            chosen = [blocks[at] for at in some]
            found = self.sums(order, chosen) if chosen and not near else [None] * len(chosen)
            for (a, b, c, d), sums in zip(chosen, found, strict=True):
                I, J = order[a:b], order[c:d]
                E = self.block(I, J) if sums is None else self.finished(sums, I, J)
                yield larger(E, next(levels), nonneg)


class Dense:
    """A dense table of numbers, read in blocks of rows; every pass must bring the numbers of the first.

    Nobody else can change the shape of a view of an array. Blocks of a data set of h5py have theirs checked.
    """

    def __init__(self, X: Any, pages: Any = None) -> None:
        self.X, self.shape = X[:] if isinstance(X, Array) else X, tuple(map(int, X.shape))
        self.prints: list[bytes] | None = None
        self.pages = pages

    def read(self) -> tuple[Array, Array, str]:
        """Return the largest and smallest number of each column, and the content hash of the table."""
        digest = hashlib.sha256(f"dense {self.shape[0]} {self.shape[1]}".encode())
        high, low = np.full(self.shape[1], -np.inf), np.full(self.shape[1], np.inf)
        for B in self.blocks():
            digest.update(B.data)
            high, low = np.maximum(high, B.max(axis=0)), np.minimum(low, B.min(axis=0))
        return high, low, digest.hexdigest()

    def blocks(self) -> Iterator[Array]:
        """Yield the rows in blocks, as copies in float64 without negative zeros.

        Pages of a file that is mapped read-only are given back after each block. Otherwise they would count
        as memory of this process.
        """
        step, prints = max(1, PART // self.shape[1]), []
        for start in range(0, self.shape[0], step):
            B = floats(np.asarray(self.X[start : start + step]))
            B += 0.0
            whole = B.shape == (min(step, self.shape[0] - start), self.shape[1])
            require(whole, f"each row of the data must have {self.shape[1]} numbers, got shape {B.shape}")
            prints.append(hashlib.sha256(B.data).digest())
            same = self.prints is None or self.prints[len(prints) - 1] == prints[-1]
            require(same, f"block {len(prints) - 1} of the data is not what it was when it was read first")
            if isinstance(self.pages, mmap.mmap):
                self.pages.madvise(mmap.MADV_DONTNEED)
            yield B
        self.prints = prints

    def table(self) -> Array:
        """Return the whole table."""
        return np.concatenate(list(self.blocks()))


class Sparse:
    """A sparse table in compressed rows, copied once."""

    def __init__(self, X: Any) -> None:
        X = X.tocsr().copy()
        X.sum_duplicates()
        X.eliminate_zeros()
        require(X.dtype.kind in "biuf", f"the data must be real numbers, none masked, got {X.dtype}")
        self.shape, self.values = tuple(X.shape), floats(X.data)
        self.starts, self.indices = np.array(X.indptr, "<i8"), np.array(X.indices, "<i8")

    def read(self) -> tuple[Array, Array, str]:
        """Return the largest number that is not 0 or 0, the smallest or 0, and the content hash."""
        digest = hashlib.sha256(f"sparse {self.shape[0]} {self.shape[1]}".encode())
        for part in (self.starts, self.indices, self.values):
            digest.update(part.data)
        return self.values.max(initial=0.0), self.values.min(initial=0.0), digest.hexdigest()

    def blocks(self) -> Iterator[SimpleNamespace]:
        """Yield blocks of rows, as a reader of data does (`blocks`)."""
        for start in range(0, self.shape[0], ROWS):
            starts = self.starts[start : start + ROWS + 1]
            here = slice(starts[0], starts[-1])
            parts = {"indices": self.indices[here], "data": self.values[here]}
            yield SimpleNamespace(indptr=starts - starts[0], **parts)

    def table(self) -> Array:
        """Return the whole table."""
        inside = ((self.indices >= 0) & (self.indices < self.shape[1])).all()
        require(inside, "the parts of the sparse data disagree")
        X, rows = np.zeros(self.shape), np.repeat(np.arange(self.shape[0]), np.diff(self.starts))
        np.add.at(X, (rows, self.indices), self.values)  # duplicates are added up, whatever scipy's flag says
        return X


def scaled(X: Array, exponents: Array) -> Array:
    """Return the columns of X times powers of two, as a new array."""
    if np.abs(exponents).max(initial=0) <= 1000:
        return X * np.ldexp(1.0, exponents)
    return np.ldexp(X, exponents)


def real_numbers(data: Any) -> "Dense | Sparse":
    """Return the data as a table of real numbers; a data set of h5py stays in its file."""
    if type(data).__module__.startswith("h5py."):
        return Dense(data)
    if not hasattr(type(data), "tocsr"):  # not `data`: a column of a data frame may be called tocsr
        in_file = isinstance(data, np.memmap) and data.mode == "r"
        return Dense(numbers_of(data), data._mmap if in_file else None)
    not_masked(getattr(data, "data", None))
    return Sparse(data)
