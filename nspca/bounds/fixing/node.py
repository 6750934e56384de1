"""A node of the tree: its set of supports, the features fixed there, and the proofs of its bound.

`settle` makes nodes, `tree` splits them, and `arrays` writes them into a certificate.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from nspca.bounds.dual.splitting import Splitting
from nspca.bounds.elimination import Kept
from nspca.bounds.fixing.stored import Stored
from nspca.covariance.linalg import Array
from nspca.problem import Problem

FLOATS = 10**300
"""Numbers of supports from here on count as infinite, since larger ones may not fit into a float."""
LEAF, EMPTY, SQUARES, REDUCED, CAPPED, COVERED, MIXED = -1, -2, -3, -4, -5, -6, -7
"""Codes of a leaf, of a node without any support, of a leaf that the squares of the entries of A prove to
stay below the level, of a node whose only child is about what is left of A (`reduction`), without and with a
bound on A itself, and of leaves for lists of good sets (`nspca.bounds.answers`): all supports contain a
listed set, or the only support has a leading vector of mixed sign.
"""


@dataclass(frozen=True, eq=False)
class Supports:
    """All sets of at most k features that contain `into`, and otherwise only features of `free`.

    Attributes
    ----------
    into, free : (.,) int64, increasing
    gone : (.,) int64, increasing
        Features that have been eliminated (`reduction`). They are in every support and count in no k.
    left : (.,) int64, increasing
        Features that were left when `gone` had been eliminated. What rounding errors may add depends on them.
    """

    into: np.ndarray
    free: np.ndarray
    k: int
    gone: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    left: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @classmethod
    def of(cls, problem: Problem, features: np.ndarray) -> "Supports":
        """Return all supports of a problem among some features: the forced ones and any of the others."""
        forced = np.array(problem.forced, dtype=np.int64)
        return cls(forced, np.setdiff1d(features, forced), problem.size)

    def reduced(self) -> "Supports":
        """Return the supports once the features that are in have been eliminated."""
        nothing = np.zeros(0, dtype=np.int64)
        return Supports(nothing, self.possible, self.k - self.into.size, self.certain, self.possible)

    @property
    def certain(self) -> np.ndarray:
        """Features that every support has, eliminated or not."""
        return np.union1d(self.gone, self.into).astype(np.int64)

    def fix(self, out: np.ndarray, into: np.ndarray) -> "Supports":
        """Return the supports that lack the features `out` and have the features `into`."""
        fixed = np.concatenate((out, into))
        # Enumerations fix one feature at a time, thousands of times.
        free = self.free[self.free != fixed[0]] if fixed.size == 1 else np.setdiff1d(self.free, fixed)
        certain = np.union1d(self.into, into).astype(np.int64) if into.size else self.into
        return Supports(certain, free, self.k, self.gone, self.left)

    @property
    def possible(self) -> np.ndarray:
        """Features besides `into` that a support may have; none when `into` has k features."""
        return self.free if self.into.size < self.k else self.free[:0]

    @property
    def count(self) -> float:
        """Number of supports of the largest possible size."""
        room, free = self.k - self.into.size, self.possible.size
        number = math.comb(free, min(room, free)) if room >= 0 else 0
        return float(number) if number < FLOATS else math.inf

    @property
    def is_empty(self) -> bool:
        """Tell whether there is no support, or only the empty set."""
        return self.into.size > self.k or self.into.size + self.possible.size == 0


@dataclass(frozen=True, eq=False)
class Use:
    """A proof of a bound at a node: the witness (None for W = M = U = 0), t, F, tau and the cover `tree`.

    t is the spectral half and F the search half, which the cover proves. `paid` is the sum of the prices of
    the features that are in. With prices, M of no witness is the diagonal of the prices of the free features.
    `of_squares` tells that t is not spectral but a root of squares (`squares`).
    """

    witness: Stored | None
    t: float
    F: float
    tau: float
    tree: np.ndarray
    paid: float = 0.0
    of_squares: bool = False

    @property
    def upper(self) -> float:
        return self.t + self.F - self.paid


@dataclass(frozen=True, eq=False)
class Stage:
    """Features fixed out and in at one time, and the proof that allows it."""

    out: np.ndarray
    into: np.ndarray
    use: Use


@dataclass(frozen=True, eq=False)
class Warm:
    """Starting point that a node gives to its children, in addition to its witness.

    Attributes
    ----------
    rows : (r,) int64
        Features, in any order.
    weights, vectors : (p,), (r, p) float64
        Eigenpairs of the matrix X of the splitting.
    points : (r, q) float64
        Feasible points of the bundle.
    of_core : bool
        Whether the rows are those of a dense core with weights (`core`).
    """

    rows: np.ndarray
    weights: Array
    vectors: Array
    points: Array
    of_core: bool = False

    @classmethod
    def of(cls, splitting: Splitting) -> "Warm":
        """Return the state of a splitting, and the points of its lift if it has one."""
        vectors, lift, kept = splitting.vectors.astype(np.float64), splitting.lift, splitting.kept
        points = np.zeros((len(vectors), 0)) if lift is None else lift.points
        weights = np.asarray(splitting.weights, np.float64)
        return cls(kept.features, weights, vectors, points, kept.weights is not None)

    def feasible(self, kept: Kept, k: int) -> Array:
        """Return the points (r, q) on the rows of a node, cut to what its supports carry; none is zero."""
        X, room = _spread(self.rows, self.points, kept.features), k - kept.fixed
        if 0 <= room < len(X) - kept.fixed:  # the smallest entries make room
            last = np.argsort(-np.abs(X[kept.fixed :]), axis=0, kind="stable")[room:]
            np.put_along_axis(X[kept.fixed :], last, 0.0, axis=0)
        lengths = np.linalg.norm(X, axis=0)
        return X[:, lengths > 0] / lengths[lengths > 0]

    def matrix(self, features: np.ndarray) -> Array:
        """Return X (f, f) on some features."""
        vectors = _spread(self.rows, self.vectors, features)
        return (vectors * self.weights) @ vectors.T

    @property
    def nbytes(self) -> int:
        return self.vectors.nbytes + self.points.nbytes


@dataclass(eq=False)
class Node:
    """A node: its supports, the stages that fixed features, and the proof of a leaf or two children.

    Attributes
    ----------
    supports : Supports
        Supports after all stages.
    stages : list of Stage
    leaf : Use or None
        The best proof for the supports; None if there are none.
    warm : Warm or None
        Starting point for the children; None after they were made, or if there will be none.
    scores : (f,) float64
        Branching score of each possible feature; the lowest is branched on.
    feature : int
        Feature that the children branch on, `LEAF` without children, or `REDUCED`.
    children : (Node, Node), (Node,) or ()
        The node with the feature, and the node without it; or the only child of a reduced node.
    level : float
        Level at which features were eliminated for the bounds of the node or its child; 0 if none were.
        The level of a certificate is no lower: what is left of A grows as the level falls.
    roof : Use or None
        Proof of a bound of a reduced node on A itself.
    cap : float
        Smallest bound of the roofs above the node.
    settled : int or None
        Code of a leaf that needs no bound, `COVERED` or `MIXED`.
    along : int64 array or None
        Features of a listed set that an open node is branched along, in this order.
    """

    supports: Supports
    stages: list[Stage] = field(default_factory=list)
    leaf: Use | None = None
    warm: Warm | None = None
    scores: Array = field(default_factory=lambda: np.zeros(0))
    feature: int = LEAF
    children: tuple["Node", ...] = ()
    level: float = 0.0
    roof: Use | None = None
    cap: float = np.inf
    settled: int | None = None
    along: np.ndarray | None = None

    @property
    def upper(self) -> float:
        """Bound proved for the supports of the node; minus infinity if none of them counts."""
        if self.leaf is None or self.settled is not None:
            return -np.inf
        return min(self.leaf.upper, self.cap)

    @property
    def uses(self) -> list[Use]:
        """All uses of the node, in the order of a certificate."""
        return [*(stage.use for stage in self.stages), *(use for use in (self.roof, self.leaf) if use)]

    @property
    def code(self) -> int:
        if self.children:
            return self.feature if self.roof is None else CAPPED
        if self.settled is not None:
            return self.settled
        is_of_squares = self.leaf is not None and self.leaf.of_squares
        return EMPTY if self.supports.is_empty else SQUARES if is_of_squares else LEAF

    def branch(self, feature: int, having: "Node", lacking: "Node") -> None:
        """Give an open node its two children, with a feature and without it."""
        self.feature, self.children, self.leaf, self.warm = feature, (having, lacking), None, None

    def share(self, above: Use | None) -> None:
        """Take the witness of a use above in place of equal ones, such as copies that a worker sends back.

        A certificate then holds each witness once, whoever has settled the node.
        """
        if above is None or above.witness is None:
            return
        witness = above.witness

        def shared(use: Use) -> Use:
            """Return the use with the witness above if its own one equals that."""
            is_equal = use.witness is not None and use.witness.equals(witness)
            return replace(use, witness=witness) if is_equal else use

        for node in self.walk():
            node.stages = [replace(stage, use=shared(stage.use)) for stage in node.stages]
            node.leaf = None if node.leaf is None else shared(node.leaf)
            node.roof = None if node.roof is None else shared(node.roof)

    def lower_caps(self, cap: float) -> None:
        """Lower the caps of the node and all its descendants to `cap`."""
        for node in self.walk():
            node.cap = min(node.cap, cap)

    def walk(self) -> Iterator["Node"]:
        """Yield this node and all its descendants in preorder, the child with the feature first."""
        stack = [self]
        while stack:
            node = stack.pop()
            stack += reversed(node.children)
            yield node


@dataclass(frozen=True, eq=False)
class Reduced:
    """A node as it was before it was reduced: supports after its stages, the stages, and the level."""

    supports: Supports
    stages: list[Stage]
    level: float


def _spread(rows: np.ndarray, part: Array, features: np.ndarray) -> Array:
    """Return a matrix (f, p) with a row for each of `features`: that of `part` (r, p), or 0 if not in it."""
    order = np.argsort(rows, kind="stable")
    at = np.minimum(np.searchsorted(rows, features, sorter=order), len(rows) - 1)
    found = rows[order[at]] == features
    return np.where(found[:, None], part[order[at]], 0.0)
