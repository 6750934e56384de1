"""Settle a node: fix features in and out as long as possible, and bound the remaining supports.

The witness of the parent is tried first, with a new search. A few rounds of the lift with row cuts follow,
which continue from the state of the parent. After each round, a feature is fixed if the supports that have
it, or those that lack it, cannot exceed the best known value. The work continues on the remaining supports.

`waves` calls `settle` for every node of a tree. `strongest` asks `may_fix` before a tree begins. `needed`
bounds supports with a `Settling` that fixes nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from nspca.bounds.dual import starts
from nspca.bounds.dual.lift import Lift, add_lift
from nspca.bounds.dual.restriction import carried_over, damp, restricted
from nspca.bounds.dual.rounds import Work, look, proposals, turn
from nspca.bounds.dual.splitting import Splitting
from nspca.bounds.elimination import Kept
from nspca.bounds.fixing.ground import Ground
from nspca.bounds.fixing.node import Node, Stage, Supports, Use, Warm
from nspca.bounds.fixing.probes import Probed, below_probes, nearest
from nspca.bounds.fixing.stored import Stored, none
from nspca.bounds.inequality import search_slack
from nspca.bounds.plan import ROUND, Plan
from nspca.bounds.witness import Proof, Witness, largest, priced_heights, prove, spectral_half
from nspca.covariance.linalg import UNIT_ROUNDOFF, Array, topk_sum
from nspca.local_search import single as ascent
from nspca.lowrank.cones import Budget, Cover
from nspca.lowrank.fixing import at_directions, fixed_rows
from nspca.lowrank.objective import Query
from nspca.progress import Report, silent

RANK, RAISED = 4, 5
"""Rank of a lift, and rank of one that continues because it stalled (`Task.raised`)."""
RAISED_ROWS = 80
"""Maximum rows for raising the rank of a lift. With more, its search costs more than branching."""
ROUNDS = 6
"""Maximum rounds of steps at a node. The count restarts when features are fixed."""
STALL = 0.2
"""A node is branched on when a round closes less than this share of its gap."""
FEWEST = 3
"""Minimum rounds before that rule applies, since the bound gets worse when the row cuts begin. At the root,
where nothing is fixed yet, the minimum is half of all rounds.
"""
REACHED = 4
"""Number of best points of a bundle that are tried as answers."""
COUNTED, PARTS, FEWER = 1e5, 600, 4
"""Supports are enumerated by eigenvalues when there are at most COUNTED, in at most PARTS parts, which is
less work than steps. After a failure, enumeration is tried again when there are FEWER times fewer.
"""
CLIMBED = 64
"""Number of directions in which rows are compared with the level before cones are made."""
WORTH = 0.1
"""While the lift still gains, features are fixed only if the known directions leave at least this share of
the rows that may be fixed.
"""
AGAIN = 0.25
"""Minimum share of the free features that a witness must have fixed to be used again at once."""
DAMPED = 2.0**-5
"""Penalty parameter of a lift that goes on at a child, relative to the largest eigenvalue."""
PROBE_STEPS, PROBE_ROUNDS, PROBE_CAP = 40, 3, 2000
"""Steps of a round of a probe, maximum rounds, and maximum cones of a search that proves its bound."""
PROBED_ROWS = 128
"""Maximum rows for probes. With more there are more probes, and each takes longer than a branch saves."""
PROBED, SURE, FAILURES = 0.5, 0.05, 4
"""A probe goes on while its gap is at most the share PROBED of the gap of its node. A search is made where
the lift promises a bound below the level by the share SURE of that gap. FAILURES in a row end the probes.
"""
FIX_CAP, QUICK_CAP = 4000, 400
"""Maximum cones of a search for features to fix; and of the first such search when the work ends without a
fixed feature.
"""


@dataclass(frozen=True, eq=False)
class Task:
    """A node to settle, and the limits of the work.

    Attributes
    ----------
    supports : Supports
    witness : Stored or None
        Witness of the parent.
    warm : Warm or None
        Starting point from the parent.
    lower : float
        The best known value, in unit scale.
    gap : float
        Relative gap at which a bound closes the node.
    plan : Plan
    rounds : int
        Maximum rounds of steps.
    work : float
        Work of a first enumeration of supports by eigenvalues: r^3 for each part.
    only_fixing : bool
        Whether to make steps only if the witness has fixed a feature.
    raised : bool
        Whether a lift that stalls continues with a higher rank.
    partial : bool
        Whether an unfinished node is returned when the time is over.
    at_level : bool
        Whether `lower` is a level below what is known, which no answer raises.
    """

    supports: Supports
    witness: Stored | None
    warm: Warm | None
    lower: float
    gap: float
    plan: Plan
    rounds: int = ROUNDS
    work: float = 0.0
    only_fixing: bool = False
    raised: bool = False
    partial: bool = False
    at_level: bool = False


class OutOfTime(Exception):
    """The exception that a report raises inside a node when the seconds of a search are over."""


@dataclass(frozen=True, eq=False)
class Settled:
    """A settled node, a better answer if one was found, the best known value, and the number of steps."""

    node: Node
    answer: tuple[np.ndarray, Array] | None
    lower: float
    steps: int


Answer = tuple[np.ndarray, Array]
"""Features (s,) of an answer, and their weights (s,)."""
Narrowed = Callable[[Supports, float, Answer | None], None]
"""Callback with the remaining supports of a node, the best known value, and its answer."""


def settle(ground: Ground, task: Task, report: Report, narrowed: Narrowed | None = None) -> Settled:
    """Settle a task and return the node, with fixed features, a bound and the starting point for children.

    ``narrowed`` is called whenever features have been fixed.
    """
    work = Settling(problem=ground.problem, plan=task.plan, lower=task.lower, gap=task.gap, report=report)
    work.narrowed = narrowed
    return work.run(ground, task)


def may_fix(ground: Ground, task: Task, t: float) -> bool:
    """Tell by a cheap test whether the witness of a task, with spectral claim t, may fix a feature.

    The search half is evaluated in the directions of the bundle only. If its values with each feature, and
    without it, exceed the level there, no cover can fix a feature.
    """
    work = Settling(problem=ground.problem, plan=task.plan, lower=task.lower, gap=task.gap)
    work.ground, work.supports, work.kept = ground, task.supports, ground.kept(task.supports)
    if task.witness is None or task.warm is None:
        return task.witness is not None
    work.points = feasible(task.warm, work.kept, ground.problem.size)
    stored = task.witness.covering(work.kept.features)
    query, lost = work.query(Use(stored, t, 0.0, 0.0, np.zeros(0, dtype=np.uint8)))
    directions = work.directions(query)
    if not len(directions):
        return True
    reached = np.array(at_directions(query, directions))[:, work.kept.fixed :]
    return bool((reached <= work.target - t - lost).any())


@dataclass(eq=False)
class Settling(Work[Plan]):
    """The work on one node; `run` returns the result of `settle`.

    `run` also sets `supports` (what is left after the features fixed so far), `kept` (the kept rows of these
    supports), `warm` (starting point of the parent, then of the last lift), `is_exact` (whether the value of
    the best answer is the bound) and `counted` (tree of an enumeration that decided all supports, or None).
    """

    stage = "fixing"
    answer: tuple[np.ndarray, Array] | None = None
    narrowed: Narrowed | None = None
    stages: list[Stage] = field(default_factory=list)
    best: Use | None = None
    direction: Array | None = None
    points: Array | None = None
    """Feasible points (r, q) of the bundle on the kept rows."""
    places: tuple[np.ndarray, Array] | None = None
    """Features of the last lift, and its z (total weight of the points that use each)."""
    is_current: bool = False
    """Whether the best use was proved for the present supports, not before features were fixed."""
    tried: Use | None = None
    """Use that has fixed no feature."""
    cap: int = 0
    """Maximum cones of the next search for features to fix."""
    priced: Use | None = None
    """With prices, the last use that has a witness, even if another has a better bound."""
    claimed: Stored | None = None
    """Witness of `priced` if only its spectral half is proved."""
    at_level: bool = False
    """Whether no answer raises the level."""
    failed: float = np.inf
    """Number of supports at the last failed enumeration."""
    counted: Node | None = None
    """Tree of the enumeration of all supports."""
    probed: list[Probed] = field(default_factory=list)
    """Nodes above the present one, each with one child that a probe has closed."""

    def run(self, ground: Ground, task: Task) -> Settled:
        """Settle the node of a task."""
        self.ground, self.supports, self.warm, self.work = ground, task.supports, task.warm, task.work
        self.best, self.at_level = None, task.at_level
        try:
            self.improve(task)
            self.prove_leaf()
        except OutOfTime:
            if not task.partial or self.best is None:
                raise
            self.report = silent  # what is left to do is short
            self.prove_leaf()
            leaf = None if self.supports.is_empty else self.best
            node = below_probes(self.probed, Node(self.supports, self.stages, leaf))
            return Settled(node, self.answer, self.lower, self.steps)
        return Settled(below_probes(self.probed, self.node()), self.answer, self.lower, self.steps)

    def node(self) -> Node:
        """Return the node for the present supports, with what its children start from if it is open."""
        node = Node(self.supports, self.stages, leaf=self.best)
        if self.counted is not None:
            counted = self.counted
            node.feature, node.children, node.leaf = counted.feature, counted.children, counted.leaf
        elif self.supports.is_empty:
            node.leaf = None
        elif not self.closed and self.supports.possible.size:
            node.warm, node.scores = self.warm, self.scores()
            if self.warm is not None and self.warm.lift is not None:
                self.warm.lift.recent = None  # a mean of steps that no child goes on with
        return node

    def improve(self, task: Task) -> None:
        """Fix features and improve the bound: with the parent's witness, then with a lift."""
        self.take_up()
        if not self.done and task.witness is not None:
            if task.warm is not None:  # its points give directions of large search halves
                self.points = feasible(task.warm, self.kept, self.problem.size)
            self.cap = QUICK_CAP if task.only_fixing else FIX_CAP
            stored = task.witness.covering(self.kept.features)
            if self.is_hopeless(task, stored):
                self.claim(stored)
            else:
                self.offer(stored)
            self.fix_all()
        self.cap = FIX_CAP
        if not self.done and task.rounds and (self.stages or not task.only_fixing):
            self.refine(task)

    def is_hopeless(self, task: Task, stored: Stored) -> bool:
        """Tell whether known points show that a witness cannot close a node with prices.

        Rounds of steps give the bound of such a node, so that of the witness need not be searched.
        """
        if self.kept.prices is None or not task.rounds or task.only_fixing or self.points is None:
            return False
        query, _ = self.query(Use(stored, 0.0, 0.0, 0.0, np.zeros(0, dtype=np.uint8)))
        directions = self.directions(query)
        if not len(directions):
            return False
        left = largest(self.kept, stored.at(self.kept.features))
        return left + float(np.max(at_directions(query, directions))) - self.kept.paid > self.target

    @property
    def done(self) -> bool:
        """True when the node needs no more work: no supports left, gap closed, value exact, or enumerated."""
        return self.supports.is_empty or self.closed or self.is_exact or self.counted is not None

    def prove_leaf(self) -> None:
        """Prove the bound of the best witness for the present supports, unless that has been done."""
        if self.supports.is_empty or self.counted is not None:
            return
        if not self.is_current:
            before, self.upper, self.kept = self.best, np.inf, self.ground.kept(self.supports)
            self.offer(None)
            if before is not None and before.witness is not None and not self.done:
                self.offer(before.witness)
        if self.claimed is not None and not self.done:
            self.offer(self.claimed)

    def take_up(self) -> None:
        """Set up the work for the present supports, and try the largest eigenvalue and an enumeration.

        A bound that was proved before features were fixed still holds, but a leaf needs a cover of its own.
        """
        self.is_exact, self.is_current, self.counted = False, False, None
        self.priced = None
        if self.supports.is_empty:
            self.best = None
            return
        self.kept = self.ground.kept(self.supports)
        rows, k = self.kept.features, self.problem.size
        if rows.size <= k and not self.kept.free:
            self.reach(rows)
            unpriced = self.kept.prices is None or not self.supports.possible.size
            self.is_exact = unpriced and not self.problem.nonneg
        self.offer(None)
        if not self.done and not self.kept.free:
            few = self.may_count
            self.counted = self.count(PARTS if few else int(self.work / max(rows.size, 1) ** 3))
            self.failed = self.supports.count if few else self.failed
            self.work = 0.0

    @property
    def may_count(self) -> bool:
        """Tell whether there are so few supports, and no features without rows, that enumeration is tried."""
        return not self.kept.free and self.supports.count <= min(COUNTED, self.failed / FEWER)

    def count(self, left: int) -> Node | None:
        """Enumerate the supports by branching with eigenvalue bounds; return the tree, or None if that fails.

        The bound of a part is the largest eigenvalue of A on the features that it may use. At most `left`
        parts are tried.
        """
        root, known = Node(self.supports), (self.lower, self.answer)
        stack = [root] if left > 0 else []
        if not stack:
            return None
        while stack:
            node, left = stack.pop(), left - 1
            self.kept = self.ground.kept(node.supports)
            rows = self.kept.features
            if node.supports.is_empty:
                continue
            prices, paid = self.kept.prices, self.kept.paid
            block = self.kept.block if prices is None else self.kept.block - np.diag(prices)
            values, vectors = np.linalg.eigh(block)
            if rows.size <= self.problem.size:
                self.reach(rows)
            if values[-1] - paid <= self.target:
                node.leaf = self.without_witness(float(values[-1]))
                if node.leaf.upper <= self.target:
                    continue
            whole = rows.size <= self.problem.size if prices is None else not node.supports.possible.size
            if whole or left <= 0:
                self.lower, self.answer = known
                self.kept = self.ground.kept(self.supports)
                return None
            free, nothing = node.supports.possible, np.zeros(0, dtype=np.int64)
            one = free[[np.argmax(np.abs(vectors[self.kept.fixed :, -1]))]]
            halves = node.supports.fix(nothing, one), node.supports.fix(one, nothing)
            node.leaf, node.feature = None, int(one[0])
            node.children = tuple(map(Node, halves))
            stack += reversed(node.children)  # the child with the feature leads to good answers earlier
        return root

    # --- bounds ---------------------------------------------------------------------------------------------
    def offer(self, stored: Stored | None, estimate: float | None = None) -> Proof:
        """Prove the bound of a witness (None for W = M = U = 0), and keep the proof if it is the best."""
        features = self.kept.features
        if stored is None and not self.kept.free and self.kept.prices is not None:
            use, none_made = self.without_witness(), np.zeros(0, dtype=np.uint8)
            if use.upper < self.upper:
                self.best, self.upper, self.direction, self.is_current = use, use.upper, None, True
            return Proof(use.t, use.F, 0.0, Cover(0.0, 0.0, np.zeros(0), none_made, 0, True), use.paid)
        if stored is None and self.kept.free:  # W = 0 needs rows for all features
            stored = Stored.of(features, none(features))
        witness = none(features) if stored is None else stored.at(features)
        limits = {"goal": self.target, "hopeless": self.upper, "known": self.lower}
        budget = Budget(self.gap / 10, **limits, cap=self.plan.cap)
        proof = prove(self.problem, self.kept, witness, budget, estimate=estimate, report=self.quietly)
        tau = proof.tau if self.kept.free else 0.0
        use = Use(stored, proof.t, proof.F, tau, proof.cover.tree, proof.paid)
        if stored is not None and self.kept.prices is not None:
            self.priced, self.claimed = use, None
        if proof.upper < self.upper:
            self.best, self.upper = use, proof.upper
            self.direction, self.is_current = proof.cover.direction, True
        return proof

    def without_witness(self, estimate: float | None = None) -> Use:
        """Return the use of no witness: the largest eigenvalue, of A less the prices on its diagonal."""
        kept = self.kept
        M = None if kept.prices is None else np.diag(kept.prices)
        witness = replace(none(kept.features), M=M)
        t = spectral_half(self.problem, kept, witness, estimate)
        return Use(None, t, 0.0, 0.0, np.zeros(0, dtype=np.uint8), kept.paid)

    def prove_rounded(self, witness: Witness, estimate: float) -> Proof:
        """Prove the bound of a witness after rounding it for storage; `look` calls this with an estimate."""
        stored = Stored.of(self.kept.features, witness)
        return self.offer(stored)

    # --- fixing ---------------------------------------------------------------------------------------------
    def fix_all(self, least: int = 1) -> bool:
        """Fix features by the best witness while that fixes many; tell whether any was fixed.

        A use that has fixed no feature is not tried again.
        """
        fixed = False
        while not self.done and self.fixing_use is not self.tried:
            before = self.supports.possible.size
            if not self.fix(least):
                self.tried = self.fixing_use if least <= 1 else self.tried
                break
            fixed = True
            if before - self.supports.possible.size <= AGAIN * before:
                break
        return fixed

    @property
    def fixing_use(self) -> Use | None:
        """Return the best use that has a witness; with prices the last one."""
        best = self.best
        if self.priced is not None:
            return self.priced
        return best if best is not None and best.witness is not None else None

    def fix(self, least: int = 1) -> bool:
        """Fix features by the best witness, restrict the work to what remains, and tell whether any was.

        No cone is made when the known directions leave fewer than `least` features to fix.
        """
        use = self.fixing_use
        if use is None or use.witness is None:
            return False
        kept, supports = self.kept, self.supports
        query, lost = self.query(use)
        r, t = len(kept.features), use.t
        out = np.zeros(len(query.V), dtype=bool)
        out[kept.fixed : r + min(1, kept.free)] = True
        into = out & (np.arange(len(out)) < r)
        F = below(self.target, t, use.paid)
        room = F - lost - 8 * UNIT_ROUNDOFF * abs(t)
        known = self.directions(query)
        found = fixed_rows(query, room, (out, into), known, self.cap, self.quietly, least)
        rows = kept.features
        left = rows[found.out[:r]]
        if found.out[r:].any():
            left = np.union1d(left, np.setdiff1d(supports.possible, rows))
        needed = rows[found.into[:r]]
        if not left.size and not needed.size:
            return False
        proof = replace(use, F=F, tau=query.tau if kept.free else 0.0, tree=found.tree)
        self.stages.append(Stage(left, np.sort(needed), proof))
        self.carry(supports.fix(left, needed))
        self.take_up()
        return True

    def carry(self, supports: Supports) -> None:
        """Go on with fewer supports: restrict the points of the bundle to their rows, and call `narrowed`."""
        self.is_current = False
        if self.points is not None:
            held = Warm(self.kept.features, np.zeros(0), np.zeros((len(self.points), 0)), self.points)
            self.supports = supports
            self.points = (
                None if supports.is_empty else feasible(held, self.ground.kept(supports), supports.k)
            )
        self.supports = supports
        if self.narrowed is not None:
            self.narrowed(supports, self.lower, self.answer)

    def query(self, use: Use) -> tuple[Query, float]:
        """Return the query of the search half of a use, and a bound on the rounding errors of its maximum."""
        kept, k, nonneg = self.kept, self.problem.size, self.problem.nonneg
        assert use.witness is not None  # the caller has looked
        witness, extra = use.witness.at(kept.features), min(k, kept.free)
        W, M, U = witness.W, witness.M, witness.U
        assert W is not None and U is not None  # a stored witness has both
        tau = max(0.0, kept.floor, float(np.max(W if nonneg else np.abs(W), initial=0.0)))
        h = priced_heights(kept, M, k, nonneg)
        h = None if h is None else np.append(h, np.zeros(extra))
        V = np.vstack((U, np.zeros((extra, U.shape[1]))))
        size = np.einsum("ij,ij->i", V, V) + tau + (0.0 if h is None else np.abs(h))
        slack = search_slack(k, V.shape[1] + 1)
        lost = slack * float(topk_sum(size, k, kept.fixed))
        if M is not None:
            lost += slack * float(topk_sum(np.linalg.norm(M, axis=1), k, kept.fixed))
        return Query(V, k, h, tau, nonneg, kept.fixed), lost

    def directions(self, query: Query) -> Array:
        """Return unit directions (c, D) in which the search half is known to be large."""
        d, D = query.V.shape[1], query.V.shape[1] + (query.tau > 0)
        found = np.zeros((0, D))
        if D == 0:
            return found
        if self.points is not None:
            X = self.points
            C = (query.V[: len(X)].T @ X).T
            if query.tau > 0:
                C = np.column_stack((C, np.sqrt(query.tau) * np.abs(X).sum(axis=0)))
            found = C
        if self.direction is not None and self.direction.size == D:
            found = np.vstack((found, self.direction))
        lengths = np.linalg.norm(found, axis=1)
        found = found[lengths > 0] / lengths[lengths > 0, None]
        assert found.shape[1] == D and d <= D
        return found[-CLIMBED:]

    def scores(self) -> Array:
        """Return a branching score for each possible feature; the lowest is best.

        After a lift, the best feature is the one whose z is closest to one half, since both children then
        gain. Without a lift, it is the one with the lowest estimate for one of its two children. Features
        without rows cannot be branched on and get infinity.
        """
        free, use, kept = self.supports.possible, self.best, self.kept
        if self.places is not None:
            features, z = self.places[0], np.clip(self.places[1], 0.0, 1.0)
            undecided = np.full(self.problem.n, np.inf)
            undecided[features] = -np.minimum(z, 1 - z) - 1e-3 * z
            if np.isfinite(undecided[free]).any():
                return undecided[free]
        own, own_rows = np.full(free.size, np.inf), slice(kept.fixed, len(kept.features))
        at = np.searchsorted(free, kept.features[own_rows])
        own[at] = -kept.block.diagonal()[own_rows]
        if use is not None and use.witness is not None:
            query, _ = self.query(use)
            directions = self.directions(query)
            if len(directions):
                own[at] = np.minimum(*at_directions(query, directions))[own_rows]
        return own

    # --- probes ---------------------------------------------------------------------------------------------
    def probe_all(self, lift: Lift) -> bool:
        """Fix each feature whose other side a short lift closes, and tell whether any was fixed.

        The features that the lift is nearest to fixing come first.
        """
        failures, before = 0, len(self.probed)
        for feature, into in nearest(lift):
            if failures == FAILURES or not self.supports.possible.size or self.may_count:
                break
            one, nothing = np.array([feature]), np.zeros(0, dtype=np.int64)
            sides = self.supports.fix(nothing, one), self.supports.fix(one, nothing)
            closed = self.probe(lift, sides[0 if into else 1])
            if closed is None:
                failures += 1
                continue
            failures = 0
            self.probed.append(Probed(self.supports, self.stages, feature, closed, into))
            self.stages = []
            self.carry(sides[1 if into else 0])
            if self.supports.is_empty:
                break
            self.kept = self.ground.kept(self.supports)
        if len(self.probed) == before:
            return False
        self.take_up()
        return True

    def probe(self, lift: Lift, supports: Supports) -> Node | None:
        """Return a closed node with these supports; None if a short lift does not close it."""
        work = Settling(self.problem, replace(self.plan, cap=PROBE_CAP), self.lower, self.gap, self.report)
        work.ground, work.supports, work.warm, work.work = self.ground, supports, None, 0.0
        work.at_level, work.failed = self.at_level, self.failed
        work.take_up()
        if not work.done and work.kept.block.any():
            short, sure = work.gone_on(lift), SURE * (self.upper - self.lower)
            for _ in range(PROBE_ROUNDS):
                work.advance(short.splitting, PROBE_STEPS)
                own = look(short, work.prove_rounded, lambda witness, proof: None, below=work.target - sure)
                if work.done or own - self.lower > PROBED * (self.upper - self.lower):
                    break
        self.steps += work.steps
        if work.answer is not None and work.lower > self.lower:
            self.lower, self.answer = work.lower, work.answer
        return work.node() if work.done else None

    # --- the lift -------------------------------------------------------------------------------------------
    def refine(self, task: Task) -> None:
        """Make rounds of steps; after each, evaluate the bound and fix features."""
        if not self.kept.block.any():
            return  # the block is zero or empty
        lift, rounds, last = self.first_lift(task), 0, np.inf
        probing = task.raised and self.kept.prices is None
        waits, anew = FEWEST if lift.cuts.weight == 0.0 else 1, False
        while True:
            rounds += 1
            self.advance(lift.splitting, ROUND)
            fewest = waits if self.stages or self.probed else max(waits, task.rounds // 2)

            def is_over(own: float, rounds: int = rounds, fewest: int = fewest, last: float = last) -> bool:
                stalled = rounds >= fewest and last - own < STALL * (own - self.lower)
                return stalled or rounds >= task.rounds

            if self.kept.prices is None:
                own = look(lift, self.prove_rounded, lambda witness, proof: None, below=self.upper)
            else:
                own = self.weigh_up(lift, is_over)
            self.points = lift.points
            self.reach_points(lift)
            self.tell()
            if self.done:
                break
            self.remember(lift)
            over, last = is_over(own), min(last, own)
            least = 1 if over or anew else max(1, int(WORTH * len(self.kept.block)))
            if self.fix_all(least):
                if self.done or not self.kept.block.any():
                    break
                lift, rounds, waits, anew = restricted(self.problem, lift, self.kept), 0, 1, False
                continue
            if not over:
                continue
            if task.raised and not anew:
                # A lift that has converged is flat: many supports come near its bound, and hardly a feature
                # can be fixed. One begun anew is not.
                lift = self.begin(None if self.best is None else self.best.witness, lift.B.shape[1])
                rounds, last, waits, anew = 0, np.inf, FEWEST, True
                continue
            probing = probing and len(self.kept.block) <= PROBED_ROWS and self.probe_all(lift)
            if self.done or not self.kept.block.any():
                break
            if probing:
                lift = restricted(self.problem, lift, self.kept)
                rounds, last, waits, anew = 0, np.inf, 1, False
                continue
            anew = False
            rows = len(self.kept.block)
            rank = min(RAISED, rows)
            if not task.raised or lift.B.shape[1] >= rank or rows > RAISED_ROWS:
                break
            lift.rebase(starts.basis(self.kept, lift.splitting.entries.W, rank))
            rounds, last = 0, np.inf

    def weigh_up(self, lift: Lift, is_over: Callable[[float], bool]) -> float:
        """Return the present bound of a lift at a node with prices.

        The bound is proved only if that may close the node, or ends the work on it.
        Trees with prices have many nodes that no round closes. A search for each would take most of the time.
        """
        *_, plain = found = list(proposals(lift))
        best = min(found, key=lambda one: one.promise)
        if best.promise <= self.target or is_over(best.promise):
            proof = self.prove_rounded(best.witness, best.left)
            if best.is_own and proof.cover.direction.size == lift.U.shape[1] + 1:
                lift.grow(proof.cover.direction[:, None])
        else:
            self.claim(Stored.of(self.kept.features, best.witness), best.left)
        turn(lift, plain.witness)
        return best.promise

    def claim(self, stored: Stored | None, estimate: float | None = None) -> None:
        """Prove the spectral half of a witness, which may fix features then."""
        if stored is not None:
            t = spectral_half(self.problem, self.kept, stored.at(self.kept.features), estimate)
            self.priced = Use(stored, t, np.inf, 0.0, np.zeros(0, dtype=np.uint8), self.kept.paid)
            self.claimed = stored

    def first_lift(self, task: Task) -> Lift:
        """Return the lift of the parent on the rows of the node, or one begun from its witness."""
        if self.warm is not None and self.warm.lift is not None:
            return self.gone_on(self.warm.lift)
        wide = task.witness is not None and task.witness.U.shape[1] > RANK
        return self.begin(task.witness, RAISED if task.raised and wide else RANK)

    def gone_on(self, lift: Lift) -> Lift:
        """Return a lift on the rows of the node that goes on from another; without prices in short steps."""
        new = restricted(self.problem, lift, self.kept)
        if self.kept.prices is None:
            damp(new, DAMPED * float(self.kept.leading[0][0]))
        return new

    def remember(self, lift: Lift) -> None:
        """Store the state of a lift in `places` and `warm`, for the branching scores and for the children."""
        splitting = lift.splitting
        self.places = self.kept.features, np.array(lift.z)
        self.warm = Warm(
            self.kept.features,
            np.asarray(splitting.weights, dtype=np.float64),
            splitting.vectors.astype(np.float64),
            lift.points,
            lift,
        )

    def begin(self, stored: Stored | None, rank: int) -> Lift:
        """Return a lift of a rank on the rows of the node, started from the state of the parent."""
        kept, k, nonneg = self.kept, self.problem.size, self.problem.nonneg
        r = len(kept.block)
        splitting, rank = Splitting(kept, k, nonneg), min(rank, r)
        features = kept.features
        witness = none(features) if stored is None else stored.covering(features).at(features)
        W = np.zeros((r, r)) if witness.W is None else witness.W
        X = self.first_matrix(splitting)
        splitting.resume(W, X)
        B = starts.basis(kept, W, rank)
        points = np.zeros((r, 0)) if self.warm is None else feasible(self.warm, kept, k)
        if points.shape[1] == 0:
            points = starts.first_point(self.problem, splitting, B)
        return add_lift(splitting, B, points)

    def first_matrix(self, splitting: Splitting) -> Array:
        """Return the starting X: that of the parent, or of the leading eigenvector."""
        if self.warm is None:
            vectors = splitting.vectors.astype(np.float64)
            return vectors @ vectors.T
        vectors = spread(self.warm.rows, self.warm.vectors, self.kept.features)
        return (vectors * self.warm.weights) @ vectors.T

    # --- answers --------------------------------------------------------------------------------------------
    def reach_points(self, lift: Lift) -> None:
        """Try the supports of the best points of a bundle for a better answer."""
        values = np.einsum("ij,ij->j", lift.points, lift.splitting.kept.block @ lift.points)
        for x in lift.points.T[np.argsort(-values)[:REACHED]]:
            self.reach(self.kept.features[x != 0])

    def reach(self, features: np.ndarray) -> None:
        """Keep the best weights on some features as the answer if they exceed the best value by the gap."""
        block = self.ground.part.block(features)
        start = np.full(features.size, features.size**-0.5)
        x = ascent.best_on_support(block, start, self.problem.nonneg)
        value, prices = float(x @ block @ x), self.ground.prices
        if prices is not None:
            features, x = features[x != 0], x[x != 0]
            value -= float(prices[np.union1d(features, self.supports.into)].sum())
        if value > self.target and not self.at_level:
            self.lower, self.answer = value, (features, x)


def below(level: float, t: float, paid: float = 0.0) -> float:
    """Return the largest float F with t + F - paid <= level, in exact arithmetic."""
    F = level - t + paid
    while Fraction(t) + Fraction(F) - Fraction(paid) > Fraction(level):
        F = float(np.nextafter(F, -np.inf))
    return F


def spread(rows: np.ndarray, part: Array, features: np.ndarray) -> Array:
    """Return a matrix (f, p) with a row for each of `features`: that of `part` (r, p), or 0 if not in it."""
    order = np.argsort(rows, kind="stable")
    at = np.minimum(np.searchsorted(rows, features, sorter=order), len(rows) - 1)
    found = rows[order[at]] == features
    return np.where(found[:, None], part[order[at]], 0.0)


def feasible(warm: Warm, kept: Kept, k: int) -> Array:
    """Return the points (r, q) of a starting point on the rows of a node, cut to what its supports carry."""
    return carried_over(spread(warm.rows, warm.points, kept.features), kept.fixed, k)[0]
