"""Sparse data of many features in memory: both orders of the matrix, and A held in parts.

Rows are what products want, columns what is asked of few features: taking a dozen columns out of rows reads
everything. What solvers and bounds ask of the features that matter is answered from A on them
(`matrix.parts`), as for data that stay on disk.
"""

from functools import cached_property

import numpy as np
import scipy.sparse as sp

from nspca.matrix.covariance import (
    DENSE_LIMIT,
    DIRECT_LIMIT,
    RESIDUAL,
    DataCovariance,
    SparseCovariance,
)
from nspca.matrix.moments import counts
from nspca.matrix.parts import Parts
from nspca.matrix.subspace import BASIS

FEATURES, ROWS = DENSE_LIMIT, DIRECT_LIMIT
"""Above both, A is held in parts: with fewer features it is formed whole, and with fewer rows a pass costs
nothing.
"""
DENSE_SHARE = 1 / 4
"""Columns with more nonzeros than this share of the rows are multiplied as dense ones."""
FEW = 64
"""Up to so many features A on them is formed from their columns written out, in milliseconds, and not held.
"""
WRITTEN_OUT = 2**23
"""Numbers of columns that are written out for more features, once something is held: what is asked of them
then changes at every step.
"""
SECOND_ORDER = 2**31
"""Bytes that the second order of the matrix may take; beyond, columns are taken out of rows."""


class LargeCovariance(Parts, SparseCovariance):
    """`SparseCovariance` that is held in parts."""

    dense_share = DENSE_SHARE
    _small = False

    def __init__(self, X, mean, weight, varies, **recipe):
        super().__init__(X=X, mean=mean, weight=weight, varies=varies, **recipe)
        self._passes = 0

    @property
    def rows(self):
        """Itself, as the data of its parts."""
        return self

    @property
    def passes(self) -> int:
        return self._passes

    @cached_property
    def counts(self):
        """Nonzeros of the columns, (n,)."""
        return counts(self.Z)

    @cached_property
    def _by_columns(self):
        size = self.Z.data.nbytes + self.Z.indices.nbytes
        return sp.csc_array(self.Z) if size <= SECOND_ORDER else self.Z

    def folded(self, join, kernel, *arguments):
        """What a kernel gives for all rows, which are one block."""
        self._passes += 1
        return tuple(kernel(self._by_columns, *arguments))

    def product(self, X):
        self._passes += 1
        return super().product(X)

    def columns(self, features):
        self._passes += 1
        return super().columns(features)

    def _selected(self, features):
        return (self._by_columns[:, features].toarray() - self.mean[features]) * self.weight[features]

    def block(self, features):
        features = np.asarray(features, dtype=np.int64)
        written_out = self._held and features.size * self.m <= WRITTEN_OUT
        if FEW < features.size <= DENSE_LIMIT and not written_out:
            return super().block(features)
        found = self.held(features)
        return DataCovariance.block(self, features) if found is None else found

    def quadratic(self, x):
        support = np.flatnonzero(x)
        B = self.held(support)
        return self.explained(x) if B is None else float(x[support] @ B @ x[support])

    def on(self, features):
        part = super().on(features)
        part.whole = self, features
        return part

    def restrict(self, features):
        features = np.asarray(features, dtype=np.int64)
        recipe = {"center": self.center, "scale": self.scale, "digest": "", "exponent": self.exponent}
        X = sp.csr_array(self._by_columns[:, features])
        parts = self.mean[features], self.weight[features], self.varies[features]
        part = sparse(X, *parts, shape=(self.m, features.size), source="data", **recipe)
        if features.size <= min(DENSE_LIMIT, 2 * self.m) and not isinstance(part, LargeCovariance):
            part.matrix = self.block(features)
        return part

    def _eigenpairs(self, d):
        if min(self.n, self.m) <= DIRECT_LIMIT or 4 * d > BASIS:
            return super()._eigenpairs(d)
        pairs = self.by_subspaces(d)
        return pairs if self.residual <= RESIDUAL / 2 else super()._eigenpairs(d)


def sparse(X, mean, weight, varies, scale, **recipe) -> SparseCovariance:
    """Return the covariance of sparse X, in parts where X is large.

    Not where features are scaled: then rare ones matter as much as others, and there are no features that
    matter.
    """
    large = X.shape[1] > FEATURES and X.shape[0] > ROWS and not scale
    return (LargeCovariance if large else SparseCovariance)(X, mean, weight, varies, scale=scale, **recipe)
