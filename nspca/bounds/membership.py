"""Membership bounds: for every feature, a bound on the answers that have it and on those that lack it.

A tree over supports is run at a level below the value of a known answer. Its stages fix features, and its
nodes branch, for all answers above that level. Such an answer lies in a leaf of the tree, so it has the
features that are in at each leaf that it may lie in (docs/certificates.md, *In or out*).

`selection.membership` calls `certificate_at`.
"""

from collections.abc import Sequence

import numpy as np

from nspca.bounds.fixing.arrays import bound_of, packed, up
from nspca.bounds.fixing.ground import Ground
from nspca.bounds.fixing.node import LEAF, Node
from nspca.bounds.fixing.tree import FixingTree, Limits
from nspca.bounds.plan import PLANS
from nspca.bounds.search import ROOT_ROUNDS, start_of_tree
from nspca.certificate import Certificate
from nspca.covariance.linalg import Array, one_thread
from nspca.problem import Problem
from nspca.progress import Report

NODES = {"fast": 8, "standard": 400}
"""Maximum nodes of a tree by effort."""
WORK = {"fast": 2e6, "standard": 1e8}
"""Maximum work of the steps of a tree by effort, in entries: for 64 features half a second, half a minute."""
FEW = 9
"""Maximum features of a problem whose nodes are branched on at once: all supports cost less than one lift."""
BELOW = 1e-8
"""Relative distance between the level of interest and the level of a tree. Proved bounds stay below the level
of interest despite rounding.
"""


def certificate_at(
    problem: Problem,
    level: float,
    base: Certificate,
    asked: Sequence[int],
    effort: str,
    report: Report,
) -> Certificate | None:
    """Return a certificate of a tree, which bounds the answers with each feature and those without it.

    Parameters
    ----------
    problem : Problem
        A problem for one component.
    level : float
        Level of interest, in unit scale. Features are fixed for every answer that reaches it.
    base : Certificate
        A certificate of the problem, whose witness is tried first if it is one of the inequality.
    asked : sequence of int
        Features to branch on first, in this order.
    effort : "fast" or "standard"
    report : callable
        Gets events, and may raise `Cancelled`.

    Returns
    -------
    Certificate or None
        None where A is zero on the rows that may be kept, or where too many features are forced for a tree.
    """
    plan = PLANS[effort]
    with one_thread():
        found = start_of_tree(problem, plan, level, base, report)
        if found is None:
            return None
        kept, witness, warm = found
        tree = FixingTree(
            problem=problem,
            plan=plan,
            lower=level * (1 - BELOW),
            gap=BELOW / 10,
            report=report,
            ground=Ground.of(problem, kept),
            limits=Limits(entries=WORK[effort], nodes=NODES[effort]),
        )
        tree.at_level, tree.asked = True, asked
        rounds = 1 if effort == "fast" else ROOT_ROUNDS
        if problem.n <= FEW:
            rounds = tree.rounds = 0
        tree.begin(witness, warm, rounds, plan.eigenvalues)
        tree.run()
        if tree.root is None:
            return None
        arrays, upper = packed(tree.root)
        level = float(arrays["level"][0])
        having, lacking = claims_of(tree.root, problem, level)
    return Certificate.of(problem, "B8", "fixing", upper, arrays | {"having": having, "lacking": lacking})


def claims_of(root: Node, problem: Problem, level: float) -> tuple[Array, Array]:
    """Return proved bounds (n,) of the answers that have each feature, and of those that lack it.

    They are the largest bounds of the leaves that such answers may lie in, and at least `level`. A forced
    feature is in every support, and still an answer may lack it.
    """
    having, lacking = np.full(problem.n, level), np.full(problem.n, level)
    for node in root.walk():
        if node.leaf is None or node.code != LEAF:
            continue
        bound, certain = up(bound_of(node)), node.supports.certain
        able = np.concatenate((certain, node.supports.possible))
        unsure = np.setdiff1d(np.arange(problem.n), np.setdiff1d(certain, problem.forced))
        having[able] = np.maximum(having[able], bound)
        lacking[unsure] = np.maximum(lacking[unsure], bound)
    return having, lacking
