"""The matrix A at unit scale, in blocks, and the error of a computed entry.

Data: A_ij = (y_i'y_j / m - mean(y_i) mean(y_j)) w_i w_j by definition, where Y is the matrix that `blocks`
makes of the data, with exact means and float64 weights. Weights are powers of two, which bring columns to the
unit scale, or make columns have unit variance. Without centring no mean is taken off, and nothing is shifted.
Where samples have weights, rows of Y are multiplied by their factors d, and mean(y) is d'y / (sqrt(m) |d|).

A covariance X: A = (B + B') / 2, where B is X times a power of two. With a shift, A has another diagonal
(`Matrix.relief`).

In the units of the data the matrix is 2^exponent A. The unit scale is that of the largest number, of centred
data that of the largest in columns that do not hold one value.

`entry` makes the matrix of a certificate by `matrix_of`, and every form takes its entries from there.

`entries_above` finds the entries that may exceed a level in few blocks of A, as |A_ij| is at most size_i
size_j. `remainder` compares the threshold tau with them, or forms N from them.
"""

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy import ndarray as Array

from nspca.checker.blocks import PART, Block, Dense, Rows, Sparse, table_of, weighted
from nspca.checker.reading import Recipe
from nspca.checker.refusal import require
from nspca.checker.rounding import ROOT_TINY, TINY, gamma

Found = tuple[Array, Array, Array]
"""Rows, columns and values of some entries of a block."""

NARROWEST, WIDEST = 64, 1024
"""Number of features of the first block, and maximum number. Each block has twice as many as the one before,
since sizes fall and fewer pairs are in reach.
"""
MOST = 2**22
"""Maximum entries of a block: 32 MB."""


def entries_above(
    A: Any, first: Array, second: Array | None, level: float, nonneg: bool
) -> Iterator[tuple[Array, Array, Array, float]]:
    """Yield (i, j, E, error): features of some pairs, and their computed entries, off by at most `error`.

    Every pair of a feature i of `first` and j of `second` with A_ij (signed: |A_ij|) above the level is among
    them. The two sets have nothing in common. If `second` is None, j is of `first` too, and each pair comes
    once. All pairs of a feature i come together, except pairs within `first`.
    """
    inside, parts = second is None, [first] if second is None else [first, second]
    order = np.concatenate([part[np.argsort(-A.size[part], kind="stable")] for part in parts])
    blocks = list(in_reach(A.size[order], first.size, level, inside))
    largest = [A.size[order[a]] * A.size[order[c]] for a, _, c, _ in blocks]
    # two roundings of the difference of an entry and the level are added
    errors = [(A.eps * size + A.lost) * (1 + gamma(8)) + gamma(8) * (size + level) for size in largest]
    all_found = A.larger(order, blocks, [level - error for error in errors], nonneg)
    for (a, _, c, _), error, (i, j, E) in zip(blocks, errors, all_found, strict=True):
        i, j = i + a, j + c
        once = i <= j if inside else slice(None)
        yield order[i[once]], order[j[once]], E[once], error


def in_reach(sizes: Array, count: int, level: float, inside: bool) -> Iterator[Block]:
    """Yield blocks (a, b, c, d), which cover every pair of places i < count and j, size_i size_j > level.

    Blocks pair the places from a to b with those from c to d. If `inside`, j is from i on, else from `count`
    on. From there on sizes decrease, as do the first `count`.
    """
    start, width = 0, NARROWEST
    while start < count:
        other = start if inside else count
        reach = int(np.count_nonzero(sizes[start] * sizes[other:] > level))
        if not reach:
            return
        stop = min(start + max(1, min(width, MOST // reach)), count)
        yield start, stop, other, other + reach
        start, width = stop, min(2 * width, WIDEST)


def larger(E: Array, least: float, nonneg: bool) -> Found:
    """Return rows, columns and values of the entries of E (signed: their sizes) above `least`, and of NaN."""
    found = np.flatnonzero(~((E if nonneg else np.abs(E)) <= least))
    return *np.divmod(found, max(1, E.shape[1])), E.ravel()[found]


DENSE_LIMIT = 4000
"""Maximum number of rows of A formed at once, unless A is given as a whole."""
QUICK = 2**33
"""Maximum multiplications with which the whole A is formed, though Y is dense and held: a second."""
SUMS = 2**24
"""Approximate number of sums that are held together while entries of A are checked: 128 MB."""


def matrix_of(data: Any, recipe: Recipe, sample_weight: Any = None) -> "Matrix":
    """Return the matrix A of data, or of a reader of data, as a recipe says."""
    table = data if callable(getattr(type(data), "blocks", None)) else table_of(data)
    table, factors = weighted(table, sample_weight, recipe.weights)
    shape = tuple(int(s) for s in table.shape)
    right = len(shape) == 2 and shape == tuple(recipe.shape) and min(shape) > 0
    require(right, f"the data must have shape {tuple(recipe.shape)}, got {shape}")
    square = recipe.source == "covariance" and shape[0] == shape[1] and isinstance(table, Dense | Sparse)
    sentence = f"the source must be data, or a square covariance in memory, got {recipe.source!r}"
    require(square or recipe.source == "data", sentence)
    require(recipe.source == "data" or factors is None, "a covariance has no samples with weights")
    A = OfData(table, recipe, factors) if recipe.source == "data" else OfCovariance(table, recipe)
    sentence = f"the exponent of the unit scale is {A.exponent}, the certificate says {recipe.exponent}"
    require(recipe.exponent == A.exponent, sentence)
    return A


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
    more : roundings of a column of Z, whose `columns` are those of Y without their means, times the weights
    relief : for unit x, the given matrix explains at most x'Ax - relief; 0 without a shift
    """

    m: int
    n: int
    size: Array
    eps: float
    lost: float
    exponent: int
    entries: Array | None = None
    by_rows, gram, relative, more, relief = False, True, False, 0, Fraction(0)

    def block(self, I: Array, J: Array) -> Array:
        """Return A[I, J], as computed."""
        assert self.entries is not None
        return self.entries[np.ix_(I, J)]

    def columns(self, J: Array) -> Array:
        """Return Z for the features J; only data have it."""
        raise NotImplementedError

    def larger(self, order: Array, blocks: list[Block], least: list[float], nonneg: bool) -> Iterator[Found]:
        """Yield for every block (a, b, c, d) the entries of A[order[a:b], order[c:d]] above the level of
        `least`: their rows and columns in the block, and their values.
        """
        for (a, b, c, d), level in zip(blocks, least, strict=True):
            yield larger(self.block(order[a:b], order[c:d]), level, nonneg)


class OfCovariance(Matrix):
    """The matrix of a covariance, where |A_ij| is at most the largest entry of row i, and of row j.

    A symmetric B is A, exactly, unless entries underflow at unit scale; else B + B' rounds once.

    With a shift added to the diagonal, A has ``d' = fl(d + shift)`` in place of the diagonal d. For unit x,
    ``x'Bx = x'Ax - sum (d'_i - d_i) x_i^2 <= x'Ax - min_i (d'_i - d_i)``, whatever was added. The sum
    ``b_ii + b_ii`` is exact, so a new diagonal entry has no error but underflow, also where d cancels.
    """

    gram, relative = False, True

    def __init__(self, table: Any, recipe: Recipe) -> None:
        rows = Rows(table, table.shape, center=False, scale=False, digest=recipe.digest)
        self.m, self.n = table.shape
        given = np.concatenate([X if isinstance(X, Array) else X.toarray() for X in rows.passed()])
        shift = rows.exponent
        B = np.ldexp(given, -shift)
        exact = np.array_equal(B, B.T) and np.array_equal(np.ldexp(B, shift), given)
        self.entries, self.exponent = (B + B.T) / 2, shift
        self.eps, self.lost = (0.0, 0.0) if exact else (gamma(2), TINY)
        if recipe.shift:
            before = np.diag(self.entries).copy()
            after = before + float(recipe.shift)
            require(np.isfinite(after).all(), f"a shift must be a finite number, got {recipe.shift!r}")
            np.fill_diagonal(self.entries, after)
            pairs = zip(after.tolist(), before.tolist(), strict=True)
            self.relief = min(Fraction(a) - Fraction(b) for a, b in pairs)
        largest = np.abs(self.entries).max(axis=0)
        rounded = False if exact else given.any(axis=0) | given.any(axis=1)  # zeros are exact
        self.size = (np.sqrt(largest) + ROOT_TINY * rounded) * (1 + gamma(8))


class OfData(Matrix):
    """The matrix of data, each block of features in a pass over the rows.

    Roundings (rule PRODUCT). Sums run over pieces of rows, so a term goes through at most `depth` additions.
    With r_j = |y_j| / sqrt(m), an entry is off by at most gamma(3 depth + 24) r_i r_j w_i w_j: that of
    y_i'y_j / m by depth + 2 roundings, that of the means' product, as mean |y_j| <= r_j, by 2 depth + 4, and
    5 to put them together. A size is at least the root of A_jj and at least r_j w_j / sqrt(2), so an entry is
    off by at most gamma(6 depth + 64) size_i size_j. Of a column at most half full the second adds nothing:
    there mean^2 is at most the variance, by Cauchy-Schwarz.

    Columns of Y are near one in size, so their squares lose nothing.

    With factors d of the rows, A is psd too: it takes off the part along d, and |mean y_j| <= r_j as before.
    A mean has depth + 2 roundings of its sum and 5 of its divisor, so a product of two has 2 depth + 16.
    All numbers of roundings are doubled.
    """

    whole: Array | None = None  # (n, n), A as computed in one pass, where it is small and not held

    def __init__(self, table: Any, recipe: Recipe, factors: Array | None = None) -> None:
        self.m, self.n = map(int, table.shape)
        center, scale, m = recipe.center, recipe.scale, self.m
        self.rows = rows = Rows(table, (m, self.n), center, scale, recipe.digest, factors)
        self.by_rows, self.exponent = rows.held is None, 0 if scale else 2 * rows.exponent
        self.slow = self.by_rows or not rows.full
        squares, depth = rows.squares, min(m + 1, rows.piece + rows.pieces_read + 1)
        times, norm, self.along = 1, float(m), np.ones(1)
        if factors is not None:
            length = math.fsum(factors * factors)
            times, norm, self.along = 2, math.sqrt(m * length), factors * math.sqrt(m / length)
        self.means, self.weights = rows.sums / norm, np.ldexp(1.0, rows.powers)
        if scale:
            variance = squares / m - self.means**2
            varies = (variance > 0).all() and not rows.constant.any()
            require(varies, "a constant column cannot be scaled to unit variance")
            self.weights = 1 / np.sqrt(variance)
        if not center:
            self.means, squares = np.zeros(self.n), rows.plain
        own, lost = gamma(times * (3 * depth + 24)), ROOT_TINY * (squares > 0)
        r = np.sqrt(squares / m) * (1 + own) + lost
        left = np.sqrt(np.maximum(squares / m - self.means**2, 0.0) + own * r * r) + lost
        size = np.maximum(left, r * np.sqrt(0.5)) if center else r
        self.size = size * self.weights * (1 + own + gamma(16)) + lost
        self.more = times * (6 * depth + 64)
        self.eps = gamma(self.more)
        self.lost = TINY * max(1.0, float(self.weights.max()) ** 2)

    def columns(self, J: Array) -> Array:
        """Return Z for the features J: Y without its means, times the weights."""
        return (self.rows.columns(J) - np.outer(self.along, self.means[J])) * self.weights[J]

    def block(self, I: Array, J: Array) -> Array:
        """Return A[I, J], as computed."""
        if self.n <= DENSE_LIMIT and (self.slow or self.m * self.n**2 <= QUICK):
            every = np.arange(self.n)
            self.whole = self._computed(every, every) if self.whole is None else self.whole
            return self.whole[np.ix_(I, J)]
        if self.by_rows or np.array_equal(I, J):
            require_few(self, np.union1d(I, J))
        return self._computed(I, J)

    def _computed(self, I: Array, J: Array) -> Array:
        """Return A[I, J], computed in one pass over the rows."""
        same = np.array_equal(I, J)  # half the work
        order, start = (I, 0) if same else (np.concatenate((I, J)), len(I))
        (sums,) = self.rows.products(order, [(0, len(I), start, start + len(J))])
        return self._finished(sums, I, J)

    def _finished(self, sums: Array, I: Array, J: Array) -> Array:
        """Return entries of A from the sums y_i'y_j, in their place."""
        sums /= self.m
        sums -= np.outer(self.means[I], self.means[J])
        sums *= self.weights[I][:, None]
        sums *= self.weights[J]
        return sums

    def larger(self, order: Array, blocks: list[Block], least: list[float], nonneg: bool) -> Iterator[Found]:
        """Yield what `Matrix.larger` does; some blocks share a pass."""
        if self.n <= DENSE_LIMIT or not blocks:
            yield from super().larger(order, blocks, least, nonneg)
            return
        levels, areas = iter(least), np.cumsum([(b - a) * (d - c) for a, b, c, d in blocks])
        for some in np.split(np.arange(len(blocks)), np.flatnonzero(np.diff(areas // SUMS)) + 1):
            chosen = [blocks[at] for at in some]
            found = self.rows.products(order, chosen)
            for (a, b, c, d), sums in zip(chosen, found, strict=True):
                yield larger(self._finished(sums, order[a:b], order[c:d]), next(levels), nonneg)
