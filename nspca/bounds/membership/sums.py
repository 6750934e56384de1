"""Bounds for every feature by sums of variances and of rows, which need no witness."""

import numpy as np

from nspca.bounds.inequality import SLACK
from nspca.bounds.membership.claims import Bounds, stated
from nspca.certificate import Certificate
from nspca.covariance.linalg import UNIT_ROUNDOFF, topk_sum
from nspca.lowrank.terms import changed
from nspca.problem import Problem


def of_variances(problem: Problem) -> Certificate:
    """Return the bounds ``topk(diag A)`` over the supports with each feature, and over those without it."""
    A, k, fixed, usable = problem.covariance, problem.size, len(problem.forced), problem.usable
    more = k * A.nu + _rounding(problem, k * float(A.diagonal.max()))
    upper = float(topk_sum(A.diagonal[usable], k, fixed)) + more
    having, lacking = np.full(problem.n, -np.inf), np.full(problem.n, upper)
    with_, without = changed(A.diagonal[usable], fixed, k - fixed)
    having[usable], lacking[usable] = with_ + more, without + more
    return stated(problem, "B0", "diagonal", Bounds(having, lacking, upper), {})


def of_rows(problem: Problem) -> Certificate:
    """Return the bounds by row sums (`elementary.rows`) over supports with, and without, each feature."""
    A, k, fixed, usable = problem.covariance, problem.size, len(problem.forced), problem.usable
    B = np.asarray(A.matrix if problem.nonneg else np.abs(A.matrix))[np.ix_(usable, usable)]
    B = np.maximum(B, 0.0)
    own = A.diagonal[usable].copy()
    np.fill_diagonal(B, 0.0)
    most = np.full((2, usable.size), -np.inf)
    whole = -np.inf
    for i in range(usable.size):
        count = k if i < fixed else k - 1
        with_, without = changed(B[i], fixed, count - fixed)
        total = own[i] + float(topk_sum(B[i], count, fixed))
        for best, sums, at_own in zip(most, (with_, without), (total, -np.inf), strict=True):
            sums = own[i] + sums
            sums[i] = at_own
            np.maximum(best, sums, out=best)
        whole = max(whole, total)
    more = _rounding(problem, whole)
    having, lacking = np.full(problem.n, -np.inf), np.full(problem.n, whole + more)
    having[usable], lacking[usable] = most + more
    return stated(problem, "B0", "row", Bounds(having, lacking, whole + more), {})


def _rounding(problem: Problem, size: float) -> float:
    """Return a bound on the rounding error of a checker that recomputes entries and sums of this size."""
    A = problem.covariance
    samples = A.shape[0] if A.source == "data" else 1
    return 4 * SLACK * UNIT_ROUNDOFF * (samples + A.n + 64) * (size + problem.size * float(A.diagonal.max()))
