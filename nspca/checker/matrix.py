"""The matrix A at unit scale, formed from the raw data in blocks.

Data X: A = Z'Z / m, where Z is the float64 matrix that centring and scaling make of X, each column times a
power of two of its own. A is *defined* by that Z. A covariance X: A = (B + B') / 2, where B is X times a
power of two, plus a multiple of the identity where the certificate has a shift (`Matrix.relief`). In the
units of the data it is 2^exponent A. The unit scale is that of the largest number, of centred data that of
the largest in columns that do not hold one value.

`entry` makes the `Matrix` of a certificate, from which every form takes its entries.
"""

import copy
import hashlib
import mmap
from collections.abc import Iterator
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, Self

import numpy as np
from numpy import ndarray as Array

from nspca.checker.numbers import floats, not_masked, numbers_of
from nspca.checker.products import Block
from nspca.checker.reach import Found, larger_in
from nspca.checker.reading import Recipe
from nspca.checker.refusal import require
from nspca.checker.rounding import ROOT_TINY, TINY, gamma

DENSE_LIMIT = 4000
"""Maximum number of rows of A formed at once, unless A is given as a whole."""
HELD = 2**26
"""Maximum numbers of a Z that is held: 512 MB."""
ROWS = 2**16
"""Number of rows of sparse data in a block."""
PART = 2**22
"""Numbers of a dense table that are copied at a time: 32 MB."""


def require_few(A: Any, rows: Array) -> None:
    """Refuse more rows than a dense matrix may have, unless the entries of A are given."""
    few = not A.gram or rows.size <= DENSE_LIMIT
    require(few, f"at most {DENSE_LIMIT} rows can be factorised, the witness keeps {rows.size}")


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
    by_rows : true when each access to A is a pass over blocks of rows (`rowblocks`)
    more : roundings of a column of Z besides those in the definition of Z
    relief : for unit x, the given matrix explains at most x'Ax - relief; 0 without a shift
    """

    m: int
    n: int
    size: Array
    eps: float
    lost: float
    relative: bool
    exponent: int
    entries: Array | None
    Z: Array | None
    by_rows, more, relief = False, 0, Fraction(0)

    def __init__(self, data: Any, recipe: Recipe) -> None:
        X = data if isinstance(data, Dense | Sparse) else real_numbers(data)
        require(np.isfinite(X.values).all(), "the data must be finite numbers")
        shape = tuple(recipe.shape)
        right = len(X.shape) == 2 and shape == X.shape and min(shape) > 0
        require(right, f"the data must have shape {shape}, got {X.shape}")
        same = digest_of(X) == recipe.digest
        require(same, "the data is not the data of the certificate: the digests differ")
        (self.m, self.n), self.X, self.entries, self.Z = X.shape, X, None, None
        of_data = recipe.source == "data"  # a covariance is taken as it is
        self.center, self.scale = of_data and recipe.center, of_data and recipe.scale
        if of_data:
            self._of_data()
        else:
            self.shift = int(np.frexp(np.abs(X.values).max(initial=0.0))[1])
            square = recipe.source == "covariance" and self.m == self.n
            require(square, f"the source must be data or a square covariance, got {recipe.source!r}")
            self._of_covariance(recipe.shift)
        words = f"the exponent of the unit scale is {self.exponent}, the certificate says {recipe.exponent}"
        require(recipe.exponent == self.exponent, words)

    def _of_data(self) -> None:
        """Set sizes and errors for data, where |A_ij| <= |z_i| |z_j| / m.

        Roundings: m + 1 for A_ij (rule PRODUCT), m + 5 for a size.

        The lengths of columns are taken before they are brought to the unit scale, where squares may
        underflow. A size that is not 0 is at least ROOT_TINY (rule NORM).
        """
        found = [self._lengths(J) for J in self.chunks(np.arange(self.n))]
        lengths, exponents, varies = (np.concatenate(part) for part in zip(*found, strict=True))
        self.shift = int(exponents[varies].max()) if varies.any() and not self.scale else 0
        self.exponent, self.relative = 2 * self.shift, False
        self.eps, self.lost = gamma(self.m + 8), TINY
        self.size = (np.ldexp(lengths, exponents - self.shift) + ROOT_TINY * varies) * (1 + self.eps)

    def _lengths(self, J: Array) -> tuple[Array, Array, Array]:
        """Return |z_j| / sqrt(m) for Z before the unit scale, its exponent, and whether z_j is not 0."""
        Z, exponents = self._own_columns(J)
        return np.sqrt((Z * Z).sum(axis=1) / self.m), exponents, np.asarray(Z.any(axis=1))

    def _of_covariance(self, added: float | int) -> None:
        """Set entries, sizes and errors for a covariance, where |A_ij| is at most the largest entry of row i,
        and of row j.

        A symmetric B is A, exactly, unless entries underflow at unit scale; else B + B' rounds once.

        With `added` to the diagonal, A has ``d' = fl(d + added)`` in place of the diagonal d. For unit x,
        ``x'Bx = x'Ax - sum (d'_i - d_i) x_i^2 <= x'Ax - min_i (d'_i - d_i)``, whatever was added.
        """
        features = np.arange(self.n)
        given = self.X.columns(features).T
        B = np.ldexp(given, -self.shift)
        exact = np.array_equal(B, B.T) and np.array_equal(np.ldexp(B, self.shift), given)
        self.entries, self.exponent, self.relative = (B + B.T) / 2, self.shift, True
        self.eps, self.lost = (0.0, 0.0) if exact else (gamma(2), TINY)
        if added:
            before = np.diag(self.entries).copy()
            after = before + float(added)
            require(np.isfinite(after).all(), f"a shift must be a finite number, got {added!r}")
            np.fill_diagonal(self.entries, after)
            self.lost += self.eps * float(np.abs(before).max())  # the error of an entry before the sum
            pairs = zip(after.tolist(), before.tolist(), strict=True)
            self.relief = min(Fraction(a) - Fraction(b) for a, b in pairs)
        largest = np.abs(self.entries).max(axis=0)
        self.size = (np.sqrt(largest) + (0.0 if exact else ROOT_TINY)) * (1 + gamma(8))

    @property
    def gram(self) -> bool:
        """Tell whether A is formed from Z on demand; then A is psd by definition."""
        return self.entries is None

    def formed(self) -> Self:
        """Return this matrix with all its computed entries held."""
        held, features = copy.copy(self), np.arange(self.n)
        held.entries = self.block(features, features)
        return held

    def chunks(self, J: Array) -> list[Array]:
        """Return the features J in pieces whose columns of Z fit in memory together."""
        width = max(1, min(512, 2**22 // self.m))
        return [J[i : i + width] for i in range(0, len(J), width)]

    def columns(self, J: Array) -> Array:
        """Return Z for the features J, at unit scale; a Z of few numbers is held."""
        if self.Z is None and self.m * self.n <= HELD:
            self.Z = self._at_unit_scale(np.arange(self.n))
        return self._at_unit_scale(J) if self.Z is None else self.Z[:, J]

    def _at_unit_scale(self, J: Array) -> Array:
        """Return Z for the features J, formed in pieces that need little memory."""
        rows = np.empty((len(J), self.m))
        for at in self.chunks(np.arange(len(J))):
            Z, exponents = self._own_columns(J[at])
            rows[at] = scaled(Z, exponents - self.shift)
        return rows.T

    def _own_columns(self, J: Array) -> tuple[Array, Array]:
        """Return Z for the features J before the unit scale, and the exponent (j,) of its scale.

        Each feature is a row in memory, so its mean does not depend on the others. A row of one value is 0
        once it is centred.
        """
        X = self.X.columns(J)
        exponents = np.frexp(np.abs(X).max(axis=1))[1]
        X = scaled(X, -exponents)
        if not (self.center or self.scale):
            return X, exponents
        constant = X.max(axis=1) == X.min(axis=1)
        C = X - X.mean(axis=1, keepdims=True)
        C = C - C.mean(axis=1, keepdims=True)  # again, as the rounding of a large mean is still there
        C[constant] = 0.0
        if not self.scale:
            return C, exponents
        require(not constant.any(), "a constant column cannot be scaled to unit variance")
        deviation = np.sqrt((C * C).mean(axis=1, keepdims=True))
        return (C if self.center else X) / deviation, np.zeros_like(exponents)

    def block(self, I: Array, J: Array) -> Array:
        """Return A[I, J], as computed."""
        if self.entries is not None:
            return self.entries[np.ix_(I, J)]
        Z = self.columns(I)
        if np.array_equal(I, J):  # half the work
            return Z.T @ Z / self.m
        E, done = np.empty((len(I), len(J))), 0
        for part in self.chunks(J):
            np.matmul(Z.T, self.columns(part), out=E[:, done : done + len(part)])
            done += len(part)
        return np.divide(E, self.m, out=E)

    def larger(self, order: Array, blocks: list[Block], least: list[float], nonneg: bool) -> Iterator[Found]:
        """Return for every block (a, b, c, d) the entries of A[order[a:b], order[c:d]] above the level of
        `least`: their rows and columns in the block, and their values.
        """
        return larger_in(self, order, blocks, least, nonneg)


class Dense:
    """A dense table of numbers, copied once; `parts` are the arrays that the content hash covers."""

    kind = "dense"

    def __init__(self, X: Array) -> None:
        self.values, self.shape = copied(X), tuple(X.shape)
        self.parts = [self.values]

    def columns(self, J: Array) -> Array:
        """Return the columns J, each as a row in memory."""
        return np.ascontiguousarray(self.values[:, J].T)


class Sparse:
    """A sparse table in compressed rows, copied once; `parts` are the arrays that the content hash covers."""

    kind = "sparse"

    def __init__(self, X: Any) -> None:
        X = X.tocsr().copy()
        X.sum_duplicates()
        X.eliminate_zeros()
        require(X.dtype.kind in "biuf", f"the data must be real numbers, none masked, got {X.dtype}")
        self.shape, self.values = tuple(X.shape), floats(X.data)
        self.starts, self.indices = np.array(X.indptr, "<i8"), np.array(X.indices, "<i8")
        self.parts = [self.starts, self.indices, self.values]

    def blocks(self) -> Iterator[SimpleNamespace]:
        """Yield blocks of rows, as a reader of data does (`blocks`)."""
        for start in range(0, self.shape[0], ROWS):
            starts = self.starts[start : start + ROWS + 1]
            here = slice(starts[0], starts[-1])
            parts = {"indices": self.indices[here], "data": self.values[here]}
            yield SimpleNamespace(indptr=starts - starts[0], **parts)

    def columns(self, J: Array) -> Array:
        """Return the columns J, each as a row in memory; all of them are formed."""
        inside = ((self.indices >= 0) & (self.indices < self.shape[1])).all()
        require(inside, "the parts of the sparse data disagree")
        X, rows = np.zeros(self.shape), np.repeat(np.arange(self.shape[0]), np.diff(self.starts))
        np.add.at(X, (rows, self.indices), self.values)  # duplicates are added up, whatever scipy's flag says
        return np.ascontiguousarray(X.T[J])


def copied(X: Array) -> Array:
    """Return a copy of X as float64 without negative zeros, made of some rows at a time.

    Pages of a file that is mapped read-only are given back after each part. Otherwise they would count as
    memory of this process.
    """
    values, step = np.empty(X.shape, "<f8"), max(1, PART // max(1, X[:1].size))
    pages = getattr(X.base, "base", None) if getattr(X.base, "mode", "") == "r" else None
    for start in range(0, len(X), step):
        values[start : start + step] = floats(X[start : start + step]) + 0.0
        if isinstance(pages, mmap.mmap):
            pages.madvise(mmap.MADV_DONTNEED)
    return values


def scaled(X: Array, exponents: Array) -> Array:
    """Return the rows of X (j, m) times powers of two; below the normal numbers that rounds once."""
    if np.abs(exponents).max(initial=0) <= 1000:
        return X * np.ldexp(1.0, exponents)[:, None]
    return np.ldexp(X, exponents[:, None])


def real_numbers(data: Any) -> "Dense | Sparse":
    """Return a copy of the data as a table of real numbers that no caller can change."""
    if not hasattr(type(data), "tocsr"):  # not `data`: a column of a data frame may be called tocsr
        return Dense(numbers_of(data))
    not_masked(getattr(data, "data", None))
    return Sparse(data)


def digest_of(X: "Dense | Sparse") -> str:
    """Return the content hash of a table; part of the certificate format."""
    digest = hashlib.sha256(f"{X.kind} {X.shape[0]} {X.shape[1]}".encode())
    for part in X.parts:
        digest.update(part.data)
    return digest.hexdigest()
