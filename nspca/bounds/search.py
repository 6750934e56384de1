"""Find the strongest certificate that an effort buys, for one component or for several together.

The order is: rows (`rows`), the dual on these, a tree over supports for few features, lifts (`dual_search`),
and a tree again once the numbers of a lift decide many features. A tree fixes features and branches
(`fixing`); for several components it is one over their disjoint sets (`disjoint`). Everything stops as soon
as the gap is closed. Budgets are counts of steps that depend on the size alone, never on the clock, so the
same input gives the same certificate. Only `Limits` of a caller may name seconds.

`nspca.proving` calls `strongest` for `solve`, `certify` and every k of a sweep, after cheaper bounds.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np

from nspca.bounds import core, elimination
from nspca.bounds.disjoint.search import JointTree
from nspca.bounds.dual.lift import Lift
from nspca.bounds.dual.rounds import Work
from nspca.bounds.dual.splitting import Splitting
from nspca.bounds.dual_search import DualSearch
from nspca.bounds.elimination import Kept
from nspca.bounds.fixing.arrays import unpacked
from nspca.bounds.fixing.ground import Ground
from nspca.bounds.fixing.node import Node, Supports, Warm
from nspca.bounds.fixing.stages import fixable
from nspca.bounds.fixing.stored import Stored
from nspca.bounds.fixing.tasks import ROUNDS, Task
from nspca.bounds.fixing.tree import FixingTree, Limits
from nspca.bounds.fixing.whole import without_weights
from nspca.bounds.inequality import threshold
from nspca.bounds.plan import BRANCHED, JOINT_PLANS, PLANS, ROUND, Plan, plan_in_parts
from nspca.bounds.rows import RowSearch, kept_rows
from nspca.bounds.witness import Witness, leading, lifted, spectral_halves
from nspca.certificate import Certificate
from nspca.covariance.covariance import DENSE_LIMIT
from nspca.covariance.linalg import Array, one_thread
from nspca.errors import Cancelled, InvalidOption, NotConverged, Refused
from nspca.local_search import single as ascent
from nspca.problem import Problem
from nspca.progress import Report, silent

ROWS = 1200
"""Maximum kept rows of a search over sets of several components."""
EXPLAINED = 0.15
"""Maximum gap, relative to the value, that W alone leaves on a small core of data in parts which is large
enough for several components.
"""
ROOT_ROUNDS, ROOT_RANK = 20, 3
"""Rounds of steps at the root of a tree on few features, and rank of its first lift."""
NEARLY = 1e-6
"""Relative gap below which no lift follows a tree. It would close little more, in ten times the work."""
UNDECIDED, WIDE = 0.7, 400
"""A tree begins in a lift that may leave at most `BRANCHED` features undecided. With at most WIDE kept rows,
the share UNDECIDED of these is few enough.
"""
SURE = 1e-3
"""A tree begins in the lift of a core when it may fix all features outside, and this share of the value
below the level, so that the search that proves it has few cones.
"""


def strongest(
    problem: Problem,
    lower: float,
    effort: str = "standard",
    report: Report = silent,
    known: float = np.inf,
    limits: Limits | None = None,
    resume: Certificate | None = None,
    answer: Array | None = None,
    branching: bool = True,
) -> tuple[Certificate | None, Array | None]:
    """Return the best certificate that `effort` buys, and a better answer if the search found one.

    Parameters
    ----------
    problem : Problem
    lower : float
        The best known value, in unit scale; 0 for none. It decides when to stop and how finely to search.
    effort : "fast" (a fraction of a second on small tables), "standard" (seconds) or "thorough" (minutes)
    report : callable
        Gets an `Event` every few steps; raises `Cancelled` to stop. The exception then carries the best
        certificate and answer.
    known : float
        A bound that is already proved, in unit scale. Work that cannot improve it is left out.
    limits : Limits, optional
        Search until nothing is open or one of these is reached, instead of the limits of the plan. The
        certificate then holds the tree of an unfinished search, whatever its bound.
    resume : Certificate, optional
        Earlier certificate of this problem, whose tree is continued. One with prices takes the place of the
        bounds before a search over sets. Any other is only a first bound.
    answer : (n, r) float64, optional
        Known components, from which a search over sets begins.
    branching : bool
        Whether a tree may begin.

    Returns
    -------
    certificate : Certificate or None
        None of one component when A is zero, when more features are forced than rows may be kept, and when no
        bound is better than `known`.
    point : (n,) or (n, r) ndarray or None
        A component, or several, better than `lower`, if the search found one.

    Raises
    ------
    InvalidOption
        Unknown effort.
    Refused
        When no bound on several components can be proved at this size.
    """
    if effort not in PLANS:
        raise InvalidOption(f"effort must be one of {', '.join(PLANS)}, got {effort!r}")
    plan = (JOINT_PLANS if problem.joint else PLANS)[effort]
    if problem.covariance.trace == 0.0:
        zero = {"U": np.zeros((problem.n, 0)), "claims": np.zeros(2)}
        return (Certificate.of(problem, "J", "joint", 0.0, zero) if problem.joint else None), None
    if len(problem.forced) > plan.rows[-1]:
        return None, None
    if not branching:
        plan = replace(plan, branching=0.0, eigenvalues=0.0)
    # The matrices are small: several BLAS threads would spend most time waiting for each other.
    with one_thread():
        search = (SearchOfSeveral if problem.joint else Search)(
            problem, plan, max(float(lower), 0.0), report=report
        )
        search.effort, search.upper, search.known = effort, known, known
        search.limits, search.resume, search.answer, search.branching = limits, resume, answer, branching
        try:
            search.run()
        except Cancelled as stop:
            stop.best, stop.point = search.result
            raise
        return search.result


def opening(plan: Plan) -> Plan:
    """Return the plan of the core with which a search for the optimum begins."""
    return replace(plan, cores=(600,), passes=3, rounds=24)


@dataclass(eq=False)
class Search(Work):
    """The search for the best certificate of one component.

    Attributes
    ----------
    known : float
        Bound known before, in unit scale.
    best : Certificate or None
        Certificate of `upper`, if better than `known`.
    point : (n,) or (n, r) float64, or None
        An answer better than the best value known before.
    unfinished : dict of ndarray or None
        Arrays of the last tree, if its bound is worse than `upper`.
    has_tree : bool
        Whether a tree has begun that has a bound.
    began : float
        Time from which the seconds of the limits count.

    The others are arguments of `strongest`.
    """

    effort: str = "standard"
    known: float = np.inf
    best: Certificate | None = None
    point: Array | None = None
    limits: Limits | None = None
    resume: Certificate | None = None
    answer: Array | None = None
    branching: bool = True
    unfinished: dict[str, np.ndarray] | None = None
    has_tree: bool = False
    began: float = field(default_factory=time.monotonic)

    @property
    def shown(self) -> float | None:
        """Bound of the best certificate, or the bound known before, in the units of the data."""
        return super().shown if self.best is None else self.best.upper

    @property
    def result(self) -> tuple[Certificate | None, Array | None]:
        """The best certificate, with the tree of an unfinished search in it, and the better answer.

        A tree that proves less than was known before stands in the certificate of what was known.
        """
        if self.unfinished is None:
            return self.best, self.point
        best = self.resume if self.best is None else self.best
        return None if best is None else best.with_unfinished(self.unfinished), self.point

    def keep(self, found: Certificate | None) -> None:
        if found is None:
            return
        upper = self.problem.covariance.to_unit(found.upper, len(self.problem.sizes))
        if upper < self.upper:
            self.best, self.upper = found, upper
            self.tell()

    # --- the dual and its lifts -----------------------------------------------------------------------------
    def run(self) -> None:
        """Find rows, the dual, lifts and a tree, in this order."""
        problem, plan = self.problem, self.plan
        if self.resume is not None and self.resume.tree is not None:
            self.resume_tree(self.resume.tree)
            return
        if plan.eigenvalues and (problem.n <= BRANCHED or not problem.room):
            if self.lower == 0.0:  # without a known value hardly any part of the supports can be closed
                self.point = ascent.swaps(problem, ascent.polish(problem, ascent.first_feature(problem)))
                self.lower = problem.covariance.quadratic(self.point)
            self.run_tree(kept_rows(problem, plan, plan.rows[-1]), None, work=plan.eigenvalues)
            if self.closed:
                return
        rows = RowSearch(problem, plan, self.lower, self.dual)
        if rows.is_on_core and (run := self.on_core(rows)) is not None:
            self.improve(run)
            if self.limits is None or self.closed or self.has_tree:
                return
        run = rows.on_kept_rows()
        if run is not None and not self.closed and not self.begins_tree(run):
            self.improve(run)

    def on_core(self, rows: RowSearch) -> DualSearch | None:
        """Return the dual on the best core, with the threshold for its lift; None without a core."""
        plan, A = self.plan, self.problem.covariance
        if core.few_in_reach(A):
            plan = plan_in_parts(self.effort, False, A.nonzeros) or plan
        rows.plan = plan if self.limits is None else opening(plan)
        run = rows.on_cores()
        if run is not None and run.X is not None and rows.plan.ranks[1] and not run.closed:
            run = self.dual(rows.lowered(run, self.limits is not None), rows.plan)
        rows.plan = self.plan
        return run

    def dual(self, kept: Kept, plan: Plan) -> DualSearch:
        """Return a run of the dual on some rows, and keep what it proves."""
        r, run = len(kept.block), DualSearch(self.problem, plan, self.lower, report=self.report, kept=kept)
        run.known, run.steps = self.upper, self.steps
        run.total = self.steps + plan.lifting_steps(r) + len(plan.rhos) * plan.steps_of(r)
        with self.ending(lambda: self.take_run(run)):
            run.dual()
        return run

    def improve(self, run: DualSearch) -> None:
        """Improve a run by lifts. Where the numbers of one decide many features, a tree goes on with it."""
        if not run.plan.ranks[1] or run.X is None:
            return
        searched = self.limits is not None
        may_begin = not self.problem.joint and run.plan.branching > 0 and self.lower > 0
        if may_begin and (searched or (run.kept.weights is None and self.problem.n > BRANCHED)):
            run.decides = lambda witness, t, lift: self.is_decisive(run.kept, witness, t, lift)
        with self.ending(lambda: self.take_run(run)):
            run.improve()
        if run.decisive is not None:
            witness, lift = run.decisive
            stored, rounds = (
                Stored.of(run.kept.features, witness),
                ROUNDS if self.limits is None else ROOT_ROUNDS,
            )
            self.run_tree(run.kept, stored, Warm.of(lift.splitting), rounds)

    @contextmanager
    def ending(self, take: Callable[[], None]) -> Iterator[None]:
        """Call `take` at the end of the block, also after an exception; without reports once cancelled."""
        try:
            yield
        except Cancelled:
            self.report = silent
            raise
        finally:
            take()

    def take_run(self, run: DualSearch) -> None:
        """Take over the steps of a run, and what it proves."""
        self.steps, self.total = run.steps, max(self.total, run.total)
        self.keep(run.certificate)

    # --- trees ----------------------------------------------------------------------------------------------
    @property
    def seconds(self) -> float | None:
        if self.limits is None or self.limits.seconds is None:
            return None
        return max(0.0, self.limits.seconds - (time.monotonic() - self.began))

    def begins_tree(self, run: DualSearch) -> bool:
        """Begin a tree with the W of the dual where there are few features, and tell whether nothing follows.

        A tree cannot begin on the rows of a core, as it has no weights for the features outside.
        """
        n, is_small = self.problem.n, 1 < self.problem.n <= BRANCHED
        few = is_small or 1 < n <= self.plan.whole or (self.limits is not None and len(run.kept.block) > 1)
        if not few or run.kept.weights is not None or not self.plan.branching or run.last is None:
            return False
        assert run.W is not None  # that of the last splitting or better
        self.run_tree(run.kept, first_witness(run.kept, run.W), Warm.of(run.last), ROOT_ROUNDS)
        return self.upper <= self.lower * (1 + NEARLY) or self.limits is not None

    def is_decisive(self, kept: Kept, witness: Witness, t: float, lift: Lift) -> bool:
        """Tell by a cheap test whether the numbers of a lift may leave few features undecided.

        The test is `fixing.stages.fixable`, and t an estimate of the spectral half of the witness.
        """
        ground, stored = Ground.of(self.problem, kept), Stored.of(kept.features, witness)
        supports = Supports.of(self.problem, ground.everything)
        task = Task(supports, stored, Warm.of(lift.splitting), self.lower, self.gap, self.plan)
        rows, sure = len(kept.block), 0.0
        most = max(BRANCHED, UNDECIDED * rows) if rows <= WIDE else BRANCHED
        if kept.weights is not None:
            most, sure = rows, SURE * self.lower
        return supports.possible.size - fixable(ground, task, t + sure) <= most

    def run_tree(
        self, kept: Kept, witness: Stored | None, warm: Warm | None = None, rounds: int = 0, work: float = 0.0
    ) -> None:
        """Begin a tree from a witness, run the tree, and take over its bound, even when cancelled.

        The arguments are those of `FixingTree.begin`; without `rounds` only the root is settled.
        """
        if kept.weights is not None and witness is not None:
            found = without_weights(self.problem, kept, witness)
            if found is None:
                return
            kept, witness = found
        tree = self.new_tree(kept)
        with self.ending(lambda: self.take_tree(tree)):
            tree.begin(witness, warm, rounds, work)
            if rounds and tree.root is not None:
                tree.run()

    def resume_tree(self, arrays: dict[str, np.ndarray]) -> None:
        """Continue the tree of an unfinished search, given by the arrays of its certificate."""
        root = unpacked(arrays, Supports.of(self.problem, self.problem.usable), self.problem.nonneg)
        tree = self.new_tree(self.rows_of(root))
        with self.ending(lambda: self.take_tree(tree)):
            tree.resume(root)
            tree.run()

    def rows_of(self, root: Node) -> Kept:
        """Return the kept rows that the open nodes of a tree need; `root` is the root of the tree.

        Reduced nodes above them count, too, since they may be open again (`FixingTree.restored`).
        """
        target, problem = self.lower * (1 + self.gap), self.problem

        def is_open(node: Node) -> bool:
            return any(one.leaf is not None and one.upper > target for one in node.walk())

        looked_at = (node for node in root.walk() if node.leaf is not None or node.roof is not None)
        left = [node.supports for node in looked_at if is_open(node)]
        none = np.zeros(0, dtype=np.int64)
        features = np.unique(
            np.concatenate([none, *(part for one in left for part in (one.certain, one.possible))])
        )
        if features.size > DENSE_LIMIT:  # too many: keep the rows of this search, as when the tree began
            kept = rows_of_tree(problem, self.plan, self.lower)
            into = np.unique(np.concatenate([none, *(one.certain for one in left)]))
            features = np.union1d(into, kept.features)
            return replace(kept, rows=features, block=problem.covariance.block(features), fixed=0)
        return Kept(features, problem.covariance.block(features), 0.0)

    def new_tree(self, kept: Kept) -> FixingTree:
        """Return a new tree on some kept rows, with the remaining seconds of the limits."""
        limits = self.limits or Limits(entries=self.plan.branching, features=BRANCHED)
        return FixingTree(
            problem=self.problem,
            plan=self.plan,
            lower=self.lower,
            gap=self.gap,
            report=self.report,
            known_upper=self.shown,
            ground=Ground.of(self.problem, kept),
            limits=replace(limits, seconds=self.seconds).helped(self.problem.covariance.client),
        )

    def take_tree(self, tree: FixingTree) -> None:
        self.lower, self.steps = tree.lower, self.steps + tree.steps
        self.point = self.point if tree.point is None else tree.point
        self.has_tree |= tree.root is not None
        if tree.root is not None and tree.proved < self.upper:
            self.unfinished = None
            self.keep(tree.certificate())
        elif tree.root is not None and self.limits is not None and not self.closed:
            self.unfinished = tree.certificate().witness


class SearchOfSeveral(Search):
    """The search for the best certificate of several components together."""

    def run(self) -> None:
        """Find the bound of the dual and its lifts, and then search over the sets of all components.

        A certificate with prices takes the place of the first half.
        """
        problem, tree = self.problem, None if self.resume is None else self.resume.tree
        if self.resume is not None and (tree is not None or prices_of(problem, self.resume) is not None):
            self.keep(self.resume)
        else:
            for effort in ["standard", "thorough"] if self.effort == "thorough" else [self.effort]:
                if not self.closed:  # thorough never proves less than standard
                    self.bound(JOINT_PLANS[effort])
            self.keep(self.resume)
            self.steps = self.total
            self.tell()
        nodes = self.plan.searched_nodes(problem.n)
        if self.branching and (self.limits is not None or nodes) and not self.closed:
            self.run_sets(self.limits or Limits(nodes=nodes), tree)

    def bound(self, plan: Plan) -> None:
        """Find the bound of the dual and its lifts that a plan allows, after that of Ky Fan."""
        problem, ky_fan = self.problem, self.ky_fan()
        if ky_fan <= self.target:
            self.prove_ky_fan()
        if self.closed:
            return
        rows = RowSearch(problem, plan, self.lower, self.dual)
        run = None
        if self.lower > 0 and core.few_in_reach(problem.covariance):
            run = self.on_small_core()
        if run is None and rows.is_on_core:
            run = rows.on_cores()
        run = rows.on_kept_rows() if run is None else run
        if ky_fan < self.upper:  # a lift begins from a W that proves more than W = 0
            self.prove_ky_fan()
        elif run is not None and not self.closed:
            self.improve(run)
        if self.best is None:
            raise rows.refused or Refused("no joint bound could be proved")

    def on_small_core(self) -> DualSearch | None:
        """Run the dual on a small core of data in parts; return the run if it proves enough.

        Later steps and searches on a core take a fraction of their time on 800 kept rows.
        """
        problem = self.problem
        plan = plan_in_parts(self.effort, True, problem.covariance.nonzeros)
        if plan is None or not core.pays(problem, plan.rows, 0.0, self.lower):
            return None
        run = RowSearch(problem, plan, self.lower, self.dual).on_cores()
        return run if run is not None and run.upper <= (1 + EXPLAINED) * self.lower else None

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

    def run_sets(self, limits: Limits, resumed: dict[str, np.ndarray] | None) -> None:
        """Search over the sets of all components, from the arrays of a tree or with the numbers of `best`."""
        problem, best = self.problem, self.best
        assert best is not None  # the bound comes first
        largest = problem.with_k(max(problem.sizes))
        ground = Ground.of(largest, elimination.keep(largest, ROWS))
        tree = JointTree(
            problem,
            PLANS["standard"],
            self.lower,
            report=self.report,
            ground=ground,
            limits=limits.helped(problem.covariance.client),
            resumed=resumed,
        )
        tree.known = self.upper
        tree.first, tree.witness = prices_of(problem, best), witness_of(problem, ground, best)

        def take() -> None:
            """Take over the bound and the answer of the tree."""
            found, self.point = tree.certificate(), tree.point
            if self.limits is not None and (found is not None or best.tree is not None):
                self.unfinished = best.tree if found is None else found.tree
            self.keep(found)
            if self.limits is None and self.best is not None:
                self.best = self.best.with_unfinished(None)

        with self.ending(take):
            tree.run(self.answer)


def rows_of_tree(problem: Problem, plan: Plan, level: float) -> Kept:
    """Return the rows of safe elimination for a tree at a level."""
    return elimination.keep(problem, elimination.enough_rows(problem, plan.rows, plan.left_out * level))


def start_of_tree(
    problem: Problem, plan: Plan, level: float, base: Certificate, report: Report
) -> tuple[Kept, Stored | None, Warm] | None:
    """Return the kept rows of a tree at a level, and a witness and a starting point for its root.

    None where A is zero on these rows, and where too many features are forced. The witness is the first of a
    certificate `base` that has one.
    """
    if problem.covariance.trace == 0.0 or len(problem.forced) > plan.rows[-1]:
        return None
    kept = rows_of_tree(problem, plan, level)
    if not len(kept.block) or not kept.leading[0][0] > 0:
        return None
    work, splitting = Work(problem, plan, level, report=report), Splitting(kept, problem.size, problem.nonneg)
    work.advance(splitting, ROUND)
    witness, parts = None, base.witness
    if base.form == "fixing":
        root = unpacked(parts, Supports.of(problem, problem.usable), problem.nonneg)
        witness = next((use.witness for use in root.uses if use.witness is not None), None)
    elif base.form == "inequality" and "W" in parts and "y" not in parts:
        rows = parts.get("rows", np.arange(base.shape[1]))
        witness = Stored.of(rows, Witness(*(parts.get(name) for name in ("W", "M", "U"))))
    return kept, witness or first_witness(kept, splitting.entries.W), Warm.of(splitting)


def first_witness(kept: Kept, W: Array) -> Stored | None:
    """Return W with a plain lift, in the form that a tree stores."""
    return Stored.of(kept.features, lifted(kept, Witness(W), ROOT_RANK)[0])


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
