"""Base class of every search for a bound (steps and progress), and the evaluation of a lift.

The searches of `search`, `dual_search`, `fixing` and `disjoint` are kinds of `Work`.
"""

from dataclasses import dataclass, replace

import numpy as np

from nspca.bounds.dual.lift import Lift
from nspca.bounds.dual.splitting import Splitting
from nspca.bounds.elimination import Kept
from nspca.bounds.plan import CLOSED, GROW_EVERY, OVERHEAD, Plan
from nspca.bounds.witness import Witness, lift_of
from nspca.covariance.linalg import Array, largest_eigenpairs, topk_sum
from nspca.problem import Problem
from nspca.progress import Event, Report, silent

AVERAGED = 25
"""Number of last steps whose mean W and M are evaluated.

Older steps are too far from the present one, and over fewer steps the oscillations do not cancel.
"""


@dataclass(eq=False)
class Work:
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

    problem: Problem
    plan: Plan
    lower: float
    gap: float = CLOSED
    report: Report = silent
    upper: float = np.inf
    steps: int = 0
    total: int = 0
    entries: float = 0.0

    @property
    def stage(self) -> str:
        """What is being done, for events."""
        return "joint proof" if self.problem.joint else "dual"

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

    def spectral(self, witness: Witness, kept: Kept) -> float:
        """Return an estimate of the bound of a witness without its search half."""
        sizes = self.problem.sizes
        values = largest_eigenpairs(witness.left(kept), len(sizes))[0]
        paid = 0.0 if witness.prices is None else float(topk_sum(witness.prices, sum(sizes)))
        return kept.largest(values, len(sizes)) + paid

    def present(
        self, lift: Lift, witness: Witness, kept: Kept, tau: float
    ) -> tuple[Witness, float, Array, Array]:
        """Return the mean witness of a lift, of one component with the plain U if that is better.

        The others are the bound without the search half, an estimate; the largest value of a point for each
        size, below which a proved search half is hardly ever; and the plain U.
        """
        h = witness.heights(kept, lift.k, lift.nonneg)
        h = np.zeros(len(kept.block)) if h is None else h
        assert witness.U is not None  # that of the lift
        base, tops = self.spectral(witness, kept), lift.reach(witness.U, h, tau)
        U, left = lift_of(kept, witness, lift.B.shape[1])
        if not self.problem.joint:
            plain = lift.reach(U, h, tau)
            if left + float(plain[0]) < base + float(tops[0]):
                return replace(witness, U=U), left, plain, U
        return witness, base, tops, U

    def tell(self) -> None:
        k = None if self.problem.joint else self.problem.size
        lower, total = self.lower * self.problem.covariance.unit, max(self.total, self.steps)
        self.report(Event(self.stage, self.steps, total, lower, self.shown, k))

    def quietly(self, event: Event) -> None:
        """Report for an inner search: allows cancelling, without showing the events of the inner search."""
        self.tell()
