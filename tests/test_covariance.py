"""The matrix behind a problem: every representation is the same matrix, at every scale."""

import numpy as np
import pytest
import scipy.sparse as sp

from nspca.covariance import DataCovariance, from_dense, from_matrix, from_sparse
from nspca.errors import InvalidProblem
from tests.strategies import cases


def reference(X, center, scale):
    Z = X - X.mean(axis=0) if center else X
    return (Z / X.std(axis=0) if scale else Z).T @ (Z / X.std(axis=0) if scale else Z) / len(X)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("shape", [(30, 7), (5, 40), (7, 1)])
@pytest.mark.parametrize("make", [from_dense, lambda X, c, s: from_sparse(sp.csc_matrix(X), c, s)])
def test_every_operation_agrees_with_the_plain_formula(make, shape, center, scale):
    rng = np.random.default_rng(1)
    X = np.round(rng.standard_normal(shape) * 3 + rng.random(shape[1]), 1)
    A = reference(X, center, scale)
    C = make(X, center, scale)
    n = shape[1]
    some = np.array([0, n - 1, n // 2])
    Y = rng.standard_normal((n, 2))
    assert np.allclose(C.product(Y) * C.unit, A @ Y)
    assert np.allclose(C.product(Y[:, 0]) * C.unit, A @ Y[:, 0])
    assert np.allclose(C.columns(some) * C.unit, A[:, some])
    assert np.allclose(C.block(some) * C.unit, A[np.ix_(some, some)])
    assert np.allclose(C.matrix * C.unit, A)
    assert np.allclose(C.diagonal * C.unit, np.diag(A))
    assert np.allclose(C.quadratic(Y[:, 1]) * C.unit, Y[:, 1] @ A @ Y[:, 1])
    assert np.allclose(C.explained(Y[:, 1]) * C.unit, Y[:, 1] @ A @ Y[:, 1])
    assert np.allclose(np.linalg.eigvalsh(C.gram())[-1], np.linalg.eigvalsh(C.matrix)[-1])
    assert np.allclose(C.restrict(np.arange(n)[::2]).matrix * C.unit, A[::2, ::2])


def test_leading_eigenpairs_of_all_kinds_of_matrices():
    for case in cases(60):
        A = case.V @ case.V.T
        C = from_matrix(A)
        values, vectors = C.leading(len(A))
        expected = np.linalg.eigvalsh(A)[::-1]
        assert np.allclose(values * C.unit, np.maximum(expected, 0), atol=1e-10 * max(expected[0], 1e-300))
        assert np.allclose((vectors * values) @ vectors.T * C.unit, A, atol=1e-9 * max(np.abs(A).max(), 1e-300))


def test_leading_pairs_of_wide_data_come_from_the_small_side_and_pad_with_zeros():
    X = np.random.default_rng(0).standard_normal((4, 50))
    values, vectors = from_dense(X, True, False).leading(6)
    assert np.all(values[3:] == 0) and np.all(vectors[:, 3:] == 0)  # centring leaves rank 3
    assert np.allclose(vectors[:, :3].T @ vectors[:, :3], np.eye(3), atol=1e-10)


def test_iterative_eigenpairs_agree_with_the_small_side():
    X = np.random.default_rng(2).standard_normal((1500, 1100)) * np.linspace(3, 0.1, 1100)
    C = from_dense(X, True, False)
    values = C.leading(3)[0]
    assert np.allclose(values, np.linalg.svd(C.Z, compute_uv=False)[:3] ** 2 / 1500)


@pytest.mark.parametrize("power", [-150, -100, 0, 100, 150])
def test_scales_are_undone_exactly(power):
    X = np.random.default_rng(3).standard_normal((20, 5))
    factor = 2.0 ** round(power * np.log2(10))
    plain, scaled = from_dense(X, True, False), from_dense(X * factor, True, False)
    assert np.array_equal(plain.matrix, scaled.matrix)
    assert scaled.unit / plain.unit == factor**2
    assert from_matrix(plain.matrix * factor).unit * 1.0 == from_matrix(plain.matrix).unit * factor


def test_standardised_columns_of_very_different_scales():
    X = np.random.default_rng(4).standard_normal((30, 4)) * np.array([1e-150, 1.0, 1e150, 1e-300])
    A = from_dense(X, True, True).matrix
    assert np.allclose(np.diag(A), 1.0)


def test_dense_and_sparse_data_are_one_matrix_with_hashes_of_their_own():
    X = np.random.default_rng(5).poisson(0.3, (40, 12)).astype(float)
    dense, sparse = from_dense(X, True, False), from_sparse(sp.coo_matrix(X), True, False)
    assert np.allclose(dense.matrix, sparse.matrix)
    assert sparse.digest == from_sparse(sp.csc_matrix(X), True, False).digest != dense.digest
    assert dense.digest == from_dense(X.astype(np.uint8), True, False).digest


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ([[1.0, np.nan], [0.0, 1.0]], "got nan at row 1, column 2"),
        ([[1.0, 2.0]], "at least 2 rows"),
        ([1.0, 2.0], "shape \\(2,\\)"),
        ([["a", "b"], ["c", "d"]], "must be numbers"),
        (np.zeros((0, 3)), "rows and columns"),
        (np.array([[1e200, 1.0], [0.0, 2e200]]), "must fit float64"),
    ],
)
def test_bad_data_gets_a_sentence(data, sentence):
    with pytest.raises(InvalidProblem, match=sentence):
        from_dense(np.array(data), True, False)


def test_constant_columns_are_named_when_scaling():
    X = np.array([[1.0, 5.0, 0.1 + 0.2], [2.0, 5.0, 0.3]])
    with pytest.raises(InvalidProblem, match="constant columns 2"):
        from_dense(X, True, True)
    with pytest.raises(InvalidProblem, match="constant columns b"):
        from_sparse(sp.csr_matrix(X), True, True, names=["a", "b", "c"])


@pytest.mark.parametrize(
    ("A", "sentence"),
    [
        ([[1.0, 2.0, 3.0]], "must be square, got 1 x 3"),
        ([[1.0, 0.5], [0.2, 1.0]], "symmetric.*row 1, column 2"),
        ([[1.0, 2.0], [2.0, 1.0]], "smallest eigenvalue of -1"),
    ],
)
def test_bad_covariances_get_a_sentence(A, sentence):
    with pytest.raises(InvalidProblem, match=sentence):
        from_matrix(np.array(A))


def test_the_large_path_never_forms_the_matrix(monkeypatch):
    X = np.random.default_rng(6).standard_normal((10, 5000))
    monkeypatch.setattr(DataCovariance, "_formed", lambda *a: pytest.fail("n x n was formed"))
    C = from_dense(X, True, False)
    C.leading(3), C.product(X.T), C.columns([1, 2])
