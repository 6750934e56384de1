"""Joint bounds with prices: at ANY prices, W, M and lift never below brute force, accepted by the verifier;
forged ones refused; better than W alone; different sizes, eliminated rows, cancel.
"""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import nspca
from nspca.bounds import elimination
from nspca.bounds.dual_search import DualSearch
from nspca.bounds.plan import JOINT_PLANS
from nspca.bounds.witness import Witness
from nspca.checker.cover import prove_cover
from nspca.checker.inequality import top_sum
from nspca.errors import CertificateError
from nspca.lowrank import cones
from nspca.lowrank.cones import Budget, Query
from nspca.problem import Problem
from scripts.lean import of_numbers, of_weights
from tests.makers import changed
from tests.oracles import brute_force_joint
from tests.strategies import cases, certify_joint

EDGE = 1e-12
SIZES = ((2, 2), (2, 1), (1, 1, 1), (3, 1), (3,), (2, 2, 1))


def drawn(rng, A, nonneg):
    """Return random W, M, L and prices of the size of A, degenerate on purpose."""
    n, top = len(A), float(np.abs(A).max()) or 1.0
    W = np.minimum(A, rng.uniform(0, top)) if rng.random() < 0.5 else top * rng.standard_normal((n, n)) / 4
    M = None if rng.random() < 0.4 else top * rng.standard_normal((n, n)) * (rng.random((n, n)) < 0.5) / 4
    values, vectors = np.linalg.eigh(A)
    d = int(rng.integers(0, min(n, 3) + 1))
    L = vectors[:, n - d :] * np.sqrt(np.maximum(values[n - d :], 0)) * rng.uniform(0, 1.2)
    prices = top * rng.random(n) * (rng.random(n) < rng.choice([0.0, 0.5, 1.0])) * rng.choice([0.1, 1.0])
    scales = None if rng.random() < 0.4 else np.exp(rng.uniform(-1, 1, n) * rng.choice([0.1, 1.0, 3.0]))
    return Witness((W + W.T) / 2, M, L, prices, scales)


@pytest.mark.parametrize("nonneg", [True, False])
def test_no_bound_of_any_numbers_is_below_brute_force_and_every_one_is_verified(nonneg):
    rng, tried = np.random.default_rng(3), 0
    for i, case in enumerate(cases(20, n_max=6, ranks=(1, 2, 6), seed=23)):
        A = case.V @ case.V.T
        for sizes in SIZES[i % 3 :: 3]:
            if sum(sizes) > len(A) or not A.any():
                continue
            problem, exact = Problem.from_covariance(A, sizes, nonneg), brute_force_joint(A, sizes, nonneg)[0]
            unit = problem.covariance.unit
            certificate = of_numbers(problem, elimination.all_rows(problem), drawn(rng, A / unit, nonneg))
            assert certificate.kind == "JP" and certificate.upper >= exact * (1 - EDGE)
            proved = nspca.verify(A, certificate)
            assert proved <= certificate.upper <= proved * (1 + 1e-6) + 1e-9 * unit
            tried += 1
    assert tried > 15


def rivals(n=24):
    """Return three directions with common features, which W alone cannot assign to one component each."""
    rng = np.random.default_rng(0)
    F, shares = rng.standard_normal((200, 3)), rng.random((3, n)) * (rng.random((3, n)) < 0.6)
    return F @ shares + 0.6 * rng.standard_normal((200, n))


@pytest.mark.parametrize(("sizes", "nonneg"), [((8, 4), True), ((6, 6), False)])
def test_prices_and_a_lift_close_most_of_what_w_alone_leaves(sizes, nonneg):
    X = rivals()
    problem = Problem.from_data(X, sizes, nonneg)
    value = nspca.solve(problem, "joint", certify=None).value
    lower = value / problem.covariance.unit
    alone = DualSearch(problem, JOINT_PLANS["standard"], lower, kept=elimination.all_rows(problem))
    alone.dual()
    certificate = certify_joint(problem, lower)
    assert value <= nspca.verify(X, certificate) <= certificate.upper
    assert certificate.kind == "JP" and certificate.witness["claims"].size == 1 + len({*sizes})
    assert certificate.upper - value < 0.4 * (alone.certificate.upper - value)


@pytest.mark.parametrize("nonneg", [True, False])
def test_runs_with_scales_are_never_below_brute_force(nonneg):
    plan, scaled, better = replace(JOINT_PLANS["standard"], sets=(0, 0), work=1e6, lifting=2e6), 0, 0
    for i, case in enumerate(cases(8, n_max=6, ranks=(2, 7), seed=31)):
        A, sizes = case.V @ case.V.T, SIZES[i % len(SIZES)]
        if sum(sizes) > len(A) or not A.any():
            continue
        problem, exact = Problem.from_covariance(A, sizes, nonneg), brute_force_joint(A, sizes, nonneg)[0]
        alone = DualSearch(problem, plan, 0.0, kept=elimination.all_rows(problem))
        alone.dual()
        before = alone.certificate
        if alone.X is not None:
            alone.improve()
        certificate = alone.certificate
        assert exact * (1 - EDGE) <= nspca.verify(A, certificate) <= certificate.upper
        scaled += np.ptp(certificate.witness.get("scales", 0.0)) > 0
        better += certificate.upper < before.upper * (1 - 1e-3)
    assert scaled >= 1 and better >= 1


def test_forged_scales_are_refused():
    X = rivals() * np.r_[np.linspace(2, 1, 16), np.full(8, 0.4)]
    problem = Problem.from_data(X, (5, 5), nonneg=False)
    kept, rng = elimination.keep(problem, 16), np.random.default_rng(6)
    B, scales = kept.block, np.exp(rng.uniform(-0.5, 0.5, 16))
    packed = Witness(elimination.clipped(B, kept.floor, False), None, np.zeros((16, 0)), np.zeros(16), scales)
    honest = of_numbers(problem, kept, packed)
    assert nspca.verify(X, honest) <= honest.upper
    tau, small = honest.witness["tau"], scales.copy()
    small[np.argmin(scales)] /= 2
    forgeries = [
        ({"scales": scales * 0.9}, "below"),
        ({"scales": small}, "below"),
        ({"scales": scales * 1.1}, "not proved to stay below|sum to"),
        ({"scales": -scales}, "scales must be"),
        ({"scales": scales * 2.0**12}, "scales must be"),
        ({"scales": scales[1:]}, "of shape"),
        ({"scales": scales * np.nan}, "finite"),
        ({"tau": tau * (1 - 1e-9)}, "below"),
    ]
    for arrays, reason in forgeries:
        with pytest.raises(CertificateError, match=reason):
            nspca.verify(X, changed(honest, **arrays))
    plain = of_weights(problem, kept, packed.W)
    with pytest.raises(CertificateError, match="has the witness arrays"):
        nspca.verify(X, changed(plain, scales=scales))


def test_forged_ones_are_refused():
    X = rivals()
    problem = Problem.from_data(X, (6, 6, 3), nonneg=False)
    honest = certify_joint(problem, 0.0)
    assert honest.kind == "JP" and nspca.verify(X, honest) <= honest.upper
    w, low = honest.witness, {"upper": honest.upper * (1 - 1e-6)}
    t, first, second = w["claims"]
    dear = w["prices"] + np.linspace(0.0, 1.0, 24) * w["prices"].max()
    forgeries = [
        ({}, low, "is claimed"),
        ({"prices": -w["prices"]}, {}, "must not be negative"),
        ({"prices": w["prices"] * np.nan}, {}, "finite"),
        ({"prices": w["prices"][1:]}, {}, "of shape"),
        ({"prices": dear}, {}, "is claimed"),
        ({"prices": 0 * w["prices"]}, {}, "not proved to stay below|sum to"),
        ({"claims": np.array([t, first * 0.99, second])}, {}, "cone"),
        ({"claims": np.array([t, first, second * 0.99])}, {}, "cone"),
        ({"claims": np.array([t, second, first])}, {}, "cone"),
        ({"claims": np.array([t, first])}, {}, "of shape"),
        ({"claims": np.array([t * (1 - 1e-4), first, second])}, {}, "could not be proved"),
        ({"claims": np.array([-t, first, second])}, {}, "could not be proved"),
        ({"tree": w["tree"][:-1]}, {}, "too early"),
        ({"tree": np.append(w["tree"], w["tree"][-1])}, {}, "left over"),
        ({"lift": w["lift"][:, :1]}, {}, "could not be proved|unknown code|left over"),
        ({"lift": 0 * w["lift"]}, {}, "could not be proved"),
        ({"W": w["W"] - 0.1 * np.eye(24)}, {}, "could not be proved"),
        ({"secret": w["U"]}, {}, "has the witness arrays"),
    ]
    for arrays, words, reason in forgeries:
        with pytest.raises(CertificateError, match=reason):
            nspca.verify(X, changed(honest, words.get("upper"), **arrays))
    halved = Witness(w["W"], w.get("M"), w["lift"] / 2, w["prices"])  # leaves more to U
    other = of_numbers(problem, elimination.all_rows(problem), halved)
    assert nspca.verify(X, other) <= other.upper
    with pytest.raises(CertificateError, match="could not be proved"):
        nspca.verify(X, changed(other, U=0 * other.witness["U"]))
    without = {name: array for name, array in w.items() if name != "prices"}
    with pytest.raises(CertificateError, match="has the witness arrays"):
        nspca.verify(X, replace(honest, witness=without))
    plain = {name: w[name] for name in ("W", "U")} | {"claims": np.array([t, 0.0])}
    with pytest.raises(
        CertificateError, match="could not be proved"
    ):  # what L took is not left out for nothing
        nspca.verify(X, replace(honest, witness=plain))
    for sizes in ((6, 6, 4), (7, 6, 3), (6, 6, 6), (15,), (6, 6, 3, 1)):
        with pytest.raises(CertificateError):
            nspca.verify(X, replace(honest, k=sizes))


@pytest.mark.parametrize("nonneg", [True, False])
@pytest.mark.parametrize("scaled", [True, False])
def test_a_search_with_negative_constants_finds_the_maximum_and_proves_it(nonneg, scaled):
    """On a circle, with V of two columns, or of one with a flat part that has scales."""
    rng, turns = np.random.default_rng(7), np.linspace(0, 2 * np.pi, 4001)
    circle = np.column_stack((np.cos(turns), np.abs(np.sin(turns)) if scaled else np.sin(turns)))
    for trial in range(20):
        n, k = int(rng.integers(1, 9)), int(rng.integers(1, 4))
        V, h = rng.standard_normal((n, 1 if scaled else 2)), rng.uniform(-1.5, 0.5, n) * (trial % 4 > 0)
        tau, scales = (rng.uniform(0.1, 2), np.exp(rng.uniform(-1, 1, n))) if scaled else (0.0, None)
        flat = circle[:, 1:] * np.sqrt(tau) * scales if scaled else 0.0
        terms = circle[:, : V.shape[1]] @ V.T
        P = np.maximum(terms + flat, 0) if nonneg else np.abs(terms) + flat
        most = np.sort(np.maximum(P**2 + h, 0), axis=1)[:, ::-1][:, :k].sum(axis=1).max()
        cover = cones.search(Query(V, k, h, tau, nonneg, scales=scales), Budget(1e-6))
        assert cover.lower <= most * (1 + 1e-5) + 1e-9 and most <= cover.upper * (1 + 1e-12)
        assert cover.upper <= cover.lower * (1 + 1e-5) + 1e-9
        f = top_sum(SimpleNamespace(U=V, scales=scales), tau, h, 0, min(k, n), 0, nonneg)
        assert prove_cover(f, cover.upper * (1 + 1e-9) + 1e-12, cover.tree).size == 0
        if most > 1e-3:
            with pytest.raises(CertificateError):
                prove_cover(f, most * (1 - 1e-6), cover.tree)
