"""ADMM for the conic relaxation behind B5, B6, B7 and B9: where good W, M and U come from.

    max <A, X>   over   X psd, tr X = 1,   X >= 0, <J, X> <= k     (signed: sum |X_ij| <= k)

Every feasible x gives a feasible X = xx'. The matrix X alternates between the spectraplex (one partial
eigendecomposition) and *blocks*, each a convex set that all xx' belong to: `Entries` (W of the certificate),
`rowcuts.Cuts` (M), `lift.Lift` (U). The scaled dual variable of a block is that part of the witness, and ANY
value of it is valid, so nothing here needs to be exact or to have converged: the bound is evaluated
afterwards. Method: ADMM with the X-step linearised (its blocks see X through maps of norm 1), over-relaxed;
with the one block `Entries` it is plain ADMM.
Source: Boyd et al. 2011, sections 3.4.3 and 4.4.2.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from nspca.bounds.dual.rowcuts import Cuts, CutsAim
from nspca.bounds.elimination import Kept
from nspca.matrix.linalg import Array, largest_eigenpairs

RELAXATION = 1.6
"""Over-relaxation; 1.5 to 1.8 is what the literature advises."""
DIRECT = 100
"""Up to this size all eigenpairs are computed; above, a warm block Krylov space of the few that matter."""
MARGIN = 4
"""Eigenpairs followed beyond those in use, so that one may enter."""
NEWTON_CAP = 40
"""Newton steps for a threshold; from the last one two or three are enough."""


class Block(Protocol):
    """What a splitting moves X by: how far it is from the block's set, with the block's weight in the
    mean.
    """

    @property
    def weight(self) -> float: ...

    def pull(self, X: Array, G: Array) -> None: ...


class LiftBlock(Block, Protocol):
    """What a splitting asks of a lift, which is `lift.Lift`; the row cuts belong to it."""

    cuts: Cuts

    @property
    def z(self) -> Array: ...

    @property
    def size(self) -> float: ...

    def aim(self, weights: Array, vectors: Array, relaxation: float) -> Array: ...

    def weigh(self, T: Array, entries: "EntriesAim", cuts: CutsAim | None) -> Array: ...

    def settle(self, T: Array, share: Array) -> None: ...

    def grow(self) -> Array: ...

    def remember(self, afresh: bool) -> None: ...


class Splitting:
    """State of the iteration on the kept rows.

    Attributes
    ----------
    X : (r, r) current matrix of the spectraplex; `weights` (p,) and `vectors` (r, p) are its eigenpairs.
    count : int or None
        With a number, X is in {0 <= X <= I, tr X <= count} instead: so many components together.
    entries : Entries
    lift : lift.Lift, or None
        It brings the other two blocks, itself and its row cuts; `lift.add_lift` puts it here.
    """

    def __init__(self, kept: Kept, k: int, nonneg: bool, *, rho: float = 1.0, count: int | None = None):
        self.kept, self.k, self.nonneg, self.count = kept, k, nonneg, count
        self.A, self.n = kept.block, len(kept.block)
        values, vectors = kept.leading
        self.rho = rho * float(values[0])
        self.X = np.zeros_like(self.A)
        self.entries = Entries(self.n, k, nonneg, self.rho, kept.floor)
        self.lift: LiftBlock | None = None
        self.followed = (count or 1) + MARGIN
        self.basis: Array | None = None
        if self.n > DIRECT:
            enough = self.followed <= vectors.shape[1]
            self.basis = vectors if enough else largest_eigenpairs(self.A, self.followed)[1]
        self.weights, self.vectors = np.ones(1), vectors[:, :1]

    def step(self) -> None:
        """One pass: X to its set, then every block to its own.

        A lift is settled first: from its weights come the sum that the entries may have, and z of the cuts.
        """
        self.weights, self.vectors = self._spectrum(self.X - self._pull())
        self.X = (self.vectors * self.weights) @ self.vectors.T
        entries = self.entries.aim(self.X, RELAXATION)
        lift = self.lift
        if lift is None:
            self.entries.settle(entries)
            return
        cuts = lift.cuts.aim(self.X, RELAXATION)
        shadow = lift.aim(self.weights, self.vectors, RELAXATION)
        lift.settle(shadow, lift.weigh(shadow, entries, cuts))
        if cuts is not None:
            lift.cuts.settle(cuts, lift.z)
        self.entries.settle(entries, lift.size)
        lift.cuts.wake(self.X)

    def resume(self, W: Array, X: Array) -> None:
        """Start from the W and X of a related problem."""
        self.X = X.copy()
        self.entries.resume(W / self.rho, X)

    def _pull(self):
        """What A and the blocks together ask X to move by."""
        blocks: list[Block] = (
            [self.entries] if self.lift is None else [self.entries, self.lift.cuts, self.lift]
        )
        G = self.A / -self.rho
        for block in blocks:
            block.pull(self.X, G)
        return G / sum(block.weight for block in blocks)

    def _spectrum(self, M):
        """Eigenpairs of the nearest point of the set of X."""
        values, vectors = self._leading(M)
        weights = simplex(values) if self.count is None else capped(values, self.count)
        used = int(np.count_nonzero(weights))
        if self.basis is not None:
            self.basis = np.ascontiguousarray(vectors[:, : max(used + MARGIN, self.followed)])
        return weights[:used], vectors[:, :used]

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


def capped(values: Array, total: int) -> Array:
    """Projection of `values` (b,) onto ``{0 <= w <= 1, sum w <= total}``: ``clip(values - shift, 0, 1)``.

    The sum falls linearly between the breakpoints `values` and `values - 1`: the two around `total` give the
    shift.
    """
    weights = np.clip(values, 0.0, 1.0)
    if weights.sum() <= total:
        return weights
    breaks = np.unique(np.concatenate((values, values - 1.0, [0.0])))
    breaks = breaks[breaks >= 0.0]
    sums = np.clip(values - breaks[:, None], 0.0, 1.0).sum(axis=1)
    right = int(np.argmax(sums <= total))
    low, high = breaks[right - 1], breaks[right]
    shift = low + (high - low) * (sums[right - 1] - total) / (sums[right - 1] - sums[right])
    return np.clip(values - shift, 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class EntriesAim:
    """The point T to project, the magnitudes of its entries, and how many are above the level so far."""

    T: Array
    magnitudes: Array
    above: int


class Entries:
    """X >= 0 and <J, X> <= size (signed: sum |X_ij| <= size); W is its dual, tau at least `floor`.

    Attributes
    ----------
    size : float
        k, or less when a lift knows more.
    level : float
        Largest entry of the dual.
    """

    weight = 1.0

    def __init__(self, n: int, k: int, nonneg: bool, rho: float, floor: float):
        self.size, self.nonneg, self.rho, self.floor = float(k), nonneg, rho, floor
        self.Y, self.dual, self.level = np.zeros((n, n)), np.zeros((n, n)), 0.0

    @property
    def W(self) -> Array:
        return self.rho * self.dual

    @property
    def tau(self) -> float:
        """Largest entry of W, and at least the floor."""
        return max(self.floor, self.rho * self.level)

    def resume(self, dual, X):
        self.dual, self.Y = dual.copy(), X if not self.nonneg else np.maximum(X, 0.0)
        self.level = max(0.0, float((dual if self.nonneg else np.abs(dual)).max()))

    def pull(self, X, G):
        G += X
        G -= self.Y
        G += self.dual

    def aim(self, X: Array, relaxation: float) -> EntriesAim:
        """The point to project, and the level for the size so far."""
        T = relaxation * X + (1 - relaxation) * self.Y + self.dual
        magnitudes = T if self.nonneg else np.abs(T)
        self.level = self._level(magnitudes, self.size, self.level)
        return EntriesAim(T, magnitudes, max(1, int(np.count_nonzero(magnitudes > self.level))))

    def settle(self, aim: EntriesAim, size: float | None = None) -> None:
        """Project, for another size than so far if one is given: what the weights of a lift say."""
        if size is not None:
            # A larger size lowers the level by its share of the entries above.
            start = max(0.0, self.level - (size - self.size) / aim.above)
            self.size, self.level = size, self._level(aim.magnitudes, size, start)
        self.dual = np.minimum(aim.T, self.level) if self.nonneg else np.clip(aim.T, -self.level, self.level)
        self.Y = aim.T - self.dual

    def _level(self, magnitudes, size, start):
        return max(self.floor / self.rho, threshold_of_sum(magnitudes, size, start))


def threshold_of_sum(T: Array, size: float, start: float) -> float:
    """The smallest level >= 0 with ``sum max(T - level, 0) <= size``, by Newton steps from the last level.

    The sum is convex and decreasing in the level: from the left the steps climb to the root, from the right
    one step leads to the left of it. Once on the left, only what is above can matter.
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
