"""The contract of every method: feasible, deterministic, below brute force, cancellable, named errors."""

import math

import numpy as np
import pytest
import scipy.sparse as sp

import nspca
from nspca.errors import InvalidOption
from nspca.solvers import METHODS
from nspca.solving import line_of
from tests.cancelling import cancelled
from tests.oracles import brute_force
from tests.strategies import cases, counts

NAMES = ["auto", *METHODS]


def able(method, nonneg):
    return line_of(method).has_form(nonneg)


def problem_of(method, case, nonneg):
    """Return a problem with A = VV', and its matrix, or data where the method needs them."""
    if line_of(method).needs_data:
        X = case.V.T * math.sqrt(case.V.shape[1])
        return nspca.Problem.from_data(X, case.k, nonneg, center=False), X
    A = case.V @ case.V.T
    return nspca.Problem.from_covariance(A, case.k, nonneg), A


def pairs():
    return [(m, s) for m in NAMES for s in (True, False) if able(m, s)]


def check(problem, A, result):
    """Test the contract of one answer; `A` is in the user's units. A wrong method below must fail it."""
    x = result.components[:, 0]
    assert problem.violation(x) <= 1e-12
    optimum, _ = brute_force(A, problem.k, problem.nonneg)
    size = max(optimum, 1e-300)
    assert np.isclose(result.value, x @ A @ x, rtol=1e-9, atol=1e-14 * size)
    assert result.value <= optimum + 1e-9 * size
    assert optimum <= result.certificate.upper * (1 + 1e-12)
    assert 0 <= result.ratio <= 1


WHOLE = 2
"""Cases of each method that are solved and proved in one call."""
FOUND: dict[tuple, nspca.Certificate] = {}
"""Certificates of the other cases: a proof depends on the value of an answer, not on the method."""


def certificate_of(case, source, problem, result):
    key = (*case, problem.nonneg)
    if key not in FOUND:
        FOUND[key] = nspca.certify(problem, result, effort="fast")
        assert nspca.verify(source, FOUND[key]) <= FOUND[key].upper
    return FOUND[key]


@pytest.mark.parametrize(("method", "nonneg"), pairs())
@counts(20, 80)
def test_value_brute_force_upper_in_that_order(method, nonneg, count):
    for number, case in enumerate(cases(count, n_max=8 if count > 20 else 6, ranks=(1, 2, 3, 8), seed=7)):
        problem, source = problem_of(method, case, nonneg)
        if number < WHOLE:
            result = nspca.solve(problem, method)
            assert nspca.verify(source, result.certificate) <= result.certificate.upper
        else:
            result = nspca.solve(problem, method, certify=None)
            value = f"{result.value:.9e}"
            found = (count, number, line_of(method).needs_data, value)
            result = result.with_certificate(certificate_of(found, source, problem, result))
        check(problem, case.V @ case.V.T, result)


@pytest.mark.parametrize("nonneg", [True, False])
def test_the_contract_catches_dense_pca(nonneg):
    A = np.cov(np.random.default_rng(0).standard_normal((20, 6)), rowvar=False)
    problem = nspca.Problem.from_covariance(A, 2, nonneg)
    planted = nspca.Result.of(problem, np.linalg.eigh(A)[1][:, -1], nspca.Status.HEURISTIC, "planted")
    with pytest.raises(AssertionError):
        check(problem, A, planted.with_certificate(nspca.certify(problem)))


@pytest.mark.parametrize(
    ("method", "nonneg"), [(m, s) for m, s in pairs() if m != "auto" and METHODS[m].exact]
)
@counts(20, 60)
def test_exact_methods_reach_brute_force_on_their_ground(method, nonneg, count):
    for case in cases(count, ranks=(1, 2, 3), seed=11):
        A = case.V @ case.V.T
        optimum, _ = brute_force(A, case.k, nonneg)
        result = nspca.solve(
            nspca.Problem.from_covariance(A, case.k, nonneg), method, rank=3, polish=False, certify=None
        )
        assert result.value >= optimum * (1 - 1.1e-3), case


PROVED = ("auto", "threshold", "pca")
"""Methods whose answers are proved where a test is about one answer: the proofs of others are like theirs."""


@pytest.mark.parametrize(("method", "nonneg"), pairs())
@pytest.mark.parametrize("shape", [(6, 12), pytest.param((40, 9), marks=pytest.mark.long)])
def test_same_answer_for_dense_and_sparse_and_at_any_scale(method, nonneg, shape):
    X = np.random.default_rng(3).poisson(1.0, shape).astype(float)
    certify = "fast" if method in PROVED else None

    def run(data):
        return nspca.solve(nspca.Problem.from_data(data, 4, nonneg), method, certify=certify, seed=5)

    plain = run(X)
    again, sparse, large, tiny = run(X), run(sp.csc_matrix(X)), run(X * 2.0**400), run(X * 2.0**-400)
    assert np.array_equal(plain.components, again.components) and np.isclose(sparse.value, plain.value)
    assert np.array_equal(large.components, plain.components) and large.value == plain.value * 2.0**800
    assert np.array_equal(tiny.components, plain.components)
    if certify is None:
        return
    assert plain.certificate.upper == again.certificate.upper
    assert np.isclose(sparse.certificate.upper, plain.certificate.upper, rtol=1e-6)
    assert tiny.certificate.upper == plain.certificate.upper * 2.0**-800
    for data, result in (
        (X, plain),
        (sp.csc_matrix(X), sparse),
        (X * 2.0**400, large),
        (X * 2.0**-400, tiny),
    ):
        assert nspca.verify(data, result.certificate) >= result.value


@pytest.mark.parametrize(("method", "nonneg"), pairs())
def test_permuting_features_permutes_the_answer(method, nonneg):
    X = np.random.default_rng(4).standard_normal((50, 10)) * np.linspace(2, 1, 10)
    order = np.random.default_rng(5).permutation(10)
    one = nspca.solve(nspca.Problem.from_data(X, 3, nonneg), method, certify=None)
    two = nspca.solve(nspca.Problem.from_data(X[:, order], 3, nonneg), method, certify=None)
    assert np.isclose(one.value, two.value, rtol=1e-6)
    assert set(np.flatnonzero(one.components[:, 0])) == set(order[np.flatnonzero(two.components[:, 0])])


@pytest.mark.parametrize(("method", "nonneg"), pairs())
def test_a_path_over_k_is_the_single_answers_and_polish_never_lowers(method, nonneg):
    line = line_of(method)
    polished = [{"polish": True}, {"polish": False}] if "polish" in line.Options.__dataclass_fields__ else []
    for case in cases(20, n_max=7, seed=2):
        problem, _ = problem_of(method, case, nonneg)
        if method in ("greedy", "threshold"):
            path = nspca.sweep(problem, range(1, problem.n + 1), method, certify=None)
            for k in range(1, problem.n + 1):
                one = nspca.solve(problem.with_k(k), method, certify=None)
                assert np.array_equal(path[method, k].components, one.components)
        values = [nspca.solve(problem, method, certify=None, **options).value for options in polished]
        assert values == [] or values[0] >= values[1] * (1 - 1e-12)


@pytest.mark.parametrize("method", [m for m in NAMES if able(m, False)])
def test_flipping_signs_of_columns_keeps_the_signed_value(method):
    X = np.random.default_rng(6).standard_normal((50, 8))
    signs = np.array([1, -1, 1, 1, -1, -1, 1, -1.0])
    options = {"samples": 20000} if method == "epsnet" else {}  # its random points do not flip with the data
    one = nspca.solve(nspca.Problem.from_data(X, 3, False), method, certify=None, **options)
    two = nspca.solve(nspca.Problem.from_data(X * signs, 3, False), method, certify=None, **options)
    assert np.isclose(one.value, two.value, rtol=1e-6)


@pytest.mark.parametrize("method", NAMES)
def test_cancel_stops_within_one_report(method):
    X = np.random.default_rng(7).standard_normal((80, 60))
    problem = nspca.Problem.from_data(X, 6, able(method, True))
    assert len(cancelled(nspca.solve, problem, method)[1]) == 1


@pytest.mark.parametrize("method", NAMES)
def test_unknown_options_are_named(method):
    problem = nspca.Problem.from_data(np.eye(4), 2, able(method, True))
    with pytest.raises(InvalidOption, match=f"{method} has no option 'ranc'; its options are"):
        nspca.solve(problem, method, ranc=3)


@pytest.mark.parametrize("method", NAMES)
def test_several_components_share_no_feature(method):
    X = np.random.default_rng(8).standard_normal((30, 12))
    problem = nspca.Problem.from_data(X, 3, able(method, True))
    result = nspca.solve(problem, method, components=3, certify=None)
    assert result.components.shape == (12, 3) and np.all((result.components != 0).sum(axis=1) <= 1)
    assert np.isclose(result.value, result.values.sum())


@pytest.mark.parametrize("method", NAMES)
def test_events_carry_progress(method):
    events = []
    X = np.random.default_rng(9).standard_normal((200, 50))
    # With few dimensions these methods report nothing before the proof.
    certify = "fast" if method in ("auto", "cone") else None
    problem = nspca.Problem.from_data(X, 5, able(method, True))
    nspca.solve(problem, method, certify=certify, report=events.append)
    assert events and all(isinstance(event, nspca.Event) and event.stage for event in events)


@pytest.mark.parametrize("method", NAMES)
def test_an_answer_survives_storage(method):
    X = np.random.default_rng(10).standard_normal((30, 9))
    result = nspca.solve(nspca.Problem.from_data(X, 3, able(method, True)), method, certify=None)
    again = nspca.Result.from_bytes(result.to_bytes())
    assert np.array_equal(again.components, result.components) and again.info == result.info


@pytest.mark.parametrize("nonneg", [True, False])
def test_auto_is_never_below_a_method(pitprops, nonneg):
    problems = [nspca.Problem.from_covariance(pitprops, k, nonneg) for k in (2, 5, 13)]
    for problem in (*problems, nspca.Problem.from_data(nspca.load_sample("digits").X, 25, nonneg)):
        best = nspca.solve(problem, certify=None).value
        for method, line in METHODS.items():
            if line.refusal(problem) is None and method != "spannogram":  # minutes
                found = nspca.solve(problem, method, certify=None).value
                assert found <= best * (1 + 1e-9), (method, problem.k)


# At k = 9 no start of em gets there: soft thresholding weighs small entries down.
SIGNED = {4: 2.93748, 5: 3.40615, 6: 3.77096, 7: 3.99619, 8: 4.06861, 9: 4.13865, 10: 4.17264}


@pytest.mark.parametrize("method", ["em", "greedy", "tpower"])
def test_pitprops_signed(pitprops, method):
    for k, optimum in (SIGNED | ({9: 4.11593} if method == "em" else {})).items():
        problem = nspca.Problem.from_covariance(pitprops, k, nonneg=False)
        assert round(nspca.solve(problem, method, certify=None).value, 5) == optimum


WIDE = [(method, nonneg) for method, nonneg in pairs() if method in ("em", "greedy", "tpower", "coordinate")]


@pytest.mark.parametrize(("method", "nonneg"), WIDE)
def test_wide_data_never_form_the_matrix(nothing_large, method, nonneg):
    X = np.random.default_rng(5).standard_normal((20, 6_000))
    few = {"restarts": 1} | ({"iterations": 3} if method == "coordinate" else {})
    result = nspca.solve(nspca.Problem.from_data(X, 50, nonneg), method, certify=None, **few)
    assert result.components.any() and np.count_nonzero(result.components) <= 50


@pytest.mark.parametrize("nonneg", [True, False])
def test_components_together_never_form_the_matrix_either(nothing_large, nonneg):
    X = np.random.default_rng(0).standard_normal((20, 5000))
    problem = nspca.Problem.from_data(X, (10, 10), nonneg)
    result = nspca.solve(problem, "joint", restarts=2, iterations=1, certify=None)
    assert (np.count_nonzero(result.components, axis=0) == 10).all()
