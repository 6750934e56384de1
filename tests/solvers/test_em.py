"""EM of 2008: the M-step against its definition, the paper's runs, the starts, wide data."""

import numpy as np
import pytest

import nspca
from nspca.solvers import em


def descent(f, k, nonneg):
    """Return the result of Algorithm 2: K steps of axis-aligned descent towards f, brought to length 1."""
    f = np.maximum(f, 0) if nonneg else f
    order = np.argsort(-np.abs(f), kind="stable")
    s = np.append(np.abs(f)[order], 0.0)
    w = np.zeros_like(f)
    for j in range(k):
        w[order[: j + 1]] += s[j] - s[j + 1]
    w *= np.sign(f)
    return w / np.linalg.norm(w)


@pytest.mark.parametrize("nonneg", [True, False])
def test_m_step_is_the_axis_aligned_descent(nonneg):
    rng = np.random.default_rng(0)
    for _ in range(200):
        n = int(rng.integers(1, 9))
        k, F = int(rng.integers(1, n + 1)), rng.standard_normal((n, 3))
        F[0] = np.abs(F[0]) + 0.01
        W = em.m_step(F, k, nonneg)
        assert np.allclose(W, np.column_stack([descent(f, k, nonneg) for f in F.T]), atol=1e-12)


@pytest.mark.parametrize("nonneg", [True, False])
def test_ties_keep_k_entries_and_nothing_is_lost(nonneg):
    F = np.column_stack([np.ones(5), np.zeros(5), [2.0, 1, 1, 1, 0]])
    W = em.m_step(F, 3, nonneg)
    assert np.allclose(W[:, 0], np.array([1, 1, 1, 0, 0]) / np.sqrt(3))
    assert not W[:, 1].any()
    assert np.allclose(W[:, 2], [1, 0, 0, 0, 0])


def test_a_start_that_dies_leaves_a_feasible_component():
    A = np.diag([1.0, 0, 0])
    result = nspca.solve(nspca.Problem.from_covariance(A, 1), "em", restarts=1, certify=None)
    assert np.isclose(result.value, 1.0)
    zero = nspca.solve(nspca.Problem.from_covariance(np.zeros((3, 3)), 2), "em")
    assert zero.value == 0 and np.isclose(np.linalg.norm(zero.components), 1)


@pytest.mark.parametrize(("k", "share"), [(40, 0.5203), (180, 0.598)])
def test_faces_reach_the_share_found_by_search(lee_seung_faces, k, share):
    problem = nspca.Problem.from_data(lee_seung_faces, k)
    result = nspca.solve(problem, "em", restarts=5, polish=False, certify=None)
    assert result.value >= share * problem.leading_eigenvalue
    assert result.info["converged"]


def test_genes_find_the_sparse_component(genes):
    problem = nspca.Problem.from_data(genes, 50)
    assert nspca.solve(problem, "em", certify=None).value >= 0.2305 * problem.leading_eigenvalue


def test_the_paper_s_starts_are_nonnegative_without_preference_and_find_less_on_wide_data():
    X = np.random.default_rng(5).standard_normal((20, 3)) @ np.random.default_rng(6).standard_normal((3, 400))
    problem = nspca.Problem.from_data(X, 10)
    W = em.starts(problem, 6, 1, "paper")
    assert (W > 0).mean() == 1 and np.allclose(np.linalg.norm(W, axis=0), 1)
    assert np.allclose(
        W,
        np.abs(np.random.default_rng(1).standard_normal((400, 6)))
        / np.linalg.norm(np.random.default_rng(1).standard_normal((400, 6)), axis=0),
    )
    plain = {"polish": False, "certify": None}
    paper, ours = (nspca.solve(problem, "em", starts=kind, **plain).value for kind in em.STARTS[::-1])
    assert paper <= ours
    signed = [em.starts(nspca.Problem.from_data(X, 10, nonneg=False), 3, 1, kind) for kind in em.STARTS]
    assert np.array_equal(*signed)
    with pytest.raises(nspca.errors.InvalidOption, match="starts must be 'range' or 'paper', got 'ours'"):
        nspca.solve(problem, "em", starts="ours")
