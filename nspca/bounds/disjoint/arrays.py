"""Arrays of a certificate of form `packing`, from a joint tree (docs/certificate-format.md, *packing*).

The joint tree is that of the search for the best disjoint components. `search.JointTree` calls `packed_joint`
for its certificate.
"""

from fractions import Fraction

import numpy as np

from nspca.bounds.disjoint.node import JointNode
from nspca.bounds.fixing.arrays import level_of, packed, up


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
