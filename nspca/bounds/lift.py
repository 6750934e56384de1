"""The block behind B6 and B9: U and M chosen against the exact answers themselves, not against a relaxation of them.

For a d-dimensional subspace with orthonormal basis B, U U' = B Q B', and tau, M with heights h, the search half of the bound is the
maximum over feasible x of support I of  b'Qb + tau s + sum_I h_i,  b = B'x, s = (sum |x_i|)^2. With the maximum taken over finitely
many feasible points x_j of support I_j (the *bundle*), the bound, minimised over W, M, Q and tau, is the dual of

    max <A, X>,  X psd, tr X = 1, X >= 0,   B'XB <= sum_j w_j b_j b_j',   <J, X> <= sum_j w_j s_j,
    sum_l X_il^2 <= X_ii z_i,  z = sum_j w_j 1(I_j),   w in the simplex:

the relaxation whose shadow on the subspace, and whose support, are those of true answers. Points found above the maximum join the
bundle (cutting planes). Whatever comes out, the bound is proved afterwards by the search over the sphere, so nothing here needs to be
exact; but w is one for all three, so lift, row cuts and the entries of X are projected onto together:

    sigma/2 |(T - sum_j w_j b_j b_j')+|^2 + rho' sum_i phi_i(z_i) + psi(sum_j w_j s_j)

is minimised over w by Newton steps, each with an exact quadratic program: the curvature of phi (`rowcuts`) is thousands of times
larger at a small z than at z = 1, and plain gradient steps stop where the bound is a per cent worse. psi, what the entries cost, has
slope -tau and curvature rho over the number of entries at work; with its slope alone the steps can run away when k is near n/2.
"""

import numpy as np

from nspca.bounds.inequality import heights
from nspca.bounds.rowcuts import Cuts
from nspca.bounds.weights import simplex_program
from nspca.linalg import Array

CLIMB_STEPS = 12
"""Ascent steps from each random direction: most have stopped by then."""
CLIMBS = 32
"""Random directions tried for each look at the bundle."""
CUT = 0.1
"""Weight of the row cuts against one of the lift; larger overshoots when they begin, smaller is slower."""
WAIT = 40
"""Steps of the lift alone: a feature outside the bundle has z = 0 and a huge row of M, so the bundle comes first."""
NEWTON_STEPS, GAP = 8, 1e-6
"""Newton steps at most for the weights, and the gap (relative to rho) at which they stop."""
NEAR, ROOM, AGE = 1e-3, 40, 6
"""Climbs this near the top join a bundle of fewer points than that; a point without weight stays for so many looks."""


class Lift:
    """Block of a `Splitting`: the shadow of X on a subspace, and the row cuts as a second block.

    Attributes
    ----------
    B : (r, d) orthonormal
    points : (r, p) feasible vectors of the bundle, `share` (p,) their weights w
    supports : (r, p) of zeros and ones; the first `forced` rows are in all of them
    M : (r, r), None until the row cuts begin
    """

    def __init__(self, splitting, B: Array, points: Array, k: int, nonneg: bool, forced: int = 0, wait: int = WAIT):
        self.of, self.k, self.nonneg, self.forced, self.wait = splitting, k, nonneg, forced, wait
        self.weight, self.cuts, self.rng = 1.0, Cuts(splitting, nonneg), np.random.default_rng(0)
        self.supports = supports_of(points**2, k, forced)
        self.points, self.share = restricted(points, self.supports), np.full(points.shape[1], 1 / points.shape[1])
        self.idle = np.zeros(points.shape[1])
        d = B.shape[1]
        self.S, self.dual = np.zeros((d, d)), np.zeros((d, d))
        self._base(B)
        splitting.blocks.append(self)

    def resume(self, U: Array, X: Array, M: Array | None = None) -> None:
        """Start from the U and X, perhaps the M, of a related problem; with M the cuts begin at once."""
        shadow = self.B.T @ U
        self.dual, self.S = shadow @ shadow.T / (self.of.rho * self.weight), self.B.T @ X @ self.B
        if M is not None:
            self.wait = 0
            self.cuts.begin(CUT, X, M)

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
        self.of.entries.allow(float(self.sizes @ self.share))
        if self.cuts.weight:
            self.cuts.settle(self.z)
        self.wait -= 1
        if self.wait == 0:
            self.cuts.begin(CUT, self.of.X)

    # --- what it says -----------------------------------------------------------------------------------------------
    @property
    def z(self) -> Array:
        """What the bundle thinks of each row: 1 in the support, 0 outside."""
        return self.supports @ self.share

    @property
    def M(self) -> Array | None:
        return self.cuts.M if self.cuts.weight else None

    @property
    def Q(self) -> Array:
        return self.of.rho * self.weight * self.dual

    @property
    def U(self) -> Array:
        """``UU' = BQB'``."""
        values, vectors = np.linalg.eigh(self.Q)
        U = self.B @ (vectors * np.sqrt(np.maximum(values, 0.0)))
        return np.ascontiguousarray(U[:, U.any(axis=0)])

    def value(self, U: Array | None = None, h: Array | None = None) -> float:
        """Largest value of the bundle, for its own U or another: the search half would be that if it held every maximiser."""
        U = self.U if U is None else U
        h = self._heights() if h is None else h
        return float((np.square(U.T @ self.points).sum(axis=0) + self.of.entries.tau * self.sizes + h @ self.supports).max())

    def _heights(self):
        return np.zeros(self.of.n) if self.M is None else heights(self.M, self.k, self.nonneg)

    # --- bundle and subspace ----------------------------------------------------------------------------------------
    def grow(self, directions: Array | None = None) -> None:
        """Climb from random directions (or the given ones (D, c)); take in what is above the bundle, or near the top while it is small.

        What has long had no weight is dropped.
        """
        U, root, h = self.U, np.sqrt(self.of.entries.tau), self._heights()
        C = self.rng.standard_normal((U.shape[1] + 1, CLIMBS)) if directions is None else directions
        X, S, values = climb(U, root, self.k, self.nonneg, C, h, self.forced)
        bundle = self.value(U, h)
        taken = (values > bundle * (1 + 1e-6)) | (self.share.size < ROOM)
        taken &= values > max(bundle, float(values.max())) * (1 - NEAR)
        self.idle = np.where(self.share > 1e-7, 0, self.idle + 1)
        kept = self.idle <= AGE
        m = int(kept.sum())
        points, supports = np.column_stack((self.points[:, kept], X[:, taken])), np.column_stack((self.supports[:, kept], S[:, taken]))
        first = np.unique(np.vstack((points.round(7), supports)), axis=1, return_index=True)[1]
        order = np.append(np.arange(m), first[first >= m])
        self.points, self.supports = np.ascontiguousarray(points[:, order]), np.ascontiguousarray(supports[:, order])
        none = np.zeros(order.size - m)
        self.share, self.idle = np.append(self.share[kept] / self.share[kept].sum(), none), np.append(self.idle[kept], none)
        self._base(self.B)

    def rebase(self, B: Array) -> None:
        """Go on with another subspace, keeping what of Q lies in it."""
        H = self.B.T @ B
        self.dual, self.S = H.T @ self.dual @ H, H.T @ self.S @ H
        self._base(B)

    def _base(self, B):
        self.B, self.shadows = B, B.T @ self.points
        self.sizes = np.abs(self.points).sum(axis=0) ** 2
        self.products = (self.shadows.T @ self.shadows) ** 2

    # --- weights of the bundle ----------------------------------------------------------------------------------------
    def _hull(self, share):
        return (self.shadows * share) @ self.shadows.T

    def _weigh(self, T):
        """The weights of the joint projection: Newton steps, halved until they descend."""
        S, s, w, entries = self.supports, self.sizes, self.share, self.of.entries
        sigma, cut, bend = self.of.rho * self.weight, self.of.rho * self.cuts.weight, self.of.rho / entries.above

        def value(w):
            far, beyond = self.cuts.distances(S @ w)[2] if cut else np.zeros(1), s @ w - entries.size
            psi = beyond * (bend / 2 * beyond - entries.tau)
            return sigma / 2 * np.sum(positive_part(T - self._hull(w)) ** 2) + cut / 2 * (far @ far) + psi

        before = value(w)
        for _ in range(NEWTON_STEPS):
            R = positive_part(T - self._hull(w))
            gradient, H = -sigma * np.einsum("ij,ij->j", self.shadows, R @ self.shadows), sigma * self.products
            gradient, H = gradient + (bend * (s @ w - entries.size) - entries.tau) * s, H + bend * np.outer(s, s)
            if cut:
                h, curvature = self.cuts.slopes(S @ w)
                gradient, H = gradient - cut * (h @ S), H + cut * (S.T @ (curvature[:, None] * S))
            if gradient @ w - gradient.min() < GAP * self.of.rho:
                break
            step, size = simplex_program(H, gradient - H @ w, w) - w, 1.0
            fall = float(gradient @ step)
            while fall < 0 and size > 1e-4 and (after := value(w + size * step)) > before + 1e-4 * size * fall:
                size /= 2
            if fall >= 0 or size <= 1e-4:
                break
            w, before = np.maximum(w + size * step, 0.0), after
        w = np.where(w > 1e-10, w, 0.0)
        self.share = w / w.sum()


def climb(U: Array, root: float, k: int, nonneg: bool, C: Array, h: Array, forced: int = 0) -> tuple[Array, Array, Array]:
    """Where directions C (d + 1, c) lead: points (r, c), their supports, and ``|U'x|^2 + (root sum |x_i|)^2 + sum of h over the support``.

    The first `forced` rows belong to every support, whether they are used or not.
    """
    d = U.shape[1]
    for _ in range(CLIMB_STEPS):
        linear, flat = U @ C[:d], root * np.abs(C[d])
        P = np.maximum(linear + flat, 0.0) if nonneg else np.abs(linear) + flat
        S = supports_of(P * P + h[:, None], k, forced)
        X = restricted(P if nonneg else np.copysign(P, linear), S)
        C = np.vstack((U.T @ X, root * np.abs(X).sum(axis=0)))
        lengths = np.linalg.norm(C, axis=0)
        C = C / np.where(lengths > 0, lengths, 1.0)
    return X, S, lengths**2 + h @ S


def supports_of(terms: Array, k: int, forced: int = 0) -> Array:
    """Zeros and ones (r, c): the k largest terms of each column, the first `forced` always."""
    terms = terms.copy()
    terms[:forced] = np.inf
    S = np.zeros_like(terms)
    np.put_along_axis(S, np.argpartition(-terms, min(k, len(terms)) - 1, axis=0)[:k], 1.0, axis=0)
    return S


def restricted(X: Array, S: Array) -> Array:
    """The columns of X on their supports, of unit length; a zero column becomes the first unit vector of its support."""
    X = X * S
    zero = ~X.any(axis=0)
    X[S[:, zero].argmax(axis=0), zero] = 1.0
    return X / np.linalg.norm(X, axis=0)


def positive_part(S: Array) -> Array:
    """Projection of symmetric S onto the psd matrices."""
    values, vectors = np.linalg.eigh(S)
    return (vectors * np.maximum(values, 0.0)) @ vectors.T
