"""Sparse data of many features in memory: the same answers as without the parts."""

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp

import nspca
from nspca.covariance import data
from nspca.covariance.covariance import RESIDUAL
from nspca.covariance.inputs import from_data
from nspca.errors import Cancelled
from nspca.local_search import outside, single
from tests.rowblocks import counts, in_parts


@pytest.mark.parametrize(
    ("kind", "nonneg"),
    [*((kind, True) for kind in ("plain", "empty", "ones", "zero")), ("twins", False), ("forced", False)],
)
def test_few_candidates_give_the_best_answer(monkeypatch, kind, nonneg):
    rng, k = np.random.default_rng(1), 3
    X = (rng.random((30, 9)) < 0.3) * rng.integers(1, 5, (30, 9)) * 1.0
    if kind == "empty":
        X[:, [0, 5]] = 0.0
    if kind == "twins":
        X[:, 5:8] = X[:, :3]
    if kind == "ones":
        X[X > 0] = 1.0
    if kind == "zero":
        X[:] = 0.0
    forced = (8,) if kind == "forced" else ()
    sparse = sp.csr_array(X)
    before = nspca.solve(nspca.Problem.from_data(sparse, k, nonneg, forced=forced))
    in_parts(monkeypatch, 0, 6, 3)
    problem = nspca.Problem.from_data(sparse, k, nonneg, forced=forced)
    found = nspca.solve(problem)
    assert found.info["features"] < 9
    best = 0.0
    for support in combinations(range(9), k):
        if {*forced} <= {*support}:
            B = np.asarray(problem.covariance.matrix[np.ix_(support, support)])
            x = single.best_on_support(B, np.full(k, k**-0.5), nonneg)
            best = max(best, float(x @ B @ x) * problem.covariance.unit)
    assert found.value == pytest.approx(best, rel=1e-9, abs=1e-12)
    assert found.value == pytest.approx(before.value, rel=1e-9, abs=1e-12)
    assert nspca.verify(sparse, found.certificate, problem) >= found.value * (1 - 1e-12)


def outsiders():
    """Words of little variance that occur together make the best component; ten are no candidates."""
    rng = np.random.default_rng(0)
    X = np.zeros((3000, 120))
    X[:, :60] = rng.random((3000, 60)) < 0.05
    X[:, 60:] = (rng.random((3000, 60)) < 0.02) * 0.9
    X[:60, 58:70] = 1.0
    return sp.csr_array(X)


@pytest.mark.parametrize(("k", "rounds"), [(12, 3), (12, 0), ((12, 3), 0)])
def test_a_feature_outside_that_must_enter_does(monkeypatch, k, rounds):
    # By its pull, in rounds; and where there are none, by the last look at all features.
    in_parts(monkeypatch, 0, 60, 3)
    monkeypatch.setattr(outside, "ROUNDS", rounds)
    problem = nspca.Problem.from_data(outsiders(), k)
    assert not {*range(60, 70)} & {*problem.covariance.candidates()}
    found = nspca.solve(problem, certify=None)
    assert {*np.flatnonzero(found.components[:, 0])} == {*range(58, 70)}
    assert (found.info["outside"] > 0) == (rounds == 0)


def test_a_known_answer_is_never_lost(monkeypatch):
    in_parts(monkeypatch, 0, 20, 3)
    monkeypatch.setattr(outside, "ROUNDS", 0)
    monkeypatch.setattr(outside, "_with_exchanges", lambda problem, result, report: result)
    x = np.zeros(120)
    x[58:70] = 12**-0.5
    problem = nspca.Problem.from_data(outsiders(), 12)
    told = []
    run = lambda part, features, report: told.append({*features}) or nspca.solve(part, certify=None)  # noqa: E731
    outside.solved(problem, run, lambda event: None, [x])
    assert {*range(58, 70)} <= told[0]


def test_what_was_found_before_the_last_look_is_handed_in(monkeypatch):
    in_parts(monkeypatch, 0, 80, 3)

    def stopped(*args):
        raise Cancelled("told to")

    monkeypatch.setattr(outside, "swaps", stopped)
    problem = nspca.Problem.from_data(counts(np.random.default_rng(3), 200, 300), 6)
    with pytest.raises(Cancelled) as caught:
        nspca.solve(problem, certify=None)
    assert caught.value.result.components.shape == (300, 1)


def test_eigenpairs_that_subspaces_do_not_reach_come_from_elsewhere(monkeypatch):
    X = counts(np.random.default_rng(1), 400, 300)
    right = from_data(X, True, False).leading(3)[0]
    in_parts(monkeypatch, 0, 80, 3)
    monkeypatch.setattr("nspca.covariance.data.DIRECT_LIMIT", 10)
    A = from_data(X, True, False)
    assert np.allclose(A.leading(3)[0], right, rtol=1e-9) and A.residual <= RESIDUAL
    monkeypatch.setattr(data.subspace, "STEPS", 1)
    B = from_data(X, True, False)
    assert np.allclose(B.leading(3)[0], right, rtol=1e-9) and B.residual > RESIDUAL
