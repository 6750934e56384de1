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

`entry` makes a `RowMatrix` of sparse data and of readers such as `nspca.Shards`.
"""

from typing import Any

import numpy as np
from numpy import ndarray as Array

from nspca.checker.blocks import Rows
from nspca.checker.matrix import Matrix
from nspca.checker.products import Block
from nspca.checker.reading import Recipe
from nspca.checker.refusal import require
from nspca.checker.rounding import ROOT_TINY, TINY, gamma


class RowMatrix(Matrix):
    """The matrix A, each block of features in a pass over the rows; a small A is formed whole in one pass."""

    by_rows = True

    def __init__(self, data: Any, recipe: Recipe) -> None:
        shape = tuple(int(s) for s in data.shape)
        right = len(shape) == 2 and shape == tuple(recipe.shape) and min(shape) > 0
        require(right, f"the data must have shape {tuple(recipe.shape)}, got {shape}")
        require(recipe.source == "data", f"rows are data, the certificate is about a {recipe.source!r}")
        (self.m, self.n), self.relative = shape, False
        self.center, self.scale = recipe.center, recipe.scale
        self.rows = Rows(data, (self.m, self.n), self.center or self.scale, self.scale, recipe.digest)
        self.exponent = 0 if self.scale else 2 * self.rows.exponent
        sentence = (
            f"the exponent of the unit scale is {self.exponent}, the certificate says {recipe.exponent}"
        )
        require(recipe.exponent == self.exponent, sentence)
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

    def columns(self, J: Array) -> Array:
        """Return Z for the features J, for data of few rows: Y without its means, times the weights."""
        Y = np.concatenate([piece.dense(0, len(J)) for piece in self.rows.pieces(J)])
        return (Y - self.means[J]) * self.weights[J]

    def sums(self, order: Array, blocks: list[Block]) -> list[Array]:
        """Return Y_I'Y_J for every block, as `Matrix.sums` does for Z."""
        return self.rows.products(order, blocks)

    def finished(self, sums: Array, I: Array, J: Array) -> Array:
        """Return entries of A from the sums y_i'y_j."""
        G = sums / self.m - np.outer(self.means[I], self.means[J])
        return G * self.weights[I][:, None] * self.weights[J]
