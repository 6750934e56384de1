"""Search and prove the bound of given prices and matrices for r disjoint components.

For any prices pi >= 0 of the features and any L with d columns, rows l_i, S the sum of the sizes s_j,

    OPT_joint <= r t + |U|^2 + topk(pi, S) + sum_j max over unit c of topk_i( ((v_i'c)+)^2 + h_i - pi_i ),
    A - W - sym(M) - LL' <= tI + UU',  t >= 0,  v_i = (l_i, e_i sqrt(tau)),  W_il <= tau e_i e_l,

topk_i sums s_j terms, and h is as in `inequality` for k = max s_j. The scales e_i > 0 of the rows may be any
numbers, where `inequality` has 1. With them e'x takes the place of 1'x in its proof. Each component pays the
prices of its features, and topk(pi, S) bounds the sum of all prices paid. A search over the sphere for each
different size proves the bound. `packing` improves the numbers, and `scripts.lean` proves
rounded ones.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from nspca.bounds.core import at_threshold
from nspca.bounds.dual.rounds import Work
from nspca.bounds.elimination import Kept
from nspca.bounds.inequality import heights, search_slack, threshold
from nspca.bounds.kyfan import claimed
from nspca.bounds.plan import JointPlan
from nspca.bounds.witness import search_half
from nspca.certificate import Certificate
from nspca.covariance.linalg import UNIT_ROUNDOFF, Array, largest_eigenpairs, topk_sum
from nspca.lowrank.cones import Budget, Cover
from nspca.lowrank.objective import Query
from nspca.problem import Problem

LEAST = 2000
"""Cones that a search may make, however much was searched before."""
COARSE, FINE, FINEST, OPEN = 1e-3, 1e-4, 2e-5, (0.01, 0.02)
"""Tolerance of a search relative to the bound: COARSE during the rounds, FINE for the certificate where no
value is known. Where one is known, the search for the certificate may leave open a share of the gap: half the
gap, but at least and at most the shares OPEN; and FINEST if that is more. CBCL / 255 in 5 parts of 40 pixels
is proved to .9930 so, and to .9929 with FINE. Lee-Seung faces in 4 parts of 30 pixels have a gap of .035. The
larger share saves a sixth of the cones there, and costs .0003.
"""

HIGHEST = 1000.0
"""Largest scale of a row. A checker refuses a certificate with a scale above 1024."""

Searched = tuple[float, list[tuple[float, Cover]]]
"""A searched bound, and for each size the value F of its search and the cover that proves F."""


@dataclass(frozen=True, eq=False)
class Packed:
    """W, M, L, prices and scales of the bound, on the kept rows.

    M = None stands for zero, and scales = None for ones.
    """

    W: Array
    M: Array | None
    L: Array
    prices: Array
    scales: Array | None = None

    def threshold(self, nonneg: bool, floor: float) -> float:
        """Return tau, the smallest with ``W_il <= tau e_i e_l`` (signed: ``|W_il|``), e the scales.

        Rows that are not kept have scale 1, and entries up to `floor`.
        """
        if self.scales is None or not self.W.size:
            return threshold(self.W, nonneg, floor)
        least = min(1.0, float(self.scales.min()))
        tau = threshold(self.W / np.multiply.outer(self.scales, self.scales), nonneg, floor / least)
        return tau * (1 + 4 * UNIT_ROUNDOFF)  # times the least scale it may not be below the floor

    def levelled(self, kept: Kept, nonneg: bool) -> tuple["Packed", float]:
        """Return the same numbers with all scales times the factor that makes tau the floor, and this factor.

        A factor c divides the tau of W by its square, so the kept rows have the same terms. Features outside
        have scale 1, so their terms fall with tau. No scale is below 1, and none is above `HIGHEST`: where
        all features outside are 0, the floor is the size of a rounding.
        """
        if self.scales is None or kept.rows is None or kept.floor <= 0:
            return self, 1.0
        tau = threshold(self.W / np.multiply.outer(self.scales, self.scales), nonneg, kept.floor)
        factor = min(float(np.sqrt(tau / kept.floor)), HIGHEST / float(self.scales.max()))
        return replace(self, scales=np.maximum(self.scales * factor, 1.0)), factor

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


@dataclass(eq=False, kw_only=True)
class PackedProof(Work[JointPlan]):
    """The best proved bound with prices and a lift on some kept rows.

    Attributes
    ----------
    kept : the kept rows
    best, halves : numbers that prove `upper`, and the value F and the cover for each size; None and empty
        until a bound is found
    searched_rows, last_rows : cones times rows, summed over all searches, and of the last search
    candidate, promised : numbers of the best bound that was not searched, and what its bundle promises
    """

    stage = "joint proof"
    kept: Kept
    best: Packed | None = None
    halves: list[tuple[float, Cover]] = field(default_factory=list)
    searched_rows: int = 0
    last_rows: int = 0
    candidate: Packed | None = None
    promised: float = np.inf

    def formed(self, packed: Packed) -> Kept | None:
        """Return the kept rows with the K that the checker forms for given numbers (see `at_threshold`)."""
        tau = packed.threshold(self.problem.nonneg, self.kept.floor)
        return at_threshold(self.problem, self.kept, tau, packed.scales)

    def base(self, packed: Packed) -> float:
        """Return the bound of given numbers without its search half."""
        return packed.base(self.problem, self.formed(packed) or self.kept)

    def searched(self, packed: Packed, base: float, tops: Iterable[float], fine: bool = False) -> Searched:
        """Return the searched bound, and for each size the value F of its search and the cover that proves F.

        The search for one size assumes the values known so far for the other sizes.
        """
        counts, tau = counts_of(self.problem), packed.threshold(self.problem.nonneg, self.kept.floor)
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
            reached[g], cover = search_half(query, budget, (), self.quietly)
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
        scales = None if packed.scales is None else np.append(packed.scales, np.ones(extra))
        return Query(L, size, h, tau, self.problem.nonneg, scales=scales)

    def proved(self, fine: bool = True) -> Certificate | None:
        """Return the certificate of `best`, None without `best` or when its spectral claim fails.

        With `fine`, the bound put off is searched at the fine tolerance. If it is no better than `best`, the
        search for `best` is repeated at that tolerance.
        """
        if fine and not self.search_candidate():
            self.search_finely()
        best, problem = self.best, self.problem
        kept = None if best is None else self.formed(best)
        if best is None or kept is None:
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
            tau = best.threshold(problem.nonneg, self.kept.floor)
            witness |= {"rows": kept.rows, "tau": np.array([tau])}
        witness |= {} if best.scales is None else {"scales": best.scales}
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
        upper, halves = self.searched(self.candidate, self.base(self.candidate), none_known, fine=True)
        if upper >= self.upper:
            return False
        self.best, self.halves, self.upper = self.candidate, halves, upper
        return True

    def search_finely(self) -> None:
        """Repeat the search for `best` at the tolerance `fine`."""
        if self.best is None:
            return
        tops = [F for F, _ in self.halves]
        upper, halves = self.searched(self.best, self.base(self.best), tops, fine=True)
        self.halves = halves if upper < self.upper else self.halves
