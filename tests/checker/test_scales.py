"""Columns of any size beside each other: what is proved is true of the data in exact arithmetic.

A large constant column must not hide small ones that vary, and columns whose squares are no floats have sizes
that are not 0.
"""

import itertools
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import nspca
from nspca.result import Status
from tests.rowblocks import InMemory

KINDS = {"dense": np.asarray, "sparse": sp.csr_array, "blocks": lambda X: InMemory(sp.csr_array(X), 3)}


def problem_of(data, *args, **words):
    make = nspca.Problem.from_shards if isinstance(data, InMemory) else nspca.Problem.from_data
    return make(data, *args, **words)


def covariance(X, center):
    """Return the covariance matrix A in rational numbers."""
    m = len(X)
    columns = [[Fraction(float(x)) for x in column] for column in X.T]
    means = [sum(column) / m if center else Fraction(0) for column in columns]
    columns = [[x - mean for x in column] for column, mean in zip(columns, means, strict=True)]
    return [[sum(a * b for a, b in zip(x, y, strict=True)) / m for y in columns] for x in columns]


def reached(A, J, nonneg):
    """Return the exact value of a good vector on the features J, or on some of them."""
    best = max((A[j][j] for j in J), default=Fraction(0))
    for I in (I for size in range(2, len(J) + 1) for I in itertools.combinations(J, size)):
        top = max(A[i][i] for i in I)
        if not top:
            continue
        y = np.linalg.eigh([[float(A[i][j] / top) for j in I] for i in I])[1][:, -1]
        for part in (y, -y) if nonneg else (y,):
            x = [Fraction(float(value)) for value in (np.maximum(part, 0) if nonneg else part)]
            square = sum(value * value for value in x)
            if square:
                value = sum(
                    a * A[i][j] * b for a, i in zip(x, I, strict=True) for b, j in zip(x, I, strict=True)
                )
                best = max(best, value / square)
    return best


def optimum(A, k, nonneg, forced=(), having=None, lacking=None):
    """Return the largest value of all supports, and of those with, and without, each feature."""
    best, others = Fraction(0), [j for j in range(len(A)) if j not in forced]
    for chosen in itertools.combinations(others, min(k - len(forced), len(others))):
        if having is None or having in (*chosen, *forced):
            best = max(best, reached(A, [j for j in (*forced, *chosen) if j != lacking], nonneg))
    return best


def hostile(rng):
    """A small table whose columns have sizes from 1e-300 to 1e300, some of them constant or nearly so."""
    m, n = int(rng.integers(2, 6)), int(rng.integers(1, 5))
    X = rng.standard_normal((m, n)) if rng.random() < 0.5 else rng.integers(-2, 3, (m, n)).astype(float)
    for j in range(n):
        power, kind = rng.uniform(-rng.choice([10, 150, 300]), 150), rng.integers(5)
        factor = 10.0**power if rng.random() < 0.5 else 2.0 ** int(power * 3.32)
        if kind == 0:
            X[:, j] = rng.choice([1.0, -1.0, 0.1, 1 / 3])
        elif kind == 1:
            X[:, j] = 1 + X[:, j] * 10.0 ** -rng.integers(1, 17)
        X[:, j] *= factor
    return X


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [8, pytest.param(600, marks=pytest.mark.long)])
def test_what_is_proved_and_reached_is_true_in_exact_arithmetic(kind, count):
    solved = 0
    for seed in range(count):
        rng = np.random.default_rng(seed)
        X = hostile(rng)
        center, nonneg, k = rng.random() < 0.8, rng.random() < 0.5, int(rng.integers(1, X.shape[1] + 1))
        forced = tuple(range(int(rng.integers(k + 1)))) if rng.random() < 0.3 else ()
        data = KINDS[kind](X)
        try:
            problem = problem_of(data, k, nonneg=bool(nonneg), center=bool(center), forced=forced)
        except nspca.InvalidProblem as error:
            assert "must fit float64" in str(error)
            continue
        result = nspca.solve(problem)
        A, solved = covariance(X, center), solved + 1
        best, least = optimum(A, k, nonneg, forced), Fraction(2) ** -1072  # below it floats have no digits
        assert best <= Fraction(nspca.verify(data, result.certificate, problem))
        assert Fraction(result.value) <= best * (1 + Fraction(1, 10**9)) + least
        if result.status is Status.OPTIMAL:
            assert Fraction(result.value) >= best * (1 - Fraction(1, 10**6)) - least
        known = nspca.membership(problem, result, effort="fast")
        nspca.verify(data, known.certificate, problem)
        for j in range(problem.n):
            lacking = optimum(A, k, nonneg, forced, lacking=j)
            assert lacking <= Fraction(float(known.upper_without[j]))
            assert Fraction(float(known.value_without[j])) <= lacking * (1 + Fraction(1, 10**9)) + least
            if j in forced or len(forced) < k:
                assert optimum(A, k, nonneg, forced, having=j) <= Fraction(float(known.upper_with[j]))
    assert solved > count / 2


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("m", [7, 8])
def test_a_large_constant_column_hides_nothing(kind, m):
    """A column of 1e-15 beside a constant 1e148 has variance 1e-30, which must not be proved to be 0."""
    signs = np.where(np.arange(m) % 2, 1.0, -1.0)
    data = KINDS[kind](np.column_stack([np.full(m, 1e148), 1e-15 * signs]))
    for k in (1, 2):
        problem = problem_of(data, k)
        result = nspca.solve(problem)
        assert result.value == pytest.approx(1e-30 * np.var(signs)) and result.ratio > 0.999999
        assert nspca.verify(data, result.certificate, problem) >= 1e-30 * np.var(signs)
        assert result.components[:, 0].tolist() == [0.0, 1.0]


@pytest.mark.parametrize("kind", KINDS)
def test_constant_columns_explain_nothing_whatever_their_mean_rounds_to(kind):
    """The mean of seven times 0.1 is not 0.1 in float64."""
    X = np.column_stack([np.full(7, 0.1 * 2.0**60), np.arange(7) * 1e-30, np.full(7, 1e300), np.zeros(7)])
    data = KINDS[kind](X)
    problem = problem_of(data, 1, forced=(0,))
    result = nspca.solve(problem)
    assert result.value == 0 == nspca.verify(data, result.certificate, problem)
    whole = problem_of(data, 4)
    assert whole.total_variance == pytest.approx(4e-60)
    found = nspca.solve(whole)
    assert nspca.verify(data, found.certificate, whole) == pytest.approx(4e-60)
    assert np.abs(whole.scores(found.components)).max() == pytest.approx(3e-30)
    nothing = problem_of(KINDS[kind](X[:, [0, 2, 3]]), 2)
    assert nspca.solve(nothing).certificate.upper == 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("small", [1e-160, 1e-170, 1e-250])
def test_small_columns_that_are_orthogonal_to_all_others_are_not_proved_to_be_nothing(kind, small):
    """Their products with the large columns are 0, and their squares underflow."""
    X = np.array([[1.0, 1.0], [-1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]]) * [1e60, small * 1e60]
    data = KINDS[kind](X)
    problem = problem_of(data, 1, forced=(1,))
    certificate = nspca.solve(problem).certificate
    assert Fraction(X[0, 1]) ** 2 <= Fraction(nspca.verify(data, certificate, problem))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [3, pytest.param(40, marks=pytest.mark.long)])
def test_squares_that_lose_digits_are_not_told_as_values(kind, count):
    """A variance of some 1e-318 at unit scale has six digits, rounded up as often as down."""
    for seed in range(count):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((5, 2)) * [1.0, 10.0 ** -rng.uniform(152, 162)]
        data, A = KINDS[kind](X), covariance(X, center=True)
        problem = problem_of(data, 1, forced=(1,))
        assert Fraction(nspca.solve(problem).value) <= A[1][1]
        whole = problem_of(data, 1)
        known = nspca.membership(whole, nspca.solve(whole), effort="fast")
        assert Fraction(float(known.value_without[0])) <= A[1][1]
        assert A[1][1] <= Fraction(float(known.upper_without[0]))


def test_blocks_and_the_table_in_memory_have_one_scale():
    rng = np.random.default_rng(3)
    for _ in range(4):
        X = np.column_stack([hostile(rng)[:2], [[1e140], [1e140]], [[1.0], [2.0]]])
        sparse, blocks = sp.csr_array(X), InMemory(sp.csr_array(X), 1)
        of_sparse, of_blocks = problem_of(sparse, 1), problem_of(blocks, 1)
        assert of_sparse.covariance.exponent == of_blocks.covariance.exponent
        for data in (sparse, blocks):
            for problem in (of_sparse, of_blocks):
                nspca.verify(data, nspca.solve(problem).certificate, problem)
