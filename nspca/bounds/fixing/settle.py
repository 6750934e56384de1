"""Settle a node: fix features in and out as long as possible, and bound the remaining supports.

The witness of the parent is tried first. A few rounds of a lift with row cuts follow, which begin from the
state of the parent. After each round, a feature is fixed if the supports that have it, or those that lack
it, cannot exceed the best known value. The work continues on the remaining supports. A search over the sphere
waits until it may end the node: a tree has many nodes that no round closes, and the spectral half of a
witness alone is enough to fix features.

`tree` calls `settle` for every node. The node that it returns has what its children start from.
"""

from collections.abc import Callable

import numpy as np

from nspca.bounds.dual.lift import Lift
from nspca.bounds.fixing.bounding import Bounding
from nspca.bounds.fixing.eigenvalues import take_up
from nspca.bounds.fixing.ground import Ground
from nspca.bounds.fixing.lifts import begin, begin_afresh, is_core, reach_points, remember
from nspca.bounds.fixing.node import Node
from nspca.bounds.fixing.reduction import below_reduced, prove_roof, reduce
from nspca.bounds.fixing.stages import fix, fix_needed
from nspca.bounds.fixing.stored import Stored
from nspca.bounds.fixing.tasks import Narrowed, OutOfTime, Settled, Task
from nspca.bounds.plan import ROUND
from nspca.covariance.linalg import Array
from nspca.lowrank.fixing import at_directions
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
        if is_core(own):
            own.claim(stored)
        else:
            own.offer(stored)
        fixed = fix(own)
        if is_core(own) and not fixed:
            own.offer(stored)
        # On the rows of a core the same witness may still tell which features every better answer has.
        while is_core(own) and fixed and not own.done and not own.kept.free:
            own.claim(stored)
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


# --- rounds of a lift ---------------------------------------------------------------------------------------


def refine(own: Bounding, task: Task) -> None:
    """Make rounds of steps of a lift; after each, evaluate the bound and fix features."""
    lift = None
    if own.kept.block.any():
        lift = begin_afresh(own) if is_core(own) else begin(own, task.witness)
    rounds, last, waits = 0, np.inf, 1 if lift is not None and lift.cuts.weight else FEWEST
    while lift is not None:
        rounds += 1
        own.advance(lift.splitting, ROUND)
        fewest = waits if own.stages or own.reduced else max(waits, task.rounds // 2)

        def is_over(reached: float, rounds: int = rounds, fewest: int = fewest, last: float = last) -> bool:
            stalled = rounds >= fewest and last - reached < STALL * (reached - own.lower)
            return stalled or rounds >= task.rounds or own.entries >= task.entries

        stored, reached = weigh_up(own, lift, is_over)
        own.points = lift.points
        reach_points(own, lift)
        own.tell()
        if own.done:
            return
        remember(own, lift)
        over, last = is_over(reached), min(last, reached)
        fixed = fix(own, 1 if over else max(1, int(WORTH * len(own.kept.block))))
        if fixed or over:
            lift, rounds = next_lift(own, task, stored, fixed), 0
            last, waits = (last, 1) if fixed else (np.inf, FEWEST)


def weigh_up(own: Bounding, lift: Lift, is_over: Callable[[float], bool]) -> tuple[Stored | None, float]:
    """Return the present witness of a lift, and its bound.

    The bound is proved only if that may close the node, or ends the work on it.
    """
    kept, mean = own.kept, lift.averaged()
    tau = mean.threshold(lift.nonneg, kept.floor)
    witness, left, tops, plain = own.present(lift, mean, kept, tau)
    stored, promise = Stored.of(kept.features, witness), left + float(tops[0]) - kept.paid
    if promise <= own.target or is_over(promise):
        proof = own.offer(stored)
        if proof.cover.direction.size == lift.U.shape[1] + 1:
            lift.grow(proof.cover.direction[:, None])
    else:
        own.claim(stored, left)
    if plain.shape[1] == lift.B.shape[1]:
        lift.rebase(np.linalg.qr(plain)[0])
    return stored, promise


def next_lift(own: Bounding, task: Task, stored: Stored | None, fixed: bool) -> Lift | None:
    """Return the lift on what is left after features were fixed; None where the work on the node ends.

    Where a lift gains no more and no feature was fixed, the features that are in are eliminated once.
    """
    if own.done or own.entries >= task.entries or not (fixed or (task.reducing and reduce(own))):
        return None
    if own.done or not own.kept.block.any():
        return None
    return begin(own, stored) if fixed else begin_afresh(own)


# --- the node -----------------------------------------------------------------------------------------------


def node_of(own: Bounding) -> Node:
    """Return the node for the present supports, with what its children start from if it is open."""
    node = Node(own.supports, own.stages, leaf=own.best, level=own.ground.level)
    if own.counted is not None:
        counted = own.counted
        node.feature, node.children, node.leaf = counted.feature, counted.children, counted.leaf
    elif own.supports.is_empty:
        node.leaf = None
    elif not own.closed and own.supports.possible.size:
        node.warm, node.scores = own.warm, scores(own)
    return node


def scores(own: Bounding) -> Array:
    """Return a branching score for each possible feature; the lowest is best.

    After a lift, the best feature is the one whose z is closest to one half, since both children then gain.
    Without a lift, it is the one with the lowest estimate for one of its two children. Features without rows
    cannot be branched on and get infinity.
    """
    free, use, kept = own.supports.possible, own.best, own.kept
    if own.places is not None:
        features, z = own.places[0], np.clip(own.places[1], 0.0, 1.0)
        undecided = np.full(own.problem.n, np.inf)
        undecided[features] = -np.minimum(z, 1 - z) - 1e-3 * z
        if np.isfinite(undecided[free]).any():
            return undecided[free]
    found, rows = np.full(free.size, np.inf), slice(kept.fixed, len(kept.features))
    at = np.searchsorted(free, kept.features[rows])
    found[at] = -kept.block.diagonal()[rows]
    if use is not None and use.witness is not None:
        query, _ = own.query(use)
        directions = own.directions(query)
        if len(directions):
            found[at] = np.minimum(*at_directions(query, directions))[rows]
    return found
