"""B8 where it can be done by brute force: the leading eigenvalue over all supports, ``OPT <= max_I lambda_max(A_II)``.

Exact for the signed problem, and for the nonnegative one whenever the best signed component can be taken nonnegative. The
proof needs no witness but the number: one Cholesky factorisation per support. Cost: C(n, k) factorisations of size k.
"""

from itertools import combinations, islice
from math import comb

import numpy as np

from nspca.bounds.inequality import SLACK
from nspca.certificate import Certificate
from nspca.linalg import UNIT_ROUNDOFF
from nspca.problem import Problem
from nspca.progress import Event, Report, silent

WORK = {"fast": 0.0, "standard": 2e6, "thorough": 3e8}
"""Most C(n, k) k^3 an effort spends: about a tenth of a second, some ten seconds."""
BLOCK = 1 << 14


def affordable(problem: Problem, effort: str) -> bool:
    """Whether all supports can be looked at within an effort."""
    n, k = problem.n, problem.k
    return comb(n, k) * k**3 <= WORK[effort]


def bound(problem: Problem, report: Report = silent) -> Certificate:
    """The certificate; cancelled through `report`."""
    A, n, k = problem.covariance.matrix, problem.n, problem.k
    every, largest, done = combinations(range(n), k), 0.0, 0
    while supports := list(islice(every, BLOCK)):
        I = np.array(supports)
        largest = max(largest, float(np.linalg.eigvalsh(A[I[:, :, None], I[:, None, :]])[:, -1].max()))
        done += len(I)
        report(Event("supports", done, comb(n, k), k=k))
    samples = problem.covariance.shape[0] if problem.covariance.source == "data" else 1
    size = k * (largest + float(problem.covariance.diagonal.max()))
    t = largest + SLACK * UNIT_ROUNDOFF * (samples + k + 40) * size
    return Certificate.of(problem, "B8", "supports", t, {"claims": np.array([t, 0.0])})
