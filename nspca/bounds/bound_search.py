"""Search for the best certificate of one component on some kept rows: the bounds to try, and when to stop.

The order is threshold (B4) when rows are eliminated, then the dual (B5) and its lift (B6). With few features
a tree follows that fixes features and branches (B8, `fixing`). With many, W, M, U and the subspace are
improved together (B6 until the row cuts begin, then B9), once for each rank. A tree begins with the witness
of such a lift if that decides many features. The bound of a tree is taken over whenever the tree ends.
Everything stops as soon as the gap is closed.

`strongest` runs one `BoundSearch` on the rows of safe elimination, or one for each core.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np

from nspca.bounds import elimination
from nspca.bounds.dual import starts
from nspca.bounds.dual.lift import Lift, add_lift
from nspca.bounds.dual.rounds import Work, look
from nspca.bounds.dual.splitting import Splitting
from nspca.bounds.elimination import Kept
from nspca.bounds.fixing.arrays import unpacked
from nspca.bounds.fixing.ground import Ground
from nspca.bounds.fixing.lifts import RANK
from nspca.bounds.fixing.node import Node, Supports, Warm
from nspca.bounds.fixing.stages import fixable
from nspca.bounds.fixing.stored import Stored
from nspca.bounds.fixing.tasks import ROUNDS, Task
from nspca.bounds.fixing.tree import FixingTree, Limits
from nspca.bounds.fixing.whole import whole
from nspca.bounds.plan import BRANCHED, ROUND, Plan
from nspca.bounds.witness import Proof, Witness, lifted, prove, stated
from nspca.certificate import Certificate
from nspca.covariance.covariance import DENSE_LIMIT
from nspca.covariance.linalg import Array
from nspca.local_search import single as ascent
from nspca.lowrank.cones import Budget
from nspca.problem import Problem

STALL, PATIENCE = 0.02, 4
"""A lift ends when PATIENCE rounds in a row close less than the share STALL of the gap. The bound loosens for
a while when the row cuts begin, hence several rounds.
"""
WORTH = 0.3
"""Share of the gap that a lift must promise to close before it is searched. In what may be the last round,
any promise is searched.
"""
ROOT_ROUNDS, ROOT_RANK = 20, 3
"""Rounds of steps at the root of a tree on few features, and rank of its first lift."""
NEARLY = 1e-6
"""Relative gap below which no lift follows a tree. It would close little more, in ten times the work."""
UNDECIDED, WIDE = 0.7, 400
"""A tree begins in a lift that may leave at most `BRANCHED` features undecided. With at most WIDE kept rows,
the share UNDECIDED of these is few enough.
"""
SURE = 1e-3
"""A tree begins in the lift of a core when it may fix all features outside, and this share of the value
below the level, so that the search that proves it has few cones.
"""


def least(problem: Problem, kept: Kept) -> float:
    """Return a lower limit of all bounds with these kept rows.

    For any W, tau is at least the floor, so the search half is at least k times the floor.
    """
    return -np.inf if kept.rows is None or not kept.free else problem.size * kept.floor + kept.outside


@dataclass(eq=False, kw_only=True)
class BoundSearch(Work[Plan]):
    """The search for the best certificate on some kept rows.

    Attributes
    ----------
    known : float
        Bound known before, in unit scale.
    best : Certificate or None
        Certificate of `upper`, if better than `known`.
    point : (n,) float64 or None
        A component better than the best value known before.
    limits : Limits or None
        Limits of the caller for a tree; None for those of the plan.
    began : float
        Time from which the seconds of the limits count.
    decisive : Stored or None
        Witness that decides many features, with which a tree begins.
    unfinished : Certificate or None
        Certificate of the last tree, if its bound is worse than `upper`.
    resumed : dict of ndarray or None
        Arrays of the tree to continue, the argument `resume` of `strongest`.
    """

    stage = "dual"
    kept: Kept
    known: float = np.inf
    best: Certificate | None = None
    point: Array | None = None
    limits: Limits | None = None
    began: float = field(default_factory=time.monotonic)
    decisive: Stored | None = None
    unfinished: Certificate | None = None
    resumed: dict[str, np.ndarray] | None = None

    @property
    def shown(self) -> float | None:
        """Bound of the best certificate, or the bound known before, in the units of the data."""
        return super().shown if self.best is None else self.best.upper

    def run(self) -> None:
        problem, kept = self.problem, self.kept
        if self.resumed is not None:
            self.resume_tree(self.resumed)
            return
        r = len(kept.block)
        ranks, rounds = self.plan.ranks, self.plan.rounds_of(r)
        ranks = ranks[:1] if rounds < self.plan.rounds else ranks
        self.total = ROUND * (1 if not ranks else 3 + len(ranks) * rounds)
        if self.is_small and self.plan.eigenvalues:
            if self.lower == 0.0:  # without a known value hardly any part of the supports can be closed
                self.point = ascent.swaps(problem, ascent.polish(problem, ascent.first_feature(problem)))
                self.lower = problem.covariance.quadratic(self.point)
            self.run_tree(None, work=self.plan.eigenvalues)
            if self.closed:
                return
        if r < problem.n or r == 1:
            self.offer(Witness(elimination.search_threshold(kept, problem)[1]), kind="B4")
        if r == 0 or self.no_room(least(problem, kept)):
            return
        if kept.fixed == problem.size:  # all features are forced, so the eigenvalue is a good bound
            self.offer(Witness(), kind="B0")
        if not self.kept.leading[0][0] > 0:  # A is zero on the kept rows
            self.offer(Witness())
            return
        plain = self.dual()
        few = self.is_small or 1 < problem.n <= self.plan.whole
        at_once = kept.weights is None and (few or (self.limits is not None and r > 1))
        if at_once and self.plan.branching and not self.closed:
            self.run_tree(self.first_witness(plain), self.warm_of(plain), ROOT_ROUNDS)
            nearly = self.upper <= self.lower * (1 + NEARLY)
            if nearly or self.limits is not None or self.is_small:
                return
        ranks = tuple(min(rank, r) for rank in ranks)
        for some in (ranks,) if kept.weights is not None else ((rank,) for rank in ranks):
            if some and not self.closed and not self.is_late:
                self.lift(plain, some)

    def dual(self) -> Splitting:
        """Try B5 and plain B6 by ADMM, and return the splitting.

        A second, larger penalty rho is tried as well, since its W often has a better lift.
        """
        splitting = self.splitting()
        self.advance(splitting, self.plan.first)
        self.offer_plain(splitting.entries.W)
        if self.plan.ranks and not self.closed:
            self.advance(splitting, ROUND)
            self.offer_plain(splitting.entries.W)
            other = self.splitting(rho=4.0)
            before = self.upper
            self.advance(other, ROUND)
            self.offer_plain(other.entries.W)
            splitting = other if self.upper < before else splitting
        return splitting

    def lift(self, plain: Splitting, ranks: tuple[int, ...]) -> None:
        """Improve a lift of the first rank, and go on with it in more dimensions if there are more ranks.

        `plain` is the splitting of `dual`, whose W and X are the starting point. Where a witness decides many
        features, a tree goes on with the lift.
        """
        count = None if self.kept.weights is None else 1
        splitting, W, rank = self.splitting(self.plan.rho, count), plain.entries.W, ranks[0]
        splitting.resume(W, plain.X)
        B = starts.basis(self.kept, W, rank)
        lift = add_lift(splitting, B, starts.first_point(self.problem, plain, B), self.plan.wait)
        for rank in ranks:
            if rank > lift.B.shape[1]:
                lift.rebase(starts.basis(self.kept, splitting.entries.W, rank))
            self.improve(splitting, lift, rank)
            if self.closed or self.is_late or self.decisive is not None:
                break
        if self.decisive is not None:
            rounds = ROUNDS if self.limits is None else ROOT_ROUNDS
            self.run_tree(self.decisive, self.warm_of(splitting, lift.points, lift), rounds)
            self.decisive = None

    def improve(self, splitting: Splitting, lift: Lift, rank: int) -> None:
        """Try B6, then B9: rounds of steps, each followed by an evaluation, until the gap hardly closes."""
        own, idle = np.inf, 0
        rounds = self.plan.rounds_of(len(self.kept.block))
        in_search = self.limits is not None
        may_begin = self.plan.branching > 0 and self.lower > 0
        may_begin &= in_search or (self.kept.weights is None and rank <= RANK)

        def enough(witness: Witness, t: float) -> bool:
            known = self.warm_of(splitting, lift.points, lift)
            return may_begin and self.is_decisive(witness, t, known)

        for number in range(1, rounds + 1):
            self.advance(splitting, ROUND)
            last = number == rounds or idle == PATIENCE - 1
            worth = 0.0 if last else WORTH * (self.upper - self.lower)
            below = -np.inf if in_search and not last else self.upper - worth
            reached = look(lift, self.prove, self.keep, below, enough, in_search)
            if self.decisive is not None:
                break
            closed_little = np.isfinite(own) and own - reached < STALL * max(own - self.lower, 0.0)
            idle = idle + 1 if closed_little else 0
            # at this rate the bound known before stays better
            hopeless = (
                number >= PATIENCE and reached - (rounds - number) * max(own - reached, 0.0) > self.known
            )
            own = min(own, reached)
            if self.closed or idle == PATIENCE or hopeless or self.is_late:
                break

    # --- certificates ---------------------------------------------------------------------------------------
    def offer_plain(self, W: Array) -> None:
        """Try the bound B5 of W, and the plain lifts (B6) of W."""
        self.offer(Witness(W))
        for rank in self.plan.plain:
            if not self.closed:
                self.offer(*lifted(self.kept, Witness(W), rank))

    def offer(self, witness: Witness, estimate: float | None = None, kind: str | None = None) -> None:
        """Prove the bound of a witness, and keep the bound if it is the best."""
        self.keep(witness, self.prove(witness, estimate), kind)

    def prove(self, witness: Witness, estimate: float | None = None) -> Proof:
        """Prove the bound of a witness, as finely as the best known value needs."""
        tol, known = (1e-10, self.lower) if self.lower > 0 else (1e-3, np.inf)
        budget = Budget(tol, hopeless=self.upper, known=known, cap=self.plan.cap)
        return prove(self.problem, self.kept, witness, budget, estimate=estimate, report=self.quietly)

    def keep(self, witness: Witness, proof: Proof, kind: str | None = None) -> None:
        """Keep the certificate of a proof if its bound is the best so far."""
        if proof.upper < self.upper:
            self.best, self.upper = stated(self.problem, self.kept, witness, proof, kind), proof.upper
            self.tell()

    def no_room(self, least: float) -> bool:
        """Tell whether bounds of at least `least` can hardly reduce the gap."""
        return np.isfinite(least) and self.upper - least <= STALL * (self.upper - self.lower)

    def splitting(self, rho: float = 1.0, count: int | None = None) -> Splitting:
        """Return a new splitting on the kept rows, with penalty `rho` relative to the largest eigenvalue.

        With a `count` of 1 no eigenvalue below the claim outside the rows counts.
        """
        return Splitting(self.kept, self.problem.size, self.problem.nonneg, rho=rho, count=count)

    @property
    def with_tree(self) -> Certificate | None:
        """The best certificate, with the tree of an unfinished search in it."""
        if self.unfinished is None:
            return self.best
        if self.best is None:
            return self.unfinished
        return self.best.with_unfinished(self.unfinished.witness)

    # --- trees ----------------------------------------------------------------------------------------------
    @property
    def is_small(self) -> bool:
        """Tell whether there are so few features that every effort begins a tree at once.

        A tree cannot begin on the rows of a core, as it has no weights for the features outside.
        """
        return 1 < self.problem.n <= BRANCHED and self.kept.weights is None

    @property
    def is_late(self) -> bool:
        seconds = None if self.limits is None else self.limits.seconds
        return seconds is not None and time.monotonic() - self.began > seconds

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
            known_upper=self.shown,
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
