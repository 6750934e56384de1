"""Bound the supports of a node by the squares of the entries of A: for features that are nearly copies.

The square of the largest eigenvalue of A on a support S is at most the sum of the squares of all entries
there. That is close where one eigenvalue outweighs all others, whatever S is. A witness is no help there: it
is stored with fewer digits than the supports differ by.

`eigenvalues` tries this bound where the largest eigenvalue does not close a part of the supports.
"""

import numpy as np

from nspca.bounds.elimination import Kept
from nspca.bounds.inequality import SLACK
from nspca.covariance.linalg import UNIT_ROUNDOFF, Array, topk_sum
from nspca.problem import Problem


def root_of_squares(problem: Problem, kept: Kept) -> tuple[float, Array]:
    """Return a bound on lambda_max(A_SS) for all supports S of a node, and what each free row adds to it.

    With s_ij the square of A_ij, F the fixed rows, and J the others of S, at most `room` of them,

        sum_SS s_ij  <=  sum_FF s_ij  +  sum_J ( s_jj + 2 sum_F s_ij + the room - 1 largest other s_jl ).

    For x >= 0, x'Ax is no larger than with the negative entries of A at 0.

    Parameters
    ----------
    problem : Problem
    kept : Kept
        All rows that a support may have, the fixed ones first.

    Returns
    -------
    bound : float
        With a margin for what a checker may compute differently.
    each : (r - fixed,) float64
    """
    A, block, fixed, k = problem.covariance, kept.block, kept.fixed, problem.size
    S, room = np.square(np.maximum(block, 0.0) if problem.nonneg else block), k - fixed
    others = S[fixed:, fixed:].copy()
    np.fill_diagonal(others, 0.0)
    each = S.diagonal()[fixed:] + 2 * S[fixed:, :fixed].sum(axis=1) + topk_sum(others, max(room - 1, 0))
    total = float(S[:fixed, :fixed].sum() + topk_sum(each, room))
    terms = (A.shape[0] if A.source == "data" else 1) + 4 * k + 64
    sizes = float(topk_sum(block.diagonal(), k, fixed))
    return float(np.sqrt(total)) + SLACK * UNIT_ROUNDOFF * terms * sizes, each
