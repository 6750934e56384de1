"""The matrix behind a problem: every representation is the same matrix, at every scale."""

import numpy as np
import pytest
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

import nspca
from nspca.bounds import elementary
from nspca.covariance.inputs import from_data, from_matrix
from nspca.covariance.moments import moments
from nspca.errors import InvalidProblem, Refused
from tests.oracles import brute_force
from tests.questions import exact_covariance
from tests.strategies import cases


def reference(X, center, scale):
    Z = X - X.mean(axis=0) if center else X
    return (Z / X.std(axis=0) if scale else Z).T @ (Z / X.std(axis=0) if scale else Z) / len(X)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("shape", [(30, 7), (5, 40), (7, 1)])
@pytest.mark.parametrize("make", [np.asarray, sp.csc_matrix])
def test_every_operation_agrees_with_the_plain_formula(make, shape, center, scale):
    rng = np.random.default_rng(1)
    X = np.round(rng.standard_normal(shape) * 3 + rng.random(shape[1]), 1)
    A = reference(X, center, scale)
    C = from_data(make(X), center, scale)
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
        assert np.allclose(
            (vectors * values) @ vectors.T * C.unit, A, atol=1e-9 * max(np.abs(A).max(), 1e-300)
        )


def test_leading_pairs_of_wide_data_come_from_the_small_side_and_pad_with_zeros():
    X = np.random.default_rng(0).standard_normal((4, 50))
    values, vectors = from_data(X, True, False).leading(6)
    assert np.all(values[3:] == 0) and np.all(vectors[:, 3:] == 0)  # centring leaves rank 3
    assert np.allclose(vectors[:, :3].T @ vectors[:, :3], np.eye(3), atol=1e-10)


def test_iterative_eigenpairs_agree_with_the_small_side(monkeypatch):
    monkeypatch.setattr("nspca.covariance.data.DIRECT_LIMIT", 500)
    X = np.random.default_rng(2).standard_normal((700, 600)) * np.linspace(3, 0.1, 600)
    C = from_data(X, True, False)
    values = C.leading(3)[0]
    assert np.allclose(values, np.linalg.svd(C.Z, compute_uv=False)[:3] ** 2 / 700)


@pytest.mark.parametrize("power", [-150, -100, 0, 100, 150])
def test_scales_are_undone_exactly(power):
    X = np.random.default_rng(3).standard_normal((20, 5))
    factor = 2.0 ** round(power * np.log2(10))
    plain, scaled = from_data(X, True, False), from_data(X * factor, True, False)
    assert np.array_equal(plain.matrix, scaled.matrix)
    assert scaled.unit / plain.unit == factor**2
    assert from_matrix(plain.matrix * factor).unit * 1.0 == from_matrix(plain.matrix).unit * factor


def test_standardised_columns_of_very_different_scales():
    X = np.random.default_rng(4).standard_normal((30, 4)) * np.array([1e-150, 1.0, 1e150, 1e-300])
    A = from_data(X, True, True).matrix
    assert np.allclose(np.diag(A), 1.0)


def test_constant_columns_are_named_when_scaling():
    X = np.array([[1.0, 5.0, 0.1 + 0.2], [2.0, 5.0, 0.3]])
    with pytest.raises(InvalidProblem, match="constant columns 2"):
        from_data(X, True, True)
    with pytest.raises(InvalidProblem, match="constant columns b"):
        from_data(sp.csr_matrix(X), True, True, names=["a", "b", "c"])


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


# --- semidefinite up to rounding
# --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("excess", [1e-9, 3e-12, 1e-13])
def test_a_covariance_that_is_indefinite_beyond_rounding_is_refused_with_the_way_out(excess):
    A = np.array([[1.0, 1 + excess], [1 + excess, 1.0]])
    with pytest.raises(
        InvalidProblem, match=r"positive semidefinite up to the rounding of its entries.*repair=\"shift\""
    ):
        from_matrix(A)
    problem = nspca.Problem.from_covariance(A, 2, repair="shift")
    result = nspca.solve(problem)
    assert nspca.verify(A, result.certificate, problem) >= result.value >= 2 * (1 - 1e-15)


def test_a_covariance_that_no_rounding_explains_is_refused_with_what_to_add():
    A = np.array([[1.0, 1.1], [1.1, 1.0]])
    with pytest.raises(InvalidProblem, match=r"smallest eigenvalue of -0\.1; .*np\.eye") as refusal:
        from_matrix(A, repair="shift")
    added = float(str(refusal.value).split("A + ")[1].split(" *")[0])
    assert 0.1 < added < 0.12
    assert nspca.solve(nspca.Problem.from_covariance(A + added * np.eye(2), 2)).value >= 2


@pytest.mark.parametrize("count", [15, pytest.param(300, marks=pytest.mark.long)])
def test_what_a_rounding_can_do_to_a_covariance_is_bounded_and_proved(count):
    """Rank-deficient covariances as NumPy makes them, in the units of anybody: the checker accepts every
    answer.
    """
    for seed in range(count):
        rng = np.random.default_rng(seed)
        n, m = int(rng.integers(2, 9)), int(rng.integers(2, 5))
        A = np.cov(
            rng.standard_normal((m, n)) @ np.diag(10.0 ** rng.integers(-3, 4, n)), rowvar=False
        ) * 10.0 ** rng.integers(-9, 9)
        for k in (1, n):
            problem = nspca.Problem.from_covariance(A, k)
            result = nspca.solve(problem)
            assert nspca.verify(A, result.certificate, problem) >= result.value * (1 - 1e-12)
    ones = np.ones((3, 3)) + np.array([[0, 1e-15, 0], [1e-15, 0, 0], [0, 0, 0]])
    problem = nspca.Problem.from_covariance(ones, 1)
    assert problem.covariance.nu > 0 and nspca.verify(ones, elementary.diagonal(problem)) > 1.0


def test_a_sparse_covariance_is_the_same_matrix():
    A = np.diag([3.0, 2.0, 1.0, 0.0])
    A[0, 1] = A[1, 0] = 0.5
    for make in (sp.csr_array, sp.csc_matrix, sp.coo_array):
        assert np.array_equal(from_matrix(make(A)).matrix, from_matrix(A).matrix)
    with pytest.raises(Refused, match="at most n = 20000"):
        from_matrix(sp.eye_array(30_000, format="csr"))
    with pytest.raises(InvalidProblem, match="must be square, got 2 x 3"):
        from_matrix(sp.csr_array((2, 3)))


def test_equal_eigenvalues_are_found_by_whoever_asks(monkeypatch):
    """LAPACK's solver of a part of the spectrum may fail in a cluster: every caller then gets all of it."""

    def failing(*args, **kwargs):
        raise np.linalg.LinAlgError("no convergence")

    def short(S, subset_by_index, **kwargs):
        values, vectors = np.linalg.eigh(S)
        return values[:0], vectors[:, :0]

    X = np.random.default_rng(0).standard_normal((9, 6))
    A = np.kron(np.eye(3), np.ones((2, 2)))
    ask = lambda P: nspca.solve(P, certify="standard")  # noqa: E731
    problems = lambda: (  # noqa: E731
        nspca.Problem.from_covariance(A, 3),
        nspca.Problem.from_covariance(A, (2, 2)),
        nspca.Problem.from_data(X.T, 4),
        nspca.Problem.from_data(X, 4, nonneg=False),
    )
    expected = [ask(problem).value for problem in problems()]
    for broken in (failing, short):
        monkeypatch.setattr("scipy.linalg.eigh", broken)
        monkeypatch.setattr("scipy.linalg.eigvalsh", failing)
        assert np.allclose([ask(problem).value for problem in problems()], expected)


# --- offsets --------------------------------------------------------------------------------------


@pytest.mark.parametrize("offset", [0.0, 1e2, 1e7, 1e12])
@pytest.mark.parametrize(
    ("layout", "scale"),
    [(np.asarray, False), (np.asarray, True), (sp.csr_array, True), (sp.csc_matrix, False)],
)
def test_an_offset_takes_no_digits_from_the_covariance(offset, scale, layout):
    X = np.random.default_rng(0).standard_normal((30, 8)) + offset * np.array([1, 1, 1, 1, 1, 0, 1, -2.0])
    A, exponent = exact_covariance(X, True, scale)
    problem = nspca.Problem.from_data(layout(X), 3, scale=scale)
    C = problem.covariance
    assert np.allclose(
        C.matrix,
        A * 2.0 ** (exponent - C.exponent),
        rtol=1e-12,
        atol=1e-13 * np.trace(A) * 2.0 ** (exponent - C.exponent),
    )
    assert np.allclose(C.diagonal, np.diag(C.matrix), rtol=1e-13)
    result = nspca.solve(problem)
    optimum = brute_force(A, 3)[0]
    upper = nspca.verify(layout(X), result.certificate, problem)
    assert result.value <= np.ldexp(optimum, exponent) * (1 + 1e-12) and np.ldexp(
        optimum, exponent
    ) <= upper * (1 + 1e-12)
    mean, deviation = moments(layout(X))
    assert np.allclose(mean, X.mean(axis=0), rtol=1e-15)
    plain, exponent = exact_covariance(X, True, False)
    assert np.allclose(deviation, np.sqrt(np.ldexp(np.diag(plain), exponent)), rtol=1e-13)


def test_columns_more_than_half_full_are_written_out_and_others_are_not():
    rng = np.random.default_rng(2)
    X = rng.poisson(1.0, (400, 30)) * (rng.random((400, 30)) < 0.3) * 1.0
    X[:, 4] = 2000 + rng.integers(0, 5, 400)
    C = from_data(sp.csr_array(X), True, True)
    assert abs(C.rows.mean[4]) < 1e-12 and np.count_nonzero(C.rows.mean > 0.01) == 29
    assert C.table.nnz <= np.count_nonzero(X) + 400
    assert np.allclose(C.matrix, np.corrcoef(X, rowvar=False))


def test_a_column_that_hardly_varies_is_no_constant_and_one_of_roundings_is():
    spread = np.array([1.0, 2.0, 3.0, 4.0])
    X = np.column_stack((1e12 + spread, spread, 1e15 + spread))
    for layout in (np.asarray, sp.csr_array):
        assert np.allclose(np.diag(nspca.Problem.from_data(layout(X), 1, scale=True).covariance.matrix), 1.0)
        sums = np.column_stack((X[:, :2], [0.3, 0.1 + 0.2, 0.3, 0.3]))
        with pytest.raises(InvalidProblem, match="constant columns 3"):
            nspca.Problem.from_data(layout(sums), 1, scale=True)


def test_the_last_bits_do_not_depend_on_the_number_of_threads():
    X = np.random.default_rng(0).standard_normal((600, 361))
    seen = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            A = from_data(X, center=True, scale=False)
            values, vectors = A.leading(3)
            seen.append((A.matrix, values, vectors))
    for one, other in zip(*seen, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("wide", [False, True])
def test_leading_pairs_do_not_depend_on_how_many_were_asked_for_before(wide):
    """Also where eigenvalues are equal, so that any basis of their space is one of eigenvectors."""
    X = np.linalg.qr(np.random.default_rng(5).standard_normal((60, 40)))[0]
    X = X.T if wide else X
    fresh = nspca.Problem.from_data(X, 3, center=False).covariance.leading(4)
    for before in ((1,), (6,), (20,), (2, 40, 3)):
        A = nspca.Problem.from_data(X, 3, center=False).covariance
        for d in before:
            assert A.leading(d)[0].size == d
        again = A.leading(4)
        assert all(np.array_equal(one, other) for one, other in zip(fresh, again, strict=True))
