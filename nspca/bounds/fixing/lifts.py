"""The lift of a node: begun from the witness of the parent, or going on from the lift of the parent.

`settle` makes rounds of its steps, and `probes` a few short ones.
"""

import numpy as np

from nspca.bounds.dual import starts
from nspca.bounds.dual.lift import Lift, add_lift
from nspca.bounds.dual.restriction import damp, restricted
from nspca.bounds.dual.splitting import Splitting
from nspca.bounds.fixing.bounding import Bounding
from nspca.bounds.fixing.node import Warm
from nspca.bounds.fixing.stored import Stored, none
from nspca.bounds.fixing.tasks import Task
from nspca.bounds.witness import Witness
from nspca.covariance.linalg import Array

RANK, RAISED = 4, 5
"""Rank of a lift, and rank of one that continues because it stalled (`Task.raised`)."""
RAISED_ROWS = 80
"""Maximum rows for raising the rank of a lift. With more, its search costs more than branching."""
REACHED = 4
"""Number of best points of a bundle that are tried as answers."""
PLAIN = 80
"""Steps of the plain dual before a lift begins without any that went before."""
DAMPED = 2.0**-5
"""Penalty parameter of a lift that goes on in short steps, relative to the largest eigenvalue."""


def first_lift(own: Bounding, task: Task) -> Lift:
    """Return the lift of the parent on the rows of the node, or one begun from its witness."""
    lift = None if own.warm is None else own.warm.lift
    if lift is not None and np.isin(own.kept.features, lift.splitting.kept.features).all():
        # The threshold can fall far once the features outside a core are gone. The state of the lift is of no
        # use then: a lift that goes on from it stays behind one that knows nothing.
        return begin_afresh(own) if is_core(own) else gone_on(own, lift)
    wide = task.witness is not None and task.witness.U.shape[1] > RANK
    return begin(own, task.witness, RAISED if task.raised and wide else RANK)


def is_core(own: Bounding) -> bool:
    """Tell whether the work on a node begins with a lift on a dense core with weights (`core`)."""
    lift = None if own.warm is None else own.warm.lift
    return lift is not None and lift.splitting.kept.weights is not None


def gone_on(own: Bounding, lift: Lift) -> Lift:
    """Return a lift on the rows of the node that goes on from another; without prices in short steps."""
    new = restricted(own.problem, lift, own.kept)
    shorten(own, new)
    return new


def shorten(own: Bounding, lift: Lift) -> bool:
    """Let a lift go on in short steps, except with prices; tell whether its steps were much longer.

    Long steps reach the neighbourhood of the best W, M and U soon, and then only swing about it.
    """
    before, short = lift.splitting.rho, DAMPED * float(own.kept.leading[0][0])
    if own.kept.prices is None:
        damp(lift, short)
    return lift.splitting.rho < before / 2


def begin(own: Bounding, stored: Stored | None, rank: int) -> Lift:
    """Return a lift of a rank on the rows of the node, started from the state of the parent."""
    kept, k, nonneg = own.kept, own.problem.size, own.problem.nonneg
    r = len(kept.block)
    splitting, rank = Splitting(kept, k, nonneg), min(rank, r)
    features = kept.features
    witness = none(features) if stored is None else stored.covering(features).at(features)
    W = np.zeros((r, r)) if witness.W is None else witness.W
    splitting.resume(W, first_matrix(own, splitting))
    B = starts.basis(kept, W, rank)
    points = np.zeros((r, 0)) if own.warm is None else own.warm.feasible(kept, k)
    if points.shape[1] == 0:
        points = starts.first_point(own.problem, splitting, B)
    return add_lift(splitting, B, points)


def begin_afresh(own: Bounding) -> Lift:
    """Return a lift that knows of nothing before: plain steps for W come first."""
    kept = own.kept
    splitting = Splitting(kept, own.problem.size, own.problem.nonneg)
    own.advance(splitting, PLAIN)
    vectors = splitting.vectors.astype(np.float64)
    none_known = np.zeros((len(vectors), 0))
    own.warm = Warm(kept.features, np.asarray(splitting.weights, np.float64), vectors, none_known)
    return begin(own, Stored.of(kept.features, Witness(splitting.entries.W)), RANK)


def first_matrix(own: Bounding, splitting: Splitting) -> Array:
    """Return the starting X: that of the parent, or of the leading eigenvector."""
    if own.warm is None:
        vectors = splitting.vectors.astype(np.float64)
        return vectors @ vectors.T
    return own.warm.matrix(own.kept.features)


def raise_rank(own: Bounding, task: Task, lift: Lift) -> bool:
    """Give a lift that stalled one more dimension; return False where that costs more than branching."""
    rows = len(own.kept.block)
    rank = min(RAISED, rows)
    if not task.raised or lift.B.shape[1] >= rank or rows > RAISED_ROWS:
        return False
    lift.rebase(starts.basis(own.kept, lift.splitting.entries.W, rank))
    return True


def remember(own: Bounding, lift: Lift) -> None:
    """Store the state of a lift in `places` and `warm`, for the branching scores and for the children."""
    splitting = lift.splitting
    own.places = own.kept.features, np.array(lift.z)
    own.warm = Warm(
        own.kept.features,
        np.asarray(splitting.weights, dtype=np.float64),
        splitting.vectors.astype(np.float64),
        lift.points,
        lift,
    )


def reach_points(own: Bounding, lift: Lift) -> None:
    """Try the supports of the best points of a bundle for a better answer."""
    values = np.einsum("ij,ij->j", lift.points, lift.splitting.kept.block @ lift.points)
    for x in lift.points.T[np.argsort(-values)[:REACHED]]:
        own.reach(own.kept.features[x != 0])
