"""Membership: bounds on answers with a feature, and on answers without it, against brute force."""

from dataclasses import replace

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import nspca
from nspca.bounds import membership
from nspca.bounds.membership import certificate_at
from tests.oracles import brute_force_features
from tests.strategies import cases, counts

NAMES = ("having", "lacking")


@pytest.fixture(autouse=True)
def alone():
    """Use one BLAS thread: the calls are small, and more threads would mostly wait for each other."""
    with threadpool_limits(1):
        yield


def posed(i, case):
    """Return a random data set or covariance and a problem about it, some with forced features."""
    rng = np.random.default_rng(i)
    n, nonneg, k = len(case.V), i % 3 > 0, case.k
    forced = tuple(map(int, rng.permutation(n)[: rng.integers(0, min(k, 2) + 1)])) if i % 2 else ()
    A = case.V @ case.V.T
    if i % 4 == 0:
        return A, A, nspca.Problem.from_covariance(A, k, nonneg, forced)
    X = case.V.T * np.sqrt(case.V.shape[1])
    return X, A, nspca.Problem.from_data(X, k, nonneg, center=False, forced=forced)


def held(data, problem, told, truth, rng):
    """Test that the claims of a certificate about features are proved and true, and that lies are refused."""
    assert nspca.verify(data, told, problem) <= told.upper
    for name, optimum in zip(NAMES, truth, strict=True):
        bound = told.witness[name] * problem.covariance.unit
        assert (bound >= optimum * (1 - 1e-12)).all() and (bound <= told.upper * (1 + 1e-12)).all()
        liable = np.flatnonzero(optimum > 1e-9 * told.upper)
        for j in rng.permutation(liable)[:1]:
            lie = told.witness[name].copy()
            lie[j] = optimum[j] / problem.covariance.unit * (1 - 1e-6)
            with pytest.raises(nspca.CertificateError, match=r"claim"):
                nspca.verify(data, replace(told, witness=told.witness | {name: lie}), problem)


@pytest.mark.parametrize("effort", ["fast", "standard"])
@counts(20, 1000)
def test_bounds_of_features_hold_are_proved_and_lies_are_refused(count, effort, monkeypatch):
    monkeypatch.setitem(membership.NODES, "standard", 6)  # so that some trees stay open
    told_apart = 0
    for i, case in enumerate(cases(count, n_max=6 if count > 20 else 5, seed=7)):
        data, A, problem = posed(i, case)
        if not A.any():
            continue
        rng = np.random.default_rng(i)
        truth = brute_force_features(A, case.k, problem.forced, problem.nonneg)
        value = max(part.max() for part in truth) / problem.covariance.unit
        level = value * float(rng.choice([0.5, 0.95, 0.999, 1.0]))
        base = nspca.certify(problem, effort="fast")
        asked = rng.permutation(problem.n)[: rng.integers(problem.n)].tolist()
        told = certificate_at(problem, level, base, asked, effort)
        if told is None:  # A is zero but for forced features
            continue
        held(data, problem, told, truth, rng)
        told_apart += sum(int((told.witness[name] < level).sum()) for name in NAMES)
    assert told_apart


def test_a_finished_tree_decides_every_feature_at_its_level():
    A = nspca.load_sample("pitprops").X
    for nonneg in (True, False):
        problem = nspca.Problem.from_covariance(A[:9, :9], 3, nonneg)
        truth = brute_force_features(A[:9, :9], 3, nonneg=nonneg)
        value = truth[0].max() / problem.covariance.unit
        told = certificate_at(problem, 0.95 * value, nspca.certify(problem), (), "standard")
        for name, optimum in zip(NAMES, truth, strict=True):
            assert np.array_equal(
                told.witness[name] < 0.95 * value, optimum / problem.covariance.unit < 0.95 * value
            )
        held(A[:9, :9], problem, told, truth, np.random.default_rng(2))


def test_claims_about_features_are_whole_and_of_a_tree():
    X = np.random.default_rng(3).standard_normal((20, 6))
    problem = nspca.Problem.from_data(X, 2)
    value = problem.covariance.to_unit(nspca.solve(problem).value)
    told = certificate_at(problem, 0.9 * value, nspca.certify(problem), (), "fast")
    without = {name: array for name, array in told.witness.items() if name != "lacking"}
    nan = told.witness | {"having": np.full(6, np.nan)}
    short = told.witness | {"having": told.witness["having"][:5]}
    for witness, reason in ((without, "missing"), (nan, "finite"), (short, "shape")):
        with pytest.raises(nspca.CertificateError, match=reason):
            nspca.verify(X, replace(told, witness=witness))
    claims = {name: np.full(6, 1e9) for name in NAMES}
    for k, effort in (((2, 2), "fast"), (2, "fast")):
        other = nspca.certify(problem.with_k(k), effort=effort)
        if other.form != "fixing":
            with pytest.raises(nspca.CertificateError, match=f"form '{other.form}' has the witness arrays"):
                nspca.verify(X, replace(other, witness=other.witness | claims))
