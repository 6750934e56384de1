"""The block of the row cuts: ``sum_l X_il^2 <= X_ii z_i``, z from the supports of a `Lift`; its dual is M.

Every X = xx' of a feasible x satisfies it with z the indicator of the support. Once z is known, row i of the
projection is a ball of centre (z_i/2) e_i and radius z_i/2; half the squared distance from it, phi_i(z_i), is
what z costs.
"""

from dataclasses import dataclass

import numpy as np

from nspca.bounds.dual.stripes import Precision, Stripes
from nspca.covariance.linalg import Array

CUT = 0.1
"""Weight of the row cuts against one of the lift; larger overshoots when they begin, smaller is slower."""
WAIT = 40
"""Steps of the lift alone, for its bundle: a feature outside that has z = 0 and a huge row of M."""


@dataclass(frozen=True, eq=False)
class CutsAim:
    """Point to project: its diagonal, and for each row the sum of squares of the other entries that cost
    something.
    """

    diagonal: Array
    squares: Array

    def of(self, rows: np.ndarray) -> "CutsAim":
        """Return this for some rows."""
        return CutsAim(self.diagonal[rows], self.squares[rows])

    def distances(self, z: Array) -> tuple[Array, Array, Array]:
        """Diagonal from the centre, length from the centre and distance of each row, (r,) each."""
        centred = self.diagonal - z / 2
        length = np.sqrt(self.squares + centred**2)
        return centred, length, np.maximum(length - z / 2, 0.0)

    def slopes(self, z: Array) -> tuple[Array, Array]:
        """``-phi'`` (the height of the row's dual) and ``phi''`` at z."""
        centred, length, distance = self.distances(z)
        safe = np.where(length > 0, length, 1.0)
        share = (centred + length) / (2 * safe)
        curvature = np.where(distance > 0, share**2 + distance * self.squares / (4 * safe**3), 0.0)
        return distance * share, curvature + 1e-6  # a little everywhere keeps the steps finite


class Cuts:
    """Block of a `Splitting` whose z a `Lift` chooses; of no weight for its first `wait` steps.

    Attributes
    ----------
    T, Z : (n, n)
        The point that was projected last, and its projection; ``T - Z`` is the dual, which is not symmetric.
    """

    def __init__(self, n: int, nonneg: bool, rho: float, wait: int = WAIT, precision: Precision = np.float64):
        self.nonneg, self.rho, self.wait, self.weight = nonneg, rho, wait, 0.0
        self.T: np.ndarray = np.zeros((n, n), precision)
        self.Z, self.part = np.zeros_like(self.T), np.zeros_like(self.T)
        self.stripes = Stripes(n, precision)

    @property
    def dual(self) -> Array:
        return self.T - self.Z

    @property
    def M(self) -> Array | None:
        return self.rho * self.weight * self.dual.astype(np.float64) if self.weight else None

    def wake(self, X: Array) -> None:
        """One step less to wait."""
        self.wait -= 1
        if self.wait == 0:
            self.begin(X)

    def begin(self, X: Array, M: Array | None = None, weight: float = CUT) -> None:
        """Count from now on, from the X and perhaps the M of a related problem."""
        self.wait, self.weight = 0, weight
        self.Z[:], self.T[:] = X, X if M is None else X + M / (self.rho * weight)

    def pull(self, X: Array, G: Array) -> None:
        if not self.weight:
            return
        for part, _ in self.stripes:
            half = np.subtract(self.T[part], self.Z[part], out=self.part[part])
            half -= self.Z[part]
            half *= 0.5
        for part, buffer in self.stripes:
            np.add(self.part[part], self.part[:, part].T, out=buffer)
            buffer += X[part]
            buffer *= self.weight
            G[part] += buffer

    def aim(self, X: Array, relaxation: float) -> CutsAim | None:
        """The next point to project, None while the cuts do not count; nonnegative: below zero nothing costs.

        What costs anything is left in Z, where `settle` finds it.
        """
        if not self.weight:
            return None
        squares, diagonal = np.empty(len(X)), np.diag_indices_from(X)
        for part, buffer in self.stripes:
            np.subtract(X[part], self.Z[part], out=buffer)
            buffer *= relaxation
            self.T[part] += buffer
            if self.nonneg:
                np.maximum(self.T[part], 0.0, out=self.Z[part])
            else:
                self.Z[part] = self.T[part]
            self.Z[diagonal[0][part], diagonal[1][part]] = 0.0
            squares[part] = np.einsum("ij,ij->i", self.Z[part], self.Z[part])
        return CutsAim(self.T[diagonal].astype(np.float64), squares)

    def settle(self, aim: CutsAim, z: Array) -> None:
        """Project with this z."""
        centred, length, _ = aim.distances(z)
        shrink = np.where(length > z / 2, (z / 2) / np.where(length > 0, length, 1.0), 1.0)
        self.Z *= shrink.astype(self.Z.dtype)[:, None]
        self.Z[np.diag_indices_from(self.Z)] = centred * shrink + z / 2
