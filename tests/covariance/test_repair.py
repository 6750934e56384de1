"""Tests of covariances that miss being semidefinite by single precision: values and bounds are as given."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

import nspca
from nspca.components import explained_variances
from nspca.covariance.inputs import SINGLE
from nspca.errors import CertificateError, InvalidOption, InvalidProblem
from tests.oracles import brute_force


def rounded(n: int, rank: int, seed: int, scale: float = 1.0) -> np.ndarray:
    """A correlation matrix of low rank in single precision, with eigenvalues below zero."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rank, n)) * rng.uniform(0.5, 2, n)
    A = X.T @ X
    A /= np.sqrt(np.outer(np.diag(A), np.diag(A)))
    A = (scale * A).astype(np.float32).astype(np.float64)
    A = (A + A.T) / 2
    assert np.linalg.eigvalsh(A)[0] < -1e-9 * scale
    return A


@pytest.mark.parametrize("nonneg", [False, True])
@pytest.mark.parametrize(("effort", "scale"), [("fast", 700.0), ("standard", 1.0), ("exhaustive", 3e-5)])
def test_value_and_bound_are_of_the_matrix_as_given(nonneg, effort, scale):
    A = rounded(7, 4, int(nonneg), scale)
    for k in (2, 4):
        problem = nspca.Problem.from_covariance(A, k, nonneg=nonneg, repair="shift")
        result = nspca.solve(problem, certify=effort)
        x, best = result.components[:, 0], brute_force(A, k, nonneg)[0]
        assert result.value == pytest.approx(x @ A @ x, rel=1e-13)
        assert result.value <= best * (1 + 1e-12)
        assert result.certificate.upper >= best * (1 - 1e-14)
        assert best <= nspca.verify(A, result.certificate, problem) <= result.certificate.upper
        if effort == "exhaustive":
            assert result.status is nspca.Status.OPTIMAL and result.value == pytest.approx(best, rel=1e-9)


def test_all_features_leave_the_leading_eigenvalue_as_given():
    A = rounded(8, 3, 1)
    problem = nspca.Problem.from_covariance(A, 8, nonneg=False, repair="shift")
    assert problem.leading_eigenvalue == pytest.approx(np.linalg.eigvalsh(A)[-1], rel=1e-12)
    assert problem.total_variance == pytest.approx(np.trace(A), rel=1e-12)
    result = nspca.solve(problem, certify="fast")
    assert result.value == pytest.approx(problem.leading_eigenvalue, rel=1e-12)
    assert problem.leading_eigenvalue <= result.certificate.upper <= problem.leading_eigenvalue * (1 + 1e-9)


def test_components_together_are_relieved_once_each():
    A = rounded(6, 3, 2)
    problem = nspca.Problem.from_covariance(A, (2, 2), nonneg=False, repair="shift")
    result = nspca.solve(problem, certify="standard")
    best = max(
        np.linalg.eigvalsh(A[np.ix_(one, one)])[-1] + np.linalg.eigvalsh(A[np.ix_(other, other)])[-1]
        for one in combinations(range(6), 2)
        for other in combinations(sorted({*range(6)} - {*one}), 2)
    )
    assert result.value <= best * (1 + 1e-12) <= result.certificate.upper * (1 + 2e-12)
    assert best <= nspca.verify(A, result.certificate) * (1 + 1e-14)
    total = explained_variances(problem, result.components)["total"][-1]
    assert total == pytest.approx(np.trace(result.components.T @ A @ result.components), rel=1e-13)


def test_a_certificate_without_its_shift_or_with_a_larger_one_proves_nothing():
    A = rounded(7, 4, 0)
    problem = nspca.Problem.from_covariance(A, 3, repair="shift")
    proof = nspca.solve(problem, certify="exhaustive").certificate
    assert proof.shift > 0
    assert nspca.Certificate.from_bytes(proof.to_bytes()).shift == proof.shift
    best = Fraction(brute_force(A, 3, True)[0])
    for shift in (0.0, proof.shift * 2**20, 0.25, 1e300, float("1e308")):
        forged = replace(proof, shift=shift)
        try:
            assert Fraction(nspca.verify(A, forged)) >= best * (1 - Fraction(1, 10**13))
        except CertificateError:
            continue
    with pytest.raises(CertificateError, match="no finite number"):
        replace(proof, shift=float("nan"))
    data = nspca.solve(nspca.Problem.from_data(np.random.default_rng(0).random((9, 5)), 2), certify="fast")
    with pytest.raises(CertificateError, match="only a covariance may have a shift"):
        nspca.verify(np.random.default_rng(0).random((9, 5)), replace(data.certificate, shift=1e-8))


def test_a_diagonal_that_the_shift_rounds_is_relieved_by_what_was_added():
    """Entries far below the shift make ``fl(d + s) - d`` differ from feature to feature."""
    A = rounded(6, 3, 5)
    A[0, :] *= 1e-12 / 3
    A[:, 0] *= 1e-12 / 3
    A[0, 0] = 1e-25
    problem = nspca.Problem.from_covariance(A, 2, nonneg=False, repair="shift")
    result = nspca.solve(problem, certify="exhaustive")
    best = brute_force(A, 2, False)[0]
    assert best <= nspca.verify(A, result.certificate) <= result.certificate.upper
    assert result.value == pytest.approx(best, rel=1e-12)


def test_the_error_names_the_option_where_it_helps_and_only_there():
    A = rounded(9, 4, 3)
    with pytest.raises(InvalidProblem, match='repair="shift"'):
        nspca.Problem.from_covariance(A, 2)
    wrong = A - 10 * len(A) * SINGLE * np.eye(9)
    for repair in (None, "shift"):
        with pytest.raises(InvalidProblem, match=r"give the data instead, or A \+"):
            nspca.Problem.from_covariance(wrong, 2, repair=repair)
    with pytest.raises(InvalidOption, match="repair"):
        nspca.Problem.from_covariance(A, 2, repair="clip")


def test_a_matrix_that_needs_no_repair_is_left_alone():
    A = nspca.load_sample("pitprops").X
    plain, repaired = (nspca.Problem.from_covariance(A, 4, repair=repair) for repair in (None, "shift"))
    assert repaired.covariance.shift == 0 == repaired.covariance.relief
    assert np.array_equal(plain.covariance.A, repaired.covariance.A)


def test_membership_bounds_hold_for_the_matrix_as_given():
    A = rounded(7, 4, 4)
    problem = nspca.Problem.from_covariance(A, 3, repair="shift")
    result = nspca.solve(problem, certify="standard")
    found = nspca.membership(problem, result)
    for i in range(7):
        others = [j for j in range(7) if j != i]
        assert found.upper_without[i] >= brute_force(A[np.ix_(others, others)], 3, True)[0] * (1 - 1e-14)
        assert found.value_without[i] <= brute_force(A[np.ix_(others, others)], 3, True)[0] * (1 + 1e-12)


@pytest.mark.visit
def test_a_published_matrix_in_single_precision_is_taken(nspca_data):
    with np.load(nspca_data / "published_covariances.npz", allow_pickle=False) as held:
        A = np.nan_to_num(held["normArrhythmia"]).astype(np.float32).astype(np.float64)
    with pytest.raises(InvalidProblem, match='repair="shift"'):
        nspca.Problem.from_covariance(A, 5)
    problem = nspca.Problem.from_covariance(A, 5, nonneg=False, repair="shift")
    result = nspca.solve(problem, certify="fast")
    assert result.value == pytest.approx(4.2332035, rel=1e-7)  # printed as the optimum: 4.2321
    assert nspca.verify(A, result.certificate, problem) <= result.certificate.upper
