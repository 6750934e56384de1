"""Solve problems of many features on the features with the largest variances, then test the answer against
all others.

A is formed on those features, in one pass over the data, and any method works on that block. One product with
the whole A then gives the pull of the answer on every feature. Outside features that pull more than the
weakest feature inside join, and the answer is computed again. For data in memory, exchanges with all features
follow; they rarely gain. Certificates do not rest on this: they are about all features.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from nspca.covariance.covariance import DENSE_LIMIT
from nspca.covariance.large import LargeCovariance
from nspca.covariance.linalg import Array
from nspca.covariance.parts import CANDIDATES, Parts
from nspca.errors import Cancelled, Refused
from nspca.local_search.exchange import exchange
from nspca.local_search.single import swaps
from nspca.problem import Problem
from nspca.progress import Event, Report
from nspca.result import Result, Status, handing_in

ROUNDS = 3
"""Maximum number of times that features join."""
JOIN = 400
"""Maximum number of features that join at a time."""

Run = Callable[[Problem, np.ndarray, Report], Result]


def fits(problem: Problem) -> bool:
    """Tell whether the answer has few features compared with the usual number of candidates."""
    return 4 * _least(problem) <= CANDIDATES


def _least(problem: Problem) -> int:
    return 2 * sum(problem.sizes) + len(problem.forced)


def solved(problem: Problem, run: Run, report: Report, warm: Iterable[Array] = ()) -> Result:
    """Return the answer of ``run(part, features, report)`` as an answer of `problem`.

    `run` is a method on the problem of some features; the features of the vectors `warm` are among them.
    """
    A, least = problem.covariance, _least(problem)
    assert isinstance(A, Parts)
    if least > DENSE_LIMIT:
        raise Refused(
            f"components of shards may have {DENSE_LIMIT // 2} features together, got {sum(problem.sizes)}; "
            "ask for fewer"
        )
    features = np.union1d(A.candidates(least), problem.forced).astype(np.int64)
    for x in warm:
        known = np.union1d(features, np.flatnonzero(x))
        features = known if known.size <= DENSE_LIMIT else features
    for number in range(ROUNDS + 1):
        report(Event("features", number, ROUNDS + 1, message=f"{features.size} of {problem.n}"))
        forced = tuple(np.searchsorted(features, problem.forced).tolist())
        part = replace(problem, covariance=A.on(features), forced=forced)
        try:
            found = run(part, features, _of_all(report, features))
        except Cancelled as stop:
            if isinstance(stop.result, Result):
                stop.result = _spread(problem, stop.result, features)
            raise
        result = _spread(problem, found, features)
        joining = pulled(problem, result.components, features)
        if not joining.size or number == ROUNDS or features.size + joining.size > DENSE_LIMIT:
            break
        features = np.union1d(features, joining)
    if isinstance(A, LargeCovariance) and result.status is not Status.CANCELLED:
        with handing_in(result):
            result = _with_exchanges(problem, result, report)
    info: dict[str, float] = {
        "features": int(features.size),
        "outside": int(joining.size),
        "passes": A.passes,
    }
    if np.isfinite(A.residual):
        info["residual"] = A.residual
    return replace(result, info=result.info | info)


def _with_exchanges(problem: Problem, result: Result, report: Report) -> Result:
    """Return the answer after exchanges with all features, if they gain."""
    X = result.components
    if problem.joint:
        Y = exchange(problem.covariance, X, problem.sizes, problem.nonneg, report)
    else:
        Y = swaps(problem, X[:, 0], report)[:, None]
    if np.array_equal(X, Y):
        return result
    better = Result.of(problem, Y, result.status, result.method, **result.info)
    return better if better.value > result.value else result


def pulled(problem: Problem, X: Array, features: np.ndarray) -> np.ndarray:
    """Return the outside features that X (n, r) pulls more than the weakest feature it uses, at most `JOIN`;
    one pass.
    """
    image = problem.covariance.product(X)
    values = np.einsum("ij,ij->j", X, image)
    pull = np.square(np.maximum(image, 0.0) if problem.nonneg else image)
    pull /= np.where(values > 0, values, 1.0)
    weakest = np.array([pull[x != 0, j].min(initial=np.inf) for j, x in enumerate(X.T)])
    room = np.count_nonzero(X, axis=0) < np.array(problem.sizes)
    excess = (pull - np.where(room, 0.0, weakest)).max(axis=1)
    excess[features] = 0.0
    order = np.argsort(-excess, kind="stable")[:JOIN]
    return order[excess[order] > 0]


def _spread(problem: Problem, found: Result, features: np.ndarray) -> Result:
    """Return an answer on some features as an answer on all, without claims of exactness, which held for the
    part only.
    """
    X = np.zeros((problem.n, found.components.shape[1]))
    X[features] = found.components
    status = found.status if found.status is Status.CANCELLED else Status.HEURISTIC
    info = {name: value for name, value in found.info.items() if name not in ("exact_for_A", "rho")}
    return Result.of(problem, X, status, found.method, **info)


def _of_all(report: Report, features: np.ndarray) -> Report:
    """Return a `report` for a method that knows some features only; it translates feature numbers back."""

    def translated(event: Event) -> None:
        components = event.payload.get("components")
        if components:
            own = [[features[support].tolist(), weights] for support, weights in components]
            event = replace(event, payload=event.payload | {"components": own})
        report(event)

    return translated
