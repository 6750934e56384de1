"""The block of the entries: ``X >= 0, <J, X> <= size`` (signed: ``sum |X_ij| <= size``); its dual is W."""

from dataclasses import dataclass

import numpy as np

from nspca.bounds.dual.stripes import Precision, Stripes
from nspca.covariance.linalg import Array

NEWTON_CAP = 40
"""Newton steps for a threshold; from the last one two or three are enough."""
NEAR = 0.9
"""Entries above this share of the last level are set apart: the next level is hardly ever below it."""


@dataclass(frozen=True, eq=False)
class EntriesAim:
    """Entries that the level may depend on.

    Attributes
    ----------
    large : magnitudes of the entries above `cut`
    above : number of entries above the level so far
    """

    large: Array
    cut: float
    above: int


class Entries:
    """X >= 0 and <J, X> <= size (signed: sum |X_ij| <= size); W is its dual, tau at least `floor`.

    Attributes
    ----------
    size : float
        k, or less when a lift knows more.
    level : float
        Largest entry of the dual.
    T, Y : (n, n)
        The point that was projected last, and its projection; ``T - Y`` is the dual.
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
        W = (self.T - self.Y).astype(np.float64)
        return (W + W.T) * (self.rho / 2)

    @property
    def tau(self) -> float:
        """Largest entry of W, and at least the floor."""
        return max(self.floor, self.rho * self.level)

    def resume(self, dual: Array, X: Array) -> None:
        self.Y[:] = X if not self.nonneg else np.maximum(X, 0.0)
        self.T[:] = dual + self.Y
        self.level = max(0.0, float((dual if self.nonneg else np.abs(dual)).max()))

    def pull(self, X: Array, G: Array) -> None:
        for part, _ in self.stripes:
            G[part] += X[part]
            G[part] += self.T[part]
            G[part] -= self.Y[part]
            G[part] -= self.Y[part]

    def aim(self, X: Array, relaxation: float) -> EntriesAim:
        """The next point to project, and the level for the size so far."""
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
        """Project, for another size than so far if one is given: what the weights of a lift say."""
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
        level, least = threshold_of_sum(aim.large, size, start), self.floor / self.rho
        if level < aim.cut and least < aim.cut:  # those set apart are not all that matter
            level = threshold_of_sum(self.T if self.nonneg else np.abs(self.T), size, start)
        return max(least, level)


def threshold_of_sum(T: Array, size: float, start: float) -> float:
    """The smallest level >= 0 with ``sum max(T - level, 0) <= size``, by Newton steps from the last level.

    The sum is convex and decreasing in the level: from the left the steps climb to the root, from the right
    one step leads to the left of it. Once on the left, only what is above can matter.
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
