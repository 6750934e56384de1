"""Covariance of sparse data with many features in memory: the matrix in both orders, and A held in parts.

Products need the matrix by rows, and single features need it by columns: taking a dozen columns out of rows
reads everything. Solvers and bounds mostly use few features, and A on them is held
(`nspca.covariance.parts`), as for data that stay on disk.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nspca.covariance.covariance import DENSE_LIMIT, DIRECT_LIMIT, RESIDUAL, MatrixCovariance
from nspca.covariance.data import DataCovariance, SparseCovariance
from nspca.covariance.linalg import Array, Indices
from nspca.covariance.moments import counts
from nspca.covariance.parts import Parts
from nspca.covariance.subspace import BASIS
from nspca.covariance.tree import Join, Part

FEATURES, ROWS = DENSE_LIMIT, DIRECT_LIMIT
"""Numbers of features and rows above which A is held in parts.

With fewer features A is formed whole, and with fewer rows a pass costs nothing.
"""
DENSE_SHARE = 1 / 4
"""Columns with more nonzeros than this share of the rows are multiplied as dense ones."""
FEW = 64
"""Largest number of features for which A is formed from dense columns, in milliseconds, and not stored."""
WRITTEN_OUT = 2**23
"""Largest number of dense entries of columns from which A is formed for more features, once a block is held.

The features of the requests then change at every step, so such an A is not stored.
"""
SECOND_ORDER = 2**31
"""Maximum bytes of the matrix in column order; beyond, columns are taken out of rows."""


class LargeCovariance(Parts, SparseCovariance):
    """`SparseCovariance` whose matrix is held in parts."""

    dense_share = DENSE_SHARE
    _small = False

    def __init__(self, X: Any, mean: Array, weight: Array, varies: NDArray[np.bool_], **recipe: Any) -> None:
        super().__init__(X=X, mean=mean, weight=weight, varies=varies, **recipe)
        self._passes = 0

    @property
    def rows(self) -> "LargeCovariance":
        """Return this object, which is also the data of its parts."""
        return self

    @property
    def passes(self) -> int:
        """Return how often all rows were read."""
        return self._passes

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """Return the number of nonzeros of each column, (n,)."""
        return counts(self.Z)

    @cached_property
    def _by_columns(self) -> Any:
        """Return the matrix in column order, or as it is where a second copy is too large."""
        size = self.Z.data.nbytes + self.Z.indices.nbytes
        return sp.csc_array(self.Z) if size <= SECOND_ORDER else self.Z

    def folded(self, join: Join, kernel: Callable[..., Iterable[Array]], *arguments: Any) -> Part:
        """Return ``kernel(rows, *arguments)`` for all rows, which form one block."""
        self._passes += 1
        return tuple(kernel(self._by_columns, *arguments))

    def product(self, X: Array) -> Array:
        """Return ``A @ X``, in one pass."""
        self._passes += 1
        return super().product(X)

    def columns(self, features: Indices | Sequence[int]) -> Array:
        """Return ``A[:, features]``, in one pass."""
        self._passes += 1
        return super().columns(features)

    def _selected(self, features: Indices | Sequence[int]) -> Array:
        """Return the columns of Z for some features, (m, p), as a dense array."""
        return (self._by_columns[:, features].toarray() - self.mean[features]) * self.weight[features]

    def block(self, features: Indices) -> Array:
        """Return ``A[features][:, features]``: stored, from dense columns, or in one pass."""
        features = np.asarray(features, dtype=np.int64)
        written_out = self._held and features.size * self.m <= WRITTEN_OUT
        if FEW < features.size <= DENSE_LIMIT and not written_out:
            return super().block(features)
        found = self.held(features)
        return DataCovariance.block(self, features) if found is None else found

    def quadratic(self, x: Array) -> float:
        """Return ``x'Ax``, from a stored block if one has the support."""
        support = np.flatnonzero(x)
        B = self.held(support)
        return self.explained(x) if B is None else float(x[support] @ B @ x[support])

    def on(self, features: Indices) -> MatrixCovariance:
        """Return A on some features, n x n, which remembers the whole matrix for starting points."""
        part = super().on(features)
        part.whole = self, features
        return part

    def restrict(self, features: Indices) -> SparseCovariance:
        """Return the covariance of the given features alone."""
        features = np.asarray(features, dtype=np.int64)
        X = sp.csr_array(self._by_columns[:, features])
        parts = self.mean[features], self.weight[features], self.varies[features]
        part = sparse(X, *parts, **self._part_recipe(features))
        if features.size <= min(DENSE_LIMIT, 2 * self.m) and not isinstance(part, LargeCovariance):
            part.matrix = self.block(features)
        return part

    def _eigenpairs(self, d: int) -> tuple[Array, Array]:
        """Return leading eigenpairs, by few products with several vectors where A is large."""
        if self.is_factorised or 4 * d > BASIS:
            return super()._eigenpairs(d)
        pairs = self.by_subspaces(d)
        return pairs if self.residual <= RESIDUAL / 2 else super()._eigenpairs(d)


def sparse(
    X: Any, mean: Array, weight: Array, varies: NDArray[np.bool_], scale: bool, **recipe: Any
) -> SparseCovariance:
    """Return the covariance of sparse X, in parts where X is large.

    Scaled features are never held in parts: rare features then have the variance of all others, so no small
    set of features suffices.
    """
    large = X.shape[1] > FEATURES and X.shape[0] > ROWS and not scale
    return (LargeCovariance if large else SparseCovariance)(X, mean, weight, varies, scale=scale, **recipe)
