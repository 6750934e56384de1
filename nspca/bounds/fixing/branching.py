"""Turn the work on supports into a node of the tree, with what its children start from if it stays open."""

import numpy as np

from nspca.bounds.fixing.bounding import Bounding
from nspca.bounds.fixing.node import Node
from nspca.covariance.linalg import Array
from nspca.lowrank.fixing import at_directions


def node_of(own: Bounding) -> Node:
    """Return the node for the present supports, with what its children start from if it is open."""
    node = Node(own.supports, own.stages, leaf=own.best, level=own.ground.level)
    if own.counted is not None:
        counted = own.counted
        node.feature, node.children, node.leaf = counted.feature, counted.children, counted.leaf
    elif own.supports.is_empty:
        node.leaf = None
    elif not own.closed and own.supports.possible.size:
        node.warm, node.scores = own.warm, scores(own)
        if own.warm is not None and own.warm.lift is not None:
            own.warm.lift.recent = None  # a mean of steps that no child goes on with
    return node


def scores(own: Bounding) -> Array:
    """Return a branching score for each possible feature; the lowest is best.

    After a lift, the best feature is the one whose z is closest to one half, since both children then gain.
    Without a lift, it is the one with the lowest estimate for one of its two children. Features without rows
    cannot be branched on and get infinity.
    """
    free, use, kept = own.supports.possible, own.best, own.kept
    if own.places is not None:
        features, z = own.places[0], np.clip(own.places[1], 0.0, 1.0)
        undecided = np.full(own.problem.n, np.inf)
        undecided[features] = -np.minimum(z, 1 - z) - 1e-3 * z
        if np.isfinite(undecided[free]).any():
            return undecided[free]
    found, rows = np.full(free.size, np.inf), slice(kept.fixed, len(kept.features))
    at = np.searchsorted(free, kept.features[rows])
    found[at] = -kept.block.diagonal()[rows]
    if use is not None and use.witness is not None:
        query, _ = own.query(use)
        directions = own.directions(query)
        if len(directions):
            found[at] = np.minimum(*at_directions(query, directions))[rows]
    return found
