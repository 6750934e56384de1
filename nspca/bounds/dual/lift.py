"""Choose U and M of the bounds B6 and B9 against true supports instead of a relaxation.

Let B be an orthonormal basis of a d-dimensional subspace, U U' = B Q B', and h the heights of M. Then the
search half of the bound is the maximum over feasible x of support I of

    b'Qb + tau s + sum_I h_i,   b = B'x,   s = (sum |x_i|)^2.

Here the maximum is taken over finitely many feasible points x_j of support I_j, called the *bundle*. The
bound, minimised over W, M, Q and tau, is then the dual of

    max <A, X>,  X psd, tr X = 1, X >= 0,   B'XB <= sum_j w_j b_j b_j',   <J, X> <= sum_j w_j s_j,
    sum_l X_il^2 <= X_ii z_i,  z = sum_j w_j 1(I_j),   w in the simplex.

In this relaxation, the projection of X on the subspace and the support of X are mixtures of feasible points.
Points found above the maximum join the bundle (cutting planes). A search over the sphere proves the bound
afterwards, so nothing here needs to be exact. The three constraints share the weights w, so lift, row cuts
and the entries of X are projected together:

    sigma/2 |(T - sum_j w_j b_j b_j')+|^2 + rho' sum_i phi_i(z_i) + psi(sum_j w_j s_j)

is minimised over w by Newton steps, each with an exact quadratic program. Plain gradient steps stop where
the bound is a per cent worse. The reason is the curvature of phi (`rowcuts`), which is thousands of times
larger at a small z than at z = 1. The cost psi of the entries has slope -tau and, as curvature, rho over the
number of entries above the level tau. Without this curvature the steps can diverge when k is near n/2.

Several disjoint components share one lift. The weights of the points of one size sum to the number of
components of that size. The constraint that no feature is used twice, `z <= 1`, has the `prices` as its
multipliers.

`dual_search` and `fixing.lifts` add a lift to a splitting by `add_lift`.
"""

import numpy as np

from nspca.bounds.dual.bundle import CLIMBS, Bundle, Sought, absolute_sums, climb
from nspca.bounds.dual.entries import Entries, EntriesAim
from nspca.bounds.dual.prices import Priced
from nspca.bounds.dual.rowcuts import CUT, CUT_FEW, WAIT, Cuts, CutsAim
from nspca.bounds.dual.splitting import Splitting
from nspca.bounds.dual.weights import Curvature, descend
from nspca.bounds.inequality import heights
from nspca.bounds.witness import Witness
from nspca.covariance.linalg import Array

GAP = 1e-6
"""Tolerance for the weights of the bundle, relative to rho."""
MOVED, SEEN, WIDEST = 0.02, 0.1, 1.0
"""How far scales move, as a power of the ratio of the two sums of a row (see `moved`); what is
added to both sums, relative to their mean, as small ones say little; and the largest logarithm of a scale.
Larger powers throw the bound about.
"""
TINIEST = 1e-300
"""Smallest number by which sums are divided."""
ENTERING = 32
"""With prices, the number of points that may get weight in one Newton step. Most points of the bundle have
none.
"""


class Mean:
    """Sums of W, M, Q and prices over several steps, from which their means are taken.

    The bound is jointly convex in W, M, Q and prices, so the bound of the mean is at most the mean of the
    bounds. Oscillations of the steps cancel, and the last bits of the data matter less. The block of the
    entries holds W as the difference of the T that it projects and its projection Y, that of the cuts M as
    T - Z, both in units of rho.
    """

    def __init__(self, lift: "Lift"):
        n, d = lift.B.shape
        self.W, self.Q, self.count = np.zeros((n, n), lift.splitting.precision), np.zeros((d, d)), 0
        self.M: np.ndarray | None = None
        self.prices = np.zeros(0 if lift.prices is None else n)
        self.scales = np.zeros(0 if lift.scales is None else n)

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
        self.scales += 0.0 if lift.scales is None else lift.scales
        self.count += 1


def add_lift(
    splitting: Splitting,
    B: Array,
    points: list[Array],
    counts: tuple[tuple[int, int], ...],
    wait: int = WAIT,
    priced: bool = False,
) -> "Lift":
    """Give a splitting a lift and row cuts as further blocks, and return the lift.

    `B` (r, d) is an orthonormal basis of the first subspace. `counts` has each size with its number of
    components, and `points` an (r, p) array of feasible points for each size. Where features are `priced`,
    prices are found with the lift; else they are those of the kept rows, if any. The row cuts take part after
    `wait` steps. They know how few entries a row may have for several components where all rows are kept, and
    where prices are given. For others many rows are in no point of the bundle, and their rows of M become
    large. On at most k rows without prices there are none: every support has all rows, so z = 1, and no X of
    trace 1 exceeds them. `Splitting.step` has the order in which the blocks work.
    """
    given, n, largest = splitting.kept.prices, splitting.n, max(size for size, _ in counts)
    few = given is not None or (priced and splitting.kept.rows is None)
    wait = wait if few or priced or n > largest else 0
    cuts = Cuts(n, largest if few else n, splitting.nonneg, splitting.rho, wait, splitting.precision)
    cuts.usual = CUT_FEW if priced and few else CUT
    prices = Priced(np.zeros(n)) if priced else None if given is None else Priced(given, is_given=True)
    group = np.repeat(np.arange(len(counts)), [part.shape[1] for part in points])
    splitting.lift = lift = Lift(splitting, B, np.hstack(points), group, cuts, counts, prices)
    return lift


class Lift(Bundle):
    """Block of a `Splitting` for the projection ``B'XB`` of X on a subspace, called the shadow of X.

    The weights of its bundle are shared with the blocks of the row cuts and of the entries.

    Attributes
    ----------
    B : (r, d) orthonormal
    shadow : (d, d) copy of ``B'XB`` held by this block
    coordinates : (d, p) coordinates ``B'x_j`` of the points of the bundle
    cuts : block of the row cuts, whose z follows from the weights
    prices : prices of features; None where no feature has one
    is_held : whether the subspace stays as it is; the mean then goes on over all steps
    relief : how fast a larger scale of each row lowers the bound through K (see `core.relief`); None for not
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
        prices: Priced | None = None,
    ):
        self.k, self.nonneg = max(size for size, _ in counts), splitting.nonneg
        super().__init__(
            points, group, counts, Sought(self.k, self.nonneg, splitting.kept.fixed, prices is not None)
        )
        self.splitting, self.cuts, self.prices = splitting, cuts, prices
        self.rng = np.random.default_rng(0)
        self.recent: Mean | None = None
        self.is_held = False
        self.relief: Array | None = None
        d = B.shape[1]
        self.shadow, self.dual = np.zeros((d, d)), np.zeros((d, d))
        self._base(B)

    def resume(self, U: Array, X: Array) -> None:
        part = self.B.T @ U
        self.dual, self.shadow = part @ part.T / (self.splitting.rho * self.weight), self.B.T @ X @ self.B

    # --- block of the splitting -----------------------------------------------------------------------------
    def pull(self, X: Array, G: Array) -> None:
        B = self.B.astype(X.dtype)
        shadow = B.T @ X @ B
        G += (B @ (self.weight * (shadow - self.shadow + self.dual)).astype(X.dtype)) @ B.T

    def aim(self, weights: Array, vectors: Array, relaxation: float) -> Array:
        """Return the point (d, d) that this block projects, from the eigenpairs of X."""
        F = (self.B.astype(vectors.dtype).T @ vectors).astype(np.float64)
        return relaxation * ((F * weights) @ F.T) + (1 - relaxation) * self.shadow + self.dual

    def settle(self, T: Array, share: Array) -> None:
        """Set shadow and dual to the projection of T with the weights `share` of the bundle."""
        self.share = share
        if self.prices is not None:
            self.prices.settle(self.z)
        self.dual = positive_part(T - self._hull(share))
        self.shadow = T - self.dual

    # --- witness --------------------------------------------------------------------------------------------
    @property
    def Q(self) -> Array:
        """Multiplier Q (d, d) of the shadow, psd."""
        return self.splitting.rho * self.weight * self.dual

    @property
    def U(self) -> Array:
        """Factor U (r, d) with ``UU' = BQB'``."""
        return factor(self.B, self.Q)

    def remember(self, afresh: bool) -> Mean:
        """Add this step to the mean that `averaged` uses, and return it; `afresh` begins a new one."""
        if afresh or self.recent is None:
            self.recent = Mean(self)
        self.recent.add(self)
        return self.recent

    def averaged(self) -> Witness:
        """Return the means of the numbers of the witness over the remembered steps, without given prices."""
        mean = self.recent or self.remember(afresh=True)
        rho, count = self.splitting.rho, mean.count
        M = None if mean.M is None else mean.M.astype(np.float64) * (rho * self.cuts.weight / count)
        W = mean.W.astype(np.float64)
        W = (W + W.T) * (rho / 2 / count)
        prices = None if self.prices is None or self.prices.is_given else mean.prices / count
        scales = mean.scales / count if mean.scales.size else None
        return Witness(W, M, factor(self.B, mean.Q / count), prices, scales)

    def heights(self) -> Array:
        """Return the heights (r,) of the row cuts, less the prices."""
        M = self.cuts.M
        h = np.zeros(self.splitting.n) if M is None else heights(M, self.k, self.nonneg)
        return h if self.prices is None else h - self.prices.values

    # --- bundle and subspace --------------------------------------------------------------------------------
    def grow(self, directions: Array | None = None) -> Array:
        """Add better points to the bundle where climbs find some, and return the largest value for each size.

        Points are found by climbing from `directions` (D, c). Without them, climbs start from random
        directions and, with prices, from the points of largest weight as well.
        """
        return self.reach(self.U, self.heights(), self.splitting.entries.tau, directions)

    def reach(self, U: Array, h: Array, tau: float, directions: Array | None = None) -> Array:
        """Add better points like `grow`, for any U (r, d), heights h (r,) and tau, such as means of steps."""
        root_tau, found = np.sqrt(tau), []
        for g in range(len(self.counts)):
            if (C := directions) is None:
                C = self.rng.standard_normal((U.shape[1] + 1, CLIMBS))
                if self.prices is not None:
                    X = self.heaviest(g, CLIMBS)
                    C = np.hstack((C, np.vstack((U.T @ X, root_tau * absolute_sums(X, self.scales)))))
            found.append(climb(U, root_tau, self.of_group(g), C, h, self.scales))
        tops = self.joined(found, self.tops(self.values(U, h, tau)))
        self._base(self.B)
        return tops

    def rebase(self, B: Array) -> None:
        """Change to the subspace with basis B, and keep the parts of Q and of the shadow inside it."""
        H, self.recent = self.B.T @ B, None
        self.dual, self.shadow = H.T @ self.dual @ H, H.T @ self.shadow @ H
        self._base(B)

    def rescale(self, scales: Array) -> None:
        self.scales, self.sizes = scales, absolute_sums(self.points, scales) ** 2
        self.splitting.entries.rescale(scales, self.size)

    def scale(self) -> None:
        """Give the rows scales, which are 1 at first."""
        self.recent = None
        self.rescale(np.ones(self.splitting.n))

    def move_scales(self) -> None:
        """Move the scales of rows, where there are any, towards the best ones; not while the lift is held."""
        if self.scales is not None and not self.is_held:
            entries, floor = self.splitting.entries, self.splitting.kept.floor
            scales, change = moved(self.scales, entries, self.points, self.share, floor, self.relief)
            entries.level *= change
            # tau times any squared scale is at least the floor
            entries.floor = floor / float(scales.min()) ** 2
            self.rescale(scales)

    def _base(self, B: Array) -> None:
        """Set the basis, the coordinates of the points and their squared inner products."""
        self.B, self.coordinates = B, B.T @ self.points
        self.products = (self.coordinates.T @ self.coordinates) ** 2

    # --- weights of the bundle ------------------------------------------------------------------------------
    def _hull(self, share: Array) -> Array:
        """Return ``sum_j share_j b_j b_j'`` over the points of the bundle."""
        return (self.coordinates * share) @ self.coordinates.T

    def weigh(self, T: Array, entries: EntriesAim, cuts: CutsAim | None) -> Array:
        """Return the weights of the bundle that minimise the joint objective of lift, cuts and entries."""
        # A row that no point of the bundle uses has z = 0 for all weights.
        used = np.flatnonzero(self.supports.any(axis=1))
        supports, s, rho, prices = self.supports[used], self.sizes, self.splitting.rho, self.prices
        cuts = None if cuts is None else cuts.of(used)
        prices = None if prices is None else prices.of(used)
        size, tau = self.splitting.entries.size, self.splitting.entries.tau
        sigma, cut, bend = rho * self.weight, rho * self.cuts.weight, rho / entries.above

        def value(w: Array) -> float:
            z = supports @ w
            far, beyond = np.zeros(1) if cuts is None else cuts.distances(z)[2], float(s @ w) - size
            psi = beyond * (bend / 2 * beyond - tau) + (0.0 if prices is None else prices.cost(z))
            apart = float(np.sum(positive_part(T - self._hull(w)) ** 2))
            return sigma / 2 * apart + cut / 2 * float(far @ far) + psi

        def slopes(w: Array) -> tuple[Array, Curvature]:
            R, z = positive_part(T - self._hull(w)), supports @ w
            slope = -sigma * np.einsum("ij,ij->j", self.coordinates, R @ self.coordinates)
            gradient = slope + (bend * (s @ w - size) - tau) * s
            by_z, scale = np.zeros(len(z)), 1.0
            if cuts is not None:
                h, by_z = cuts.slopes(z)
                gradient, scale = gradient - cut * (h @ supports), cut
            if prices is not None:
                first, second = prices.slopes(z)
                gradient, by_z = gradient + first @ supports, by_z + second / scale

            def curvature(chosen: np.ndarray | slice) -> Array:
                H = sigma * self.products[chosen][:, chosen] + bend * np.outer(s[chosen], s[chosen])
                some = supports[:, chosen]
                return H + scale * (some.T @ (by_z[:, None] * some)) if by_z.any() else H

            return gradient, curvature

        several = None if prices is None else ENTERING
        return descend(value, slopes, self.share, self.group, GAP * rho, several)


def factor(B: Array, Q: Array) -> Array:
    """Return U with ``UU' = BQB'`` for psd Q, without columns that are zero."""
    values, vectors = np.linalg.eigh(Q)
    U = B @ (vectors * np.sqrt(np.maximum(values, 0.0)))
    return np.ascontiguousarray(U[:, U.any(axis=0)])


def positive_part(S: Array) -> Array:
    """Return the projection of a symmetric matrix S onto the psd matrices."""
    values, vectors = np.linalg.eigh(S)
    return (vectors * np.maximum(values, 0.0)) @ vectors.T


def moved(
    scales: Array, entries: Entries, points: Array, share: Array, floor: float, relief: Array | None
) -> tuple[Array, float]:
    """Return scales (r,) that are nearer to the best ones, for points (r, p) with the weights `share`, and
    the factor of tau that goes with them.

    Where row i of the copy Y of X has a larger scaled sum ``sum_l s_l |Y_il|`` than the weighted points have,
    a larger s_i lowers the bound: the difference is the derivative in s_i, but for a factor. The `relief`
    (r,) of K adds to it. Each scale is multiplied by the power `MOVED` of the ratio of the two sums, within
    limits. With a `floor`, features outside have the scale with which tau is the floor, and no row has less.
    """
    Y, X = np.abs(entries.Y), np.abs(points)
    own = ((Y @ scales.astype(Y.dtype)).astype(np.float64) + scales @ Y) / 2
    if relief is not None:
        own = own + relief * np.sqrt(floor / entries.tau)
    of_points = X @ (share * (scales @ X))
    least = SEEN * max(float(own.mean()), float(of_points.mean()), TINIEST)
    logs = np.log(scales) + MOVED * np.log((own + least) / (of_points + least))
    total = max(float(own.sum()), TINIEST)
    if floor <= 0:
        return np.exp(np.clip(logs - float(own @ logs) / total, -WIDEST, WIDEST)), 1.0
    logs = np.maximum(np.clip(logs, -WIDEST, WIDEST), np.log(floor / entries.tau) / 2)
    shift = float(own @ logs) / total
    return np.exp(logs - shift), float(np.exp(2 * shift))
