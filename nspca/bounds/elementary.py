"""Elementary bounds (B0) that need no search: leading eigenvalue, k largest variances, largest row sums.

`nspca.proving` starts with the `best` of them.
"""

import numpy as np

from nspca.bounds.inequality import SLACK, spectral_claim
from nspca.certificate import Certificate
from nspca.covariance.covariance import DENSE_LIMIT
from nspca.covariance.linalg import UNIT_ROUNDOFF, topk_sum
from nspca.problem import Problem


def eigenvalue(problem: Problem) -> Certificate:
    """Return the certificate ``OPT <= l1``: the inequality with W = M = U = 0."""
    A = problem.covariance
    t = A.once("l1 claim", lambda: spectral_claim(A, np.zeros((A.n, 0)), float(A.leading(1)[0][0])))
    return Certificate.of(problem, "B0", "inequality", t, {"claims": np.array([t, 0.0])})


def diagonal(problem: Problem) -> Certificate:
    """Return the certificate ``OPT <= topk(diag A) + k nu``, where ``A + nu I`` is psd.

    The trace of a k x k block of ``A + nu I`` bounds its eigenvalues. Forced features count among the k.
    """
    A = problem.covariance
    largest = topk_sum(A.diagonal[problem.usable], problem.size, len(problem.forced))
    bound = float(largest) + problem.size * A.nu
    return Certificate.of(problem, "B0", "diagonal", _raised(problem, bound))


def rows(problem: Problem) -> Certificate:
    """Return the certificate ``OPT <= max_i (a_ii + top(k-1) of the other (A_ij)+)`` (signed: |A_ij|).

    The bound is Gershgorin's for every k x k block. Forced features count among the k in every row.
    """
    A, k, fixed = problem.covariance, problem.size, len(problem.forced)
    usable = problem.usable
    other = np.array(A.matrix if problem.nonneg else np.abs(A.matrix))
    np.fill_diagonal(other, 0.0)
    other = other[np.ix_(usable, usable)] if fixed else other
    parts = [(usable[:fixed], other[:fixed], k)] if fixed else []
    parts += [(usable[fixed:], other[fixed:], k - 1)] if problem.room else []
    bound = max(float((A.diagonal[I] + topk_sum(E, count, fixed)).max()) for I, E, count in parts)
    return Certificate.of(problem, "B0", "row", _raised(problem, bound))


def _raised(problem: Problem, bound: float) -> float:
    """Return a bound raised by the rounding errors of a checker that recomputes k entries of A."""
    A = problem.covariance
    samples = A.shape[0] if A.source == "data" else 1
    size = bound + problem.size * float(A.diagonal.max())
    return bound + 4 * SLACK * UNIT_ROUNDOFF * (samples + A.n + 64) * size


def best(problem: Problem, factorised: bool = True) -> Certificate:
    """Return the certificate with the smallest elementary bound that is affordable at this size.

    The leading eigenvalue needs a factorisation and is left out when `factorised` is False.
    """
    found = [diagonal(problem)]
    if factorised:
        found.append(eigenvalue(problem))
    if problem.n <= DENSE_LIMIT:
        found.append(rows(problem))
    return min(found, key=lambda certificate: certificate.upper)
