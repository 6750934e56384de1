"""A covariance plus a low-rank change and a shift, ``A + LCL' + sI``, never formed when n is large.

`nspca.components` searches for the next component on such a matrix: A deflated, or with a penalty.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import scipy.linalg

from nspca.covariance.covariance import Covariance
from nspca.covariance.linalg import Array, Indices, oriented

NOTHING = 1e-12
"""Share of the trace of A below which an eigenvalue or trace of the changed matrix counts as 0."""


class Changed(Covariance):
    """``A + LCL' + sI`` for a covariance A, L (n, p), symmetric C (p, p) and a number s, in unit scale.

    The digest is empty, because certificates are about the data as given and not about a changed matrix.
    """

    A: Covariance
    L: Array
    C: Array
    shift: float

    def __init__(self, A: Covariance, L: Array, C: Array, shift: float = 0.0) -> None:
        if isinstance(A, Changed):
            L, C, shift, A = np.hstack([A.L, L]), scipy.linalg.block_diag(A.C, C), A.shift + shift, A.A
        super().__init__(A.n, A.shape, A.source, A.center, A.scale, "", A.exponent)
        self.A, self.L, self.C, self.shift = A, L, C, float(shift)

    def product(self, X: Array) -> Array:
        return self.A.product(X) + self.L @ (self.C @ (self.L.T @ X)) + self.shift * X

    def columns(self, features: Indices | Sequence[int]) -> Array:
        features = np.asarray(features, dtype=int)
        out = self.A.columns(features) + self.L @ (self.C @ self.L[features].T)
        out[features, np.arange(features.size)] += self.shift
        return out

    def block(self, features: Indices) -> Array:
        part = self.L[features]
        return self.A.block(features) + part @ self.C @ part.T + self.shift * np.eye(len(part))

    def quadratic(self, x: Array) -> float:
        return self._with_change(x, self.A.quadratic(x))

    def explained(self, x: Array) -> float:
        return self._with_change(x, self.A.explained(x))

    def _with_change(self, x: Array, value: float) -> float:
        inner = self.L.T @ x
        return value + float(inner @ self.C @ inner) + self.shift * float(x @ x)

    def restrict(self, features: Indices) -> "Changed":
        return Changed(self.A.restrict(features), self.L[features], self.C, self.shift)

    @cached_property
    def diagonal(self) -> Array:
        """Return the diagonal (n,) of the changed matrix, 0 where it is rounding."""
        changed = self.A.diagonal + np.einsum("ip,pq,iq->i", self.L, self.C, self.L) + self.shift
        return np.where(np.abs(changed) <= NOTHING * self.A.trace, 0.0, changed)

    def _formed(self) -> Array:
        return self.block(np.arange(self.n))

    def _eigenpairs(self, d: int) -> tuple[Array, Array]:
        """Return leading eigenpairs; zeros where hardly anything is left of A."""
        if self.trace <= NOTHING * self.A.trace:
            return np.zeros(d), np.zeros((self.n, d))
        return super()._eigenpairs(d)

    def _without_rounding(self, values: Array, vectors: Array) -> tuple[Array, Array]:
        zero = values <= NOTHING * self.A.trace
        return np.where(zero, 0.0, values), np.where(zero, 0.0, oriented(vectors))

    def _residuals(self, values: Array, vectors: Array) -> Array:
        """Return zeros (d,): the changed matrix can be rounding of A. Solvers only start from the pairs."""
        return np.zeros(values.size)


def repelled(A: Covariance, V: Array, weight: float) -> Changed:
    """Return ``A - weight VV'`` for directions V (n, r), shifted to be positive semidefinite."""
    shift = weight * float(np.linalg.norm(V, 2)) ** 2
    return Changed(A, V, -weight * np.eye(V.shape[1]), shift=shift)
