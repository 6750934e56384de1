"""Prove, one feature after the other, that every good answer has it.

For each feature the supports are split in two. Those without the feature must have a bound below a level.
Those with it are split further at the next feature. The resulting chain is a tree with one leaf for each
feature and one for the supports that have all features. `sources` calls `chain`.
"""

from collections.abc import Sequence

import numpy as np

from nspca.bounds import elimination
from nspca.bounds.dual.splitting import Splitting
from nspca.bounds.fixing.ground import Ground
from nspca.bounds.fixing.node import Node, Supports, Warm
from nspca.bounds.fixing.settle import settle
from nspca.bounds.fixing.stored import Stored
from nspca.bounds.fixing.tasks import Task
from nspca.bounds.plan import PLANS, ROUND
from nspca.bounds.witness import Witness, lifted
from nspca.problem import Problem
from nspca.progress import Report, silent

RANK = 3
"""Dimensions of the first lift."""


def chain(
    problem: Problem, features: Sequence[int], level: float, gap: float, report: Report = silent
) -> Node | None:
    """Return the root of a tree which proves that every answer above ``level (1 + gap)`` has some features.

    Parameters
    ----------
    problem : Problem
    features : sequence of int
        Features to prove, in this order. The chain ends at the first that is not proved.
    level : float
        Value in unit scale.
    gap : float
        Relative margin: a feature is proved if the bound without it is at most ``level (1 + gap)``.
    report : callable

    Returns
    -------
    root : Node or None
        None if the first feature is not proved.
    """
    kept = elimination.keep(problem, problem.n)
    splitting = Splitting(kept, problem.size, problem.nonneg)
    for _ in range(ROUND):
        splitting.step()
    witness, _ = lifted(kept, Witness(splitting.entries.W), RANK)
    vectors = splitting.vectors.astype(np.float64)
    warm = Warm(kept.features, splitting.weights.astype(np.float64), vectors, np.zeros((len(vectors), 0)))
    ground = Ground.of(problem, kept)

    def bound(supports: Supports, start: Stored | None, warm: Warm | None) -> Node:
        """Return a node with a proved bound for some supports, from a witness and a warm start."""
        # Features are fixed for answers above one level. Claims about features are made at several.
        task = Task(supports, start, warm, level, gap, PLANS["standard"], only_bounding=True)
        return settle(ground, task, report).node

    supports, none = Supports.of(problem, problem.usable), np.zeros(0, dtype=np.int64)
    whole = bound(supports, Stored.of(kept.features, witness), warm)
    if whole.leaf is None or whole.upper <= level * (1 + gap):
        return None
    start, above = (whole.leaf.witness, whole.warm), list[tuple[Node, Node]]()
    for feature in features:
        one = np.array([feature], dtype=np.int64)
        if not np.isin(one, supports.possible):
            break
        without = bound(supports.fix(one, none), *start)
        if without.leaf is None or without.upper > level * (1 + gap):
            break
        above.append((Node(supports, feature=int(feature)), without))
        supports = supports.fix(none, one)
    if not above:
        return None
    root = bound(supports, *start)
    for node, without in reversed(above):
        node.children = (root, without)
        root = node
    return root
