"""Convert a joint tree to the arrays of a certificate of form `packing`, and back.

The format is described in docs/certificate-format.md, *packing*.

The joint tree is that of the search for the best disjoint components. `search.JointTree` calls `packed_joint`
for its certificate, and `unpacked_joint` to go on from one.
"""

from fractions import Fraction

import numpy as np

from nspca.bounds.disjoint.node import EMPTY, LEAF, JointNode
from nspca.bounds.disjoint.pricing import Base, ClassTree, Means, Pricing
from nspca.bounds.disjoint.state import State
from nspca.bounds.fixing.arrays import Reader, level_of, packed, up
from nspca.errors import CertificateError


def packed_joint(root: JointNode) -> tuple[dict[str, np.ndarray], float]:
    """Return the arrays of the joint tree below `root` by name, and the bound they prove, in unit scale."""
    nodes = list(root.walk())
    pricings = [pricing for node in nodes for pricing in node.pricings]
    parts: list[dict[str, np.ndarray]] = []
    witnesses = 0
    for pricing in pricings:
        for tree in pricing.trees:
            assert tree.root is not None  # only pricings that are ready belong to a node
            arrays, _ = packed(tree.root)
            arrays["level"] = np.array([level_of(tree.root)])
            arrays["use"] = np.where(arrays["use"] < 0, -1, arrays["use"] + witnesses)
            witnesses += len(arrays["sizes"])
            parts.append(arrays)
    arrays = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    goals = np.array([pricing.goal for pricing in pricings])
    arrays["goals"] = goals
    arrays["split"] = np.array([node.code for node in nodes], dtype=np.int64)
    arrays["pricings"] = np.array([len(node.pricings) for node in nodes], dtype=np.int64)
    arrays["prices"] = np.array([pricing.pi for pricing in pricings])
    top = max([Fraction(0), Fraction(float(goals.max(initial=0.0))), *(node.exact for node in nodes)])
    return arrays, up(top)


def unpacked_joint(arrays: dict[str, np.ndarray], base: Base, means: Means) -> JointNode:
    """Return the joint tree of a certificate of form `packing`. Its numbers are not checked.

    Raises
    ------
    CertificateError
        When the arrays do not fit together.
    """
    try:
        return _JointReader(arrays, base, means).tree()
    except (AssertionError, IndexError, KeyError, ValueError, StopIteration) as error:
        raise CertificateError(
            f"a packing certificate must have arrays that fit together, got {error}; save it again"
        ) from error


class _JointReader:
    """Reads a joint tree from its arrays, in preorder."""

    def __init__(self, arrays: dict[str, np.ndarray], base: Base, means: Means):
        self.base, self.means, self.trees = base, means, Reader(arrays, base.problem.nonneg)
        self.nodes = zip(arrays["split"].tolist(), arrays["pricings"].tolist(), strict=True)
        self.priced = zip(arrays["goals"].tolist(), arrays["prices"], strict=True)

    def tree(self) -> JointNode:
        root = JointNode(State.root(self.base.problem.sizes, self.base.problem.n))
        waiting = [root]
        while waiting:
            node = waiting.pop()
            code, count = next(self.nodes)
            for _ in range(count):
                assert node.state is not None, "a pricing where nothing is left"
                pricing = self.pricing(node.state)
                node.pricings.append(pricing)
                node.state = pricing.after()
            if code not in (LEAF, EMPTY):
                assert node.state is not None, "a branch where nothing is left"
                node.feature, node.children = code, [JointNode(one) for one in node.state.children(code)]
                waiting += reversed(node.children)
        return root

    def pricing(self, state: State) -> Pricing:
        """Read the next pricing, which is at a state, with its trees."""
        goal, pi = next(self.priced)
        made = Pricing(self.base, state, pi, goal)
        for c, *_ in state.classes:
            tree = ClassTree.of(self.base, state, c, pi, -np.inf, self.means)
            tree.resume(self.trees.tree(tree.all_sets(), tree.ground.paid))
            made.trees.append(tree)
        return made
