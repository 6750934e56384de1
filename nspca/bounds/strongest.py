"""Find the strongest certificate that an effort buys: the bounds to try, their order, and when to stop.

The order is threshold (B4) when rows are eliminated, then the dual (B5) and its lift (B6). With few
features the search that fixes features and branches follows (B8, `fixing`). With many features W, M, U and
the subspace are improved together (B6 until the row cuts begin, then B9), once for each rank. The search then
begins with that witness if it fixes anything. Everything stops as soon as the gap is closed.

Budgets are counts of steps that depend on the size alone, never on the clock, so the same input gives the
same certificate. Only `Limits` of a caller may name seconds.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
from threadpoolctl import threadpool_limits

from nspca.bounds import core, elimination
from nspca.bounds.dual import starts
from nspca.bounds.dual.lift import add_lift
from nspca.bounds.dual.rounds import Work, look
from nspca.bounds.dual.splitting import Splitting
from nspca.bounds.elimination import Kept
from nspca.bounds.fixing.arrays import unpacked
from nspca.bounds.fixing.ground import Ground
from nspca.bounds.fixing.node import Node, Supports
from nspca.bounds.fixing.node import Warm as Known
from nspca.bounds.fixing.settle import ROUNDS, Task, may_fix
from nspca.bounds.fixing.stored import Stored
from nspca.bounds.fixing.tree import FixingTree, Limits
from nspca.bounds.plan import BRANCHED, CLOSED, OVERHEAD, PLANS, ROUND, Plan, plan_in_parts
from nspca.bounds.witness import Witness, lifted, prove, stated
from nspca.certificate import Certificate
from nspca.covariance.covariance import DENSE_LIMIT
from nspca.covariance.linalg import Array, largest_eigenpairs
from nspca.errors import Cancelled, InvalidOption
from nspca.local_search import single as ascent
from nspca.lowrank.cones import Budget
from nspca.problem import Problem
from nspca.progress import Event, Report, silent

LEFT_OUT = 0.4
"""Of a component's value: what k features at the level of the largest entry left out may reach."""
WORTH = 0.3
"""Searched for is what promises to close this share of the gap; where it may be the end, what promises
anything.
"""
ROOT_RANK, ROOT_ROUNDS = 3, 20
"""Dimensions of the first lift of a tree on few features, and rounds of steps at its root."""
STALL, PATIENCE = 0.02, 4
"""A lift is left when this many rounds in a row close less than this share of the gap; it loosens for a while
when its cuts begin."""

PROMISING = 0.75
"""Safe elimination is tried beside cores where what it leaves out is worth at most so much of the value."""
LIKELY = 0.97
"""Value that is aimed at where none is known, relative to the bound with an empty core."""
QUICK = PLANS["fast"]
"""Steps that each core is tried with, before the best one gets all that its effort allows."""
FOLLOWED = 5
"""Eigenvectors that say where the weights of the features outside a core matter."""


@dataclass(frozen=True, eq=False)
class Warm:
    """Start for the next k: the subspace of the best lift of this one, and its rows.

    W is not handed on: for the next k it makes B5 quicker and its lift looser.
    """

    rows: np.ndarray | None
    B: Array

    def fits(self, kept: Kept, rank: int) -> bool:
        """Tell whether a lift of this rank, on these rows, can begin with it."""
        if self.rows is None or kept.rows is None:
            return self.rows is kept.rows and self.B.shape[1] == rank
        return np.array_equal(self.rows, kept.rows) and self.B.shape[1] == rank


def strongest(
    problem: Problem,
    lower: float,
    effort: str = "standard",
    report: Report = silent,
    warm: Warm | None = None,
    known: float = np.inf,
    limits: Limits | None = None,
    resume: dict[str, np.ndarray] | None = None,
    branching: bool = True,
):
    """The best certificate of kinds B4 to B9 that `effort` buys, and a warm state for a neighbouring k.

    Parameters
    ----------
    problem : Problem
    lower : float
        A value known to be reached, in unit scale (0: none). It only says when to stop and how finely to
        search.
    effort : "fast" (less than the solve), "standard" (seconds) or "thorough" (minutes)
    report : callable
        Gets an `Event` of stage "dual" every few steps; raises `Cancelled` to stop, which then carries the
        best certificate.
    warm : Warm, optional
        From the k before.
    known : float
        A bound that is already proved, in unit scale: nothing is done that cannot be better.
    limits : Limits, optional
        Branch until nothing is open or one of these is reached, whatever the plan allows.
    resume : dict of ndarray, optional
        Tree of a search on this problem, as in a certificate of form "fixing": the search goes on from there.
    branching : bool
        Whether features may be fixed and supports branched on; else the certificate is of one inequality.

    Returns
    -------
    certificate : Certificate or None
        None when A is zero, where the elementary bounds are exact, when more features are forced than
        rows may be kept, and when nothing is better than what is known. With limits it also holds the tree of
        a search that can go on, be its bound better than what is known or not.
    warm : Warm or None
    point : (n,) ndarray or None
        A component better than `lower`, if the search came upon one.
    """
    if effort not in PLANS:
        raise InvalidOption(f"effort must be one of {', '.join(PLANS)}, got {effort!r}")
    plan = PLANS[effort] if branching else replace(PLANS[effort], branching=0.0, eigenvalues=0.0)
    if problem.covariance.trace == 0.0 or len(problem.forced) > plan.rows[-1]:
        return None, None, None
    # The calls are small and many: more BLAS threads wait for each other longer than they work.
    with threadpool_limits(1):
        searched = limits is not None or resume is not None  # a tree works on rows without weights
        if not searched and core.pays(problem, plan.rows, LEFT_OUT * lower, lower):
            if core.few_in_reach(problem.covariance):
                plan = plan_in_parts(effort, int(problem.covariance.rows.counts.sum()))
            return _Cores(problem, plan, max(lower, 0.0), report, known).run()
        kept = kept_rows(problem, plan, lower, np.inf if searched else known)
        if kept is None:
            return None, None, None
        run = _Run(problem, plan, max(lower, 0.0), report=report, kept=kept)
        run.upper = run.known = known
        run.limits, run.resumed = limits, resume
        try:
            left = run.run(warm)
            return run.with_tree, left, run.point
        except Cancelled as stop:
            stop.best, stop.point = run.with_tree, run.point
            raise


@dataclass(eq=False)
class _Cores:
    """Bounds with a dense core and weights for the features outside: several cores, the best one further.

    Attributes
    ----------
    upper : float
        The smallest bound that is proved, in unit scale.
    best : Certificate or None
        What proves it, if that is better than what was known.
    aim : float
        The value that a bound should come near, known or likely.
    steps : int
        Steps made by the cores before.
    """

    problem: Problem
    plan: Plan
    lower: float
    report: Report
    upper: float
    best: Certificate | None = None
    aim: float = 0.0
    steps: int = 0

    def run(self):
        """Return what `strongest` does."""
        problem, lower = self.problem, self.lower
        remainder, curve = core.search_tau(problem, lower)
        least = float(curve.uppers.min())
        self.aim = lower if lower > 0 else LIKELY * least
        gap = max(least - self.aim, 0.0)
        forced = np.array(problem.forced, dtype=np.int64)
        self.prove(core.with_core(problem, remainder, forced, curve.best, 0.0), QUICK)
        tried: list[tuple[float, _Run]] = []
        for count in self.plan.cores:
            for excess in self.plan.excesses:
                if self.closed or count >= problem.n:
                    break
                tau = curve.lower_tau(excess * gap)
                rows = core.choose_rows(problem, remainder.above(tau), count)
                kept = core.with_core(problem, remainder, rows, tau, self.first_claim(tau))
                run = self.prove(kept, QUICK)
                if run is not None:
                    tried.append((run.upper, run))
        kept = None if self.closed else self.eliminated()
        run = self.prove(kept, QUICK)
        if run is not None:
            tried.append((run.upper, run))
        point = None
        if self.plan.ranks and tried and not self.closed:
            _, run = min(tried, key=lambda one: one[0])
            kept = run.kept
            if kept.weights is not None:
                v, t = directions(kept, run.best), self.first_claim(kept.floor)
                kept = core.with_core(problem, remainder, kept.features, kept.floor, t, v) or kept
            last = self.prove(kept, self.plan)
            point = None if last is None else last.point
        return self.best, None, point

    def eliminated(self) -> Kept | None:
        """Return the rows of safe elimination where what they leave out may be worth leaving out."""
        rows = self.plan.rows[-1]
        if core.few_in_reach(self.problem.covariance) and self.best is not None:
            return None  # a core leaves out less
        if not elimination.leaves_out_little(self.problem, rows, PROMISING * self.lower):
            return None
        return elimination.keep(self.problem, rows)

    @property
    def closed(self) -> bool:
        """Tell whether nothing is left to be closed."""
        return self.upper <= self.lower * (1 + CLOSED)

    def first_claim(self, tau: float) -> float:
        """Return a share of what k features at the level tau leave of the value."""
        return core.SHARE * (self.aim - self.problem.size * tau)

    def prove(self, kept: Kept | None, plan: Plan):
        """Prove what a plan finds on the rows; keep the certificate if it is the best."""
        if kept is None:
            return None
        run = _Run(self.problem, plan, self.lower, report=self.tell, kept=kept)
        quick = plan is QUICK
        run.upper = run.known = np.inf if quick else self.upper
        try:
            run.run(None)
        except Cancelled as stop:
            if run.best is None or run.upper >= self.upper:
                stop.best = self.best
            else:
                stop.best = run.best
            raise
        if run.best is not None and run.upper < self.upper:
            self.best, self.upper = run.best, run.upper
        self.steps += run.steps
        return run

    def tell(self, event: Event) -> None:
        """Report an event of one core as one of all of them: the best bound, and all steps so far."""
        before = None if self.best is None else self.best.upper
        known = [bound for bound in (event.upper, before) if bound is not None]
        upper, done, total = min(known, default=None), self.steps + event.done, self.steps + event.total
        self.report(replace(event, upper=upper, done=done, total=total))


def directions(kept: Kept, certificate: Certificate | None) -> Array | None:
    """Return where the eigenvectors that are left of A in a certificate lie on its rows."""
    if certificate is None or not len(kept.block):
        return None
    witness = Witness(*(certificate.witness.get(name) for name in ("W", "M", "U")))
    R = witness.remainder(kept)
    if witness.U is not None:
        R -= witness.U @ witness.U.T
    vectors = largest_eigenpairs(R, min(FOLLOWED, len(R)))[1]
    return np.sqrt(np.einsum("ij,ij->i", vectors, vectors))


def kept_rows(problem: Problem, plan: Plan, lower: float, known: float) -> Kept | None:
    """Return the rows that safe elimination keeps; None where no bound on them can be below what is known.

    So many are kept that what is left out does not decide tau: the more, the larger k is.
    """
    kept = elimination.keep(problem, elimination.enough_rows(problem, plan.rows, LEFT_OUT * lower))
    return kept if least(problem, kept) < known else None


def least(problem: Problem, kept: Kept) -> float:
    """Return a value that no bound with these rows is below.

    Whatever W is, tau is at least the largest entry left out, and k features at that level reach
    k tau, on the kept rows too, which all have tau.
    """
    return -np.inf if kept.rows is None or not kept.free else problem.size * kept.floor + kept.outside


@dataclass(eq=False, kw_only=True)
class _Run(Work[Plan]):
    stage = "dual"
    kept: Kept
    known: float = np.inf
    best: Certificate | None = None  # what proves `upper`, if that is better than what was known
    point: Array | None = None
    subspace: Array | None = None
    limits: Limits | None = None
    resumed: dict[str, np.ndarray] | None = None
    warmed: Known | None = None
    unfinished: Certificate | None = None  # of the last tree, where it proves less than `upper`

    @property
    def with_tree(self) -> Certificate | None:
        """Return the best certificate, and the tree that a search can go on from."""
        if self.unfinished is None:
            return self.best
        if self.best is None:
            return self.unfinished
        return self.best.with_unfinished(self.unfinished.witness)

    def run(self, warm: Warm | None) -> Warm | None:
        """Look for the best certificate; return a warm state for a neighbouring k."""
        problem, kept, self.began = self.problem, self.kept, time.monotonic()
        if self.resumed is not None:
            self.go_on(self.resumed)
            return None
        r = len(kept.block)
        ranks, rounds = self.plan.ranks, self.plan.rounds_of(r)
        ranks = ranks[:1] if rounds < self.plan.rounds else ranks
        self.total = ROUND * (1 if not ranks else 3 + len(ranks) * rounds)
        if 1 < problem.n <= BRANCHED and self.plan.eigenvalues:
            if self.lower == 0.0:  # without a value to reach, hardly any part of the supports is closed
                self.point = ascent.swaps(problem, ascent.polish(problem, ascent.first_feature(problem)))
                self.lower = problem.covariance.quadratic(self.point)
            self.search(None, work=self.plan.eigenvalues)
            if self.closed:
                return None
        if r < problem.n or r == 1:
            self.offer(Witness(elimination.search_threshold(kept, problem)[1]), kind="B4")
        if r == 0 or self.no_room(least(problem, kept)):
            return None
        if kept.fixed == problem.size:  # no other features: their eigenvalue is a bound, and exact if signed
            self.offer(Witness(), kind="B0")
        if not self.kept.leading[0][0] > 0:  # nothing on these rows: a dual has nothing to divide
            self.offer(Witness())
            return None
        plain = self.dual()
        at_once = 1 < problem.n <= BRANCHED or (self.limits is not None and r > 1)
        if at_once and self.plan.branching and not self.closed:
            self.search(self.first(plain), self.warm_of(plain), ROOT_ROUNDS)
            return warm
        for rank in ranks:
            if not self.closed:
                self.lift(plain, min(rank, r), warm)
        if self.plan.branching and kept.weights is None and not self.closed and r > 1 and self.may_fix():
            self.search(self.stored(), self.warmed, ROUNDS, only_fixing=True)
        return warm if self.subspace is None else Warm(kept.rows, self.subspace)

    # --- stages ---------------------------------------------------------------------------------------------
    def dual(self):
        """B5 and plain B6, at two values of rho: a larger one often leaves a W that lifts better."""
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

    def may_fix(self) -> bool:
        """Return whether the best witness may fix a feature: a search for that costs as much as a proof."""
        if self.best is None or self.best.form != "inequality" or self.lower <= 0:
            return False
        ground, t = Ground.of(self.problem, self.kept), float(self.best.witness["claims"][0])
        forced = np.array(self.problem.forced, dtype=np.int64)
        supports = Supports(forced, np.setdiff1d(ground.everything, forced), self.problem.size)
        task = Task(supports, self.stored(), self.warmed, self.lower, self.gap, self.plan)
        return may_fix(ground, task, t)

    def search(self, witness, warm=None, rounds=0, work=0.0, only_fixing=False):
        """Fix features and branch while there are steps. A cancelled tree is worth having."""
        tree = self.tree(self.kept)
        with self.taking(tree):
            tree.begin(witness, warm, rounds, work, only_fixing)
            if rounds and tree.root is not None and (tree.root.stages or not only_fixing):
                tree.run()

    def go_on(self, arrays: dict[str, np.ndarray]) -> None:
        """Go on with the tree of a search that was stopped."""
        problem, forced = self.problem, np.array(self.problem.forced, dtype=np.int64)
        supports = Supports(forced, np.setdiff1d(problem.usable, forced), problem.size)
        root = unpacked(arrays, supports, problem.nonneg)
        tree = self.tree(self.rows_of(root))
        with self.taking(tree):
            tree.resume(root)
            tree.run()

    def rows_of(self, root: Node) -> Kept:
        """Return the rows that a search needs to go on with the open nodes of a tree."""
        target = self.lower * (1 + self.gap)
        left = [node.supports for node in root.walk() if node.leaf is not None and node.upper > target]
        none = np.zeros(0, dtype=np.int64)
        features = np.unique(
            np.concatenate([none, *(part for one in left for part in (one.into, one.possible))])
        )
        if features.size > DENSE_LIMIT:  # the others have no rows, as when the search began
            into = np.unique(np.concatenate([none, *(one.into for one in left)]))
            features = np.union1d(into, self.kept.features)
            return replace(self.kept, rows=features, block=self.problem.covariance.block(features), fixed=0)
        return Kept(features, self.problem.covariance.block(features), 0.0)

    def tree(self, kept: Kept) -> FixingTree:
        """Return a tree on some rows, with what is left of the limits."""
        limits = self.limits or Limits(steps=self.plan.branching / (len(self.kept.block) ** 2 + OVERHEAD))
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
            limits=limits,
            raised=self.limits is not None,
        )

    @contextmanager
    def taking(self, tree: FixingTree) -> Iterator[None]:
        """Take over what a tree came to, however it ends."""
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

    def first(self, plain: Splitting) -> Stored | None:
        """Return the witness of the dual alone, with a lift."""
        witness, _ = lifted(self.kept, Witness(plain.entries.W), ROOT_RANK)
        return Stored.of(self.kept.features, witness)

    def warm_of(self, splitting: Splitting, points: Array | None = None) -> Known:
        """Return where a splitting stands, for a tree."""
        vectors = splitting.vectors.astype(np.float64)
        points = np.zeros((len(vectors), 0)) if points is None else points
        return Known(self.kept.features, np.asarray(splitting.weights, np.float64), vectors, points)

    def stored(self) -> Stored | None:
        """Return the best witness known, as a tree stores it."""
        found = {} if self.best is None or self.best.form != "inequality" else self.best.witness
        return Stored.of(self.kept.features, Witness(*(found.get(name) for name in ("W", "M", "U"))))

    def lift(self, plain: Splitting, rank: int, warm: Warm | None) -> None:
        """B6, then B9: steps and a look until the gap hardly closes; begins where the k before ended."""
        splitting, W = self.splitting(), plain.entries.W
        splitting.resume(W, plain.X)
        B = warm.B if warm is not None and warm.fits(self.kept, rank) else starts.basis(self.kept, W, rank)
        lift = add_lift(splitting, B, starts.first_point(self.problem, plain, B))
        own, idle, before = np.inf, 0, self.upper
        rounds = self.plan.rounds_of(len(self.kept.block))
        for number in range(1, rounds + 1):
            self.advance(splitting, ROUND)
            last = number == rounds or idle == PATIENCE - 1
            worth = 0.0 if last else WORTH * (self.upper - self.lower)
            reached = look(lift, self.prove, self.keep, below=self.upper - worth)
            closed_little = np.isfinite(own) and own - reached < STALL * max(own - self.lower, 0.0)
            idle = idle + 1 if closed_little else 0
            # at this rate what was known before the dual began stays better
            hopeless = (
                number >= PATIENCE and reached - (rounds - number) * max(own - reached, 0.0) > self.known
            )
            own = min(own, reached)
            if self.closed or idle == PATIENCE or hopeless:
                break
        self.warmed = self.warm_of(splitting, lift.points)
        if self.upper < before:
            self.subspace = lift.B

    def no_room(self, least):
        """Tell whether bounds that are not below `least` can close hardly any of the gap."""
        return np.isfinite(least) and self.upper - least <= STALL * (self.upper - self.lower)

    def splitting(self, rho=1.0):
        return Splitting(self.kept, self.problem.size, self.problem.nonneg, rho=rho)

    # --- bounds ---------------------------------------------------------------------------------------------
    def offer_plain(self, W):
        """B5 of W, and its plain lifts."""
        self.offer(Witness(W))
        for rank in self.plan.plain:
            if not self.closed:
                self.offer(*lifted(self.kept, Witness(W), rank))

    def offer(self, witness, estimate=None, kind=None):
        """Prove the bound of a witness; keep it if it is the best."""
        self.keep(witness, self.prove(witness, estimate), kind)

    def prove(self, witness, estimate=None):
        tol, known = (1e-10, self.lower) if self.lower > 0 else (1e-3, np.inf)
        budget = Budget(tol, hopeless=self.upper, known=known, cap=self.plan.cap)
        return prove(self.problem, self.kept, witness, budget, estimate=estimate, report=self.quietly)

    def keep(self, witness, proof, kind=None):
        if proof.upper < self.upper:
            self.best, self.upper = stated(self.problem, self.kept, witness, proof, kind), proof.upper
            self.tell()

    @property
    def shown(self):
        """Return the bound of the best certificate in the units of the data, rounded up, or None."""
        return None if self.best is None else self.best.upper

    @property
    def known_upper(self) -> float | None:
        """Return the best bound by now, proved here or before, in the units of the data."""
        if self.best is None and np.isfinite(self.known):
            return self.known * self.problem.covariance.unit
        return self.shown
