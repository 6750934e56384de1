"""Certify several disjoint components together: the bounds to try, and their order.

The bound of `kyfan` comes first, on more and more rows while the eliminated entries determine it. The bound
of `packing`, with prices and a lift, continues from the best W. Budgets are numbers of steps that depend on
the size of the problem alone. `together.prove_joint` calls `certify_joint`.
"""

from dataclasses import dataclass, replace

import numpy as np

from nspca.bounds import core, elimination
from nspca.bounds.kyfan import KyFan, allowed, kept_rows
from nspca.bounds.packing import Packing
from nspca.bounds.plan import CLOSED, JOINT_PLANS, JointPlan
from nspca.bounds.remainder import Remainder, collect
from nspca.certificate import Certificate
from nspca.covariance.linalg import one_thread
from nspca.errors import Cancelled, InvalidOption, Refused
from nspca.problem import Problem
from nspca.progress import Report, silent

LEFT_OUT = 0.7
"""Maximum share of the value that S times the largest eliminated entry may reach, S the sum of the sizes.
More is eliminated than for one component, since the steps after the first W pay off with fewer rows.
"""
LITTLE = 0.2
"""Maximum such share at which the kept rows are chosen where a core with weights is possible too. For KOS, 8
topics of 15 words, the share is .15 for 1200 rows, which prove .93; a core proves .82.
"""
EXPLAINED = 0.15
"""Maximum gap, relative to the value, that W alone leaves on a small core of data in parts which is large
enough. It leaves .11 on made-up topics, as 800 kept rows do. For KOS it leaves .25, and 800 kept rows .18.
"""
DEEP = 0.4
"""Level above which entries of A are collected for cores, as a share of `core.first_level`. With an empty
core the threshold must pay for all components. With a core that explains them it is there for noise alone,
and may be lower.
"""
RAISED, FALL, TRIED = 1.1, 0.9, 3
"""Ratio of the first threshold to the best one for an empty core, since a core takes part of what a higher
threshold leaves; ratio of a threshold to the one tried before; and maximum thresholds tried.
"""


def certify_joint(
    problem: Problem,
    lower: float,
    effort: str = "standard",
    report: Report = silent,
) -> Certificate:
    """Return the best certificate for r disjoint components of the sizes `problem.k` that `effort` buys.

    Parameters
    ----------
    problem : Problem
        Its k is a tuple of sizes; a single number counts as one size.
    lower : float
        The best known value, in unit scale; 0 for none. It only decides when to stop.
    effort : "fast" (a few steps), "standard" (seconds) or "thorough"
        Steps depend on the size alone, so the same input gives the same certificate.
    report : callable
        Gets an `Event` of stage "joint proof"; raises `Cancelled` to stop. The exception then carries the
        best certificate so far.

    Raises
    ------
    InvalidOption
        Unknown effort.
    Refused
        When no bound can be proved at this size.
    """
    if effort not in JOINT_PLANS:
        raise InvalidOption(f"effort must be one of {', '.join(JOINT_PLANS)}, got {effort!r}")
    if not problem.joint:
        problem = problem.with_k(problem.sizes)
    if problem.covariance.trace == 0.0:
        return Certificate.of(problem, "J", "joint", 0.0, {"claims": np.zeros(2)})
    # The matrices are small: several BLAS threads would spend most time waiting for each other.
    with one_thread():
        plans = [JOINT_PLANS[effort]]
        if plans[0].after and not plans[0].searched_nodes(problem.n):  # a search over sets proves the rest
            plans.insert(0, JOINT_PLANS[plans[0].after])
        return _JointSearch(problem, plans[0], max(float(lower), 0.0), report).run(plans)


@dataclass(eq=False)
class _JointSearch:
    """Runs the joint bounds one after the other, and keeps the best certificate.

    Attributes
    ----------
    plan : JointPlan
        The plan at work; that of a small core where one is large enough.
    done : int
        Steps of all plans before, and of a small core that was not large enough.
    """

    problem: Problem
    plan: JointPlan
    lower: float
    report: Report
    best: Certificate | None = None
    done: int = 0

    def run(self, plans: list[JointPlan]) -> Certificate:
        """Run all bounds by one plan after the other, and return the best certificate."""
        last: Packing | None = None
        try:
            for plan in plans:
                if not self.is_closed:
                    self.plan = plan
                    last = self.by_packing(last)
        except Cancelled as stop:
            self.keep(stop.best if isinstance(stop.best, Certificate) else None)
            stop.best = self.best
            raise
        return self.proved

    def by_packing(self, before: Packing | None) -> Packing | None:
        """Run `KyFan` and then `Packing`, and return the latter, if there is anything left for it to prove.

        A run before is gone on from if it has as many rows as the plan asks for.
        """
        if before is not None and self.has_enough_rows(before):
            packing = Packing.going_on(before, self.plan, self.proved)
        else:
            run = self.by_kyfan()
            if run is None or run.closed or not self.plan.ranks[1] or run.X is None:
                if run is not None:
                    self.done = run.steps = run.total
                    run.tell()
                return None
            packing = Packing.following(run, self.proved)
        self.keep(packing.run())
        self.done = packing.steps
        return packing

    @property
    def is_closed(self) -> bool:
        """Tell whether the best certificate proves the known value to be the best possible."""
        target = self.lower * (1 + CLOSED) * self.problem.covariance.unit
        return self.best is not None and self.best.upper <= target

    def has_enough_rows(self, before: Packing) -> bool:
        """Tell whether a run has all rows, or as many kept rows as the first that the plan would try.

        Rows outside that got weights with a low floor leave little to more rows.
        """
        kept = before.kept
        if kept.rows is None or before.is_opened:
            return True
        return kept.weights is None and len(kept.rows) >= self.first_rows()

    def first_rows(self) -> int:
        """Return the first number of kept rows that the plan tries."""
        return elimination.enough_rows(self.problem, self.plan.rows, LEFT_OUT * self.lower or np.inf)

    @property
    def proved(self) -> Certificate:
        """The best certificate. There is one after the first run, which raises if it proves nothing."""
        assert self.best is not None
        return self.best

    def keep(self, found: Certificate | None) -> None:
        """Keep a certificate if its bound is the best so far."""
        if found is not None and (self.best is None or found.upper < self.best.upper):
            self.best = found

    def by_kyfan(self) -> KyFan | None:
        """Run `KyFan` on more and more rows, and return the last run.

        None if the last run could not be proved; the earlier certificate is then the best.
        """
        run = self.on_small_core()
        if run is not None:
            return run
        plan, n = self.plan, self.problem.n
        if self.lower > 0 and self.core_pays():
            run = self.with_core()
            if run is not None:
                return run
        first = self.first_rows()
        numbers = [first, *(rows for rows in plan.rows if rows > first)]
        after = plan.packing_steps(min(numbers[-1], n))
        total = self.done + after + sum(allowed(plan, min(rows, n)) for rows in numbers)
        steps, rhos = self.done, plan.rhos
        for rows in numbers:
            kept, mine = kept_rows(self.problem, plan, rows), replace(plan, rhos=rhos)
            run = KyFan(self.problem, mine, self.lower, report=self.report, kept=kept)
            run.steps, run.total, run.after = steps, total, after
            run.before, run.last = self.best, rows == numbers[-1]
            try:
                self.keep(run.run())
            except Refused:
                if self.best is None:
                    raise
                return None
            steps, rhos = run.steps, (run.rho,)
            if run.ends:
                break
        return run

    def on_small_core(self) -> KyFan | None:
        """Run `KyFan` on a small core of data in parts; return the run if it proves enough (`EXPLAINED`).

        Later steps and searches on a core take a fraction of their time on 800 kept rows. None where the plan
        has no small core.
        """
        plan, A = self.plan, self.problem.covariance
        if not (self.lower > 0 and plan.few[0] and core.few_in_reach(A)):
            return None
        if not core.pays(self.problem, plan.rows, 0.0, self.lower):
            return None
        self.plan = plan.in_parts(A.nonzeros)
        run = self.with_core()
        if run is not None and run.upper <= (1 + EXPLAINED) * self.lower:
            return run
        self.plan, self.done = plan, self.done if run is None else run.steps
        return None

    def core_pays(self) -> bool:
        """Tell whether a core with weights is tried.

        Where the kept rows leave out hardly anything, they prove more than the smaller core of data in parts.
        """
        plan = self.plan
        if not core.pays(self.problem, plan.rows, LEFT_OUT * self.lower, self.lower):
            return False
        return not elimination.leaves_out_little(self.problem, plan.rows[-1], LITTLE * self.lower)

    def with_core(self) -> KyFan | None:
        """Run `KyFan` on cores with weights for other features; return the best proved run, or None."""
        problem, plan = self.problem, self.plan
        few = core.few_in_reach(problem.covariance)
        if not few:  # all entries are read anyway
            collect(problem.covariance, problem.nonneg, DEEP * core.first_level(problem, self.lower))
        remainder, curve = core.search_tau(problem, self.lower)
        # a larger core of data in parts holds hardly anything more, and gets fewer steps
        cores = plan.cores[:1] if few else plan.cores
        after = plan.packing_steps(max(cores))
        total = self.done + after + sum(allowed(plan, count) for count in cores)
        runs = _Cores(self, remainder, total, after, steps=self.done)
        ranked = core.ranking(problem, remainder.above(curve.best))
        for count in cores:
            rows = core.choose_rows(problem, ranked, count)
            if few:  # variances outside are small, and the usual claim leaves K enough room
                runs.attempt(rows, curve.best, runs.usual_claim(curve.best))
            elif runs.best is None:
                runs.search(rows, RAISED * curve.best)
            else:
                runs.repeat(rows)
            if runs.best is not None and runs.best.closed:
                break
        if runs.best is not None:
            runs.best.steps = runs.steps
        return runs.best


@dataclass(eq=False)
class _Cores:
    """Runs of `KyFan` on cores with weights for other features.

    Attributes
    ----------
    joint : _JointSearch
        The search that keeps the certificates.
    remainder : Remainder
    total, after : int
        Steps of all runs and of later stages, for the progress of a run.
    best : KyFan or None
        The run with the smallest bound.
    pair : (float, float)
        Threshold and spectral claim of `best`, the claim relative to the `noise`; 0 without noise.
    steps : int
    """

    joint: _JointSearch
    remainder: Remainder
    total: int
    after: int
    best: KyFan | None = None
    pair: tuple[float, float] = (0.0, 0.0)
    steps: int = 0

    def usual_claim(self, tau: float) -> float:
        """Return the usual spectral claim for a threshold tau (see `core.SHARE`)."""
        sizes = self.joint.problem.sizes
        return core.SHARE * (self.joint.lower - sum(sizes) * tau) / len(sizes)

    def noise(self, rows: np.ndarray, tau: float) -> float:
        """Return the largest eigenvalue of what is left above a threshold outside a core."""
        others = core.features_outside(self.remainder.n, rows)
        N = self.remainder.above(tau)[others]
        return core.largest_eigenvalue(N[:, others])

    def search(self, rows: np.ndarray, tau: float) -> None:
        """Try lower and lower thresholds on a core while the bound falls, which is nearly convex in them.

        The claim keeps its ratio to the noise.
        """
        noise, usual = self.noise(rows, tau), self.usual_claim(tau)
        if self.attempt(rows, tau, usual):
            self.pair = tau, usual / noise if noise else 0.0
        if noise == 0.0:
            return
        for _ in range(TRIED - 1):
            tau *= FALL
            if self.best is None or tau <= self.remainder.level:
                return
            claim = self.pair[1]
            if not self.attempt(rows, tau, claim * self.noise(rows, tau)):
                return
            self.pair = tau, claim

    def repeat(self, rows: np.ndarray) -> None:
        """Try the threshold and the claim of the best run on another core."""
        tau, claim = self.pair
        self.attempt(rows, tau, claim * self.noise(rows, tau) or self.usual_claim(tau))

    def attempt(self, rows: np.ndarray, tau: float, t: float) -> bool:
        """Run `KyFan` with a threshold and a spectral claim; return whether its bound is the best so far."""
        joint = self.joint
        kept = core.with_core(joint.problem, self.remainder, rows, tau, t)
        if kept is None:
            return False
        run = KyFan(joint.problem, joint.plan, joint.lower, report=joint.report, kept=kept, last=False)
        run.before, run.steps, run.total, run.after = joint.best, self.steps, self.total, self.after
        try:
            joint.keep(run.run())
        except Refused:
            return False
        self.steps = run.steps
        if self.best is not None and run.upper >= self.best.upper:
            return False
        self.best = run
        return True
