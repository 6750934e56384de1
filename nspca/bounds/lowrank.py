"""B2 and B3: the optimum of a rank-d matrix plus what the other eigenvalues can add."""

from collections.abc import Iterable

import numpy as np

from nspca.bounds.inequality import spectral_claim
from nspca.bounds.witness import search_half
from nspca.certificate import Certificate
from nspca.covariance.covariance import Covariance
from nspca.covariance.linalg import Array
from nspca.lowrank.cones import Budget, Cover
from nspca.lowrank.objective import Query
from nspca.problem import Problem
from nspca.progress import Report, progress_only, silent


def bound(
    problem: Problem,
    rank: int = 3,
    *,
    shifted: bool = True,
    tol: float = 1e-3,
    cap: int = 20000,
    starts: Iterable[Array] = (),
    report: Report = silent,
) -> tuple[Certificate, Cover]:
    """Certificate ``OPT <= lambda_max(A - UU') + OPT(UU')`` and the cover that proves its second half.

    B3 (`shifted`): ``UU' = sum_{j<=d} (l_j - l_{d+1}) u_j u_j'``, so the bound is ``l_{d+1} + OPT(UU')``;
    never looser than B2, which takes ``UU' = A_d`` as the 2014 paper does: moving ``l_{d+1} u_j u_j'`` from
    UU' to the remainder leaves its largest eigenvalue at l_{d+1} and can only lower OPT(UU'). Both hold for
    any U, exact eigenvectors or not.

    Returns
    -------
    certificate : Certificate
    cover : Cover
        Its direction c gives a good start: ``rank1(Uc)``.
    """
    A = problem.covariance
    rank = min(rank, A.n)
    U, t = A.once(("remainder", rank, shifted), lambda: remainder(A, rank, shifted))
    usable = problem.usable
    rows, U = {"rows": usable} if problem.forced else {}, U[usable]  # the forced ones are in every support
    query = Query(U, problem.size, nonneg=problem.nonneg, fixed=len(problem.forced))
    budget = Budget(tol, offset=t, cap=cap)
    F, cover = search_half(query, budget, starts, progress_only(report, problem.size))
    witness = {"U": U, "claims": np.array([t, F]), "tree": cover.tree, **rows}
    return Certificate.of(problem, "B3" if shifted else "B2", "inequality", t + F, witness), cover


def remainder(A: Covariance, rank: int, shifted: bool) -> tuple[Array, float]:
    """U of the bound and the proved largest eigenvalue of what U leaves of A."""
    values, vectors = A.leading(rank + 1)
    following = float(values[rank]) if rank < values.size else 0.0
    kept = values[:rank] - following if shifted else values[:rank]
    U = vectors[:, :rank] * np.sqrt(np.maximum(kept, 0.0))
    U = np.ascontiguousarray(U[:, np.any(U != 0, axis=0)])
    return U, spectral_claim(A, U, following)
