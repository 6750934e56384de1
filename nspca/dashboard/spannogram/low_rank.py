"""The subject of the spannogram page: a problem, its low-rank factors, and the exact rank-2 spannogram.

Everything is computed once for all visitors. The other modules of this page draw it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from nspca.covariance.covariance import Covariance
from nspca.covariance.linalg import Array, rank1
from nspca.dashboard import open_data
from nspca.dashboard.app import cache
from nspca.dashboard.open_data import Chosen
from nspca.errors import Refused
from nspca.lowrank.rankd import factor
from nspca.lowrank.spannogram import Band, direction, intervals_rank2
from nspca.plots import spans
from nspca.plots.spannogram import Spans
from nspca.problem import Problem
from nspca.specs import SweepSpec

RANKS = 3  # largest rank of an approximation on the page
LEAST_K = 10  # default k, where there are at least 30 features
MOST_K = 200  # largest k of the slider


@dataclass(frozen=True, eq=False)
class Subject:
    """A data set with its problem.

    `key` is a cache key for both. `unit` is the leading eigenvalue in the units of the matrix V that `factor`
    returns, which may be scaled.
    """

    chosen: Chosen
    problem: Problem
    key: tuple[Any, ...]
    unit: float

    def factor(self, rank: int) -> Array:
        """Return the factor V (n, rank) of the low-rank problem; columns above the rank of the data are 0."""
        V = factor(self.problem.covariance, rank)[0]
        return np.pad(V, ((0, 0), (0, rank - V.shape[1])))


def subject(data: Chosen, asked: SweepSpec) -> Subject:
    """Return data and problem of the question `asked`; this computes the eigenvalues that the page needs."""
    problem = open_data.problem_of(data, asked)
    key = (data.content, asked.nonneg, asked.center, asked.scale, asked.first)
    return Subject(data, problem, key, leading(problem.covariance))


def leading(A: Covariance) -> float:
    """Return the leading eigenvalue, and cache all eigenpairs that the page needs with A."""
    return float(A.leading(min(RANKS + 1, A.n))[0][0])


def range_of_k(n: int) -> tuple[int, int]:
    """Return the default k and the largest k of the slider for n features."""
    return min(LEAST_K, max(1, n // 3)), min(n, MOST_K)


@dataclass(frozen=True, eq=False)
class Rank2:
    """The rank-2 spannogram.

    Attributes
    ----------
    V : (n, 2)
    found : intervals of angles with their supports, for the drawing
    optimum : angle and sign of the optimum
    value : value of the optimum
    candidates : different supports, as arrays of features, that are best at some angle, in the order of the
        angle; one that is best in several intervals is here once, and the empty one is left out
    exact : whether all intervals were computed; otherwise they come from a grid of angles
    """

    V: Array
    found: Spans
    optimum: tuple[float, int]
    value: float
    candidates: list[Array]
    exact: bool

    def component(self, phi: float, k: int, nonneg: bool) -> tuple[Array, float]:
        """Return the component (n,) at an angle in radians, the better of both signs, and its value."""
        at = self.V @ direction(phi)
        both = [rank1(sign * at, k, nonneg) for sign in (1, -1)]
        heights = [float(x @ at) ** 2 for x in both]
        best = int(heights[1] > heights[0])
        x = both[best]
        # Of any sign, x and -x are one component: it is shown with more weight above zero.
        return (-x if x.sum() < 0 else x), heights[best]


def rank2(of: Subject) -> Rank2:
    """Return the rank-2 spannogram of a subject."""
    return _rank2(of.key, of)


@cache.keep()
def _rank2(key: tuple[Any, ...], _of: Subject) -> Rank2:
    """Compute `rank2`, cached by the key of the subject."""
    problem, V = _of.problem, _of.factor(2)
    drawn = spans(V, problem.size, problem.nonneg)
    try:
        bands, optimum, value = _exact(V, problem.size, problem.nonneg)
    except Refused:  # thousands of curves take turns: the grid of the drawing is all there is
        sign, at = drawn.best
        sets = [support for row in drawn.sets for support in row]
        optimum = float(drawn.phi[at]), 1 - 2 * sign
        return Rank2(V, drawn, optimum, float(drawn.objective[sign, at]), different(sets), False)
    # Rows n and up of (V, -V) stand for features too.
    members = tuple([np.sort(support[support >= 0] % len(V)) for support in band.supports] for band in bands)
    found = Spans(drawn.phi, drawn.objective, tuple(band.edges for band in bands), members)
    sets = [support for row in members for support in row]
    return Rank2(V, found, optimum, value, different(sets), True)


def different(supports: list[Array]) -> list[Array]:
    """Return the different supports that are not empty, in the order in which they first occur."""
    return [np.array(one) for one in dict.fromkeys(tuple(support.tolist()) for support in supports) if one]


def _exact(V: Array, k: int, nonneg: bool) -> tuple[list[Band], tuple[float, int], float]:
    """Return the intervals of angles, the optimum (its angle and sign), and its value recomputed from x.

    There is a band of intervals for c and, in nonnegative problems, one for -c.
    """
    # The k entries largest in size among n are the k largest positive ones among the rows of V and -V.
    found = intervals_rank2(V if nonneg else np.concatenate([V, -V]), k)
    sign = found.sign if nonneg else 1
    phi = found.phi if nonneg else float(found.positive.peak_phi[np.argmax(found.positive.peak_value)])
    x = rank1(sign * (V @ direction(phi)), k, nonneg)
    return [found.positive, found.negative][: 2 if nonneg else 1], (phi, sign), float(np.square(x @ V).sum())
