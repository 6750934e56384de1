"""ADMM for the conic relaxation behind B5, B6, B7 and B9: where good W, M and U come from.

    max <A, X>   over   X psd, tr X = 1,   X >= 0, <J, X> <= k     (signed: sum |X_ij| <= k)

Every feasible x gives a feasible X = xx'. The matrix X alternates between the spectraplex (one partial eigendecomposition) and
*blocks*, each a convex set that all xx' belong to: `Entries` (W of the certificate), `rowcuts.Cuts` (M), `lift.Lift` (U). The scaled
dual variable of a block is that part of the witness, and ANY value of it is valid, so nothing here needs to be exact or to have
converged: the bound is evaluated afterwards. Method: ADMM with the X-step linearised (its blocks see X through maps of norm 1),
over-relaxed; with the one block `Entries` it is plain ADMM. Source: Boyd et al. 2011, sections 3.4.3 and 4.4.2.
"""

import numpy as np

from nspca.bounds.elimination import Kept
from nspca.linalg import Array

RELAXATION = 1.6
"""Over-relaxation; 1.5 to 1.8 is what the literature advises."""
DIRECT = 100
"""Up to this size all eigenpairs are computed; above, a warm block Krylov space of the few that matter."""
MARGIN = 4
"""Eigenpairs followed beyond those in use, so that one may enter."""
NEWTON_CAP = 40
"""Newton steps for a threshold; from the last one two or three are enough."""


class Splitting:
    """State of the iteration on the kept rows.

    Attributes
    ----------
    X : (r, r) current matrix of the spectraplex; `weights` (p,) and `vectors` (r, p) are its eigenpairs.
    entries : Entries
    blocks : list
        All blocks, `entries` first; a `Lift` appends itself and its row cuts.
    """

    def __init__(self, kept: Kept, k: int, nonneg: bool, *, rho: float = 1.0):
        self.A, self.n = kept.block, len(kept.block)
        values, vectors = kept.leading
        self.rho = rho * float(values[0])
        self.X = np.zeros_like(self.A)
        self.entries = Entries(self, k, nonneg, kept.floor)
        self.blocks = [self.entries]
        self.basis = vectors if self.n > DIRECT else None
        self.weights, self.vectors = np.ones(1), vectors[:, :1]

    def step(self) -> None:
        """One pass: X to the spectraplex, then every block."""
        total = sum(block.weight for block in self.blocks)
        G = self.A / -self.rho
        for block in self.blocks:
            block.pull(G)
        values, vectors = self._leading(self.X - G / total)
        weights = simplex(values)
        used = int(np.count_nonzero(weights))
        self.weights, self.vectors = weights[:used], vectors[:, :used]
        self.X = (self.vectors * self.weights) @ self.vectors.T
        if self.basis is not None:
            self.basis = np.ascontiguousarray(vectors[:, : used + MARGIN])
        for block in self.blocks:
            block.update(RELAXATION)
        self.entries.settle()

    def resume(self, W: Array, X: Array) -> None:
        """Start from the W and X of a related problem."""
        self.X = X.copy()
        self.entries.resume(W / self.rho, X)

    def _leading(self, M):
        if self.basis is not None:
            return krylov(M, self.basis)
        values, vectors = np.linalg.eigh(M)
        return values[::-1], vectors[:, ::-1]


def krylov(M: Array, start: Array, degree: int = 2) -> tuple[Array, Array]:
    """Ritz pairs, decreasing, of symmetric M (n, n) in the block Krylov space of `start` (n, b)."""
    blocks = [start]
    for _ in range(degree):
        blocks.append(M @ blocks[-1])
    Q = np.linalg.qr(np.hstack(blocks))[0]
    H = Q.T @ (M @ Q)
    values, Z = np.linalg.eigh((H + H.T) / 2)
    return values[::-1], Q @ Z[:, ::-1]


def simplex(values: Array) -> Array:
    """Projection of decreasing `values` (b,) onto the simplex."""
    shifts = (np.cumsum(values) - 1) / np.arange(1, values.size + 1)
    last = np.flatnonzero(values > shifts)[-1]
    return np.maximum(values - shifts[last], 0.0)


class Entries:
    """X >= 0 and <J, X> <= size (signed: sum |X_ij| <= size), with the price of size at least `floor`; W is its dual.

    Attributes
    ----------
    size : float
        k, or less when a lift knows more.
    """

    weight = 1.0

    def __init__(self, splitting: Splitting, k: int, nonneg: bool, floor: float):
        self.of, self.size, self.nonneg, self.floor = splitting, float(k), nonneg, floor
        n = splitting.n
        self.Y, self.dual, self.level = np.zeros((n, n)), np.zeros((n, n)), 0.0

    @property
    def W(self) -> Array:
        return self.of.rho * self.dual

    @property
    def tau(self) -> float:
        """Largest entry of W, and at least the floor."""
        return max(self.floor, self.of.rho * self.level)

    def resume(self, dual, X):
        self.dual, self.Y = dual.copy(), X if not self.nonneg else np.maximum(X, 0.0)
        self.level = float(np.abs(dual).max())

    def pull(self, G):
        G += self.of.X
        G -= self.Y
        G += self.dual

    def update(self, relaxation):
        """The point to project and its level at the size so far; a larger size lowers that by its share of the entries `above`."""
        self.T = relaxation * self.of.X + (1 - relaxation) * self.Y + self.dual
        self.magnitudes = self.T if self.nonneg else np.abs(self.T)
        self._find_level(self.level)
        self.above = max(1, np.count_nonzero(self.magnitudes > self.level))

    def allow(self, size):
        """Another size than the one so far: what the weights of a lift say."""
        start, self.size = max(0.0, self.level - (size - self.size) / self.above), size
        self._find_level(start)

    def settle(self):
        """Project, once the size is known."""
        self.dual = np.minimum(self.T, self.level) if self.nonneg else np.clip(self.T, -self.level, self.level)
        self.Y = self.T - self.dual

    def _find_level(self, start):
        self.level = max(self.floor / self.of.rho, threshold_of_sum(self.magnitudes, self.size, start))


def threshold_of_sum(T: Array, size: float, start: float) -> float:
    """The smallest level >= 0 with ``sum max(T - level, 0) <= size``, by Newton steps from the last level.

    The sum is convex and decreasing in the level: from the left the steps climb to the root, from the right one step leads to
    the left of it. Once on the left, only what is above can matter.
    """
    T, level = T.ravel(), start
    for _ in range(NEWTON_CAP):
        above = T[level < T]
        if above.size == 0:
            if level == 0.0:
                return 0.0
            level = 0.0
            continue
        new = max(0.0, (float(above.sum()) - size) / above.size)
        if abs(new - level) <= 1e-12 * level:
            return new
        if new > level:
            T = above
        level = new
    return level
