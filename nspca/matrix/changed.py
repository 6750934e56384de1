"""A covariance changed by few directions and a shift: ``A + LCL' + sI``, never formed when n is large."""

from functools import cached_property

import numpy as np
import scipy.linalg

from nspca.matrix.covariance import Covariance
from nspca.matrix.linalg import Array, oriented

NOTHING = 1e-12
"""What is left of an eigenvalue or of the trace below this share of the old trace is rounding, and is 0."""


class Changed(Covariance):
    """``A + LCL' + sI`` for a covariance A, directions L (n, p), symmetric C (p, p) and a number s; in A's
    unit scale.

    It has no digest: a certificate speaks of the data as given, not of what is left of them.
    """

    A: Covariance
    L: Array
    C: Array
    shift: float

    def __init__(self, A: Covariance, L: Array, C: Array, shift: float = 0.0):
        if isinstance(A, Changed):
            L, C, shift, A = np.hstack([A.L, L]), scipy.linalg.block_diag(A.C, C), A.shift + shift, A.A
        super().__init__(A.n, A.shape, A.source, A.center, A.scale, "", A.exponent)
        self.A, self.L, self.C, self.shift = A, L, C, float(shift)

    def product(self, X):
        return self.A.product(X) + self.L @ (self.C @ (self.L.T @ X)) + self.shift * X

    def columns(self, features):
        features = np.asarray(features, dtype=int)
        out = self.A.columns(features) + self.L @ (self.C @ self.L[features].T)
        out[features, np.arange(features.size)] += self.shift
        return out

    def block(self, features):
        part = self.L[features]
        return self.A.block(features) + part @ self.C @ part.T + self.shift * np.eye(len(part))

    def quadratic(self, x):
        return self._with_change(x, self.A.quadratic(x))

    def explained(self, x):
        return self._with_change(x, self.A.explained(x))

    def _with_change(self, x, value):
        inner = self.L.T @ x
        return value + float(inner @ self.C @ inner) + self.shift * float(x @ x)

    def restrict(self, features):
        return Changed(self.A.restrict(features), self.L[features], self.C, self.shift)

    @cached_property
    def diagonal(self):
        changed = self.A.diagonal + np.einsum("ip,pq,iq->i", self.L, self.C, self.L) + self.shift
        return np.where(np.abs(changed) <= NOTHING * self.A.trace, 0.0, changed)

    def _formed(self):
        return self.block(np.arange(self.n))

    def _eigenpairs(self, d):
        if self.trace <= NOTHING * self.A.trace:
            return np.zeros(d), np.zeros((self.n, d))
        return super()._eigenpairs(d)

    def _checked(self, values, vectors):
        # What is left can be rounding of what was there, so accuracy is relative to that; solvers only start
        # from these.
        zero = values <= NOTHING * self.A.trace
        return np.where(zero, 0.0, values), np.where(zero, 0.0, oriented(vectors))
