"""The two bounds set beside ours against brute force: the exact rank-3 one always holds, the 2014 paper's as
often as it says.
"""

import math

import numpy as np
import pytest

import nspca
from nspca.solvers import epsnet
from nspca.specs import published
from nspca.specs.published import paper_bounds
from tests.oracles import brute_force
from tests.strategies import cases


@pytest.mark.parametrize("nonneg", [True, False])
def test_the_paper_s_bound_holds_for_all_k_together_as_often_as_it_says(nonneg):
    failed, allowed = 0, 0.0
    for seed, case in enumerate(cases(60, n_max=9, ranks=(1, 3, 5, 9), seed=52)):
        A, ks = case.V @ case.V.T, range(1, len(case.V) + 1)
        upper, probability = paper_bounds(nspca.Problem.from_covariance(A, 1, nonneg), ks, seed)
        failed += any(upper[k] < brute_force(A, k, nonneg)[0] * (1 - 1e-12) for k in ks)
        allowed += 1 - probability
        assert 1 - 1 / len(A) - 1e-12 <= probability <= 1
    assert failed <= allowed


@pytest.mark.parametrize("nonneg", [True, False])
def test_the_rank_3_bound_is_the_optimum_of_the_rank_3_part_plus_the_fourth_eigenvalue(nonneg):
    for case in cases(20, n_max=9, ranks=(5, 9), seed=55):
        problem = nspca.Problem.from_covariance(case.V @ case.V.T, case.k, nonneg)
        values, vectors = problem.covariance.leading(problem.n)
        low = (vectors[:, :3] * values[:3]) @ vectors[:, :3].T
        expected = (brute_force(low, case.k, nonneg)[0] + values[3:4].sum()) * problem.covariance.unit
        assert np.isclose(
            published.rank3_bound(problem), expected, rtol=2 * published.RANK_3_TOLERANCE, atol=1e-300
        ), case


def test_the_bound_is_about_the_very_problem_and_the_same_for_the_same_seed():
    X = np.random.default_rng(8).standard_normal((60, 12)) * np.arange(1, 13) + 5.0 * (-1.0) ** np.arange(12)
    bounds = set()
    for nonneg in (True, False):
        for center, scale in ((True, False), (False, False), (True, True)):
            problem = nspca.Problem.from_data(X, 4, nonneg, center=center, scale=scale)
            (upper,) = paper_bounds(problem, [4])[0].values()
            again = paper_bounds(nspca.Problem.from_data(X, 4, nonneg, center=center, scale=scale), [4])
            assert again == paper_bounds(problem, [4]) and again[0][4] == upper
            assert upper >= nspca.solve(problem, certify=None).value
            bounds.add(upper)
    assert len(bounds) == 6 and paper_bounds(problem, [4], seed=1)[0][4] != upper


def test_more_values_of_k_need_more_points_to_hold_together():
    problem = nspca.Problem.from_data(np.random.default_rng(9).standard_normal((400, 361)), 40)
    p = epsnet.failure_probability(1, 3, 0.1)
    one, many = (
        paper_bounds(problem, [40])[1],
        paper_bounds(problem, range(20, 361, 20))[1],
    )
    assert one == 1 - p**115 and many == 1 - 18 * p ** math.ceil(math.log(361 * 18) / (1 - p))
    assert min(one, many) >= 1 - 1 / 361


def test_too_large_a_table_has_neither(monkeypatch):
    monkeypatch.setattr(published, "DENSE_LIMIT", 5)
    problem = nspca.Problem.from_data(np.random.default_rng(10).standard_normal((9, 7)), 2)
    assert (
        paper_bounds(problem, [2, 3]) == ({2: None, 3: None}, None) and published.rank3_bound(problem) is None
    )


def test_spectra_at_k_20_are_known_as_the_paper_prints_it(nspca_data, monkeypatch):
    """ "At least 86 %" (Section 7, LRS) is what its own bound knows; the exact form knows more."""
    monkeypatch.setenv("NSPCA_DATA", str(nspca_data))
    problem = nspca.Problem.from_data(nspca.load_sample("lrs").X, 20)
    value = nspca.solve(problem, certify=None).value
    assert round(value / paper_bounds(problem, [20])[0][20], 2) == 0.86
    assert round(value / published.rank3_bound(problem), 3) == 0.948
