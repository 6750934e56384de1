"""Bound the supports of a node without a witness: by the largest eigenvalue, or in parts that are enumerated.

Parts are bounded by their largest eigenvalues and by squares (`squares`). `take_up` tries both whenever the
supports of a node have changed.
"""

import numpy as np

from nspca.bounds.fixing.bounding import Bounding
from nspca.bounds.fixing.node import MIXED, Node, Supports, Use
from nspca.bounds.fixing.squares import eliminated, root_of_squares
from nspca.covariance.linalg import Array, is_positive_definite
from nspca.local_search.minimal import best_above, is_mixed

COUNTED, PARTS, FEWER = 1e20, 1000, 4
"""Supports are enumerated when there are at most COUNTED, in at most PARTS parts, which is less work than
steps. After a failure, enumeration is tried again when there are FEWER times fewer.
"""
PRICED = 1e5
"""Maximum supports for an enumeration with prices, where squares are no bound."""


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
        own.is_exact = unpriced and not own.problem.nonneg and own.ground.base is None
    own.offer(None)
    if not own.done and not own.kept.free:
        few = may_count(own)
        own.counted = count(own, PARTS if few else int(own.work / max(rows.size, 1) ** 3))
        own.failed = own.supports.count if few else own.failed
        own.work = 0.0


def may_count(own: Bounding) -> bool:
    """Tell whether there are so few supports, and no features without rows, that enumeration is tried."""
    most = COUNTED if own.ground.prices is None else min(COUNTED, PRICED)
    return not own.kept.free and own.supports.count <= min(most, own.failed / FEWER)


def count(own: Bounding, left: int) -> Node | None:
    """Enumerate the supports of a node by branching; return the tree, or None if that fails.

    At most `left` parts are tried. What closes a part is proved
    once every part is known to be closed, so an enumeration that fails costs little.
    """
    if left <= 0:
        return None
    root, known, kept = Node(own.supports), (own.lower, own.answer), own.kept
    parts = Parts(own)
    waiting, closed, tried, failed = [root], list[Node](), 0, False
    while waiting and not failed:
        node, tried = waiting.pop(), tried + 1
        weights = None if node.supports.is_empty else parts.undecided(node)
        if weights is None:
            closed += [] if node.supports.is_empty else [node]
        elif not weights.size:
            failed = True
        else:
            nothing, one = np.zeros(0, dtype=np.int64), node.supports.possible[[np.argmax(weights)]]
            halves = node.supports.fix(nothing, one), node.supports.fix(one, nothing)
            node.feature, node.children = int(one[0]), tuple(map(Node, halves))
            waiting += reversed(node.children)  # the child with the feature leads to good answers earlier
        failed |= bool(waiting) and tried >= left
    for node in () if failed else closed:
        if node.leaf is None:
            own.kept = own.ground.kept(node.supports)
            node.leaf = own.without_witness((own.lower + own.target) / 2 + own.kept.paid)
            if node.leaf.upper > own.target:  # the eigenvalue itself is nearer to the target
                node.leaf = own.without_witness()
        failed |= node.upper > own.target
    own.kept = kept
    if failed:
        own.lower, own.answer = known
        return None
    return root


class Parts:
    """Bounds of the parts of an enumeration.

    All parts have the features that are in at the node. Without prices these are eliminated once (`squares`),
    and what is looked at is ``target I - C`` on the others. It is psd on the features of a part just when the
    largest eigenvalue of A there is at most the target. Prices move the target of each part, so with prices
    nothing is eliminated.

    Attributes
    ----------
    C, plain : (f, f) float64 or None
        What is left of A at the node, for squares and for eigenvalues; None with prices, or where no part
        can be closed with it.
    rows : (f,) int64
        Features of C.
    """

    def __init__(self, own: Bounding):
        self.own, self.rows = own, own.kept.features[own.kept.fixed :]
        self.eliminate()

    def eliminate(self) -> None:
        """Set C, and `plain` for eigenvalues, at the present target."""
        own = self.own
        self.C, _ = self.eliminated(own.supports)
        self.plain, _ = eliminated(own.kept.block, own.kept.fixed, own.target, 0, False)

    def eliminated(self, supports: Supports) -> tuple[Array | None, float]:
        """Return C of some supports at the present target, and the margin for its rounding errors."""
        own, ground = self.own, self.own.ground.whole
        A = ground.problem.covariance
        kept = ground.kept(Supports(supports.certain, supports.possible, ground.problem.size))
        if kept.prices is not None:
            return None, 0.0
        terms = A.shape[0] if A.source == "data" else 1
        return eliminated(kept.block, kept.fixed, own.target, terms, own.problem.nonneg)

    def undecided(self, node: Node) -> Array | None:
        """Return how much each possible feature of a part weighs in its bound; None if the part is closed.

        Where there is no feature to branch on, the array is empty.
        """
        own, supports, before = self.own, node.supports, self.own.lower
        weights = self.bound(node)
        if weights is not None and supports.into.size + supports.possible.size <= own.problem.size:
            own.reach(np.union1d(supports.into, supports.possible))
            if own.lower > before:
                self.eliminate()
                weights = self.bound(node)
            if weights is not None and own.ground.prices is None:
                return self.without_smallest(node, weights) if own.ground.whole.smallest else weights[:0]
        return weights

    def without_smallest(self, node: Node, weights: Array) -> Array | None:
        """Return what `undecided` does for a part that is no larger than one set, where only smallest ones
        count.
        """
        whole, target = self.own.ground.whole, self.own.target
        features = np.union1d(node.supports.certain, node.supports.possible).astype(np.int64)
        if best_above(whole.part, features, target, nonneg=True) is not None:
            return weights[:0]
        if node.supports.possible.size:
            return weights
        node.settled = MIXED if is_mixed(whole.part, whole.part.block(features)) else None
        return None if node.settled else weights

    def bound(self, node: Node) -> Array | None:
        """Return None if an eigenvalue or squares close a part, else what each possible feature weighs."""
        own, supports = self.own, node.supports
        if self.C is None or self.plain is None:
            kept = own.ground.kept(supports)
            block = kept.block if kept.prices is None else kept.block - np.diag(kept.prices)
            return lowest((own.target + kept.paid) * np.eye(len(block)) - block, kept.fixed)
        more = np.setdiff1d(supports.into, own.supports.into, assume_unique=True)
        at = np.searchsorted(self.rows, np.concatenate((more, supports.possible)))
        C, plain = self.C[np.ix_(at, at)], self.plain[np.ix_(at, at)]
        if is_positive_definite(own.target * np.eye(len(plain)) - plain):
            return None
        room, nonneg = own.problem.size - supports.into.size, own.problem.nonneg
        left, _ = eliminated(C, more.size, own.target, 0, nonneg)
        if left is None:
            return np.ones(supports.possible.size)
        squares, each = root_of_squares(left, room, nonneg)
        if squares <= own.target:
            whole, margin = self.eliminated(supports)  # as the checker does it
            if whole is not None and root_of_squares(whole, room, nonneg)[0] + margin <= own.target:
                node.leaf = Use(None, own.target, 0.0, 0.0, np.zeros(0, dtype=np.uint8), of_squares=True)
                return None
        return each


def lowest(S: Array, fixed: int) -> Array | None:
    """Return the sizes of the vector of the lowest eigenvalue of S (r, r) behind the `fixed` first rows; None
    if S is psd.
    """
    if is_positive_definite(S):
        return None
    values, vectors = np.linalg.eigh(S)
    return None if values[0] >= 0 else np.abs(vectors[fixed:, 0])
