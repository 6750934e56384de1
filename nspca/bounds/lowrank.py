"""Low-rank bounds B2 and B3: the optimum of a rank-d matrix plus the largest eigenvalue of the rest of A.

`nspca.proving` and the page Spannogram prove B3. The items of the papers prove B2.
"""

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
    """Return the certificate ``OPT <= lambda_max(A - UU') + OPT(UU')`` and the cover that proves OPT(UU').

    B3 (`shifted`) takes ``UU' = sum_{j<=d} (l_j - l_{d+1}) u_j u_j'``, so its bound is
    ``l_{d+1} + OPT(UU')``. B2 takes ``UU' = A_d``, as the 2014 paper does. B3 is never looser: moving
    ``l_{d+1} u_j u_j'`` from UU' to the remainder leaves the largest eigenvalue of the remainder at l_{d+1}
    and cannot raise OPT(UU'). Both bounds hold for any U, exact eigenvectors or not.

    Parameters
    ----------
    problem : Problem
    rank : int
        Number d of columns of U.
    shifted : bool
        Whether to prove B3 instead of B2.
    tol, cap, starts
        Relative tolerance, maximum cones and first directions of the cone search.
    report : callable

    Returns
    -------
    certificate : Certificate
    cover : Cover
        Its direction c gives a good starting point for a local search: ``rank1(Uc)``.
    """
    A = problem.covariance
    rank = min(rank, A.n)
    U, t = A.once(("remainder", rank, shifted), lambda: remainder(A, rank, shifted))
    usable = problem.usable
    rows, U = {"rows": usable} if problem.forced else {}, U[usable]
    query = Query(U, problem.size, nonneg=problem.nonneg, fixed=len(problem.forced))
    budget = Budget(tol, offset=t, cap=cap)
    F, cover = search_half(query, budget, starts, progress_only(report, problem.size))
    witness = {"U": U, "claims": np.array([t, F]), "tree": cover.tree, **rows}
    return Certificate.of(problem, "B3" if shifted else "B2", "inequality", t + F, witness), cover


def least(problem: Problem, rank: int, x: Array | None) -> float:
    """Return a number (unit scale) below which B3 cannot be: ``l_{d+1} + x'UU'x``, x a known component.

    It takes the leading eigenpairs alone, where the proof of a bound factorises a matrix.
    """
    values, vectors = problem.covariance.leading(min(rank, problem.n) + 1)
    following = float(values[rank]) if rank < values.size else 0.0
    if x is None:
        return following
    return following + float(np.maximum(values[:rank] - following, 0.0) @ (x @ vectors[:, :rank]) ** 2)


def remainder(A: Covariance, rank: int, shifted: bool) -> tuple[Array, float]:
    """Return U (n, rank) of the bound, and a proved upper bound on ``lambda_max(A - UU')``."""
    values, vectors = A.leading(rank + 1)
    following = float(values[rank]) if rank < values.size else 0.0
    kept = values[:rank] - following if shifted else values[:rank]
    U = vectors[:, :rank] * np.sqrt(np.maximum(kept, 0.0))
    U = np.ascontiguousarray(U[:, np.any(U != 0, axis=0)])
    return U, spectral_claim(A, U, following)
