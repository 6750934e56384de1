"""Continue a lift on fewer rows: a splitting keeps its state when features are fixed in or out.

Every block of a splitting holds matrices of the size of A. The new splitting starts from the principal part
of each on the remaining rows. Nothing here has to be exact, since the bound is proved afterwards.
`fixing.settle` calls `restricted` after features of a node were fixed.
"""

import numpy as np

from nspca.bounds.dual import starts
from nspca.bounds.dual.lift import Lift
from nspca.bounds.dual.prices import Prices
from nspca.bounds.dual.rowcuts import Cuts
from nspca.bounds.dual.splitting import Splitting
from nspca.bounds.dual.weights import rescaled
from nspca.bounds.elimination import Kept
from nspca.bounds.witness import Witness, lift_of
from nspca.covariance.linalg import Array


def restricted(lift: Lift, kept: Kept) -> Lift:
    """Return a lift for one component that continues a given one on fewer rows, those of `kept`.

    The number of dimensions stays unless there are fewer rows. Points of the bundle are cut to what a support
    of the fewer rows can carry.
    """
    before = lift.splitting
    rows = before.kept.features
    order = np.argsort(rows, kind="stable")
    at = order[np.searchsorted(rows, kept.features, sorter=order)]
    splitting = _splitting(before, kept, at)
    B, H = np.linalg.qr(lift.B[at])
    X, carried = carried_over(lift.points[at], kept.fixed, lift.k)
    share = lift.share[carried]
    if not share.size:
        X = starts.first_points(
            splitting, lift_of(kept, Witness(splitting.entries.W), B.shape[1])[0], lift.counts
        )[0]
    cuts = _cuts(lift.cuts, splitting, at)
    group = np.zeros(X.shape[1], dtype=int)
    prices = None if kept.prices is None else Prices(kept.prices, is_given=True)
    new = Lift(splitting, B, X, group, cuts, ((splitting.k, 1),), prices)
    if share.sum() > 0:
        new.share = rescaled(share, group, new.totals)
    new.dual = H @ lift.dual @ H.T
    # What the copy of the shadow differs by is carried along; X itself is that of fewer rows.
    apart = lift.shadow - lift.B.T @ before.X @ lift.B
    new.shadow = B.T @ splitting.X @ B + H @ apart @ H.T
    splitting.lift = new
    return new


def _splitting(before: Splitting, kept: Kept, at: np.ndarray) -> Splitting:
    new, block = Splitting(kept, before.k, before.nonneg), np.ix_(at, at)
    new.rho = before.rho
    new.gain = (new.A / new.rho).astype(new.precision)
    new.X[:] = before.X[block]
    new.weights, new.vectors = before.weights, before.vectors[at].astype(new.precision)
    if new.basis is not None and before.basis is not None:
        new.basis = before.basis[at].astype(new.precision)
    entries, old = new.entries, before.entries
    entries.rho, entries.size, entries.level = old.rho, old.size, max(old.level, kept.floor / old.rho)
    entries.T[:], entries.Y[:] = old.T[block], old.Y[block]
    return new


def _cuts(before: Cuts, splitting: Splitting, at: np.ndarray) -> Cuts:
    new = Cuts(len(at), before.k, before.nonneg, before.rho, before.wait, splitting.precision)
    new.weight, new.usual, block = before.weight, before.usual, np.ix_(at, at)
    new.level = before.level[at]
    new.T[:], new.Z[:] = before.T[block], before.Z[block]
    return new


def carried_over(X: Array, fixed: int, k: int) -> tuple[Array, np.ndarray]:
    """Return points (r, p) cut to what supports with the first `fixed` rows can carry, and which are left.

    The smallest entries make room where rows are too many. Points without any entry are left out.
    """
    X, room = X.copy(), k - fixed
    if 0 <= room < len(X) - fixed:
        own = np.abs(X[fixed:])
        last = np.argsort(-own, axis=0, kind="stable")[room:]
        np.put_along_axis(X[fixed:], last, 0.0, axis=0)
    lengths = np.linalg.norm(X, axis=0)
    left = lengths > 0
    return X[:, left] / lengths[left], left
