"""Elementary bounds (B0) that need no search: leading eigenvalue and k largest variances.

`nspca.proving` starts with the `best` of them.
"""

import numpy as np

from nspca.bounds.inequality import SLACK, spectral_claim
from nspca.certificate import Certificate
from nspca.covariance.linalg import UNIT_ROUNDOFF, topk_sum
from nspca.problem import Problem


def eigenvalue(problem: Problem) -> Certificate:
    """Return the certificate ``OPT <= l1``: the inequality with W = M = U = 0."""
    A = problem.covariance
    t = A.once("l1 claim", lambda: spectral_claim(A, np.zeros((A.n, 0)), float(A.leading(1)[0][0])))
    return Certificate.of(problem, "B0", "inequality", t, {"claims": np.array([t, 0.0])})


def diagonal(problem: Problem) -> Certificate:
    """Return the certificate ``OPT <= topk(diag A) + k nu``, where ``A + nu I`` is psd.

    The trace of a k x k block of ``A + nu I`` bounds its eigenvalues. Forced features count among the k. The
    bound is raised by the rounding errors of a checker that computes k entries of A again.
    """
    A = problem.covariance
    largest = topk_sum(A.diagonal[problem.usable], problem.size, len(problem.forced))
    bound = float(largest) + problem.size * A.nu
    samples = A.shape[0] if A.source == "data" else 1
    size = bound + problem.size * float(A.diagonal.max())
    bound += 4 * SLACK * UNIT_ROUNDOFF * (samples + A.n + 64) * size
    return Certificate.of(problem, "B0", "diagonal", bound)


def best(problem: Problem, factorised: bool = True) -> Certificate:
    """Return the certificate with the smallest elementary bound that is affordable at this size.

    The leading eigenvalue needs a factorisation and is left out when `factorised` is False.
    """
    found = [diagonal(problem), *([eigenvalue(problem)] if factorised else [])]
    return min(found, key=lambda certificate: certificate.upper)
