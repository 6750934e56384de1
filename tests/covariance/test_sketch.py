"""Sketches: their errors against dense linear algebra, their promises, one pass that does not depend on its
blocks.
"""

import numpy as np
import pytest
import scipy.sparse as sp

import nspca
from nspca.covariance import sketch
from nspca.errors import InvalidData, InvalidOption
from tests.strategies import cases


def data(m=60, n=25, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((m, n)) * np.exp(-np.arange(n) / 4) + rng.standard_normal(n)


def distance(A, V):
    return np.abs(np.linalg.eigvalsh(A - V @ V.T)).max()


@pytest.mark.parametrize("kind", sketch.SKETCHES)
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_the_error_is_the_spectral_distance_and_within_its_bound(kind, make):
    problem = nspca.Problem.from_data(make(data()), 3)
    A = problem.covariance.matrix
    for rank in (1, 4, 25):
        found = sketch.make(kind, problem.covariance, rank)
        assert found.V.shape == (25, rank)
        assert found.error == pytest.approx(distance(A, found.V), rel=1e-6, abs=1e-12)
        assert found.error <= found.bound * (1 + 1e-9) + 1e-12
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


@pytest.mark.parametrize("sizes", [(60,), (1,) * 60, (7, 20, 33)])
def test_frequent_directions_centre_on_the_way(sizes):
    X = data()
    stream = sketch.FrequentDirections(25, 4)
    for block in np.split(X, np.cumsum(sizes)[:-1]):
        stream.update(block)
    A = np.cov(X, rowvar=False, ddof=0)
    found = stream.sketch()
    eigenvalues = np.linalg.eigvalsh(A - found.V @ found.V.T)
    assert eigenvalues[0] >= -1e-12 and eigenvalues[-1] <= found.bound * (1 + 1e-9)
    assert np.allclose(stream.mean, X.mean(axis=0))
    # Liberty 2013: what is subtracted is at most the squared norm beyond the best rank-d part over d + 1.
    tail = np.sort(np.linalg.eigvalsh(A))[::-1][4:].sum()
    assert stream.subtracted / 60 <= tail / 5 * (1 + 1e-9)


def test_frequent_directions_are_exact_when_everything_fits():
    X = data(m=6, n=9)
    found = sketch.FrequentDirections(9, 5).update(X).sketch()
    assert distance(np.cov(X, rowvar=False, ddof=0), found.V) <= 1e-12 and found.bound <= 1e-12


def test_bad_input_is_named():
    matrix = nspca.Problem.from_covariance(np.eye(3), 1).covariance
    with pytest.raises(
        InvalidOption, match="frequent directions need the rows of the data, got a covariance matrix"
    ):
        sketch.frequent(matrix, 2)
    with pytest.raises(InvalidOption, match="sketch must be one of svd, randomised, frequent, got 'best'"):
        sketch.make("best", matrix, 2)
    with pytest.raises(InvalidData, match="finite rows of 3 columns"):
        sketch.FrequentDirections(3, 1).update([[1, np.nan, 2]])
    with pytest.raises(InvalidData, match="at least one row"):
        sketch.FrequentDirections(3, 1).sketch()
