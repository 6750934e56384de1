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
length off the diagonal is L: L^2 is the sum of squares of the k - 1 largest entries of the row, where those
below l count as l. So s follows from l, and ``sum c`` falls as l rises. Each projection makes two Newton
steps for the levels and starts from the last ones, since nothing here needs to be exact.
Source: Argyriou, Foygel and Srebro 2012 (the norm is the k-support norm).
"""

from dataclasses import dataclass

import numpy as np

from nspca.bounds.dual.stripes import Precision, Stripes
from nspca.covariance.linalg import Array

CUT, CUT_FEW = 0.1, 0.4
"""Weights of the row cuts, relative to the lift: the usual one, and that of a lift of several components
in the larger norm. Larger weights overshoot at the start, smaller are slower.
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
NEWTON_STEPS, TINIEST = 2, 1e-9
"""Newton steps for the levels in each projection; and least slope. A step that leaves the interval in which
the level must lie is replaced by the middle of this interval.
"""


@dataclass(frozen=True, eq=False)
class CutsAim:
    """The point to project: its diagonal (r,), and the squared length of each row off the diagonal.

    The lengths are the L of the levels. Nonnegative problems count positive entries only.
    """

    diagonal: Array
    squares: Array

    def of(self, rows: np.ndarray | slice) -> "CutsAim":
        return CutsAim(self.diagonal[rows], self.squares[rows])

    def distances(self, z: Array) -> tuple[Array, Array, Array]:
        """Return for each row: diagonal minus centre, distance from centre, and distance from ball."""
        centred = self.diagonal - z / 2
        length = np.sqrt(self.squares + centred**2)
        return centred, length, np.maximum(length - z / 2, 0.0)

    def shrink(self, z: Array) -> Array:
        """Return the share s that each row keeps of what lies above its level."""
        _, length, distance = self.distances(z)
        return np.where(distance > 0, (z / 2) / np.where(length > 0, length, 1.0), 1.0)

    def slopes(self, z: Array) -> tuple[Array, Array]:
        """Return ``-phi'`` (the height of the row of M) and ``phi''`` at z, (r,) each."""
        centred, length, distance = self.distances(z)
        safe = np.where(length > SHORT, length, 1.0)
        share = (centred + length) / (2 * safe)
        curvature = np.where(distance > 0, share**2 + distance * self.squares / (4 * safe**3), 0.0)
        return distance * share, curvature + 1e-6  # a positive curvature keeps Newton steps finite


class Cuts:
    """Block of a `Splitting` for the row cuts. A `Lift` chooses z; the weight is 0 for the first `wait`
    steps, and for good where that is 0.

    Attributes
    ----------
    T, Z : (n, n)
        The last projected point, and its projection; ``T - Z`` is the scaled dual, which is not symmetric.
    usual : float
        Weight once the wait is over.
    level : (n,)
        The levels l of the last projection; 0 where rows may have any number of entries.
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
        self.level, self.limits = np.zeros(n), np.zeros((2, n))
        self.stripes = Stripes(n, precision)

    @property
    def is_sparse(self) -> bool:
        """Tell whether rows may have too many entries."""
        return 1 < self.k < len(self.Z)

    @property
    def dual(self) -> Array:
        return self.T - self.Z

    @property
    def M(self) -> Array | None:
        """M (n, n) of the inequality, made from the scaled dual; None while the weight is 0."""
        return self.rho * self.weight * self.dual.astype(np.float64) if self.weight else None

    def wake(self, X: Array) -> None:
        """Count one step of waiting, and begin after the last."""
        if self.wait > 0:
            self.wait -= 1
            if self.wait == 0:
                self.begin(X)

    def begin(self, X: Array, M: Array | None = None, weight: float | None = None) -> None:
        """Begin to take part in the steps, from the present X; `wake` calls it when the wait is over."""
        weight = weight or self.usual
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
                least = len(X) - self.k
                self.limits[:, part] = np.sort(b, axis=1)[:, least : least + 2].T
                self.level[part] = np.maximum(self.level[part], self.limits[0, part])
            elif self.k == 1:  # entries off the diagonal cost nothing
                b[:] = 0.0
        squares = np.concatenate([self._squares(part, buffer) for part, buffer in self.stripes])
        return CutsAim(self.T[diagonal].astype(np.float64), squares)

    def settle(self, aim: CutsAim, z: Array) -> None:
        diagonal = np.empty(len(z))
        for part, buffer in self.stripes:
            own = aim.of(part)
            if self.is_sparse:
                own = self._levelled(part, buffer, own, z[part])
            b, shrink = self.Z[part], own.shrink(z[part])
            diagonal[part] = own.distances(z[part])[0] * shrink + z[part] / 2
            np.subtract(b, ((1 - shrink) * self.level[part]).astype(b.dtype)[:, None], out=buffer)
            np.maximum(buffer, 0.0, out=buffer)
            b *= shrink.astype(b.dtype)[:, None]
            np.minimum(b, buffer, out=b)
            if not self.nonneg:
                np.copysign(b, self.T[part], out=b)
        self.Z[np.diag_indices_from(self.Z)] = diagonal

    def _squares(self, part: slice, buffer: np.ndarray) -> Array:
        """Return the L^2 of some rows, for levels that at most k - 1 entries exceed."""
        b, level = self.Z[part], self.level[part]
        if not self.is_sparse:
            return np.einsum("ij,ij->i", b, b).astype(np.float64)
        large = b > level.astype(b.dtype)[:, None]
        np.multiply(b, large, out=buffer)
        own = np.einsum("ij,ij->i", buffer, buffer).astype(np.float64)
        return own + (self.k - 1 - np.count_nonzero(large, axis=1)) * level**2

    def _levelled(self, part: slice, buffer: np.ndarray, aim: CutsAim, z: Array) -> CutsAim:
        """Improve the levels of some rows for given z, and return their `aim` with the new L^2."""
        b, few, level = self.Z[part], self.k - 1, self.level[part]
        low, high = np.maximum(self.limits[:, part], LEAST_LEVEL)
        high = high / (1 - LEAST_SHRINK) + z / (2 * np.sqrt(few))
        level[:] = np.where((low <= level) & (level <= high), level, np.sqrt(low * high))
        for _ in range(NEWTON_STEPS):
            aim = CutsAim(aim.diagonal, self._squares(part, buffer))
            s = np.maximum(aim.shrink(z), LEAST_SHRINK)
            np.multiply(b, (1 / (s * level)).astype(b.dtype)[:, None], out=buffer)
            buffer -= (1 / s - 1).astype(b.dtype)[:, None]
            large, some = np.count_nonzero(buffer > 1, axis=1), np.count_nonzero(buffer > 0, axis=1)
            total = np.clip(buffer, 0.0, 1.0, out=buffer).sum(axis=1, dtype=np.float64)
            _, length, distance = aim.distances(z)
            # how s grows with the level, as a power; within the ball it stays 1, and no entry is lost
            power = np.where(distance > 0, 1 - np.maximum(few - large, 0) * (level / length) ** 2, 1.0)
            slope = power * (total - large) + (1 / s - power) * (some - large)  # of the sum, in log(1 / l)
            low, high = np.where(total > few, level, low), np.where(total > few, high, level)
            new = level * (1 + (total - few) / np.maximum(slope, TINIEST))
            level[:] = np.where((low <= new) & (new <= high), new, np.sqrt(low * high))
        return CutsAim(aim.diagonal, self._squares(part, buffer))
