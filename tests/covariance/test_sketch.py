"""Sketches: their errors against dense linear algebra, and their promises."""

import numpy as np
import pytest
import scipy.sparse as sp

import nspca
from nspca.covariance import sketch
from nspca.errors import InvalidOption
from tests.strategies import cases


def data(m=60, n=25, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((m, n)) * np.exp(-np.arange(n) / 4) + rng.standard_normal(n)


def distance(A, V):
    return np.abs(np.linalg.eigvalsh(A - V @ V.T)).max()


@pytest.mark.parametrize("kind", sketch.SKETCHES)
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_the_error_is_the_spectral_distance(kind, make):
    problem = nspca.Problem.from_data(make(data()), 3)
    A = problem.covariance.matrix
    for rank in (1, 4, 25):
        found = sketch.make(kind, problem.covariance, rank)
        assert found.V.shape == (25, rank)
        assert found.error == pytest.approx(distance(A, found.V), rel=1e-6, abs=1e-12)
        assert found.loss(5) == 10 * found.error


def test_svd_is_the_best_and_the_random_one_close():
    A = nspca.Problem.from_data(data(), 3).covariance
    values = np.linalg.eigvalsh(A.matrix)[::-1]
    assert sketch.svd(A, 4).error == pytest.approx(values[4])
    assert values[4] * (1 - 1e-9) <= sketch.randomised(A, 4).error <= 1.05 * values[4]
    assert np.array_equal(sketch.randomised(A, 4).V, sketch.randomised(A, 4).V)


def test_error_of_many_columns_by_lanczos():
    X = data(m=30, n=1200)
    A = nspca.Problem.from_data(X, 3).covariance
    found = sketch.randomised(A, 3)
    assert found.error == pytest.approx(distance(A.matrix, found.V), rel=1e-3)


def test_degenerate_matrices():
    for case in cases(40, ranks=(1, 2, 3), seed=5):
        A = nspca.Problem.from_data(case.V.T, 1, center=False).covariance
        for kind in sketch.SKETCHES:
            found = sketch.make(kind, A, case.V.shape[1])
            assert found.error <= 1e-9 * max(A.trace, 1e-300), (case.kind, kind)


def test_bad_input_is_named():
    matrix = nspca.Problem.from_covariance(np.eye(3), 1).covariance
    with pytest.raises(InvalidOption, match="sketch must be one of svd, randomised, got 'best'"):
        sketch.make("best", matrix, 2)
