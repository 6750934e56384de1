"""Bound the supports of a node by squares: with a level v, eliminate the features that are in, then add up.

Let I be the features that are in, and J the others of a support. With ``v I - A_II`` positive definite, no
answer on I and J is above v if the largest eigenvalue of C on J is at most v, where

    C  =  A_JJ + A_JI (v I - A_II)^-1 A_IJ        (a Schur complement)

For x >= 0, negative entries of C may be taken as 0, and A_IJ may be raised: x_I'A_IJ x_J grows. Without that,
a feature that goes against those in I would count as one that goes with them, since x_I of any sign is
allowed for. So negative entries are taken as 0 in the columns of A_IJ whose sum is negative.

The square of the largest eigenvalue is at most the sum
of the squares of the entries. That is close where one eigenvalue outweighs all others. So it is for features
that are nearly copies, and near the optimum: what J adds goes mostly through the leading vector of A_II. The
sum knows how many features J may have, which the largest eigenvalue on all free features does not.

`eigenvalues` tries this bound for the parts of an enumeration.
"""

import numpy as np

from nspca.covariance.linalg import UNIT_ROUNDOFF, Array, topk_sum

ROUNDINGS = 8
"""Margin for the rounding errors of a checker, as a multiple of an estimate of them."""


def root_of_squares(C: Array, room: int, nonneg: bool) -> tuple[float, Array]:
    """Return a bound on the largest eigenvalue of C (f, f) on any `room` rows, and what each row adds.

    With s_jl the square of C_jl, the sum over J is at most that of s_jj and the room - 1 largest other s_jl,
    over the `room` rows where these are largest.
    """
    S = np.square(np.maximum(C, 0.0) if nonneg else C)
    others = S.copy()
    np.fill_diagonal(others, 0.0)
    each = S.diagonal() + topk_sum(others, max(room - 1, 0))
    return float(np.sqrt(topk_sum(each, room))), each


def eliminated(A: Array, into: int, v: float, terms: int, nonneg: bool) -> tuple[Array | None, float]:
    """Return C after the first `into` rows of A are eliminated at level v, and a margin for its rounding.

    Parameters
    ----------
    A : (r, r) float64
    into : int
    v : float
    terms : int
        Number of terms of an entry of A.
    nonneg : bool
        Whether weights are nonnegative. Then columns of A_IJ may be raised (see above).

    Returns
    -------
    C : (r - into, r - into) float64, or None where ``v I - A_II`` is not positive definite
    margin : float
        At least what the errors of a checker may add to the largest eigenvalue of C.
    """
    S, B = v * np.eye(into) - A[:into, :into], A[:into, into:]
    B = np.where(B.sum(axis=0) < 0, np.maximum(B, 0.0), B) if nonneg else B
    variances, of_v = A.diagonal(), v * np.sqrt(into)
    own, others = np.sqrt(variances[:into].sum()), np.sqrt(variances[into:].sum())
    unit = ROUNDINGS * UNIT_ROUNDOFF * (terms + 4 * len(A) + 64)
    least = float(np.linalg.eigvalsh(S).min(initial=v))
    if least <= 4 * unit * (own * own + of_v):
        return None, 0.0
    Y = np.linalg.solve(S, B)
    C, y = A[into:, into:] + B.T @ Y, float(np.linalg.norm(Y))
    left = float(np.linalg.norm(B - S @ Y)) + unit * (own * (others + own * y) + of_v * y)
    size = (others + own * y) ** 2 + float(np.linalg.norm(A)) * (1 + y) ** 2 + of_v * y * y
    return (C + C.T) / 2, float(unit * size + ROUNDINGS * left * left / least)
