"""A status follows from the certificate of the problem that was asked about, whatever a result says."""

import numpy as np
import pytest

import nspca
from nspca.api import prove_optimum
from nspca.result import Status
from tests.cancelling import cancelled
from tests.oracles import brute_force

WIDE = np.random.default_rng(0).standard_normal((60, 17))
HALF = np.random.default_rng(1).integers(-4, 5, (30, 9)) @ np.diag(2.0 ** np.arange(9)[::-1])
EVEN = np.vstack([HALF, -HALF])  # columns of mean exactly 0: centring changes nothing but the question
problem_of = nspca.Problem.from_data


def proved(problem):
    """Return a result that is optimal for `problem`, with its certificate."""
    result = prove_optimum(problem, nspca.solve(problem))
    assert result.status is Status.OPTIMAL
    return result


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (problem_of(WIDE, 2), problem_of(WIDE, 7)),
        (problem_of(WIDE, 3), problem_of(WIDE, 3, nonneg=False)),
        (problem_of(WIDE, 2), problem_of(WIDE, 7, forced=(7,))),
        (problem_of(EVEN, 4), problem_of(EVEN, 4, center=False)),
        (problem_of(EVEN, 4), problem_of(EVEN[::-1], 4)),
        (problem_of(WIDE[:, :12], (1, 1)), problem_of(WIDE[:, :12], (4, 4))),
    ],
    ids=["k", "sign", "forced features", "centring", "data", "sizes of components"],
)
def test_a_status_of_another_problem_is_not_taken_over(first, second):
    found = prove_optimum(second, proved(first), seconds=0)
    assert found.certificate.k == second.k and found.certificate.nonneg == second.nonneg
    assert found.certificate.digest == second.covariance.digest and found.certificate.forced == second.forced
    gap = 1 - found.ratio
    assert (found.status is Status.OPTIMAL) == (gap <= 1e-8)
    assert (found.status is Status.HEURISTIC) == (gap > 1e-3)


def test_a_better_certificate_of_this_very_problem_is_kept():
    problem = problem_of(EVEN, 4)
    result = proved(problem)
    assert result.value == pytest.approx(brute_force(np.cov(EVEN.T, bias=True), 4)[0], rel=1e-9)
    again = prove_optimum(problem, result, seconds=0)
    assert again.certificate.upper <= result.certificate.upper and again.status is Status.OPTIMAL
    assert nspca.certify(problem, result, effort="fast").upper <= result.certificate.upper
    assert nspca.verify(EVEN, again.certificate, problem) <= again.certificate.upper


def test_a_better_certificate_is_kept_where_the_next_search_is_cancelled():
    problem = problem_of(WIDE, 7)
    known = prove_optimum(problem, nspca.solve(problem), nodes=2)
    kept = cancelled(prove_optimum, problem, known)[0].result
    assert kept.certificate.upper <= known.certificate.upper and kept.status is known.status
