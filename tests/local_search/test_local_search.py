"""Best weights on a support: with and without the block, never below the start."""

import numpy as np
import pytest

import nspca
from nspca.local_search import single as ascent


@pytest.mark.parametrize("nonneg", [True, False])
@pytest.mark.parametrize("m", [30, 900])
def test_large_supports_get_the_weights_of_small_ones(monkeypatch, nonneg, m):
    rng = np.random.default_rng(0)
    problem = nspca.Problem.from_data(
        rng.standard_normal((m, 60)) + rng.standard_normal((m, 1)) * rng.random(60), 40, nonneg
    )
    A, support = problem.covariance, np.arange(0, 60, 2)
    x = np.full(30, 30**-0.5)
    small = ascent.best_weights(A, support, x, nonneg)
    monkeypatch.setattr(ascent, "DIRECT_LIMIT", 10)
    large = ascent.best_weights(A, support, x, nonneg)
    block = A.block(support)
    assert np.isclose(small @ block @ small, large @ block @ large, rtol=1e-9)
    assert np.isclose(np.linalg.norm(large), 1) and (not nonneg or large.min() >= 0)
    assert large @ block @ large >= x @ block @ x


def test_columns_keep_their_supports_and_never_fall():
    rng = np.random.default_rng(1)
    problem = nspca.Problem.from_data(rng.standard_normal((20, 12)), 4)
    X = np.zeros((12, 3))
    for j in range(3):
        X[rng.permutation(12)[:4], j] = 0.5
    Y = ascent.on_supports(problem, X)
    assert np.all((Y != 0) <= (X != 0))
    assert all(problem.value(y) >= problem.value(x) for x, y in zip(X.T, Y.T, strict=True))


@pytest.mark.parametrize("nonneg", [True, False])
def test_a_feature_that_outweighs_all_others_to_rounding_stays_and_nothing_overflows(nonneg):
    X = np.random.default_rng(0).standard_normal((8, 6))
    X[:, 0] = 1 + 1e-14 * X[:, 0]  # scaled and not centred: its variance is 1e28 times that of the others
    problem = nspca.Problem.from_data(X, 3, nonneg, center=False, scale=True)
    x = nspca.solve(problem, certify=None).components[:, 0]
    assert problem.violation(x) <= 1e-12 and abs(x[0]) > 1 - 1e-12


def test_what_rounding_makes_negative_leaves_a_component():
    """The zero vector explains more than nothing less rounding; it is no component."""
    x = np.array([0.6, 0.8])
    for block in (-1e-17 * np.ones((2, 2)), np.array([[-1e-17, 0.0], [0.0, -2e-17]])):
        best = ascent.best_on_support(block, x, nonneg=True)
        assert np.isclose(np.linalg.norm(best), 1)
        assert best.min() >= 0
