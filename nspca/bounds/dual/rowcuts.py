"""The block `Cuts` of a splitting: row cuts ``sum_l X_il^2 <= X_ii z_i``, with z from a `Lift`; its dual is
M.

Every X = xx' of a feasible x satisfies the row cuts with z the indicator of its support. For fixed z, row i
lies in the ball of centre (z_i/2) e_i and radius z_i/2. The cost of z is phi_i(z_i), half the squared
distance from that ball.
"""

from dataclasses import dataclass

import numpy as np

from nspca.bounds.dual.stripes import Precision, Stripes
from nspca.covariance.linalg import Array

CUT = 0.1
"""Weight of the row cuts, relative to the lift. Larger weights overshoot at the start, smaller are slower."""
WAIT = 40
"""Steps before the row cuts begin, in which the bundle of the lift grows. A feature that no point of the
bundle uses has z = 0 and would get a huge row of M.
"""

SHORT = 1e-100
"""Rows no longer than this count as having no direction: the cube of their length is 0 in floating point."""


@dataclass(frozen=True, eq=False)
class CutsAim:
    """The point to project: its diagonal (r,), and the sum of squares of each row off the diagonal.

    Nonnegative problems count positive entries only.
    """

    diagonal: Array
    squares: Array

    def of(self, rows: np.ndarray) -> "CutsAim":
        """Return the diagonal and the sums of squares of some rows."""
        return CutsAim(self.diagonal[rows], self.squares[rows])

    def distances(self, z: Array) -> tuple[Array, Array, Array]:
        """Return for each row: diagonal minus centre, distance from centre, and distance from ball."""
        centred = self.diagonal - z / 2
        length = np.sqrt(self.squares + centred**2)
        return centred, length, np.maximum(length - z / 2, 0.0)

    def slopes(self, z: Array) -> tuple[Array, Array]:
        """Return ``-phi'`` (the height of the row of M) and ``phi''`` at z, (r,) each."""
        centred, length, distance = self.distances(z)
        safe = np.where(length > SHORT, length, 1.0)
        share = (centred + length) / (2 * safe)
        curvature = np.where(distance > 0, share**2 + distance * self.squares / (4 * safe**3), 0.0)
        return distance * share, curvature + 1e-6  # a positive curvature keeps Newton steps finite


class Cuts:
    """Block of a `Splitting` for the row cuts. A `Lift` chooses z; the weight is 0 for the first `wait`
    steps.

    Attributes
    ----------
    T, Z : (n, n)
        The last projected point, and its projection; ``T - Z`` is the scaled dual, which is not symmetric.
    """

    def __init__(self, n: int, nonneg: bool, rho: float, wait: int = WAIT, precision: Precision = np.float64):
        self.nonneg, self.rho, self.wait, self.weight = nonneg, rho, wait, 0.0
        self.T: np.ndarray = np.zeros((n, n), precision)
        self.Z, self.part = np.zeros_like(self.T), np.zeros_like(self.T)
        self.stripes = Stripes(n, precision)

    @property
    def dual(self) -> Array:
        """Scaled dual ``T - Z`` (n, n)."""
        return self.T - self.Z

    @property
    def M(self) -> Array | None:
        """M (n, n) of the inequality, made from the scaled dual; None while the weight is 0."""
        return self.rho * self.weight * self.dual.astype(np.float64) if self.weight else None

    def wake(self, X: Array) -> None:
        """Count one step of waiting, and begin after the last."""
        self.wait -= 1
        if self.wait == 0:
            self.begin(X)

    def begin(self, X: Array, M: Array | None = None, weight: float = CUT) -> None:
        """Begin to take part in the steps, from the present X; `wake` calls it when the wait is over."""
        self.wait, self.weight = 0, weight
        self.Z[:], self.T[:] = X, X if M is None else X + M / (self.rho * weight)

    def pull(self, X: Array, G: Array) -> None:
        """Add the gradient of this block's penalty at X to G."""
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
        """Return the next point to project, None while the weight is 0.

        The entries that count off the diagonal are left in Z for `settle`.
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
        """Set Z to the projection for the given z."""
        centred, length, _ = aim.distances(z)
        shrink = np.where(length > z / 2, (z / 2) / np.where(length > 0, length, 1.0), 1.0)
        self.Z *= shrink.astype(self.Z.dtype)[:, None]
        self.Z[np.diag_indices_from(self.Z)] = centred * shrink + z / 2
