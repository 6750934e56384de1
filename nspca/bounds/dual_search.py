"""Search for the best bound on r disjoint components together, or on one (r = 1), on some kept rows.

With ``P = sum x_j x_j'``, a projection of rank r with ``1'|P|1 <= S``, S the sum of the sizes, any symmetric
W gives the dual

    OPT <= (sum of the r largest eigenvalues of A - W, each at least 0) + S tau,
    tau = max(0, max W)   (signed: max |W|).

W = 0 gives Ky Fan's theorem, and W = min(A, tau) the threshold bound. The best W is the dual variable of

    max <A, X>   over   0 <= X <= I, tr X <= r, X >= 0, <J, X> <= S   (signed: sum |X_ij| <= S),

found by ADMM (`dual.splitting`). Every iterate gives a valid bound. With prices pi >= 0 of the features and
any U with d columns, rows u_i,

    OPT <= r t + |V|^2 + topk(pi, S) + sum_j max over unit c of topk_i( ((v_i'c)+)^2 + h_i - pi_i ),
    A - W - sym(M) - UU' <= tI + VV',  t >= 0,  v_i = (u_i, e_i sqrt(tau)),  W_il <= tau e_i e_l,

topk_i sums s_j terms, and h is as in `inequality` for k = max s_j. The scales e_i > 0 of the rows may be any
numbers, where `inequality` has 1. With them e'x takes the place of 1'x in its proof. Each component pays the
prices of its features, and topk(pi, S) bounds the sum of all prices paid. One component has no prices, and no
V. The splitting (`dual.lift`) improves W, M, U, the scales and the prices together, and a search over the
sphere for each different size proves the bound.

`search` runs a `DualSearch` on the rows that it chooses, and `scripts.lean` proves rounded numbers.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from nspca.bounds import core, elimination
from nspca.bounds.core import at_threshold
from nspca.bounds.dual.lift import Lift
from nspca.bounds.dual.rounds import Work
from nspca.bounds.dual.splitting import Splitting
from nspca.bounds.dual.starts import begin_lift, first_prices
from nspca.bounds.elimination import Kept
from nspca.bounds.plan import ROUND
from nspca.bounds.witness import (
    Witness,
    arrays_of,
    lifted,
    lost_with_cuts,
    prove,
    query_of,
    search_half,
    spectral_halves,
    stated,
)
from nspca.certificate import Certificate
from nspca.covariance.linalg import UNIT_ROUNDOFF, Array, largest_eigenpairs, topk_sum
from nspca.errors import Cancelled, NotConverged, Refused
from nspca.lowrank.cones import Budget, Cover
from nspca.problem import Problem
from nspca.progress import silent

LOOK = 10
"""Steps between two evaluations of the dual."""
WIDE, PATIENCE = 0.05, 3
"""Steps for the dual stop after PATIENCE evaluations in a row that each close less than the share `SMALL` of
the gap. A gap above the share WIDE of the bound counts as that much, also while no value is known.
"""
SMALL = 0.01
"""See `PATIENCE`."""
PLATEAU = 0.05
"""Relative excess over the (r + 1)-th eigenvalue of A - W from which an eigenvalue gets a dimension of the
lift.
"""
WORTH, RARE = 0.25, 0.5
"""A search is made when it promises to close at least the share WORTH of the gap, or RARE with the last rank,
whose last bound is searched anyway. In the last round any promised gain is searched.
"""
STALL, IDLE = 0.02, 4
"""A lift ends after IDLE rounds in a row that each close less than the share STALL of the gap."""
ON_THE_WAY = 0.04, 2
"""Share and rounds for a lift that gets one more dimension afterwards, which closes more."""
UNSCALED = 0.6
"""Share of the steps of a lift for one component before rows get scales, which no witness of a tree has."""
HARDER = 12
"""Least work expected of a lift with one more dimension, as a multiple of the work of the last search."""
LEAST = 2000
"""Cones that a search may make, however much was searched before."""
COARSE, FINE, FINEST, OPEN = 1e-3, 1e-4, 2e-5, (0.01, 0.02)
"""Tolerance of a search relative to the bound: COARSE during the rounds, FINE for the certificate where no
value is known. Where one is known, the search for the certificate may leave open a share of the gap: half the
gap, but at least and at most the shares OPEN; and FINEST if that is more.
"""

Halves = list[tuple[float, Cover]]
"""For each different size, the largest first, the value F of its search and the cover that proves F."""


def counts_of(problem: Problem) -> tuple[tuple[int, int], ...]:
    """Return the different sizes, largest first, each with the number of components of that size."""
    return tuple((size, problem.sizes.count(size)) for size in sorted({*problem.sizes}, reverse=True))


@dataclass(eq=False, kw_only=True)
class DualSearch(Work):
    """The search for the best bound on some kept rows: `dual` first, then `improve` by lifts.

    Attributes
    ----------
    known : float
        Bound proved on other rows, in unit scale.
    certificate, reached : Certificate or None, float
        The best of the dual that is proved, for one component with its bound; `upper` may be an estimate.
    W, X : (r, r) or None
        The W with the smallest bound so far, and the ADMM iterate X at which it was found.
    rho, last : float, Splitting
        ADMM penalty at which `W` was found, and the splitting.
    best, halves
        Numbers that prove `upper`, and the searches that prove their search halves; none for the dual.
    searched_rows, last_rows : int
        Cones times rows, summed over all searches, and of the last search.
    candidate, promised
        Numbers of the best bound that was not searched, and what its bundle promises.
    is_opened : bool
        Whether the features outside the kept rows got weights (see `core.opened`).
    decides : callable or None
        Asked of the bounds of a lift without scales, with the lift and an estimate of t. Where it tells that
        the numbers decide many features, the lift ends, and `decisive` has them.
    """

    kept: Kept
    known: float = np.inf
    certificate: Certificate | None = None
    reached: float = np.inf
    W: Array | None = None
    X: Array | None = None
    rho: float = 0.0
    last: Splitting | None = None
    best: Witness | None = None
    halves: Halves = field(default_factory=list)
    searched_rows: int = 0
    last_rows: int = 0
    candidate: Witness | None = None
    promised: float = np.inf
    is_opened: bool = False
    decides: Callable[[Witness, float, Lift], bool] | None = None
    decisive: tuple[Witness, Lift] | None = None

    @property
    def shown(self) -> float | None:
        """Best bound so far, also on other rows, in the units of the data."""
        upper = min(self.upper, self.known)
        return upper * self.problem.covariance.unit if np.isfinite(upper) else None

    def keep(self, certificate: Certificate) -> None:
        if self.certificate is None or certificate.upper < self.certificate.upper:
            self.certificate = certificate

    # --- dual -----------------------------------------------------------------------------------------------
    def dual(self) -> None:
        """Search W by thresholds and by ADMM, and prove the bound of the best W."""
        r, end = (
            len(self.kept.block),
            self.steps + len(self.plan.rhos) * self.plan.steps_of(len(self.kept.block)),
        )
        try:
            self.offer(elimination.search_threshold(self.kept, self.problem)[1])
            for rho in self.plan.rhos if r and self.kept.leading[0][0] > 0 else ():
                if not self.closed:
                    self.iterate(rho)
        except Cancelled:
            self.report = silent
            if self.W is not None:
                self.prove_dual()
            raise
        self.prove_dual()
        self.steps = end
        self.tell()

    def iterate(self, rho: float) -> None:
        """Try the W of ADMM with penalty rho, until the bound hardly falls."""
        sizes = self.problem.sizes
        splitting = Splitting(self.kept, sum(sizes), self.problem.nonneg, rho=rho, count=len(sizes))
        end = self.steps + self.plan.steps_of(len(self.kept.block))
        own, idle = np.inf, 0
        while self.steps < end and not self.closed and idle < PATIENCE:
            for _ in range(min(LOOK, end - self.steps)):
                splitting.step()
                self.steps += 1
            W = splitting.entries.W
            before, reached = self.upper, self.offer((W + W.T) / 2)
            if reached < before or self.X is None:
                self.rho, self.X, self.last = rho, splitting.X.copy(), splitting
            idle = idle + 1 if own - reached < SMALL * min(own - self.lower, WIDE * own) else 0
            own = min(own, reached)
        self.steps = end

    def offer(self, W: Array) -> float:
        """Return the estimated bound of the dual for W, and keep W if its bound is the best."""
        sizes = self.problem.sizes
        values = largest_eigenpairs(self.kept.block - W, len(sizes))[0]
        tau = Witness(W).threshold(self.problem.nonneg, self.kept.floor)
        upper = self.kept.largest(values, len(sizes)) + sum(sizes) * tau
        if upper < self.upper:
            self.upper, self.W = upper, W
        self.tell()
        return upper

    def prove_dual(self) -> None:
        """Prove the bound of the dual for the best W; of one component, that of its plain lifts too."""
        problem, witness, most = self.problem, Witness(self.W), sum(self.problem.sizes)
        if not self.problem.joint:
            self.prove_one(witness)
            if self.last is not None:  # lifts gain most from the W of the last step
                self.W, self.X = self.last.entries.W, self.last.X.copy()
            for rank in self.plan.plain:
                if not self.closed:
                    self.prove_one(*lifted(self.kept, Witness(self.W), rank))
            return
        tau = witness.threshold(problem.nonneg, self.kept.floor)
        kept = at_threshold(problem, self.kept, tau) or self.kept
        upper, t, V = spectral_halves(problem, kept, witness)
        self.upper = upper + most * tau * (1 + 4 * UNIT_ROUNDOFF)
        arrays = arrays_of(kept, witness, tau) | {"U": V, "claims": np.array([t, 0.0])}
        self.keep(Certificate.of(problem, "J", "joint", self.upper, arrays))

    def prove_one(self, witness: Witness, estimate: float | None = None) -> None:
        """Prove the bound of a witness for one component, and keep it if it is the best."""
        tol, known = (1e-10, self.lower) if self.lower > 0 else (COARSE, np.inf)
        budget = Budget(tol, hopeless=self.reached, known=known, cap=self.plan.cap)
        proof = prove(self.problem, self.kept, witness, budget, estimate=estimate, report=self.quietly)
        if proof.upper < self.reached:
            self.upper = self.reached = proof.upper
            self.keep(stated(self.problem, self.kept, witness, proof))
            self.tell()

    # --- lifts ----------------------------------------------------------------------------------------------
    def improve(self) -> None:
        """Improve the bound by lifts, and prove the best."""
        self.upper = min(self.upper, self.known)
        try:
            self.run_lifts()
            if self.decisive is None:
                self.prove_best()
        except Cancelled:
            self.report = silent
            self.prove_best(fine=False)
            raise

    def run_lifts(self) -> None:
        """Improve one lift after another, each with one more dimension, as often as the plan allows."""
        if self.problem.joint and self.is_scaled and self.kept.weights is None:
            self.open_rows()
        first, passes, scales, kept = self.rank(), self.plan.passes, None, self.kept
        if self.plan.searched_nodes(self.problem.n):
            passes = 1  # a search over sets proves the rest
        elif self.problem.joint and self.is_scaled and first == self.plan.ranks[1]:
            passes = max(1, passes - 1)  # scales prove more with fewer ranks
        self.total = self.steps + self.plan.lifting_steps(len(self.kept.block))
        end = min(first + passes, len(self.kept.block) + 1)
        for rank in range(first, end):
            harder = self.searched_rows + HARDER * self.last_rows
            if harder >= self.plan.searching or self.closed or self.decisive is not None:
                break
            lift = self.begin(rank, kept, scales)
            last_step = self.steps + (self.total - self.steps) // (end - rank)
            self.run_lift(lift, last_step, is_last=rank == end - 1)
            mean, self.X, kept = lift.averaged(), lift.splitting.X, lift.splitting.kept
            self.W, scales = mean.W, mean.scales
        self.steps = self.total
        self.tell()

    def run_lift(self, lift: Lift, end: int, is_last: bool) -> None:
        """Alternate splitting steps with `look` until the gap hardly closes or step `end` is reached.

        Where a round of the last lift closed hardly anything, the steps swing about a limit. Then the lift is
        held, for a mean over more than one round.
        The last bound of the last lift is left to `prove_best`, which searches once, at the tolerance `fine`.
        """
        usual = RARE if is_last else WORTH
        if self.problem.joint:
            self.look(lift, usual)
        own, idle, most, middle = np.inf, 0, self.plan.searching, self.steps + UNSCALED * (end - self.steps)
        stall, patience = (STALL, IDLE) if is_last else ON_THE_WAY
        while self.steps < end and self.searched_rows < most and not self.closed and idle < patience:
            if self.steps >= middle and self.is_scaled and lift.scales is None:
                lift.scale()
                own, idle = np.inf, 0
            self.advance(lift.splitting, min(ROUND, end - self.steps))
            last = self.steps == end or idle == patience - 1
            reached = self.look(lift, 0.0 if last else usual, put_off=last and is_last)
            if self.decisive is not None:
                break
            closed_little = np.isfinite(own) and own - reached < stall * max(own - self.lower, 0.0)
            idle = idle + 1 if closed_little else 0
            own = min(own, reached)
            lift.is_held = self.problem.joint and is_last and idle > 0

    def begin(self, rank: int, kept: Kept, scales: Array | None) -> Lift:
        """Return a lift of the given rank that starts from the present W, with prices fitted to W."""
        problem, nonneg = self.problem, self.problem.nonneg
        assert self.W is not None
        assert self.X is not None
        splitting = Splitting(kept, sum(problem.sizes), nonneg, rho=self.plan.rho, count=len(problem.sizes))
        wait, counts = self.plan.wait, counts_of(problem)
        lift = begin_lift(splitting, Witness(self.W), self.X, rank, counts, wait=wait, priced=problem.joint)
        if scales is not None or (self.problem.joint and self.is_scaled):
            lift.rescale(np.ones(len(self.W)) if scales is None else scales)
            splitting.resume(self.W, self.X)
        if self.problem.joint:
            first_prices(lift, sum(problem.sizes), self.tell, moving=scales is None)
        return lift

    def open_rows(self) -> None:
        """Give the features outside the kept rows weights where that allows a lower floor."""
        count = min(len(self.problem.sizes) + self.plan.ranks[1], len(self.kept.block))
        values = largest_eigenpairs(Witness(self.W).left(self.kept), count)[0]
        self.kept = core.opened(self.problem, self.kept, float(values[-1]))
        self.is_opened = self.kept.weights is not None

    @property
    def is_scaled(self) -> bool:
        """Tell whether rows get scales: not on a dense core, not with forced features, and not before a
        search over sets.
        """
        on_core = self.kept.weights is not None and not self.is_opened
        return not (on_core or self.kept.fixed or self.plan.searched_nodes(self.problem.n))

    def rank(self) -> int:
        """Return the dimension of the first lift: one more than the eigenvalues of A - W that stand out.

        The r largest eigenvalues are compared with the next one (see `PLATEAU`).
        """
        least, most = self.plan.ranks
        r, rows = len(self.problem.sizes), len(self.kept.block)
        values = np.maximum(largest_eigenpairs(Witness(self.W).left(self.kept), r + 1)[0], 0.0)
        plateau = values[r] if values.size > r else 0.0
        standing = int(np.count_nonzero(values[:r] > (1 + PLATEAU) * plateau))
        return min(max(standing + 1, least), most, rows, r + 1 if self.problem.joint else rows)

    def look(self, lift: Lift, worth: float, put_off: bool = False) -> float:
        """Return the present bound of a lift, and turn the lift to the leading subspace of what is left.

        A lift that is held is not turned.
        The bound is searched and proved when it promises to close the share `worth` of the gap. Otherwise it
        is only an estimate, and `prove_best` searches the best of those. With `put_off` all are left to it.
        """
        problem, nonneg = self.problem, self.problem.nonneg
        witness, factor = lift.averaged().levelled(self.kept, nonneg)
        tau = witness.threshold(nonneg, self.kept.floor)
        kept = self.formed(witness) or self.kept
        if kept.block is not lift.splitting.A:  # K has changed
            lift.splitting.follow(kept)
            if witness.scales is not None:
                lift.relief = core.relief(problem, lift.splitting.kept, witness.scales, lift.splitting.X)
        tau *= factor**2  # for the scales of the lift
        witness, base, tops, U = self.present(lift, witness, kept, tau)
        promise = base + float(lift.totals @ tops)
        gap = self.upper - self.lower if self.lower > 0 else WIDE * self.upper
        is_good = promise < self.upper - worth * gap
        if self.decides is not None and witness.scales is None and self.decides(witness, base, lift):
            self.decisive = witness, lift
            return promise
        if is_good and not put_off:
            promise, halves = self.searched(witness, base, tops)
            for _, cover in halves:
                if cover.direction.size == lift.U.shape[1] + 1:
                    lift.grow(cover.direction[:, None])
            if promise < self.upper:
                self.best, self.halves, self.upper = witness, halves, promise
                self.tell()
        elif promise < min(self.upper, self.promised):
            self.candidate, self.promised = witness, promise
        if U.shape[1] == lift.B.shape[1] and not lift.is_held:
            lift.rebase(np.linalg.qr(U)[0])
        return promise

    # --- proof ----------------------------------------------------------------------------------------------
    def formed(self, witness: Witness) -> Kept | None:
        """Return the kept rows with the K that the checker forms for given numbers (see `at_threshold`)."""
        tau = witness.threshold(self.problem.nonneg, self.kept.floor)
        return at_threshold(self.problem, self.kept, tau, witness.scales)

    def searched(
        self, witness: Witness, base: float, tops: Iterable[float], fine: bool = False
    ) -> tuple[float, Halves]:
        """Return the searched bound, and for each size the value F of its search and the cover that proves F.

        The search for one size assumes the values known so far for the other sizes.
        """
        problem, counts, rows = self.problem, counts_of(self.problem), len(self.kept.block)
        reached, halves, self.last_rows = [float(top) for top in tops], [], 0
        left = self.plan.searching - self.searched_rows
        for g, (size, number) in enumerate(counts):
            others = sum(reached[i] * other for i, (_, other) in enumerate(counts) if i != g)
            budget = Budget(
                self.fine if fine else COARSE,
                offset=(base + others) / number,
                hopeless=np.inf if fine else self.upper / number,
                known=np.inf if fine or self.lower == 0 else self.lower / number,
                cap=int(min(self.plan.cap, max(LEAST, left / rows))),
            )
            query = query_of(self.kept, witness, max(problem.sizes), problem.nonneg, size)
            F, cover = search_half(query, budget, (), self.quietly)
            reached[g] = F + lost_with_cuts(query, witness.M)
            self.last_rows += cover.cones * rows
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

    def prove_best(self, fine: bool = True) -> None:
        """Prove the bound of `best`, if there is one.

        With `fine`, the bound put off is searched at the fine tolerance. If it is no better than `best`, the
        search for `best` is repeated at that tolerance.
        """
        if fine and self.candidate is not None and self.promised < self.upper:
            self.search_finely(self.candidate, [0.0] * len(counts_of(self.problem)))
        if fine and self.best is not None and self.best is not self.candidate:
            self.search_finely(self.best, [F for F, _ in self.halves])
        found = None if self.best is None else self.proved(self.best)
        if found is not None:
            self.keep(found)

    def search_finely(self, witness: Witness, tops: Iterable[float]) -> None:
        """Search the bound of given numbers at the tolerance `fine`, and keep it if it is the best."""
        base = self.spectral(witness, self.formed(witness) or self.kept)
        upper, halves = self.searched(witness, base, tops, fine=True)
        if upper < self.upper:
            self.best, self.halves, self.upper = witness, halves, upper

    def proved(self, witness: Witness) -> Certificate | None:
        """Return the certificate of numbers whose search halves are proved; None when the rest fails."""
        problem, kept, sizes = self.problem, self.formed(witness), self.problem.sizes
        if kept is None:
            return None
        try:
            upper, t, V = spectral_halves(problem, kept, witness)
        except (NotConverged, Refused):
            return None
        claims = [F for F, _ in self.halves]
        upper += 0.0 if witness.prices is None else float(topk_sum(witness.prices, sum(sizes)))
        upper += sum(F * number for F, (_, number) in zip(claims, counts_of(problem), strict=True))
        upper *= 1 + (sum(sizes) + len(claims) + 8) * 4 * UNIT_ROUNDOFF
        arrays = arrays_of(kept, witness, witness.threshold(problem.nonneg, self.kept.floor))
        arrays |= {"claims": np.array([t, *claims])}
        arrays["tree"] = np.concatenate([cover.tree for _, cover in self.halves])
        self.upper = float(upper)
        self.tell()
        if not self.problem.joint and witness.scales is None:
            return Certificate.of(problem, witness.kind, "inequality", upper, arrays)
        arrays |= {"lift": arrays["U"], "U": V, "prices": arrays.get("prices", np.zeros(len(kept.block)))}
        found = Certificate.of(problem, "JP" if self.problem.joint else "BS", "joint", upper, arrays)
        return replace(found, k=sizes)
