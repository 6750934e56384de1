"""B0: bounds that need no search: the leading eigenvalue, the k largest variances, the largest rows."""

import numpy as np

from nspca.bounds.inequality import SLACK, spectral_claim
from nspca.certificate import Certificate
from nspca.covariance import DENSE_LIMIT
from nspca.linalg import UNIT_ROUNDOFF, topk_sum
from nspca.problem import Problem


def eigenvalue(problem: Problem) -> Certificate:
    """``OPT <= l1``: the inequality with W = M = U = 0."""
    A = problem.covariance
    t = A.once("l1 claim", lambda: spectral_claim(A, np.zeros((A.n, 0)), float(A.leading(1)[0][0])))
    return Certificate.of(problem, "B0", "inequality", t, {"claims": np.array([t, 0.0])})


def diagonal(problem: Problem) -> Certificate:
    """``OPT <= topk(diag A)``: the trace of a k x k principal block bounds its leading eigenvalue. Cost O(n), any size."""
    A = problem.covariance
    return Certificate.of(problem, "B0", "diagonal", _raised(problem, float(topk_sum(A.diagonal, problem.k))))


def rows(problem: Problem) -> Certificate:
    """``OPT <= max_i a_ii + top(k-1) of the other (A_ij)+`` (signed: |A_ij|): Gershgorin on every k x k block."""
    A = problem.covariance
    return Certificate.of(problem, "B0", "row", _raised(problem, float(_row_sums(A, problem.k, problem.nonneg).max())))


def _row_sums(A, k, nonneg):
    other = np.array(A.matrix if nonneg else np.abs(A.matrix))
    np.fill_diagonal(other, 0.0)
    return A.diagonal + (topk_sum(other, k - 1) if k > 1 else 0.0)


def _raised(problem, bound):
    """Room for the rounding of whoever recomputes the entries: gamma_m |Z|'|Z| on each of k of them."""
    A = problem.covariance
    samples = A.shape[0] if A.source == "data" else 1
    return bound + 4 * SLACK * UNIT_ROUNDOFF * (samples + A.n + 64) * (bound + problem.k * float(A.diagonal.max()))


def best(problem: Problem, factorised: bool = True) -> Certificate:
    """The smallest of those that can be had at this size; the leading eigenvalue only if it may cost a factorisation (`factorised`)."""
    found = [diagonal(problem)]
    if factorised:
        found.append(eigenvalue(problem))
    if problem.n <= DENSE_LIMIT:
        found.append(rows(problem))
    return min(found, key=lambda certificate: certificate.upper)
