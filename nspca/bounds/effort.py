"""Which bounds to try, in which order, and when to stop: the strongest certificate that an effort buys.

Order: threshold (B4) when rows are eliminated; the dual (B5) and its lift (B6); row cuts (B7, B9); then lifts whose subspace,
U and W are improved together, from several starts at rank 3, the best also at higher ranks. Stops as soon as the gap is closed. Budgets are
counts of steps that depend on the size alone, never on the clock: the same input gives the same certificate.
"""

from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from nspca.bounds import elimination, starts
from nspca.bounds.dual import Splitting
from nspca.bounds.elimination import Kept
from nspca.bounds.lift import Lift
from nspca.bounds.plan import CHEAP, PLANS, ROUND, Plan
from nspca.bounds.rowcuts import Rows
from nspca.bounds.witness import Witness, certificate, largest, lifted
from nspca.certificate import Certificate
from nspca.errors import Cancelled, InvalidOption
from nspca.linalg import Array
from nspca.problem import Problem
from nspca.progress import Event, Report, silent

CLOSED = 1e-9
"""Relative gap at which there is nothing left to do: the size of the rounding slack."""
GROW_EVERY = 5
"""Steps between two looks at the bundle of a lift."""
ONE_THREAD = 500
"""Up to this many kept rows one BLAS thread is quicker than two: the calls are small and many."""
STALL, PATIENCE = 0.02, 2
"""A lift is left when this many rounds in a row close less than this share of the gap."""
RACE, FINALISTS = 2, 2
"""Rounds after which starts are compared, and how many go on: a lift is a local optimum, so several starts pay."""


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
    """
    if effort not in PLANS:
        raise InvalidOption(f"effort must be one of {', '.join(PLANS)}, got {effort!r}")
    if problem.covariance.trace == 0.0:
        return None, None
    plan = PLANS[effort]
    run = _Run(problem, elimination.keep(problem, plan.rows), plan, max(lower, 0.0), report)
    try:
        with threadpool_limits(1 if len(run.kept.block) <= ONE_THREAD else None):
            return run.run(warm)
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
    subspace: Array | None = None
    state: Splitting | None = None
    rounds: int = 1
    total: int = ROUND

    def run(self, warm):
        problem, kept = self.problem, self.kept
        r = len(kept.block)
        self.rounds = self.plan.rounds_of(r)
        lifts = FINALISTS * len(self.plan.improved) * self.rounds
        begun = len(self.plan.parts) + self.plan.turned + (warm is not None) if r <= CHEAP else 3
        rounds = 3 + RACE * begun + lifts if self.plan.improved else 1
        self.total = ROUND * (rounds + self.rounds * (self.plan.cuts >= r))
        if r < problem.n or r == 1:
            self.offer(Witness(elimination.search_threshold(kept, problem)[1]), kind="B4")
        if r == 0:
            return self.best, None
        self.state = self.dual()
        if self.plan.cuts >= r and not self.enough:
            self.row_cuts()
        if self.plan.improved and not self.enough:
            self.improve(self.plan.improved, warm)
        return self.best, warm if self.subspace is None else Warm(kept.rows, self.subspace)

    # --- stages -------------------------------------------------------------------------------------------------------
    def dual(self):
        """B5 and plain B6, at two values of rho: a larger one often leaves a W that lifts better."""
        splitting = self.splitting()
        self.advance(splitting, self.plan.first)
        self.look(Witness(splitting.entries.W), self.plan.plain)
        if self.plan.improved and not self.enough:
            self.advance(splitting, ROUND)
            self.look(Witness(splitting.entries.W), self.plan.plain)
            other = self.splitting(rho=4.0)
            before = self.upper
            self.advance(other, ROUND)
            self.look(Witness(other.entries.W), self.plan.plain)
            splitting = other if self.upper < before else splitting
        return splitting

    def row_cuts(self):
        """B7 and B9."""
        splitting = self.splitting()
        rows = Rows(splitting, self.problem.k)
        own, idle = np.inf, 0
        for _ in range(self.rounds):
            self.advance(splitting, ROUND)
            own, idle = self.judged(own, idle, self.look(Witness(splitting.entries.W, rows.M), self.plan.plain[-1:]))
            if self.closed or idle == PATIENCE:
                return

    def improve(self, ranks, warm):
        """Lifts from several subspaces of the first rank; after a short race the best go on and are widened to the other ranks."""
        racers = []
        last = warm.B if warm is not None and np.array_equal(warm.rows, self.kept.rows) else None
        for B in starts.subspaces(self.kept, self.state.entries.W, min(ranks[0], len(self.kept.block)), self.plan, last):
            splitting = self.splitting()
            splitting.resume(self.state.entries.W, self.state.X)
            lift = Lift(splitting, B, starts.first_point(self.problem, self.state, B), self.problem.k, self.problem.nonneg)
            racers.append((self.while_it_gains(splitting, lift, RACE), len(racers), splitting, lift))
            if self.closed:
                break
        reached = []
        for _, number, splitting, lift in sorted(racers)[:FINALISTS]:
            if not self.closed:
                reached.append((self.while_it_gains(splitting, lift, self.rounds), number, splitting, lift))
        self.state, self.subspace = min(reached or racers)[2], min(reached or racers)[3].B
        for rank in ranks[1:]:
            for _, _, splitting, lift in sorted(reached):
                if self.closed or rank > len(self.kept.block):
                    return
                lift.widen(starts.basis(self.kept, splitting.entries.W, rank))
                self.while_it_gains(splitting, lift, self.rounds)

    def while_it_gains(self, splitting, lift, rounds):
        """Rounds of steps and a look, until the gap hardly closes; the best bound of them."""
        own, idle = np.inf, 0
        for _ in range(rounds):
            self.advance(splitting, ROUND, lift)
            own, idle = self.judged(own, idle, self.look_at_lift(splitting, lift))
            if self.closed or idle == PATIENCE:
                break
        return own

    def judged(self, own, idle, reached):
        """The best bound so far and the number of rounds in a row that closed little of the gap."""
        idle = idle + 1 if own - reached < STALL * max(own - self.lower, 0.0) else 0
        return min(own, reached), idle

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
        W, rank = splitting.entries.W, lift.B.shape[1]
        joint = Witness(W, U=lift.U)
        plain, left = lifted(self.kept, Witness(W), rank)
        found = []
        for witness, estimate, own in ((joint, largest(self.kept, joint), lift), (plain, left, None)):
            promise = estimate + lift.value(witness.U)
            found.append(self.offer(witness, estimate, own) if promise < self.upper else promise)
        if plain.U.shape[1] == rank:
            lift.rebase(np.linalg.qr(plain.U)[0])
        return min(found)

    def offer(self, witness, estimate=None, lift=None, kind=None):
        """Prove the bound of a witness; keep it if it is the best."""
        gap = (self.upper - self.lower) / self.upper if np.isfinite(self.upper) else 1e-2
        options = {"tol": float(np.clip(gap / 20, 1e-9, 1e-3)), "cap": self.plan.cap, "report": self.quietly}
        made, cover = certificate(self.problem, self.kept, witness, kind=kind, estimate=estimate, **options)
        if lift is not None and cover.direction.size == lift.U.shape[1] + 1:
            lift.grow(cover.direction[:, None])
        upper = float(made.witness["claims"].sum())
        if upper < self.upper:
            self.best, self.upper = made, upper
            self.tell()
        return upper

    @property
    def enough(self):
        return self.upper <= self.lower * (1 + max(self.plan.enough, CLOSED))

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
