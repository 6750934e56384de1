"""Begin and continue the tree that fixes features and branches, from the state of a search on kept rows.

`bound_search` begins a tree right after the dual, where few features are free, or from a witness of a lift
that decides many features. The bound of the tree is taken over whenever the tree ends.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np

from nspca.bounds.best_bound import BestBound
from nspca.bounds.dual.lift import Lift
from nspca.bounds.dual.splitting import Splitting
from nspca.bounds.elimination import Kept
from nspca.bounds.fixing.arrays import unpacked
from nspca.bounds.fixing.ground import Ground
from nspca.bounds.fixing.node import Node, Supports, Warm
from nspca.bounds.fixing.stages import fixable
from nspca.bounds.fixing.stored import Stored
from nspca.bounds.fixing.tasks import Task
from nspca.bounds.fixing.tree import FixingTree, Limits
from nspca.bounds.fixing.whole import whole
from nspca.bounds.plan import BRANCHED
from nspca.bounds.witness import Witness, lifted
from nspca.certificate import Certificate
from nspca.covariance.covariance import DENSE_LIMIT
from nspca.covariance.linalg import Array

ROOT_RANK = 3
"""Rank of the first lift of a tree on few features."""
UNDECIDED, WIDE = 0.7, 400
"""A tree begins in a lift that may leave at most `BRANCHED` features undecided. With at most WIDE kept rows,
the share UNDECIDED of these is few enough.
"""
SURE = 1e-3
"""A tree begins in the lift of a core when it may fix all features outside, and this share of the value
below the level, so that the search that proves it has few cones.
"""


@dataclass(eq=False, kw_only=True)
class TreeStage(BestBound):
    """The best bound on some kept rows, from which a tree can begin.

    Attributes
    ----------
    limits : Limits or None
        Limits of the caller for a tree; None for those of the plan.
    began : float
        Time from which the seconds of the limits count.
    decisive : Stored or None
        Witness that decides many features, with which a tree begins.
    unfinished : Certificate or None
        Certificate of the last tree, if its bound is worse than `upper`.
    """

    limits: Limits | None = None
    began: float = field(default_factory=time.monotonic)
    decisive: Stored | None = None
    unfinished: Certificate | None = None

    @property
    def is_small(self) -> bool:
        """Tell whether there are so few features that every effort begins a tree at once.

        A tree cannot begin on the rows of a core, as it has no weights for the features outside.
        """
        return 1 < self.problem.n <= BRANCHED and self.kept.weights is None

    @property
    def is_late(self) -> bool:
        """Tell whether the seconds of the limits are over."""
        seconds = None if self.limits is None else self.limits.seconds
        return seconds is not None and time.monotonic() - self.began > seconds

    @property
    def with_tree(self) -> Certificate | None:
        """The best certificate, with the tree of an unfinished search in it."""
        if self.unfinished is None:
            return self.best
        if self.best is None:
            return self.unfinished
        return self.best.with_unfinished(self.unfinished.witness)

    def is_decisive(self, witness: Witness, t: float, warm: Warm) -> bool:
        """Tell by a cheap test whether a witness of a lift may leave few features undecided; keep it if so.

        The test is `fixing.stages.fixable`, and t an estimate of the spectral half of the witness.
        """
        ground, stored = Ground.of(self.problem, self.kept), Stored.of(self.kept.features, witness)
        supports = Supports.of(self.problem, ground.everything)
        task = Task(supports, stored, warm, self.lower, self.gap, self.plan)
        rows, sure = len(self.kept.block), 0.0
        most = max(BRANCHED, UNDECIDED * rows) if rows <= WIDE else BRANCHED
        if self.kept.weights is not None:
            most, sure = rows, SURE * self.lower
        left = supports.possible.size - fixable(ground, task, t + sure)
        self.decisive = stored if left <= most else None
        return self.decisive is not None

    def run_tree(
        self, witness: Stored | None, warm: Warm | None = None, rounds: int = 0, work: float = 0.0
    ) -> None:
        """Begin a tree from a witness, run the tree, and take over its bound, even when cancelled.

        The arguments are those of `FixingTree.begin`; without `rounds` only the root is settled.
        """
        kept = self.kept
        if kept.weights is not None and witness is not None:
            found = whole(self.problem, kept, witness)
            if found is None:
                return
            kept, witness = found
        tree = self.new_tree(kept)
        with self.taking(tree):
            tree.begin(witness, warm, rounds, work)
            if rounds and tree.root is not None:
                tree.run()

    def resume_tree(self, arrays: dict[str, np.ndarray]) -> None:
        """Continue the tree of an unfinished search, given by the arrays of its certificate."""
        root = unpacked(arrays, Supports.of(self.problem, self.problem.usable), self.problem.nonneg)
        tree = self.new_tree(self.rows_of(root))
        with self.taking(tree):
            tree.resume(root)
            tree.run()

    def rows_of(self, root: Node) -> Kept:
        """Return the kept rows that the open nodes of a tree need; `root` is the root of the tree.

        Reduced nodes above them count, too, since they may be open again (`FixingTree.restored`).
        """
        target = self.lower * (1 + self.gap)

        def is_open(node: Node) -> bool:
            """Tell whether a leaf of a node is above the target."""
            return any(one.leaf is not None and one.upper > target for one in node.walk())

        looked_at = (node for node in root.walk() if node.leaf is not None or node.roof is not None)
        left = [node.supports for node in looked_at if is_open(node)]
        none = np.zeros(0, dtype=np.int64)
        features = np.unique(
            np.concatenate([none, *(part for one in left for part in (one.certain, one.possible))])
        )
        if features.size > DENSE_LIMIT:  # too many: keep the rows of this search, as when the tree began
            into = np.unique(np.concatenate([none, *(one.certain for one in left)]))
            features = np.union1d(into, self.kept.features)
            return replace(self.kept, rows=features, block=self.problem.covariance.block(features), fixed=0)
        return Kept(features, self.problem.covariance.block(features), 0.0)

    def new_tree(self, kept: Kept) -> FixingTree:
        """Return a new tree on some kept rows, with the remaining seconds of the limits."""
        limits = self.limits or Limits(entries=self.plan.branching, features=BRANCHED)
        if limits.seconds is not None:
            limits = replace(limits, seconds=max(0.0, limits.seconds - (time.monotonic() - self.began)))
        return FixingTree(
            problem=self.problem,
            plan=self.plan,
            lower=self.lower,
            gap=self.gap,
            report=self.report,
            known_upper=self.known_upper,
            ground=Ground.of(self.problem, kept),
            limits=limits.helped(self.problem.covariance.client),
        )

    @contextmanager
    def taking(self, tree: FixingTree) -> Iterator[None]:
        """Take over value, point and bound of a tree at the end of the block, also after an exception."""
        try:
            yield
        finally:
            self.lower, self.steps = tree.lower, self.steps + tree.steps
            self.point = self.point if tree.point is None else tree.point
            if tree.root is not None and tree.proved < self.upper:
                self.best, self.upper, self.unfinished = tree.certificate(), tree.proved, None
                self.tell()
            elif tree.root is not None and self.limits is not None and not self.closed:
                self.unfinished = tree.certificate()

    def first_witness(self, plain: Splitting) -> Stored | None:
        """Return the W of `plain`, the splitting of `dual`, with a lift, in the form that a tree stores."""
        witness, _ = lifted(self.kept, Witness(plain.entries.W), ROOT_RANK)
        return Stored.of(self.kept.features, witness)

    def warm_of(self, splitting: Splitting, points: Array | None = None, lift: Lift | None = None) -> Warm:
        """Return the state of a splitting, and of its lift, as a starting point for a tree."""
        vectors = splitting.vectors.astype(np.float64)
        points = np.zeros((len(vectors), 0)) if points is None else points
        return Warm(self.kept.features, np.asarray(splitting.weights, np.float64), vectors, points, lift)
