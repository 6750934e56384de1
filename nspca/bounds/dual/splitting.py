"""ADMM for the conic relaxation behind the bounds B5, B6, B7 and B9, which finds good W, M and U.

    max <A, X>   over   0 <= X <= I, tr X <= r,   X >= 0, <J, X> <= k     (signed: sum |X_ij| <= k)

Feasible x_1 .. x_r give a feasible ``X = sum x_j x_j'``. X alternates between the first set (by one partial
eigendecomposition) and *blocks*, convex sets that contain all xx': `Entries` (its dual is W), `rowcuts.Cuts`
(dual M) and `lift.Lift` (dual gives U). A block has a `weight`, that of its penalty, and `pull` adds the
gradient of the penalty at X to a matrix. Any value of the dual variables is a valid witness. So nothing here
needs to be exact or converged, and the bound is evaluated afterwards. The method is over-relaxed ADMM with a
linearised X-step (each block sees X through a map of norm 1). With the single block `Entries` it is plain
ADMM. See Boyd et al. 2011, sections 3.4.3 and 4.4.2.

`fixing.lifts` and `dual_search` make a `Splitting` and call `step` many times.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from nspca.bounds.dual.entries import Entries
from nspca.bounds.dual.stripes import Precision
from nspca.bounds.elimination import Kept
from nspca.covariance.linalg import Array, krylov, largest_eigenpairs

RELAXATION = 1.6
"""Over-relaxation factor. Boyd et al. advise 1.5 to 1.8."""
EXACT = 128
"""Maximum rows for steps in double precision, since small problems may reach an exact bound."""
DIRECT = 100
"""Maximum rows for which all eigenpairs are computed. Above, a block Krylov method continues from the last
eigenvectors.
"""
MARGIN = 4
"""Number of eigenpairs followed beyond those in use, so that further ones can enter."""


class Splitting:
    """State of the iteration on the kept rows.

    Attributes
    ----------
    X : (r, r)
        Current matrix in ``{0 <= X <= I, tr X <= count}``; `weights` (p,) and `vectors` (r, p) are its
        eigenpairs. What is missing of the trace counts `kept.outside`, since the claim t is no smaller.
    count : int
        Number of components sought together.
    entries : Entries
    lift : lift.Lift or None
        The block of a lift, which also holds the block of the row cuts. Set by `lift.add_lift`. The name of
        its class stands here alone, as `lift` imports this module.
    precision : type
        Type of the changing matrices of the size of A: float64 for few rows, else float32.
    gain, wanted : (r, r)
        ``A - kept.outside I``, over rho; and the buffer of the matrix that is
        projected to X.
    """

    def __init__(self, kept: Kept, k: int, nonneg: bool, *, rho: float = 1.0, count: int = 1):
        precision: Precision = np.float64 if len(kept.block) <= EXACT else np.float32
        self.kept, self.k, self.nonneg, self.count = kept, k, nonneg, count
        self.A, self.n, self.precision = kept.block, len(kept.block), precision
        values, vectors = kept.leading
        self.rho = rho * float(values[0])
        self.X: np.ndarray = np.zeros((self.n, self.n), precision)
        self.wanted = np.zeros_like(self.X)
        self.gain: np.ndarray = (self.A / self.rho).astype(precision)
        if count is not None:
            self.gain[np.diag_indices(self.n)] -= kept.outside / self.rho
        self.entries = Entries(self.n, k, nonneg, self.rho, kept.floor, precision)
        self.lift: Any = None
        self.followed = count + MARGIN
        self.basis: Array | None = None
        if self.n > DIRECT:
            enough = self.followed <= vectors.shape[1]
            basis = vectors if enough else largest_eigenpairs(self.A, self.followed)[1]
            self.basis = basis.astype(precision)
        self.weights = np.ones(1)
        self.vectors: np.ndarray = vectors[:, :1].astype(precision)

    def step(self) -> None:
        """Make one step: project X, then every block.

        The lift is projected first, since its weights determine the size of `entries` and the z of the cuts.
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

    def follow(self, kept: Kept) -> None:
        """Go on with the block of other `kept`, the same rows with another K; the floor stays."""
        self.kept, self.A = replace(kept, floor=self.kept.floor), kept.block
        self.gain = (self.A / self.rho).astype(self.precision)
        self.gain[np.diag_indices(self.n)] -= kept.outside / self.rho

    def resume(self, W: Array, X: Array) -> None:
        """Start from the W and X (r, r) of a related problem."""
        self.X[:] = X
        self.entries.resume(W / self.rho, X)

    def _wanted(self) -> Array:
        """Return the matrix to project: X moved by A and by the gradients of the blocks."""
        blocks = [self.entries] if self.lift is None else [self.entries, self.lift.cuts, self.lift]
        G = self.wanted
        np.negative(self.gain, out=G)
        for block in blocks:
            block.pull(self.X, G)
        G *= -1 / sum(block.weight for block in blocks)
        G += self.X
        return G

    def _spectrum(self, M: Array) -> tuple[Array, Array]:
        """Return the nonzero eigenpairs of the projection of M to the set of X."""
        if self.basis is None:
            values, vectors = np.linalg.eigh(M)
            Q, values, Z = None, values[::-1], vectors[:, ::-1]
        else:
            Q, values, Z = krylov(M, self.basis)
        weights = capped(values, self.count)
        used = int(np.count_nonzero(weights))
        if Q is not None:
            Z = self.basis = Q @ Z[:, : max(used + MARGIN, self.followed)]
        return weights[:used], Z[:, :used]


def capped(values: Array, total: int) -> Array:
    """Return the projection of `values` (b,) onto ``{0 <= w <= 1, sum w <= total}``.

    The projection is ``clip(values - shift, 0, 1)``. Its sum is linear in the shift between the breakpoints
    `values` and `values - 1`, and the two around `total` give the shift.
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
