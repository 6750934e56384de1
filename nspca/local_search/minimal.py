"""Good sets: sets of features on which some component explains more than a level; and minimal ones.

What a set can explain grows with the set. So a set is minimal if it is not good without any single one of its
features. `bounds.answers` lists minimal good sets.
"""

from dataclasses import dataclass

import numpy as np

from nspca.covariance.covariance import Covariance
from nspca.covariance.linalg import UNIT_ROUNDOFF, Array, largest_eigenpairs
from nspca.local_search.single import best_on_support

MOST_PARTS = 500
"""Maximum parts of a set that are looked at for its best nonnegative component. Beyond, the best one found
stands, and a set may count as not good that is.
"""
SLACK = 32
"""Margin for the rounding errors of a checker, as a multiple of an estimate of them. It takes six of each."""


@dataclass(frozen=True, eq=False)
class GoodSet:
    """Features (s,), increasing, with weights (s,) of unit length, and a value that they surely reach."""

    features: np.ndarray
    weights: Array
    value: float


def best_above(A: Covariance, features: np.ndarray, level: float, nonneg: bool) -> GoodSet | None:
    """Return the best component on a set of features, in increasing order; None if none is above the level.

    Where the leading vector of a set has both signs, its best nonnegative component lacks a feature.
    """
    B = A.block(features)
    best, x = level, None
    waiting, seen = [np.arange(features.size)], set[bytes]()
    while waiting and len(seen) < MOST_PARTS:
        part = waiting.pop()
        values, vectors = largest_eigenpairs(B[np.ix_(part, part)], 1)
        leading = vectors[:, 0] * (1.0 if vectors[:, 0].sum() >= 0 else -1.0)
        if values[0] <= best:
            continue
        if nonneg and leading.min() < 0:
            waiting += [less for j in np.argsort(-leading) if _is_new(less := np.delete(part, j), seen)]
            continue
        best, x = float(values[0]), np.zeros(features.size)
        x[part] = leading
    if waiting:
        y = best_on_support(B, np.full(features.size, features.size**-0.5), nonneg)
        x = y if x is None or y @ B @ y > x @ B @ x else x
    if x is None:
        return None
    value = float(x @ B @ x) - _slack(A, B)
    return GoodSet(features, x, value) if value > level else None


def _is_new(part: np.ndarray, seen: set[bytes]) -> bool:
    """Tell whether a part has a feature and was not met before, and note it."""
    key = part.tobytes()
    if not part.size or key in seen:
        return False
    seen.add(key)
    return True


def _slack(A: Covariance, B: Array) -> float:
    """Return an upper limit of what rounding may add to a quadratic form of a block B of A for a checker."""
    terms = (A.shape[0] if A.source == "data" else 1) + 4 * len(B) + 64
    return SLACK * UNIT_ROUNDOFF * terms * float(np.trace(B))


def is_mixed(A: Covariance, B: Array) -> bool:
    """Tell whether the leading vector of a block B of A surely has both signs, and is the only one.

    Then a component with all these features and nonnegative weights is not the best one on them.
    """
    values, vectors = np.linalg.eigh(B)
    u, slack = vectors[:, -1], _slack(A, B)
    shorter = min(float(np.square(u[u < 0]).sum()), float(np.square(u[u > 0]).sum()))
    return shorter * (values[-1] - values[-2:][0]) > 16 * slack


def minimal(A: Covariance, good: GoodSet, forced: tuple[int, ...], level: float, nonneg: bool) -> GoodSet:
    """Return a good set without those features, besides forced ones, that it can lack and stay above a level.

    One pass is enough: a set that is not good has no part that is.
    """
    at = np.argsort(np.abs(good.weights), kind="stable")
    for j in good.features[at].tolist():
        less = None if j in forced else good.features[good.features != j]
        smaller = None if less is None or not less.size else best_above(A, less, level, nonneg)
        good = good if smaller is None else smaller
    return good
