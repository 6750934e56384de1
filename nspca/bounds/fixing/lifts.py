"""The lift of a node, begun from the witness, the matrix X and the points of the parent.

`settle` makes rounds of its steps.
"""

import numpy as np

from nspca.bounds.dual import starts
from nspca.bounds.dual.lift import Lift, add_lift
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


def first_lift(own: Bounding, task: Task) -> Lift:
    """Return a lift begun from the state of the parent, or afresh on the rows of a core.

    The threshold can fall far once the features outside a core are gone. A lift that begins from the state on
    the core then stays behind one that knows nothing.
    """
    return begin_afresh(own) if is_core(own) else begin(own, task.witness)


def is_core(own: Bounding) -> bool:
    """Tell whether the work on a node begins with the state on a dense core with weights (`core`)."""
    return own.warm is not None and own.warm.of_core


def begin(own: Bounding, stored: Stored | None) -> Lift:
    """Return a lift on the rows of the node, started from a witness and the state before.

    Where rows have prices, M and U go on as well. Where elimination has left features out, M does: many rows
    are in no point of the bundle.
    """
    kept, k, nonneg = own.kept, own.problem.size, own.problem.nonneg
    r = len(kept.block)
    features, rank = kept.features, min(RANK, r)
    witness = none(features) if stored is None else stored.covering(features).at(features)
    splitting = Splitting(kept, k, nonneg)
    W = np.zeros((r, r)) if witness.W is None else witness.W
    warm = Warm.of(splitting) if own.warm is None else own.warm  # X of the leading eigenvector
    splitting.resume(W, warm.matrix(features))
    B = starts.basis(kept, W, rank)
    points = np.zeros((r, 0)) if own.warm is None else own.warm.feasible(kept, k)
    if points.shape[1] == 0:
        points = starts.first_points(splitting, lift_of(kept, Witness(W), rank)[0], ((k, 1),))[0]
    lift = add_lift(splitting, B, [points], ((k, 1),))
    priced = kept.prices is not None
    if (priced or own.ground.whole.outside.size) and witness.M is not None and lift.cuts.wait:
        lift.cuts.begin(splitting.X, witness.M)
    if priced and witness.U is not None:
        lift.resume(witness.U, splitting.X)
    return lift


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
