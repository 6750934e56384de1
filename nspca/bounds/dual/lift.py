"""The block behind B6 and B9: U and M chosen against the exact answers, not against a relaxation of them.

For a d-dimensional subspace with orthonormal basis B, U U' = B Q B', and tau, M with heights h, the search
half of the bound is the maximum over feasible x of support I of  b'Qb + tau s + sum_I h_i,  b = B'x,
s = (sum |x_i|)^2. With the maximum taken over finitely many feasible points x_j of support I_j (the
*bundle*), the bound, minimised over W, M, Q and tau, is the dual of

    max <A, X>,  X psd, tr X = 1, X >= 0,   B'XB <= sum_j w_j b_j b_j',   <J, X> <= sum_j w_j s_j,
    sum_l X_il^2 <= X_ii z_i,  z = sum_j w_j 1(I_j),   w in the simplex:

the relaxation whose shadow on the subspace, and whose support, are those of true answers. Points found above
the maximum join the bundle (cutting planes). Whatever comes out, the bound is proved afterwards by the search
over the sphere, so nothing here needs to be exact; but w is one for all three, so lift, row cuts and the
entries of X are projected onto together:

    sigma/2 |(T - sum_j w_j b_j b_j')+|^2 + rho' sum_i phi_i(z_i) + psi(sum_j w_j s_j)

is minimised over w by Newton steps, each with an exact quadratic program: the curvature of phi (`rowcuts`) is
thousands of times larger at a small z than at z = 1, and plain gradient steps stop where the bound is a per
cent worse. psi, what the entries cost, has slope -tau and curvature rho over the number of entries at work;
with its slope alone the steps can run away when k is near n/2.

Several disjoint components share one lift: the weights of the points of one size sum to the number of
components of that size, and no feature is used twice, `z <= 1`, whose multipliers are the `prices`.
"""

import numpy as np

from nspca.bounds.dual.bundle import CLIMBS, Bundle, Sought, climb
from nspca.bounds.dual.entries import EntriesAim
from nspca.bounds.dual.prices import Prices
from nspca.bounds.dual.rowcuts import WAIT, Cuts, CutsAim
from nspca.bounds.dual.splitting import Splitting
from nspca.bounds.dual.weights import descend
from nspca.bounds.inequality import heights
from nspca.covariance.linalg import Array

GAP = 1e-6
"""Distance from the best weights (relative to rho) at which they are good enough."""


class Mean:
    """Sums of W, M, Q and prices over some steps.

    The bound is convex in all of them together, so that of their mean is at most the mean of theirs: steps
    that swing about the best one cancel, and the last bits of the data matter less.
    """

    def __init__(self, lift: "Lift"):
        n, d = lift.B.shape
        self.W, self.Q, self.count = np.zeros((n, n), lift.splitting.precision), np.zeros((d, d)), 0
        self.M: np.ndarray | None = None
        self.prices = np.zeros(0 if lift.prices is None else n)

    def add(self, lift: "Lift") -> None:
        entries, cuts = lift.splitting.entries, lift.cuts
        self.W += entries.T
        self.W -= entries.Y
        if cuts.weight:
            self.M = np.zeros_like(self.W) if self.M is None else self.M
            self.M += cuts.T
            self.M -= cuts.Z
        self.Q += lift.Q
        self.prices += 0.0 if lift.prices is None else lift.prices.values
        self.count += 1


def add_lift(splitting: Splitting, B: Array, points: Array, wait: int = WAIT) -> "Lift":
    """Give a splitting its two other blocks: the lift, and its row cuts, which count after `wait` steps.

    The one place where the blocks are put together; the order in which they work is that of `Splitting.step`.
    """
    cuts = Cuts(splitting.n, splitting.nonneg, splitting.rho, wait, splitting.precision)
    group = np.zeros(points.shape[1], dtype=int)
    splitting.lift = lift = Lift(splitting, B, points, group, cuts, ((splitting.k, 1),))
    return lift


def add_packing(
    splitting: Splitting, B: Array, points: list[Array], counts: tuple[tuple[int, int], ...], wait: int = WAIT
) -> "Lift":
    """Add a lift for several components to a splitting, and return it.

    Parameters
    ----------
    counts : sizes of components, each with the number of components that have it
    points : (r, p) first points of the bundle for each size
    """
    cuts = Cuts(splitting.n, splitting.nonneg, splitting.rho, wait, splitting.precision)
    group = np.repeat(np.arange(len(counts)), [part.shape[1] for part in points])
    prices = Prices(splitting.n)
    splitting.lift = lift = Lift(splitting, B, np.hstack(points), group, cuts, counts, prices)
    return lift


class Lift(Bundle):
    """Block of a `Splitting`: the shadow of X on a subspace. The weights of its points are those of the other
    blocks too.

    Attributes
    ----------
    B : (r, d) orthonormal
    shadow : (d, d) what this block makes of ``B'XB``; `coordinates` (d, p) are those of the points
    cuts : the block whose z they choose
    prices : of features that several components want; None for one
    """

    weight = 1.0

    def __init__(
        self,
        splitting: Splitting,
        B: Array,
        points: Array,
        group: np.ndarray,
        cuts: Cuts,
        counts: tuple[tuple[int, int], ...],
        prices: Prices | None = None,
    ):
        self.k, self.nonneg = max(size for size, _ in counts), splitting.nonneg
        super().__init__(
            points, group, counts, Sought(self.k, self.nonneg, splitting.kept.fixed, prices is not None)
        )
        self.splitting, self.cuts, self.prices = splitting, cuts, prices
        self.rng = np.random.default_rng(0)
        self.recent: Mean | None = None
        d = B.shape[1]
        self.shadow, self.dual = np.zeros((d, d)), np.zeros((d, d))
        self._base(B)

    def resume(self, U: Array, X: Array) -> None:
        """Start from the U and X of a related problem."""
        part = self.B.T @ U
        self.dual, self.shadow = part @ part.T / (self.splitting.rho * self.weight), self.B.T @ X @ self.B

    # --- block of the splitting -----------------------------------------------------------------------------
    def pull(self, X, G):
        B = self.B.astype(X.dtype)
        shadow = B.T @ X @ B
        G += (B @ (self.weight * (shadow - self.shadow + self.dual)).astype(X.dtype)) @ B.T

    def aim(self, weights: Array, vectors: Array, relaxation: float) -> Array:
        """The point (d, d) to project, from the eigenpairs of X."""
        F = (self.B.astype(vectors.dtype).T @ vectors).astype(np.float64)
        return relaxation * ((F * weights) @ F.T) + (1 - relaxation) * self.shadow + self.dual

    def settle(self, T: Array, share: Array) -> None:
        """Project with these weights of the bundle."""
        self.share = share
        if self.prices is not None:
            self.prices.settle(self.z)
        self.dual = positive_part(T - self._hull(share))
        self.shadow = T - self.dual

    # --- what it says ---------------------------------------------------------------------------------------
    @property
    def Q(self) -> Array:
        return self.splitting.rho * self.weight * self.dual

    @property
    def U(self) -> Array:
        """``UU' = BQB'``."""
        return self._root(self.Q)

    def _root(self, Q):
        values, vectors = np.linalg.eigh(Q)
        U = self.B @ (vectors * np.sqrt(np.maximum(values, 0.0)))
        return np.ascontiguousarray(U[:, U.any(axis=0)])

    def remember(self, afresh: bool) -> None:
        """Count this step among those that `averaged` is of; `afresh`: as the first of them."""
        if afresh or self.recent is None:
            self.recent = Mean(self)
        self.recent.add(self)

    def averaged(self) -> tuple[Array, Array | None, Array, Array]:
        """W, M, U and prices of the mean of the last steps, in the basis as it was then."""
        if self.recent is None:
            self.remember(afresh=True)
        mean = self.recent
        assert mean is not None
        rho, count = self.splitting.rho, mean.count
        M = None if mean.M is None else mean.M.astype(np.float64) * (rho * self.cuts.weight / count)
        W = mean.W.astype(np.float64)
        W = (W + W.T) * (rho / 2 / count)
        return W, M, self._root(mean.Q / count), mean.prices / count

    def heights(self) -> Array:
        """Return what each feature adds to the value of a support: its row cut, less its price."""
        M = self.cuts.M
        h = np.zeros(self.splitting.n) if M is None else heights(M, self.k, self.nonneg)
        return h if self.prices is None else h - self.prices.values

    # --- bundle and subspace --------------------------------------------------------------------------------
    def grow(self, directions: Array | None = None) -> Array:
        """Climb from random directions, and where prices move from the heaviest points too (or from the given
        directions (D, c)); points above the bundle join it.

        Gives back the largest values known, one for each size.
        """
        U, tau, h = self.U, self.splitting.entries.tau, self.heights()
        root_tau, found = np.sqrt(tau), []
        for g in range(len(self.counts)):
            C = directions
            if C is None:
                C = self.rng.standard_normal((U.shape[1] + 1, CLIMBS))
                if self.prices is not None:
                    X = self.heaviest(g, CLIMBS)
                    C = np.hstack((C, np.vstack((U.T @ X, root_tau * np.abs(X).sum(axis=0)))))
            found.append(climb(U, root_tau, self.of_group(g), C, h))
        tops = self.joined(found, self.tops(self.values(U, h, tau)))
        self._base(self.B)
        return tops

    def rebase(self, B: Array) -> None:
        """Go on with another subspace, keeping what of Q lies in it."""
        H, self.recent = self.B.T @ B, None
        self.dual, self.shadow = H.T @ self.dual @ H, H.T @ self.shadow @ H
        self._base(B)

    def _base(self, B):
        self.B, self.coordinates = B, B.T @ self.points
        self.products = (self.coordinates.T @ self.coordinates) ** 2

    # --- weights of the bundle ------------------------------------------------------------------------------
    def _hull(self, share):
        return (self.coordinates * share) @ self.coordinates.T

    def weigh(self, T: Array, entries: EntriesAim, cuts: CutsAim | None) -> Array:
        """The weights of the joint projection."""
        # Rows of no support have z = 0 whatever the weights are.
        used = np.flatnonzero(self.supports.any(axis=1))
        supports, s, rho, prices = self.supports[used], self.sizes, self.splitting.rho, self.prices
        cuts = None if cuts is None else cuts.of(used)
        prices = None if prices is None else prices.of(used)
        size, tau = self.splitting.entries.size, self.splitting.entries.tau
        sigma, cut, bend = rho * self.weight, rho * self.cuts.weight, rho / entries.above

        def value(w):
            z = supports @ w
            far, beyond = np.zeros(1) if cuts is None else cuts.distances(z)[2], s @ w - size
            psi = beyond * (bend / 2 * beyond - tau)
            psi += 0.0 if prices is None else prices.cost(z)
            return sigma / 2 * np.sum(positive_part(T - self._hull(w)) ** 2) + cut / 2 * (far @ far) + psi

        def slopes(w):
            R, z = positive_part(T - self._hull(w)), supports @ w
            slope = -sigma * np.einsum("ij,ij->j", self.coordinates, R @ self.coordinates)
            gradient = slope + (bend * (s @ w - size) - tau) * s
            H = sigma * self.products + bend * np.outer(s, s)
            if cuts is not None:
                h, curvature = cuts.slopes(z)
                gradient = gradient - cut * (h @ supports)
                H = H + cut * (supports.T @ (curvature[:, None] * supports))
            if prices is not None:
                of_prices, more = prices.slopes(z, supports)
                gradient, H = gradient + of_prices, H + more
            return gradient, H

        return descend(value, slopes, self.share, self.group, GAP * rho)


def positive_part(S: Array) -> Array:
    """Projection of symmetric S onto the psd matrices."""
    values, vectors = np.linalg.eigh(S)
    return (vectors * np.maximum(values, 0.0)) @ vectors.T
