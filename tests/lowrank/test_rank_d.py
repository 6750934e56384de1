"""The two exact rank-d methods against each other and against brute force; every certificate verified."""

import numpy as np
import pytest

import nspca
from nspca.covariance.linalg import rank1
from nspca.solvers import epsnet
from tests.oracles import brute_force
from tests.strategies import cases, counts

TOLERANCE = 1e-4


@pytest.mark.parametrize("nonneg", [True, False])
@counts(20, 120)
def test_cone_equals_spannogram_equals_brute_force(nonneg, count):
    """On A_d of full-rank matrices, so that the rank-d problem is not the whole problem."""
    for case in cases(count, n_max=9 if count > 20 else 6, ranks=(4, 9), seed=31):
        A = case.V @ case.V.T
        problem = nspca.Problem.from_covariance(A, case.k, nonneg)
        problem.covariance.leading(
            problem.n
        )  # from here on one choice of eigenvectors, also where eigenvalues repeat
        for rank in (1, 2, 3):
            values, vectors = problem.covariance.leading(rank)
            low = (vectors * values) @ vectors.T
            optimum = brute_force(low, case.k, nonneg)[0] * problem.covariance.unit
            options = {"rank": rank, "polish": False, "certify": "fast" if rank == 2 else None}
            exact = nspca.solve(problem, "spannogram", **options)
            search = nspca.solve(problem, "cone", tol=TOLERANCE, **options)
            if exact.info["exact_for_A"]:
                continue  # then both solve the shifted problem, which is that of A: tests/test_bounds.py
            size = max(optimum, 1e-300)
            assert np.isclose(exact.info["rank_d_value"], optimum, rtol=1e-9, atol=1e-12 * size), case
            assert (
                optimum * (1 - TOLERANCE) - 1e-12 * size
                <= search.info["rank_d_value"]
                <= optimum * (1 + 1e-9)
            ), case
            assert search.info["rank_d_upper"] >= optimum * (1 - 1e-13), case
            if rank == 2:
                for result in (exact, search):
                    assert nspca.verify(A, result.certificate) >= brute_force(A, case.k, nonneg)[0] * (
                        1 - 1e-13
                    )


def test_epsnet_says_how_many_samples_theorem_2_wants_and_what_its_own_number_means():
    problem = nspca.Problem.from_data(np.random.default_rng(2).standard_normal((400, 361)), 40)
    info = nspca.solve(problem, "epsnet", certify=None).info
    assert info["samples"] == info["samples_needed"] == 115  # rank 3, eps 0.1, n = 361: p = .0513
    assert info["failure_probability"] <= 1 / 361
    few = nspca.solve(problem, "epsnet", samples=10, certify=None).info
    assert few["samples_needed"] == 115 and few["failure_probability"] > 0.5
    one = nspca.sweep(problem, [5, 40], methods="epsnet", certify=None)["epsnet", 5].info
    assert one["samples_needed"] == 129 and one["failure_probability"] <= 1 / 361  # ln(n) + ln(2)


@pytest.mark.parametrize("nonneg", [True, False])
@pytest.mark.parametrize("ks", [[5], [3, 7, 20, 40], list(range(1, 41))])
def test_samples_of_the_epsnet_are_answered_for_every_k_as_one_by_one(ks, nonneg, monkeypatch):
    """In batches of which the last is not full; the direction is that of the answer."""
    monkeypatch.setattr(epsnet, "BATCH_ENTRIES", 300)
    rng = np.random.default_rng(8)
    V = rng.standard_normal((40, 3))
    V[30:] = V[:10]  # ties
    directions, best = epsnet.sampled(V, ks, nonneg, 25, seed=4)
    expected = np.full(len(ks), -np.inf)
    C = np.random.default_rng(4).standard_normal((25, 3))
    for c in C / np.linalg.norm(C, axis=1, keepdims=True):
        both = [[rank1(sign * (V @ c), k, nonneg) for sign in (1, -1)] for k in ks]
        answers = [max(pair, key=lambda x, c=c: abs(c @ V.T @ x)) for pair in both]
        expected = np.maximum(expected, [np.square(V.T @ x).sum() for x in answers])
    assert np.allclose(best, expected, rtol=1e-12)
    for k, c, value in zip(ks, directions, best, strict=True):
        assert np.isclose(np.square(V.T @ rank1(V @ c, k, nonneg)).sum(), value, rtol=1e-12)


def test_epsnet_keeps_theorem_2s_promise_on_small_problems():
    missed = 0
    for seed, case in enumerate(cases(40, ranks=(3,), seed=41)):
        A = case.V @ case.V.T
        result = nspca.solve(
            nspca.Problem.from_covariance(A, case.k), "epsnet", rank=3, polish=False, certify=None, seed=seed
        )
        missed += result.info["rank_d_value"] < 0.9 * brute_force(A, case.k)[0] * (1 - 1e-9)
    assert missed <= 8  # each misses with probability at most 1/n; the caps rarely bind
