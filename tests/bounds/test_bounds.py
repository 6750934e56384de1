"""Every bound against brute force, and every certificate against the verifier, adversarially."""

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp

import nspca
from nspca.api import prove_optimum
from nspca.bounds import elementary, elimination, lowrank, witness
from nspca.bounds.inequality import spectral_claim
from nspca.bounds.plan import PLANS
from nspca.bounds.witness import Witness, search_half
from nspca.checker.cover import TopSum, prove_cover
from nspca.lowrank.cones import Budget, Query
from nspca.problem import Problem
from tests.bounds.trees import tree_on
from tests.cancelling import cancelled
from tests.oracles import brute_force, brute_force_forced
from tests.strategies import cases, counts


def all_bounds(problem, rng):
    """A certificate of every kind, of witnesses that are no good as well."""
    yield elementary.diagonal(problem)
    yield elementary.eigenvalue(problem)
    tree = tree_on(problem, 0.0, plan=PLANS["standard"], gap=1e-12)
    tree.begin(None, work=PLANS["standard"].eigenvalues)
    yield tree.certificate()
    for rank, tol in ((1, 1e-6), (2, 1e-5), (3, 1e-3), (4, 1e-2)):
        for shifted in (True, False):
            yield lowrank.bound(problem, rank, shifted=shifted, tol=tol)[0]
    for most in {problem.n, max(1, problem.n // 2), 1}:
        kept = elimination.keep(problem, most)
        W, r = elimination.search_threshold(kept, problem)[1], len(kept.block)
        noise = rng.standard_normal((r, r)) * kept.block.max(initial=0.0)
        for parts in (
            Witness(W),
            Witness(),
            Witness(W, 0.1 * noise, 0.2 * rng.standard_normal((r, 2))),
            Witness((noise + noise.T) / 2, None, rng.standard_normal((r, 1))),
        ):
            yield witness.certificate(problem, kept, parts)[0]


@pytest.mark.parametrize("nonneg", [True, False])
@counts(20, 100)
def test_no_bound_is_below_brute_force_and_every_one_is_verified(nonneg, count):
    """Half of the problems have forced features, any number of them up to k."""
    rng = np.random.default_rng(8)
    for number, case in enumerate(cases(count, n_max=8, ranks=(1, 3, 8), seed=21)):
        A, forced = case.V @ case.V.T, rng.permutation(len(case.V))[: rng.integers(0, case.k + 1)]
        forced = tuple(sorted(forced.tolist())) if number % 2 else ()
        optimum = brute_force_forced(A, case.k, forced, nonneg)
        problem = nspca.Problem.from_covariance(A, case.k, nonneg, forced)
        for certificate in all_bounds(problem, rng):
            assert certificate.upper >= optimum * (1 - 1e-13), (case, certificate.kind, certificate.form)
            recomputed = nspca.verify(A, certificate, problem)
            assert optimum * (1 - 1e-13) <= recomputed <= certificate.upper


@pytest.mark.parametrize("nonneg", [True, False])
@pytest.mark.parametrize(
    ("shape", "scale"), [((5, 9), True), ((9, 5), False), ((3, 30), False), ((60, 20), True)]
)
def test_certificates_of_data_are_verified_from_the_data(nonneg, shape, scale):
    rng = np.random.default_rng(0)
    X = rng.poisson(2.0, shape) + rng.random(shape)
    for data in (X, sp.csr_matrix(X)):
        problem = nspca.Problem.from_data(data, 3, nonneg, scale=scale)
        for certificate in all_bounds(problem, rng):
            assert nspca.verify(data, certificate) <= certificate.upper


def test_identity_plus_low_rank_is_solved_exactly():
    rng = np.random.default_rng(3)
    V = rng.standard_normal((9, 2))
    A = 0.7 * np.eye(9) + V @ V.T
    for k in (1, 3, 9):
        result = nspca.solve(nspca.Problem.from_covariance(A, k), "cone", rank=2, tol=1e-6, polish=False)
        assert np.isclose(result.value, brute_force(A, k)[0], rtol=2e-6)
        assert result.ratio > 1 - 3e-3 and result.info["exact_for_A"]
        assert result.status in (nspca.Status.OPTIMAL, nspca.Status.WITHIN_TOLERANCE)


def test_a_low_estimate_is_repaired_not_believed():
    A = nspca.Problem.from_covariance(np.diag([3.0, 2.0, 1.0]), 1).covariance
    assert spectral_claim(A, np.zeros((3, 0)), 0.1) * A.unit >= 3.0


@pytest.mark.visit
def test_sizes_no_factorisation_fits_get_the_variance_bound_or_the_dual_on_kept_rows(monkeypatch):
    monkeypatch.setattr("nspca.proving.DENSE_LIMIT", 10)
    X = sp.random(50, 40, density=0.2, random_state=0, format="csr")
    problem = nspca.Problem.from_data(X, 4)
    assert elementary.best(problem, factorised=False).form == "diagonal"
    certificate = nspca.certify(problem)
    assert nspca.solve(problem, certify=None).value <= nspca.verify(X, certificate) <= certificate.upper


@pytest.mark.visit
def test_sums_of_very_many_terms_are_proved_as_well():
    """Bounds hold for sums of so many terms that their rounding errors matter."""
    n, k = 210_000, 200_000
    V = np.random.default_rng(0).standard_normal((n, 3)) + 2
    F, cover = search_half(Query(V, k), Budget(1e-3))
    assert prove_cover(TopSum(V, 3, np.zeros(n), k, 0, True), F, cover.tree).size == 0


@pytest.mark.parametrize("seeds", [(1,), pytest.param((1, 2), marks=pytest.mark.long)])
@pytest.mark.parametrize("effort", ["standard", pytest.param("thorough", marks=pytest.mark.visit)])
@pytest.mark.parametrize("nonneg", [True, False])
def test_a_poor_answer_costs_no_long_search(nonneg, effort, seeds):
    """From .9925 of the optimum of ten features a search went on for a minute."""
    for seed in seeds:
        X = np.random.default_rng(seed).normal(size=(40, 10))
        A, problem, events = np.cov(X.T, bias=True), Problem.from_data(X, 5, nonneg=nonneg), []
        optimum, _ = brute_force(A, 5, nonneg)
        answers = []
        for own in map(list, combinations(range(10), 5)):
            answers.append(np.zeros(10))
            answers[-1][own] = brute_force(A[np.ix_(own, own)], 5, nonneg)[1]
        given = min(answers, key=lambda x: abs(x @ A @ x / optimum - 0.9925))
        poor = nspca.Result.of(problem, given, nspca.Status.HEURISTIC, "given")
        certificate = nspca.certify(problem, poor, effort=effort, report=events.append)
        assert optimum <= nspca.verify(X, certificate) <= optimum * (1 + 1e-6)
        assert len(events) < 150, "events of a search: 1600 before"
        found = prove_optimum(problem, poor)
        assert found.value == pytest.approx(optimum, rel=1e-9) and found.status is nspca.Status.OPTIMAL


def test_whoever_cancels_while_a_better_answer_is_sought_gets_the_given_one():
    problem = Problem.from_data(np.random.default_rng(1).normal(size=(40, 10)), 5)
    poor = nspca.Result.of(problem, np.eye(10)[0], nspca.Status.HEURISTIC, "given")
    told, _ = cancelled(prove_optimum, problem, poor, when=lambda seen: len(seen) == 4)
    assert told.result.certificate is told.best and told.result.value >= poor.value
