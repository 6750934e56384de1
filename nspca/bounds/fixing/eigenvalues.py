"""Bound the supports of a node by eigenvalues of A: all supports at once, or one part after the other.

Neither needs a witness. `take_up` tries both whenever the supports of a node have changed.
"""

import numpy as np

from nspca.bounds.fixing.bounding import Bounding
from nspca.bounds.fixing.node import Node

COUNTED, PARTS, FEWER = 1e5, 600, 4
"""Supports are enumerated by eigenvalues when there are at most COUNTED, in at most PARTS parts, which is
less work than steps. After a failure, enumeration is tried again when there are FEWER times fewer.
"""


def take_up(own: Bounding) -> None:
    """Set up the work for the present supports of a node, and try the largest eigenvalue and an enumeration.

    A bound that was proved before features were fixed still holds, but a leaf needs a cover of its own.
    """
    own.is_exact, own.is_current, own.counted = False, False, None
    own.priced = None
    if own.supports.is_empty:
        own.best = None
        return
    own.kept = own.ground.kept(own.supports)
    rows, k = own.kept.features, own.problem.size
    if rows.size <= k and not own.kept.free:
        own.reach(rows)
        unpriced = own.kept.prices is None or not own.supports.possible.size
        own.is_exact = unpriced and not own.problem.nonneg
    own.offer(None)
    if not own.done and not own.kept.free and not own.only_bounding:
        few = may_count(own)
        own.counted = count(own, PARTS if few else int(own.work / max(rows.size, 1) ** 3))
        own.failed = own.supports.count if few else own.failed
        own.work = 0.0


def may_count(own: Bounding) -> bool:
    """Tell whether there are so few supports, and no features without rows, that enumeration is tried."""
    return not own.kept.free and own.supports.count <= min(COUNTED, own.failed / FEWER)


def count(own: Bounding, left: int) -> Node | None:
    """Enumerate the supports of a node by branching with eigenvalue bounds; return None if that fails.

    The bound of a part is the largest eigenvalue of A on the features that it may use. At most `left` parts
    are tried.
    """
    root, known = Node(own.supports), (own.lower, own.answer)
    stack = [root] if left > 0 else []
    if not stack:
        return None
    while stack:
        node, left = stack.pop(), left - 1
        own.kept = own.ground.kept(node.supports)
        rows = own.kept.features
        if node.supports.is_empty:
            continue
        prices, paid = own.kept.prices, own.kept.paid
        block = own.kept.block if prices is None else own.kept.block - np.diag(prices)
        values, vectors = np.linalg.eigh(block)
        if rows.size <= own.problem.size:
            own.reach(rows)
        if values[-1] - paid <= own.target:
            node.leaf = own.without_witness(float(values[-1]))
            if node.leaf.upper <= own.target:
                continue
        whole = rows.size <= own.problem.size if prices is None else not node.supports.possible.size
        if whole or left <= 0:
            own.lower, own.answer = known
            own.kept = own.ground.kept(own.supports)
            return None
        free, nothing = node.supports.possible, np.zeros(0, dtype=np.int64)
        one = free[[np.argmax(np.abs(vectors[own.kept.fixed :, -1]))]]
        halves = node.supports.fix(nothing, one), node.supports.fix(one, nothing)
        node.leaf, node.feature = None, int(one[0])
        node.children = tuple(map(Node, halves))
        stack += reversed(node.children)  # the child with the feature leads to good answers earlier
    return root
