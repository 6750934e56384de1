"""Bound the supports of a node by eigenvalues of A: all supports at once, or one part after the other.

Neither needs a witness. `take_up` tries both whenever the supports of a node have changed.
"""

import numpy as np

from nspca.bounds.fixing.bounding import Bounding
from nspca.bounds.fixing.node import Node, Supports, Use
from nspca.bounds.fixing.squares import root_of_squares
from nspca.covariance.linalg import Array, is_positive_definite

COUNTED, PARTS, FEWER = 1e5, 2000, 4
"""Supports are enumerated by eigenvalues when there are at most COUNTED, in at most PARTS parts, which is
less work than steps. After a failure, enumeration is tried again when there are FEWER times fewer.
"""
EARLY, HOPEFUL = 100, 0.25
"""An enumeration of at most COUNTED supports ends after EARLY parts when it has closed less than the share
HOPEFUL of the supports that it should have closed by then. The first parts are the hardest ones.
"""
NEAR = 0.05
"""Relative distance of the root of squares from the target up to which it is tried for each part."""


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
    """Enumerate the supports of a node by branching; return the tree, or None if that fails.

    At most `left` parts are tried; fewer where the first ones close too little. What closes a part is proved
    once every part is known to be closed, so an enumeration that fails costs little.
    """
    root, known, kept = Node(own.supports), (own.lower, own.answer), own.kept
    parts = Parts(own)
    waiting, closed, tried, share, failed = [root], list[Node](), 0, 0.0, left <= 0
    while waiting and not failed:
        node, tried = waiting.pop(), tried + 1
        weights = None if node.supports.is_empty else parts.undecided(node)
        if weights is None:
            closed += [] if node.supports.is_empty else [node]
            share += node.supports.count / root.supports.count
        elif not weights.size:
            failed = True
        else:
            nothing, one = np.zeros(0, dtype=np.int64), node.supports.possible[[np.argmax(weights)]]
            halves = node.supports.fix(nothing, one), node.supports.fix(one, nothing)
            node.feature, node.children = int(one[0]), tuple(map(Node, halves))
            waiting += reversed(node.children)  # the child with the feature leads to good answers earlier
        behind = tried >= EARLY and root.supports.count <= COUNTED and share * left < HOPEFUL * tried
        failed |= bool(waiting) and (tried >= left or behind)
    for node in () if failed else closed:
        if node.leaf is None:
            own.kept = own.ground.kept(node.supports)
            node.leaf = own.without_witness((own.lower + own.target) / 2 + own.kept.paid)
            if node.leaf.upper > own.target:  # the eigenvalue itself is nearer to the target
                node.leaf = own.without_witness()
        failed |= node.leaf.upper > own.target
    own.kept = kept
    if failed:
        own.lower, own.answer = known
        return None
    return root


class Parts:
    """Bounds of the parts of an enumeration.

    The largest eigenvalue of A on the rows of a part is at most the target just when ``target I - A`` is psd
    there. All parts have the fixed rows of the whole. So these are eliminated once, and what is looked at is
    the Schur complement on the other rows. It is not used with prices, which move the target of each part.

    Attributes
    ----------
    left : (r, r) float64 or None
        The Schur complement; None with prices, or where no part can be closed with it.
    is_near : bool
        Whether the root of squares of the whole is so near the target that it may close parts.
    """

    def __init__(self, own: Bounding):
        self.own, self.rows, kept = own, own.kept.features[own.kept.fixed :], own.kept
        self.is_near = kept.prices is None and (
            root_of_squares(own.problem, kept)[0] <= (1 + NEAR) * own.target
        )
        self.left = self.eliminated()

    def eliminated(self) -> Array | None:
        """Return ``target I - A`` on the free rows after the fixed ones are eliminated."""
        kept = self.own.ground.kept(self.own.supports)
        if kept.prices is not None:
            return None
        S, f = self.own.target * np.eye(len(kept.block)) - kept.block, kept.fixed
        if not f:
            return S
        if not is_positive_definite(S[:f, :f]):
            return None
        return S[f:, f:] - S[f:, :f] @ np.linalg.solve(S[:f, :f], S[:f, f:])

    def undecided(self, node: Node) -> Array | None:
        """Return how much each possible feature of a part weighs in its bound; None if the part is closed.

        Where there is no feature to branch on, the array is empty.
        """
        own, supports, before = self.own, node.supports, self.own.lower
        size = supports.into.size + supports.possible.size
        least, vector = self.lowest(supports)
        if least >= 0:
            return None
        if size <= own.problem.size:
            own.reach(np.union1d(supports.into, supports.possible))
            if own.lower > before:
                self.left = self.eliminated()
                least, vector = self.lowest(supports)
                if least >= 0:
                    return None
        if (size <= own.problem.size and own.ground.prices is None) or not supports.possible.size:
            return np.zeros(0)
        if self.is_near:
            squares, each = root_of_squares(own.problem, own.ground.kept(supports))
            if squares <= own.target:
                node.leaf = Use(None, squares, 0.0, 0.0, np.zeros(0, dtype=np.uint8), of_squares=True)
                return None
            return each
        return vector

    def lowest(self, supports: Supports) -> tuple[float, Array]:
        """Return the lowest eigenvalue of the matrix of a part, and the sizes of its vector on the features
        that are possible.
        """
        if self.left is not None:
            own = np.setdiff1d(supports.into, self.own.supports.into, assume_unique=True)
            at = np.searchsorted(self.rows, np.concatenate((own, supports.possible)))
            S, fixed = self.left[np.ix_(at, at)], own.size
        else:
            kept = self.own.ground.kept(supports)
            block = kept.block if kept.prices is None else kept.block - np.diag(kept.prices)
            S, fixed = (self.own.target + kept.paid) * np.eye(len(block)) - block, kept.fixed
        if is_positive_definite(S):
            return 0.0, np.zeros(0)
        values, vectors = np.linalg.eigh(S)
        return float(values[0]), np.abs(vectors[fixed:, 0])
