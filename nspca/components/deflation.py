"""Find components one after another; a deflation changes A before each search for the next component.

A sparse component x is no eigenvector of A. Deflations that agree for PCA therefore differ here (Mackey
2008):

`drop`         features of x are left out: disjoint supports, the only way to orthogonal nonnegative
               components (2014 and 2015 papers)
`hotelling`    ``A - (x'Ax) xx'``: variance along x becomes 0, but the rest need not stay positive
               semidefinite
`projection`   ``(I - xx') A (I - xx')``: data projected off x (Sigg & Buhmann 2008, eq. 18)
`schur`        ``A - Axx'A / x'Ax``: what the scores along x do not predict, so the scores left are
               uncorrelated with them
`generalised`  the next x adds most to the variance of the span: ``max x'PAPx / x'Px``, where P projects off
               the span (Mackey 2008, Alg. 1)

The values of components are always computed on A itself. Only `drop` keeps supports disjoint. `nspca.api`
calls `successive` for an answer with several components.
"""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from nspca.covariance.covariance import Covariance
from nspca.covariance.linalg import Array, Indices, normalised
from nspca.covariance.updated import Changed
from nspca.errors import Cancelled, InvalidOption, InvalidProblem, shown
from nspca.problem import Problem
from nspca.result import Result, Status

QUOTIENTS = 10
"""Maximum solves for one component of `generalised`. The quotient can only grow; 2 or 3 are usual."""
GROWTH = 1e-9
"""Relative growth of the quotient below which the iteration has converged."""
INSIDE = 1e-9
"""Smallest squared length of a component's part off the span; a shorter one is rounding."""

SolveOne = Callable[[Problem], Array]
"""``solve_one(problem) -> x``: one component (n,) of a problem."""


def successive(problem: Problem, count: int, solve_one: SolveOne, deflation: str = "drop") -> Array:
    """Return `count` components (n, count), found one after another on what the deflation leaves of A.

    ``solve_one(problem) -> x (n,)`` finds each component.

    Raises
    ------
    Cancelled
        When `solve_one` raises it; its result has the components found so far.
    InvalidOption
        When `deflation` is not a key of `DEFLATIONS`.
    InvalidProblem
        When `drop` needs more features than there are.
    """
    check_deflation(problem, count, deflation)
    return collected(problem, count, DEFLATIONS[deflation](problem, solve_one))


def collected(problem: Problem, count: int, components: Iterator[Array]) -> Array:
    """Return the first `count` components (n, count).

    When a search is cancelled, `Cancelled.result` has the components found so far. If there are none, it has
    the partial answer for the first component. Partial answers for later ones are not used, since they belong
    to a deflated A.
    """
    found: list[Array] = []
    try:
        for x in itertools.islice(components, count):
            found.append(x)
    except Cancelled as stop:
        known = stop.result.components if isinstance(stop.result, Result) else None
        X = np.column_stack(found) if found else known
        stop.result = None if X is None else Result.of(problem, X, Status.CANCELLED, "auto")
        raise
    return np.column_stack(found)


def check_deflation(problem: Problem, count: int, deflation: str) -> None:
    """Refuse an unknown name of a deflation, and for `drop` fewer features than `count` components need."""
    if not isinstance(deflation, str) or deflation not in DEFLATIONS:
        raise InvalidOption(f"deflation must be one of {', '.join(DEFLATIONS)}, got {shown(deflation)}")
    if deflation == "drop" and not problem.joint:
        others = "fewer components, or for a deflation that lets them share"
        check_disjoint(count, problem.size, problem.n, others)


def check_disjoint(count: int, k: int, n: int, others: str) -> None:
    """Refuse fewer than ``count * k`` features, which disjoint components need.

    `others` names an alternative for the message of the error.
    """
    if count * k > n:
        raise InvalidProblem(
            f"{count} components of {k} features that share none need {count * k} features, got n = {n}; "
            f"ask for k of at most {n // count}, or for {others}"
        )


def removing(
    remove: Callable[[Covariance, Array], Covariance], problem: Problem, solve_one: SolveOne
) -> Iterator[Array]:
    """Yield components one after another; after each, A becomes ``remove(A, x)``."""
    part = problem
    while True:
        x = solve_one(part)
        yield x
        part = replace(part, covariance=remove(part.covariance, x))


def drop_features(problem: Problem, solve_one: SolveOne) -> Iterator[Array]:
    """Yield components with disjoint supports: features of one are removed before the next search.

    This is how the 2014 and 2015 papers keep components orthogonal. ``solve_one(problem) -> x``.
    """
    left = np.arange(problem.n)
    while True:
        x = solved_on(problem, left, problem.k, solve_one)
        yield x
        left = left[x[left] == 0]


def solved_on(problem: Problem, features: Indices, k: int | tuple[int, ...], solve_one: SolveOne) -> Array:
    """Return the component (n,) that `solve_one` finds among some of the features, with at most k of them."""
    x = np.zeros(problem.n)
    x[features] = solve_one(Problem(problem.covariance.restrict(features), k, problem.nonneg))
    return x


def hotelling(A: Covariance, x: Array) -> Covariance:
    """Return ``A - (x'Ax) xx' + |r| I`` with ``r = Ax - (x'Ax) x``.

    In coordinates with x first the difference is [[0, r'], [r, A_rest]]: with A_rest positive semidefinite
    its eigenvalues are at least -|r|. The shift makes it positive semidefinite again, which the methods rely
    on, and changes no comparison of unit vectors.
    """
    image = A.product(x)
    value = float(x @ image)
    return Changed(A, x[:, None], np.array([[-value]]), shift=float(np.linalg.norm(image - value * x)))


def projection(A: Covariance, x: Array) -> Covariance:
    """Return ``(I - xx') A (I - xx')`` for unit x."""
    image = A.product(x)
    return Changed(A, np.column_stack([x, image]), np.array([[float(x @ image), -1.0], [-1.0, 0.0]]))


def schur(A: Covariance, x: Array) -> Covariance:
    """Return ``A - Axx'A / x'Ax``, or A itself when x explains nothing."""
    image = A.product(x)
    value = float(x @ image)
    return Changed(A, image[:, None], np.array([[-1.0 / value]])) if value > 0 else A


def generalised(problem: Problem, solve_one: SolveOne) -> Iterator[Array]:
    """Yield components that each maximise ``x'PAPx / x'Px``, the variance that their span gains.

    P projects off the span of the components before.

    Dinkelbach's iteration: let t be the quotient reached and P = I - QQ'. Up to the constant t,
    ``max x'(PAP - tP)x`` over unit x is the sparse PCA of ``PAP + tQQ'``, which is positive semidefinite. A
    value above t gives a larger quotient.
    """
    Q, left = np.zeros((problem.n, 0)), problem.covariance
    for j in itertools.count():
        best: Array | None = None
        quotient = 0.0
        for _ in range(QUOTIENTS if j else 1):
            x = solve_one(replace(problem, covariance=Changed(left, Q, quotient * np.eye(j)) if j else left))
            length = float(x @ x - np.square(Q.T @ x).sum())
            reached = left.quadratic(x) / length if length > INSIDE else 0.0
            # An x nearly in the span has a short part off it, which magnifies the rounding of its quotient.
            if best is not None and not reached * length > quotient * (length + GROWTH):
                break
            best, quotient = x, max(reached, 0.0)
        assert best is not None  # the first x always stays
        yield best
        off = best - Q @ (Q.T @ best)
        off = normalised(off - Q @ (Q.T @ off))
        left, Q = projection(left, off), np.column_stack([Q, off])


DEFLATIONS: dict[str, Callable[[Problem, SolveOne], Iterator[Array]]] = {
    "drop": drop_features,
    "hotelling": partial(removing, hotelling),
    "projection": partial(removing, projection),
    "schur": partial(removing, schur),
    "generalised": generalised,
}
"""Deflations by name: ``(problem, solve_one)`` yields components x (n,), one after another."""
