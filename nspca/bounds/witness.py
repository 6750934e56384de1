"""Prove the bound of a witness W, M, U: the spectral half by Cholesky, the search half by cones.

The spectral half t bounds lambda_max(A - W - sym(M) - UU') on the kept rows. The search half F bounds what W,
M and U add for any support (`inequality`). Here A is `kept.block`: on a core with weights it includes the
matrix K = `kept.folded`, which stands for the entries outside the core (`core`); elsewhere K is zero.
`best_bound`, `fixing.bounding` and `scripts.lean` prove witnesses here; `lowrank`, `packed_proof` and
`membership` use one half alone, and `dual` and `needed` use the lifts.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from nspca.bounds.core import at_threshold
from nspca.bounds.elimination import Kept
from nspca.bounds.inequality import heights, search_slack, spectral_claim, threshold
from nspca.certificate import Certificate
from nspca.covariance.linalg import UNIT_ROUNDOFF, Array, largest_eigenpairs, topk_sum
from nspca.lowrank import cones
from nspca.lowrank.cones import Budget, Cover
from nspca.lowrank.objective import Query
from nspca.problem import Problem
from nspca.progress import Report, silent

USUAL = Budget(tol=1e-4)
"""Budget of a search over the sphere when the caller of `certificate` names none."""


@dataclass(frozen=True, eq=False)
class Witness:
    """The matrices W, M (r, r) and U (r, d) of the inequality on the kept rows; None stands for zero."""

    W: Array | None = None
    M: Array | None = None
    U: Array | None = None

    @property
    def kind(self) -> str:
        """Kind of the bound, by the matrices that are present: B5 (W), B6 (W, U), B7 (W, M) or B9 (all)."""
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
    R = witness.remainder(kept)
    if witness.U is not None:
        R -= witness.U @ witness.U.T
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
        """The bound t + F - paid, in unit scale."""
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
    F += _lost_with_cuts(query, witness.M)
    return Proof(t, F + 4 * UNIT_ROUNDOFF * (abs(t) + kept.paid), query.tau, cover, kept.paid)


def query_of(kept: Kept, witness: Witness, k: int, nonneg: bool) -> Query:
    """Return the query of the search half of a witness.

    A row of zeros stands for each feature outside, as far as a support may have so many.
    """
    extra, h = min(k, kept.free), priced_heights(kept, witness.M, k, nonneg)
    h = None if h is None else np.append(h, np.zeros(extra))
    U = np.zeros((len(kept.block), 0)) if witness.U is None else witness.U
    V = np.vstack((U, np.zeros((extra, U.shape[1]))))
    return Query(V, k, h, threshold(witness.W, nonneg, kept.floor), nonneg, kept.fixed)


def priced_heights(kept: Kept, M: Array | None, k: int, nonneg: bool) -> Array | None:
    """Return the heights of row cuts M less the prices of the rows; None where both are zero."""
    if kept.prices is None:
        return None if M is None else heights(M, k, nonneg)
    return (0.0 if M is None else heights(M, k, nonneg)) - kept.prices


def lost_by_rounding(query: Query, M: Array | None) -> float:
    """Return a bound on the rounding errors of the maximum of a query with the heights of the row cuts M."""
    return _lost_in_search(query) + _lost_with_cuts(query, M)


def _lost_in_search(query: Query) -> float:
    """Return a bound on the rounding errors of the terms of a query with exact heights."""
    size = query.sizes + (0.0 if query.h is None else np.abs(query.h))
    return search_slack(query.k, query.V.shape[1] + 1) * float(topk_sum(size, query.k, query.fixed))


def _lost_with_cuts(query: Query, M: Array | None) -> float:
    """Return a bound on the rounding errors of the heights: they are relative to the norms of rows of M."""
    if M is None:
        return 0.0
    slack = search_slack(query.k, query.V.shape[1] + 1)
    return slack * float(topk_sum(np.linalg.norm(M, axis=1), query.k, query.fixed))


def spectral_half(problem: Problem, kept: Kept, witness: Witness, estimate: float | None = None) -> float:
    """Return a proved t with ``lambda_max(A - W - sym(M) - UU') <= t``, close to the estimate."""
    U = np.zeros((len(kept.block), 0)) if witness.U is None else witness.U
    taken = witness.W is not None or witness.M is not None
    N = kept.block - witness.remainder(kept) if taken or kept.folded is not None else None
    if kept.folded is not None and N is not None:  # `spectral_claim` begins with the matrix without K
        N = N - kept.folded
    estimate = largest(kept, witness) if estimate is None else estimate
    return spectral_claim(problem.covariance, U, max(estimate, kept.least), kept.rows, N)


def search_half(
    query: Query, budget: Budget, starts: Iterable[Array] = (), report: Report = silent
) -> tuple[float, Cover]:
    """Return an upper bound F on the maximum of the query, including rounding errors, and its cover.

    The parameters are those of `cones.search`.
    """
    cover = cones.search(query, budget, starts, report)
    return cover.upper + _lost_in_search(query), cover


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
    named = {"W": witness.W, "M": witness.M, "U": U, "rows": kept.rows}
    arrays: dict[str, np.ndarray] = {name: array for name, array in named.items() if array is not None}
    arrays |= {"claims": np.array([proof.t, proof.F]), "tree": proof.cover.tree}
    if kept.rows is not None:
        arrays["tau"] = np.array([proof.tau])
    if kept.weights is not None:
        arrays["y"] = kept.weights
    return Certificate.of(problem, kind or witness.kind, "inequality", proof.upper, arrays)
