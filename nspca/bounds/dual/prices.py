"""Prices of features: found for several disjoint components by the method of multipliers, or given.

No feature is in two supports: ``z <= 1`` for ``z = sum_j w_j 1(I_j)``. The multipliers pi of this constraint
are the prices. The term ``bend / 2 |(z - 1 + pi / bend)+|^2`` is added to the objective in the weights w, and
afterwards ``pi = bend (z - 1 + pi / bend)+``. Any nonnegative prices give a valid bound.

A `Lift` for several components updates its `Prices` at every step. A lift for one component has `Given` ones
where the search over disjoint components (`bounds.disjoint`) gave its rows prices.
"""

import numpy as np

from nspca.covariance.linalg import Array


class Prices:
    """Prices of the kept rows.

    Attributes
    ----------
    values : (r,) float64, not negative
    bend : float
        Penalty parameter: increase of a price per unit of z - 1.
    """

    def __init__(self, n: int, bend: float = 1.0):
        self.values, self.bend = np.zeros(n), bend

    def of(self, rows: np.ndarray) -> "Prices":
        """Return the prices restricted to some rows."""
        some = Prices(0, self.bend)
        some.values = self.values[rows]
        return some

    def cost(self, z: Array) -> float:
        """Return the penalty term at z (r,)."""
        over = self._over(z)
        return self.bend / 2 * float(over @ over)

    def slopes(self, z: Array) -> tuple[Array, Array]:
        """Return first and second derivatives (r,) of the penalty term in each z."""
        over = self._over(z)
        return self.bend * over, np.where(over > 0, self.bend, 0.0)

    def settle(self, z: Array) -> None:
        """Update the prices for the present z."""
        self.values = self.bend * self._over(z)

    def _over(self, z: Array) -> Array:
        """Return ``(z - 1 + pi / bend)+`` (r,): the excess of each row that the penalty term punishes."""
        return np.maximum(z - 1 + self.values / self.bend, 0.0)


class Given(Prices):
    """Prices of the kept rows that are given and do not change."""

    def __init__(self, values: Array):
        super().__init__(0)
        self.values = values

    def of(self, rows: np.ndarray) -> "Given":
        """Return the prices of some rows."""
        return Given(self.values[rows])

    def cost(self, z: Array) -> float:
        """Return the price of using features z times."""
        return float(self.values @ z)

    def slopes(self, z: Array) -> tuple[Array, Array]:
        """Return first and second derivatives (r,) of the price in each z."""
        return self.values, np.zeros(len(self.values))

    def settle(self, z: Array) -> None:
        """Leave the prices as they are."""
