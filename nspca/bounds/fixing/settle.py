"""Settle a node: fix features in and out as long as possible, and bound the remaining supports.

The witness of the parent is tried first, with a new search. A few rounds of the lift with row cuts follow,
which continue from the state of the parent. After each round, a feature is fixed if the supports that have
it, or those that lack it, cannot exceed the best known value. The work continues on the remaining supports.

`tree` calls `settle` for every node.
"""

import numpy as np

from nspca.bounds.dual.restriction import restricted
from nspca.bounds.fixing.bounding import Bounding
from nspca.bounds.fixing.branching import node_of
from nspca.bounds.fixing.eigenvalues import take_up
from nspca.bounds.fixing.ground import Ground
from nspca.bounds.fixing.lifts import (
    begin_afresh,
    first_lift,
    is_core,
    reach_points,
    remember,
)
from nspca.bounds.fixing.node import Node
from nspca.bounds.fixing.priced import claim, is_hopeless, weigh_up
from nspca.bounds.fixing.reduction import below_reduced, prove_roof, reduce
from nspca.bounds.fixing.stages import fix_all, fix_needed
from nspca.bounds.fixing.tasks import Narrowed, OutOfTime, Settled, Task
from nspca.bounds.plan import ROUND
from nspca.progress import Report, silent

STALL = 0.2
"""A node is branched on when a round closes less than this share of its gap."""
FEWEST = 3
"""Minimum rounds before that rule applies, since the bound gets worse when the row cuts begin. At the root,
where nothing is fixed yet, the minimum is half of all rounds.
"""
WORTH = 0.1
"""While the lift still gains, features are fixed only if the known directions leave at least this share of
the rows that may be fixed.
"""
FIX_CAP, QUICK_CAP = 4000, 400
"""Maximum cones of a search for features to fix; and of such a search at a node without rounds."""


def settle(ground: Ground, task: Task, report: Report, narrowed: Narrowed | None = None) -> Settled:
    """Settle a task and return the node, with fixed features, a bound and the starting point for children.

    ``narrowed`` is called whenever features have been fixed.
    """
    own = Bounding.of(ground, task, report)
    own.narrowed = narrowed
    try:
        improve(own, task)
        prove_leaf(own)
        node = below_reduced(own.reduced, node_of(own))
        if not own.done:
            prove_roof(own, node)
    except OutOfTime:
        if not task.partial or own.best is None:
            raise
        own.report = silent  # what is left to do is short
        prove_leaf(own)
        best = None if own.supports.is_empty else own.best
        last = Node(own.supports, own.stages, best, level=own.ground.level)
        node = below_reduced(own.reduced, last)
        prove_roof(own, node)
    return Settled(node, own.answer, own.lower, own.steps, own.entries)


def improve(own: Bounding, task: Task) -> None:
    """Fix features and improve the bound: with the parent's witness, then with a lift."""
    take_up(own)
    if not own.done and task.witness is not None:
        if task.warm is not None:  # its points give directions of large search halves
            own.points = task.warm.feasible(own.kept, own.problem.size)
        own.cap = FIX_CAP if task.rounds else QUICK_CAP
        stored = task.witness.covering(own.kept.features)
        if is_hopeless(own, task, stored) or is_core(own):
            claim(own, stored)
        else:
            own.offer(stored)
        fixed = fix_all(own)
        if is_core(own) and not fixed:
            own.offer(stored)
        # On the rows of a core the same witness may still tell which features every better answer has.
        while is_core(own) and fixed and not own.done and not own.kept.free:
            claim(own, stored)
            fixed = fix_needed(own)
            own.priced = None
    own.cap = FIX_CAP
    if not own.done and task.rounds:
        refine(own, task)


def prove_leaf(own: Bounding) -> None:
    """Prove the bound of the best witness for the present supports, unless that has been done."""
    if own.supports.is_empty or own.counted is not None:
        return
    if not own.is_current:
        before, own.upper, own.kept = own.best, np.inf, own.ground.kept(own.supports)
        own.offer(None)
        if before is not None and before.witness is not None and not own.done:
            own.offer(before.witness)
    if own.claimed is not None and not own.done:
        own.offer(own.claimed)


def refine(own: Bounding, task: Task) -> None:
    """Make rounds of steps of a lift; after each, evaluate the bound and fix features.

    Where a lift gains no more and no feature can be fixed, the features that are in are eliminated once.
    """
    if not own.kept.block.any():
        return  # the block is zero or empty
    lift, rounds, last = first_lift(own, task), 0, np.inf
    waits = FEWEST if lift.cuts.weight == 0.0 else 1
    while True:
        rounds += 1
        own.advance(lift.splitting, ROUND)
        fewest = waits if own.stages or own.reduced else max(waits, task.rounds // 2)

        def is_over(reached: float, rounds: int = rounds, fewest: int = fewest, last: float = last) -> bool:
            stalled = rounds >= fewest and last - reached < STALL * (reached - own.lower)
            return stalled or rounds >= task.rounds or own.entries >= task.entries

        reached = weigh_up(own, lift, is_over)
        own.points = lift.points
        reach_points(own, lift)
        own.tell()
        if own.done:
            break
        remember(own, lift)
        over, last = is_over(reached), min(last, reached)
        fixed = fix_all(own, 1 if over else max(1, int(WORTH * len(own.kept.block))))
        if not fixed and not over:
            continue
        if own.done or own.entries >= task.entries or not (fixed or (task.reducing and reduce(own))):
            break
        if own.done or not own.kept.block.any():
            break
        if fixed:
            lift, rounds, waits = restricted(lift, own.kept), 0, 1
        else:
            lift, rounds, last, waits = begin_afresh(own), 0, np.inf, FEWEST
