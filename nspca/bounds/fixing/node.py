"""A node of the tree: the supports it stands for, what was fixed there, and what is proved of them."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from nspca.bounds.fixing.stored import Stored
from nspca.covariance.linalg import Array

LEAF, EMPTY = -1, -2
"""Codes of a leaf, and of a node that no support is left of."""


@dataclass(frozen=True, eq=False)
class Supports:
    """Sets of at most k features: all of `into`, and otherwise only features of `free`.

    Attributes
    ----------
    into, free : (.,) int64, increasing
    """

    into: np.ndarray
    free: np.ndarray
    k: int

    def fix(self, out: np.ndarray, into: np.ndarray) -> "Supports":
        """Return the supports that lack the features `out` and have the features `into`."""
        return Supports(
            np.union1d(self.into, into).astype(np.int64),
            np.setdiff1d(self.free, np.union1d(out, into)),
            self.k,
        )

    @property
    def possible(self) -> np.ndarray:
        """Features besides `into` that a support may have; none where there is no room."""
        return self.free if self.into.size < self.k else self.free[:0]

    @property
    def count(self) -> float:
        """Return the number of supports that are as large as they can be."""
        room = self.k - self.into.size
        return float(math.comb(self.possible.size, min(room, self.possible.size))) if room >= 0 else 0.0

    @property
    def is_empty(self) -> bool:
        """Tell whether there is no such set, or the empty one alone."""
        return self.into.size > self.k or self.into.size + self.possible.size == 0


@dataclass(frozen=True, eq=False)
class Use:
    """A witness at a node with the proof of its two halves; `witness` None stands for W = M = U = 0."""

    witness: Stored | None
    t: float
    F: float
    tau: float
    tree: np.ndarray

    @property
    def upper(self) -> float:
        """The bound t + F."""
        return self.t + self.F


@dataclass(frozen=True, eq=False)
class Stage:
    """Features fixed at once, and the use that proves it at the level that holds then."""

    out: np.ndarray
    into: np.ndarray
    use: Use


@dataclass(frozen=True, eq=False)
class Warm:
    """Starting point that a node hands to its children besides its witness.

    Attributes
    ----------
    rows : (r,) int64
        Features, in any order.
    weights, vectors : (p,), (r, p) float64
        Eigenpairs of X.
    points : (r, q) float64
        Feasible points of the bundle.
    """

    rows: np.ndarray
    weights: Array
    vectors: Array
    points: Array

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self.vectors.nbytes + self.points.nbytes


@dataclass(eq=False)
class Node:
    """Supports, the stages that fixed features among them, and a leaf's proof or two children.

    Attributes
    ----------
    supports : Supports
        After all stages.
    leaf : Use or None
        The best proof for them; None where nothing is left.
    warm : Warm or None
        For the children; None once they are made, and where there will be none.
    scores : (f,) float64
        For each possible feature how nearly one of its two children is closed: lower is nearer.
    """

    supports: Supports
    stages: list[Stage] = field(default_factory=list)
    leaf: Use | None = None
    warm: Warm | None = None
    scores: Array = field(default_factory=lambda: np.zeros(0))
    feature: int = LEAF
    children: tuple["Node", ...] = ()

    @property
    def upper(self) -> float:
        """Return the bound proved for the supports of the node; minus infinity where there are none."""
        return -np.inf if self.leaf is None else self.leaf.upper

    @property
    def code(self) -> int:
        """Its code in a certificate."""
        return EMPTY if self.supports.is_empty and not self.children else self.feature

    def walk(self) -> Iterator["Node"]:
        """Yield this node and all below in preorder: first the child where the feature is in."""
        stack = [self]
        while stack:
            node = stack.pop()
            stack += reversed(node.children)
            yield node
