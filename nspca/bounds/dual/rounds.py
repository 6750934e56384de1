"""Base class of every search for a bound (steps and progress), and the evaluation of a lift.

The searches of `bound_search`, `fixing`, `disjoint` and `joint_bound` are kinds of `Work`.
`bound_search` and `fixing.settle` call `look` after every round of steps.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

import numpy as np

from nspca.bounds.dual.lift import Lift
from nspca.bounds.dual.splitting import Splitting
from nspca.bounds.inequality import threshold
from nspca.bounds.plan import CLOSED, GROW_EVERY, OVERHEAD, JointPlan, Plan
from nspca.bounds.witness import Proof, Witness, largest, lift_of
from nspca.covariance.linalg import Array
from nspca.problem import Problem
from nspca.progress import Event, Report, silent

AVERAGED = 25
"""Number of last steps whose mean W and M `look` evaluates.

Older steps are too far from the present one, and over fewer steps the oscillations do not cancel.
"""
P = TypeVar("P", Plan, JointPlan)


@dataclass(eq=False)
class Work(Generic[P]):
    """Base class of a search for a bound: progress, and the best bound so far, in unit scale.

    Attributes
    ----------
    lower, upper : float
        The best known value, and the best bound so far.
    gap : float
        Relative gap of the two that counts as closed.
    steps, total : int
        Number of steps made, and their maximum.
    entries : float
        Work of these steps, in entries: `OVERHEAD` and a matrix for each.
    """

    stage: ClassVar[str]
    problem: Problem
    plan: P
    lower: float
    gap: float = CLOSED
    report: Report = silent
    upper: float = np.inf
    steps: int = 0
    total: int = 0
    entries: float = 0.0

    @property
    def target(self) -> float:
        return self.lower * (1 + self.gap)

    @property
    def closed(self) -> bool:
        """True once the best bound is at most `target`."""
        return self.upper <= self.target

    @property
    def shown(self) -> float | None:
        """Best bound in the units of the data; None before the first."""
        return self.upper * self.problem.covariance.unit if np.isfinite(self.upper) else None

    def advance(self, splitting: Splitting, steps: int) -> None:
        """Make `steps` steps of a splitting, and report progress.

        The bundle of a lift, if there is one, grows every `GROW_EVERY` steps. The last `AVERAGED` steps enter
        the mean of the lift, or all steps while the lift is held.
        """
        self.entries += steps * (len(splitting.kept.block) ** 2 + OVERHEAD)
        for step in range(steps):
            splitting.step()
            lift = splitting.lift
            if lift is not None and (lift.is_held or step >= steps - AVERAGED):
                lift.remember(afresh=not lift.is_held and step == max(0, steps - AVERAGED))
            self.steps += 1
            if self.steps % GROW_EVERY == 0:
                if splitting.lift is not None:
                    splitting.lift.grow()
                    splitting.lift.move_scales()
                self.tell()

    def tell(self) -> None:
        k = None if self.problem.joint else self.problem.size
        lower, total = self.lower * self.problem.covariance.unit, max(self.total, self.steps)
        self.report(Event(self.stage, self.steps, total, lower, self.shown, k))

    def quietly(self, event: Event) -> None:
        """Report for an inner search: allows cancelling, without showing the events of the inner search."""
        self.tell()


@dataclass(frozen=True, eq=False)
class Proposal:
    """A witness that a lift gives, and what is known of its bound before any search.

    Attributes
    ----------
    witness : Witness
    left : float
        Estimate of ``lambda_max(A - W - sym(M) - UU')``.
    promise : float
        Bound that the points of the bundle allow. The proved bound is hardly ever below.
    is_own : bool
        Whether U is that of the lift itself.
    """

    witness: Witness
    left: float
    promise: float
    is_own: bool


def proposals(lift: Lift) -> Iterator[Proposal]:
    """Yield two witnesses with the mean W and M of the last steps of a lift.

    The first has the mean U of the lift itself, the second the U of the plain lift.
    """
    kept, (W, M, own, _) = lift.splitting.kept, lift.averaged()
    U, left = lift_of(kept, Witness(W, M), lift.B.shape[1])
    tau, h = threshold(W, lift.nonneg, kept.floor), Witness(W, M).heights(kept, lift.k, lift.nonneg)
    h = np.zeros(len(W)) if h is None else h

    def proposal(columns: Array, estimate: float, is_own: bool) -> Proposal:
        promise = estimate + lift.value(columns, h, tau) - kept.paid
        return Proposal(Witness(W, M, columns), estimate, promise, is_own)

    yield proposal(own, largest(kept, Witness(W, M, own)), True)
    yield proposal(U, left, False)


def turn(lift: Lift, plain: Witness) -> None:
    """Change a lift to the subspace of the U of a plain lift if it has as many dimensions."""
    if plain.U is not None and plain.U.shape[1] == lift.B.shape[1]:
        lift.rebase(np.linalg.qr(plain.U)[0])


def look(
    lift: Lift,
    prove: Callable[[Witness, float], Proof],
    keep: Callable[[Witness, Proof], None],
    below: float = np.inf,
    enough: Callable[[Witness, float], bool] = lambda witness, estimate: False,
    eager: bool = False,
) -> float:
    """Evaluate a lift for one component, and return the smaller of two bounds of the mean of its last steps.

    One bound is that of the lift itself, the other that of the plain lift of the mean W and M. The lift then
    continues in the subspace of the plain lift.

    Parameters
    ----------
    lift : Lift
    prove : callable
        ``prove(witness, estimate)`` returns the proof, given an estimate of the largest eigenvalue.
    keep : callable
        ``keep(witness, proof)`` receives each proved witness.
    below : float
        Bounds that the bundle shows to be at least this are estimated only, not proved.
    enough : callable
        ``enough(witness, estimate)`` tells whether nothing more is to be proved, of a witness that would be
        proved next. The lift then stays as it is.
    eager : bool
        Whether that is asked of all witnesses, also of those that are estimated only.
    """
    found: list[float] = []
    for one in proposals(lift):
        if (eager or one.promise < below) and enough(one.witness, one.left):
            return one.promise
        if one.promise >= below:
            found.append(one.promise)
            continue
        proof = prove(one.witness, one.left)
        # The mean of the last steps may have fewer directions than the last step itself.
        if one.is_own and proof.cover.direction.size == lift.U.shape[1] + 1:
            lift.grow(proof.cover.direction[:, None])
        keep(one.witness, proof)
        found.append(proof.upper)
    turn(lift, one.witness)
    return min(found)
