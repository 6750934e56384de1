"""Which bounds to try, in which order, and when to stop: the strongest certificate that an effort buys.

Order: threshold (B4) when rows are eliminated; the dual (B5) and its lift (B6); row cuts (B7, B9); then lifts whose subspace,
U and W are improved together, from two starts at rank 3 and at higher ranks. Stops as soon as the gap is closed. Budgets are
counts of steps that depend on the size alone, never on the clock: the same input gives the same certificate.
"""

from dataclasses import dataclass

import numpy as np

from nspca.bounds import elimination
from nspca.bounds.dual import Splitting
from nspca.bounds.elimination import Kept
from nspca.bounds.lift import Lift, climb
from nspca.bounds.rowcuts import Rows
from nspca.bounds.witness import Witness, certificate, largest, lifted
from nspca.certificate import Certificate
from nspca.errors import InvalidOption
from nspca.linalg import Array
from nspca.problem import Problem
from nspca.progress import Event, Report, silent

CLOSED = 1e-9
"""Relative gap at which there is nothing left to do: the size of the rounding slack."""
ROUND = 40
"""Steps between two evaluations; plain ADMM has nearly converged after one or two rounds."""
GROW_EVERY = 5
"""Steps between two looks at the bundle of a lift."""
OVERHEAD = 3e4
"""A step costs r^2 entries and about as much as this many more, whatever r is."""
STALL = 0.02
"""A lift is left when a round closes less than this share of the gap, twice in a row."""


@dataclass(frozen=True)
class Plan:
    """What an effort allows: most kept rows, work in entries, ranks of plain and improved lifts, cones per search."""

    rows: int
    work: float
    rounds: tuple[int, int]
    plain: tuple[int, ...]
    improved: tuple[int, ...]
    cuts: int
    cap: int

    def rounds_of(self, r: int) -> int:
        """Most rounds of `ROUND` steps that one lift, or the row cuts, may take with r kept rows."""
        low, high = self.rounds
        return int(np.clip(self.work / (ROUND * (r * r + OVERHEAD)), low, high))


PLANS = {
    "fast": Plan(rows=400, work=5e6, rounds=(1, 2), plain=(2,), improved=(), cuts=0, cap=500),
    "standard": Plan(rows=800, work=2e7, rounds=(3, 8), plain=(1, 3), improved=(3,), cuts=100, cap=3000),
    "thorough": Plan(rows=1000, work=2e8, rounds=(8, 40), plain=(1, 3), improved=(3, 4, 5), cuts=1000, cap=20000),
}


@dataclass(frozen=True, eq=False)
class Warm:
    """What one k leaves for the next: rows, W, X and the subspace of the best lift."""

    rows: np.ndarray | None
    W: Array
    X: Array
    B: Array | None


def strongest(problem: Problem, lower: float, effort: str = "standard", report: Report = silent, warm: Warm | None = None):
    """The best certificate of kinds B4 to B9 that `effort` buys, and a warm state for a neighbouring k.

    Parameters
    ----------
    problem : Problem
    lower : float
        A value known to be reached, in unit scale (0: none). It only says when to stop and how finely to search.
    effort : "fast" (less than the solve), "standard" (seconds) or "thorough" (minutes)
    report : callable
        Gets an `Event` of stage "dual" every few steps; raises `Cancelled` to stop.
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
    return _Run(problem, elimination.keep(problem, plan.rows), plan, max(lower, 0.0), report).run(warm)


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
        parts = bool(self.plan.improved) * (len(self.plan.improved) + 1 + (warm is not None)) + (self.plan.cuts >= r)
        self.total = ROUND * (3 if self.plan.improved else 1) + ROUND * self.rounds * parts
        if r < problem.n or r == 1:
            self.offer(Witness(elimination.search_threshold(kept, problem)[1]), kind="B4")
        if r == 0:
            return self.best, None
        self.state = self.dual(warm)
        if self.plan.cuts >= r and not self.closed:
            self.row_cuts()
        if self.plan.improved and not self.closed:
            self.improve(self.plan.improved, warm)
        entries = self.state.entries
        return self.best, Warm(kept.rows, entries.W, self.state.X, self.subspace)

    # --- stages -------------------------------------------------------------------------------------------------------
    def dual(self, warm):
        """B5 and plain B6, at two values of rho: a larger one often leaves a W that lifts better."""
        splitting = self.splitting()
        if warm is not None and np.array_equal(warm.rows, self.kept.rows):
            splitting.resume(warm.W, warm.X)
        self.advance(splitting, ROUND)
        self.look(Witness(splitting.entries.W), self.plan.plain)
        if self.plan.improved and not self.closed:
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
        self.while_it_gains(splitting, lambda: self.look(Witness(splitting.entries.W, rows.M), self.plan.plain[-1:]))

    def improve(self, ranks, warm):
        """Lifts from several subspaces of the first rank; the best of them is widened to the others."""
        first = min(ranks[0], len(self.kept.block))
        starts = [self.basis(self.state.entries.W, first), self.kept.leading[1][:, :first]]
        if warm is not None and warm.B is not None and warm.B.shape == starts[0].shape:
            starts.append(warm.B)
        reached = []
        for basis in starts:
            splitting = self.splitting()
            splitting.resume(self.state.entries.W, self.state.X)
            lift = Lift(splitting, basis, self.points(basis), self.problem.k, self.problem.nonneg)
            found = self.while_it_gains(splitting, lambda s=splitting, l=lift: self.look_at_lift(s, l), lift)
            reached.append((found, len(reached), splitting, lift))
            if self.closed:
                break
        _, _, splitting, lift = min(reached)
        self.state, self.subspace = splitting, lift.B
        for rank in ranks[1:]:
            if self.closed or rank > len(self.kept.block):
                return
            lift.widen(self.basis(splitting.entries.W, rank))
            self.while_it_gains(splitting, lambda: self.look_at_lift(splitting, lift), lift)

    def while_it_gains(self, splitting, look, lift=None):
        """Rounds of steps and a look, until two in a row close little of the gap; the best bound of them."""
        own, idle = np.inf, 0
        for _ in range(self.rounds):
            self.advance(splitting, ROUND, lift)
            reached = look()
            idle = idle + 1 if own - reached < STALL * max(own - self.lower, 0.0) else 0
            own = min(own, reached)
            if self.closed or idle == 2:
                break
        return own

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
        W, rank = splitting.entries.W, lift.B.shape[1]
        joint = Witness(W, U=lift.U)
        estimate = largest(self.kept, joint)
        found = np.inf
        # The bundle cannot be above the search half: no need to search for what will not be better.
        if estimate + lift.value() < self.upper:
            found = self.offer(joint, estimate, lift)
        plain, left = lifted(self.kept, Witness(W), rank)
        found = min(found, self.offer(plain, left))
        if plain.U.shape[1] == rank:
            lift.rebase(np.linalg.qr(plain.U)[0])
        return found

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

    def points(self, basis):
        """First points of a bundle: what climbs reach in a subspace with the dual's prices."""
        entries = self.state.entries
        shadow = basis.T @ (self.kept.block - entries.W) @ basis
        values, vectors = np.linalg.eigh((shadow + shadow.T) / 2)
        U = basis @ (vectors * np.sqrt(np.maximum(values, 0.0)))
        C = np.random.default_rng(0).standard_normal((basis.shape[1] + 1, 8))
        X, values = climb(U, np.sqrt(entries.tau), self.problem.k, self.problem.nonneg, C)
        return X[:, [int(np.argmax(values))]]

    def basis(self, W, rank):
        U = lifted(self.kept, Witness(W), rank)[0].U
        padded = np.column_stack((U, np.eye(len(U))[:, :rank]))
        return np.linalg.qr(padded)[0][:, :rank]

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
