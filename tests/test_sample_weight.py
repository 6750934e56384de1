"""Weights of samples: brute force against repeated rows, certificates, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import nspca
from nspca.errors import CertificateError, InvalidProblem

WHOLE = np.array([0, 1, 3, 2, 0, 1, 1, 4, 2, 1, 5, 1, 0, 2, 1, 1, 3, 1, 2, 1])
"""Weights of 20 samples, as numbers of repetitions."""


def table(kind: str, seed: int = 0) -> np.ndarray:
    """Return 20 x 7 numbers, in each column some values that vary."""
    rng = np.random.default_rng(seed)
    if kind == "far":
        return rng.normal(size=(20, 7)) + 1e5 * np.arange(7)
    X = rng.poisson(2.0, (20, 7)).astype(float)
    X[:, :4] *= rng.random((20, 4)) < 0.3
    X[[1, 2, 3, 5], :] += np.eye(4, 7)
    return X


def as_kind(X: np.ndarray, kind: str):
    return sp.csr_array(X) if kind == "sparse" else X


def matrix(problem: nspca.Problem) -> np.ndarray:
    return problem.covariance.product(np.eye(problem.n)) * problem.covariance.unit


@pytest.mark.parametrize(
    ("kind", "center", "scale"),
    [
        ("dense", True, False),
        ("dense", False, True),
        ("far", True, True),
        ("far", False, False),
        ("sparse", True, False),
        ("sparse", True, True),
        ("sparse", False, False),
    ],
)
def test_whole_weights_are_repeated_rows(kind, center, scale):
    """The matrix is that of the definition, and of the table with repeated rows; the checker agrees."""
    X, how = table(kind), {"center": center, "scale": scale}
    problem = nspca.Problem.from_data(as_kind(X, kind), 3, **how, sample_weight=WHOLE)
    repeated = nspca.Problem.from_data(as_kind(np.repeat(X, WHOLE, axis=0), kind), 3, **how)
    far = 1e-9 if kind == "far" else 1e-13
    np.testing.assert_allclose(matrix(problem), matrix(repeated), rtol=far, atol=far)
    Z = X - (WHOLE @ X / WHOLE.sum() if center else 0.0)
    deviations = np.sqrt(WHOLE @ (X - WHOLE @ X / WHOLE.sum()) ** 2 / WHOLE.sum())
    Z = Z / deviations if scale else Z
    defined = (Z.T * WHOLE) @ Z / WHOLE.sum()
    np.testing.assert_allclose(matrix(problem), defined, rtol=1e-8 if kind == "far" else 1e-12, atol=1e-9)
    result, other = nspca.solve(problem), nspca.solve(repeated)
    assert result.value == pytest.approx(other.value, rel=1e-9)
    assert result.certificate.upper == pytest.approx(other.certificate.upper, rel=1e-9)
    upper = nspca.verify(as_kind(X, kind), result.certificate, problem, sample_weight=WHOLE)
    assert result.value <= upper * (1 + 1e-12) <= result.certificate.upper * (1 + 2e-12)


def test_an_implicitly_centred_sparse_table_is_weighted():
    """A table whose columns stay sparse, so that means are never subtracted, keeps every product right."""
    rng = np.random.default_rng(1)
    X = sp.random_array((60, 30), density=0.15, rng=rng, format="csr")
    w = rng.integers(0, 4, 60)
    problem = nspca.Problem.from_data(X, 4, sample_weight=w)
    repeated = nspca.Problem.from_data(sp.csr_array(np.repeat(X.toarray(), w, axis=0)), 4)
    A, B = problem.covariance, repeated.covariance
    assert sp.issparse(A.table)
    I = np.array([1, 4, 9, 20])
    x = rng.normal(size=30)
    for one, other in (
        (A.product(x), B.product(x)),
        (A.columns(I), B.columns(I)),
        (A.block(I), B.block(I)),
        (A.restrict(I).diagonal, B.restrict(I).diagonal),
        (A.explained(x), B.explained(x)),
        (np.linalg.eigvalsh(A.gram())[-5:], A.leading(5)[0][::-1]),
        (A.dense_table().T @ A.dense_table() / A.m, B.dense_table().T @ B.dense_table() / B.m),
    ):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    result = nspca.solve(problem, certify="standard")
    nspca.verify(X, result.certificate, sample_weight=w)


def test_wide_sparse_data_with_weights_are_proved():
    """More features than the matrix is formed for: the checker takes entries in passes over the rows."""
    rng = np.random.default_rng(2)
    X = sp.random_array((60, 4100), density=0.01, rng=rng, format="csr")
    w = rng.random(60) + 0.1
    result = nspca.solve(nspca.Problem.from_data(X, 6, sample_weight=w))
    assert result.value <= nspca.verify(X, result.certificate, sample_weight=w) * (1 + 1e-12)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_samples_of_weight_zero_are_dropped(kind):
    """Zero weights give bit for bit the problem without these samples, even if they are far outliers."""
    X, w = table(kind), np.where(WHOLE > 0, 0.5 + np.arange(20) / 7, 0)
    X[w == 0] = 1e9
    problem = nspca.Problem.from_data(as_kind(X, kind), 3, sample_weight=w)
    fewer = nspca.Problem.from_data(as_kind(X[w > 0], kind), 3, sample_weight=w[w > 0])
    result, other = nspca.solve(problem), nspca.solve(fewer)
    assert result.certificate.to_bytes() == other.certificate.to_bytes()
    assert nspca.verify(as_kind(X, kind), other.certificate, sample_weight=w) == nspca.verify(
        as_kind(X[w > 0], kind), other.certificate, sample_weight=w[w > 0]
    )
    assert len(problem.scores(result.components)) == int((w > 0).sum())


def test_equal_weights_are_no_weights():
    """A certificate of equal weights is one of the data without weights, and is verified with either."""
    X = table("dense")
    plain = nspca.solve(nspca.Problem.from_data(X, 3)).certificate
    equal = nspca.solve(nspca.Problem.from_data(X, 3, sample_weight=np.full(20, 0.3))).certificate
    assert equal.to_bytes() == plain.to_bytes()
    assert nspca.verify(X, plain, sample_weight=[7] * 20) == nspca.verify(X, plain)


def test_scores_have_the_value_as_their_weighted_mean_square():
    """Scores are those of the samples themselves."""
    X, w = table("dense"), WHOLE + 0.5
    problem = nspca.Problem.from_data(X, 3, sample_weight=w)
    result = nspca.solve(problem, certify=None)
    x = result.components[:, 0]
    scores = problem.scores(x)
    np.testing.assert_allclose(scores, (X - w @ X / w.sum()) @ x, atol=1e-12)
    assert w @ scores**2 / w.sum() == pytest.approx(result.value)


@pytest.mark.parametrize("certify", ["fast", pytest.param("exhaustive", marks=pytest.mark.long)])
def test_a_joint_certificate_knows_the_weights(certify):
    """Several components together are proved for weighted samples too."""
    X = table("dense", 3)
    result = nspca.solve(nspca.Problem.from_data(X[:, :5], (2, 1), sample_weight=WHOLE), certify=certify)
    nspca.verify(X[:, :5], result.certificate, sample_weight=WHOLE)
    assert "weighted data" in result.certificate.statement


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (np.where(WHOLE == 5, np.nan, WHOLE), "finite numbers of at least 0"),
        (np.where(WHOLE == 5, np.inf, WHOLE), "finite numbers of at least 0"),
        (WHOLE - 1, "give it 0 to leave the sample out"),
        (WHOLE[:-1], "one number for each of the 20 samples"),
        (WHOLE[:, None], "one number for each of the 20 samples"),
        (0 * WHOLE, "must not all be zero"),
        (["a"] * 20, "must be real numbers"),
        (np.where(WHOLE == 5, 1e40, WHOLE), "set the smallest ones to 0"),
        (np.arange(20) == 3, "at least 2 rows"),
    ],
)
def test_what_are_no_weights_is_refused(wrong, said):
    with pytest.raises(InvalidProblem, match=said):
        nspca.Problem.from_data(table("dense"), 3, sample_weight=wrong)


def test_a_table_in_a_file_takes_no_weights(tmp_path, monkeypatch):
    """The error says how the table comes into memory."""
    monkeypatch.setattr("nspca.covariance.tables.LEAST_SIZE", 10)
    np.save(tmp_path / "x.npy", table("dense"))
    X = np.load(tmp_path / "x.npy", mmap_mode="r")
    with pytest.raises(InvalidProblem, match=r"give X\[:\]"):
        nspca.Problem.from_data(X, 3, sample_weight=WHOLE)


FORGED = {
    "no weights": (None, "with weights: give them as sample_weight"),
    "other weights": (WHOLE + 1, "not the weights of the certificate|digests differ"),
    "weights of other samples": (WHOLE[::-1], "digests differ"),
    "equal weights": (np.ones(20), "digests differ"),
    "negative": (np.where(WHOLE == 5, -5, WHOLE), "at least 0"),
    "missing": (np.where(WHOLE == 5, np.nan, WHOLE), "at least 0"),
    "too few": (WHOLE[1:], "for each sample"),
    "texts": (WHOLE.astype(str), "real numbers"),
    "all zero": (0 * WHOLE, "not all of them 0"),
}


@pytest.mark.parametrize("name", FORGED)
def test_the_checker_refuses_other_weights(name):
    given, said = FORGED[name]
    X = table("dense")
    certificate = nspca.solve(nspca.Problem.from_data(X, 3, sample_weight=WHOLE)).certificate
    with pytest.raises(CertificateError, match=said):
        nspca.verify(X, certificate, sample_weight=given)


def test_a_certificate_cannot_borrow_or_drop_weights():
    """A digest of weights that nobody has, or that of a heavier outlier, proves nothing."""
    X = table("dense")
    weighted = nspca.solve(nspca.Problem.from_data(X, 3, sample_weight=WHOLE)).certificate
    with pytest.raises(CertificateError, match="digests differ"):
        nspca.verify(X, replace(weighted, weights="0" * 64), sample_weight=WHOLE)
    # The witness of light weights does not prove the bound for heavy ones, even with the right digest.
    heavy = WHOLE.astype(float)
    heavy[np.argmax(np.abs(X - X.mean(axis=0)).sum(axis=1) * (WHOLE > 0))] = 500.0
    other = nspca.solve(nspca.Problem.from_data(X, 3, sample_weight=heavy)).certificate
    lower = min(weighted, other, key=lambda one: one.upper)
    higher, theirs = (other, heavy) if lower is weighted else (weighted, WHOLE)
    with pytest.raises(CertificateError):
        nspca.verify(X, replace(lower, weights=higher.weights), sample_weight=theirs)


def test_a_certificate_of_other_weights_is_not_about_the_problem():
    """`certify(resume=)` and `verify(problem=)` compare the weights."""
    X = table("dense")
    problem = nspca.Problem.from_data(X, 3, sample_weight=WHOLE)
    other = nspca.Problem.from_data(X[WHOLE > 0], 3)
    certificate = nspca.certify(problem)
    with pytest.raises(CertificateError, match="weights is"):
        nspca.verify(X, certificate, other, sample_weight=WHOLE)
    with pytest.raises(InvalidProblem, match="weights is"):
        nspca.certify(other, effort="exhaustive", resume=certificate)


def test_a_covariance_has_no_weights():
    A = np.cov(table("dense").T)
    certificate = nspca.certify(nspca.Problem.from_covariance(A, 3))
    with pytest.raises(CertificateError, match="digests differ"):
        nspca.verify(A, certificate, sample_weight=np.arange(1, 8))


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_the_estimator_takes_sample_weight(kind):
    """Means, deviations and components are those of repeated rows; the certificate needs the weights."""
    X = table(kind)
    how = {"k": 3, "n_components": 2, "scale": True}
    one = nspca.NSPCA(**how).fit(as_kind(X, kind), sample_weight=WHOLE)
    other = nspca.NSPCA(**how).fit(as_kind(np.repeat(X, WHOLE, axis=0), kind))
    for name in ("mean_", "scale_", "explained_variance_", "explained_variance_ratio_"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-12)
    np.testing.assert_allclose(one.transform(X), other.transform(X), atol=1e-9)
    nspca.verify(as_kind(X, kind), one.certificates_[0], sample_weight=WHOLE)
