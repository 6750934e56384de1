"""Bounds for every feature by a tree of supports without stages: its leaves say which features they can have.

The bound on answers with a feature is the largest over leaves whose supports can have it. The bound on
answers without it is the largest over leaves whose supports can lack it.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from nspca.bounds.elimination import Kept
from nspca.bounds.fixing.arrays import packed
from nspca.bounds.fixing.node import LEAF, Node, Supports, Use
from nspca.bounds.fixing.stored import none
from nspca.bounds.membership.claims import Bounds, Interest, stated
from nspca.bounds.membership.sphere import WORK, Half, search_half
from nspca.bounds.witness import Witness, spectral_half
from nspca.certificate import Certificate
from nspca.covariance.linalg import Array, largest_eigenpairs
from nspca.problem import Problem
from nspca.progress import Report, silent

TREE = 1e8
"""Maximum work of a complete tree: n^3 + CALL for every node."""
CALL = 3e4
"""Fixed cost of a node, such as function calls, in the units of n^3."""


def of_tree(problem: Problem, root: Node, interest: Interest, report: Report = silent) -> Certificate:
    """Return bounds for every feature from a tree without stages, whose covers are refined."""
    leaves = _leaves(root)
    halves = []
    for node, use in leaves:
        rows = _rows(node)
        witness = none(rows) if use.witness is None else use.witness.at(rows)
        kept = Kept(rows, np.zeros((rows.size, 0)), 0.0, fixed=node.supports.into.size)
        halves.append(search_half(problem, kept, witness, use.t, interest, WORK / len(leaves), report))
        node.leaf = replace(use, F=halves[-1].F, tree=halves[-1].tree)
    return _of_leaves(problem, root, halves)


def _leaves(root: Node) -> list[tuple[Node, Use]]:
    """Return the leaves of a tree that have supports, each with its proof."""
    return [(node, node.leaf) for node in root.walk() if node.leaf is not None]


def _of_leaves(problem: Problem, root: Node, halves: Sequence[Half]) -> Certificate:
    """Return the certificate of a tree without stages, given the proved halves of its leaves."""
    n, nothing = problem.n, np.zeros(0, dtype=int)
    having, lacking, upper = np.full(n, -np.inf), np.full(n, -np.inf), 0.0
    for (node, _), half in zip(_leaves(root), halves, strict=True):
        upper, rows = max(upper, half.upper), _rows(node)
        own = half.spread(n, rows, nothing, problem.size)
        own.having[np.setdiff1d(np.arange(n), rows)] = -np.inf
        own.lacking[np.setdiff1d(node.supports.into, problem.forced)] = -np.inf
        having, lacking = np.maximum(having, own.having), np.maximum(lacking, own.lacking)
    return stated(problem, "B8", "fixing", Bounds(having, lacking, upper), packed(root)[0])


def complete_tree(problem: Problem, interest: Interest) -> Certificate | None:
    """Return the certificate of a tree that splits supports until all that may reach a level are decided.

    The bound of a set of supports is the largest eigenvalue of A on the features that it can have. The level
    falls to the next one of interest as long as the work stays below `TREE`. None where the first takes more.
    """
    n, nothing = problem.n, np.zeros(0, dtype=np.int64)
    work = n * (n**3 + CALL)
    if work > TREE:
        return None
    A = problem.covariance.matrix
    root = Node(Supports.of(problem, problem.usable))
    decided, waiting = list[_Bounded](), [_bounded(A, root)]
    for number, level in enumerate(interest.levels):
        waiting, decided, split = waiting + decided, [], list[Node]()
        while waiting and work <= TREE:
            value, feature, node = waiting.pop()
            if value <= level or feature is None:
                decided.append((value, feature, node))
                continue
            split.append(node)
            one, supports = np.array([feature]), node.supports
            node.feature = feature
            node.children = Node(supports.fix(nothing, one)), Node(supports.fix(one, nothing))
            for child in reversed(node.children):
                if not child.supports.is_empty:
                    waiting.append(_bounded(A, child))
                    work += len(_rows(child)) ** 3 + CALL
        if waiting and number == 0:
            return None
        if waiting:  # the tree of the level before is complete, and has fewer leaves
            for node in split:
                node.feature, node.children = LEAF, ()
            break
    halves, no_codes = [], np.zeros(0, dtype=np.uint8)
    for node in root.walk():
        if node.children or node.supports.is_empty:
            continue
        rows = _rows(node)
        t = spectral_half(problem, Kept(rows, A[np.ix_(rows, rows)], 0.0), Witness())
        node.leaf = Use(None, t, 0.0, 0.0, no_codes)
        halves.append(Half(t, 0.0, np.zeros(rows.size), np.zeros(rows.size), no_codes))
    return _of_leaves(problem, root, halves)


_Bounded = tuple[float, int | None, Node]
"""The largest eigenvalue of a node, the feature to branch on (None without a free one), and the node."""


def _rows(node: Node) -> np.ndarray:
    """Return the features that the supports of a node can have, those that are in first."""
    return np.concatenate((node.supports.into, node.supports.possible))


def _bounded(A: Array, node: Node) -> _Bounded:
    """Return a node with its largest eigenvalue and the free feature that weighs most in its vector."""
    rows, free = _rows(node), node.supports.possible
    values, vectors = largest_eigenpairs(A[np.ix_(rows, rows)], 1)
    weights = np.abs(vectors[node.supports.into.size :, 0])
    return float(values[0]), int(free[np.argmax(weights)]) if free.size else None, node
