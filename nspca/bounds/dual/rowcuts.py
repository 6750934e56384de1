"""The block of the row cuts: ``sum_l X_il^2 <= X_ii z_i``, z from the supports of a `Lift`; its dual is M.

Every X = xx' of a feasible x satisfies it with z the indicator of the support. Once z is known, row i of the
projection is a ball of centre (z_i/2) e_i and radius z_i/2; half the squared distance from it, phi_i(z_i), is
what z costs.
"""

from dataclasses import dataclass

import numpy as np

from nspca.matrix.linalg import Array

CUT = 0.1
"""Weight of the row cuts against one of the lift; larger overshoots when they begin, smaller is slower."""
WAIT = 40
"""Steps of the lift alone, for its bundle: a feature outside that has z = 0 and a huge row of M."""


@dataclass(frozen=True, eq=False)
class CutsAim:
    """The point T to project, its diagonal, the rest that costs anything, and the row sums of its squares."""

    T: Array
    diagonal: Array
    wanted: Array
    squares: Array

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

    The dual matrix is not symmetric.
    """

    def __init__(self, n: int, nonneg: bool, rho: float, wait: int = WAIT):
        self.nonneg, self.rho, self.wait, self.weight = nonneg, rho, wait, 0.0
        self.Z, self.dual = np.zeros((n, n)), np.zeros((n, n))

    @property
    def M(self) -> Array | None:
        return self.rho * self.weight * self.dual if self.weight else None

    def wake(self, X: Array) -> None:
        """One step less to wait."""
        self.wait -= 1
        if self.wait == 0:
            self.begin(X)

    def begin(self, X: Array, M: Array | None = None, weight: float = CUT) -> None:
        """Count from now on, from the X and perhaps the M of a related problem."""
        self.wait, self.weight, self.Z = 0, weight, X.copy()
        if M is not None:
            self.dual = M / (self.rho * weight)

    def pull(self, X, G):
        if self.weight:
            part = self.dual - self.Z
            G += self.weight * (X + (part + part.T) / 2)

    def aim(self, X: Array, relaxation: float) -> CutsAim | None:
        """The point to project, None while the cuts do not count; nonnegative: below zero nothing costs."""
        if not self.weight:
            return None
        T = relaxation * X + (1 - relaxation) * self.Z + self.dual
        wanted = np.maximum(T, 0.0) if self.nonneg else T.copy()
        wanted[np.diag_indices_from(T)] = 0.0
        return CutsAim(T, np.diag(T).copy(), wanted, np.einsum("ij,ij->i", wanted, wanted))

    def settle(self, aim: CutsAim, z: Array) -> None:
        """Project with this z."""
        centred, length, _ = aim.distances(z)
        shrink = np.where(length > z / 2, (z / 2) / np.where(length > 0, length, 1.0), 1.0)
        self.Z = aim.wanted * shrink[:, None]
        self.Z[np.diag_indices_from(self.Z)] = centred * shrink + z / 2
        self.dual = aim.T - self.Z
