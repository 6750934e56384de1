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

from dataclasses import dataclass

import numpy as np

from nspca.bounds.dual.prices import Prices
from nspca.bounds.dual.rowcuts import WAIT, Cuts, CutsAim
from nspca.bounds.dual.splitting import EntriesAim, Splitting
from nspca.bounds.dual.weights import descend, lowest, rescaled
from nspca.bounds.inequality import heights
from nspca.matrix.linalg import Array

CLIMB_STEPS = 12
"""Ascent steps from each random direction: most have stopped by then."""
CLIMBS = 32
"""Random directions tried for each look at the bundle."""
GAP = 1e-6
"""Distance from the best weights (relative to rho) at which they are good enough."""


@dataclass(frozen=True)
class Keeping:
    """Which points a bundle takes in and keeps.

    Attributes
    ----------
    near, room : climbs this near the top join a bundle of fewer points than that for each component
    age : a point without weight stays for so many looks
    """

    near: float = 1e-3
    room: int = 40
    age: int = 6


@dataclass(eq=False)
class Mean:
    """Sums of W, M, Q and prices over some steps.

    The bound is convex in all of them together, so that of their mean is at most the mean of theirs: steps
    that swing about the best one cancel, and the last bits of the data matter less.
    """

    W: Array
    M: Array | None
    Q: Array
    prices: Array
    count: int = 1

    def add(self, W: Array, M: Array | None, Q: Array, prices: Array) -> None:
        self.W += W
        self.Q += Q
        self.prices += prices
        self.M = M if self.M is None else self.M if M is None else self.M + M
        self.count += 1


ONE, PACKED = Keeping(), Keeping(near=0.05, age=12)
"""For one component; and for several, which need points that are far from the top before they are priced."""


def add_lift(splitting: Splitting, B: Array, points: Array, wait: int = WAIT) -> "Lift":
    """Give a splitting its two other blocks: the lift, and its row cuts, which count after `wait` steps.

    The one place where the blocks are put together; the order in which they work is that of `Splitting.step`.
    """
    cuts = Cuts(splitting.n, splitting.nonneg, splitting.rho, wait)
    group = np.zeros(points.shape[1], dtype=int)
    splitting.lift = lift = Lift(splitting, B, points, group, cuts, ((splitting.k, 1),))
    return lift


def add_packing(
    splitting: Splitting, B: Array, points: list[Array], counts: tuple[tuple[int, int], ...], wait: int = WAIT
) -> "Lift":
    """The same for several components: `counts` are their sizes, each with how many have it, `points` (r, p)
    some for each size.
    """
    cuts = Cuts(splitting.n, splitting.nonneg, splitting.rho, wait)
    group = np.repeat(np.arange(len(counts)), [part.shape[1] for part in points])
    prices = Prices(splitting.n)
    splitting.lift = lift = Lift(splitting, B, np.hstack(points), group, cuts, counts, prices)
    return lift


class Lift:
    """Block of a `Splitting`: the shadow of X on a subspace. Its weights are those of the other blocks too.

    Attributes
    ----------
    B : (r, d) orthonormal
    shadow : (d, d) what this block makes of ``B'XB``; `coordinates` (d, p) are those of the points
    points : (r, p) feasible vectors of the bundle, `share` (p,) their weights w
    supports : (r, p) of zeros and ones; the first `fixed` rows are in all of them
    counts : the sizes of supports, each with the number of components that have it
    group : (p,) which of these sizes a point has; its weights sum to that number
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
        self.splitting, self.cuts, self.rng = splitting, cuts, np.random.default_rng(0)
        self.counts, self.group, self.prices = counts, group, prices
        self.totals = np.array([float(number) for _, number in counts])
        self.k = max(size for size, _ in counts)
        self.nonneg, self.fixed = splitting.nonneg, splitting.kept.fixed
        self.keeping = ONE if prices is None else PACKED
        self.recent: Mean | None = None
        self.supports = np.hstack(
            [
                supports_of(points[:, group == g] ** 2, size, self.fixed, self.priced)
                for g, (size, _) in enumerate(counts)
            ]
        )
        self.points = restricted(points, self.supports)
        d, count = B.shape[1], points.shape[1]
        self.share, self.idle = rescaled(np.ones(count), group, self.totals), np.zeros(count)
        self.shadow, self.dual = np.zeros((d, d)), np.zeros((d, d))
        self._base(B)

    def resume(self, U: Array, X: Array) -> None:
        """Start from the U and X of a related problem."""
        part = self.B.T @ U
        self.dual, self.shadow = part @ part.T / (self.splitting.rho * self.weight), self.B.T @ X @ self.B

    @property
    def priced(self) -> bool:
        """Whether features have prices: then some are not worth theirs, and a support may be smaller."""
        return self.prices is not None

    # --- block of the splitting -----------------------------------------------------------------------------
    def pull(self, X, G):
        shadow = self.B.T @ X @ self.B
        G += self.B @ (self.weight * (shadow - self.shadow + self.dual)) @ self.B.T

    def aim(self, weights: Array, vectors: Array, relaxation: float) -> Array:
        """The point (d, d) to project, from the eigenpairs of X."""
        F = self.B.T @ vectors
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
    def z(self) -> Array:
        """What the bundle thinks of each row: 1 in the support, 0 outside."""
        return self.supports @ self.share

    @property
    def size(self) -> float:
        """And of the sum of entries."""
        return float(self.sizes @ self.share)

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
        W, M, Q = self.splitting.entries.W, self.cuts.M, self.Q
        prices = np.zeros(0) if self.prices is None else self.prices.values
        if afresh or self.recent is None:
            self.recent = Mean(W.copy(), M, Q.copy(), prices.copy())
        else:
            self.recent.add(W, M, Q, prices)

    def averaged(self) -> tuple[Array, Array | None, Array, Array]:
        """W, M, U and prices of the mean of the last steps, in the basis as it was then."""
        if self.recent is None:
            self.remember(afresh=True)
        mean = self.recent
        assert mean is not None
        M = None if mean.M is None else mean.M / mean.count
        W = mean.W / mean.count
        return (W + W.T) / 2, M, self._root(mean.Q / mean.count), mean.prices / mean.count

    def value(self, U: Array, h: Array, tau: float) -> float:
        """Largest value of the bundle for a U, heights and tau, for each component; the search half is never
        below it.
        """
        return float(self.totals @ self.tops(self.values(U, h, tau)))

    def values(self, U: Array, h: Array, tau: float) -> Array:
        """Of the points (p,): ``|U'x|^2 + tau (sum |x_i|)^2`` and the sum of h over the support."""
        return np.square(U.T @ self.points).sum(axis=0) + tau * self.sizes + h @ self.supports

    def heights(self) -> Array:
        """What a feature adds to the value of a support: the height of its row cut, less its price."""
        M = self.cuts.M
        h = np.zeros(self.splitting.n) if M is None else heights(M, self.k, self.nonneg)
        return h if self.prices is None else h - self.prices.values

    def tops(self, values: Array) -> Array:
        """The largest value of the points of each size."""
        return -lowest(-values, self.group)

    # --- bundle and subspace --------------------------------------------------------------------------------
    def grow(self, directions: Array | None = None) -> Array:
        """Climb from random directions (or the given ones (D, c)) and take in what is above the bundle.

        While the bundle is small, what is near its top too; what has long had no weight is dropped. Gives
        back the largest values known, one for each size.
        """
        U, tau, h = self.U, self.splitting.entries.tau, self.heights()
        bundle, root_tau = self.tops(self.values(U, h, tau)), np.sqrt(tau)
        self.idle = np.where(self.share > 1e-7, 0, self.idle + 1)
        kept, tops = self.idle <= self.keeping.age, bundle.copy()
        points, supports, group = [self.points[:, kept]], [self.supports[:, kept]], [self.group[kept]]
        for g, (size, number) in enumerate(self.counts):
            C = self._directions(g, U) if directions is None else directions
            X, supported, values = climb(U, root_tau, size, self.nonneg, C, h, self.fixed, self.priced)
            room = np.count_nonzero(self.group == g) < self.keeping.room * number
            tops[g] = max(bundle[g], float(values.max()))
            taken = (values > bundle[g] * (1 + 1e-6)) | room
            taken &= values > tops[g] * (1 - self.keeping.near)
            points.append(X[:, taken])
            supports.append(supported[:, taken])
            group.append(np.full(np.count_nonzero(taken), g))
        self._take(np.hstack(points), np.hstack(supports), np.concatenate(group), kept)
        return tops

    def _directions(self, g, U):
        """Random ones; where prices move, also those of the heaviest points of a group."""
        C = self.rng.standard_normal((U.shape[1] + 1, CLIMBS))
        if not self.priced:
            return C
        own = np.flatnonzero(self.group == g)
        X = self.points[:, own[np.argsort(-self.share[own], kind="stable")[:CLIMBS]]]
        root_tau = np.sqrt(self.splitting.entries.tau)
        return np.hstack((C, np.vstack((U.T @ X, root_tau * np.abs(X).sum(axis=0)))))

    def _take(self, points, supports, group, kept):
        """The bundle from now on: the points that are kept, which come first, and the new ones among them."""
        m = int(kept.sum())
        first = np.unique(np.vstack((points.round(7), supports, group)), axis=1, return_index=True)[1]
        order = np.append(np.arange(m), first[first >= m])
        self.points = np.ascontiguousarray(points[:, order])
        self.supports = np.ascontiguousarray(supports[:, order])
        self.group, none = group[order], np.zeros(order.size - m)
        self.share = np.append(rescaled(self.share[kept], self.group[:m], self.totals), none)
        self.idle = np.append(self.idle[kept], none)
        self._base(self.B)

    def rebase(self, B: Array) -> None:
        """Go on with another subspace, keeping what of Q lies in it."""
        H, self.recent = self.B.T @ B, None
        self.dual, self.shadow = H.T @ self.dual @ H, H.T @ self.shadow @ H
        self._base(B)

    def _base(self, B):
        self.B, self.coordinates = B, B.T @ self.points
        self.sizes = np.abs(self.points).sum(axis=0) ** 2
        self.products = (self.coordinates.T @ self.coordinates) ** 2

    # --- weights of the bundle ------------------------------------------------------------------------------
    def _hull(self, share):
        return (self.coordinates * share) @ self.coordinates.T

    def weigh(self, T: Array, entries: EntriesAim, cuts: CutsAim | None) -> Array:
        """The weights of the joint projection."""
        supports, s, rho, prices = self.supports, self.sizes, self.splitting.rho, self.prices
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


def climb(
    U: Array,
    root_tau: float,
    k: int,
    nonneg: bool,
    C: Array,
    h: Array,
    fixed: int = 0,
    priced: bool = False,
) -> tuple[Array, Array, Array]:
    """Where directions C (d + 1, c) lead: points (r, c), their supports, and their values.

    A value is ``|U'x|^2 + (root_tau sum |x_i|)^2`` plus the sum of h over the support.

    The first `fixed` rows belong to every support, whether they are used or not; `priced`: rows that cost
    more than they bring belong to none.
    """
    d = U.shape[1]
    for _ in range(CLIMB_STEPS):
        linear, flat = U @ C[:d], root_tau * np.abs(C[d])
        P = np.maximum(linear + flat, 0.0) if nonneg else np.abs(linear) + flat
        S = supports_of(P * P + h[:, None], k, fixed, priced)
        X = restricted(P if nonneg else np.copysign(P, linear), S)
        C = np.vstack((U.T @ X, root_tau * np.abs(X).sum(axis=0)))
        lengths = np.linalg.norm(C, axis=0)
        C = C / np.where(lengths > 0, lengths, 1.0)
    return X, S, lengths**2 + h @ S


def supports_of(terms: Array, k: int, fixed: int = 0, priced: bool = False) -> Array:
    """Zeros and ones (r, c): the k largest terms of each column, the first `fixed` always.

    `priced`: of those above 0, or the largest alone.
    """
    terms = terms.copy()
    terms[:fixed] = np.inf
    S = np.zeros_like(terms)
    np.put_along_axis(S, np.argpartition(-terms, min(k, len(terms)) - 1, axis=0)[:k], 1.0, axis=0)
    if priced:
        S *= (terms > 0) | (terms == terms.max(axis=0))
    return S


def restricted(X: Array, S: Array) -> Array:
    """The columns of X on their supports, of length 1; a zero column becomes a unit vector of its support."""
    X = X * S
    zero = ~X.any(axis=0)
    X[S[:, zero].argmax(axis=0), zero] = 1.0
    return X / np.linalg.norm(X, axis=0)


def positive_part(S: Array) -> Array:
    """Projection of symmetric S onto the psd matrices."""
    values, vectors = np.linalg.eigh(S)
    return (vectors * np.maximum(values, 0.0)) @ vectors.T
