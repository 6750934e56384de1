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

from typing import Protocol

import numpy as np

from nspca.bounds.dual.entries import Entries, EntriesAim
from nspca.bounds.dual.rowcuts import Cuts, CutsAim
from nspca.bounds.dual.stripes import Precision
from nspca.bounds.elimination import Kept
from nspca.covariance.linalg import Array, krylov, largest_eigenpairs

RELAXATION = 1.6
"""Over-relaxation; 1.5 to 1.8 is what the literature advises."""
EXACT = 128
"""Up to this size steps are made in double precision, for the bound they lead to may be exact."""
DIRECT = 100
"""Up to this size all eigenpairs are computed; above, a warm block Krylov space of the few that matter."""
MARGIN = 4
"""Eigenpairs followed beyond those in use, so that one may enter."""


class Block(Protocol):
    """Block of a splitting, which moves X towards the set of the block, with a weight in the mean."""

    @property
    def weight(self) -> float: ...

    def pull(self, X: Array, G: Array) -> None: ...


class LiftBlock(Block, Protocol):
    """Interface of a lift with its row cuts, as a splitting uses it; `lift.Lift` implements it."""

    cuts: Cuts

    @property
    def z(self) -> Array: ...

    @property
    def size(self) -> float: ...

    def aim(self, weights: Array, vectors: Array, relaxation: float) -> Array: ...

    def weigh(self, T: Array, entries: EntriesAim, cuts: CutsAim | None) -> Array: ...

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
    precision : single, but with few features, of all matrices of the size of A that change from step to step
    gain, wanted : (r, r)
        A over rho, and where the matrix that is projected to X is put together.
    """

    def __init__(
        self,
        kept: Kept,
        k: int,
        nonneg: bool,
        *,
        rho: float = 1.0,
        count: int | None = None,
    ):
        precision: Precision = np.float64 if len(kept.block) <= EXACT else np.float32
        self.kept, self.k, self.nonneg, self.count = kept, k, nonneg, count
        self.A, self.n, self.precision = kept.block, len(kept.block), precision
        values, vectors = kept.leading
        self.rho = rho * float(values[0])
        self.X: np.ndarray = np.zeros((self.n, self.n), precision)
        self.wanted = np.zeros_like(self.X)
        self.gain: np.ndarray = (self.A / self.rho).astype(precision)
        self.entries = Entries(self.n, k, nonneg, self.rho, kept.floor, precision)
        self.lift: LiftBlock | None = None
        self.followed = (count or 1) + MARGIN
        self.basis: Array | None = None
        if self.n > DIRECT:
            enough = self.followed <= vectors.shape[1]
            basis = vectors if enough else largest_eigenpairs(self.A, self.followed)[1]
            self.basis = basis.astype(precision)
        self.weights = np.ones(1)
        self.vectors: np.ndarray = vectors[:, :1].astype(precision)

    def step(self) -> None:
        """One pass: X to its set, then every block to its own.

        A lift is settled first: from its weights come the sum that the entries may have, and z of the cuts.
        """
        self.weights, self.vectors = self._spectrum(self._wanted())
        np.matmul(self.vectors * self.weights.astype(self.precision), self.vectors.T, out=self.X)
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
        self.X[:] = X
        self.entries.resume(W / self.rho, X)

    def _wanted(self) -> Array:
        """X, moved by what A and the blocks together ask for: the matrix to project."""
        blocks: list[Block] = (
            [self.entries] if self.lift is None else [self.entries, self.lift.cuts, self.lift]
        )
        G = self.wanted
        np.negative(self.gain, out=G)
        for block in blocks:
            block.pull(self.X, G)
        G *= -1 / sum(block.weight for block in blocks)
        G += self.X
        return G

    def _spectrum(self, M: Array) -> tuple[Array, Array]:
        """Eigenpairs of the nearest point of the set of X."""
        if self.basis is None:
            values, vectors = np.linalg.eigh(M)
            Q, values, Z = None, values[::-1], vectors[:, ::-1]
        else:
            Q, values, Z = krylov(M, self.basis)
        weights = simplex(values) if self.count is None else capped(values, self.count)
        used = int(np.count_nonzero(weights))
        if Q is not None:
            Z = self.basis = Q @ Z[:, : max(used + MARGIN, self.followed)]
        return weights[:used], Z[:, :used]


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
