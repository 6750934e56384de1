"""The block `Entries` of a splitting: ``X >= 0, <J, X> <= size`` (signed: ``sum |X_ij| <= size``), dual W.

Every `Splitting` has one. At each step it calls `pull`, then `aim`, then `settle`.
"""

from dataclasses import dataclass

import numpy as np

from nspca.bounds.dual.stripes import Precision, Stripes
from nspca.covariance.linalg import Array

NEWTON_CAP = 40
"""Maximum Newton steps for a threshold. From the last threshold, two or three suffice."""
NEAR = 0.9
"""Entries above this share of the last level are copied for the next Newton steps. The level rarely falls
below it.
"""


@dataclass(frozen=True, eq=False)
class EntriesAim:
    """Data for choosing the level of the projection: the amount that is subtracted from the entries of T.

    Attributes
    ----------
    large : magnitudes of the entries above `cut`, each over its product of scales
    weights : squared products of scales of these entries; None where all are 1
    cut : lower limit of the entries in `large`
    above : sum of the weights of the entries above the last level
    """

    large: Array
    weights: Array | None
    cut: float
    above: float


class Entries:
    """Block of a `Splitting` for the set ``X >= 0, <J, X> <= size`` (signed: ``sum |X_ij| <= size``).

    Its dual is W, with tau at least `floor`.

    Attributes
    ----------
    size : float
        k, or less when a lift implies less.
    level : float
        Largest entry of the scaled dual, W over rho.
    rho : float
        Penalty parameter of the splitting.
    T, Y : (n, n)
        The last projected point, and its projection; ``T - Y`` is the scaled dual.
    products : (n, n) or None
        Products ``s_i s_j`` of the scales of rows, set by `rescale`; None where all are 1. The set is then
        ``sum s_i s_j |X_ij| <= size``, and W_ij may be up to ``tau s_i s_j``.
    """

    weight = 1.0

    def __init__(
        self, n: int, k: int, nonneg: bool, rho: float, floor: float, precision: Precision = np.float64
    ):
        self.size, self.nonneg, self.rho, self.floor = float(k), nonneg, rho, floor
        self.T: np.ndarray = np.zeros((n, n), precision)
        self.Y, self.level = np.zeros_like(self.T), 0.0
        self.products: np.ndarray | None = None
        self.stripes = Stripes(n, precision)

    @property
    def W(self) -> Array:
        """W (n, n) of the inequality: the scaled dual times rho, made symmetric."""
        W = (self.T - self.Y).astype(np.float64)
        return (W + W.T) * (self.rho / 2)

    @property
    def tau(self) -> float:
        """Threshold tau: the largest entry of W, and at least the floor."""
        return max(self.floor, self.rho * self.level)

    def resume(self, dual: Array, X: Array) -> None:
        """Start from a scaled dual (n, n), which is W over rho, and the X of a related problem."""
        self.Y[:] = X if not self.nonneg else np.maximum(X, 0.0)
        self.T[:] = dual + self.Y
        magnitudes = dual if self.nonneg else np.abs(dual)
        self.level = max(0.0, float(self.over_products(magnitudes).max()))

    def rescale(self, scales: Array, size: float) -> None:
        """Change the scales of the rows (n,), and the size that goes with them.

        Entries of the scaled dual that are largest stay so, and no other may exceed the new limits.
        """
        scales = scales.astype(self.T.dtype)
        self.products, self.size = np.multiply.outer(scales, scales), size
        limits, dual = self.level * self.products, self.T - self.Y
        dual = np.where(self.Y == 0, np.clip(dual, -np.inf if self.nonneg else -limits, limits), limits)
        self.T[:] = self.Y + (dual if self.nonneg else np.copysign(dual, np.where(self.Y == 0, dual, self.Y)))

    def over_products(self, magnitudes: Array) -> Array:
        """Return magnitudes of entries (n, n), each over its product of scales."""
        return magnitudes if self.products is None else magnitudes / self.products

    def pull(self, X: Array, G: Array) -> None:
        for part, _ in self.stripes:
            G[part] += X[part]
            G[part] += self.T[part]
            G[part] -= self.Y[part]
            G[part] -= self.Y[part]

    def aim(self, X: Array, relaxation: float) -> EntriesAim:
        """Move T by over-relaxation towards X, and return the data for choosing the level."""
        cut, large, weights = NEAR * self.level, [], []
        for part, buffer in self.stripes:
            T = self.T[part]
            np.subtract(X[part], self.Y[part], out=buffer)
            buffer *= relaxation
            T += buffer
            magnitudes = T if self.nonneg else np.abs(T, out=buffer)
            if self.products is None:
                large.append(magnitudes[magnitudes > cut])
                continue
            products = self.products[part]
            chosen = magnitudes > cut * products
            products = products[chosen]
            large.append(magnitudes[chosen] / products)
            weights.append(products * products)
        own = np.concatenate(weights) if weights else None
        aim = EntriesAim(np.concatenate(large), own, cut, 1.0)
        self.level = self._level(aim, self.size, self.level)
        over = aim.large > self.level
        above = float(np.count_nonzero(over) if own is None else own[over].sum(dtype=np.float64))
        return EntriesAim(aim.large, own, cut, above or 1.0)

    def settle(self, aim: EntriesAim, size: float | None = None) -> None:
        """Project T, with a new `size` if one is given (by the weights of a lift)."""
        if size is not None:
            # A larger size lowers the level by its share of the entries above.
            start = max(0.0, self.level - (size - self.size) / aim.above)
            self.size, self.level = size, self._level(aim, size, start)
        level: float | np.ndarray = self.level
        for part, buffer in self.stripes:
            T, Y = self.T[part], self.Y[part]
            if self.products is not None:
                level = np.multiply(self.products[part], self.level, out=buffer)
            if self.nonneg:
                np.subtract(T, level, out=Y)
                np.maximum(Y, 0.0, out=Y)
            else:
                np.clip(T, -level, level, out=Y)
                np.subtract(T, Y, out=Y)

    def _level(self, aim: EntriesAim, size: float, start: float) -> float:
        """Return the level at which the projection of T has the given size, at least `floor` over rho."""
        level = threshold_of_sum(aim.large, size, start, aim.weights)
        least = self.floor / self.rho
        if level < aim.cut and least < aim.cut:  # entries below the cut matter too
            T = self.over_products(self.T if self.nonneg else np.abs(self.T))
            weights = None if self.products is None else self.products**2
            level = threshold_of_sum(T, size, start, weights)
        return max(least, level)


def threshold_of_sum(T: Array, size: float, start: float, weights: Array | None) -> float:
    """Return the smallest level >= 0 with ``sum max(T - level, 0) <= size``, by Newton steps from `start`.

    With `weights` (positive, of the shape of T) the terms of the sum have these. The sum is convex and
    decreasing in the level. From the left the steps increase to the root. From the right one step leads to
    the left of it. On the left, only entries above the level matter.
    """
    T, level = T.ravel(), start
    weights = None if weights is None else weights.ravel()
    for _ in range(NEWTON_CAP):
        over = level < T
        above = T[over]
        if above.size == 0:
            if level == 0.0:
                return 0.0
            level = 0.0
            continue
        if weights is None:
            total, count = float(above.sum(dtype=np.float64)), float(above.size)
        else:
            own = weights[over]
            total, count = float(np.vdot(own.astype(np.float64), above)), float(own.sum(dtype=np.float64))
        new = max(0.0, (total - size) / count)
        if abs(new - level) <= 1e-12 * level:
            return new
        if new > level:
            T, weights = above, None if weights is None else own
        level = new
    return level
