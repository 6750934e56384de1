"""Convert a tree to the arrays of a certificate of the form "fixing", and back.

The format is described in docs/certificate-format.md, *fixing*. A *stage* fixes features at a node, and a
*use* is one proof by a witness (`node`). A `FixingTree` calls `packed` for its
certificate, and `search` continues a search from the tree of `unpacked`. `disjoint` uses `packed` and
`level_of` for the trees of its classes.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np

from nspca.bounds.fixing.node import (
    CAPPED,
    COVERED,
    EMPTY,
    LEAF,
    MIXED,
    REDUCED,
    SQUARES,
    Node,
    Stage,
    Supports,
    Use,
)
from nspca.bounds.fixing.stored import Stored
from nspca.covariance.linalg import Array
from nspca.errors import CertificateError
from nspca.lowrank.cones import roots
from nspca.lowrank.forest import LEAF as LEAF_OF_COVER


def level_of(root: Node) -> float:
    """Return the least level of a tree with prices that its proofs allow.

    That is the largest bound of its stages, or of its leaves where no stage fixed a feature.
    """
    nodes = list(root.walk())
    stages = [exact(stage.use) for node in nodes for stage in node.stages]
    leaves = [exact(node.leaf) for node in nodes if node.leaf is not None and node.code == LEAF]
    return up(max(stages or leaves, default=Fraction(0)))


def packed(root: Node) -> tuple[dict[str, np.ndarray], float]:
    """Return the arrays of a tree by name, and the bound that they prove, in unit scale."""
    nodes, pool, stages, uses = list(root.walk()), dict[int, tuple[int, Stored]](), list[Stage](), list[Use]()
    top = below = Fraction(0)
    for node in nodes:
        stages += node.stages
        uses += [stage.use for stage in node.stages]
        below = max(below, Fraction(node.level))
        if node.roof is not None:
            uses.append(node.roof)
        if node.leaf is not None and node.code == LEAF:
            uses.append(node.leaf)
            top = max(top, bound_of(node))
        elif node.leaf is not None and node.code == SQUARES:
            below = max(below, exact(node.leaf))
    for use in uses:
        if use.witness is not None:
            pool.setdefault(id(use.witness), (len(pool), use.witness))
    stored = [one for _, one in pool.values()]
    level = up(max([below, *(exact(one.use) for one in stages)]))
    features = [part for one in stages for part in (one.out, one.into)]
    arrays = {
        "level": np.array([level]),
        "branch": np.array([node.code for node in nodes], dtype=np.int64),
        "stages": np.array([len(node.stages) for node in nodes], dtype=np.int64),
        "fixed": np.array([(one.out.size, one.into.size) for one in stages], dtype=np.int64).reshape(-1, 2),
        "features": joined(features, np.int64),
        "use": np.array([-1 if u.witness is None else pool[id(u.witness)][0] for u in uses], dtype=np.int64),
        "claims": np.array([(use.t, use.F) for use in uses]).reshape(-1, 2),
        "tau": np.array([use.tau for use in uses], dtype=np.float64),
        "tree": joined([use.tree for use in uses], np.uint8),
        "sizes": np.array(
            [(one.rows.size, one.U.shape[1], int(one.M is not None)) for one in stored], dtype=np.int64
        ).reshape(-1, 3),
        "rows": joined([one.rows for one in stored], np.int64),
        "W": joined([one.W[np.triu_indices(len(one.W))] for one in stored], np.float32),
        "M": joined([one.M.ravel() for one in stored if one.M is not None], np.float32),
        "U": joined([one.U.ravel() for one in stored], np.float32),
    }
    return arrays, max(level, up(top))


def joined(parts: list[np.ndarray], dtype: type) -> np.ndarray:
    """Return the concatenated parts; an empty array if there are none."""
    return np.concatenate([np.zeros(0, dtype), *parts]).astype(dtype)


def exact(use: Use) -> Fraction:
    """Return the bound t + F - paid of a use without rounding."""
    return Fraction(use.t) + Fraction(use.F) - Fraction(use.paid)


def bound_of(node: Node) -> Fraction:
    """Return the bound of a leaf without rounding: its own, or that of a reduced node above if smaller."""
    assert node.leaf is not None
    own = exact(node.leaf)
    return min(own, Fraction(node.cap)) if np.isfinite(node.cap) else own


def up(exact: Fraction) -> float:
    """Return a fraction rounded up to a float."""
    nearest = float(exact)
    return nearest if Fraction(nearest) >= exact else float(np.nextafter(nearest, np.inf))


def unpacked(arrays: dict[str, np.ndarray], supports: Supports, nonneg: bool) -> Node:
    """Return the tree of a certificate of the form "fixing", whose root has these supports.

    Its numbers are not checked.

    Raises
    ------
    CertificateError
        When the arrays do not fit together.
    """
    try:
        return Reader(arrays, nonneg).tree(supports)
    except (IndexError, KeyError, ValueError, StopIteration) as error:
        raise CertificateError(
            f"a fixing certificate must have arrays that fit together, got {error}; save it again"
        ) from error


class Reader:
    """Reads trees from their arrays one after the other, each in preorder."""

    def __init__(self, arrays: dict[str, np.ndarray], nonneg: bool):
        self.nonneg = nonneg
        self.stored = _witnesses(arrays)
        self.uses = zip(
            arrays["use"].tolist(), arrays["claims"].tolist(), arrays["tau"].tolist(), strict=True
        )
        self.nodes = zip(arrays["branch"].tolist(), arrays["stages"].tolist(), strict=True)
        self.levels = iter(arrays["level"].tolist())
        self.fixed, self.features = iter(arrays["fixed"].tolist()), arrays["features"]
        self.codes, self.at, self.read = arrays["tree"], 0, 0
        self.paid: Callable[[Supports], float] | None = None

    def tree(self, supports: Supports, paid: Callable[[Supports], float] | None = None) -> Node:
        """Return the tree below a node with these supports; `paid` returns the prices of what is in."""
        self.paid, level = paid, next(self.levels)
        root = Node(supports)
        waiting = [root]
        while waiting:
            node = waiting.pop()
            code, stages = next(self.nodes)
            for _ in range(stages):
                out, into = next(self.fixed)
                parts = np.split(self.features[self.read : self.read + out + into], [out])
                self.read += out + into
                node.stages.append(Stage(parts[0], parts[1], self.use(node.supports)))
                node.supports = node.supports.fix(parts[0], parts[1])
            if code == LEAF:
                node.leaf = self.use(node.supports)
            elif code == SQUARES:
                node.leaf = Use(None, level, 0.0, 0.0, np.zeros(0, dtype=np.uint8), of_squares=True)
            elif code in (REDUCED, CAPPED):
                node.feature, node.level = REDUCED, level
                node.roof = self.use(node.supports) if code == CAPPED else None
                child = Node(node.supports.reduced(), cap=node.cap)
                child.cap = child.cap if node.roof is None else min(child.cap, up(exact(node.roof)))
                node.children = (child,)
                waiting.append(child)
            elif code in (COVERED, MIXED):
                node.settled = code
            elif code != EMPTY:
                node.feature, one, none = code, np.array([code]), np.zeros(0, dtype=np.int64)
                halves = node.supports.fix(none, one), node.supports.fix(one, none)
                node.children = tuple(Node(half, cap=node.cap) for half in halves)
                waiting += reversed(node.children)
        return root

    def use(self, supports: Supports) -> Use:
        """Read the next use of a witness, with the codes of its cover."""
        number, (t, F), tau = next(self.uses)
        stored = None if number < 0 else self.stored[number]
        paid = 0.0 if self.paid is None else self.paid(supports)
        return Use(stored, t, F, tau, self.cover(*self.dimensions(stored, supports, tau)), paid)

    def dimensions(self, stored: Stored | None, supports: Supports, tau: float) -> tuple[int, bool]:
        """Return the dimensions D of the cones of a use, and whether tau adds one of them (c_0)."""
        if stored is None:
            return 0, False
        rows = np.concatenate((supports.into, np.intersect1d(supports.possible, stored.rows)))
        at = np.searchsorted(stored.rows, rows)
        W = stored.W[np.ix_(at, at)]
        outside = rows.size < supports.into.size + supports.possible.size
        top = tau if outside else float(np.max(W if self.nonneg else np.abs(W), initial=0.0))
        return stored.U.shape[1] + (top > 0), top > 0

    def cover(self, D: int, extra: bool) -> np.ndarray:
        start, waiting = self.at, len(roots(D, extra, self.nonneg)) if D else 0
        while waiting:
            waiting += -1 if self.codes[self.at] == LEAF_OF_COVER else 1
            self.at += 1
        return self.codes[start : self.at]


def _witnesses(arrays: dict[str, np.ndarray]) -> list[Stored]:
    """Return the stored witnesses of a certificate in order."""
    sizes = arrays["sizes"]
    lengths = {
        "rows": sizes[:, 0],
        "W": sizes[:, 0] * (sizes[:, 0] + 1) // 2,
        "M": sizes[:, 0] ** 2 * sizes[:, 2],
        "U": sizes[:, 0] * sizes[:, 1],
    }
    pieces: dict[str, Iterator[Array]] = {
        name: iter(np.split(arrays[name], np.cumsum(length)[:-1])) for name, length in lengths.items()
    }
    found = []
    for r, d, cuts in sizes.tolist():
        rows, upper, M, U = (next(pieces[name]) for name in ("rows", "W", "M", "U"))
        W = np.zeros((r, r), dtype=np.float32)
        W[np.triu_indices(r)] = upper
        W = W + np.triu(W, 1).T
        found.append(Stored(rows, W, M.reshape(r, r) if cuts else None, U.reshape(r, d)))
    return found
