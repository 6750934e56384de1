"""Margins for rounding errors. docs/rounding.md states and proves each rule, under the name it has here.

Every module of the checker that compares computed numbers takes its margins from here.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy import ndarray as Array

from nspca.checker.refusal import require

EPS = 1.02 * 2.0**-53
"""The unit roundoff, and 2 % more for the rounding of the margins themselves (rule MARGIN)."""
TINY = 1e-290
"""Upper bound on the loss by underflow in a sum of products (rule UNDERFLOW)."""
ROOT_TINY = 1e-150
"""Upper bound on the loss by underflow in the root of a sum of squares (rule NORM)."""


def gamma(roundings: float) -> float:
    """Rule GAMMA: bound the distance from 1 of a product of `roundings` factors (1 + delta)^(+-1), |delta| <=
    u.
    """
    return roundings * EPS


def margin(roundings: float, *magnitudes: Any) -> Any:
    """Rule MARGIN: bound the error of a sum whose terms have these magnitudes and this number of roundings
    each.
    """
    return gamma(roundings) * sum(magnitudes) + TINY


def norm(X: Array | float) -> float:
    """Rule NORM: return at least the Frobenius norm of X, except for roundings that rule MARGIN pays for."""
    return np.linalg.norm(X) + ROOT_TINY * np.any(X)


def topk(v: Array, k: int, fixed: int = 0) -> Any:
    """Return the sum of the first `fixed` entries of v >= 0 and the k - fixed largest others.

    Sums are along the last axis, and have k roundings.
    """
    n, others = v.shape[-1], v[..., fixed:]
    if k < n:
        others = np.partition(others, min(n - k, n - fixed - 1), axis=-1)[..., n - k :]
    return v[..., :fixed].sum(axis=-1) + others.sum(axis=-1)


def is_psd(S: Array, error: float) -> bool:
    """Rule CHOLESKY: return True only if every symmetric matrix within spectral distance `error` of S (n, n)
    is psd.

    A matrix on which Cholesky runs to its end is psd up to gamma_(n+1) / (1 - gamma_(n+1)) times its trace.
    So it runs on S minus that much, minus `error`, minus the rounding of this very subtraction.
    """
    n = len(S)
    shift = 1.02 * (error + gamma(n + 8) * np.abs(np.diagonal(S)).sum()) + TINY
    try:
        return bool(np.isfinite(np.linalg.cholesky(S - shift * np.eye(n))).all())
    except np.linalg.LinAlgError:  # not positive definite
        return False


def are_psd(S: Array, edges: Sequence[tuple[int, int]], error: float = 0.0) -> Array:
    """Rule CHOLESKY: return for each of many n x n matrices what `is_psd` does, as bools (matrices,).

    Row i of S (edges, matrices) holds the entries at ``(j, l) = edges[i]``, j <= l, of all matrices.
    """
    at, n = {edge: i for i, edge in enumerate(edges)}, 1 + max(edges)[0]
    S = np.array(S)
    trace = sum(np.abs(S[at[j, j]]) for j in range(n))
    proved = np.isfinite(S).all(axis=0)
    for j in range(n):
        S[at[j, j]] -= 1.02 * (error + gamma(n + 8) * trace) + TINY
    for j in range(n):
        proved &= S[at[j, j]] > 0
        root = np.sqrt(np.where(proved, S[at[j, j]], 1.0))
        column = {l: np.where(proved, S[at[j, l]] / root, 0.0) for l in range(j + 1, n)}
        for l in column:
            for i in range(l, n):
                S[at[l, i]] -= column[l] * column[i]
    return proved


def root_up(square: float) -> float:
    """Rule UP: return a float whose exact square is at least `square`, 0 for 0."""
    return float(np.nextafter(np.sqrt(square), np.inf)) if square > 0 else 0.0


def float_up(exact: Fraction) -> float:
    """Rule UP: return the smallest float that is not below a Fraction; one beyond all floats is refused."""
    require(abs(exact) <= np.finfo(float).max, "the bound that is claimed is beyond all float64 numbers")
    nearest = float(exact)
    return nearest if Fraction(nearest) >= exact else float(np.nextafter(nearest, np.inf))
