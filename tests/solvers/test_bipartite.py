"""The net of the 2015 paper with a matching at every point: its promise against brute force, its honesty when
it stops early.
"""

import math

import numpy as np
import pytest

import nspca
from nspca.covariance import sketch
from nspca.solvers import bipartite
from tests.oracles import brute_force_joint
from tests.strategies import cases

SIGNS = pytest.mark.parametrize("nonneg", [True, False])


def feasible(result, sizes, nonneg):
    X = result.components
    assert X.shape[1] == len(sizes) and np.allclose(np.linalg.norm(X, axis=0), 1)
    assert np.all((X != 0).sum(axis=1) <= 1) and all(
        (x != 0).sum() <= s for x, s in zip(X.T, sizes, strict=True)
    )
    assert not nonneg or X.min() >= 0


@SIGNS
@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_every_unit_vector_has_a_net_point_within_half_eps(d, nonneg):
    eps = (0.1, 0.1, 0.2, 0.6)[d - 1]
    points = bipartite.net(d, eps, nonneg)
    assert len(points) == bipartite.net_size(d, eps, nonneg) <= (4 / eps) ** d
    assert np.allclose(np.linalg.norm(points, axis=1), 1)
    c = np.random.default_rng(d).standard_normal((3000, d))
    c = np.concatenate((c, np.sign(c), np.eye(d), -np.eye(d)))
    c /= np.linalg.norm(c, axis=1, keepdims=True)
    cosine = c @ points.T if nonneg else np.abs(c @ points.T)
    assert np.sqrt(np.maximum(2 - 2 * cosine.max(axis=1), 0)).max() <= eps / 2


@SIGNS
@pytest.mark.parametrize("sizes", [(2, 2), (1, 3)])
@pytest.mark.parametrize("count", [11, pytest.param(44, marks=pytest.mark.long)])
def test_theorem_1_on_the_full_net(sizes, nonneg, count):
    eps, total = 0.3, 0
    for case in cases(count, n_max=6, ranks=(2, 5), seed=71):
        A = case.V @ case.V.T
        if len(A) < sum(sizes):
            continue
        problem = nspca.Problem.from_covariance(A, sizes, nonneg)
        result = nspca.solve(problem, "bipartite", rank=2, eps=eps, certify=None)
        feasible(result, sizes, nonneg)
        info, V = (
            result.info,
            sketch.svd(problem.covariance, 2).V,
        )  # its own V: repeated eigenvalues leave a choice
        stand_in = V @ V.T * problem.covariance.unit
        assert info["search"] == "full net" and info["promise"] == 1 - eps
        best = brute_force_joint(stand_in, sizes, nonneg)[0]
        assert best * (1 - eps) <= info["sketch_value"] * (1 + 1e-9) + 1e-300, case
        assert info["sketch_value"] <= best * (1 + 1e-9) + 1e-300, case
        assert np.isclose(
            info["loss"], 2 * len(sizes) * np.linalg.norm(A - stand_in, 2), atol=1e-12 * max(1, np.trace(A))
        )
        optimum = brute_force_joint(A, sizes, nonneg)[0]
        assert (
            (1 - eps) * optimum - info["loss"] - 1e-12 * optimum
            <= result.value
            <= optimum * (1 + 1e-9) + 1e-300
        ), case
        total += 1
    assert total >= count / 4


@SIGNS
def test_stopped_early_it_says_so_and_polish_only_gains(nonneg):
    problem = nspca.Problem.from_data(np.random.default_rng(4).standard_normal((40, 25)), (4, 2, 5), nonneg)
    plain = nspca.solve(problem, "bipartite", samples=150, certify=None)
    assert plain.info["search"].startswith("stopped early") and plain.info["promise"] == 0.0
    assert plain.info["points"] == 150 and np.isclose(plain.info["net_points"], 40.0**12)
    better = nspca.solve(problem, "bipartite", samples=150, polish=True, certify=None)
    assert better.value >= plain.value and better.info["sketch_value"] == plain.info["sketch_value"]
    for result in (plain, better):
        feasible(result, problem.k, nonneg)
    assert nonneg or [(x != 0).sum() for x in plain.components.T] == [4, 2, 5]
    more = nspca.solve(problem, "bipartite", samples=450, certify=None)
    assert more.info["sketch_value"] >= plain.info["sketch_value"]
    assert bipartite.theorem_size(100, 30, 0.1) == math.inf


@pytest.mark.parametrize("kind", ["svd", "randomised"])
def test_every_sketch_keeps_theorem_2(kind):
    X = np.random.default_rng(5).standard_normal((60, 6)) * [3, 2, 1, 1, 0.5, 0.5]
    problem = nspca.Problem.from_data(X, (2, 1))
    result = nspca.solve(problem, "bipartite", rank=2, eps=0.25, sketch=kind, certify=None)
    A = np.cov(X, rowvar=False, bias=True)
    optimum = brute_force_joint(A, (2, 1))[0]
    assert result.info["sketch"] == kind and result.info["loss"] > 0
    assert 0.75 * optimum - result.info["loss"] <= result.value <= optimum * (1 + 1e-9)


@pytest.mark.parametrize("nonneg", [True, False])
def test_climbs_only_gain_on_the_sketch_and_are_said(nonneg):
    X = np.random.default_rng(12).standard_normal((60, 25)) * np.linspace(3, 1, 25)
    problem = nspca.Problem.from_data(X, (4, 4, 4), nonneg=nonneg)
    options = {"rank": 5, "samples": 50, "certify": None}
    plain, climbed, more = (nspca.solve(problem, "bipartite", climbs=n, **options) for n in (0, 1, 8))
    assert plain.info["sketch_value"] < climbed.info["sketch_value"] <= more.info["sketch_value"]
    assert plain.info["search"] == "stopped early: random points instead of the net"
    assert climbed.info["search"].endswith("net, then 1 climb on the sketch")
    for result in (climbed, more):
        V, unit = sketch.svd(problem.covariance, 5).V, problem.covariance.unit
        assert np.isclose(result.info["sketch_value"], np.square(V.T @ result.components).sum() * unit)
    assert (np.count_nonzero(more.components, axis=1) <= 1).all()
