"""Prices of features: found for several disjoint components by the method of multipliers, or given.

No feature is in two supports: ``z <= 1`` for ``z = sum_j w_j 1(I_j)``. The multipliers pi of this constraint
are the prices. The term ``bend / 2 |(z - 1 + pi / bend)+|^2`` is added to the objective in the weights w, and
afterwards ``pi = bend (z - 1 + pi / bend)+``. Any nonnegative prices give a valid bound.

A `Lift` for several components updates its `Priced` at every step. A lift for one component has given ones
where the search over disjoint components (`bounds.disjoint`) gave its rows prices.
"""

import numpy as np

from nspca.covariance.linalg import Array


class Priced:
    """Prices of the kept rows.

    Attributes
    ----------
    values : (r,) float64, not negative
    is_given : bool
        Whether the prices do not change. Using features z times then costs ``values @ z``.
    bend : float
        Penalty parameter of prices that change: increase of a price per unit of z - 1.
    """

    def __init__(self, values: Array, is_given: bool = False, bend: float = 1.0):
        self.values, self.is_given, self.bend = values, is_given, bend

    def of(self, rows: np.ndarray) -> "Priced":
        return Priced(self.values[rows], self.is_given, self.bend)

    def cost(self, z: Array) -> float:
        if self.is_given:
            return float(self.values @ z)
        over = self._over(z)
        return self.bend / 2 * float(over @ over)

    def slopes(self, z: Array) -> tuple[Array, Array]:
        """Return first and second derivatives (r,) of the penalty term in each z."""
        if self.is_given:
            return self.values, np.zeros(len(self.values))
        over = self._over(z)
        return self.bend * over, np.where(over > 0, self.bend, 0.0)

    def settle(self, z: Array) -> None:
        if not self.is_given:
            self.values = self.bend * self._over(z)

    def _over(self, z: Array) -> Array:
        """Return ``(z - 1 + pi / bend)+`` (r,): the excess of each row that the penalty term punishes."""
        return np.maximum(z - 1 + self.values / self.bend, 0.0)
