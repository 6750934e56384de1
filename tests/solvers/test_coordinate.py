"""NSPCA of 2006: the quartic, eq. 4 as an identity, ascent, cardinalities, units of the paper, joint
components, wide data.
"""

import numpy as np
import pytest

import nspca
from nspca.errors import InvalidOption
from nspca.solvers import coordinate
from tests.strategies import cases


def objective(A, U, alpha, beta):
    """Return the objective of eq. 3 for A = XX', or any multiple of it."""
    return (
        0.5 * np.trace(U.T @ A @ U) - alpha / 4 * np.sum((np.eye(U.shape[1]) - U.T @ U) ** 2) - beta * U.sum()
    )


def run(problem, seed=0, **options):
    return coordinate.solve(problem, coordinate.Options(**options), seed)


def test_maximiser_of_the_quartic():
    rng = np.random.default_rng(0)
    c2, c1 = rng.standard_normal((2, 800)) * 10.0 ** rng.integers(-9, 5, (2, 800))
    c1[:100], c2[100:200] = 0.0, 0.0
    for alpha in (1e-3, 1.0, 1e4):
        f = lambda u, a, b, alpha=alpha: -alpha / 4 * u**4 + a / 2 * u**2 + b * u  # noqa: E731
        vector = coordinate.maximisers(c2, c1, alpha)
        for a, b, u in zip(c2, c1, vector, strict=True):
            assert np.isclose(coordinate.maximiser(a, b, alpha), u, rtol=1e-9, atol=0)
            roots = np.roots([-alpha, 0, a, b])
            others = np.append(roots[np.abs(roots.imag) <= 1e-9 * np.abs(roots)].real, 0.0)
            best = max(f(v, a, b) for v in others if v >= 0)
            assert u >= 0 and f(u, a, b) >= best - 1e-9 * abs(best)


def test_coefficients_are_those_of_the_objective_in_one_entry():
    rng = np.random.default_rng(1)
    X, U, alpha, beta = rng.standard_normal((9, 5)), rng.random((5, 3)), 0.7, 0.3
    A = X.T @ X
    c2, c1 = coordinate.coefficients(np.diag(A)[:, None], A @ U, U, U.T @ U, alpha, beta)
    f = lambda u, s, j: -alpha / 4 * u**4 + c2[s, j] / 2 * u**2 + c1[s, j] * u  # noqa: E731
    for s, j in np.ndindex(5, 3):
        V = U.copy()
        V[s, j] = rng.random() * 2
        change = objective(A, V, alpha, beta) - objective(A, U, alpha, beta)
        assert np.isclose(change, f(V[s, j], s, j) - f(U[s, j], s, j), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("block", [2, 500])
def test_sweeps_never_lower_the_objective_and_end_where_no_entry_helps(monkeypatch, block):
    monkeypatch.setattr(coordinate, "BLOCK", block)
    for case in cases(20, n_max=8, ranks=(2, 3, 8), seed=2):
        problem = nspca.Problem.from_covariance(case.V @ case.V.T, case.k)
        l1 = problem.covariance.leading(1)[0][0]
        if l1 == 0:
            continue
        A, seen = problem.covariance.matrix / l1, []
        U = np.abs(np.random.default_rng(3).standard_normal((problem.n, 2)))
        U = coordinate.climb(
            problem, U, 1.0, 0.05, 3000, 1e-13, lambda sweep, value, seen=seen: seen.append(value)
        )
        assert np.all(np.diff(seen) >= -1e-9)
        assert np.isclose(seen[-1], objective(A, U, 1.0, 0.05), atol=1e-9)
        best = coordinate.maximisers(
            *coordinate.coefficients(np.diag(A)[:, None], A @ U, U, U.T @ U, 1.0, 0.05), 1.0
        )
        for s, j in np.ndindex(U.shape):
            V = U.copy()
            V[s, j] = best[s, j]
            assert objective(A, V, 1.0, 0.05) <= objective(A, U, 1.0, 0.05) + 1e-6


def test_weights_of_the_paper():
    X = np.random.default_rng(4).standard_normal((30, 6)) * 50
    problem = nspca.Problem.from_data(X, 3)
    Z = X - X.mean(axis=0)
    U = np.random.default_rng(5).random((6, 2))
    alpha, beta = coordinate.from_paper(problem, 2e4), coordinate.from_paper(problem, 3e3)
    size = 30 * problem.leading_eigenvalue
    A = Z.T @ Z / 30 / problem.leading_eigenvalue
    assert np.isclose(objective(Z.T @ Z, U, 2e4, 3e3), size * objective(A, U, alpha, beta))
    with pytest.raises(InvalidOption, match="needs data, got a covariance"):
        coordinate.from_paper(nspca.Problem.from_covariance(np.eye(3), 2), 1.0)


def test_a_cardinality_that_is_reached_and_one_that_is_not():
    u = np.array([5.0, 4, 3, 2, 1])
    graded = nspca.Problem.from_covariance(np.outer(u, u) + np.eye(5), 3)
    result = run(graded, polish=False)
    assert result.info["reached"] and np.array_equal(np.flatnonzero(result.components[:, 0]), [0, 1, 2])
    # Entries that help each other only together: all of them or none.
    flat = run(nspca.Problem.from_covariance(np.ones((6, 6)) + 0.01 * np.eye(6), 3), polish=False)
    assert (
        not flat.info["reached"] and flat.info["cardinality"] > 3 and np.count_nonzero(flat.components) == 3
    )


def test_beta_given_is_the_beta_used():
    problem = nspca.Problem.from_data(np.random.default_rng(8).random((30, 10)), 10)
    for beta in (0.0, 0.1):
        assert run(problem, beta=beta).info["beta"] == beta
    for wrong in (-1.0, True, float("inf")):
        with pytest.raises(InvalidOption, match="beta must be"):
            coordinate.Options(beta=wrong)


def test_faces_of_the_paper(faces):
    """2e7 and 5e8 are for XX' of zero-mean data (Section 2 of the paper), in grey levels."""
    problem = nspca.Problem.from_data(faces, (361 // 4,) * 4)
    Z = faces - faces.mean(axis=0)
    for weight, said in ((2e7, "0.0163"), (5e8, "0.407")):
        assert (
            f"{weight / np.linalg.eigvalsh(Z.T @ Z)[-1]:.3g}"
            == f"{coordinate.from_paper(problem, weight):.3g}"
            == said
        )
        assert f" {said} " in coordinate.Options.__doc__
    few, many = (
        run(problem, alpha=coordinate.from_paper(problem, a), beta=0.0, restarts=1, tol=1e-4)
        for a in (2e7, 5e8)
    )
    assert few.info["overlap"] > 1.5 * many.info["overlap"]


def test_own_columns_are_those_of_the_largest_objective_and_share_features():
    rng = np.random.default_rng(4)
    problem = nspca.Problem.from_data(rng.gamma(2.0, 1.0, (40, 12)), k=3)
    options = coordinate.Options(alpha=0.02, beta=0.01, restarts=3)
    U = coordinate.paper_columns(problem, 2, options, seed=1)
    A = problem.covariance.product(np.eye(12)) / problem.covariance.leading(1)[0][0]
    eq_3 = lambda U: (  # noqa: E731
        np.trace(U.T @ A @ U) / 2 - 0.02 / 4 * np.square(np.eye(2) - U.T @ U).sum() - 0.01 * U.sum()
    )
    assert (U >= 0).all() and coordinate.objective(problem, U, 0.02, 0.01) == pytest.approx(eq_3(U))
    alone = [
        coordinate.Search(problem, guess, options).at(0.01)
        for rng in [np.random.default_rng(1)]
        for guess in [coordinate.first_guess(problem, 2, start, rng) for start in range(3)]
    ]
    assert eq_3(U) == pytest.approx(max(map(eq_3, alone)))
    assert (np.count_nonzero(U, axis=1) == 2).any(), "with so small an alpha the columns overlap"
    with pytest.raises(InvalidOption, match="need a beta, got None"):
        coordinate.paper_columns(problem, 2, coordinate.Options())
    with pytest.raises(InvalidOption, match="rank must be a whole number, 1 to 12"):
        coordinate.paper_columns(problem, 13, options)
