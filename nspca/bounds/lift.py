"""The block behind B6: U chosen against the exact answers themselves, not against a relaxation of them.

For a d-dimensional subspace with orthonormal basis B, U U' = B Q B' and tau, the search half of the bound is the maximum over
feasible x of  b'Qb + tau s,  b = B'x, s = (sum |x_i|)^2. With the maximum taken over finitely many feasible points x_j (the
*bundle*), minimising  lambda_max(A - W - BQB') + max_j (b_j'Q b_j + tau s_j)  over W, Q and tau is the dual of

    max <A, X>,  X psd, tr X = 1, X >= 0,  B'XB <= sum_j w_j b_j b_j',  <J, X> <= sum_j w_j s_j,  w in the simplex:

the relaxation whose shadow on the subspace is that of true answers. Points found above the maximum join the bundle (cutting
planes); whatever Q comes out, the bound is proved afterwards by the search over the sphere, so nothing here needs to be exact.
"""

import numpy as np

from nspca.linalg import Array, rank1_columns

QP_STEPS = 30
"""Accelerated gradient steps for the weights of the bundle; they start from the last weights."""
CLIMB_STEPS = 12
"""Ascent steps from each random direction: most have stopped by then."""
CLIMBS = 32
"""Random directions tried for each look at the bundle."""


class Lift:
    """Block of a `Splitting`: the shadow of X on a subspace.

    Attributes
    ----------
    B : (r, d) orthonormal
    points : (r, p) feasible vectors of the bundle, `share` (p,) their weights w
    """

    def __init__(self, splitting, B: Array, points: Array, k: int, nonneg: bool, weight: float = 1.0, seed: int = 0):
        self.of, self.k, self.nonneg, self.weight = splitting, k, nonneg, weight
        self.rng = np.random.default_rng(seed)
        self.points, self.share = points, np.full(points.shape[1], 1 / points.shape[1])
        d = B.shape[1]
        self.S, self.dual = np.zeros((d, d)), np.zeros((d, d))
        self._base(B)
        splitting.blocks.append(self)

    # --- block of the splitting -----------------------------------------------------------------------------------
    def pull(self, G):
        shadow = self.B.T @ self.of.X @ self.B
        G += self.B @ (self.weight * (shadow - self.S + self.dual)) @ self.B.T

    def update(self, relaxation):
        F = self.B.T @ self.of.vectors
        T = relaxation * ((F * self.of.weights) @ F.T) + (1 - relaxation) * self.S + self.dual
        self._weigh(T)
        self.dual = positive_part(T - self._hull(self.share))
        self.S = T - self.dual
        self.of.entries.size = float(self.sizes @ self.share)

    def scale(self, factor):
        self.dual = self.dual * factor

    # --- what it says -----------------------------------------------------------------------------------------------
    @property
    def Q(self) -> Array:
        return self.of.rho * self.weight * self.dual

    @property
    def U(self) -> Array:
        """``UU' = BQB'``."""
        values, vectors = np.linalg.eigh(self.Q)
        U = self.B @ (vectors * np.sqrt(np.maximum(values, 0.0)))
        return np.ascontiguousarray(U[:, U.any(axis=0)])

    def value(self, U: Array | None = None) -> float:
        """Largest value of the bundle, for its own U or another: the search half would be that if it held every maximiser."""
        U = self.U if U is None else U
        return float((np.square(U.T @ self.points).sum(axis=0) + self.of.entries.tau * self.sizes).max())

    # --- bundle and subspace ----------------------------------------------------------------------------------------
    def grow(self, directions: Array | None = None) -> None:
        """Climb from random directions (or the given ones (D, c)) and take in every point above the bundle."""
        U, root = self.U, np.sqrt(self.of.entries.tau)
        C = self.rng.standard_normal((U.shape[1] + 1, CLIMBS)) if directions is None else directions
        X, values = climb(U, root, self.k, self.nonneg, C)
        self._add(X[:, values > self.value() * (1 + 1e-6)])

    def _add(self, X):
        if X.shape[1] == 0:
            return
        different = np.unique(X.round(9), axis=1, return_index=True)[1]
        kept = self.share > 1e-7
        share = self.share[kept] / self.share[kept].sum()
        self.points = np.column_stack((self.points[:, kept], X[:, different]))
        self.share = np.append(share, np.zeros(different.size))
        self._base(self.B)

    def rebase(self, B: Array) -> None:
        """Go on with another subspace, keeping what of Q lies in it."""
        H = self.B.T @ B
        self.dual, self.S = H.T @ self.dual @ H, H.T @ self.S @ H
        self._base(B)

    def widen(self, B: Array) -> None:
        """Add directions of `B` to the subspace until it has as many as B; Q is zero on them."""
        wide = np.linalg.qr(np.column_stack((self.B, B)))[0][:, : B.shape[1]]
        self.rebase(wide)
        self.S = wide.T @ self.of.X @ wide

    def _base(self, B):
        self.B, self.shadows = B, B.T @ self.points
        self.sizes = np.abs(self.points).sum(axis=0) ** 2

    # --- weights of the bundle ----------------------------------------------------------------------------------------
    def _hull(self, share):
        return (self.shadows * share) @ self.shadows.T

    def _weigh(self, T):
        """Minimise over the simplex ``sigma/2 |(T - sum_j w_j b_j b_j')+|^2 - tau sum_j w_j s_j`` (accelerated gradient)."""
        sigma, price = self.of.rho * self.weight, self.of.entries.tau * self.sizes
        steepness = sigma * float(np.linalg.norm((self.shadows.T @ self.shadows) ** 2, 2)) + 1e-300
        w = ahead = self.share
        momentum = 1.0
        for _ in range(QP_STEPS):
            R = positive_part(T - self._hull(ahead))
            gradient = -sigma * np.einsum("ij,ij->j", self.shadows, R @ self.shadows) - price
            new = onto_simplex(ahead - gradient / steepness)
            following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
            ahead = new + (momentum - 1) / following * (new - w)
            w, momentum = new, following
        self.share = w


def climb(U: Array, root: float, k: int, nonneg: bool, C: Array) -> tuple[Array, Array]:
    """Feasible points (r, c) reached from directions C (d + 1, c) and their values ``|U'x|^2 + (root sum |x_i|)^2``."""
    d = U.shape[1]
    for _ in range(CLIMB_STEPS):
        linear, flat = U @ C[:d], root * np.abs(C[d])
        P = np.maximum(linear + flat, 0.0) if nonneg else np.abs(linear) + flat
        X = unit_columns(rank1_columns(P, k))
        X = X if nonneg else np.copysign(X, linear)
        C = np.vstack((U.T @ X, root * np.abs(X).sum(axis=0)))
        lengths = np.linalg.norm(C, axis=0)
        C = C / np.where(lengths > 0, lengths, 1.0)
    return X, lengths**2


def unit_columns(X: Array) -> Array:
    """X with its zero columns replaced by the first unit vector."""
    X[0, ~X.any(axis=0)] = 1.0
    return X


def onto_simplex(v: Array) -> Array:
    """Projection of v (p,) onto the simplex."""
    ordered = np.sort(v)[::-1]
    shifts = (np.cumsum(ordered) - 1) / np.arange(1, v.size + 1)
    return np.maximum(v - shifts[np.flatnonzero(ordered > shifts)[-1]], 0.0)


def positive_part(S: Array) -> Array:
    """Projection of symmetric S onto the psd matrices."""
    values, vectors = np.linalg.eigh(S)
    return (vectors * np.maximum(values, 0.0)) @ vectors.T
