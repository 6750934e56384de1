"""Base of every search for a bound: counts steps, reports progress, and turns a lift into a bound."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

import numpy as np

from nspca.bounds.dual.lift import Lift
from nspca.bounds.dual.splitting import Splitting
from nspca.bounds.inequality import heights, threshold
from nspca.bounds.plan import CLOSED, GROW_EVERY, JointPlan, Plan
from nspca.bounds.witness import Proof, Witness, largest, lift_of
from nspca.problem import Problem
from nspca.progress import Event, Report, silent

AVERAGED = 25
"""Steps that a look is at the mean of: more are too old, of fewer too little cancels."""
P = TypeVar("P", Plan, JointPlan)


@dataclass(eq=False)
class Work(Generic[P]):
    """Progress of the work on one bound, in unit scale.

    Attributes
    ----------
    lower, upper : float
        A value known to be reached, and the best bound so far.
    gap : float
        Relative distance of the two at which there is nothing left to do.
    steps, total : int
        Made, and allowed.
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

    @property
    def target(self) -> float:
        """A bound of this closes the gap."""
        return self.lower * (1 + self.gap)

    @property
    def closed(self) -> bool:
        return self.upper <= self.target

    @property
    def shown(self) -> float | None:
        """The best bound in the units of the data; None before the first."""
        return self.upper * self.problem.covariance.unit if np.isfinite(self.upper) else None

    def advance(self, splitting: Splitting, steps: int) -> None:
        """So many steps; now and then a look at the bundle of the lift, if there is one.

        A lift remembers the last of them.
        """
        for step in range(steps):
            splitting.step()
            if splitting.lift is not None and step >= steps - AVERAGED:
                splitting.lift.remember(afresh=step == max(0, steps - AVERAGED))
            self.steps += 1
            if self.steps % GROW_EVERY == 0:
                if splitting.lift is not None:
                    splitting.lift.grow()
                self.tell()

    def tell(self) -> None:
        k = None if self.problem.joint else self.problem.size
        lower, total = self.lower * self.problem.covariance.unit, max(self.total, self.steps)
        self.report(Event(self.stage, self.steps, total, lower, self.shown, k))

    def quietly(self, event: Event) -> None:
        """For searches inside: they may be cancelled, but only the work's own events say where it stands."""
        self.tell()


def look(
    lift: Lift,
    prove: Callable[[Witness, float], Proof],
    keep: Callable[[Witness, Proof], None],
    below: float = np.inf,
) -> float:
    """The smaller of two bounds, both of the mean of the last steps: the lift as it is, and the plain lift of
    W and M, whose subspace it takes.

    Parameters
    ----------
    prove : callable
        Proof of a witness, given the estimate of its largest eigenvalue.
    keep : callable
        What becomes of a witness and its proof; by then the bundle has the direction the search ended in.
    below : float
        Only what promises less is searched for: the search half is never below what the bundle promises.
    """
    kept, rank, (W, M, own, _) = lift.splitting.kept, lift.B.shape[1], lift.averaged()
    U, left = lift_of(kept, Witness(W, M), rank)
    tau = threshold(W, lift.nonneg, kept.floor)
    h = np.zeros(len(W)) if M is None else heights(M, lift.k, lift.nonneg)
    found = []
    for columns, estimate in ((own, largest(kept, Witness(W, M, own))), (U, left)):
        witness = Witness(W, M, columns)
        promise = estimate + lift.value(columns, h, tau)
        if promise >= below:
            found.append(promise)
            continue
        proof = prove(witness, estimate)
        # The mean of the last steps may have fewer directions than the last step itself.
        if columns is own and proof.cover.direction.size == lift.U.shape[1] + 1:
            lift.grow(proof.cover.direction[:, None])
        keep(witness, proof)
        found.append(proof.upper)
    if U.shape[1] == rank:
        lift.rebase(np.linalg.qr(U)[0])
    return min(found)
