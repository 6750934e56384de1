"""Prove the bound of a witness W, M, U: the spectral half by Cholesky, the search half by cones.

The spectral half t bounds lambda_max(A - W - sym(M) - UU') on the kept rows. The search half F bounds what W,
M and U add for any support (`inequality`). Here A is `kept.block`: on a core with weights it includes the
matrix K = `kept.folded`, which stands for the entries outside the core (`core`); elsewhere K is zero.
`fixing.bounding`, `dual_search` and `scripts.lean` prove witnesses here; `lowrank` and
`membership` use one half alone, and `dual` uses the lifts.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from nspca.bounds.core import at_threshold
from nspca.bounds.elimination import Kept
from nspca.bounds.inequality import heights, search_slack, spectral_claim, threshold
from nspca.certificate import Certificate
from nspca.covariance.covariance import DIRECT_LIMIT, Covariance
from nspca.covariance.linalg import UNIT_ROUNDOFF, Array, largest_eigenpairs, topk_sum
from nspca.errors import Refused
from nspca.lowrank import cones
from nspca.lowrank.cones import Budget, Cover
from nspca.lowrank.objective import Query
from nspca.problem import Problem
from nspca.progress import Report, silent

HIGHEST = 1000.0
"""Largest scale of a row. A checker refuses a certificate with a scale above 1024."""
LOOSE = 1e-7
"""Maximum increase of a spectral claim for several components over its estimate, relative to the size of the
matrix. A claim that had to be raised by more is useless.
"""
USUAL = Budget(tol=1e-4)
"""Budget of a search over the sphere when the caller of `certificate` names none."""


@dataclass(frozen=True, eq=False)
class Witness:
    """The numbers of the inequality on the r kept rows; None stands for zero, and for scales of 1.

    Attributes
    ----------
    W, M : (r, r)
    U : (r, d)
    prices, scales : (r,)
        Prices of the features, and scales of the rows, of a bound on several components.
    """

    W: Array | None = None
    M: Array | None = None
    U: Array | None = None
    prices: Array | None = None
    scales: Array | None = None

    @property
    def kind(self) -> str:
        """Kind of the bound, by the numbers that are present."""
        if self.prices is not None:
            return "JP"
        if self.U is not None and self.U.shape[1]:
            return "B6" if self.M is None else "B9"
        return "B5" if self.M is None else "B7"

    def remainder(self, kept: Kept) -> Array:
        """Return ``A - W - sym(M)`` on the kept rows."""
        R = kept.block.copy()
        if self.W is not None:
            R -= self.W
        if self.M is not None:
            R -= (self.M + self.M.T) / 2
        return R

    def left(self, kept: Kept) -> Array:
        """Return ``A - W - sym(M) - UU'`` on the kept rows."""
        R = self.remainder(kept)
        return R if self.U is None else R - self.U @ self.U.T

    def threshold(self, nonneg: bool, floor: float) -> float:
        """Return tau, the smallest with ``W_il <= tau e_i e_l`` (signed: ``|W_il|``), e the scales.

        Rows that are not kept have scale 1, and entries up to `floor`.
        """
        if self.scales is None or self.W is None or not self.W.size:
            return threshold(self.W, nonneg, floor)
        least = min(1.0, float(self.scales.min()))
        tau = threshold(self.W / np.multiply.outer(self.scales, self.scales), nonneg, floor / least)
        return tau * (1 + 4 * UNIT_ROUNDOFF)  # times the least scale it may not be below the floor

    def levelled(self, kept: Kept, nonneg: bool) -> tuple["Witness", float]:
        """Return the same numbers with all scales times the factor that makes tau the floor, and this factor.

        A factor c divides the tau of W by its square, so the kept rows have the same terms. Features outside
        have scale 1, so their terms fall with tau. No scale is below 1, and none is above `HIGHEST`: where
        all features outside are 0, the floor is the size of a rounding.
        """
        if self.scales is None or self.W is None or kept.rows is None or kept.floor <= 0:
            return self, 1.0
        tau = threshold(self.W / np.multiply.outer(self.scales, self.scales), nonneg, kept.floor)
        factor = min(float(np.sqrt(tau / kept.floor)), HIGHEST / float(self.scales.max()))
        return replace(self, scales=np.maximum(self.scales * factor, 1.0)), factor

    def heights(self, kept: Kept, k: int, nonneg: bool) -> Array | None:
        """Return the heights (r,) of the row cuts M less the prices of the rows; None where both are zero."""
        prices = kept.prices if self.prices is None else self.prices
        if prices is None:
            return None if self.M is None else heights(self.M, k, nonneg)
        return (0.0 if self.M is None else heights(self.M, k, nonneg)) - prices


def lift_of(kept: Kept, witness: Witness, rank: int) -> tuple[Array, float]:
    """Return U with ``UU' = sum_{j<=d} (l_j - l_{d+1}) q_j q_j'``, and l_{d+1}.

    (l_j, q_j) are eigenpairs of A - W - sym(M), and d is `rank`. This U reduces lambda_max to l_{d+1} and
    raises the search half by ``OPT(UU' + tau J) - tau k <= l_1 - l_{d+1}``. So the bound is never looser than
    without U, up to the tolerance of the search.
    """
    R = witness.remainder(kept)
    d = min(rank, len(R))
    count = min(d + 1, len(R))
    values, vectors = largest_eigenpairs(R, count)
    left = float(values[d]) if d < values.size else float(values[-1:].min(initial=0.0))
    left = max(left, kept.least)
    U = vectors[:, :d] * np.sqrt(np.maximum(values[:d] - left, 0.0))
    return np.ascontiguousarray(U[:, U.any(axis=0)]), left


def lifted(kept: Kept, witness: Witness, rank: int) -> tuple[Witness, float]:
    """Return the witness with the U of `lift_of`, and an estimate of the largest eigenvalue of the rest."""
    U, left = lift_of(kept, witness, rank)
    return replace(witness, U=U), left


def largest(kept: Kept, witness: Witness) -> float:
    """Return an estimate of ``lambda_max(A - W - sym(M) - UU')``, at least ``kept.least``."""
    R = witness.left(kept)
    top = float(largest_eigenpairs(R, 1)[0][0]) if len(R) else 0.0
    return max(top, kept.least)


@dataclass(frozen=True, eq=False)
class Proof:
    """A proved bound t + F - paid: spectral half t, search half F, threshold tau, cover that proves F.

    `paid` is the sum of the prices of the fixed rows; 0 where no feature has a price.
    """

    t: float
    F: float
    tau: float
    cover: Cover
    paid: float = 0.0

    @property
    def upper(self) -> float:
        return self.t + self.F - self.paid


def prove(
    problem: Problem,
    kept: Kept,
    witness: Witness,
    budget: Budget,
    *,
    estimate: float | None = None,
    report: Report = silent,
) -> Proof:
    """Prove the bound of any witness, and return the proof.

    Parameters
    ----------
    problem : Problem
    kept : Kept
    witness : Witness
    budget : Budget
        Budget of the search over the sphere; its `offset` is replaced by t less the prices paid.
    estimate : float, optional
        Estimate of ``lambda_max(A - W - sym(M) - UU')``, if known.
    report : callable
        Gets the events of the search.
    """
    query = query_of(kept, witness, problem.size, problem.nonneg)
    of_tau = at_threshold(problem, kept, query.tau) or kept
    t = spectral_half(problem, of_tau, witness, estimate if of_tau is kept else None)
    F, cover = search_half(query, replace(budget, offset=t - kept.paid), (), report)
    F += lost_with_cuts(query, witness.M)
    return Proof(t, F + 4 * UNIT_ROUNDOFF * (abs(t) + kept.paid), query.tau, cover, kept.paid)


def query_of(kept: Kept, witness: Witness, k: int, nonneg: bool, size: int | None = None) -> Query:
    """Return the query of the search half of a witness.

    A row of zeros stands for each feature outside, as far as a support may have so many. `size` is that of
    the components that are asked about, k (the largest size) by default.
    """
    size = k if size is None else size
    extra, h = min(size, kept.free), witness.heights(kept, k, nonneg)
    h = None if h is None else np.append(h, np.zeros(extra))
    U = np.zeros((len(kept.block), 0)) if witness.U is None else witness.U
    V = np.vstack((U, np.zeros((extra, U.shape[1]))))
    scales = None if witness.scales is None else np.append(witness.scales, np.ones(extra))
    return Query(V, size, h, witness.threshold(nonneg, kept.floor), nonneg, kept.fixed, scales)


def lost_in_search(query: Query) -> float:
    """Return a bound on the rounding errors of the terms of a query with exact heights."""
    size = query.sizes + (0.0 if query.h is None else np.abs(query.h))
    return search_slack(query.k, query.V.shape[1] + 1) * float(topk_sum(size, query.k, query.fixed))


def lost_with_cuts(query: Query, M: Array | None) -> float:
    """Return a bound on the rounding errors of the heights: they are relative to the norms of rows of M."""
    if M is None:
        return 0.0
    slack = search_slack(query.k, query.V.shape[1] + 1)
    return slack * float(topk_sum(np.linalg.norm(M, axis=1), query.k, query.fixed))


def spectral_half(problem: Problem, kept: Kept, witness: Witness, estimate: float | None) -> float:
    """Return a proved t with ``lambda_max(A - W - sym(M) - UU') <= t``, close to the estimate."""
    U = np.zeros((len(kept.block), 0)) if witness.U is None else witness.U
    taken = witness.W is not None or witness.M is not None
    N = kept.block - witness.remainder(kept) if taken or kept.folded is not None else None
    if kept.folded is not None and N is not None:  # `spectral_claim` begins with the matrix without K
        N = N - kept.folded
    estimate = largest(kept, witness) if estimate is None else estimate
    return spectral_claim(problem.covariance, U, max(estimate, kept.least), kept.rows, N)


def leading(A: Covariance, r: int) -> tuple[Array, Array]:
    """Return the r leading eigenpairs of A, where r may be nearly n."""
    return A.leading(r) if A.n <= DIRECT_LIMIT or 4 * r < A.n else largest_eigenpairs(A.matrix, r)


def spectral_halves(problem: Problem, kept: Kept | None, witness: Witness) -> tuple[float, float, Array]:
    """Prove ``A - W - sym(M) - UU' <= tI + VV'`` for r components, and return ``r t + |V|^2``, t and V.

    V (p, r - 1) is made of leading eigenvectors of the left side. Without kept rows W = M = U = 0 on all
    of A.

    Raises
    ------
    Refused
        When t would have to be raised too much above its estimate (`LOOSE`).
    """
    A, r = problem.covariance, len(problem.sizes)
    if kept is None:
        values, vectors = leading(A, r)
        rows, N, U, least, size = None, None, np.zeros((A.n, 0)), 0.0, A.trace
    else:
        values, vectors = largest_eigenpairs(witness.left(kept), r)
        rows, N = kept.rows, kept.block - witness.remainder(kept)
        least = kept.least if r == 1 and witness.scales is None else kept.outside
        N = N if kept.folded is None else N - kept.folded  # `spectral_claim` begins with A without K
        U = np.zeros((len(N), 0)) if witness.U is None else witness.U
        size = float(A.diagonal[kept.features].sum()) + float(np.linalg.norm(N))
    low = max(least, float(values[r - 1])) if values.size >= r else least
    V = vectors[:, : r - 1] * np.sqrt(np.maximum(values[: r - 1] - low, 0.0))
    t = spectral_claim(A, np.hstack((V, U)), low, rows, N) if size > 0 else low
    if t - low > LOOSE * size:
        failed = "the eigenvalues of the joint bound could not be proved"
        raise Refused(f"{failed}; the matrix is badly scaled, rescale the data")
    return (r * t + float(np.sum(V * V))) * (1 + (V.size + r) * 4 * UNIT_ROUNDOFF), t, V


def search_half(
    query: Query, budget: Budget, starts: Iterable[Array] = (), report: Report = silent
) -> tuple[float, Cover]:
    """Return an upper bound F on the maximum of the query, including rounding errors, and its cover.

    The parameters are those of `cones.search`.
    """
    cover = cones.search(query, budget, starts, report)
    return cover.upper + lost_in_search(query), cover


def certificate(
    problem: Problem,
    kept: Kept,
    witness: Witness,
    budget: Budget = USUAL,
    *,
    kind: str | None = None,
    estimate: float | None = None,
) -> tuple[Certificate, Cover]:
    """Return the certificate of a witness, and the cover that proves its search half.

    `kind` names the bound when the witness alone does not determine it, such as "B4".
    """
    proof = prove(problem, kept, witness, budget, estimate=estimate)
    return stated(problem, kept, witness, proof, kind), proof.cover


def stated(
    problem: Problem, kept: Kept, witness: Witness, proof: Proof, kind: str | None = None
) -> Certificate:
    """Return the certificate of a witness from its proof; `kind` is as in `certificate`."""
    U = None if witness.U is None or witness.U.shape[1] == 0 else witness.U
    arrays = arrays_of(kept, replace(witness, U=U), proof.tau)
    arrays |= {"claims": np.array([proof.t, proof.F]), "tree": proof.cover.tree}
    return Certificate.of(problem, kind or witness.kind, "inequality", proof.upper, arrays)


def arrays_of(kept: Kept, witness: Witness, tau: float) -> dict[str, np.ndarray]:
    """Return the arrays of a certificate that are about the numbers of a witness and the kept rows."""
    named = {name: getattr(witness, name) for name in ("W", "M", "U", "prices", "scales")}
    named |= {"rows": kept.rows, "y": kept.weights, "tau": None if kept.rows is None else np.array([tau])}
    return {name: array for name, array in named.items() if array is not None}
