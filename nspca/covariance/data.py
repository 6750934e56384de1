"""Covariance matrices of data in memory: A = Z'Z / m, which is formed whole only where that pays."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nspca.covariance.covariance import DENSE_LIMIT, DIRECT_LIMIT, Covariance
from nspca.covariance.linalg import Array, Indices, largest_eigenpairs, normalised_columns
from nspca.covariance.moments import squares
from nspca.progress import Event, tell

WHOLE_LIMIT = 10_000
"""Largest n for which A is formed whole when dense data have at least as many rows: 800 MB, no more than the
data. After that a product costs a share n / 2m of one with the data.
"""
FORMED, LEAST_ROWS = 2**34, 512
"""A is formed from blocks of rows, and progress is reported before each. `FORMED` is the number of
multiplications in a block, about a second, and `LEAST_ROWS` the fewest rows.
"""
LEAST = 1e-290
"""Smallest variance of data at unit scale. Squares below it have lost digits, so they count as 0."""


class DataCovariance(Covariance):
    """A = Z'Z / m with Z centred and scaled float64. A is defined as the Gram matrix of exactly that Z."""

    def __init__(self, Z: Any, varies: NDArray[np.bool_], **recipe: Any) -> None:
        super().__init__(n=Z.shape[1], **recipe)
        self.Z, self.m, self._varies = Z, Z.shape[0], varies

    @property
    def varies(self) -> NDArray[np.bool_]:
        """Return which features (n,) are not 0; where A is centred, those that do not hold one value."""
        return self._varies

    @property
    def most_formed(self) -> int:
        """Return the largest n for which the whole of A is formed."""
        return WHOLE_LIMIT if self.m >= self.n else DENSE_LIMIT

    @cached_property
    def _small(self) -> bool:
        """Tell whether A is formed whole and used in place of Z."""
        # Once n is not above 2m, a product with A (n^2) costs no more than one with Z and then Z' (2mn).
        return self.n <= min(self.most_formed, 2 * self.m)

    def product(self, X: Array) -> Array:
        """Return ``A @ X``."""
        return self.matrix @ X if self._small else self._cross(self.scores(X))

    def _selected(self, features: Indices | Sequence[int]) -> Array:
        """Return the columns of Z for some features, (m, p), as a dense array."""
        return self.Z[:, features]

    def dense_rows(self, which: slice = slice(None)) -> Array:
        """Return some rows of Z, by default all, as a dense array."""
        return self.Z[which]

    def columns(self, features: Indices | Sequence[int]) -> Array:
        """Return ``A[:, features]``."""
        if self._small:
            return self.matrix[:, features]
        return self._cross(self._selected(features))

    def _cross(self, S: Array) -> Array:
        """Return ``Z'S / m`` for S (m,) or (m, r)."""
        return self.Z.T @ S / self.m

    def block(self, features: Indices) -> Array:
        """Return ``A[features][:, features]``."""
        if self._small:
            return self.matrix[np.ix_(features, features)]
        S = self._selected(features)
        return S.T @ S / self.m

    def _formed(self) -> Array:
        """Return the whole of A."""
        S = self.Z if isinstance(self.Z, np.ndarray) else self._selected(np.arange(self.n))
        step = max(LEAST_ROWS, FORMED // self.n**2)
        if self.m <= step:
            return S.T @ S / self.m
        total = np.zeros((self.n, self.n))
        for start in range(0, self.m, step):
            tell(Event("covariance", start, self.m))
            total += S[start : start + step].T @ S[start : start + step]
        return total / self.m

    def quadratic(self, x: Array) -> float:
        """Return ``x'Ax`` in the quickest way, for comparing candidates."""
        return super().quadratic(x) if self._small else self.explained(x)

    def explained(self, x: Array) -> float:
        """Return ``x'Ax`` as the mean square of the scores."""
        support = np.flatnonzero(x)
        scores = self._selected(support) @ x[support]
        return float(scores @ scores) / self.m

    def scores(self, X: Array) -> Array:
        """Return ``Z @ X``, the samples along components X (n, r), in unit scale."""
        return self.Z @ X

    def restrict(self, features: Indices) -> "DataCovariance":
        """Return the covariance of the given features alone."""
        Z, varies = self._selected(features), self.varies[features]
        return DataCovariance(Z, varies, **self._part_recipe(features))

    @cached_property
    def diagonal(self) -> Array:
        """Return the variances of the features, (n,)."""
        return np.einsum("ij,ij->j", self.Z, self.Z) / self.m

    def gram(self) -> Array:
        """Return ``ZZ' / m`` (m, m), which has the nonzero eigenvalues of A."""
        return self.Z @ self.Z.T / self.m

    @property
    def is_factorised(self) -> bool:
        """Return whether leading eigenpairs come from a factorisation of A, or of ``ZZ'``."""
        return min(self.n, self.m) <= DIRECT_LIMIT

    def _eigenpairs(self, d: int) -> tuple[Array, Array]:
        """Return leading eigenpairs, by ``ZZ'`` where there are few samples."""
        if not (self.m < self.n and self.m <= DIRECT_LIMIT):
            return super()._eigenpairs(d)
        r = min(d, self.m)
        values, left = largest_eigenpairs(self.gram(), r)
        vectors = normalised_columns(self._cross(left))
        padding = d - r
        return np.pad(values, (0, padding)), np.pad(vectors, ((0, 0), (0, padding)))


class SparseCovariance(DataCovariance):
    """Covariance of sparse X with implicit centring: ``Z = (X - 1 mean') * weight`` is never formed whole.

    The mean of a column is at most its standard deviation, so the difference loses no digits.
    """

    def __init__(self, X: Any, mean: Array, weight: Array, varies: NDArray[np.bool_], **recipe: Any) -> None:
        super().__init__(X, varies, **recipe)
        self.mean, self.weight = mean, weight

    @property
    def most_formed(self) -> int:
        """Return the largest n for which the whole of A is formed, from a dense copy of the data."""
        return DENSE_LIMIT

    def scores(self, X: Array) -> Array:
        """Return ``Z @ X``, the samples along components X (n, r), in unit scale."""
        Y = (X.T * self.weight).T
        return self.Z @ Y - self.mean @ Y

    def _selected(self, features: Indices | Sequence[int]) -> Array:
        """Return the columns of Z for some features, (m, p), as a dense array."""
        return (self.Z[:, features].toarray() - self.mean[features]) * self.weight[features]

    def dense_rows(self, which: slice = slice(None)) -> Array:
        """Return some rows of Z, by default all, as a dense array."""
        return (self.Z[which].toarray() - self.mean) * self.weight

    def _cross(self, S: Array) -> Array:
        """Return ``Z'S / m`` for S (m,) or (m, r)."""
        centred = self.Z.T @ S - np.multiply.outer(self.mean, S.sum(axis=0))
        return (centred.T * self.weight).T / self.m

    def restrict(self, features: Indices) -> "SparseCovariance":
        """Return the covariance of the given features alone."""
        X, parts = self.Z[:, features], (self.mean[features], self.weight[features], self.varies[features])
        part = SparseCovariance(X, *parts, **self._part_recipe(features))
        if self._small:  # forming A again from sparse data would take seconds for thousands of words
            part.matrix = self.matrix[np.ix_(features, features)]
        return part

    @cached_property
    def diagonal(self) -> Array:
        """Return the variances of the features, (n,)."""
        return squares(self.Z, self.mean) / self.m * self.weight**2

    def gram(self) -> Array:
        """Return ``ZZ' / m`` (m, m), which has the nonzero eigenvalues of A."""
        return sparse_gram(self.Z, self.mean, self.weight)


def sparse_gram(X: sp.csr_array, mean: Array, weight: Array) -> Array:
    """Return ``ZZ' / m`` (m, m) for ``Z = (X - 1 mean') * weight`` and sparse X (m, n)."""
    X = X.multiply(weight).tocsr()
    shift = mean * weight
    cross = X @ shift
    return ((X @ X.T).toarray() - cross[:, None] - cross[None, :] + shift @ shift) / X.shape[0]


def without_underflow(A: Covariance, values: Array) -> Array:
    """Return values x'Ax at unit scale, with 0 for those below `LEAST`, which underflow has spoilt."""
    return np.where(values < LEAST, 0.0, values) if A.source == "data" else values
