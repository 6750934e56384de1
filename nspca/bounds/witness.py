"""From W, M and U to a certificate: the spectral half proved by Cholesky, the search half by a cover of the sphere."""

from dataclasses import dataclass, replace

import numpy as np

from nspca import cones
from nspca.bounds.elimination import Kept
from nspca.bounds.inequality import SEARCH_SLACK, heights, spectral_claim, threshold
from nspca.certificate import Certificate
from nspca.linalg import UNIT_ROUNDOFF, Array, largest_eigenpairs, topk_sum
from nspca.problem import Problem
from nspca.progress import silent


@dataclass(frozen=True, eq=False)
class Witness:
    """Numbers of the inequality on the kept rows; None stands for zero."""

    W: Array | None = None
    M: Array | None = None
    U: Array | None = None

    @property
    def kind(self) -> str:
        if self.U is not None and self.U.shape[1]:
            return "B6" if self.M is None else "B9"
        return "B5" if self.M is None else "B7"

    def remainder(self, kept: Kept) -> Array:
        """``A - W - sym(M)`` on the kept rows, without U."""
        R = kept.block.copy()
        if self.W is not None:
            R -= self.W
        if self.M is not None:
            R -= (self.M + self.M.T) / 2
        return R


def lifted(kept: Kept, witness: Witness, rank: int) -> tuple[Witness, float]:
    """The witness with ``UU' = sum_{j<=d} (l_j - l_{d+1}) q_j q_j'``, (l_j, q_j) eigenpairs of A - W - sym(M), and l_{d+1}.

    With it lambda_max falls to l_{d+1} and the search half rises by OPT(UU' + tau J) - tau k <= l_1 - l_{d+1}: never looser
    than without, up to the tolerance of the search.
    """
    R = witness.remainder(kept)
    d = min(rank, len(R))
    count = min(d + 1, len(R))
    values, vectors = largest_eigenpairs(R, count)
    left = float(values[d]) if d < values.size else float(min(values[-1], 0.0))
    left = left if kept.rows is None else max(left, 0.0)
    U = vectors[:, :d] * np.sqrt(np.maximum(values[:d] - left, 0.0))
    return replace(witness, U=np.ascontiguousarray(U[:, U.any(axis=0)])), left


def largest(kept: Kept, witness: Witness) -> float:
    """Estimate of ``lambda_max(A - W - sym(M) - UU')`` (at least 0 when rows are eliminated)."""
    R = witness.remainder(kept)
    if witness.U is not None:
        R -= witness.U @ witness.U.T
    top = float(largest_eigenpairs(R, 1)[0][0]) if len(R) else 0.0
    return top if kept.rows is None else max(top, 0.0)


@dataclass(frozen=True, eq=False)
class Proof:
    """The two halves of a proved bound ``t + F``, the threshold and the cover of the sphere."""

    t: float
    F: float
    tau: float
    cover: cones.Cover

    @property
    def upper(self) -> float:
        return self.t + self.F


def prove(
    problem: Problem, kept: Kept, witness: Witness, *, estimate=None, free=0, forced=0, tol=1e-4, stop=cones.NEVER, cap=20000, report=silent
) -> Proof:
    """The bound of a witness, whatever it is.

    Parameters
    ----------
    problem : Problem
    kept : Kept
    witness : Witness
    estimate : float, optional
        Of the largest eigenvalue left, when known.
    free : int
        Features outside the kept rows that a support may use.
    forced : int
        The first so many kept rows belong to every support looked at.
    tol, stop, cap, report
        Of the search over the sphere.
    """
    k, r = problem.k, len(kept.block)
    U = np.zeros((r, 0)) if witness.U is None else witness.U
    N = kept.block - witness.remainder(kept) if witness.W is not None or witness.M is not None else None
    t = spectral_claim(problem.covariance, U, largest(kept, witness) if estimate is None else estimate, kept.rows, N)
    tau = threshold(witness.W, problem.nonneg, kept.floor)
    h, slack = None, 0.0
    if witness.M is not None:
        h = heights(witness.M, k, problem.nonneg)
        # h is a difference of numbers of this size
        slack = SEARCH_SLACK * float(topk_sum(np.linalg.norm(witness.M, axis=1), k, forced))
    extra = min(k, free)
    V = np.vstack((U, np.zeros((extra, U.shape[1]))))
    h = None if h is None else np.append(h, np.zeros(extra))
    options = {"tol": tol, "offset": t, "stop": stop, "cap": cap, "forced": forced, "report": report}
    cover = cones.search(V, k, h=h, lift=np.sqrt(tau), nonneg=problem.nonneg, **options)
    size = np.einsum("ij,ij->i", V, V) + tau + (0.0 if h is None else h)
    F = cover.upper + SEARCH_SLACK * float(topk_sum(size, k, forced)) + slack + 4 * UNIT_ROUNDOFF * abs(t)
    return Proof(t, F, tau, cover)


def certificate(problem: Problem, kept: Kept, witness: Witness, *, kind=None, **options) -> tuple[Certificate, cones.Cover]:
    """Certificate of a witness and the cover that proves its search half; `options` of `prove`.

    `kind`: "B4" cannot be told from the witness.
    """
    proof = prove(problem, kept, witness, free=problem.n - len(kept.block), **options)
    U = None if witness.U is None or witness.U.shape[1] == 0 else witness.U
    arrays = {"W": witness.W, "M": witness.M, "U": U, "rows": kept.rows}
    arrays = {name: array for name, array in arrays.items() if array is not None}
    arrays |= {"claims": np.array([proof.t, proof.F]), "tree": proof.cover.tree}
    if kept.rows is not None:
        arrays["tau"] = np.array([proof.tau])
    return Certificate.of(problem, kind or witness.kind, "inequality", proof.upper, arrays), proof.cover
