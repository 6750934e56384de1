"""The matrix A of data that come in blocks of rows (`blocks`): like `matrix`, but in passes over the blocks.

A is *defined* as the covariance of Y, whose exact means are taken off, with columns times float64 weights:
A_ij = (y_i'y_j / m - mean(y_i) mean(y_j)) w_i w_j. Weights are powers of two, which bring columns to the unit
scale, or make columns have unit variance. Without centring no mean is taken off, and nothing is shifted.

Roundings. Sums run over pieces of rows, so a term goes through at most `depth` additions. With
r_j = |y_j| / sqrt(m), an entry is off by at most gamma(3 depth + 24) r_i r_j w_i w_j: that of y_i'y_j / m by
depth + 2 roundings, that of the means' product, as mean |y_j| <= r_j, by 2 depth + 4, and 5 to put them
together. A size is at least the root of A_jj and at least r_j w_j / sqrt(2), so it is off by at most
gamma(6 depth + 64) size_i size_j. Of a column at most half full the second adds nothing: there mean^2 is at
most the variance, by Cauchy-Schwarz.
"""

import itertools
from typing import Any

import numpy as np
from numpy import ndarray as Array

from nspca.checker import matrix
from nspca.checker.blocks import Rows
from nspca.checker.matrix import Matrix
from nspca.checker.reading import Recipe
from nspca.checker.refusal import require
from nspca.checker.rounding import ROOT_TINY, TINY, gamma

SUMS = 2**25
"""Maximum number of sums held together while entries of A are checked."""


class RowMatrix(Matrix):
    """The matrix A, each block of features in a pass over the rows; a small A is formed whole in one pass."""

    by_rows = True

    def __init__(self, data: Any, recipe: Recipe) -> None:
        shape = tuple(int(s) for s in data.shape)
        right = len(shape) == 2 and shape == tuple(recipe.shape) and min(shape) > 0
        require(right, f"the data must have shape {tuple(recipe.shape)}, got {shape}")
        require(recipe.source == "data", f"rows are data, the certificate is about a {recipe.source!r}")
        (self.m, self.n), self.entries, self.relative = shape, None, False
        self.whole: Array | None = None
        self.center, self.scale = recipe.center, recipe.scale
        self.rows = Rows(data, (self.m, self.n), self.center or self.scale, self.scale, recipe.digest)
        self.exponent = 0 if self.scale else 2 * self.rows.exponent
        words = f"the exponent of the unit scale is {self.exponent}, the certificate says {recipe.exponent}"
        require(recipe.exponent == self.exponent, words)
        self._sizes_of(self.rows)

    def _sizes_of(self, rows: Rows) -> None:
        """Set means, weights and sizes. Columns of Y are near one in size, so their squares lose nothing."""
        m, squares = self.m, rows.squares
        depth = min(m + 1, rows.piece + rows.pieces_read + 1)
        self.means, self.weights = rows.sums / m, np.ldexp(1.0, rows.powers)
        if self.scale:
            variance = squares / m - self.means**2
            varies = (variance > 0).all() and not rows.constant.any()
            require(varies, "a constant column cannot be scaled to unit variance")
            self.weights = 1 / np.sqrt(variance)
        if not self.center:
            self.means, rows.shifts, squares = np.zeros(self.n), np.zeros(self.n), rows.plain
        own, lost = gamma(3 * depth + 24), ROOT_TINY * (squares > 0)
        r = np.sqrt(squares / m) * (1 + own) + lost
        left = np.sqrt(np.maximum(squares / m - self.means**2, 0.0) + own * r * r) + lost
        size = np.maximum(left, r * np.sqrt(0.5)) if self.center else r
        self.size = size * self.weights * (1 + own + gamma(16)) + lost
        self.eps, self.more = gamma(6 * depth + 64), 6 * depth + 64
        self.lost = TINY * max(1.0, float(self.weights.max()) ** 2)

    def chunks(self, J: Array) -> list[Array]:
        """Return the features J in pieces that are processed together."""
        return [J[i : i + 512] for i in range(0, len(J), 512)]

    def columns(self, J: Array) -> Array:
        """Return Z for the features J, for data of few rows: Y without its means, times the weights."""
        Y = np.concatenate(list(self.rows.written_out(J)))
        return (Y - self.means[J]) * self.weights[J]

    def block(self, I: Array, J: Array) -> Array:
        """Return A[I, J], as computed."""
        if self.n <= matrix.DENSE_LIMIT:
            if self.whole is None:
                self.whole = self._gram(np.arange(self.n))
            return self.whole[np.ix_(I, J)]
        both = np.union1d(I, J)
        few = both.size <= 2 * matrix.DENSE_LIMIT
        require(few, f"at most {matrix.DENSE_LIMIT} rows are looked at together, got {both.size}")
        at = [np.searchsorted(both, part) for part in (I, J)]
        return self._gram(both)[np.ix_(*at)]

    def _gram(self, J: Array) -> Array:
        G = np.zeros((len(J), len(J)))
        for Y in self.rows.written_out(J):
            G += Y.T @ Y
        return self.finished(G, J, J)

    def finished(self, sums: Array, I: Array, J: Array) -> Array:
        """Return entries of A from the sums y_i'y_j."""
        G = sums / self.m - np.outer(self.means[I], self.means[J])
        return G * self.weights[I][:, None] * self.weights[J]

    def largest_outside(self, outside: Array, tau: float, nonneg: bool) -> float:
        """Return at least every A_ij (signed: |A_ij|) with i in `outside`, except those that sizes bound by
        tau.

        For a feature j the others in reach are the first features of `outside`, in decreasing size. Their
        products with y_j are added up over the rows in which j is not 0.
        """
        order = outside[np.argsort(-self.size[outside], kind="stable")]
        reach = np.zeros(self.n, dtype=np.int64)
        for j in np.flatnonzero(self.size * self.size[order[:1]].max(initial=0.0) > tau):
            reach[j] = np.count_nonzero(self.size[order] * self.size[j] > tau)
        waiting, worst = np.flatnonzero(reach), -np.inf
        while waiting.size and worst <= tau:
            count = max(1, int(np.searchsorted(np.cumsum(reach[waiting]), SUMS)))
            group, waiting = waiting[:count], waiting[count:]
            sums = self._products(group, order, reach)
            for j, found in zip(group, sums, strict=True):
                I = order[: found.size]
                E = self.finished(found[:, None], I, np.array([j]))[:, 0]
                E = (E if nonneg else np.abs(E)) + self.eps * self.size[I] * self.size[j]
                worst = max(worst, float(E.max()))
        return worst + self.lost

    def _products(self, group: Array, order: Array, reach: Array) -> list[Array]:
        """Return y_j'y_i for every j of a group and the first reach[j] features i of `order`; one pass."""
        rank = np.full(self.n, self.n)
        rank[order] = np.arange(order.size)
        wanted, number = np.zeros(self.n, dtype=bool), np.full(self.n, -1)
        wanted[group], number[group] = True, np.arange(group.size)
        most, sums = int(reach[group].max()), [np.zeros(int(reach[j])) for j in group]
        for block in self.rows.passed():
            for part in self.rows.parts(block[0]):
                rows, at, y = self.rows.entries(part, *block[1:])
                near = rank[at] < most
                by_row = np.argsort(rows[near], kind="stable")
                others, factors = rank[at[near]][by_row], y[near][by_row]
                ends = np.searchsorted(rows[near][by_row], np.arange(rows.max(initial=-1) + 2))
                mine = np.flatnonzero(wanted[at])
                mine = mine[np.argsort(number[at[mine]], kind="stable")]
                bounds = np.searchsorted(number[at[mine]], np.arange(group.size + 1))
                for j, (start, end) in enumerate(itertools.pairwise(bounds)):
                    if start == end:
                        continue
                    own = mine[start:end]
                    first, lengths = ends[rows[own]], np.diff(ends)[rows[own]]
                    index = np.repeat(first - np.cumsum(lengths) + lengths, lengths) + np.arange(
                        lengths.sum()
                    )
                    keep = others[index] < sums[j].size
                    weights = (factors[index] * np.repeat(y[own], lengths))[keep]
                    sums[j] += np.bincount(others[index][keep], weights=weights, minlength=sums[j].size)
        return sums
