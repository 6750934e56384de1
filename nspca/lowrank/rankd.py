"""Factor of the rank-d problem of a covariance, and the guarantee of Theorem 1 for its answer.

The methods `auto`, `cone` and `spannogram`, the page Spannogram and the lesson use them.
"""

import numpy as np

from nspca.covariance.covariance import Covariance
from nspca.covariance.linalg import Array
from nspca.problem import Problem

FLAT = 1e-12
"""Eigenvalues beyond the first d count as equal when their sum is off by less than this of the trace."""


def factor(A: Covariance, rank: int) -> tuple[Array, bool]:
    """Return V (n, d) with ``VV' = A_d``, and whether the rank-d problem has the optimum of A.

    That is so when A = sI + C with rank(C) <= d; then ``VV' = C``.
    """
    rank = min(rank, A.n)
    values, vectors = A.leading(min(rank + 1, A.n))
    exact = flat_tail(A, rank)
    shift = values[rank] if exact and rank < values.size else 0.0
    return vectors[:, :rank] * np.sqrt(np.maximum(values[:rank] - shift, 0.0)), exact


def flat_tail(A: Covariance, rank: int) -> bool:
    """Tell whether ``A = sI + C`` with rank(C) <= rank, up to rounding; s = 0 if A itself has that rank."""
    if rank >= A.n:
        return True
    values = A.leading(rank + 1)[0]
    left = A.trace - float(values[:rank].sum())
    return abs(left - (A.n - rank) * float(values[rank])) <= FLAT * A.trace


def rho(problem: Problem, rank: int) -> float:
    """Return the share of the optimum that the exact rank-d answer is guaranteed to reach.

    Theorem 1 of Asteris et al. 2014: ``max{ k/2n, 1/(1 + 2 (n/k) l_{d+1}/l1) }``, known before anything is
    run. The guarantee does not hold for other answers. The share is 1 with rank >= n, or for a zero matrix.
    """
    n, k = problem.n, problem.size
    values = problem.covariance.leading(min(rank + 1, n))[0]
    if rank >= n or values[0] == 0.0:
        return 1.0
    return max(k / (2 * n), 1 / (1 + 2 * (n / k) * float(values[rank] / values[0])))
