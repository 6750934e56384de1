"""The lift of a node: begun from the witness of the parent, or going on from the lift of the parent.

`settle` makes rounds of its steps.
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
from nspca.bounds.witness import Witness, lift_of

RANK = 4
"""Rank of a lift."""
REACHED = 4
"""Number of best points of a bundle that are tried as answers."""
PLAIN = 80
"""Steps of the plain dual before a lift begins without any that went before."""
DAMPED = 2.0**-5
"""Penalty parameter of a lift that goes on in short steps, relative to the largest eigenvalue."""


def first_lift(own: Bounding, task: Task) -> Lift:
    """Return the lift of the parent on the rows of the node, or one begun from its witness.

    A lift without prices goes on in short steps. Long steps reach the neighbourhood of the best W, M and U
    soon, and then only swing about it.
    """
    lift = None if own.warm is None else own.warm.lift
    if lift is None or not np.isin(own.kept.features, lift.splitting.kept.features).all():
        return begin(own, task.witness)
    if is_core(own):
        # The threshold can fall far once the features outside a core are gone. The state of the lift is of no
        # use then: a lift that goes on from it stays behind one that knows nothing.
        return begin_afresh(own)
    new = restricted(lift, own.kept)
    if own.kept.prices is None:
        damp(new, DAMPED * float(own.kept.leading[0][0]))
    return new


def is_core(own: Bounding) -> bool:
    """Tell whether the work on a node begins with a lift on a dense core with weights (`core`)."""
    lift = None if own.warm is None else own.warm.lift
    return lift is not None and lift.splitting.kept.weights is not None


def begin(own: Bounding, stored: Stored | None) -> Lift:
    """Return a lift on the rows of the node, started from the state of the parent."""
    kept, k, nonneg = own.kept, own.problem.size, own.problem.nonneg
    r = len(kept.block)
    splitting, rank = Splitting(kept, k, nonneg), min(RANK, r)
    features = kept.features
    witness = none(features) if stored is None else stored.covering(features).at(features)
    W = np.zeros((r, r)) if witness.W is None else witness.W
    warm = Warm.of(splitting) if own.warm is None else own.warm  # X of the leading eigenvector
    splitting.resume(W, warm.matrix(features))
    B = starts.basis(kept, W, rank)
    points = np.zeros((r, 0)) if own.warm is None else own.warm.feasible(kept, k)
    if points.shape[1] == 0:
        points = starts.first_points(splitting, lift_of(kept, Witness(W), rank)[0], ((k, 1),))[0]
    return add_lift(splitting, B, [points], ((k, 1),))


def begin_afresh(own: Bounding) -> Lift:
    """Return a lift that knows of nothing before: plain steps for W come first."""
    kept = own.kept
    splitting = Splitting(kept, own.problem.size, own.problem.nonneg)
    own.advance(splitting, PLAIN)
    own.warm = Warm.of(splitting)
    return begin(own, Stored.of(kept.features, Witness(splitting.entries.W)))


def remember(own: Bounding, lift: Lift) -> None:
    """Store the state of a lift in `places` and `warm`, for the branching scores and for the children."""
    own.places = own.kept.features, np.array(lift.z)
    own.warm = Warm.of(lift.splitting)


def reach_points(own: Bounding, lift: Lift) -> None:
    """Try the supports of the best points of a bundle for a better answer."""
    values = np.einsum("ij,ij->j", lift.points, lift.splitting.kept.block @ lift.points)
    for x in lift.points.T[np.argsort(-values)[:REACHED]]:
        own.reach(own.kept.features[x != 0])
