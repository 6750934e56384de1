"""Find the strongest certificate that an effort buys: the bounds to try, their order, and when to stop.

The order is threshold (B4) when rows are eliminated, then the dual (B5) and its lift (B6). With few
features the search that fixes features and branches follows (B8, `fixing`). With many features W, M, U and
the subspace are improved together (B6 until the row cuts begin, then B9), once for each rank. The search then
begins with that witness if it fixes anything. Everything stops as soon as the gap is closed.

Budgets are counts of steps that depend on the size alone, never on the clock, so the same input gives the
same certificate. Only `Limits` of a caller may name seconds.

`nspca.proving` calls `strongest` for `solve`, `certify` and every k of a sweep, after cheaper bounds.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from nspca.bounds import core, elimination
from nspca.bounds.dual import starts
from nspca.bounds.dual.lift import Lift, add_lift
from nspca.bounds.dual.rounds import Work, look
from nspca.bounds.dual.splitting import Splitting
from nspca.bounds.elimination import Kept
from nspca.bounds.fixing.arrays import unpacked
from nspca.bounds.fixing.ground import Ground
from nspca.bounds.fixing.lifts import RANK
from nspca.bounds.fixing.node import Node, Supports
from nspca.bounds.fixing.node import Warm as Known
from nspca.bounds.fixing.stages import fixable
from nspca.bounds.fixing.stored import Stored
from nspca.bounds.fixing.tasks import ROUNDS, Task
from nspca.bounds.fixing.tree import FixingTree, Limits
from nspca.bounds.plan import BRANCHED, CLOSED, PLANS, ROUND, Plan, plan_in_parts
from nspca.bounds.remainder import Remainder
from nspca.bounds.witness import Proof, Witness, lifted, prove, stated
from nspca.certificate import Certificate
from nspca.covariance.covariance import DENSE_LIMIT
from nspca.covariance.linalg import Array, largest_eigenpairs, one_thread
from nspca.covariance.parts import Parts
from nspca.errors import Cancelled, InvalidOption
from nspca.local_search import single as ascent
from nspca.lowrank.cones import Budget
from nspca.problem import Problem
from nspca.progress import Event, Report, silent

LEFT_OUT = 0.4
"""Maximum share of the value that k times the largest eliminated entry may reach."""
WORTH = 0.3
"""Share of the gap that a lift must promise to close before it is searched. In what may be the last round,
any promise is searched.
"""
ROOT_RANK, ROOT_ROUNDS = 3, 20
"""Rank of the first lift of a tree on few features, and rounds of steps at its root."""
UNDECIDED, WIDE = 0.7, 400
"""A tree begins in a lift that may leave at most `BRANCHED` features undecided. With at most WIDE kept rows,
the share UNDECIDED of these is few enough.
"""
NEARLY = 1e-6
"""Relative gap below which no lift follows a tree. It would close little more, in ten times the work."""
STALL, PATIENCE = 0.02, 4
"""A lift ends when PATIENCE rounds in a row close less than the share STALL of the gap. The bound loosens for
a while when the row cuts begin, hence several rounds.
"""
PROMISING = 0.75
"""Safe elimination is tried besides cores if k times its largest eliminated entry is at most this share of
the value.
"""
LIKELY = 0.97
"""Assumed value when none is known, relative to the bound with an empty core."""
QUICK = PLANS["fast"]
"""Plan that each core is tried with, before the best core gets the plan of its effort."""
FOLLOWED = 5
"""Number of eigenvectors from which the weights of features outside a core are chosen."""


@dataclass(frozen=True, eq=False)
class Warm:
    """Starting point for a neighbouring k: the subspace B (r, d) of the best lift, and its kept rows.

    W is not included, since the W of another k makes the lift looser.
    """

    rows: np.ndarray | None
    B: Array

    def fits(self, kept: Kept, rank: int) -> bool:
        """Tell whether a lift of this rank on the kept rows can start from this subspace."""
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
) -> tuple[Certificate | None, Warm | None, Array | None]:
    """Return the best certificate that `effort` buys, and a start for a neighbouring k.

    Its kind is B4 to B9, or B0 where all k features are forced.

    Parameters
    ----------
    problem : Problem
    lower : float
        The best known value, in unit scale; 0 for none. It decides when to stop and how finely to search.
    effort : "fast" (a fraction of a second on small tables), "standard" (seconds) or "thorough" (minutes)
    report : callable
        Gets an `Event` of stage "dual" every few steps; raises `Cancelled` to stop. The exception then
        carries the best certificate.
    warm : Warm, optional
        Starting point from the k before.
    known : float
        A bound that is already proved, in unit scale. Work that cannot improve it is left out.
    limits : Limits, optional
        Limits of the search that branches, instead of those of the plan.
    resume : dict of ndarray, optional
        Arrays of the tree of a search on this problem (a certificate of the form "fixing"), to continue.
    branching : bool
        Whether features may be fixed and supports branched on. If not, the certificate has the form
        "inequality".

    Returns
    -------
    certificate : Certificate or None
        None when A is zero, when more features are forced than rows may be kept, and when no bound is better
        than `known`. With `limits` it also holds the tree of an unfinished search, whatever its bound.
    warm : Warm or None
    point : (n,) ndarray or None
        A component better than `lower`, if the search found one.
    """
    if effort not in PLANS:
        raise InvalidOption(f"effort must be one of {', '.join(PLANS)}, got {effort!r}")
    plan = PLANS[effort] if branching else replace(PLANS[effort], branching=0.0, eigenvalues=0.0)
    if problem.covariance.trace == 0.0 or len(problem.forced) > plan.rows[-1]:
        return None, None, None
    # The matrices are small: several BLAS threads would spend most time waiting for each other.
    with one_thread():
        searched = limits is not None or resume is not None  # a tree works on rows without weights
        if not searched and core.pays(problem, plan.rows, LEFT_OUT * lower, lower):
            A = problem.covariance
            if isinstance(A, Parts) and core.few_in_reach(A):
                plan = plan_in_parts(effort, int(A.rows.counts.sum()))
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
    """Tries dense cores with weights for the other features, and improves the bound of the best core.

    Attributes
    ----------
    upper : float
        The smallest proved bound, in unit scale.
    best : Certificate or None
        Certificate of `upper`, if better than the bound known before.
    aim : float
        The best known value, or a likely one.
    steps : int
        Number of steps of earlier cores.
    """

    problem: Problem
    plan: Plan
    lower: float
    report: Report
    upper: float
    best: Certificate | None = None
    aim: float = 0.0
    steps: int = 0

    def run(self) -> tuple[Certificate | None, None, Array | None]:
        """Return the best certificate, None and a better component, as `strongest` does."""
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
            point = self.improve(min(tried, key=lambda one: one[0])[1], remainder)
        return self.best, None, point

    def improve(self, run: "_Run", remainder: Remainder) -> Array | None:
        """Give the rows of a run all steps of the effort, and return a better component or None."""
        kept = run.kept
        if kept.weights is not None:
            share = core.SHARE if core.few_in_reach(self.problem.covariance) else core.LIFTED_SHARE
            v, t = directions(kept, run.best), self.first_claim(kept.floor, share)
            kept = core.with_core(self.problem, remainder, kept.features, kept.floor, t, v) or kept
        last = self.prove(kept, self.plan)
        return None if last is None else last.point

    def eliminated(self) -> Kept | None:
        """Return the kept rows of safe elimination if it may work well (see `PROMISING`), else None."""
        rows = self.plan.rows[-1]
        if core.few_in_reach(self.problem.covariance) and self.best is not None:
            return None  # a core leaves out less
        if not elimination.leaves_out_little(self.problem, rows, PROMISING * self.lower):
            return None
        return elimination.keep(self.problem, rows)

    @property
    def closed(self) -> bool:
        """Tell whether the gap is closed."""
        return self.upper <= self.lower * (1 + CLOSED)

    def first_claim(self, tau: float, share: float = core.SHARE) -> float:
        """Return the first spectral claim t for a threshold tau (see `core.SHARE`)."""
        return share * (self.aim - self.problem.size * tau)

    def prove(self, kept: Kept | None, plan: Plan) -> "_Run | None":
        """Run a plan on some kept rows, keep its certificate if it is the best, and return the run.

        None without kept rows.
        """
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
        """Report an event of one core, with the best bound and the steps of all cores so far."""
        before = None if self.best is None else self.best.upper
        known = [bound for bound in (event.upper, before) if bound is not None]
        upper, done, total = min(known, default=None), self.steps + event.done, self.steps + event.total
        self.report(replace(event, upper=upper, done=done, total=total))


def directions(kept: Kept, certificate: Certificate | None) -> Array | None:
    """Return the root mean square pattern (r,) of the leading eigenvectors of ``A - W - sym(M) - UU'``.

    The weights of features outside a core are chosen for this vector.
    """
    if certificate is None or not len(kept.block):
        return None
    witness = Witness(*(certificate.witness.get(name) for name in ("W", "M", "U")))
    R = witness.remainder(kept)
    if witness.U is not None:
        R -= witness.U @ witness.U.T
    vectors = largest_eigenpairs(R, min(FOLLOWED, len(R)))[1]
    return np.sqrt(np.einsum("ij,ij->i", vectors, vectors))


def kept_rows(problem: Problem, plan: Plan, lower: float, known: float) -> Kept | None:
    """Return the kept rows of safe elimination; None if no bound with them can be below `known`.

    The number of rows grows with k, so that eliminated entries do not determine tau.
    """
    kept = elimination.keep(problem, elimination.enough_rows(problem, plan.rows, LEFT_OUT * lower))
    return kept if least(problem, kept) < known else None


def least(problem: Problem, kept: Kept) -> float:
    """Return a lower limit of all bounds with these kept rows.

    For any W, tau is at least the floor, so the search half is at least k times the floor.
    """
    return -np.inf if kept.rows is None or not kept.free else problem.size * kept.floor + kept.outside


@dataclass(eq=False, kw_only=True)
class _Run(Work[Plan]):
    """The search for the best certificate on some kept rows.

    Attributes
    ----------
    known : float
        Bound known before, in unit scale.
    best : Certificate or None
        Certificate of `upper`, if better than `known`.
    point : (n,) float64 or None
        A component better than the best value known before.
    subspace : (r, d) float64 or None
        Subspace of the best lift.
    limits, resumed
        Arguments `limits` and `resume` of `strongest`.
    decisive : Stored or None
        Witness that decides many features, with which a tree begins.
    unfinished : Certificate or None
        Certificate of the last tree, if its bound is worse than `upper`.
    """

    stage = "dual"
    kept: Kept
    known: float = np.inf
    best: Certificate | None = None
    point: Array | None = None
    subspace: Array | None = None
    limits: Limits | None = None
    resumed: dict[str, np.ndarray] | None = None
    decisive: Stored | None = None
    unfinished: Certificate | None = None

    @property
    def with_tree(self) -> Certificate | None:
        """The best certificate, with the tree of an unfinished search in it."""
        if self.unfinished is None:
            return self.best
        if self.best is None:
            return self.unfinished
        return self.best.with_unfinished(self.unfinished.witness)

    def run(self, warm: Warm | None) -> Warm | None:
        """Search for the best certificate; return the starting point for a neighbouring k."""
        problem, kept, self.began = self.problem, self.kept, time.monotonic()
        if self.resumed is not None:
            self.go_on(self.resumed)
            return None
        r = len(kept.block)
        ranks, rounds = self.plan.ranks, self.plan.rounds_of(r)
        ranks = ranks[:1] if rounds < self.plan.rounds else ranks
        self.total = ROUND * (1 if not ranks else 3 + len(ranks) * rounds)
        if 1 < problem.n <= BRANCHED and self.plan.eigenvalues:
            if self.lower == 0.0:  # without a known value hardly any part of the supports can be closed
                self.point = ascent.swaps(problem, ascent.polish(problem, ascent.first_feature(problem)))
                self.lower = problem.covariance.quadratic(self.point)
            self.search(None, work=self.plan.eigenvalues)
            if self.closed:
                return None
        if r < problem.n or r == 1:
            self.offer(Witness(elimination.search_threshold(kept, problem)[1]), kind="B4")
        if r == 0 or self.no_room(least(problem, kept)):
            return None
        if kept.fixed == problem.size:  # all features are forced, so the eigenvalue is a good bound
            self.offer(Witness(), kind="B0")
        if not self.kept.leading[0][0] > 0:  # A is zero on the kept rows
            self.offer(Witness())
            return None
        plain = self.dual()
        at_once = 1 < problem.n <= max(BRANCHED, self.plan.whole) or (self.limits is not None and r > 1)
        if at_once and self.plan.branching and not self.closed:
            self.search(self.first(plain), self.warm_of(plain), ROOT_ROUNDS)
            nearly = self.upper <= self.lower * (1 + NEARLY)
            if nearly or self.limits is not None or problem.n <= BRANCHED:
                return warm
        for rank in ranks:
            if not self.closed:
                self.lift(plain, min(rank, r), warm)
        return warm if self.subspace is None else Warm(kept.rows, self.subspace)

    # --- stages ---------------------------------------------------------------------------------------------
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

    def begins(self, witness: Witness, t: float, warm: Known) -> bool:
        """Tell by a cheap test whether a tree begins with a witness of the lift, and keep it if so.

        It does if the witness may leave few features undecided (see `fixing.stages.fixable`).
        """
        ground, stored = Ground.of(self.problem, self.kept), Stored.of(self.kept.features, witness)
        forced = np.array(self.problem.forced, dtype=np.int64)
        supports = Supports(forced, np.setdiff1d(ground.everything, forced), self.problem.size)
        task = Task(supports, stored, warm, self.lower, self.gap, self.plan)
        left = supports.possible.size - fixable(ground, task, t)
        rows = len(self.kept.block)
        most = max(BRANCHED, UNDECIDED * rows) if rows <= WIDE else BRANCHED
        self.decisive = stored if left <= most else None
        return self.decisive is not None

    def search(
        self,
        witness: Stored | None,
        warm: Known | None = None,
        rounds: int = 0,
        work: float = 0.0,
    ) -> None:
        """Begin a tree from a witness, run the tree, and take over its bound, even when cancelled.

        The arguments are those of `FixingTree.begin`; without `rounds` only the root is settled.
        """
        tree = self.tree(self.kept)
        with self.taking(tree):
            tree.begin(witness, warm, rounds, work)
            if rounds and tree.root is not None:
                tree.run()

    def go_on(self, arrays: dict[str, np.ndarray]) -> None:
        """Continue the tree of an unfinished search, given by the arrays of its certificate."""
        problem, forced = self.problem, np.array(self.problem.forced, dtype=np.int64)
        supports = Supports(forced, np.setdiff1d(problem.usable, forced), problem.size)
        root = unpacked(arrays, supports, problem.nonneg)
        tree = self.tree(self.rows_of(root))
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
        if features.size > DENSE_LIMIT:  # too many: keep the rows of this run, as when the tree began
            into = np.unique(np.concatenate([none, *(one.certain for one in left)]))
            features = np.union1d(into, self.kept.features)
            return replace(self.kept, rows=features, block=self.problem.covariance.block(features), fixed=0)
        return Kept(features, self.problem.covariance.block(features), 0.0)

    def tree(self, kept: Kept) -> FixingTree:
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
            raised=self.limits is not None or BRANCHED < len(kept.block) <= self.plan.whole,
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

    def first(self, plain: Splitting) -> Stored | None:
        """Return the W of `plain`, the splitting of `dual`, with a lift, in the form that a tree stores."""
        witness, _ = lifted(self.kept, Witness(plain.entries.W), ROOT_RANK)
        return Stored.of(self.kept.features, witness)

    def warm_of(self, splitting: Splitting, points: Array | None = None, lift: Lift | None = None) -> Known:
        """Return the state of a splitting, and of its lift, as a starting point for a tree."""
        vectors = splitting.vectors.astype(np.float64)
        points = np.zeros((len(vectors), 0)) if points is None else points
        return Known(self.kept.features, np.asarray(splitting.weights, np.float64), vectors, points, lift)

    def lift(self, plain: Splitting, rank: int, warm: Warm | None) -> None:
        """Try B6, then B9: rounds of steps, each followed by an evaluation, until the gap hardly closes.

        `plain` is the splitting of `dual`, whose W and X are the starting point. So is the subspace of `warm`
        if it fits. Where a witness decides many features, a tree goes on with the lift.
        """
        splitting, W = self.splitting(), plain.entries.W
        splitting.resume(W, plain.X)
        B = warm.B if warm is not None and warm.fits(self.kept, rank) else starts.basis(self.kept, W, rank)
        lift = add_lift(splitting, B, starts.first_point(self.problem, plain, B))
        own, idle, before = np.inf, 0, self.upper
        rounds = self.plan.rounds_of(len(self.kept.block))
        may_begin = self.plan.branching > 0 and self.kept.weights is None and self.lower > 0 and rank <= RANK

        def enough(witness: Witness, t: float) -> bool:
            known = self.warm_of(splitting, lift.points, lift)
            return may_begin and self.begins(witness, t, known)

        for number in range(1, rounds + 1):
            self.advance(splitting, ROUND)
            last = number == rounds or idle == PATIENCE - 1
            worth = 0.0 if last else WORTH * (self.upper - self.lower)
            reached = look(lift, self.prove, self.keep, self.upper - worth, enough)
            if self.decisive is not None:
                break
            closed_little = np.isfinite(own) and own - reached < STALL * max(own - self.lower, 0.0)
            idle = idle + 1 if closed_little else 0
            # at this rate the bound known before stays better
            hopeless = (
                number >= PATIENCE and reached - (rounds - number) * max(own - reached, 0.0) > self.known
            )
            own = min(own, reached)
            if self.closed or idle == PATIENCE or hopeless:
                break
        if self.decisive is not None:
            self.search(self.decisive, self.warm_of(splitting, lift.points, lift), ROUNDS)
            self.decisive = None
        elif self.upper < before:
            self.subspace = lift.B

    def no_room(self, least: float) -> bool:
        """Tell whether bounds of at least `least` can hardly reduce the gap."""
        return np.isfinite(least) and self.upper - least <= STALL * (self.upper - self.lower)

    def splitting(self, rho: float = 1.0) -> Splitting:
        """Return a new splitting on the kept rows, with penalty `rho` relative to the largest eigenvalue."""
        return Splitting(self.kept, self.problem.size, self.problem.nonneg, rho=rho)

    # --- bounds ---------------------------------------------------------------------------------------------
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

    @property
    def shown(self) -> float | None:
        """Bound of the best certificate in the units of the data, or None."""
        return None if self.best is None else self.best.upper

    @property
    def known_upper(self) -> float | None:
        """Best bound so far, proved here or known before, in the units of the data."""
        if self.best is None and np.isfinite(self.known):
            return self.known * self.problem.covariance.unit
        return self.shown
