"""Membership bounds: for every feature, a bound on the answers that have it and on those that lack it.

A tree over supports is run at a level below the value of a known answer. Its stages fix features, and its
nodes branch, for all answers above that level. Such an answer lies in a leaf of the tree, so it has the
features that are in at each leaf that it may lie in (docs/certificates.md, *In or out*).

`selection.membership` calls `certificate_at`. `answers` begins its tree by `search_at`, too.
"""

from collections.abc import Sequence

import numpy as np

from nspca.bounds import elimination
from nspca.bounds.bound_search import ROOT_ROUNDS, BoundSearch
from nspca.bounds.dual.splitting import Splitting
from nspca.bounds.fixing.arrays import bound_of, packed, unpacked, up
from nspca.bounds.fixing.node import LEAF, Node, Supports
from nspca.bounds.fixing.stored import Stored
from nspca.bounds.fixing.tree import Limits
from nspca.bounds.plan import PLANS, ROUND, Plan
from nspca.bounds.strongest import LEFT_OUT
from nspca.bounds.witness import Witness
from nspca.certificate import Certificate
from nspca.covariance.linalg import Array, one_thread
from nspca.problem import Problem
from nspca.progress import Report, silent

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
    report: Report = silent,
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
        begun = search_at(problem, plan, level * (1 - BELOW), BELOW / 10, report)
        if begun is None:
            return None
        run, splitting = begun
        run.limits = Limits(entries=WORK[effort], nodes=NODES[effort])
        tree = run.new_tree(run.kept)
        tree.at_level, tree.asked = True, asked
        witness = witness_of(problem, base) or run.first_witness(splitting)
        rounds = 1 if effort == "fast" else ROOT_ROUNDS
        if problem.n <= FEW:
            rounds = tree.rounds = 0
        tree.begin(witness, run.warm_of(splitting), rounds, plan.eigenvalues)
        tree.run()
        if tree.root is None:
            return None
        arrays, upper = packed(tree.root)
        level = float(arrays["level"][0])
        having, lacking = claims_of(tree.root, problem, level)
    return Certificate.of(problem, "B8", "fixing", upper, arrays | {"having": having, "lacking": lacking})


def search_at(
    problem: Problem, plan: Plan, level: float, gap: float, report: Report
) -> tuple[BoundSearch, Splitting] | None:
    """Return a search at a level, and its splitting after some steps, from which a tree begins.

    Returns None where A is zero on the rows that may be kept, and where too many features are forced.
    """
    if problem.covariance.trace == 0.0 or len(problem.forced) > plan.rows[-1]:
        return None
    kept = elimination.keep(problem, elimination.enough_rows(problem, plan.rows, LEFT_OUT * level))
    if not len(kept.block) or not kept.leading[0][0] > 0:
        return None
    run = BoundSearch(problem=problem, plan=plan, lower=level, gap=gap, report=report, kept=kept)
    splitting = run.splitting()
    run.advance(splitting, ROUND)
    return run, splitting


def witness_of(problem: Problem, base: Certificate) -> Stored | None:
    """Return the witness of a certificate of the inequality, or the first of a tree; None for others."""
    parts = base.witness
    if base.form == "fixing":
        root = unpacked(parts, Supports.of(problem, problem.usable), problem.nonneg)
        return next((use.witness for use in root.uses if use.witness is not None), None)
    if base.form != "inequality" or "y" in parts or "W" not in parts:
        return None
    rows = parts.get("rows", np.arange(base.shape[1]))
    return Stored.of(rows, Witness(*(parts.get(name) for name in ("W", "M", "U"))))


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
