"""Thresholding: what is kept, the weights on it, one eigenvector for all k."""

import numpy as np

import nspca
from nspca.solvers import threshold
from tests.strategies import cases


def test_keeps_the_largest_entries_with_the_best_weights():
    X = np.random.default_rng(0).standard_normal((40, 8)) * np.linspace(3, 1, 8)
    A = np.cov(X, rowvar=False, bias=True)
    u = np.linalg.eigh(A)[1][:, -1]
    for k in range(1, 9):
        support = np.sort(np.argsort(-np.abs(u))[:k])
        result = nspca.solve(nspca.Problem.from_data(X, k, nonneg=False), "threshold", certify=None)
        assert np.array_equal(np.flatnonzero(result.components[:, 0]), support)
        assert np.isclose(result.value, np.linalg.eigvalsh(A[np.ix_(support, support)])[-1])


def test_nonnegative_takes_the_better_sign():
    u = np.array([-3.0, -2, -1, 2.5])
    result = nspca.solve(nspca.Problem.from_covariance(np.outer(u, u), 2), "threshold", certify=None)
    assert np.allclose(result.components[:, 0], np.array([3, 2, 0, 0]) / np.sqrt(13))


def test_one_path_is_the_single_answers_and_polish_never_lowers():
    for case in cases(20, n_max=8, seed=2):
        problem = nspca.Problem.from_covariance(case.V @ case.V.T, case.k)
        ks = list(range(1, problem.n + 1))
        path = threshold.path(problem, ks, threshold.Options())
        for k in ks:
            one = threshold.solve(problem.with_k(k), threshold.Options())
            assert np.array_equal(path[k].components, one.components)
            better = threshold.solve(problem.with_k(k), threshold.Options(polish=True))
            assert better.value >= one.value * (1 - 1e-12)
