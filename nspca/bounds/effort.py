"""Which bounds to try, in which order, and when to stop: the strongest certificate that an effort buys.

Order: threshold (B4) when rows are eliminated; the dual (B5) and its lift (B6). Then, with few features, the search over supports
(B8) with all of it at its nodes; with many, W, M, U and its subspace improved together (B6 until the row cuts begin, then B9), once for
each rank. Stops as soon as the gap is closed. Budgets are counts of steps that depend on the size alone, never on the clock: the
same input gives the same certificate.
"""

from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from nspca.bounds import elimination, starts
from nspca.bounds.branches import Tree
from nspca.bounds.dual import Splitting
from nspca.bounds.elimination import Kept
from nspca.bounds.lift import Lift
from nspca.bounds.plan import BRANCHED, GROW_EVERY, PLANS, ROUND, Plan
from nspca.bounds.witness import Witness, certificate, largest, lifted
from nspca.certificate import Certificate
from nspca.cones import Stop
from nspca.errors import Cancelled, InvalidOption
from nspca.linalg import Array
from nspca.problem import Problem
from nspca.progress import Event, Report, silent

CLOSED = 1e-9
"""Relative gap at which there is nothing left to do: the size of the rounding slack."""
STALL, PATIENCE = 0.02, 4
"""A lift is left when this many rounds in a row close less than this share of the gap; it loosens for a while when its cuts begin."""


@dataclass(frozen=True, eq=False)
class Warm:
    """What one k leaves for the next: the subspace of its best lift and the rows it speaks of.

    W is not handed on: for the next k it makes B5 quicker and its lift looser.
    """

    rows: np.ndarray | None
    B: Array


def strongest(problem: Problem, lower: float, effort: str = "standard", report: Report = silent, warm: Warm | None = None):
    """The best certificate of kinds B4 to B9 that `effort` buys, and a warm state for a neighbouring k.

    Parameters
    ----------
    problem : Problem
    lower : float
        A value known to be reached, in unit scale (0: none). It only says when to stop and how finely to search.
    effort : "fast" (less than the solve), "standard" (seconds) or "thorough" (minutes)
    report : callable
        Gets an `Event` of stage "dual" every few steps; raises `Cancelled` to stop, which then carries the best certificate.
    warm : Warm, optional
        From the k before.

    Returns
    -------
    certificate : Certificate or None
        None when A is zero, where the elementary bounds are exact.
    warm : Warm or None
    point : (n,) ndarray or None
        A component better than `lower`, if the search came upon one.
    """
    if effort not in PLANS:
        raise InvalidOption(f"effort must be one of {', '.join(PLANS)}, got {effort!r}")
    if problem.covariance.trace == 0.0:
        return None, None, None
    plan = PLANS[effort]
    run = _Run(problem, elimination.keep(problem, plan.rows), plan, max(lower, 0.0), report)
    try:
        with threadpool_limits(1):  # the calls are small and many: more BLAS threads wait for each other longer than they work
            return *run.run(warm), run.point
    except Cancelled as stop:
        stop.best = run.best
        raise


@dataclass(eq=False)
class _Run:
    problem: Problem
    kept: Kept
    plan: Plan
    lower: float
    report: Report
    best: Certificate | None = None
    upper: float = np.inf  # of `best`, in unit scale
    steps: int = 0
    point: Array | None = None
    subspace: Array | None = None
    state: Splitting | None = None
    total: int = ROUND

    def run(self, warm):
        problem, kept = self.problem, self.kept
        r = len(kept.block)
        self.total = ROUND * (1 if not self.plan.ranks else 3 + len(self.plan.ranks) * self.plan.rounds)
        small = kept.rows is None and 1 < r <= BRANCHED
        if small and self.search(lambda tree: tree.by_eigenvalues()):
            return self.best, None
        if r < problem.n or r == 1:
            self.offer(Witness(elimination.search_threshold(kept, problem)[1]), kind="B4")
        if r == 0:
            return self.best, None
        self.state = self.dual()
        if small and self.plan.branching and not self.closed:
            self.search(lambda tree: tree.run(self.state.entries.W, self.state.X))
            return self.best, warm
        for number, rank in enumerate(self.plan.ranks):
            if self.upper > self.lower * (1 + (self.plan.enough if number else CLOSED)):
                self.lift(min(rank, r), warm)
        return self.best, warm if self.subspace is None else Warm(kept.rows, self.subspace)

    # --- stages -------------------------------------------------------------------------------------------------------
    def dual(self):
        """B5 and plain B6, at two values of rho: a larger one often leaves a W that lifts better."""
        splitting = self.splitting()
        self.advance(splitting, self.plan.first)
        self.look(Witness(splitting.entries.W), self.plan.plain)
        if self.plan.ranks and not self.closed:
            self.advance(splitting, ROUND)
            self.look(Witness(splitting.entries.W), self.plan.plain)
            other = self.splitting(rho=4.0)
            before = self.upper
            self.advance(other, ROUND)
            self.look(Witness(other.entries.W), self.plan.plain)
            splitting = other if self.upper < before else splitting
        return splitting

    def search(self, work):
        """B8; whether it came to an end. Its tree is worth having even when it is cancelled."""
        tree = Tree(self.problem, self.plan, self.lower, CLOSED, self.report)
        try:
            return work(tree)
        finally:
            self.lower, self.steps = tree.lower, self.steps + tree.steps
            self.point = self.point if tree.point is None else tree.point
            if tree.proved < self.upper:
                self.best, self.upper = tree.certificate(), tree.proved
                self.tell()

    def lift(self, rank, warm):
        """B6, then B9: rounds of steps and a look, until the gap hardly closes. It begins where the k before ended, if there was one."""
        splitting, W, X = self.splitting(), self.state.entries.W, self.state.X
        splitting.resume(W, X)
        known = warm is not None and np.array_equal(warm.rows, self.kept.rows) and warm.B.shape[1] == rank
        B = warm.B if known else starts.basis(self.kept, W, rank)
        lift = Lift(splitting, B, starts.first_point(self.problem, self.state, B), self.problem.k, self.problem.nonneg)
        own, idle, before = np.inf, 0, self.upper
        for _ in range(self.plan.rounds):
            self.advance(splitting, ROUND, lift)
            reached = self.look_at_lift(splitting, lift)
            idle = idle + 1 if own - reached < STALL * max(own - self.lower, 0.0) else 0
            own = min(own, reached)
            if self.closed or idle == PATIENCE:
                break
        if self.upper < before:
            self.subspace = lift.B

    def splitting(self, rho=1.0):
        return Splitting(self.kept, self.problem.k, self.problem.nonneg, rho=rho)

    # --- steps and looks ----------------------------------------------------------------------------------------------
    def advance(self, splitting, steps, lift=None):
        for _ in range(steps):
            splitting.step()
            self.steps += 1
            if lift is not None and self.steps % GROW_EVERY == 0:
                lift.grow()
            if self.steps % GROW_EVERY == 0:
                self.tell()

    def look(self, witness, ranks):
        """The witness as it is and lifted; the smallest bound found."""
        found = [self.offer(witness)]
        for rank in ranks:
            if not self.closed:
                found.append(self.offer(*lifted(self.kept, witness, rank)))
        return min(found)

    def look_at_lift(self, splitting, lift):
        """The lift as it is and the plain lift of its W, whose subspace it goes on with.

        The bundle is never above the search half: what it already puts above the best bound is not searched.
        """
        base, rank = Witness(splitting.entries.W, lift.M), lift.B.shape[1]
        joint = Witness(base.W, base.M, lift.U)
        plain, left = lifted(self.kept, base, rank)
        found = []
        for witness, estimate, own in ((joint, largest(self.kept, joint), lift), (plain, left, None)):
            promise = estimate + lift.value(witness.U)
            found.append(self.offer(witness, estimate, own) if promise < self.upper else promise)
        if plain.U.shape[1] == rank:
            lift.rebase(np.linalg.qr(plain.U)[0])
        return min(found)

    def offer(self, witness, estimate=None, lift=None, kind=None):
        """Prove the bound of a witness; keep it if it is the best."""
        stop = Stop(hopeless=self.upper, known=self.lower) if self.lower > 0 else Stop(hopeless=self.upper)
        options = {"tol": 1e-10 if self.lower > 0 else 1e-3, "stop": stop, "cap": self.plan.cap, "report": self.quietly}
        made, cover = certificate(self.problem, self.kept, witness, kind=kind, estimate=estimate, **options)
        if lift is not None and cover.direction.size == lift.U.shape[1] + 1:
            lift.grow(cover.direction[:, None])
        upper = float(made.witness["claims"].sum())
        if upper < self.upper:
            self.best, self.upper = made, upper
            self.tell()
        return upper

    @property
    def closed(self):
        return self.upper <= self.lower * (1 + CLOSED)

    def quietly(self, event):
        """Searches may be cancelled, but only the dual's own events say where the work stands."""
        self.tell()

    def tell(self):
        unit = self.problem.covariance.unit
        upper = None if self.best is None else self.best.upper
        self.report(Event("dual", self.steps, max(self.total, self.steps), self.lower * unit, upper, self.problem.k))
