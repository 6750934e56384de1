"""Bound the supports of one node by witnesses, and keep the best proof and the best answer.

A `Bounding` is the state of the work on a node. `eigenvalues`, `stages` and `lifts` each have one way to
improve it, and `settle` calls them in order.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from nspca.bounds.dual.rounds import Work
from nspca.bounds.elimination import Kept
from nspca.bounds.fixing.ground import Ground
from nspca.bounds.fixing.node import Node, Reduced, Stage, Supports, Use, Warm
from nspca.bounds.fixing.stored import Stored, none
from nspca.bounds.fixing.tasks import Answer, Narrowed, Task
from nspca.bounds.witness import Proof, lost_in_search, lost_with_cuts, prove, query_of, spectral_half
from nspca.covariance.linalg import Array
from nspca.local_search import single as ascent
from nspca.lowrank.cones import Budget, Cover
from nspca.lowrank.objective import Query
from nspca.progress import Report, silent

CLIMBED = 64
"""Number of directions in which rows are compared with the level before cones are made."""


@dataclass(eq=False, kw_only=True)
class Bounding(Work):
    """The work on one node.

    Attributes
    ----------
    ground : Ground
    supports : Supports
        What is left after the features fixed so far.
    kept : Kept
        The kept rows of these supports.
    warm : Warm or None
        Starting point of the parent, then of the last lift.
    at_level : bool
        As for a `Task`.
    answer : (features, weights) or None
    narrowed : callable or None
        Called whenever features have been fixed.
    stages : list of Stage
    reduced : list of Reduced
        The reduced nodes above the present one.
    best : Use or None
    is_current : bool
        Whether the best use was proved for the present supports, not before features were fixed.
    is_exact : bool
        Whether the value of the best answer is the bound.
    direction : (D,) float64 or None
        Direction at which the search half of the best use is largest.
    points : (r, q) float64 or None
        Feasible points of the bundle on the kept rows.
    places : (features, z) or None
        Features of the last lift, and its z (total weight of the points that use each).
    tried : Use or None
        Use that has fixed no feature.
    cap : int
        Maximum cones of the next search for features to fix.
    work : float
        Work that the first enumeration of many supports may take: r^3 for each part.
    failed : float
        Number of supports at the last failed enumeration.
    counted : Node or None
        Tree of an enumeration that decided all supports.
    above : (Supports, Use or None, bool) or None
        Supports, best use and `is_current` before features were eliminated for the first time.
    priced, claimed : Use or None, Stored or None
        The last use of which only the spectral half is proved, and its witness; with prices `priced` is the
        last use that has a witness, even if another has a better bound.
    """

    stage = "fixing"
    ground: Ground
    supports: Supports
    kept: Kept = field(init=False)
    warm: Warm | None = None
    at_level: bool = False
    answer: Answer | None = None
    narrowed: Narrowed | None = None
    stages: list[Stage] = field(default_factory=list)
    reduced: list[Reduced] = field(default_factory=list)
    best: Use | None = None
    is_current: bool = False
    is_exact: bool = False
    direction: Array | None = None
    points: Array | None = None
    places: tuple[np.ndarray, Array] | None = None
    tried: Use | None = None
    cap: int = 0
    work: float = 0.0
    failed: float = np.inf
    counted: Node | None = None
    above: tuple[Supports, Use | None, bool] | None = None
    priced: Use | None = None
    claimed: Stored | None = None

    @classmethod
    def of(cls, ground: Ground, task: Task, report: Report = silent) -> "Bounding":
        """Return the work on the node of a task before anything is done."""
        if task.supports.gone.size:
            level = task.lower * (1 + task.gap)
            less = ground.reduced(task.supports.gone, task.supports.left, level)
            assert less is not None  # at a level no lower they have been eliminated before
            ground = less
        return cls(
            problem=ground.problem,
            plan=task.plan,
            lower=task.lower,
            gap=task.gap,
            report=report,
            ground=ground,
            supports=task.supports,
            warm=task.warm,
            work=task.work,
            at_level=task.at_level,
        )

    @property
    def done(self) -> bool:
        """True when the node needs no more work: no supports left, gap closed, value exact, or enumerated."""
        return self.supports.is_empty or self.closed or self.is_exact or self.counted is not None

    @property
    def fixing_use(self) -> Use | None:
        """Return `priced`, or else the best use if that has a witness."""
        best = self.best
        if self.priced is not None:
            return self.priced
        return best if best is not None and best.witness is not None else None

    def carry(self, supports: Supports) -> None:
        """Go on with fewer supports: restrict the points of the bundle to their rows, and call `narrowed`."""
        self.is_current, self.supports = False, supports
        if self.points is not None:
            held = Warm(self.kept.features, np.zeros(0), np.zeros((len(self.points), 0)), self.points)
            kept = None if supports.is_empty else self.ground.kept(supports)
            self.points = None if kept is None else held.feasible(kept, supports.k)
        if self.narrowed is not None:
            self.narrowed(supports, self.lower, self.answer)

    # --- bounds ---------------------------------------------------------------------------------------------
    def offer(self, stored: Stored | None, estimate: float | None = None) -> Proof:
        """Prove the bound of a witness (None for W = M = U = 0), and keep the proof if it is the best."""
        features, given = self.kept.features, stored
        if stored is None and not self.kept.free and self.kept.prices is not None:
            use, none_made = self.without_witness(), np.zeros(0, dtype=np.uint8)
            if use.upper < self.upper:
                self.best, self.upper, self.direction, self.is_current = use, use.upper, None, True
            return Proof(use.t, use.F, 0.0, Cover(0.0, 0.0, np.zeros(0), none_made, 0, True), use.paid)
        if stored is None and self.kept.free:  # W = 0 needs rows for all features
            stored = Stored.of(features, none(features))
        witness = none(features) if stored is None else stored.at(features)
        margin = self.ground.margin
        limits = {"goal": self.target - 2 * margin, "hopeless": self.upper, "known": self.lower}
        budget = Budget(self.gap / 10, **limits, cap=self.plan.cap)
        proof = prove(self.problem, self.kept, witness, budget, estimate=estimate, report=self.quietly)
        proof = replace(proof, t=proof.t + margin, F=proof.F + margin)
        tau = proof.tau if self.kept.free else 0.0
        use = Use(stored, proof.t, proof.F, tau, proof.cover.tree, proof.paid)
        if given is not None:
            self.priced, self.claimed = (None if self.kept.prices is None else use), None
        if proof.upper < self.upper:
            self.best, self.upper = use, proof.upper
            self.direction, self.is_current = proof.cover.direction, True
        return proof

    def claim(self, stored: Stored | None, estimate: float | None = None) -> None:
        """Prove the spectral half of a witness alone, which may fix features then."""
        if stored is not None:
            t = spectral_half(self.problem, self.kept, stored.at(self.kept.features), estimate)
            t += self.ground.margin
            self.priced = Use(stored, t, np.inf, 0.0, np.zeros(0, dtype=np.uint8), self.kept.paid)
            self.claimed = stored

    def without_witness(self, estimate: float | None = None) -> Use:
        """Return the use of no witness: the largest eigenvalue, of A less the prices on its diagonal."""
        kept = self.kept
        M = None if kept.prices is None else np.diag(kept.prices)
        witness = replace(none(kept.features), M=M)
        margin = self.ground.margin
        t = spectral_half(self.problem, kept, witness, estimate) + margin
        return Use(None, t, margin, 0.0, np.zeros(0, dtype=np.uint8), kept.paid)

    # --- the search half ------------------------------------------------------------------------------------
    def query(self, use: Use) -> tuple[Query, float]:
        """Return the query of the search half of a use, and a bound on the rounding errors of its maximum."""
        assert use.witness is not None  # the caller has looked
        witness = use.witness.at(self.kept.features)
        query = query_of(self.kept, witness, self.problem.size, self.problem.nonneg)
        return query, lost_in_search(query) + lost_with_cuts(query, witness.M)

    def directions(self, query: Query) -> Array:
        """Return unit directions (c, D) in which the search half is known to be large."""
        d, D = query.V.shape[1], query.V.shape[1] + (query.tau > 0)
        found = np.zeros((0, D))
        if D == 0:
            return found
        if self.points is not None:
            X = self.points
            C = (query.V[: len(X)].T @ X).T
            if query.tau > 0:
                C = np.column_stack((C, np.sqrt(query.tau) * np.abs(X).sum(axis=0)))
            found = C
        if self.direction is not None and self.direction.size == D:
            found = np.vstack((found, self.direction))
        lengths = np.linalg.norm(found, axis=1)
        found = found[lengths > 0] / lengths[lengths > 0, None]
        assert found.shape[1] == D and d <= D
        return found[-CLIMBED:]

    # --- answers --------------------------------------------------------------------------------------------
    def reach(self, features: np.ndarray) -> None:
        """Keep the best weights on some features as the answer if they exceed the best value by the gap."""
        features = np.union1d(features, self.supports.gone)
        block = self.ground.whole.part.block(features)
        start = np.full(features.size, features.size**-0.5)
        x = ascent.best_on_support(block, start, self.problem.nonneg)
        value, prices = float(x @ block @ x), self.ground.prices
        if prices is not None:
            features, x = features[x != 0], x[x != 0]
            value -= float(prices[np.union1d(features, self.supports.into)].sum())
        if value > self.target and not self.at_level:
            self.lower, self.answer = value, (features, x)
