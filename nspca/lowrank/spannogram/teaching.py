"""Solve (P_d) on one candidate support and return the parts that Fig. 2 of the 2014 paper draws.

These are the arc, the eigenvector, the active constraint and the answer. The page Spannogram shows them for
the support that a visitor chooses.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from nspca.covariance.linalg import Array
from nspca.lowrank.spannogram.face import FEASIBLE, solve_on_support


class SupportView(NamedTuple):
    """Best points of a support of a rank-d problem, with and without ``x >= 0``.

    Attributes
    ----------
    support, rows
        Row numbers of V, and these rows R (s, d).
    eigenvector, free
        Leading unit eigenvector and eigenvalue of R'R: the best direction and value if weights could be
        negative.
    inside : bool
        Whether the eigenvector gives nonnegative weights.
    c, value
        Best direction with nonnegative weights, and its value.
    active : int or None
        Position in `support` of the constraint that is active at `c`.
    """

    support: Array
    rows: Array
    eigenvector: Array
    free: float
    inside: bool
    c: Array | None
    value: float
    active: int | None


def support_view(V: Array, support: Array) -> SupportView:
    """Return the best points of one support, with and without ``x >= 0``.

    Parameters
    ----------
    V : (n, d) float64
    support : (s,) row numbers, s >= 1
    """
    support = np.asarray(support)
    R = np.asarray(V, dtype=np.float64)[support]
    values, vectors = np.linalg.eigh(R.T @ R)
    top, length = vectors[:, -1], np.sqrt(np.square(R).sum(axis=1))
    heights = R @ top / np.where(length > 0, length, 1.0)
    inside = bool(heights.min() >= -FEASIBLE or heights.max() <= FEASIBLE)
    value, c = solve_on_support(R)
    active = None
    if c is not None and not inside:
        slack = np.where(length > 0, np.abs(R @ c) / np.where(length > 0, length, 1.0), np.inf)
        active = int(np.argmin(slack))
    # An eigenvector has no sign of its own; take the one with which most weights are positive.
    top = top if heights.sum() >= 0 else -top
    return SupportView(support, R, top, float(values[-1]), inside, c, value, active)


def outside(V: Array, supports: Iterable[Array]) -> list[int]:
    """Return the positions of supports with an infeasible leading eigenvector, the largest eigenvalue first.

    The support of the optimum, without zero entries, is never among them: a local maximum with all weights
    positive is a leading eigenvector. Which support this is becomes known only after all are compared.
    """
    views = [
        (position, support_view(V, support)) for position, support in enumerate(supports) if len(support)
    ]
    return [position for position, view in sorted(views, key=lambda pair: -pair[1].free) if not view.inside]


def made_example() -> tuple[Array, int]:
    """Return V (5, 2) and k where the support of largest eigenvalue needs negative weights."""
    return np.array([[1.0, -2.5], [2.5, 2.5], [0.5, -2.0], [-1.0, 1.5], [-1.0, 1.0]]), 3
