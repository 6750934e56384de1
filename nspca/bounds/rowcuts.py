"""The block of the row cuts: ``sum_l X_il^2 <= X_ii z_i`` with z from the supports of a `Lift`; M is its dual.

Every X = xx' of a feasible x satisfies it with z the indicator of the support. Once z is known, row i of the projection is a
ball of centre (z_i/2) e_i and radius z_i/2; half the squared distance from it, phi_i(z_i), is what z costs.
"""

import numpy as np

from nspca.linalg import Array


class Cuts:
    """Block of a `Splitting` whose z a `Lift` chooses; of no weight until that turns it on. The dual matrix is not symmetric."""

    def __init__(self, splitting, nonneg: bool):
        self.of, self.nonneg, self.weight = splitting, nonneg, 0.0
        self.Z, self.dual = np.zeros_like(splitting.A), np.zeros_like(splitting.A)
        splitting.blocks.append(self)

    @property
    def M(self) -> Array:
        return self.of.rho * self.weight * self.dual

    def begin(self, weight: float, X: Array, M: Array | None = None) -> None:
        """Count from now on, from the X and perhaps the M of a related problem."""
        self.weight, self.Z = weight, X.copy()
        if M is not None:
            self.dual = M / (self.of.rho * weight)

    def pull(self, G):
        if self.weight:
            part = self.dual - self.Z
            G += self.weight * (self.of.X + (part + part.T) / 2)

    def update(self, relaxation):
        """Only the point to project, its diagonal, and the squares of the rest (nonnegative: what is below zero costs nothing)."""
        if self.weight:
            self.T = relaxation * self.of.X + (1 - relaxation) * self.Z + self.dual
            self.diagonal = np.diag(self.T).copy()
            self.wanted = np.maximum(self.T, 0.0) if self.nonneg else self.T.copy()
            self.wanted[np.diag_indices_from(self.T)] = 0.0
            self.squares = np.einsum("ij,ij->i", self.wanted, self.wanted)

    def settle(self, z: Array) -> None:
        """Project with this z."""
        centred, length, _ = self.distances(z)
        shrink = np.where(length > z / 2, (z / 2) / np.where(length > 0, length, 1.0), 1.0)
        self.Z = self.wanted * shrink[:, None]
        self.Z[np.diag_indices_from(self.Z)] = centred * shrink + z / 2
        self.dual = self.T - self.Z

    def distances(self, z: Array) -> tuple[Array, Array, Array]:
        """Diagonal from the centre, length from the centre and distance of each row, (r,) each."""
        centred = self.diagonal - z / 2
        length = np.sqrt(self.squares + centred**2)
        return centred, length, np.maximum(length - z / 2, 0.0)

    def slopes(self, z: Array) -> tuple[Array, Array]:
        """``-phi'`` (the height of the row's dual) and ``phi''`` at z; a little curvature everywhere keeps the steps finite."""
        centred, length, distance = self.distances(z)
        safe = np.where(length > 0, length, 1.0)
        share = (centred + length) / (2 * safe)
        return distance * share, np.where(distance > 0, share**2 + distance * self.squares / (4 * safe**3), 0.0) + 1e-6
