"""Several components of one problem, found one after another."""

import numpy as np

from nspca.errors import InvalidProblem
from nspca.problem import Problem


def drop_features(problem: Problem, count: int, solve_one) -> np.ndarray:
    """`count` components with disjoint supports: features used by one are removed before the next.

    This is how the 2014 and 2015 papers keep components orthogonal. ``solve_one(problem) -> x``.

    Returns
    -------
    components : (n, count) float64
    """
    left = np.arange(problem.n)
    X = np.zeros((problem.n, count))
    for j in range(count):
        if left.size == 0:
            raise InvalidProblem(f"components must not need more features than there are, got n = {problem.n} used up after {j}")
        part = Problem(problem.covariance.restrict(left), min(problem.k, left.size), problem.nonneg)
        x = solve_one(part)
        X[left, j] = x
        left = left[x == 0]
    return X
