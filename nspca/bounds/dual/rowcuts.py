"""The block `Cuts` of a splitting: each row of X is short and has few entries. Its dual is M.

For a feasible x of at most k entries, row i of X = xx' is x_i x. With z the indicator of the support,

    |X_iJ|^2 <= X_ii (z_i - X_ii)    (J: all features but i),

in the 2-norm, and in a larger norm too: the one whose unit ball is the hull of the unit vectors with at most
k - 1 entries. In the 2-norm alone, row i would be in the ball of centre (z_i/2) e_i and radius z_i/2. The
dual of the larger norm is the 2-norm of the k - 1 largest entries, which is all that a height counts of a row
of M (`inequality`). The cost of z is phi_i(z_i), half the squared distance of row i from what is allowed. A
`Lift` chooses z.

*Projection.* Let b be the magnitudes in row i off the diagonal. The nearest allowed row has

    min(s b, (b - (1 - s) l)+)    for a share s, the *shrink*, and a *level* l.

Entries above l keep the share s. With ``c = clip((b / l - (1 - s)) / s, 0, 1)``, which is 1 for them and 0
for entries that vanish, l is such that ``sum c = k - 1``. The row then moves like one in the ball whose
length off the diagonal is L, ``L^2 = sum c max(b, l)^2``. That gives s. A step makes two Newton steps for the
levels and starts from the last ones, since nothing here needs to be exact.
Source: Argyriou, Foygel and Srebro 2012 (the norm is the k-support norm).
"""

from dataclasses import dataclass

import numpy as np

from nspca.bounds.dual.stripes import Precision, Stripes
from nspca.covariance.linalg import Array

CUT, CUT_FEW = 0.1, 0.4
"""Weights of the row cuts, relative to the lift: the usual one, and that of a lift of several components
in the larger norm. Larger weights overshoot at the start, smaller are slower. With the second one, a search over
sets ended at a gap of 2e-5 on digits, nonnegative, which the first proves optimal.
"""
WAIT = 40
"""Steps before the row cuts begin, in which the bundle of the lift grows. A feature that no point of the
bundle uses has z = 0 and would get a huge row of M.
"""

SHORT = 1e-100
"""Rows no longer than this count as having no direction: the cube of their length is 0 in floating point."""
LEAST_SHRINK, LEAST_LEVEL = 1e-3, 1e-7
"""Least shrink in the equation for a level, which would have a jump at 0; and least level. Entries of X are
at most 1.
"""
DAMPED, FARTHEST, TINIEST = 0.5, 2.0, 1e-9
"""Share of a Newton step for the levels that is made, since whole steps may swing where few entries
lie between (1 - s) l and l; largest factor by which a step changes a level; and least slope.
"""


@dataclass(frozen=True, eq=False)
class CutsAim:
    """The point to project: its diagonal (r,), and the squared length of each row off the diagonal.

    The lengths are the L of the levels. Nonnegative problems count positive entries only.
    """

    diagonal: Array
    squares: Array

    def of(self, rows: np.ndarray) -> "CutsAim":
        """Return the diagonal and the squared lengths of some rows."""
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
    usual : float
        Weight once the wait is over.
    shrink, level : (n,)
        The shares s and levels l of the last projection.
    limits : (2, n)
        The k-th and the (k - 1)-th largest magnitude off the diagonal of each row.
    """

    def __init__(
        self, n: int, k: int, nonneg: bool, rho: float, wait: int = WAIT, precision: Precision = np.float64
    ):
        self.k, self.nonneg, self.rho, self.wait, self.weight = k, nonneg, rho, wait, 0.0
        self.usual = CUT
        self.T: np.ndarray = np.zeros((n, n), precision)
        self.Z, self.part = np.zeros_like(self.T), np.zeros_like(self.T)
        self.shrink, self.level, self.limits = np.ones(n), np.zeros(n), np.zeros((2, n))
        self.stripes = Stripes(n, precision)

    @property
    def is_sparse(self) -> bool:
        """Tell whether rows may have too many entries."""
        return 1 < self.k < len(self.Z)

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

    def begin(self, X: Array, M: Array | None = None, weight: float | None = None) -> None:
        """Begin to take part in the steps, from the present X; `wake` calls it when the wait is over."""
        weight = weight or self.usual
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

        The magnitudes b that count off the diagonal are left in Z for `settle`.
        """
        if not self.weight:
            return None
        diagonal = np.diag_indices_from(X)
        for part, buffer in self.stripes:
            np.subtract(X[part], self.Z[part], out=buffer)
            buffer *= relaxation
            T, b = self.T[part], self.Z[part]
            T += buffer
            if self.nonneg:
                np.maximum(T, 0.0, out=b)
            else:
                np.abs(T, out=b)
            self.Z[diagonal[0][part], diagonal[1][part]] = 0.0
            if self.is_sparse:  # at most k - 1 entries are larger than the level, and as many do not vanish
                least, places = len(X) - self.k, (len(X) - self.k, len(X) - self.k + 1)
                self.limits[:, part] = np.partition(b, places, axis=1)[:, least : least + 2].T
        return CutsAim(self.T[diagonal].astype(np.float64), self._squares())

    def settle(self, aim: CutsAim, z: Array) -> None:
        """Set Z to the projection for the given z."""
        self._shrink_to(aim, z)
        aim = CutsAim(aim.diagonal, self._squares())
        centred = self._shrink_to(aim, z)
        shrink = self.shrink.astype(self.Z.dtype)
        lost = ((1 - self.shrink) * self.level).astype(self.Z.dtype)
        for part, buffer in self.stripes:
            b = self.Z[part]
            np.subtract(b, lost[part, None], out=buffer)
            np.maximum(buffer, 0.0, out=buffer)
            b *= shrink[part, None]
            np.minimum(b, buffer, out=b)
            if not self.nonneg:
                np.copysign(b, self.T[part], out=b)
        self.Z[np.diag_indices_from(self.Z)] = centred * self.shrink + z / 2

    def _shrink_to(self, aim: CutsAim, z: Array) -> Array:
        """Set the shrink for given lengths and z, and return the diagonal minus the centre (n,)."""
        centred, length, _ = aim.distances(z)
        inside = length <= z / 2
        self.shrink = np.where(inside, 1.0, (z / 2) / np.where(length > 0, length, 1.0))
        return centred

    def _squares(self) -> Array:
        """Move the levels by a Newton step in 1/l, for the last shrink, and return the L^2 (n,) of before."""
        squares, few = np.empty(len(self.Z)), self.k - 1
        if self.k == 1:  # entries off the diagonal cost nothing
            self.Z[:] = 0.0
        if not self.is_sparse:
            for part, _ in self.stripes:
                squares[part] = np.einsum("ij,ij->i", self.Z[part], self.Z[part])
            return squares
        s = np.maximum(self.shrink, LEAST_SHRINK)
        least, most = np.maximum(self.limits, LEAST_LEVEL)
        most = most / np.maximum(1 - s, LEAST_LEVEL)
        inside = (least < self.level) & (self.level < most)
        self.level = np.where(inside, self.level, np.sqrt(least * most))
        for part, buffer in self.stripes:
            b, level = self.Z[part], self.level[part]
            np.multiply(b, (1 / (s[part] * level)).astype(b.dtype)[:, None], out=buffer)
            buffer -= (1 / s[part] - 1).astype(b.dtype)[:, None]
            large, some = np.count_nonzero(buffer >= 1, axis=1), np.count_nonzero(buffer > 0, axis=1)
            c = np.clip(buffer, 0.0, 1.0, out=buffer)
            total = c.sum(axis=1, dtype=np.float64)
            slope = total - large + (some - large) * (1 / s[part] - 1)  # of the sum, in log(1 / l)
            np.sqrt(c, out=c)
            c *= np.maximum(b, level.astype(b.dtype)[:, None])
            squares[part] = np.einsum("ij,ij->i", c, c)
            steps = DAMPED * (few - total) / np.maximum(slope, TINIEST)
            level /= np.clip(1 + steps, 1 / FARTHEST, FARTHEST)
        return squares
