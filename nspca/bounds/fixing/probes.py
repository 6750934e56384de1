"""Probes: fix a feature by closing the child of a node that lacks it, or the child that has it.

A probe is a branch of which one child is closed at once. So it costs half of what branching does, and the
other child has a feature less to decide. Probes close children that no witness of their parent can, since
each probe has a short lift of its own.
"""

from dataclasses import dataclass

import numpy as np

from nspca.bounds.dual.lift import Lift
from nspca.bounds.fixing.node import Node, Stage, Supports
from nspca.lowrank.fixing import at_directions
from nspca.lowrank.objective import Query


@dataclass(frozen=True, eq=False)
class Probed:
    """A node that was branched on, with the child that a probe closed.

    Attributes
    ----------
    supports : Supports
        Supports after the stages.
    stages : list of Stage
    feature : int
    closed : Node
        The closed child: that with the feature if `into`, else that without it.
    into : bool
    """

    supports: Supports
    stages: list[Stage]
    feature: int
    closed: Node
    into: bool


def below_probes(probed: list[Probed], node: Node) -> Node:
    """Return the first of a chain of nodes, each the open child of the one before; `node` ends the chain."""
    for one in reversed(probed):
        above = Node(one.supports, one.stages, feature=one.feature)
        above.children = (one.closed, node) if one.into else (node, one.closed)
        node = above
    return node


def nearest(lift: Lift) -> list[tuple[int, bool]]:
    """Return the free features of a lift, the one that is nearest to being fixed first, each with a side.

    The side is that of the child to close: True for the one with the feature. It is the side on which the
    largest value of the search half is smaller, as far as the points of the bundle tell.
    """
    kept, U, tau, X = lift.splitting.kept, lift.U, lift.splitting.entries.tau, lift.points
    C = (U.T @ X).T
    if tau > 0:
        C = np.column_stack((C, np.sqrt(tau) * np.abs(X).sum(axis=0)))
    lengths = np.linalg.norm(C, axis=1)
    if not lengths.any():
        return []
    query = Query(U, lift.k, lift.heights(), tau, lift.nonneg, kept.fixed)
    having, lacking = at_directions(query, C[lengths > 0] / lengths[lengths > 0, None])
    free = slice(kept.fixed, len(kept.features))
    having, lacking, features = having[free], lacking[free], kept.features[free]
    order = np.lexsort((features, np.minimum(having, lacking)))
    return [(int(features[i]), bool(having[i] <= lacking[i])) for i in order]
