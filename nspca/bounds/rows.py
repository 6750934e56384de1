"""Choose the rows of A on which a bound is proved: those of safe elimination, or a dense core with weights.

Where safe elimination leaves out too much, cores of some sizes and thresholds are tried with the dual, and
the best one is kept. `search` runs one `RowSearch`.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from nspca.bounds import core, elimination
from nspca.bounds.dual_search import DualSearch
from nspca.bounds.elimination import Kept
from nspca.bounds.plan import PLANS, Plan
from nspca.bounds.remainder import Remainder, collect
from nspca.bounds.witness import Witness
from nspca.covariance.linalg import Array, largest_eigenpairs
from nspca.errors import Refused
from nspca.problem import Problem

MOST_ROWS = 800
"""Maximum rows of safe elimination where a core may be tried for one component. With more, a core proves as
much in a third of the time.
"""
LITTLE = 0.2
"""For several components: maximum share of the value that the largest entry left out costs at which the kept
rows are chosen where a core with weights is possible too.
"""
LIKELY = 0.97
"""Assumed value when none is known, relative to the bound with an empty core."""
LAST, SMALL, LAST_IN_PARTS = (0.8, 0.9), 0.02, 0.6
"""Thresholds tried for the lift of one component, relative to that of its core: the first is taken whose K is
at most the share SMALL of the value. Row cuts and a lift gain more from a low threshold than the dual does.
That of data in parts is lower, whatever K is.
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
QUICK = PLANS["fast"]
"""Plan of the dual that a core is tried with for one component, before it gets that of its effort."""
EXCESS = 0.3
"""Threshold of a core for one component, given by the rise of the bound with an empty core, as a share of its
gap.
"""
CLOSES = 0.05
"""Least share of the gap that a larger core closes; otherwise a lift gains more on the smaller one."""
FOLLOWED = 5
"""Number of eigenvectors from which the weights of features outside a core are chosen."""


def kept_rows(problem: Problem, plan: Plan, number: int) -> Kept:
    """Return at most `number` kept rows; all rows where elimination gains nothing for several components and
    the plan allows all.
    """
    kept = elimination.keep(problem, number)
    futile = problem.joint and kept.rows is not None and 2 * kept.floor > problem.covariance.diagonal.max()
    return elimination.all_rows(problem) if futile and problem.n <= plan.whole else kept


@dataclass(eq=False)
class RowSearch:
    """Tries rows with the dual.

    Attributes
    ----------
    lower : float
        The best known value, in unit scale; 0 for none.
    dual : callable
        ``dual(kept, plan)`` returns a run of the dual on some rows; raises `Refused` where none is proved.
    refused : Refused or None
        Why the last dual could not be proved.
    """

    problem: Problem
    plan: Plan
    lower: float
    dual: Callable[[Kept, Plan], DualSearch]
    refused: Refused | None = None

    @property
    def is_on_core(self) -> bool:
        """Tell whether a core with weights is tried before the rows of safe elimination."""
        problem, most = self.problem, self.plan.left_out * self.lower
        rows = self.plan.rows
        if not problem.joint and problem.n > rows[-1]:
            rows = tuple(min(r, MOST_ROWS) for r in rows)
        if (problem.joint and not self.lower > 0) or not core.pays(problem, rows, most, self.lower):
            return False
        return not problem.joint or not elimination.leaves_out_little(problem, rows[-1], LITTLE * self.lower)

    def tried(self, kept: Kept | None) -> DualSearch | None:
        """Return a run of the dual on some rows; None without rows, or if it could not be proved."""
        if kept is None:
            return None
        try:
            return self.dual(kept, self.plan if self.problem.joint or kept.weights is None else QUICK)
        except Refused as error:
            self.refused = error
            return None

    def on_kept_rows(self) -> DualSearch | None:
        """Return the run of the dual on the rows of safe elimination; of several components on more and more
        rows, while what is left out limits the bound. None if none is proved.
        """
        plan, problem = self.plan, self.problem
        first = elimination.enough_rows(problem, plan.rows, plan.left_out * self.lower)
        if not self.lower and problem.joint:
            first = plan.rows[0]
        run = None
        for rows in [first, *(rows for rows in plan.rows if rows > first)]:
            kept = kept_rows(problem, plan, rows)
            run = self.tried(kept)
            if run is None or run.closed or kept.rows is None or not problem.joint:
                break
            if Witness(run.W).threshold(problem.nonneg, kept.floor) > kept.floor:
                break  # more rows would not help
            self.plan = replace(plan, rhos=(run.rho or plan.rhos[0],))
        self.plan = plan
        return run

    # --- cores ----------------------------------------------------------------------------------------------
    def on_cores(self) -> DualSearch | None:
        """Return the best run of the dual on cores with weights for the other features, if any is proved.

        One component gets the threshold below the best one for an empty core at which the bound rises by the
        share `EXCESS` of its gap. For several, lower and lower ones are tried on the first core while the
        bound falls, which is nearly convex in them. The claim keeps its ratio to the noise, the largest
        eigenvalue outside the core of what is left above the threshold. Data in parts get one threshold:
        variances outside are small there.
        """
        problem, A = self.problem, self.problem.covariance
        few, joint = core.few_in_reach(A), problem.joint
        collect(A, problem.nonneg, DEEP * core.first_level(problem, self.lower))
        remainder, curve = core.search_tau(problem, self.lower)
        empty = float(curve.uppers.min())
        self.aim = self.lower if self.lower > 0 else LIKELY * empty
        # the ratio of the claim to the noise on the first core, which larger cores keep; 0 before it is known
        best, ratio, tau = None, 0.0, curve.best * (1.0 if few else RAISED)
        if not joint:
            tau = curve.lower_tau(EXCESS * max(empty - self.aim, 0.0))
            forced = np.array(problem.forced, dtype=np.int64)
            best = self.better(None, remainder, forced, curve.best, 0.0)
        ranked = core.ranking(problem, remainder.above(curve.best if joint else tau))
        for count in self.plan.cores:
            if count >= problem.n or (best is not None and best.closed):
                break
            rows = core.choose_rows(problem, ranked, count)
            claim = ratio * _noise(remainder, rows, tau) if ratio else self.usual_claim(tau)
            best = self.better(best, remainder, rows, tau, claim)
            if not joint or few or ratio:
                continue
            noise = _noise(remainder, rows, tau)
            ratio = claim / noise if noise else 0.0
            for lower in tau * FALL ** np.arange(1, TRIED):
                if best is None or not noise or lower <= remainder.level:
                    break
                claim = ratio * _noise(remainder, rows, lower)
                before, best = best, self.better(best, remainder, rows, float(lower), claim)
                if best is before:
                    break
                tau = float(lower)
        return best

    def better(
        self, best: DualSearch | None, remainder: Remainder, rows: np.ndarray, tau: float, claim: float
    ) -> DualSearch | None:
        """Return the better of a run and one with a threshold and a spectral claim."""
        run = self.tried(core.with_core(self.problem, remainder, rows, tau, claim))
        if run is None or best is None:
            return run or best
        larger = 0.0 if rows.size == len(best.kept.block) else CLOSES * (best.upper - self.aim)
        return run if run.upper < best.upper - larger else best

    def usual_claim(self, tau: float, share: float = core.SHARE) -> float:
        """Return the usual spectral claim t for a threshold tau (see `core.SHARE`)."""
        sizes = self.problem.sizes
        return share * (self.aim - sum(sizes) * tau) / len(sizes)

    def lowered(self, run: DualSearch, is_long: bool) -> Kept:
        """Return the core of a run for one component with the threshold (see `LAST`) and the weights for its
        lift; `is_long` tells whether a lift in more dimensions follows.
        """
        problem, A, kept = self.problem, self.problem.covariance, run.kept
        in_parts = core.few_in_reach(A)
        share = core.SHARE if in_parts else core.LIFTED_SHARE
        share, v = min(share, core.HIGHER_SHARE) if is_long else share, directions(run)
        for lower in ((LAST_IN_PARTS,) if in_parts else LAST) + (1.0,):
            tau = lower * kept.floor
            less = core.with_core(
                problem, collect(A, problem.nonneg, tau), kept.features, tau, self.usual_claim(tau, share), v
            )
            if less is None or less.folded is None:
                continue
            if in_parts or lower == 1.0 or np.linalg.norm(less.folded, 2) <= SMALL * self.aim:
                return less
        return kept


def _noise(remainder: Remainder, rows: np.ndarray, tau: float) -> float:
    others = core.features_outside(remainder.n, rows)
    return core.largest_eigenvalue(remainder.above(tau)[others][:, others])


def directions(run: DualSearch) -> Array | None:
    """Return the root mean square pattern (r,) of the leading eigenvectors of ``A - W - sym(M) - UU'``.

    The weights of features outside a core are chosen for this vector.
    """
    if run.certificate is None:
        return None
    R = Witness(*(run.certificate.witness.get(name) for name in ("W", "M", "U"))).left(run.kept)
    vectors = largest_eigenpairs(R, min(FOLLOWED, len(R)))[1]
    return np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
