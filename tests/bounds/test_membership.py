"""Membership: bounds on answers with a feature, and on answers without it, against brute force."""

from dataclasses import replace

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import nspca
from nspca.bounds import core, elimination, lowrank
from nspca.bounds.membership import trees
from nspca.bounds.membership.chain import chain
from nspca.bounds.membership.claims import Interest
from nspca.bounds.membership.sources import certificates
from nspca.bounds.membership.sphere import of_inequality, whole
from nspca.bounds.membership.sums import of_rows, of_variances
from nspca.bounds.remainder import collect
from nspca.bounds.witness import Witness, certificate
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


def bases(problem, rng):
    """Return certificates on all rows and on half of them, with and without each part of a witness."""
    yield lowrank.bound(problem, 2)[0]
    for most in (problem.n, problem.n // 2):
        kept = elimination.keep(problem, most)
        r = len(kept.block)
        if r:
            size = np.abs(kept.block).max()
            yield certificate(problem, kept, Witness(elimination.search_threshold(kept, problem)[1]))[0]
            W = rng.standard_normal((r, r)) * size / 10
            M, U = rng.standard_normal((r, r)) * size / 4, rng.standard_normal((r, 1)) * np.sqrt(size) / 4
            yield certificate(problem, kept, Witness((W + W.T) / 2, M, U))[0]
    if len(problem.forced) == problem.size:
        return
    for _ in range(2):  # a core with weights for the others
        chosen = rng.permutation(np.setdiff1d(np.arange(problem.n), problem.forced))[
            : rng.integers(problem.n)
        ]
        rows = np.array([*problem.forced, *np.sort(chosen)], dtype=np.int64)
        tau = float(rng.uniform(0.1, 0.9) * problem.covariance.diagonal.max())
        kept = core.with_core(problem, collect(problem.covariance, problem.nonneg, tau), rows, tau, tau)
        if kept is not None:
            tau = kept.floor
            W = np.minimum(kept.block, tau) if problem.nonneg else np.clip(kept.block, -tau, tau)
            yield certificate(problem, kept, Witness(W))[0]
            if rows.size:
                yield certificate(problem, kept, Witness(W, None, 0.1 * np.ones((rows.size, 1))))[0]


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


@counts(20, 400)
def test_bounds_of_features_hold_are_proved_and_lies_are_refused(count):
    for i, case in enumerate(cases(count, n_max=6, seed=7)):
        data, A, problem = posed(i, case)
        if not A.any():
            continue
        rng = np.random.default_rng(i)
        truth = brute_force_features(A, case.k, problem.forced, problem.nonneg)
        value = max(part.max() for part in truth) / problem.covariance.unit
        interest = Interest(value, float(rng.choice([0.5, 0.95, 0.999, 1.0])))
        for base in bases(problem, rng):
            held(data, problem, of_inequality(problem, base, interest), truth, rng)
        held(data, problem, whole(problem, base), truth, rng)
        for make in (of_variances, of_rows):
            held(data, problem, make(problem), truth, rng)
        held(data, problem, next(certificates(problem, None, Interest(value, 0.9))), truth, rng)


@pytest.mark.parametrize(("nonneg", "forced"), [(True, ()), (False, (1, 4))])
def test_bounds_of_features_from_the_leaves_of_a_chain(nonneg, forced, monkeypatch):
    monkeypatch.setattr(trees, "WORK", 1e6)
    X = np.random.default_rng(0).standard_normal((10, 8))
    problem = nspca.Problem.from_data(X, 4, nonneg, center=False, forced=forced)
    truth = brute_force_features(X.T @ X / 10, 4, forced, nonneg)
    value = truth[0].max() / problem.covariance.unit
    order = [j for j in np.argsort(truth[1]) if j not in forced][: 4 - len(forced)]
    root = chain(problem, order, truth[1][order[0]] / problem.covariance.unit * 1.02, 1e-9)
    assert root is not None and root.feature == order[0]
    told = trees.of_tree(problem, root, Interest(value, 0.95))
    assert told.form == "fixing" and (told.witness["use"] >= 0).any()
    held(X, problem, told, truth, np.random.default_rng(1))
    assert (np.array([told.witness[name] for name in NAMES]) < value).any(), "a leaf tells features apart"


@pytest.mark.parametrize(("nonneg", "forced"), [(True, ()), (False, (0,))])
def test_bounds_of_features_of_a_tree_that_asks_of_each(nonneg, forced, monkeypatch):
    monkeypatch.setattr(trees, "TREE", 0.0)
    monkeypatch.setattr(trees, "WORK", 3e5)
    rng = np.random.default_rng(5)
    X = rng.standard_normal((12, 7)) + 2 * np.outer(rng.standard_normal(12), [1, 1, 1, 0.5, 0, 0, 0])
    problem = nspca.Problem.from_data(X, 3, nonneg, center=False, forced=forced)
    truth = brute_force_features(X.T @ X / 12, 3, forced, nonneg)
    value = truth[0].max() / problem.covariance.unit
    features = [j for j in np.argsort(truth[1]) if j not in forced][: 3 - len(forced)]
    found = list(certificates(problem, None, Interest(value, 0.9), features))
    told = next(one for one in found if one.form == "fixing")
    held(X, problem, told, truth, rng)
    level = 0.9 * value
    assert (told.witness["lacking"][features] < level).sum() == (
        truth[1][features] < 0.9 * truth[0].max()
    ).sum()


def test_a_tree_of_its_own_is_exact_down_to_the_level_it_was_asked_for():
    A = nspca.load_sample("pitprops").X
    problem = nspca.Problem.from_covariance(A[:9, :9], 3, nonneg=False)
    truth = brute_force_features(A[:9, :9], 3, nonneg=False)
    value = truth[0].max() / problem.covariance.unit
    told = next(certificates(problem, None, Interest(value, 0.95)))
    level = Interest(value, 0.95).levels[-1]
    for name, optimum in zip(NAMES, truth, strict=True):
        optimum = np.maximum(optimum / problem.covariance.unit, level)
        np.testing.assert_allclose(told.witness[name], optimum, rtol=1e-9)
    held(A[:9, :9], problem, told, truth, np.random.default_rng(2))


def test_one_feature_and_no_other_place():
    """For k = 1 the variances are exact; with k forced features no answer has another feature."""
    variances = np.array([3.0, 1.0, 2.0, 2.0])
    told = of_variances(nspca.Problem.from_covariance(np.diag(variances), 1))
    assert np.allclose(told.witness["having"] * 4, variances)
    assert np.allclose(told.witness["lacking"] * 4, [2, 3, 3, 3])
    problem = nspca.Problem.from_covariance(np.diag(variances), 2, forced=(1, 2))
    for made in (of_variances(problem), of_rows(problem)):
        assert (made.witness["having"][[0, 3]] == 0).all() and (made.witness["lacking"][[0, 3]] > 0).all()
        assert nspca.verify(np.diag(variances), made, problem) <= made.upper


def test_claims_about_features_are_whole_and_of_one_component():
    X = np.random.default_rng(3).standard_normal((20, 6))
    problem = nspca.Problem.from_data(X, 2)
    told = of_inequality(problem, lowrank.bound(problem, 2)[0], Interest(1.0, 0.9))
    without = {name: array for name, array in told.witness.items() if name != "lacking"}
    nan = told.witness | {"having": np.full(6, np.nan)}
    short = told.witness | {"having": told.witness["having"][:5]}
    for witness, reason in ((without, "missing"), (nan, "finite"), (short, "shape")):
        with pytest.raises(nspca.CertificateError, match=reason):
            nspca.verify(X, replace(told, witness=witness))
    joint = nspca.certify(problem.with_k((2, 2)), effort="fast")
    claims = {name: np.full(6, 1e9) for name in NAMES}
    with pytest.raises(nspca.CertificateError, match="form 'joint' has the witness arrays"):
        nspca.verify(X, replace(joint, witness=joint.witness | claims))
