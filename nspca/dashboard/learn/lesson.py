"""The problem of all screens: the handwritten digits, solved and certified once for all visitors.

Screens of the page Learn and the questions of a class take a `Lesson` as `of`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

import nspca
from nspca.covariance.linalg import Array
from nspca.dashboard import open_data
from nspca.dashboard.app import wording
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.views import statement
from nspca.lowrank.rankd import factor
from nspca.lowrank.spannogram import intervals_rank2
from nspca.presentation.numerals import OPTIMAL_GAP, proved_ratio, ratio_at_most
from nspca.problem import Problem
from nspca.solvers import coordinate, em
from nspca.specs import DataSpec

K = 8  # pixels in the component


@dataclass(frozen=True, eq=False)
class Lesson:
    """The digits and the problem of `K` pixels, with its answer and a checked certificate.

    `of` is the open data set, `upper` the bound that the checker proved, and `V` (n, 3) the rank-3 factor.
    """

    of: Chosen
    problem: Problem
    result: nspca.Result
    certificate: nspca.Certificate
    upper: float
    V: Array

    @property
    def X(self) -> Array:
        """Grey levels of the digits (m, n), neither centred nor scaled."""
        return self.of.dataset.X

    @property
    def best(self) -> float:
        """Leading eigenvalue: the variance of the best direction over all pixels, with any sign."""
        return self.problem.leading_eigenvalue

    @property
    def unit(self) -> float:
        """Leading eigenvalue in the units of `V`."""
        return float(self.problem.covariance.leading(1)[0][0])

    @property
    def seen(self) -> tuple[float, int]:
        """Angle in radians and sign (+1 or -1) of the optimum of the rank-2 problem, for the spannogram."""
        found = intervals_rank2(self.V[:, :2], K)
        return found.phi, found.sign


def lesson() -> Lesson:
    """Return the lesson, which all visitors share; computing it takes about a second, once per server."""
    return _lesson(open_data.find(DataSpec(sample="digits"), None).content)


@st.cache_resource(max_entries=2, show_spinner="Solving the example …")
def _lesson(content: str) -> Lesson:
    of = open_data.find(DataSpec(sample="digits"), None)
    problem = open_data.problem(of, True, True, False).with_k(K)
    result = nspca.solve(problem)
    certificate = nspca.certify(problem, result, effort="fast")
    upper = nspca.verify(of.dataset.X, certificate, problem)
    return Lesson(of, problem, result, certificate, upper, factor(problem.covariance, 3)[0])


def shares_of(of: Lesson) -> tuple[str, str]:
    """Return what the best pixels keep, and the sentence on what is proved about all others."""
    reached, possible = wording.shares(of.result.value / of.best, ratio_at_most(of.upper, of.best))
    is_best = 1 - proved_ratio(of.result.value, of.upper) <= OPTIMAL_GAP
    return reached, statement.nobody(of.problem, K, "pixel", "" if is_best else possible)


def pair(of: Lesson) -> tuple[tuple[int, int], Array]:
    """Return the two features with the largest covariance, and the direction of their largest variance."""
    table = np.cov(of.X, rowvar=False)
    shared = np.abs(np.triu(table, 1))
    i, j = (int(place) for place in np.unravel_index(np.argmax(shared), shared.shape))
    return (i, j), np.linalg.eigh(table[np.ix_([i, j], [i, j])])[1][:, 1]


def painted(of: Lesson, pixels: Sequence[int]) -> nspca.Result:
    """Return the component with the best nonnegative weights on the given pixels."""
    some = Problem.from_data(of.X[:, list(pixels)], k=len(pixels))
    x = np.zeros((of.problem.n, 1))
    x[list(pixels)] = nspca.solve(some).components
    return nspca.Result.of(of.problem, x, nspca.Status.HEURISTIC, "painted")


@dataclass(frozen=True)
class Quartic:
    """The 2006 objective as a function of one weight, without and with the price of sparsity.

    `pixel` is the feature of the weight. `curves` has the coefficients (c2, c1, alpha) of both curves, as
    `nspca.plots.lesson.quartic_figure` draws them, and `best` the best weight of each.
    """

    pixel: int
    curves: tuple[tuple[float, float, float], ...]
    best: tuple[float, ...]


@st.cache_resource(max_entries=2, show_spinner=False)
def quartic(_of: Lesson) -> Quartic:
    """Return the curves of the largest weight that becomes zero at the price which leaves `K` pixels."""
    options = coordinate.Options()
    start = coordinate.first_guess(_of.problem, 1, 0, np.random.default_rng(0))
    U, beta = coordinate.Search(_of.problem, start, options).reach(K)
    A, l1 = _of.problem.covariance, _of.unit
    free, priced = (
        coordinate.coefficients(A.diagonal[:, None] / l1, A.product(U) / l1, U, U.T @ U, options.alpha, price)
        for price in (0.0, beta)
    )
    without, with_ = (coordinate.maximisers(*curve, options.alpha)[:, 0] for curve in (free, priced))
    pixel = int(np.argmax(np.where(with_ == 0, without, -1)))
    curves = tuple((float(c2[pixel, 0]), float(c1[pixel, 0]), options.alpha) for c2, c1 in (free, priced))
    return Quartic(pixel, curves, (float(without[pixel]), float(with_[pixel])))


@st.cache_resource(max_entries=2, show_spinner=False)
def descent(_of: Lesson) -> tuple[Array, int]:
    """Return the vector that the 2008 method thresholds in its last step, and its number of steps."""
    start = em.starts(_of.problem, 1, 0)
    w, steps = em.iterated(_of.problem, start, em.Options(restarts=1))
    return np.maximum(_of.problem.covariance.product(w)[:, 0], 0.0), steps
