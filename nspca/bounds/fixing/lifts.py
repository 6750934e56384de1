"""The lift of a node, begun from the witness, the matrix X and the points of the parent.

`settle` makes rounds of its steps.
"""

import numpy as np

from nspca.bounds.dual.lift import Lift
from nspca.bounds.dual.splitting import Splitting
from nspca.bounds.dual.starts import begin_lift
from nspca.bounds.fixing.bounding import Bounding
from nspca.bounds.fixing.node import Warm
from nspca.bounds.fixing.stored import Stored, none
from nspca.bounds.witness import Witness

RANK = 4
"""Rank of a lift."""
REACHED = 4
"""Number of best points of a bundle that are tried as answers."""
PLAIN = 80
"""Steps of the plain dual before a lift begins without any that went before."""


def begin(own: Bounding, stored: Stored | None) -> Lift:
    """Return a lift on the rows of the node, started from a witness and the state before."""
    kept, k = own.kept, own.problem.size
    features, splitting = kept.features, Splitting(kept, k, own.problem.nonneg)
    witness = none(features) if stored is None else stored.covering(features).at(features)
    warm = Warm.of(splitting) if own.warm is None else own.warm  # X of the leading eigenvector
    rank, points = min(RANK, len(features)), warm.feasible(kept, k)
    return begin_lift(splitting, witness, warm.matrix(features), rank, ((k, 1),), points=points)


def begin_afresh(own: Bounding) -> Lift:
    """Return a lift that knows of nothing before: plain steps for W come first.

    The threshold can fall far once the features outside a core are gone, or once those that are in are
    eliminated. A lift that begins from the state before then stays behind one that knows nothing.
    """
    kept = own.kept
    splitting = Splitting(kept, own.problem.size, own.problem.nonneg)
    own.advance(splitting, PLAIN)
    own.warm = Warm.of(splitting)
    return begin(own, Stored.of(kept.features, Witness(splitting.entries.W)))


def is_core(own: Bounding) -> bool:
    """Tell whether the work on a node begins with the state on a dense core with weights (`core`)."""
    return own.warm is not None and own.warm.of_core


def remember(own: Bounding, lift: Lift) -> None:
    """Store the state of a lift in `places` and `warm`, for the branching scores and for the children."""
    own.places = own.kept.features, np.array(lift.z)
    own.warm = Warm.of(lift.splitting)


def reach_points(own: Bounding, lift: Lift) -> None:
    """Try the supports of the best points of a bundle for a better answer."""
    values = np.einsum("ij,ij->j", lift.points, lift.splitting.kept.block @ lift.points)
    for x in lift.points.T[np.argsort(-values)[:REACHED]]:
        own.reach(own.kept.features[x != 0])
