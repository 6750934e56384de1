"""Scales of rows with weights outside them: at any numbers never below brute force, and so when forged."""

from dataclasses import replace

import numpy as np
import pytest

import nspca
from nspca.bounds import core, elimination, witness
from nspca.bounds.dual_search import DualSearch
from nspca.bounds.plan import JOINT_PLANS
from nspca.bounds.remainder import collect
from nspca.errors import CertificateError
from scripts.lean import of_numbers
from tests.bounds.test_core import table
from tests.makers import changed
from tests.oracles import brute_force_joint
from tests.strategies import certify_joint, counts

SIZES = ((2, 2), (2, 1), (1, 1, 1), (3, 1), (3,), (2, 2, 1))


def made(problem, rng):
    """A certificate with random rows, threshold, scales, W, M, lift and prices; None without weights."""
    A, nonneg, n = problem.covariance.matrix, problem.nonneg, problem.n
    rows = np.sort(rng.permutation(n)[: int(rng.integers(1, n))])
    top = float(A.max() if nonneg else np.abs(A).max())
    tau = float(rng.uniform(0.01, 0.8) * top)
    found = core.with_core(
        problem, collect(problem.covariance, nonneg, tau), rows, tau, rng.uniform(0, 2) * top
    )
    if found is None:
        return None
    scales = np.exp(rng.uniform(0, 1.5, rows.size) * rng.choice([0.0, 1.0]))
    kept = core.with_weights(problem, rows, tau, found.outside, found.weights, scales)
    noise, limits = rng.standard_normal((2, rows.size, rows.size)), tau * np.multiply.outer(scales, scales)
    W = kept.block + (noise[0] + noise[0].T) * rng.choice([0.0, 0.1]) * top
    W = np.clip(W, -np.inf if nonneg else -limits, limits)
    M = noise[1] * 0.1 * top if rng.random() < 0.4 else None
    values, vectors = np.linalg.eigh(kept.block - W)
    L = vectors[:, -1:] * np.sqrt(max(values[-1], 0.0)) * rng.uniform(0, 1.2)
    prices = top * rng.random(rows.size) * rng.choice([0.0, 0.3, 1.0])
    return of_numbers(problem, kept, witness.Witness(W, M, L[:, : int(rng.integers(0, 2))], prices, scales))


def drawn(rng, nonneg):
    """A table, a problem of several sizes, and the best value in unit scale."""
    while True:
        n, sizes = int(rng.integers(3, 8)), SIZES[int(rng.integers(len(SIZES)))]
        if sum(sizes) <= n:
            break
    X = table(rng, n) * (2.0 ** rng.uniform(-2, 0, n) if rng.random() < 0.5 else 1.0)
    problem = nspca.Problem.from_data(X, sizes, nonneg)
    return X, problem, brute_force_joint(problem.covariance.matrix, sizes, nonneg)[0]


@pytest.mark.parametrize("nonneg", [True, False])
@counts(40, 1500)
def test_bounds_with_scales_and_weights_are_not_below_brute_force(nonneg, count):
    rng, felt, scaled = np.random.default_rng(3), 0, 0
    for _ in range(count):
        X, problem, best = drawn(rng, nonneg)
        certificate = made(problem, rng)
        if certificate is None:
            continue
        unit = problem.covariance.unit
        assert best * (1 - 1e-12) <= nspca.verify(X, certificate, problem) / unit <= certificate.upper / unit
        felt += certificate.witness["tau"][0] < np.abs(problem.covariance.matrix).max()
        scaled += np.ptp(certificate.witness["scales"]) > 0
    assert felt > count / 3
    assert scaled > count / 5


def forged(c, rng):
    """One change that may make a certificate false, with claims that may be too low; any upper bound."""
    w, kind = {name: array.copy() for name, array in c.witness.items()}, int(rng.integers(7))
    factor, at = 2.0 ** rng.uniform(-2, 2), int(rng.integers(w["scales"].size))
    if kind == 0:  # the kept rows stay as they are, and those outside do not
        w["scales"], w["tau"] = w["scales"] * factor, w["tau"] / factor**2
    elif kind == 1:
        w["scales"][at] *= factor
    elif kind == 2:
        w["scales"] = rng.permutation(w["scales"])
    elif kind == 3:
        w["tau"] = w["tau"] * factor
    elif kind == 4:
        w["y"] = w["y"] * 2.0 ** rng.uniform(-4, 4, w["y"].size)
    elif kind == 5:
        w["rows"] = np.sort(rng.permutation(c.shape[1])[: w["rows"].size])
    else:
        w["prices"] = w["prices"] * factor
    w["claims"] = w["claims"] * np.where(rng.random(w["claims"].size) < 0.5, 1.0, 2.0 ** rng.uniform(-1, 2))
    return changed(c, upper=1e300, **w)


@pytest.mark.parametrize("nonneg", [True, False])
@counts(100, 10000)
def test_no_forgery_puts_a_bound_below_the_optimum(nonneg, count):
    rng, refusals, tried = np.random.default_rng(7), 0, 0
    while tried < count:
        X, problem, best = drawn(rng, nonneg)
        certificate = made(problem, rng)
        for _ in range(4 if certificate is not None else 0):
            tried += 1
            try:
                value = nspca.verify(X, forged(certificate, rng), problem) / problem.covariance.unit
                assert value >= best * (1 - 1e-12)
            except CertificateError:
                refusals += 1
    assert tried / 5 < refusals < 0.95 * tried


def topics(n=50):
    """Groups of features that go together, and many features of small variance."""
    rng = np.random.default_rng(0)
    F, shares = rng.standard_normal((300, 3)), rng.random((3, n)) * (rng.random((3, n)) < 0.4)
    return (F @ shares + 0.7 * rng.standard_normal((300, n))) * np.r_[
        np.linspace(2, 1, 25), np.full(n - 25, 0.35)
    ]


@pytest.mark.parametrize("nonneg", [True, pytest.param(False, marks=pytest.mark.visit)])
def test_features_outside_the_kept_rows_get_weights_and_the_bound_gains(monkeypatch, nonneg):
    X = topics()
    problem = nspca.Problem.from_data(X, (6, 6, 6), nonneg)
    value = nspca.solve(problem, "joint", certify=None).value
    lower, long = value / problem.covariance.unit, {"lifting": 5e6, "cap": 5_000, "searching": 2e7}
    plan = replace(JOINT_PLANS["standard"], sets=(0, 0), passes=1, **long)

    def found():
        alone = DualSearch(problem, plan, lower, kept=elimination.keep(problem, 25))
        alone.dual()
        return alone

    run = found()
    run.improve()
    certificate = run.certificate
    assert run.is_opened and {"scales", "y"} <= certificate.witness.keys()
    assert certificate.witness["scales"].min() >= 1.0
    assert value <= nspca.verify(X, certificate, problem) <= certificate.upper
    monkeypatch.setattr(DualSearch, "is_scaled", False)
    equal = found()
    equal.improve()
    assert certificate.upper - value < 0.6 * (equal.certificate.upper - value)


@pytest.mark.parametrize("nonneg", [True, False])
def test_where_all_features_outside_are_zero_scales_stay_within_those_of_a_certificate(nonneg, monkeypatch):
    """The floor is the size of a rounding there, and scales went up to a million."""
    plan = replace(JOINT_PLANS["standard"], rows=(12,), whole=0, sets=(0, 0), lifting=3.1e4 * 80, cap=300)
    monkeypatch.setitem(JOINT_PLANS, "standard", plan)
    rng, X = np.random.default_rng(0), np.zeros((30, 20))
    X[:, :8] = rng.standard_normal((30, 2)) @ rng.standard_normal((2, 8)) + 0.6 * rng.standard_normal((30, 8))
    problem = nspca.Problem.from_data(X, (2, 2), nonneg)
    optimum = brute_force_joint(problem.covariance.matrix[:8, :8], (2, 2), nonneg)[0]
    proved = certify_joint(problem, 0.9 * optimum)
    assert 1 < proved.witness["scales"].max() <= witness.HIGHEST * (1 + 1e-12)
    assert nspca.verify(X, proved, problem) >= optimum * problem.covariance.unit * (1 - 1e-12)
