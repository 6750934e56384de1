"""EM's quadratic programme with the penalty of an angle, against a general solver and its own conditions."""

import numpy as np
import pytest
from scipy.optimize import nnls

import nspca
from nspca.solvers import em, penalised

SHAPES = [(6, 1), (9, 2), (12, 4), (4, 4)]


def programme(rng, n, r):
    """Return f, h, V and a weight as they occur: V has unit columns, some of them equal."""
    V = np.abs(rng.standard_normal((n, r))) * (rng.random((n, r)) < 0.6)
    V[0] += 0.1
    V /= np.linalg.norm(V, axis=0)
    V[:, -1] = V[:, 0] if rng.random() < 0.3 else V[:, -1]
    return rng.standard_normal(n), float(rng.uniform(0.1, 3)), V, float(10 ** rng.uniform(-2, 2))


@pytest.mark.parametrize(("n", "r"), SHAPES)
def test_the_nonnegative_step_is_what_a_general_solver_finds(n, r):
    rng = np.random.default_rng(n)
    for _ in range(40):
        f, h, V, weight = programme(rng, n, r)
        stacked = np.vstack([np.sqrt(h) * np.eye(n), np.sqrt(weight) * V.T])
        expected, _ = nnls(stacked, np.concatenate([f / np.sqrt(h), np.zeros(r)]))
        assert np.allclose(penalised.m_step(f, h, V, weight, n, True), expected, atol=1e-9)


@pytest.mark.parametrize("nonneg", [True, False])
@pytest.mark.parametrize(("n", "r", "k"), [(6, 1, 2), (9, 2, 1), (12, 4, 4), (4, 4, 2)])
def test_the_sparse_step_meets_the_conditions_of_its_programme(n, r, k, nonneg):
    rng = np.random.default_rng(10 * n + k)
    for _ in range(20):
        f, h, V, weight = programme(rng, n, r)
        w = penalised.m_step(f, h, V, weight, k, nonneg)
        assert np.count_nonzero(w) <= k and (not nonneg or w.min() >= 0)
        if not w.any():
            assert (nonneg and f.max() <= 0) or np.sort(np.abs(f))[-k - 1] > 0
            continue
        left = f - h * w - weight * V @ (V.T @ w)
        prices = left[w != 0] * np.sign(w[w != 0])
        price = prices.mean()
        assert np.allclose(prices, price, atol=1e-8) and price >= -1e-8, "one price for all that are left"
        outside = left[w == 0] if nonneg else np.abs(left[w == 0])
        assert np.all(outside <= price + 1e-8), "nothing that was left out is worth more"


def test_without_weight_it_is_the_step_of_the_plain_algorithm():
    rng = np.random.default_rng(3)
    for nonneg in (True, False):
        for k in (1, 3, 8):
            f, h, V, _ = programme(rng, 8, 2)
            f = np.abs(f) if nonneg else f
            w = penalised.m_step(f, h, V, 0.0, k, nonneg)
            plain = em.m_step(f[:, None], k, nonneg)[:, 0]
            assert np.count_nonzero(w) == k
            assert np.allclose(np.sign(w), np.sign(plain)), "the price is known to halving only"
    assert not penalised.m_step(np.ones(3), 0.0, np.eye(3)[:, :1], 1.0, 3, True).any(), (
        "nothing was explained"
    )


@pytest.mark.parametrize(
    ("k", "nonneg", "degrees"),
    [(5, False, 30), (12, True, 30), (5, True, 85), (12, False, 85)],
)
def test_components_of_em_keep_their_angle(k, nonneg, degrees):
    X = np.random.default_rng(9).random((40, 12)) @ np.random.default_rng(10).random((12, 12))
    problem = nspca.Problem.from_data(X, k, nonneg)
    options = {"penalty": "step", "restarts": 1, "iterations": 300 if k == 12 else 20}
    result = nspca.solve(problem, "em", components=3, angle=degrees, **options)
    cosines = np.abs(result.components.T @ result.components)[np.triu_indices(3, 1)]
    assert np.all(cosines <= np.cos(np.radians(degrees)) + 1e-6)
    assert all(problem.violation(x) <= 1e-12 for x in result.components.T) and result.values.min() > 0
