"""Prices: what a feature costs that several disjoint components want.

No feature is in two supports: `z <= 1` for z = sum_j w_j 1(I_j). The multipliers pi of that are prices, found
by the method of multipliers: `bend / 2 |(z - 1 + pi / bend)+|^2` is added to what is minimised over w, and
then `pi = bend (z - 1 + pi / bend)+`. Any prices that are not negative are valid.
"""

import numpy as np

from nspca.covariance.linalg import Array


class Prices:
    """Prices of the kept rows.

    Attributes
    ----------
    values : (r,) float64, not negative
    bend : float
        How much a price moves when a feature is wanted once too often.
    """

    def __init__(self, n: int, bend: float = 1.0):
        self.values, self.bend = np.zeros(n), bend

    def of(self, rows: np.ndarray) -> "Prices":
        """Return the prices of some rows."""
        some = Prices(0, self.bend)
        some.values = self.values[rows]
        return some

    def cost(self, z: Array) -> float:
        """Return the cost of using features z times."""
        over = self._over(z)
        return self.bend / 2 * float(over @ over)

    def slopes(self, z: Array, supports: Array) -> tuple[Array, Array]:
        """Gradient (p,) and curvature (p, p) of the cost in the weights of supports (r, p)."""
        over = self._over(z)
        dear = supports[over > 0]
        return self.bend * (over @ supports), self.bend * (dear.T @ dear)

    def settle(self, z: Array) -> None:
        """The next prices."""
        self.values = self.bend * self._over(z)

    def _over(self, z: Array) -> Array:
        return np.maximum(z - 1 + self.values / self.bend, 0.0)
