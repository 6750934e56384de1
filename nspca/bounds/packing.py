"""Improve the bound of `packed_proof` on r disjoint components with prices and a lift.

As for one component, the splitting (`dual.lift`) improves W, M, L and the prices together. `joint` runs a
`Packing` after `kyfan`, from whose W it starts.
"""

from dataclasses import dataclass

import numpy as np

from nspca.bounds import core
from nspca.bounds.dual import starts
from nspca.bounds.dual.lift import Lift, add_packing
from nspca.bounds.dual.splitting import Splitting
from nspca.bounds.elimination import Kept
from nspca.bounds.kyfan import KyFan
from nspca.bounds.packed_proof import Packed, PackedProof, counts_of
from nspca.bounds.plan import ROUND, JointPlan
from nspca.bounds.witness import Witness, lift_of
from nspca.certificate import Certificate
from nspca.covariance.linalg import Array, largest_eigenpairs
from nspca.errors import Cancelled
from nspca.progress import silent

PLATEAU = 0.05
"""Relative excess over the (r + 1)-th eigenvalue of A - W from which an eigenvalue gets a dimension of the
lift.
"""
WORTH, RARE, WIDE = 0.25, 0.5, 0.05
"""A search is made when it promises to close at least the share WORTH of the gap, or RARE with the last rank,
whose last bound is searched anyway. While no value is known, the share WIDE of the bound stands for the gap.
In the last round any promised gain is searched.
"""
STALL = 0.02
"""A lift ends after `JointPlan.patience` rounds in a row that each close less than this share of the gap."""
ON_THE_WAY = 0.04, 2
"""Share and rounds for a lift that gets one more dimension afterwards, which closes more."""
HARDER = 12
"""Least work expected of a lift with one more dimension, as a multiple of the work of the last search. It was
12 for mfeat, from four dimensions to five and from five to six.
"""


@dataclass(eq=False, kw_only=True)
class Packing(PackedProof):
    """Run that improves the bound of `kyfan` for several components with prices and a lift.

    Attributes
    ----------
    W, X : the best W and its X of the run before
    before : bound proved by the run before, in the units of the data
    first, last : ranks of the first and of the last lift so far, also of a run that this one goes on from;
        0 before there is one
    scales, last_kept : scales of the kept rows, and the rows with their K, at the end of the last lift; None
        before there is one
    is_opened : whether the features outside the kept rows got weights (see `core.opened`)
    """

    W: Array
    X: Array
    before: float = np.inf
    first: int = 0
    last: int = 0
    scales: Array | None = None
    last_kept: Kept | None = None
    is_opened: bool = False

    @classmethod
    def following(cls, run: KyFan, before: Certificate) -> "Packing":
        """Return the run that continues from the end of a `KyFan` run, whose certificate is `before`."""
        unit, W, X = run.problem.covariance.unit, run.best, run.X
        assert W is not None
        assert X is not None
        return cls(
            run.problem,
            run.plan,
            run.lower,
            report=run.report,
            steps=run.steps,
            upper=before.upper / unit,
            kept=run.kept,
            W=W,
            X=X,
            before=before.upper,
        )

    @classmethod
    def going_on(cls, run: "Packing", plan: JointPlan, before: Certificate) -> "Packing":
        """Return the run with lifts of higher rank that goes on from the end of another, by another plan.

        `before` is the best certificate so far.
        """
        return cls(
            run.problem,
            plan,
            run.lower,
            report=run.report,
            steps=run.steps,
            upper=before.upper / run.problem.covariance.unit,
            kept=run.kept,
            W=run.W,
            X=run.X,
            before=before.upper,
            first=run.first,
            last=run.last,
            scales=run.scales,
            last_kept=run.last_kept,
            is_opened=run.is_opened,
            last_rows=run.last_rows,
        )

    def run(self) -> Certificate | None:
        """Return the certificate of the best bound, None when no bound is better than `before`."""
        try:
            self.rounds()
            return self.proved()
        except Cancelled as stop:
            self.report = silent
            stop.best = self.proved(fine=False)
            raise

    def rounds(self) -> None:
        """Improve one lift after another, each with one more dimension, as often as the plan allows."""
        if self.is_scaled and self.kept.weights is None:
            self.open_rows()
        # where a search over sets follows, that proves the rest
        self.first = self.first or self.rank()
        spared = self.plan.spared if self.is_scaled and self.first == self.plan.ranks[1] else 0
        passes = 1 if self.plan.searched_nodes(self.problem.n) else max(1, self.plan.passes - spared)
        self.total = self.steps + self.plan.packing_steps(len(self.kept.block))
        end = min(self.first + passes, len(self.kept.block) + 1)
        for rank in range(max(self.first, self.last + 1), end):
            if self.searched_rows + HARDER * self.last_rows < self.plan.searching and not self.closed:
                lift, self.last = self.begin(rank), rank
                last_step = self.steps + (self.total - self.steps) // (end - rank)
                self.improve(lift, last_step, is_last=rank == end - 1)
                (self.W, *_), self.X = lift.averaged(), lift.splitting.X
                self.scales, self.last_kept = lift.averaged_scales(), lift.splitting.kept
        self.steps = self.total
        self.tell()

    def improve(self, lift: Lift, end: int, is_last: bool) -> None:
        """Alternate splitting steps with `look` until the gap hardly closes or step `end` is reached.

        Where a round of the last lift closed hardly anything, the steps swing about a limit. Then the lift is
        held, for a mean over more than one round.
        The last bound of the last lift is left to `proved`, which searches once, at the tolerance `fine`.
        """
        usual = max(self.plan.worth, RARE if is_last else WORTH)
        self.look(lift, usual)
        own, idle, most = np.inf, 0, self.plan.searching
        stall, patience = (STALL, self.plan.patience) if is_last else ON_THE_WAY
        while self.steps < end and self.searched_rows < most and not self.closed and idle < patience:
            self.advance(lift.splitting, min(ROUND, end - self.steps))
            last = self.steps == end or idle == patience - 1
            reached = self.look(lift, 0.0 if last else usual, put_off=last and is_last)
            closed_little = np.isfinite(own) and own - reached < stall * max(own - self.lower, 0.0)
            idle = idle + 1 if closed_little else 0
            own = min(own, reached)
            lift.is_held = is_last and idle > 0

    def begin(self, rank: int) -> Lift:
        """Return a lift of the given rank that starts from the present W, with prices fitted to W."""
        problem, kept, nonneg = self.problem, self.last_kept or self.kept, self.problem.nonneg
        splitting = Splitting(kept, sum(problem.sizes), nonneg, rho=self.plan.rho, count=len(problem.sizes))
        splitting.resume(self.W, self.X)
        U, _ = lift_of(kept, Witness(self.W), rank)
        B, counts = starts.basis(kept, self.W, rank), counts_of(problem)
        points = starts.first_points(splitting, U, counts)
        lift = add_packing(splitting, B, points, counts, self.plan)
        if self.is_scaled:
            lift.rescale(np.ones(len(self.W)) if self.scales is None else self.scales)
            splitting.resume(self.W, self.X)
        lift.resume(U, self.X)
        starts.first_prices(lift, sum(problem.sizes), self.tell, moving=self.scales is None)
        return lift

    def open_rows(self) -> None:
        """Give the features outside the kept rows weights where that allows a lower floor."""
        count = min(len(self.problem.sizes) + self.plan.ranks[1], len(self.W))
        values = largest_eigenpairs(self.kept.block - self.W, count)[0]
        self.kept = core.opened(self.problem, self.kept, float(values[-1]))
        self.is_opened = self.kept.weights is not None

    @property
    def is_scaled(self) -> bool:
        """Tell whether rows get scales: not on a dense core, and not before a search over sets."""
        on_core = self.kept.weights is not None and not self.is_opened
        return not on_core and not self.plan.searched_nodes(self.problem.n)

    def rank(self) -> int:
        """Return the dimension of the first lift: one more than the eigenvalues of A - W that stand out.

        The r largest eigenvalues are compared with the next one (see `PLATEAU`).
        """
        least, most = self.plan.ranks
        r = len(self.problem.sizes)
        values = np.maximum(largest_eigenpairs(self.kept.block - self.W, r + 1)[0], 0.0)
        plateau = values[r] if values.size > r else 0.0
        standing = int(np.count_nonzero(values[:r] > (1 + PLATEAU) * plateau))
        return min(max(standing + 1, least), most, r + 1, len(self.kept.block))

    def look(self, lift: Lift, worth: float, put_off: bool = False) -> float:
        """Return the present bound of a lift, and turn the lift to the leading subspace of what is left.

        A lift that is held is not turned.
        The bound is searched and proved when it promises to close the share `worth` of the gap. Otherwise it
        is only an estimate, and `proved` searches the best of those. With `put_off` all are left to it.
        """
        numbers, nonneg = lift.averaged(), self.problem.nonneg
        scales = lift.averaged_scales()
        packed, factor = Packed(*numbers, scales).levelled(self.kept, nonneg)
        tau = packed.threshold(nonneg, self.kept.floor)
        kept = self.formed(packed) or self.kept
        if kept.block is not lift.splitting.A:  # K has changed
            lift.splitting.follow(kept)
            if packed.scales is not None:
                lift.relief = core.relief(self.problem, lift.splitting.kept, packed.scales, lift.splitting.X)
        base, h = packed.base(self.problem, kept), packed.heights(self.problem)
        tau *= factor**2  # for the scales of the lift
        # the bundle has points for single steps, and climbs find those that the mean leaves room for
        tops = lift.reach(packed.L, h, tau)
        promise = base + float(lift.totals @ tops)
        gap = self.upper - self.lower if self.lower > 0 else WIDE * self.upper
        if not put_off and promise < self.upper - worth * gap:
            promise, halves = self.searched(packed, base, tops)
            for _, cover in halves:
                if cover.direction.size == lift.U.shape[1] + 1:
                    lift.grow(cover.direction[:, None])
            if promise < self.upper:
                self.best, self.halves, self.upper = packed, halves, promise
                self.tell()
        elif promise < min(self.upper, self.promised):
            self.candidate, self.promised = packed, promise
        U, _ = lift_of(kept, Witness(packed.W, packed.M), lift.B.shape[1])
        if U.shape[1] == lift.B.shape[1] and not lift.is_held:
            lift.rebase(np.linalg.qr(U)[0])
        return promise

    @property
    def shown(self) -> float | None:
        """Smallest bound to report: the best of this run and of the run before."""
        own = super().shown
        return self.before if own is None else min(own, self.before)
