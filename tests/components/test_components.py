"""Several components: deflations against their formulas, the gain of the span, angles, and what is
explained.
"""

from itertools import combinations

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

import nspca
from nspca.components import DEFLATIONS, at_an_angle, explained_variances, successive
from nspca.components.deflation import hotelling, projection, schur
from nspca.covariance.updated import Changed
from nspca.errors import InvalidOption, InvalidProblem
from nspca.solvers import METHODS
from tests.oracles import brute_force
from tests.strategies import cases


def exact(problem):
    """One component by brute force."""
    return brute_force(problem.covariance.matrix, problem.k, problem.nonneg)[1]


def by(method):
    line = METHODS[method]
    return lambda problem: line.solve(problem, line.Options()).components[:, 0]


def covariances(n=7):
    X = np.random.default_rng(0).poisson(1.0, (20, n)).astype(float)
    yield nspca.Problem.from_data(X, 3).covariance
    yield nspca.Problem.from_data(X[:3], 3).covariance
    yield nspca.Problem.from_data(sp.csr_array(X[:3]), 3, scale=False).covariance
    yield nspca.Problem.from_covariance(X.T @ X, 3).covariance


def test_a_changed_covariance_is_its_formula():
    rng = np.random.default_rng(1)
    for A in covariances():
        L, C = rng.standard_normal((7, 2)), np.array([[0.3, -0.2], [-0.2, 0.5]])
        once = Changed(A, L, C, 0.4)
        again = Changed(once, L[:, :1], np.array([[0.1]]), 0.1)
        full = A.block(np.arange(7)) + L @ C @ L.T + 0.5 * np.eye(7) + 0.1 * np.outer(L[:, 0], L[:, 0])
        x, some = rng.standard_normal(7), [5, 1, 2]
        assert again.A is A
        assert np.allclose(again.matrix, full) and np.allclose(again.diagonal, np.diag(full))
        assert np.allclose(again.product(x), full @ x) and np.allclose(again.product(L), full @ L)
        assert np.allclose(again.columns(some), full[:, some]) and np.allclose(
            again.block(some), full[np.ix_(some, some)]
        )
        assert np.allclose(again.restrict(some).matrix, full[np.ix_(some, some)])
        assert np.allclose([again.quadratic(x), again.explained(x)], x @ full @ x)
        assert np.allclose(again.leading(3)[0], np.maximum(np.linalg.eigvalsh(full)[::-1][:3], 0))


def test_each_deflation_is_its_formula_and_leaves_a_semidefinite_matrix():
    for case in cases(30, n_max=7, ranks=(1, 2, 3, 8), seed=2):
        problem = nspca.Problem.from_covariance(case.V @ case.V.T, case.k, nonneg=False)
        A, x = problem.covariance.matrix, exact(problem)
        value, I = x @ A @ x, np.eye(problem.n)
        P, size = I - np.outer(x, x), max(float(np.trace(A)), 1e-300)
        shift = np.linalg.norm(A @ x - value * x)
        expected = {
            hotelling: A - value * np.outer(x, x) + shift * I,
            projection: P @ A @ P,
            schur: A - np.outer(A @ x, A @ x) / value if value > 0 else A,
        }
        for remove, matrix in expected.items():
            left = remove(problem.covariance, x).matrix
            assert np.allclose(left, matrix, atol=1e-12 * size)
            assert np.linalg.eigvalsh(left)[0] >= -1e-12 * size


@pytest.mark.parametrize("deflation", [name for name in DEFLATIONS if name != "drop"])
def test_with_all_features_every_deflation_is_pca(deflation):
    X = np.random.default_rng(3).standard_normal((40, 6)) * [6, 5, 4, 3, 2, 1]
    problem = nspca.Problem.from_data(X, 6, nonneg=False)
    found = successive(problem, 6, exact, deflation)
    assert np.allclose(np.abs(found.T @ problem.covariance.leading(6)[1]), np.eye(6), atol=1e-6)


def test_generalised_adds_the_most_to_the_variance_of_the_span():
    rng = np.random.default_rng(4)
    for _ in range(8):
        A = np.cov(rng.standard_normal((12, 6)) @ rng.standard_normal((6, 6)), rowvar=False)
        problem = nspca.Problem.from_covariance(A, 2, nonneg=False)
        X = successive(problem, 3, exact, "generalised")
        gained = np.diff(explained_variances(problem, X)["subspace"])
        for j in (1, 2):
            Q = scipy.linalg.orth(X[:, :j])
            P = np.eye(6) - Q @ Q.T
            best = 0.0
            for support in combinations(range(6), 2):
                part = np.ix_(support, support)
                if np.linalg.eigvalsh(P[part])[0] > 1e-6:
                    best = max(best, scipy.linalg.eigh((P @ A @ P)[part], P[part], eigvals_only=True)[-1])
            assert gained[j - 1] >= best * (1 - 1e-6)


@pytest.mark.parametrize("nonneg", [True, False])
@pytest.mark.parametrize("deflation", DEFLATIONS)
def test_deflations_work_with_the_methods(deflation, nonneg):
    X = np.random.default_rng(5).standard_normal((30, 20)) @ np.random.default_rng(6).random((20, 20))
    problem = nspca.Problem.from_data(X, 4, nonneg)
    for method in ("tpower", "em", "threshold", "pca"):
        found = successive(problem, 3, by(method), deflation)
        assert found.shape == (20, 3) and all(problem.violation(x) <= 1e-12 for x in found.T)
        assert np.all(
            explained_variances(problem, found)["subspace"]
            <= np.cumsum(np.linalg.eigvalsh(np.cov(X.T, bias=True))[::-1][:3])
        )


@pytest.mark.parametrize("deflation", DEFLATIONS)
def test_more_components_than_directions(deflation):
    problem = nspca.Problem.from_data(np.outer([1.0, -1, 0], [3.0, 2, 1, 0, 0, 0]), 2)
    found = successive(problem, 3, by("tpower"), deflation)
    assert all(problem.violation(x) <= 1e-12 for x in found.T)
    assert np.isclose(explained_variances(problem, found)["subspace"][0], problem.value(found[:, 0]))


@pytest.mark.parametrize("deflation", DEFLATIONS)
def test_wide_and_sparse_tables(deflation):
    X = sp.random_array((30, 2500), density=0.02, rng=np.random.default_rng(7), format="csr")
    problem = nspca.Problem.from_data(X, 10)
    found = successive(problem, 2, by("tpower"), deflation)
    assert all(problem.violation(x) <= 1e-12 for x in found.T)


def test_wrong_names_and_too_few_features_are_said():
    problem = nspca.Problem.from_data(np.random.default_rng(8).standard_normal((9, 4)), 3)
    with pytest.raises(
        InvalidOption,
        match="deflation must be one of drop, hotelling, projection, schur, generalised, got 'shur'",
    ):
        successive(problem, 2, exact, "shur")
    with pytest.raises(
        InvalidProblem,
        match=r"4 components of 3 features .* need 12 features, got n = 4; ask for k of at most 1",
    ):
        successive(problem, 4, exact, "drop")


@pytest.mark.parametrize(("nonneg", "degrees"), [(True, 30), (False, 60), (True, 85), (False, 90)])
def test_components_keep_their_angle(nonneg, degrees):
    X = np.random.default_rng(9).random((40, 12)) @ np.random.default_rng(10).random((12, 12))
    problem = nspca.Problem.from_data(X, 5, nonneg)
    found = at_an_angle(problem, 3, by("tpower"), degrees)
    cosines = np.abs(found.T @ found)[np.triu_indices(3, 1)]
    assert np.all(cosines <= np.cos(np.radians(degrees)) + 1e-6)
    assert all(problem.violation(x) <= 1e-12 for x in found.T)


def test_when_no_feature_is_left_the_angle_is_refused():
    problem = nspca.Problem.from_covariance(np.ones((2, 2)), 2)
    with pytest.raises(InvalidProblem, match="no further component is far enough from the 1 before"):
        at_an_angle(problem, 2, exact, 60)  # in the quadrant nothing is more than 45 degrees from (1, 1)
    for wrong in (0, 91, -5, True, "85", float("nan")):
        with pytest.raises(InvalidOption, match="angle between components must be above 0"):
            at_an_angle(problem, 2, exact, wrong)


def test_definitions_on_components_that_overlap():
    X = np.random.default_rng(14).standard_normal((50, 5)) * 7
    problem = nspca.Problem.from_data(X, 5)
    rng = np.random.default_rng(15)
    W = np.abs(rng.standard_normal((5, 3)))
    W /= np.linalg.norm(W, axis=0)
    explained = explained_variances(problem, W)
    Z = X - X.mean(axis=0)
    assert np.allclose(explained["total"], np.cumsum([w @ Z.T @ Z @ w / 50 for w in W.T]))
    assert np.allclose(explained["adjusted"], np.cumsum(np.diag(np.linalg.qr(Z @ W)[1]) ** 2) / 50)
    Q = scipy.linalg.orth(W)
    assert np.isclose(explained["subspace"][-1], np.trace(Q.T @ Z.T @ Z @ Q) / 50)
    mixed = W @ np.array([[1.0, 2, 0], [0, 1, 1], [0, 0, 1]])
    assert np.isclose(explained_variances(problem, mixed)["subspace"][-1], explained["subspace"][-1])


def test_the_same_component_twice_counts_once_except_in_the_total():
    problem = nspca.Problem.from_covariance(np.diag([3.0, 2, 1]), 1)
    x = np.eye(3)[:, [0, 0, 1]]
    explained = explained_variances(problem, x)
    assert np.allclose(explained["total"], [3, 6, 8])
    assert np.allclose(explained["adjusted"], [3, 3, 5]) and np.allclose(explained["subspace"], [3, 3, 5])
    assert np.allclose(explained_variances(problem, x[:, 0])["total"], [3])
    nothing = explained_variances(nspca.Problem.from_covariance(np.zeros((3, 3)), 1), x)
    assert all(np.array_equal(sums, np.zeros(3)) for sums in nothing.values())
    for wrong in (np.ones((2, 3)), np.full((3, 1), np.nan)):
        with pytest.raises(InvalidProblem, match="components must be finite numbers of shape"):
            explained_variances(problem, wrong)


def test_solve_takes_a_deflation_or_an_angle():
    X = np.random.default_rng(16).random((30, 8)) @ np.random.default_rng(17).random((8, 8))
    problem = nspca.Problem.from_data(X, 4)
    expected = successive(problem, 2, by("em"), "projection")
    assert np.array_equal(
        nspca.solve(problem, "em", components=2, deflation="projection").components, expected
    )
    assert np.array_equal(
        nspca.solve(problem, components=2).components,
        nspca.solve(problem, components=2, deflation="drop").components,
    )
    wide = nspca.solve(problem, "em", components=2, angle=80).components
    assert abs(wide[:, 0] @ wide[:, 1]) <= np.cos(np.radians(80)) + 1e-6
    with pytest.raises(InvalidOption, match="deflation must be one of"):
        nspca.solve(problem, components=2, deflation="none")
