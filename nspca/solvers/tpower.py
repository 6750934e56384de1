"""Find a sparse component by truncated power iteration from several starts.

    maximise x'Ax over k-sparse (nonnegative) unit x

Idea: multiply by A, keep the k largest entries (nonnegative: the k largest positive ones), bring to length 1,
repeat. For positive semidefinite A no step lowers x'Ax. All starts run side by side, as columns of one
matrix.
Guarantee: no bound. Near a spiked A with a good start, the error is that of the spike (Theorem 4 of the
reference).
Cost: O(n^2) per step and start, O(mn) from wide data, for which nothing n x n is formed.
Reference: Yuan & Zhang 2013, Algorithm 1, which also has the start that shrinks k in steps. The nonnegative
form keeps the positive part of the truncation (Prop. 3.1 of Asteris et al. 2014).
"""

# Called by `nspca.solving`, through `METHODS`.

from dataclasses import dataclass, field

import numpy as np

from nspca.covariance.linalg import Array, rank1_columns
from nspca.local_search import single as ascent
from nspca.problem import Problem
from nspca.progress import Report, silent
from nspca.result import Result, Status
from nspca.validation.options import MethodOptions

SHRINKING = (8, 4, 2)
"""Multiples of k at which the shrinking start runs before it runs at k."""
SHRINKING_STEPS = 10
"""Power steps at each multiple of k. They fix most of the support, and the run at k goes on from there."""


@dataclass(frozen=True)
class Options(MethodOptions):
    """Options of `tpower`.

    Attributes
    ----------
    restarts : int
        Random starts beside those from the leading eigenvector, the largest variance and the shrinking k.
    iterations : int
        Maximum number of power steps. The value is valid after each step.
    polish : bool
        Alternate the best vector on the support with power steps while that gains. This helps only when the
        cap on iterations was reached, and for nonnegative weights.
    """

    restarts: int = field(default=10, metadata={"least": 0})
    iterations: int = 500
    polish: bool = True


def solve(problem: Problem, options: Options, seed: int = 0, report: Report = silent) -> Result:
    """Return the best component of all starts."""
    first = starts(problem, options.restarts, seed, report)
    X, steps = ascent.power_steps(problem, first, options.iterations, report)
    x = ascent.best_of(problem, X)
    x = ascent.polish(problem, x) if options.polish else x
    info = {"starts": X.shape[1], "iterations": steps, "converged": steps < options.iterations}
    return Result.of(problem, x, Status.HEURISTIC, "tpower", **info)


def starts(problem: Problem, count: int, seed: int, report: Report = silent) -> Array:
    """Return k-sparse starts as columns of an array.

    Starts are the leading eigenvector with either sign, the feature of largest variance, the shrinking start,
    and `count` random points of the range of A.
    """
    A = problem.covariance
    leading = A.leading(1)[1][:, :1]
    shrunk = np.hstack([leading, -leading]) if problem.nonneg else leading
    for multiple in SHRINKING:
        if multiple * problem.size < problem.n:
            wider = problem.with_k(multiple * problem.size)
            shrunk, _ = ascent.power_steps(wider, shrunk, SHRINKING_STEPS, report)
    drawn = A.product(np.random.default_rng(seed).standard_normal((problem.n, count)))
    X = rank1_columns(np.column_stack([shrunk, drawn]), problem.size, problem.nonneg, problem.forced)
    return np.column_stack(
        [ascent.starts_from(problem, leading[:, 0]), ascent.first_feature(problem), X[:, X.any(axis=0)]]
    )
