"""Prove what several disjoint components explain together: the rows to try, and a search over their sets.

Ky Fan's bound comes first. The joint dual of `joint_bound` follows, on a dense core with weights or on more
and more rows while the eliminated entries determine it. Lifts with prices continue from the best W. Budgets
are numbers of steps that depend on the size of the problem alone. A search over sets (`disjoint`) follows for
problems with few features, or when the caller sets limits. It begins with the prices, W, M and lift of the
joint bound. `nspca.proving` calls `prove_joint` for a problem of several sizes.
"""

from dataclasses import dataclass, replace

import numpy as np

from nspca.bounds import core, elimination
from nspca.bounds.disjoint.search import JointTree
from nspca.bounds.dual.rounds import Work
from nspca.bounds.elimination import Kept
from nspca.bounds.fixing.ground import Ground
from nspca.bounds.fixing.stored import Stored
from nspca.bounds.fixing.tree import Limits
from nspca.bounds.inequality import threshold
from nspca.bounds.joint_bound import JointBound, allowed
from nspca.bounds.plan import CLOSED, JOINT_PLANS, PLANS, JointPlan
from nspca.bounds.remainder import Remainder, collect
from nspca.bounds.witness import Witness, leading, spectral_halves
from nspca.certificate import Certificate
from nspca.covariance.linalg import Array, one_thread
from nspca.errors import Cancelled, InvalidOption, NotConverged, Refused
from nspca.problem import Problem
from nspca.progress import Report, silent

ROWS = 1200
"""Maximum kept rows of a search over sets."""
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


def prove_joint(
    problem: Problem,
    lower: float,
    effort: str = "standard",
    report: Report = silent,
    answer: Array | None = None,
    limits: Limits | None = None,
    resume: Certificate | None = None,
) -> tuple[Certificate, Array | None]:
    """Return a certificate for r disjoint components of the sizes `problem.k`, and a better answer (n, r) if
    the search met one.

    Parameters
    ----------
    problem, lower, effort, report
        As for `certify_joint`, which comes first; `lower` is the best known value, in unit scale.
    answer : (n, r) float64, optional
        Known components, from which the search begins.
    limits : Limits, optional
        Search until nothing is open or one of these is reached, whatever the effort allows. The certificate
        then has the tree of an unfinished search in it, whatever its bound.
    resume : Certificate, optional
        Earlier certificate for this problem. Its tree is continued. One with prices, which `certify_joint`
        made, takes the place of the joint bound. Any other is only a first bound.
    """
    tree = None if resume is None else resume.tree
    if resume is not None and (tree is not None or prices_of(problem, resume) is not None):
        best = resume
    else:
        best = certify_joint(problem, lower, effort, report)
        best = best if resume is None else smaller(best, resume)
    nodes = JOINT_PLANS[effort].searched_nodes(problem.n)
    if limits is None and not nodes:
        return best, None
    with one_thread():
        run = _Sets(problem, lower, report, answer, best, limits is not None)
        return run.search(limits or Limits(nodes=nodes), tree)


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
        search = _JointSearch(problem=problem, plan=plans[0], lower=max(float(lower), 0.0), report=report)
        return search.run(plans)


def kept_rows(problem: Problem, plan: JointPlan, number: int) -> Kept:
    """Return at most `number` kept rows, or all rows if elimination gains nothing and the plan allows all."""
    kept = elimination.keep(problem, number)
    futile = kept.rows is not None and 2 * kept.floor > problem.covariance.diagonal.max()
    return elimination.all_rows(problem) if futile and problem.n <= plan.whole else kept


@dataclass(eq=False, kw_only=True)
class _JointSearch(Work[JointPlan]):
    """Runs the joint bounds one after the other, and keeps the best certificate.

    Attributes
    ----------
    plan : JointPlan
        The plan at work; that of a small core where one is large enough.
    best : Certificate or None
    refused : Refused or None
        Why the last joint dual could not be proved.
    """

    stage = "joint proof"
    best: Certificate | None = None
    refused: Refused | None = None

    @property
    def shown(self) -> float | None:
        """Bound of the best certificate, in the units of the data."""
        return None if self.best is None else self.best.upper

    def run(self, plans: list[JointPlan]) -> Certificate:
        """Run all bounds by one plan after the other, and return the best certificate."""
        ky_fan, run = self.ky_fan(), None
        try:
            if ky_fan <= self.target:
                self.prove_ky_fan()
            for plan in plans:
                if self.closed:
                    break
                self.plan = plan
                if run is None or not self.has_enough_rows(run):
                    run = self.begin()
                if ky_fan < self.upper:  # a lift begins from a W that proves more than W = 0
                    self.prove_ky_fan()
                elif run is not None and run.X is not None and plan.ranks[1] and not self.closed:
                    run.plan, run.known, run.total = self.plan, self.upper, self.total
                    self.keep(run.improve())
                    self.steps, self.total = run.steps, run.total
        except Cancelled as stop:
            self.keep(stop.best if isinstance(stop.best, Certificate) else None)
            stop.best = self.best
            raise
        self.steps = self.total
        self.tell()
        if self.best is None:
            raise self.refused or Refused("no joint bound could be proved")
        return self.best

    def keep(self, found: Certificate | None) -> None:
        if found is not None and (self.best is None or found.upper < self.best.upper):
            self.best, self.upper = found, found.upper / self.problem.covariance.unit

    def ky_fan(self) -> float:
        """Return Ky Fan's bound, the sum of the r largest eigenvalues; inf where A is too large for it."""
        A, r = self.problem.covariance, len(self.problem.sizes)
        if min(A.n, A.shape[0]) > self.plan.factorised:
            return np.inf  # a factorisation of this size is impossible or takes too long
        try:
            return float(np.maximum(leading(A, r)[0], 0.0).sum())
        except (NotConverged, Refused):  # the other choices of W need fewer rows
            return np.inf

    def prove_ky_fan(self) -> None:
        """Keep the certificate of Ky Fan's bound, W = 0, if it can be proved."""
        try:
            upper, t, V = spectral_halves(self.problem, None, Witness())
        except (NotConverged, Refused):
            return
        witness = {"U": V, "claims": np.array([t, 0.0])}
        self.keep(Certificate.of(self.problem, "J", "joint", upper, witness))

    # --- rows -----------------------------------------------------------------------------------------------
    def begin(self) -> JointBound | None:
        """Run the joint dual on the rows that prove most, and return the run; None if none is proved."""
        run = self.on_small_core()
        if run is None and self.lower > 0 and self.core_pays():
            run = self.on_cores()
        return self.on_kept_rows() if run is None else run

    def dual(self, kept: Kept, plan: JointPlan) -> JointBound | None:
        """Return a run of the joint dual on some kept rows, None if it could not be proved."""
        run = JointBound(self.problem, plan, self.lower, report=self.report, kept=kept)
        run.known, run.steps, run.total = self.upper, self.steps, self.total
        try:
            self.keep(run.dual())
        except Refused as error:
            self.refused = error
            return None
        self.steps = run.steps
        return run

    def expect(self, numbers: list[int]) -> None:
        """Set the total of steps for joint duals on these numbers of rows, and lifts on the last."""
        plan, n = self.plan, self.problem.n
        after = plan.packing_steps(min(numbers[-1], n))
        self.total = self.steps + after + sum(allowed(plan, min(rows, n)) for rows in numbers)

    def has_enough_rows(self, before: JointBound) -> bool:
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

    def on_kept_rows(self) -> JointBound | None:
        """Run the joint dual on more and more rows, and return the last run; None if it is not proved."""
        plan, run, first = self.plan, None, self.first_rows()
        numbers = [first, *(rows for rows in plan.rows if rows > first)]
        self.expect(numbers)
        for rows in numbers:
            kept = kept_rows(self.problem, self.plan, rows)
            run = self.dual(kept, plan)
            if run is None or run.closed or kept.rows is None:
                break
            if Witness(run.W).threshold(self.problem.nonneg, kept.floor) > kept.floor:
                break  # more rows would not help
            plan = replace(plan, rhos=(run.rho or plan.rhos[0],))
        return run

    def on_small_core(self) -> JointBound | None:
        """Run the joint dual on a small core of data in parts; return the run if it proves enough.

        Later steps and searches on a core take a fraction of their time on 800 kept rows. None where the plan
        has no small core, or where more than `EXPLAINED` is left.
        """
        plan, A = self.plan, self.problem.covariance
        if not (self.lower > 0 and plan.few[0] and core.few_in_reach(A)):
            return None
        if not core.pays(self.problem, plan.rows, 0.0, self.lower):
            return None
        self.plan = plan.in_parts(A.nonzeros)
        run = self.on_cores()
        if run is not None and run.upper <= (1 + EXPLAINED) * self.lower:
            return run
        self.plan = plan
        return None

    def core_pays(self) -> bool:
        """Tell whether a core with weights is tried.

        Where the kept rows leave out hardly anything, they prove more than the smaller core of data in parts.
        """
        plan = self.plan
        if not core.pays(self.problem, plan.rows, LEFT_OUT * self.lower, self.lower):
            return False
        return not elimination.leaves_out_little(self.problem, plan.rows[-1], LITTLE * self.lower)

    def on_cores(self) -> JointBound | None:
        """Run the joint dual on cores with weights for other features; return the best proved run, or None.

        Lower and lower thresholds are tried on the first core while the bound falls, which is nearly convex
        in them. The claim keeps its ratio to the noise, the largest eigenvalue outside the core of what is
        left above the threshold.
        """
        problem, few = self.problem, core.few_in_reach(self.problem.covariance)
        if not few:  # all entries are read anyway
            collect(problem.covariance, problem.nonneg, DEEP * core.first_level(problem, self.lower))
        remainder, curve = core.search_tau(problem, self.lower)
        ranked = core.ranking(problem, remainder.above(curve.best))
        # a larger core of data in parts holds hardly anything more, and gets fewer steps
        cores = self.plan.cores[:1] if few else self.plan.cores
        self.expect([*cores])
        best, tau, share = None, curve.best, 0.0
        for count in cores:
            rows = core.choose_rows(problem, ranked, count)
            if (
                few or best is not None
            ):  # variances outside data in parts are small, the usual claim is enough
                claim = share * _noise(remainder, rows, tau) if share else 0.0
                best = self.better(best, remainder, rows, tau, claim)
            else:
                tau = RAISED * curve.best
                noise, claim = _noise(remainder, rows, tau), self.usual_claim(tau)
                best = self.better(None, remainder, rows, tau, claim)
                share = claim / noise if noise else 0.0
                for lower in tau * FALL ** np.arange(1, TRIED):
                    if best is None or not noise or lower <= remainder.level:
                        break
                    claim = share * _noise(remainder, rows, lower)
                    before, best = best, self.better(best, remainder, rows, float(lower), claim)
                    if best is before:
                        break
                    tau = float(lower)
            if best is not None and best.closed:
                break
        if best is not None:
            best.steps = self.steps
        return best

    def better(
        self, best: JointBound | None, remainder: Remainder, rows: np.ndarray, tau: float, claim: float
    ) -> JointBound | None:
        """Return the better of a run and one with a threshold and a spectral claim, the usual one for 0."""
        kept = core.with_core(self.problem, remainder, rows, tau, claim or self.usual_claim(tau))
        run = None if kept is None else self.dual(kept, self.plan)
        return best if run is None or (best is not None and run.upper >= best.upper) else run

    def usual_claim(self, tau: float) -> float:
        """Return the usual spectral claim for a threshold tau (see `core.SHARE`)."""
        sizes = self.problem.sizes
        return core.SHARE * (self.lower - sum(sizes) * tau) / len(sizes)


def _noise(remainder: Remainder, rows: np.ndarray, tau: float) -> float:
    others = core.features_outside(remainder.n, rows)
    return core.largest_eigenvalue(remainder.above(tau)[others][:, others])


@dataclass(frozen=True, eq=False)
class _Sets:
    """Search over the sets of all components after the joint bound `best`.

    With `goes_on` the certificate keeps the tree of an unfinished search.
    """

    problem: Problem
    lower: float
    report: Report
    answer: Array | None
    best: Certificate
    goes_on: bool

    def search(
        self, limits: Limits, resumed: dict[str, np.ndarray] | None
    ) -> tuple[Certificate, Array | None]:
        """Return the better of the certificate and that of the search, and a better answer if one was met.

        The search goes on from the arrays of a tree, or begins with the prices, W, M and lift of `best`.
        """
        problem, best, lower = self.problem, self.best, self.lower
        closed = best.upper <= lower * (1 + CLOSED) * problem.covariance.unit
        if closed or problem.covariance.trace == 0.0:
            return best, None
        largest = problem.with_k(max(problem.sizes))
        ground = Ground.of(largest, elimination.keep(largest, ROWS))
        tree = JointTree(
            problem,
            PLANS["standard"],
            lower,
            report=self.report,
            ground=ground,
            limits=limits.helped(problem.covariance.client),
            resumed=resumed,
        )
        tree.known = best.upper / problem.covariance.unit
        tree.first, tree.witness = prices_of(problem, best), witness_of(problem, ground, best)
        try:
            tree.run(self.answer)
        except Cancelled as stop:
            stop.best, stop.point = self.better(tree.certificate()), tree.point
            raise
        return self.better(tree.certificate()), tree.point

    def better(self, found: Certificate | None) -> Certificate:
        """Return the certificate with the smaller bound, with the tree of the search if that may go on."""
        if not self.goes_on:
            return smaller(self.best, found).with_unfinished(None)
        tree = self.best.tree if found is None else found.tree
        return smaller(self.best, found).with_unfinished(tree)


def smaller(best: Certificate, other: Certificate | None) -> Certificate:
    """Return the certificate with the smaller bound."""
    return other if other is not None and other.upper < best.upper else best


def prices_of(problem: Problem, certificate: Certificate) -> Array | None:
    """Return the prices (n,) of a certificate, 0 on rows that are not kept; None where it has no prices."""
    arrays = certificate.witness
    if certificate.form != "joint" or "prices" not in arrays:
        return None
    pi = np.zeros(problem.n)
    pi[arrays.get("rows", np.arange(problem.n))] = arrays["prices"]
    return pi


def witness_of(problem: Problem, ground: Ground, certificate: Certificate) -> Stored | None:
    """Return W, M and the lift of a certificate; None without prices, with weights, or for other rows."""
    arrays = certificate.witness
    rows = arrays.get("rows", np.arange(problem.n))
    if certificate.form != "joint" or "prices" not in arrays or "y" in arrays:
        return None
    if not np.isin(rows, ground.part.features).all():
        return None
    W, scales = arrays.get("W"), arrays.get("scales")
    if W is not None and scales is not None:  # a witness of a tree has one limit for all entries
        level = threshold(W / np.multiply.outer(scales, scales), problem.nonneg)
        W = elimination.clipped(W, level, problem.nonneg)
    return Stored.of(rows, Witness(W, arrays.get("M"), arrays.get("lift")))
