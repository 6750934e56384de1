"""Node of the joint tree: a state, the pricings that narrow it, and a bound or children.

The joint tree is that of the search for the best disjoint components. A state says which features each
component must have and cannot have. A pricing has prices of the features and proves a bound with them.

`search` makes the nodes and lets them grow, and `arrays` writes them into a certificate.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from nspca.bounds.disjoint.columns import Prices
from nspca.bounds.disjoint.pricing import Pricing
from nspca.bounds.disjoint.state import State

LEAF, EMPTY, COVERED = -1, -2, -6
"""Codes of a leaf, of a node without answers, and of one with the listed answer alone (`others`)."""


@dataclass(eq=False)
class JointNode:
    """Node of the joint tree.

    Attributes
    ----------
    state : State or None
        The state after all pricings that fix features; None where no answer above the goal is left.
    pricings : list of Pricing
        Pricings that fix features come first. The last one bounds the node as long as it is a leaf.
    prices : Prices or None
        Prices for the state, once they are found.
    feature : int
        Feature that the node is branched on, if it has children.
    is_stuck : bool
        Whether neither its trees nor a branch can improve its bound.
    is_covered : bool
        Whether the state has all features of listed sets in.
    """

    state: State | None
    pricings: list[Pricing] = field(default_factory=list)
    prices: Prices | None = None
    feature: int = LEAF
    children: list["JointNode"] = field(default_factory=list)
    is_stuck: bool = False
    is_covered: bool = False

    @property
    def is_empty(self) -> bool:
        return self.state is None or self.state.is_impossible

    @property
    def code(self) -> int:
        return EMPTY if self.is_empty else COVERED if self.is_covered else self.feature

    @property
    def exact(self) -> Fraction:
        """Return the bound of a leaf, exactly; 0 for other nodes."""
        if self.is_empty or self.is_covered or self.children or not self.pricings:
            return Fraction(0)
        return self.pricings[-1].upper

    @property
    def estimate(self) -> float:
        """Return the bound of a node without children, up to rounding.

        -inf where no answer is left, or a listed one alone; inf before the first pricing.
        """
        if self.is_empty or self.is_covered:
            return -np.inf
        return self.pricings[-1].estimate if self.pricings else np.inf

    @property
    def waiting(self) -> int:
        """Return the number of open nodes in the trees of the last pricing."""
        return sum(len(tree.heap) for tree in self.pricings[-1].trees) if self.pricings else 0

    def walk(self) -> Iterator["JointNode"]:
        stack = [self]
        while stack:
            node = stack.pop()
            stack += reversed(node.children)
            yield node
