"""Forced features: solved, bounded, certified and refused, against brute force."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

import nspca
from nspca.bounds import elimination
from nspca.bounds.plan import PLANS
from nspca.errors import InvalidOption, InvalidProblem
from nspca.solvers import METHODS
from nspca.solving import line_of
from tests.oracles import brute_force, brute_force_forced
from tests.strategies import cases, counts

TAKE = ["auto", *(name for name, line in METHODS.items() if line.forced)]
X = np.random.default_rng(4).standard_normal((20, 6)) * [1, 3, 1, 2, 1, 0.1]


def drawn(case, rng):
    """Return features that may be forced in a case: any number of them up to its k."""
    return tuple(sorted(rng.permutation(len(case.V))[: rng.integers(0, case.k + 1)].tolist()))


def test_which_methods_take_them():
    assert TAKE == ["auto", "cone", "spanspca", "tpower", "greedy"]


@pytest.mark.parametrize(("method", "nonneg"), list(itertools.product(TAKE, (True, False))))
@counts(20, 600)
def test_value_brute_force_upper_in_that_order(method, nonneg, count):
    """Ties, duplicates, zero rows, negative correlations, rank 1 are among the kinds of case."""
    if not line_of(method).has_form(nonneg):
        return
    rng = np.random.default_rng(3)
    for case in cases(count, n_max=6 if count == 20 else 8, ranks=(1, 2, 3, 8), seed=21):
        A, forced = case.V @ case.V.T, drawn(case, rng)
        problem = nspca.Problem.from_covariance(A, case.k, nonneg, forced)
        result = nspca.solve(problem, method, certify=str(rng.choice(["fast", "standard"])))
        assert problem.violation(result.components[:, 0]) <= 1e-12
        optimum, upper = brute_force_forced(A, case.k, forced, nonneg), result.certificate.upper
        assert result.value <= optimum + 1e-9 * max(optimum, 1e-300)
        assert optimum <= upper * (1 + 1e-12)
        assert optimum <= nspca.verify(A, result.certificate, problem) * (1 + 1e-12) <= upper * (1 + 2e-12)
        if method == "auto":
            assert result.value >= optimum * (1 - 1e-7), (case, forced)


def test_more_features_than_are_branched_on():
    """The forced ones are among the rows that are kept, and alone where there is no room for others."""
    data = np.random.default_rng(0).standard_normal((40, 150)) * np.linspace(2, 0.2, 150)
    A = np.cov(data.T, bias=True)
    for nonneg, k in itertools.product((True, False), (2, 6)):
        problem = nspca.Problem.from_data(data, k, nonneg, forced=(140, 149))
        result = nspca.solve(problem)
        assert set(np.flatnonzero(result.components)) - {140, 149} <= set(range(140))
        assert nspca.verify(data, result.certificate, problem) >= result.value
        if k == 2:
            assert result.value == pytest.approx(brute_force(A[140::9, 140::9], 2, nonneg)[0])
            assert result.ratio > 1 - 1e-8
    kept = elimination.keep(nspca.Problem.from_data(data, 6, forced=(140, 149)), 20)
    assert list(kept.features[:2]) == [140, 149] and kept.fixed == 2 and 15 < kept.features.size <= 22
    unit = nspca.Problem.from_data(data, 1).covariance.unit
    assert np.delete(A, kept.features, 0).max() <= kept.floor * unit


def test_more_are_forced_than_rows_are_kept():
    most = PLANS["fast"].rows[-1]
    data = np.random.default_rng(0).standard_normal((12, most + 30))
    problem = nspca.Problem.from_data(data, most + 20, forced=range(most + 10))
    result = nspca.solve(problem)
    assert result.value <= nspca.verify(data, result.certificate, problem) <= result.certificate.upper


def test_the_problem_says_what_is_forced():
    problem = nspca.Problem.from_data(X, 4, forced=np.array([5, 0, 5]))
    assert problem.forced == (0, 5) and problem.room == 2 and list(problem.usable) == [0, 5, 1, 2, 3, 4]
    assert list(nspca.Problem.from_data(sp.csr_array(X), 2, forced={0, 5}).usable) == [0, 5]
    assert problem.with_k(2).forced == (0, 5) and nspca.Problem.from_data(X, 4).forced == ()
    x = np.array([0.0, 1, 1, 0, 0, 0]) / np.sqrt(2)
    assert problem.violation(x) <= 1e-15 and nspca.Problem.from_data(X, 3, forced=(0, 5)).violation(x) > 0.7
    assert problem.violation(np.array([1.0, 1, 1, 0, 0, 1]) / 2) <= 1e-15


@pytest.mark.parametrize(
    ("forced", "said"),
    [
        ((6,), "numbers from 0 to 5, got 6"),
        ((-1, 2), "numbers from 0 to 5, got -1"),
        ((True,), "numbers from 0 to 5, got True"),
        ((1.0,), "numbers from 0 to 5, got 1.0"),
        ("12", "numbers from 0 to 5, got '12'"),
        (None, "numbers from 0 to 5, got None"),
        ((10**5000,), "numbers from 0 to 5, got "),
        ((0, 1, 2, 3), "it must be at least 4, got 3; force fewer"),
    ],
)
def test_what_cannot_be_forced_is_one_sentence(forced, said):
    with pytest.raises(InvalidProblem, match=said):
        nspca.Problem.from_data(X, 3, forced=forced)


def test_several_components_and_small_k_are_refused():
    problem = nspca.Problem.from_data(X, 3, forced=(0, 1))
    for call in (
        lambda: problem.with_k((2, 2)),
        lambda: nspca.certify(problem, components=2),
        lambda: nspca.solve(problem, "joint", components=2),
    ):
        with pytest.raises(InvalidProblem, match="forced into one component, got sizes"):
            call()
    for method in ("auto", "greedy"):
        with pytest.raises(InvalidOption, match="forced into one component, got components = 2"):
            nspca.solve(problem, method, components=2)
    with pytest.raises(InvalidProblem, match="k counts the forced features, so it must be at least 2, got 1"):
        nspca.sweep(problem, range(1, 4))


@pytest.mark.parametrize("method", [name for name in METHODS if name not in TAKE])
def test_other_methods_refuse_in_one_sentence(method):
    nonneg = METHODS[method].nonneg
    problem = nspca.Problem.from_data(np.abs(X), 3, nonneg, forced=(0, 1))
    with pytest.raises(
        InvalidOption, match=f"{method} has no way to keep features in, got 2 forced; choose auto"
    ):
        nspca.solve(problem, method)
    assert "keep features in" in METHODS[method].refusal(problem)


def test_a_known_answer_counts_the_forced_features():
    problem = nspca.Problem.from_data(X, 3, forced=(0, 5))
    plain = nspca.solve(nspca.Problem.from_data(X, 3))
    with pytest.raises(InvalidProblem, match="at most k = 3 nonzero weights, got \\[5\\]"):
        nspca.certify(problem, plain)
    assert nspca.certify(problem, nspca.solve(problem)).forced == (0, 5)


@pytest.mark.parametrize(
    ("forced", "k", "said"),
    [
        (
            (3, 5),
            6,
            "of the centred data that may use features 4 and 6 and at most 4 more explains more than",
        ),
        ((0, 3, 5), 3, "that may use features 1, 4 and 6 and no others explains more than"),
        ((3,), 2, "that may use feature 4 and at most 1 more explains more than"),
    ],
)
def test_the_statement_names_them(forced, k, said):
    assert said in nspca.solve(nspca.Problem.from_data(X, k, forced=forced)).certificate.statement


def test_small_features_of_a_covariance_that_is_symmetric_up_to_rounding():
    """The remainder of A is far below the entries outside, whose rounding errors do not enter it."""
    for seed in range(16):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 8))
        V = rng.standard_normal((n, n)) * 10.0 ** rng.integers(-7, 1, n)[:, None]
        A = V @ V.T * (1 + 1e-16 * rng.integers(-2, 3, (n, n)))
        for forced in ((int(np.argmin(A.diagonal())),), tuple(np.argsort(A.diagonal())[:2])):
            problem = nspca.Problem.from_covariance(A, len(forced), bool(seed % 2), forced)
            result = nspca.solve(problem)
            assert result.value <= nspca.verify(A, result.certificate, problem) <= result.certificate.upper


@pytest.mark.parametrize("nonneg", [True, False])
def test_features_that_are_nearly_nothing_alone(nonneg):
    X = np.random.default_rng(0).standard_normal((20, 300)) * np.r_[np.full(5, 1e-100), np.ones(295)]
    problem = nspca.Problem.from_data(X, 5, nonneg, forced=range(5))
    result = nspca.solve(problem, certify="fast")
    assert result.value <= nspca.verify(X, result.certificate, problem) <= result.certificate.upper


def test_a_feature_without_variance_alone():
    A = np.array([[0.0, 1e-9], [1e-9, 1.0]])
    problem = nspca.Problem.from_covariance(A, 1, forced=(0,))
    result = nspca.solve(problem)
    assert result.value == 0.0 == nspca.verify(A, result.certificate, problem)
    data = np.column_stack((np.ones(9), np.arange(9.0), np.arange(9) ** 2.0))
    problem = nspca.Problem.from_data(data, 1, forced=(0,))
    assert nspca.verify(data, nspca.solve(problem).certificate, problem) == 0.0
