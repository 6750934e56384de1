"""Find components with a minimum angle between any two, from overlapping freely to being orthogonal.

Orthogonal nonnegative components cannot share a feature, which is often too much to ask. Sigg & Buhmann 2008
(Section 4, eq. 20) add the penalty ``weight x'VV'x``, where V holds the components before, and raise the
weight. On unit vectors that is sparse PCA of ``A - weight VV'``, shifted to be positive semidefinite. So
every method can solve it. `nspca.api` calls `at_an_angle` where a caller of `solve` gives an angle.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from nspca.components.deflation import SolveOne, collected, solved_on
from nspca.covariance.linalg import Array
from nspca.covariance.updated import repelled
from nspca.errors import InvalidOption, InvalidProblem, shown
from nspca.problem import Problem
from nspca.validation.options import is_number

FIRST_WEIGHT = 0.05
"""First weight tried, in units of the largest eigenvalue l1. Later weights are doubled."""
DOUBLINGS = 12
"""Maximum number of times the weight is doubled: beyond 200 l1 the shift exceeds A."""
HALVINGS = 5
"""Bisections between a weight that is too small and one large enough: it is then known to 3 %."""
SLACK = 1e-9
"""Rounding by which a cosine may exceed that of the smallest angle."""

Penalised = Callable[[Problem, Array, float], Array]
"""``penalised(problem, V, weight) -> x``: solve a problem with the penalty ``weight x'VV'x``."""


def at_an_angle(
    problem: Problem, count: int, solve_one: SolveOne, degrees: float, penalised: Penalised | None = None
) -> Array:
    """Return `count` components (n, count), any two at an angle of at least `degrees`, 0 < degrees <= 90.

    ``solve_one(problem) -> x`` solves a problem without a penalty. ``penalised(problem, V, weight) -> x``
    solves one with a penalty; when None, the penalty is added to the covariance. Where the component
    that is found so is too close, the features of all components before are left out at 90 degrees, and also
    where no weight gives a large enough angle.

    Raises
    ------
    Cancelled
        When a method raises it; its result has the components found so far.
    InvalidOption
        For an angle that is not above 0 and at most 90.
    InvalidProblem
        When features would have to be left out and none remains.
    """
    check_angle(degrees)
    limit = math.cos(math.radians(degrees)) + SLACK
    return collected(
        problem,
        count,
        _yield_components(problem, solve_one, limit, penalised or _penalise_covariance(solve_one)),
    )


def check_angle(degrees: float) -> None:
    """Refuse an angle that is not above 0 and at most 90 degrees."""
    if not is_number(degrees) or not 0 < degrees <= 90:
        raise InvalidOption(
            f"the angle between components must be above 0 and at most 90 degrees, got {shown(degrees)}"
        )


def _yield_components(
    problem: Problem, solve_one: SolveOne, limit: float, penalised: Penalised
) -> Iterator[Array]:
    """Yield components (n,) without end; the cosine of the angle to each one before is at most `limit`."""
    V = np.zeros((problem.n, 0))
    while True:
        x = _find_next(problem, V, solve_one, limit, penalised)
        yield x
        V = np.column_stack([V, x])


def _penalise_covariance(solve_one: SolveOne) -> Penalised:
    """Return a function that adds the penalty to the covariance and calls `solve_one`, for any method."""

    def penalised(problem: Problem, V: Array, weight: float) -> Array:
        """Return the answer of `solve_one` for the problem with the penalty ``weight x'VV'x``."""
        return solve_one(replace(problem, covariance=repelled(problem.covariance, V, weight)))

    return penalised


def _find_next(problem: Problem, V: Array, solve_one: SolveOne, limit: float, penalised: Penalised) -> Array:
    """Return the best component whose cosines to the columns of V are at most `limit`."""
    A = problem.covariance
    l1 = float(A.leading(1)[0][0])

    def found(weight: float) -> tuple[Array, bool]:
        """Return the component for a weight, and whether its angles to the columns of V are large enough."""
        x = penalised(problem, V, weight) if weight else solve_one(problem)
        return x, float(np.abs(V.T @ x).max(initial=0.0)) <= limit

    x, far = found(0.0)
    if far:
        return x
    if limit <= 2 * SLACK:
        return _find_disjoint(problem, V, solve_one)  # no finite weight makes components exactly orthogonal
    low, high = 0.0, FIRST_WEIGHT * l1
    for _ in range(DOUBLINGS):
        x, far = found(high)
        if far:
            break
        low, high = high, 2 * high
    if not far:
        return _find_disjoint(problem, V, solve_one)
    best = x
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        x, far = found(middle)
        low, high = (low, middle) if far else (middle, high)
        if far and A.quadratic(x) > A.quadratic(best):
            best = x
    return best


def _find_disjoint(problem: Problem, V: Array, solve_one: SolveOne) -> Array:
    """Return a component among the features that no column of V uses."""
    free = np.flatnonzero(~V.any(axis=1))
    if free.size == 0:
        raise InvalidProblem(
            f"no further component is far enough from the {V.shape[1]} before; ask for fewer, or for a "
            "smaller angle"
        )
    return solved_on(problem, free, min(problem.size, free.size), solve_one)
