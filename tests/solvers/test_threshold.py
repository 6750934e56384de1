"""Thresholding: what is kept, the weights on it, one eigenvector for all k."""

import numpy as np

import nspca


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
