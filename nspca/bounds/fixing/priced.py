"""Evaluate a witness at a node: a search over the sphere waits until it may end the node.

A tree has many nodes that no round of steps closes. A search for each would take most of the time. The
spectral half of a witness alone is enough to fix features.
"""

from collections.abc import Callable

import numpy as np

from nspca.bounds.dual.lift import Lift
from nspca.bounds.dual.rounds import present
from nspca.bounds.fixing.bounding import Bounding
from nspca.bounds.fixing.node import Use
from nspca.bounds.fixing.stored import Stored
from nspca.bounds.fixing.tasks import Task
from nspca.bounds.witness import largest, spectral_half
from nspca.lowrank.fixing import at_directions


def is_hopeless(own: Bounding, task: Task, stored: Stored) -> bool:
    """Tell whether known points show that a witness cannot close a node.

    Rounds of steps give the bound of such a node, so that of the witness need not be searched.
    """
    if not task.rounds or own.points is None:
        return False
    query, _ = own.query(Use(stored, 0.0, 0.0, 0.0, np.zeros(0, dtype=np.uint8)))
    directions = own.directions(query)
    if not len(directions):
        return False
    left = largest(own.kept, stored.at(own.kept.features))
    return left + float(np.max(at_directions(query, directions))) - own.kept.paid > own.target


def weigh_up(own: Bounding, lift: Lift, is_over: Callable[[float], bool]) -> float:
    """Return the present bound of a lift.

    The bound is proved only if that may close the node, or ends the work on it.
    """
    witness, left, promise, plain = present(lift)
    stored = Stored.of(own.kept.features, witness)
    if promise <= own.target or is_over(promise):
        proof = own.offer(stored)
        if proof.cover.direction.size == lift.U.shape[1] + 1:
            lift.grow(proof.cover.direction[:, None])
    else:
        claim(own, stored, left)
    if plain.shape[1] == lift.B.shape[1]:
        lift.rebase(np.linalg.qr(plain)[0])
    return promise


def claim(own: Bounding, stored: Stored | None, estimate: float | None = None) -> None:
    """Prove the spectral half of a witness, which may fix features then."""
    if stored is not None:
        t = spectral_half(own.problem, own.kept, stored.at(own.kept.features), estimate)
        t += own.ground.margin
        own.priced = Use(stored, t, np.inf, 0.0, np.zeros(0, dtype=np.uint8), own.kept.paid)
        own.claimed = stored
