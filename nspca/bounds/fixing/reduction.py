"""Reduce a node: eliminate the features that are in, and go on with what is left of A on the others.

Let v be a level, I the features that are in, and ``v I - A_II`` positive definite. No answer of the node is
above v if no component of C is, on the free features with at most k - |I| of them, where C is the Schur
complement of `squares`. That is a problem of the same kind without features that are in. All bounds of a
node hold for it, and features are fixed in and out as for A: a witness of C proves that C stays below v.

Why this is better: let x be an answer with the share s of its squares on the free features. A bound on C that
is above v by some amount allows x'Ax to be above v by s times that amount only. Near the end s is small.

`settle` calls `reduce` where a lift gains no more, and `prove_roof` for a node that stays open.
"""

import numpy as np

from nspca.bounds.fixing.bounding import Bounding
from nspca.bounds.fixing.eigenvalues import take_up
from nspca.bounds.fixing.node import REDUCED, Node, Reduced, Use

LOST = 1e-6
"""Maximum share of the level that rounding errors of C may reach. They grow without limit where v is nearly
an eigenvalue of A_II. There other roundings, such as those of the checker, give quite another C.
"""


def reduce(own: Bounding) -> bool:
    """Go on with C in place of A; return False where nothing is in, or where it cannot be eliminated."""
    supports, level = own.supports, own.lower * (1 + own.gap)
    if not supports.into.size or not supports.possible.size:
        return False
    less = supports.reduced()
    ground = own.ground.reduced(less.gone, less.free, level)
    if ground is None or ground.margin > LOST * level:
        return False
    if own.ground.base is None:
        own.above = supports, own.best, own.is_current
    own.reduced.append(Reduced(supports, own.stages, level))
    own.stages, own.ground, own.problem = [], ground, ground.problem
    own.best, own.upper, own.warm, own.points = None, np.inf, None, None
    own.priced, own.claimed, own.direction, own.places, own.tried = None, None, None, None, None
    own.carry(less)
    take_up(own)
    return True


def below_reduced(reduced: list[Reduced], node: Node) -> Node:
    """Return the first of a chain of reduced nodes, each the parent of the next; `node` ends the chain."""
    for one in reversed(reduced):
        node = Node(one.supports, one.stages, feature=REDUCED, children=(node,), level=one.level)
    return node


def prove_roof(own: Bounding, node: Node) -> None:
    """Prove a bound on A itself for the reduced node above a node that stays open, and lower its caps.

    A bound on C above the level is one on A too, but hardly a good one.
    """
    if own.above is None:
        return
    supports, best, is_current = own.above
    roof: Use | None = best
    if best is not None and not is_current:
        ground = own.ground.whole
        same = {name: getattr(own, name) for name in ("plan", "lower", "gap", "report", "at_level")}
        side = Bounding(problem=ground.problem, ground=ground, supports=supports, **same)
        side.kept = ground.kept(supports)
        side.offer(None)
        if best.witness is not None and not side.done:
            side.offer(best.witness)
        roof = side.best
    if roof is None:
        return
    above = next(one for one in node.walk() if one.feature == REDUCED)
    above.roof = roof
    for child in above.children:
        child.lower_caps(float(np.nextafter(roof.upper, np.inf)))
