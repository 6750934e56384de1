"""True answers that stand for all of them: feasible points with their supports, their weights, and the climbs
that find them.
"""

from dataclasses import dataclass, replace

import numpy as np

from nspca.bounds.dual.weights import lowest, rescaled
from nspca.covariance.linalg import Array

CLIMB_STEPS = 12
"""Ascent steps from each random direction: most have stopped by then."""
CLIMBS = 32
"""Random directions tried for each look at the bundle."""


@dataclass(frozen=True)
class Sought:
    """Which points are feasible.

    Attributes
    ----------
    k, nonneg : at most so many entries, and their sign
    fixed : the first so many rows belong to every support, whether they are used or not
    priced : rows may cost more than they bring, and belong to no support then, which may be smaller
    """

    k: int
    nonneg: bool
    fixed: int = 0
    priced: bool = False


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


ONE, PACKED = Keeping(), Keeping(near=0.05, age=12)
"""For one component; and for several, which need points that are far from the top before they are priced."""


class Bundle:
    """The points, of several sizes perhaps.

    Attributes
    ----------
    points : (r, p) feasible vectors, `share` (p,) their weights w
    supports : (r, p) of zeros and ones
    counts : the sizes, each with the number of components that have it
    group : (p,) which of these a point has; its weights sum to that number
    sizes : (p,) ``(sum |x_i|)^2`` of the points
    sought : what a point may be, but for its size
    """

    def __init__(self, points: Array, group: np.ndarray, counts: tuple[tuple[int, int], ...], sought: Sought):
        self.counts, self.group, self.sought = counts, group, sought
        self.totals = np.array([float(number) for _, number in counts])
        self.keeping = PACKED if sought.priced else ONE
        parts = [supports_of(points[:, group == g] ** 2, self.of_group(g)) for g in range(len(counts))]
        self.supports = np.hstack(parts)
        self.points = restricted(points, self.supports)
        count = points.shape[1]
        self.share, self.idle = rescaled(np.ones(count), group, self.totals), np.zeros(count)
        self.sizes = np.abs(self.points).sum(axis=0) ** 2

    def of_group(self, g: int) -> Sought:
        """Return which points of the size of group `g` are feasible."""
        return replace(self.sought, k=self.counts[g][0])

    @property
    def z(self) -> Array:
        """Return for each row (r,) the weight of all points that have it in their support."""
        return self.supports @ self.share

    @property
    def size(self) -> float:
        """Return the weighted sum of the squared sums of entries."""
        return float(self.sizes @ self.share)

    def value(self, U: Array, h: Array, tau: float) -> float:
        """Largest value of the bundle for a U, heights and tau, for each component; the search half is never
        below it.
        """
        return float(self.totals @ self.tops(self.values(U, h, tau)))

    def values(self, U: Array, h: Array, tau: float) -> Array:
        """Return ``|U'x|^2 + tau (sum |x_i|)^2`` plus the sum of h over the support, for each point (p,)."""
        return np.square(U.T @ self.points).sum(axis=0) + tau * self.sizes + h @ self.supports

    def tops(self, values: Array) -> Array:
        """The largest value of the points of each size."""
        return -lowest(-values, self.group)

    def heaviest(self, g: int, count: int) -> Array:
        """The points of one size that have the largest weights."""
        own = np.flatnonzero(self.group == g)
        return self.points[:, own[np.argsort(-self.share[own], kind="stable")[:count]]]

    def joined(self, climbed: list[tuple[Array, Array, Array]], bundle: Array) -> Array:
        """Take in what is above the bundle of what climbs of each size found, and drop what is old.

        While there are few points, what is near the top joins too. `bundle`: the largest values so far; gives
        back those with what was found.
        """
        self.idle = np.where(self.share > 1e-7, 0, self.idle + 1)
        kept, tops = self.idle <= self.keeping.age, bundle.copy()
        points, supports, group = [self.points[:, kept]], [self.supports[:, kept]], [self.group[kept]]
        for g, (X, supported, values) in enumerate(climbed):
            room = np.count_nonzero(self.group == g) < self.keeping.room * self.totals[g]
            tops[g] = max(bundle[g], float(values.max()))
            taken = (values > bundle[g] * (1 + 1e-6)) | room
            taken &= values > tops[g] * (1 - self.keeping.near)
            points.append(X[:, taken])
            supports.append(supported[:, taken])
            group.append(np.full(np.count_nonzero(taken), g))
        self._take(np.hstack(points), np.hstack(supports), np.concatenate(group), kept)
        return tops

    def _take(self, points: Array, supports: np.ndarray, group: np.ndarray, kept: np.ndarray) -> None:
        """The bundle from now on: the points that are kept, which come first, and the new ones among them."""
        m = int(kept.sum())
        first: dict[bytes, int] = {}
        # 0.0 is added as -0.0 has other bytes
        for i, point in enumerate(np.vstack((points.round(7) + 0.0, supports, group)).T):
            first.setdefault(point.tobytes(), i)
        order = np.append(np.arange(m), [i for i in first.values() if i >= m]).astype(int)
        self.points = np.ascontiguousarray(points[:, order])
        self.supports = np.ascontiguousarray(supports[:, order])
        self.group, none = group[order], np.zeros(order.size - m)
        self.share = np.append(rescaled(self.share[kept], self.group[:m], self.totals), none)
        self.idle = np.append(self.idle[kept], none)
        self.sizes = np.abs(self.points).sum(axis=0) ** 2


def climb(U: Array, root_tau: float, sought: Sought, C: Array, h: Array) -> tuple[Array, Array, Array]:
    """Return the points (r, c) that directions C (d + 1, c) lead to, their supports, and their values.

    A value is ``|U'x|^2 + (root_tau sum |x_i|)^2`` plus the sum of h over the support.
    """
    d = U.shape[1]
    for _ in range(CLIMB_STEPS):
        linear, flat = U @ C[:d], root_tau * np.abs(C[d])
        P = np.maximum(linear + flat, 0.0) if sought.nonneg else np.abs(linear) + flat
        S = supports_of(P * P + h[:, None], sought)
        X = restricted(P if sought.nonneg else np.copysign(P, linear), S)
        C = np.vstack((U.T @ X, root_tau * np.abs(X).sum(axis=0)))
        lengths = np.linalg.norm(C, axis=0)
        C = C / np.where(lengths > 0, lengths, 1.0)
    return X, S, lengths**2 + h @ S


def supports_of(terms: Array, sought: Sought) -> Array:
    """Zeros and ones (r, c): the k largest terms of each column, the fixed ones always.

    Where rows have prices: of the terms above 0, or the largest alone.
    """
    terms = terms.copy()
    terms[: sought.fixed] = np.inf
    S = np.zeros_like(terms)
    last = min(sought.k, len(terms)) - 1
    np.put_along_axis(S, np.argpartition(-terms, last, axis=0)[: sought.k], 1.0, axis=0)
    if sought.priced:
        S *= (terms > 0) | (terms == terms.max(axis=0))
    return S


def restricted(X: Array, S: Array) -> Array:
    """The columns of X on their supports, of length 1; a zero column becomes a unit vector of its support."""
    X = X * S
    zero = ~X.any(axis=0)
    X[S[:, zero].argmax(axis=0), zero] = 1.0
    return X / np.linalg.norm(X, axis=0)
