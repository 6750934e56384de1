"""(P_2) on one candidate support, in the parts that Fig. 2 of the 2014 paper draws: arc, eigenvector, active
constraint, answer.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from nspca.covariance.linalg import Array
from nspca.lowrank.spannogram.face import FEASIBLE, solve_on_support


class SupportView(NamedTuple):
    """A support of a rank-d problem, with and without ``x >= 0``.

    ``rows`` (k, d) are the rows of V on ``support``. ``free`` is the leading eigenvalue of R'R, what the
    support would reach if weights could be negative, at the unit vector ``eigenvector``; ``inside`` says
    whether that is allowed. ``value`` is what it does reach, at ``c``; ``active`` is the position in
    ``support`` of the constraint that stops it there, None when none does.
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
    """Solve (P_d) on one support and say what Fig. 2 says.

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
    # The sign that most of the support agrees with: the other one is the same line.
    top = top if heights.sum() >= 0 else -top
    return SupportView(support, R, top, float(values[-1]), inside, c, value, active)


def outside(V: Array, supports: Iterable[Array]) -> list[int]:
    """Positions of the supports whose leading eigenvector is infeasible, the largest eigenvalue first.

    The optimum's own support is never among them once entries that are zero there are dropped: a local
    maximum with all weights positive is a leading eigenvector. Which support that is, nobody knows before the
    others are compared.
    """
    views = [
        (position, support_view(V, support)) for position, support in enumerate(supports) if len(support)
    ]
    return [position for position, view in sorted(views, key=lambda pair: -pair[1].free) if not view.inside]


def made_example() -> tuple[Array, int]:
    """A made matrix V (5, 2) and a k for which the support with the largest eigenvalue is out of reach of
    nonnegative weights.
    """
    return np.array([[1.0, -2.5], [2.5, 2.5], [0.5, -2.0], [-1.0, 1.5], [-1.0, 1.0]]), 3
