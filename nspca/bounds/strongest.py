"""Find the strongest certificate that an effort buys: on dense cores, or on the rows of safe elimination.

Where safe elimination leaves too many rows, each core is tried with the plan of effort "fast", and the best
core then gets all steps of its effort. `bound_search` has the bounds to try on some rows, their order, and
when to stop. Budgets are counts of steps that depend on the size alone, never on the clock, so the same input
gives the same certificate. Only `Limits` of a caller may name seconds.

`nspca.proving` calls `strongest` for `solve`, `certify` and every k of a sweep, after cheaper bounds.
"""

import time
from dataclasses import dataclass, field, replace

import numpy as np

from nspca.bounds import core, elimination
from nspca.bounds.bound_search import BoundSearch, least
from nspca.bounds.elimination import Kept
from nspca.bounds.fixing.tree import Limits
from nspca.bounds.plan import CLOSED, PLANS, Plan, plan_in_parts
from nspca.bounds.remainder import LOWER, Remainder, collect
from nspca.bounds.witness import Witness
from nspca.certificate import Certificate
from nspca.covariance.linalg import Array, largest_eigenpairs, one_thread
from nspca.errors import Cancelled, InvalidOption
from nspca.problem import Problem
from nspca.progress import Event, Report, silent

LEFT_OUT = 0.4
"""Maximum share of the value that k times the largest eliminated entry may reach."""
MOST_ROWS = 800
"""Maximum rows of safe elimination where a core may be tried. With more, a core proves as much in a third of
the time.
"""
LIKELY = 0.97
"""Assumed value when none is known, relative to the bound with an empty core."""
QUICK = PLANS["fast"]
"""Plan that each core is tried with, before the best core gets the plan of its effort."""
LAST, SMALL, LAST_IN_PARTS = (0.8, 0.9), 0.02, 0.6
"""Thresholds tried for the last lift, relative to that of its core: the first is taken whose K is at most the
share SMALL of the value. Row cuts and a lift gain more from a low threshold than the few steps of a trial do.
That of data in parts is lower, whatever K is: on 120 000 x 50 000 counts .960 was proved with the threshold
of the core, and .975 in less time with this one.
"""
DEEP = 0.6
"""Level above which entries of data in parts are read at once, as a share of `core.first_level`. So the last
lift mostly needs no further pass over the rows.
"""
FOLLOWED = 5
"""Number of eigenvectors from which the weights of features outside a core are chosen."""


def opening(plan: Plan) -> Plan:
    """Return the plan of the core with which a search for the optimum begins."""
    return replace(plan, cores=(600,), excesses=(0.3,), ranks=(4, 5, 6), rounds=8)


def strongest(
    problem: Problem,
    lower: float,
    effort: str = "standard",
    report: Report = silent,
    known: float = np.inf,
    limits: Limits | None = None,
    resume: dict[str, np.ndarray] | None = None,
    branching: bool = True,
) -> tuple[Certificate | None, Array | None]:
    """Return the best certificate that `effort` buys, and a better component if the search found one.

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
    point : (n,) ndarray or None
        A component better than `lower`, if the search found one.
    """
    if effort not in PLANS:
        raise InvalidOption(f"effort must be one of {', '.join(PLANS)}, got {effort!r}")
    plan = PLANS[effort] if branching else replace(PLANS[effort], branching=0.0, eigenvalues=0.0)
    if problem.covariance.trace == 0.0 or len(problem.forced) > plan.rows[-1]:
        return None, None
    # The matrices are small: several BLAS threads would spend most time waiting for each other.
    with one_thread():
        searched = limits is not None or resume is not None
        few = plan.rows if problem.n <= plan.rows[-1] else tuple(min(r, MOST_ROWS) for r in plan.rows)
        first: Certificate | None = None
        began, point = time.monotonic(), None
        if resume is None and core.pays(problem, few, LEFT_OUT * lower, lower):
            A = problem.covariance
            if core.few_in_reach(A):
                plan = plan_in_parts(effort, A.nonzeros)
            plan = plan if limits is None else opening(plan)
            cores = CoreSearch(problem, plan, max(lower, 0.0), report, known, limits=limits)
            first, point = cores.run()
            if limits is None or cores.has_tree or cores.closed:
                return first, point
            known, lower = cores.upper, cores.lower
        kept = kept_rows(problem, plan, lower, np.inf if searched else known)
        if kept is None:
            return first, point
        run = BoundSearch(problem=problem, plan=plan, lower=max(lower, 0.0), report=report, kept=kept)
        run.upper, run.known, run.best, run.point, run.began = known, known, first, point, began
        run.limits, run.resumed = limits, resume
        try:
            run.run()
            return run.with_tree, run.point
        except Cancelled as stop:
            stop.best, stop.point = run.with_tree, run.point
            raise


def kept_rows(problem: Problem, plan: Plan, lower: float, known: float) -> Kept | None:
    """Return the kept rows of safe elimination; None if no bound with them can be below `known`.

    The number of rows grows with k, so that eliminated entries do not determine tau.
    """
    kept = elimination.keep(problem, elimination.enough_rows(problem, plan.rows, LEFT_OUT * lower))
    return kept if least(problem, kept) < known else None


@dataclass(eq=False)
class CoreSearch:
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
    limits : Limits or None
        Limits of the caller for a tree, which begins in the last lift if that may fix all features outside.
    began : float
        Time from which the seconds of the limits count.
    has_tree : bool
        Whether a tree has begun.
    """

    problem: Problem
    plan: Plan
    lower: float
    report: Report
    upper: float
    best: Certificate | None = None
    aim: float = 0.0
    steps: int = 0
    limits: Limits | None = None
    began: float = field(default_factory=time.monotonic)
    has_tree: bool = False

    def run(self) -> tuple[Certificate | None, Array | None]:
        """Return the best certificate and a better component, as `strongest` does."""
        problem, lower = self.problem, self.lower
        if core.few_in_reach(problem.covariance):
            level = DEEP * core.first_level(problem, lower)
            collect(problem.covariance, problem.nonneg, level / LOWER)
        remainder, curve = core.search_tau(problem, lower)
        least = float(curve.uppers.min())
        self.aim = lower if lower > 0 else LIKELY * least
        gap = max(least - self.aim, 0.0)
        forced = np.array(problem.forced, dtype=np.int64)
        self.prove(core.with_core(problem, remainder, forced, curve.best, 0.0), QUICK)
        tried: list[tuple[float, BoundSearch]] = []
        rankings: dict[float, np.ndarray] = {}
        for count in self.plan.cores:
            for excess in self.plan.excesses:
                if self.closed or count >= problem.n:
                    break
                tau = curve.lower_tau(excess * gap)
                if tau not in rankings:
                    rankings[tau] = core.ranking(problem, remainder.above(tau))
                rows = core.choose_rows(problem, rankings[tau], count)
                kept = core.with_core(problem, remainder, rows, tau, self.first_claim(tau))
                run = self.prove(kept, QUICK)
                if run is not None:
                    tried.append((run.upper, run))
        point = None
        if self.plan.ranks and tried and not self.closed:
            point = self.improve(min(tried, key=lambda one: one[0])[1], remainder)
        return self.best, point

    def improve(self, run: BoundSearch, remainder: Remainder) -> Array | None:
        """Give the rows of a run all steps of the effort, and return a better component or None."""
        kept = run.kept
        if kept.weights is not None:
            share = core.SHARE if core.few_in_reach(self.problem.covariance) else core.LIFTED_SHARE
            share = min(share, core.HIGHER_SHARE) if self.limits is not None else share
            kept = self.lowered(kept, remainder, share, directions(kept, run.best))
        last = self.prove(kept, self.plan, self.limits)
        return None if last is None else last.point

    def lowered(self, kept: Kept, remainder: Remainder, share: float, v: Array | None) -> Kept:
        """Return a core with the threshold (see `LAST`) and the weights for its last lift."""
        problem, A = self.problem, self.problem.covariance
        in_parts = core.few_in_reach(A)
        for lower in ((LAST_IN_PARTS,) if in_parts else LAST) + (1.0,):
            tau = lower * kept.floor
            entries = remainder if lower == 1.0 else collect(A, problem.nonneg, tau)
            less = core.with_core(problem, entries, kept.features, tau, self.first_claim(tau, share), v)
            if less is None or less.folded is None:
                continue
            if in_parts or lower == 1.0 or np.linalg.norm(less.folded, 2) <= SMALL * self.aim:
                return less
        return kept

    @property
    def closed(self) -> bool:
        return self.upper <= self.lower * (1 + CLOSED)

    def first_claim(self, tau: float, share: float = core.SHARE) -> float:
        """Return the first spectral claim t for a threshold tau (see `core.SHARE`)."""
        return share * (self.aim - self.problem.size * tau)

    def prove(self, kept: Kept | None, plan: Plan, limits: Limits | None = None) -> BoundSearch | None:
        """Run a plan on some kept rows, keep its certificate if it is the best, and return the run.

        None without kept rows.
        """
        if kept is None:
            return None
        run = BoundSearch(self.problem, plan, self.lower, report=self.tell, kept=kept)
        run.limits, run.began, quick = limits, self.began, plan is QUICK
        run.upper = run.known = np.inf if quick else self.upper
        try:
            run.run()
        except Cancelled as stop:
            self.take(run)
            stop.best = self.best
            raise
        self.take(run)
        self.steps += run.steps
        return run

    def take(self, run: BoundSearch) -> None:
        """Take over the certificate of a run if it is the best, and the tree that it began, if any."""
        if run.best is not None and run.upper < self.upper:
            self.best, self.upper = run.best, run.upper
        if run.unfinished is not None and self.best is not None:
            self.best = self.best.with_unfinished(run.unfinished.witness)
        self.has_tree |= run.unfinished is not None or (self.best is not None and self.best.form == "fixing")

    def tell(self, event: Event) -> None:
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
    R = Witness(*(certificate.witness.get(name) for name in ("W", "M", "U"))).left(kept)
    vectors = largest_eigenpairs(R, min(FOLLOWED, len(R)))[1]
    return np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
