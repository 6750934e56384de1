"""Solve problems of many features on those with the largest variances, then test all the others.

A is formed on those features, in one pass over the data, and any method works on that block. One product with
the whole A then gives the pull of the answer on every feature. Outside features that pull more than the
weakest feature inside join, and the answer is computed again. For data in memory, exchanges with all features
follow; they rarely gain. Certificates do not rest on this: they are about all features. `nspca.api` runs a
method through `solved` for data on shards, and for large sparse data in memory.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from nspca.covariance.covariance import DENSE_LIMIT
from nspca.covariance.data import CANDIDATES, RowsCovariance
from nspca.covariance.linalg import Array
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
"""``run(part, features, report)``: solve the problem of some features, given by their numbers."""


def fits(problem: Problem) -> bool:
    """Tell whether `solved` is worth while: the candidates are at least four times the features it needs."""
    return 4 * _count_needed(problem) <= CANDIDATES


def _count_needed(problem: Problem) -> int:
    """Return the minimum number of features to solve on: twice those of the answer, and the forced ones."""
    return 2 * sum(problem.sizes) + len(problem.forced)


def solved(problem: Problem, run: Run, report: Report, warm: Iterable[Array] = ()) -> Result:
    """Solve `problem` on its features with the largest variances, and let others join; see the module.

    ``run(part, features, report)`` solves the problem `part` that has the `features` (numbers in `problem`)
    only. The features of the vectors `warm`, each (n,), are candidates from the start. The result has
    components of all n features.
    """
    A, least = problem.covariance, _count_needed(problem)
    assert isinstance(A, RowsCovariance)
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
            found = run(part, features, _translate(report, features))
        except Cancelled as stop:
            if isinstance(stop.result, Result):
                stop.result = _spread(problem, stop.result, features)
            raise
        result = _spread(problem, found, features)
        joining = pulled(problem, result.components, features)
        if not joining.size or number == ROUNDS or features.size + joining.size > DENSE_LIMIT:
            break
        features = np.union1d(features, joining)
    if not A.on_disk and result.status is not Status.CANCELLED:
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
    """Return the numbers of at most `JOIN` features that should join `features`, strongest pull first.

    The pull of component x on feature i is ``(Ax)_i^2 / x'Ax`` (nonnegative: 0 if ``(Ax)_i < 0``). A feature
    joins if its pull by a column of X (n, r) exceeds that of the weakest feature in use, or is positive where
    x has fewer than k features. One pass over the data.
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
    """Return the answer `found` on `features` as an answer on all n features.

    Claims of exactness are dropped, since they held for the part only.
    """
    X = np.zeros((problem.n, found.components.shape[1]))
    X[features] = found.components
    status = found.status if found.status is Status.CANCELLED else Status.HEURISTIC
    info = {name: value for name, value in found.info.items() if name not in ("exact_for_A", "rho")}
    return Result.of(problem, X, status, found.method, **info)


def _translate(report: Report, features: np.ndarray) -> Report:
    """Return a report hook that replaces feature numbers of a part by those of the whole problem.

    `features` has the number in the whole problem of each feature of the part.
    """

    def translated(event: Event) -> None:
        components = event.payload.get("components")
        if components:
            own = [[features[support].tolist(), weights] for support, weights in components]
            event = replace(event, payload=event.payload | {"components": own})
        report(event)

    return translated
