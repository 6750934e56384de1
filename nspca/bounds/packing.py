"""Bound the sum of r disjoint components with prices and a lift, which use that no feature is shared.

For any prices pi >= 0 of the features and any L with d columns, rows l_i, S the sum of the sizes s_j,

    OPT_joint <= r t + |U|^2 + topk(pi, S) + sum_j max over unit c of topk_i( ((v_i'c)+)^2 + h_i - pi_i ),
    A - W - sym(M) - LL' <= tI + UU',  t >= 0,  v_i = (l_i, sqrt(tau)),

topk_i sums s_j terms, and tau and h are as in `inequality` for k = max s_j. Each component pays the prices of
its features, and topk(pi, S) bounds the sum of all prices paid. As for one component, the splitting
(`dual.lift`) improves W, M, L and pi together. A search over the sphere for each different size then proves
the bound. `joint` runs a `Packing` after `kyfan`, and `lean` proves rounded numbers with `of_numbers`.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from nspca.bounds.dual import starts
from nspca.bounds.dual.lift import Lift, add_packing
from nspca.bounds.dual.rounds import Work
from nspca.bounds.dual.splitting import Splitting
from nspca.bounds.elimination import Kept
from nspca.bounds.inequality import heights, search_slack, threshold
from nspca.bounds.kyfan import KyFan, claimed
from nspca.bounds.plan import JOINT_PLANS, ROUND, JointPlan
from nspca.bounds.witness import Witness, lift_of, search_half
from nspca.certificate import Certificate
from nspca.covariance.linalg import UNIT_ROUNDOFF, Array, largest_eigenpairs, topk_sum
from nspca.errors import Cancelled
from nspca.lowrank.cones import Budget, Cover
from nspca.lowrank.objective import Query
from nspca.problem import Problem
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
LEAST = 2000
"""Cones that a search may make, however much was searched before."""
COARSE, FINE, FINEST, OPEN = 1e-3, 1e-4, 2e-5, (0.01, 0.02)
"""Tolerance of a search relative to the bound: COARSE during the rounds, FINE for the certificate where no
value is known. Where one is known, the search for the certificate may leave open a share of the gap: half the
gap, but at least and at most the shares OPEN; and FINEST if that is more. CBCL / 255 in 5 parts of 40 pixels
is proved to .9930 so, and to .9929 with FINE. Lee-Seung faces in 4 parts of 30 pixels have a gap of .035. The
larger share saves a sixth of the cones there, and costs .0003.
"""

Searched = tuple[float, list[tuple[float, Cover]]]
"""A searched bound, and for each size the value F of its search and the cover that proves F."""


@dataclass(frozen=True, eq=False)
class Packed:
    """W, M, L and prices of the bound, on the kept rows. M = None stands for zero."""

    W: Array
    M: Array | None
    L: Array
    prices: Array

    @property
    def taken(self) -> Array:
        """``W + sym(M)``, which is subtracted from A."""
        return self.W if self.M is None else self.W + (self.M + self.M.T) / 2

    def left(self, kept: Kept) -> Array:
        """Return ``A - W - sym(M) - LL'`` on the kept rows."""
        return kept.block - self.taken - self.L @ self.L.T

    def base(self, problem: Problem, kept: Kept) -> float:
        """Return the bound without its search half: r largest eigenvalues of `left`, and topk of prices."""
        values = largest_eigenpairs(self.left(kept), len(problem.sizes))[0]
        own = kept.largest(values, len(problem.sizes))
        return own + float(topk_sum(self.prices, sum(problem.sizes)))

    def heights(self, problem: Problem) -> Array:
        """Return the heights h - pi (r,) of the rows: h of the row cuts M, less the price."""
        h = np.zeros(len(self.L)) if self.M is None else heights(self.M, max(problem.sizes), problem.nonneg)
        return h - self.prices


def counts_of(problem: Problem) -> tuple[tuple[int, int], ...]:
    """Return the different sizes, largest first, each with the number of components of that size."""
    return tuple((size, problem.sizes.count(size)) for size in sorted({*problem.sizes}, reverse=True))


def of_numbers(problem: Problem, kept: Kept, packed: Packed) -> Certificate | None:
    """Return the certificate of given W, M, L and prices, as `lean` has them; None when the proof fails."""
    zero, plan = np.zeros_like(kept.block), JOINT_PLANS["thorough"]
    run = Packing(problem, plan, 0.0, kept=kept, W=zero, X=zero, best=packed)
    none_known = [0.0] * len(counts_of(problem))
    run.upper, run.halves = run.searched(packed, packed.base(problem, kept), none_known, fine=True)
    return run.proved(fine=False)


@dataclass(eq=False, kw_only=True)
class Packing(Work[JointPlan]):
    """Run that improves the bound of `kyfan` for several components with prices and a lift.

    Attributes
    ----------
    kept, W, X : the kept rows, and the best W and its X of the run before
    before : bound proved by the run before, in the units of the data
    first, last : ranks of the first and of the last lift so far, also of a run that this one goes on from;
        0 before there is one
    best, halves : numbers that prove `upper`, and the value F and the cover for each size; None and empty
        until a bound better than `before` is found
    searched_rows, last_rows : cones times rows, summed over all searches, and of the last search
    candidate, promised : numbers of the best bound that was not searched, and what its bundle promises
    """

    stage = "joint proof"
    kept: Kept
    W: Array
    X: Array
    before: float = np.inf
    first: int = 0
    last: int = 0
    best: Packed | None = None
    halves: list[tuple[float, Cover]] = field(default_factory=list)
    searched_rows: int = 0
    last_rows: int = 0
    candidate: Packed | None = None
    promised: float = np.inf

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
        unit = run.problem.covariance.unit
        return cls(
            run.problem,
            plan,
            run.lower,
            report=run.report,
            steps=run.steps,
            upper=before.upper / unit,
            kept=run.kept,
            W=run.W,
            X=run.X,
            before=before.upper,
            first=run.first,
            last=run.last,
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

    # --- the work -------------------------------------------------------------------------------------------
    def rounds(self) -> None:
        """Improve one lift after another, each with one more dimension, as often as the plan allows."""
        # where a search over sets follows, that proves the rest
        passes = 1 if self.plan.searched_nodes(self.problem.n) else self.plan.passes
        self.total = self.steps + self.plan.packing_steps(len(self.kept.block))
        self.first = self.first or self.rank()
        end = min(self.first + passes, len(self.kept.block) + 1)
        for rank in range(max(self.first, self.last + 1), end):
            if self.searched_rows + HARDER * self.last_rows < self.plan.searching and not self.closed:
                lift, self.last = self.begin(rank), rank
                last_step = self.steps + (self.total - self.steps) // (end - rank)
                self.improve(lift, last_step, is_last=rank == end - 1)
                (self.W, *_), self.X = lift.averaged(), lift.splitting.X
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
        problem, kept, nonneg = self.problem, self.kept, self.problem.nonneg
        splitting = Splitting(kept, sum(problem.sizes), nonneg, rho=self.plan.rho, count=len(problem.sizes))
        splitting.resume(self.W, self.X)
        U, _ = lift_of(kept, Witness(self.W), rank)
        B, counts = starts.basis(kept, self.W, rank), counts_of(problem)
        points = starts.first_points(splitting, U, counts)
        lift = add_packing(splitting, B, points, counts, wait=self.plan.wait)
        lift.resume(U, self.X)
        starts.first_prices(lift, sum(problem.sizes), self.tell)
        return lift

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
        packed = Packed(*lift.averaged())
        base, h = packed.base(self.problem, self.kept), packed.heights(self.problem)
        tau = threshold(packed.W, self.problem.nonneg, self.kept.floor)
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
        U, _ = lift_of(self.kept, Witness(packed.W, packed.M), lift.B.shape[1])
        if U.shape[1] == lift.B.shape[1] and not lift.is_held:
            lift.rebase(np.linalg.qr(U)[0])
        return promise

    def searched(self, packed: Packed, base: float, tops: Iterable[float], fine: bool = False) -> Searched:
        """Return the searched bound, and for each size the value F of its search and the cover that proves F.

        The search for one size assumes the values known so far for the other sizes.
        """
        counts, tau = counts_of(self.problem), threshold(packed.W, self.problem.nonneg, self.kept.floor)
        reached, halves, self.last_rows = [float(top) for top in tops], [], 0
        left = self.plan.searching - self.searched_rows
        for g, (size, number) in enumerate(counts):
            others = sum(reached[i] * other for i, (_, other) in enumerate(counts) if i != g)
            budget = Budget(
                self.fine if fine else COARSE,
                offset=(base + others) / number,
                hopeless=np.inf if fine else self.upper / number,
                known=np.inf if fine or self.lower == 0 else self.lower / number,
                cap=min(self.plan.cap, max(LEAST, int(left / len(packed.L)))),
            )
            query = self.query(packed, size, tau)
            reached[g], cover = search_half(query, budget, (), self.quietly, self.problem.covariance.client)
            if packed.M is not None:  # h - pi is a difference, so its rounding error has the size of M
                slack = search_slack(size, packed.L.shape[1] + 1)
                reached[g] += slack * float(topk_sum(np.linalg.norm(packed.M, axis=1), size))
            self.last_rows += cover.cones * len(packed.L)
            halves.append((reached[g], cover))
        self.searched_rows += self.last_rows
        return base + sum(F * number for (F, _), (_, number) in zip(halves, counts, strict=True)), halves

    @property
    def fine(self) -> float:
        """Relative tolerance of the search for the certificate."""
        least = min(self.upper, self.promised)
        if self.lower == 0 or not np.isfinite(least):
            return FINE
        gap = least / self.lower - 1
        return max(FINEST, gap * float(np.clip(gap / 2, *OPEN)))

    def query(self, packed: Packed, size: int, tau: float) -> Query:
        """Return the query of the search for one size; rows of zeros stand for the rows not kept."""
        extra = min(size, self.kept.free)
        L = np.vstack((packed.L, np.zeros((extra, packed.L.shape[1]))))
        h = np.append(packed.heights(self.problem), np.zeros(extra))
        return Query(L, size, h, tau, self.problem.nonneg)

    # --- proof ----------------------------------------------------------------------------------------------
    def proved(self, fine: bool = True) -> Certificate | None:
        """Return the certificate of `best`, None without `best` or when its spectral claim fails.

        With `fine`, the bound put off is searched at the fine tolerance. If it is no better than `best`, the
        search for `best` is repeated at that tolerance.
        """
        if fine and not self.search_candidate():
            self.search_finely()
        best, kept, problem = self.best, self.kept, self.problem
        if best is None:
            return None
        pairs = largest_eigenpairs(best.left(kept), len(problem.sizes))
        upper, witness = claimed(problem, pairs, best.taken, kept.rows, best.L, kept)
        if not np.isfinite(upper):
            return None
        claims = [F for F, _ in self.halves]
        upper += float(topk_sum(best.prices, sum(problem.sizes)))
        upper += sum(F * number for F, (_, number) in zip(claims, counts_of(problem), strict=True))
        upper *= 1 + (sum(problem.sizes) + len(claims) + 8) * 4 * UNIT_ROUNDOFF
        witness |= {"W": best.W, "lift": best.L, "prices": best.prices}
        witness |= {} if best.M is None else {"M": best.M}
        if kept.rows is not None:
            witness |= {"rows": kept.rows, "tau": np.array([threshold(best.W, problem.nonneg, kept.floor)])}
        witness |= {} if kept.weights is None else {"y": kept.weights}
        witness["claims"] = np.append(witness["claims"][:1], claims)
        witness["tree"] = np.concatenate([cover.tree for _, cover in self.halves])
        self.upper = float(upper)
        self.tell()
        return Certificate.of(problem, "JP", "joint", upper, witness)

    def search_candidate(self) -> bool:
        """Search the best bound that was put off; return whether it is better than `best`."""
        if self.candidate is None or self.promised >= self.upper:
            return False
        none_known = [0.0] * len(counts_of(self.problem))
        base = self.candidate.base(self.problem, self.kept)
        upper, halves = self.searched(self.candidate, base, none_known, fine=True)
        if upper >= self.upper:
            return False
        self.best, self.halves, self.upper = self.candidate, halves, upper
        return True

    def search_finely(self) -> None:
        """Repeat the search for `best` at the tolerance `fine`."""
        if self.best is None:
            return
        tops, base = [F for F, _ in self.halves], self.best.base(self.problem, self.kept)
        upper, halves = self.searched(self.best, base, tops, fine=True)
        self.halves = halves if upper < self.upper else self.halves

    @property
    def shown(self) -> float | None:
        """Smallest bound to report: the best of this run and of the run before."""
        own = super().shown
        return self.before if own is None else min(own, self.before)
