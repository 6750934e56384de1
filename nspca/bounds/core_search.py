"""Try dense cores with weights for the features outside, and improve the bound of the best core.

`strongest` runs a `CoreSearch` where safe elimination leaves too many rows. Each core is tried with the plan
of effort "fast". The best core then gets all steps of its effort.
"""

import time
from dataclasses import dataclass, field, replace

import numpy as np

from nspca.bounds import core, elimination
from nspca.bounds.bound_search import BoundSearch
from nspca.bounds.elimination import Kept
from nspca.bounds.fixing.tree import Limits
from nspca.bounds.plan import CLOSED, PLANS, Plan
from nspca.bounds.remainder import LOWER, Remainder, collect
from nspca.bounds.witness import Witness
from nspca.certificate import Certificate
from nspca.covariance.linalg import Array, largest_eigenpairs
from nspca.errors import Cancelled
from nspca.problem import Problem
from nspca.progress import Event, Report

PROMISING = 0.75
"""Safe elimination is tried besides cores if k times its largest eliminated entry is at most this share of
the value.
"""
LIKELY = 0.97
"""Assumed value when none is known, relative to the bound with an empty core."""
QUICK = PLANS["fast"]
"""Plan that each core is tried with, before the best core gets the plan of its effort."""
LAST, SMALL = (0.7, 0.8, 0.9), 0.02
"""Thresholds tried for the last lift, relative to that of its core: the first is taken whose K is at most the
share SMALL of the value. Row cuts and a lift gain more from a low threshold than the few steps of a trial do.
"""
LAST_IN_PARTS = 0.6
"""Threshold for the last lift of data in parts, relative to that of its core, whatever K is. Their K is
larger, and still the last lift gains more. On 120 000 x 50 000 counts .960 was proved with the threshold of
the core, .975 in less time with this one.
"""
SLIM, LIGHT = (200, 230, 260, 290, 320), 0.02
"""Sizes tried for the core of the last lift of data in parts, from the smallest: the first is taken whose K
costs its leading directions at most the share LIGHT of the value. A step on a small core takes less time,
and mostly fewer steps are needed. On 10 000 x 20 000 counts 230 features take a seventh less time than 260 to
prove .978. On 120 000 x 50 000 counts 290 prove .972, 320 prove .978, and 260 less than .95.
"""
DEEP = 0.6
"""Level above which entries of data in parts are read at once, as a share of `core.first_level`. So the last
lift mostly needs no further pass over the rows.
"""
FOLLOWED = 5
"""Number of eigenvectors from which the weights of features outside a core are chosen."""


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
        kept = None if self.closed else self.eliminated()
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

    def slimmer(self, kept: Kept, remainder: Remainder, v: Array) -> Kept | None:
        """Return a smaller core of data in parts with its last threshold, or None (see `SLIM`)."""
        problem, tau, pattern = self.problem, LAST_IN_PARTS * kept.floor, np.zeros(self.problem.n)
        pattern[kept.features] = v / np.linalg.norm(v)
        ranked = core.ranking(problem, remainder.above(kept.floor))
        entries = collect(problem.covariance, problem.nonneg, tau)
        for count in SLIM:
            if count >= len(kept.block):
                break
            rows = core.choose_rows(problem, ranked, count)
            own = pattern[rows]
            less = core.with_core(problem, entries, rows, tau, self.first_claim(tau), own)
            if less is not None and less.folded is not None and own @ less.folded @ own <= LIGHT * self.aim:
                return less
        return None

    def lowered(self, kept: Kept, remainder: Remainder, share: float, v: Array | None) -> Kept:
        """Return a core with the threshold and the weights for its last lift (see `LAST` and `SLIM`)."""
        problem, A = self.problem, self.problem.covariance
        in_parts = core.few_in_reach(A)
        one_core = in_parts and len(self.plan.cores) == 1 and self.limits is None
        slim = self.slimmer(kept, remainder, v) if one_core and v is not None else None
        if slim is not None:
            return slim
        for lower in ((LAST_IN_PARTS,) if in_parts else LAST) + (1.0,):
            tau = lower * kept.floor
            entries = remainder if lower == 1.0 else collect(A, problem.nonneg, tau)
            less = core.with_core(problem, entries, kept.features, tau, self.first_claim(tau, share), v)
            if less is None or less.folded is None:
                continue
            if in_parts or lower == 1.0 or np.linalg.norm(less.folded, 2) <= SMALL * self.aim:
                return less
        return kept

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
