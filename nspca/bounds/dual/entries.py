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
    large : magnitudes of the entries above `cut`
    cut : lower limit of the entries in `large`
    above : number of entries above the last level
    """

    large: Array
    cut: float
    above: int


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
    """

    weight = 1.0

    def __init__(
        self, n: int, k: int, nonneg: bool, rho: float, floor: float, precision: Precision = np.float64
    ):
        self.size, self.nonneg, self.rho, self.floor = float(k), nonneg, rho, floor
        self.T: np.ndarray = np.zeros((n, n), precision)
        self.Y, self.level = np.zeros_like(self.T), 0.0
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
        self.level = max(0.0, float((dual if self.nonneg else np.abs(dual)).max()))

    def pull(self, X: Array, G: Array) -> None:
        """Add the gradient of this block's penalty at X to G."""
        for part, _ in self.stripes:
            G[part] += X[part]
            G[part] += self.T[part]
            G[part] -= self.Y[part]
            G[part] -= self.Y[part]

    def aim(self, X: Array, relaxation: float) -> EntriesAim:
        """Move T by over-relaxation towards X, and return the data for choosing the level."""
        cut, large = NEAR * self.level, []
        for part, buffer in self.stripes:
            T = self.T[part]
            np.subtract(X[part], self.Y[part], out=buffer)
            buffer *= relaxation
            T += buffer
            magnitudes = T if self.nonneg else np.abs(T, out=buffer)
            large.append(magnitudes[magnitudes > cut])
        aim = EntriesAim(np.concatenate(large), cut, 1)
        self.level = self._level(aim, self.size, self.level)
        return EntriesAim(aim.large, cut, max(1, int(np.count_nonzero(aim.large > self.level))))

    def settle(self, aim: EntriesAim, size: float | None = None) -> None:
        """Project T, with a new `size` if one is given (by the weights of a lift)."""
        if size is not None:
            # A larger size lowers the level by its share of the entries above.
            start = max(0.0, self.level - (size - self.size) / aim.above)
            self.size, self.level = size, self._level(aim, size, start)
        for part, _ in self.stripes:
            T, Y = self.T[part], self.Y[part]
            if self.nonneg:
                np.subtract(T, self.level, out=Y)
                np.maximum(Y, 0.0, out=Y)
            else:
                np.clip(T, -self.level, self.level, out=Y)
                np.subtract(T, Y, out=Y)

    def _level(self, aim: EntriesAim, size: float, start: float) -> float:
        """Return the level at which the projection of T has the given size, at least `floor` over rho."""
        level, least = threshold_of_sum(aim.large, size, start), self.floor / self.rho
        if level < aim.cut and least < aim.cut:  # entries below the cut matter too
            level = threshold_of_sum(self.T if self.nonneg else np.abs(self.T), size, start)
        return max(least, level)


def threshold_of_sum(T: Array, size: float, start: float) -> float:
    """Return the smallest level >= 0 with ``sum max(T - level, 0) <= size``, by Newton steps from `start`.

    The sum is convex and decreasing in the level. From the left the steps increase to the root. From the
    right one step leads to the left of it. On the left, only entries above the level matter.
    """
    T, level = T.ravel(), start
    for _ in range(NEWTON_CAP):
        above = T[level < T]
        if above.size == 0:
            if level == 0.0:
                return 0.0
            level = 0.0
            continue
        new = max(0.0, (float(above.sum(dtype=np.float64)) - size) / above.size)
        if abs(new - level) <= 1e-12 * level:
            return new
        if new > level:
            T = above
        level = new
    return level
