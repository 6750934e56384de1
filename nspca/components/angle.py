"""Components at a minimum angle to each other: between overlapping freely and being orthogonal.

Orthogonal nonnegative components cannot share a feature, which is often too much to ask. Sigg & Buhmann 2008
(Section 4, eq. 20) add the penalty ``weight x'VV'x``, V the components before, and raise the weight. On unit
vectors that is sparse PCA of ``A - weight VV'``, shifted to be positive semidefinite, so every method can do
it.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from nspca.components.partial import collected
from nspca.covariance.linalg import Array
from nspca.covariance.updated import Changed
from nspca.errors import InvalidOption, InvalidProblem, shown
from nspca.problem import Problem
from nspca.validation.options import is_whole

FIRST_WEIGHT = 0.05
"""First weight tried, in units of l1; doubled from there."""
DOUBLINGS = 12
"""Weights beyond 200 l1 drown A in the shift."""
HALVINGS = 5
"""Steps back towards the largest weight that was too small: the weight is then known to 3 %."""
SLACK = 1e-9
"""Cosines may exceed that of the angle by this much, which is rounding."""


Penalised = Callable[[Problem, Array, float], Array]


def at_an_angle(
    problem: Problem,
    count: int,
    solve_one: Callable[[Problem], Array],
    degrees: float,
    penalised: Penalised | None = None,
) -> Array:
    """`count` components (n, count) of which any two lines are at least `degrees` apart; 0 < degrees <= 90.

    Each is found by ``solve_one(problem) -> x``; with a penalty by ``penalised(problem, V, weight) -> x`` of
    methods that have a way of their own. At 90 degrees, and where no weight brings a method far enough from
    the components before, their features are left out.

    Raises
    ------
    Cancelled
        With those found by then, where a method raises it.
    InvalidOption
        For another angle.
    InvalidProblem
        When features would have to be left out and none remains.
    """
    check_angle(degrees)
    limit = math.cos(math.radians(degrees)) + SLACK
    return collected(problem, count, _apart(problem, solve_one, limit, penalised or _changed(solve_one)))


def check_angle(degrees) -> None:
    """Require an angle that `at_an_angle` can keep."""
    if not (is_whole(degrees) or isinstance(degrees, float | np.floating)) or not 0 < degrees <= 90:
        raise InvalidOption(
            f"the angle between components must be above 0 and at most 90 degrees, got {shown(degrees)}"
        )


def _apart(problem, solve_one, limit, penalised) -> Iterator[Array]:
    """Components one after another, each far enough from all before."""
    V = np.zeros((problem.n, 0))
    while True:
        x = _next(problem, V, solve_one, limit, penalised)
        yield x
        V = np.column_stack([V, x])


def _changed(solve_one) -> Penalised:
    """The penalty as a part of the covariance, for every method."""

    def penalised(problem, V, weight):
        shift = weight * float(np.linalg.norm(V, 2)) ** 2
        changed = Changed(problem.covariance, V, -weight * np.eye(V.shape[1]), shift=shift)
        return solve_one(replace(problem, covariance=changed))

    return penalised


def _next(problem, V, solve_one, limit, penalised):
    A = problem.covariance
    l1 = float(A.leading(1)[0][0])

    def found(weight):
        x = penalised(problem, V, weight) if weight else solve_one(problem)
        return x, float(np.abs(V.T @ x).max(initial=0.0)) <= limit

    x, far = found(0.0)
    if far:
        return x
    if limit <= 2 * SLACK:
        return _elsewhere(problem, V, solve_one)  # no finite weight makes components quite orthogonal
    low, high = 0.0, FIRST_WEIGHT * l1
    for _ in range(DOUBLINGS):
        x, far = found(high)
        if far:
            break
        low, high = high, 2 * high
    if not far:
        return _elsewhere(problem, V, solve_one)
    best = x
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        x, far = found(middle)
        low, high = (low, middle) if far else (middle, high)
        if far and A.quadratic(x) > A.quadratic(best):
            best = x
    return best


def _elsewhere(problem, V, solve_one):
    free = np.flatnonzero(~V.any(axis=1))
    if free.size == 0:
        raise InvalidProblem(
            f"no further component is far enough from the {V.shape[1]} before; ask for fewer, or for a "
            "smaller angle"
        )
    x = np.zeros(problem.n)
    x[free] = solve_one(
        Problem(problem.covariance.restrict(free), min(problem.size, free.size), problem.nonneg)
    )
    return x
