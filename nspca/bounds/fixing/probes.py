"""Probes: fix a feature by closing the child of a node that lacks it, or the child that has it.

A probe is a branch of which one child is closed at once. So it costs half of what branching does, and the
other child has a feature less to decide. Probes close children that no witness of their parent can, since
each probe has a short lift of its own.

`settle` calls `probe_all` where neither steps nor a witness gain anything, and `below_probes` at the end.
"""

from dataclasses import replace

import numpy as np

from nspca.bounds.dual.lift import Lift
from nspca.bounds.dual.rounds import look
from nspca.bounds.fixing.bounding import Bounding
from nspca.bounds.fixing.branching import node_of
from nspca.bounds.fixing.eigenvalues import may_count, take_up
from nspca.bounds.fixing.lifts import gone_on
from nspca.bounds.fixing.node import Node, Probed, Supports
from nspca.lowrank.fixing import at_directions
from nspca.lowrank.objective import Query

PROBE_STEPS, PROBE_ROUNDS, PROBE_CAP = 40, 3, 2000
"""Steps of a round of a probe, maximum rounds, and maximum cones of a search that proves its bound."""
PROBED_ROWS = 128
"""Maximum rows for probes. With more there are more probes, and each takes longer than a branch saves."""
PROBED, SURE, FAILURES = 0.5, 0.05, 4
"""A probe goes on while its gap is at most the share PROBED of the gap of its node. A search is made where
the lift promises a bound below the level by the share SURE of that gap. FAILURES in a row end the probes.
"""


def probe_all(own: Bounding, lift: Lift) -> bool:
    """Fix each feature whose other side a short lift closes, and tell whether any was fixed.

    The features that the lift is nearest to fixing come first. With many rows none is probed.
    """
    if len(own.kept.block) > PROBED_ROWS:
        return False
    failures, before = 0, len(own.probed)
    for feature, into in nearest(lift):
        if failures == FAILURES or not own.supports.possible.size or may_count(own):
            break
        one, nothing = np.array([feature]), np.zeros(0, dtype=np.int64)
        sides = own.supports.fix(nothing, one), own.supports.fix(one, nothing)
        closed = probe(own, lift, sides[0 if into else 1])
        if closed is None:
            failures += 1
            continue
        failures = 0
        own.probed.append(Probed(own.supports, own.stages, feature, closed, into))
        own.stages = []
        own.carry(sides[1 if into else 0])
        if own.supports.is_empty:
            break
        own.kept = own.ground.kept(own.supports)
    if len(own.probed) == before:
        return False
    take_up(own)
    return True


def probe(own: Bounding, lift: Lift, supports: Supports) -> Node | None:
    """Return a closed node with these supports; None if a short lift does not close it."""
    side = own.beside(supports, plan=replace(own.plan, cap=PROBE_CAP), failed=own.failed)
    take_up(side)
    if not side.done and side.kept.block.any():
        short, sure = gone_on(side, lift), SURE * (own.upper - own.lower)
        for _ in range(PROBE_ROUNDS):
            side.advance(short.splitting, PROBE_STEPS)
            gone = look(short, side.prove_rounded, lambda witness, proof: None, below=side.target - sure)
            if side.done or gone - own.lower > PROBED * (own.upper - own.lower):
                break
    own.steps, own.entries = own.steps + side.steps, own.entries + side.entries
    if side.answer is not None and side.lower > own.lower:
        own.lower, own.answer = side.lower, side.answer
    return node_of(side) if side.done else None


def below_probes(probed: list[Probed], node: Node) -> Node:
    """Return the first of a chain of nodes, each the open child of the one before; `node` ends the chain."""
    for one in reversed(probed):
        above = Node(one.supports, one.stages, feature=one.feature, level=one.level)
        if one.closed is None:
            above.children = (node,)
        else:
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
