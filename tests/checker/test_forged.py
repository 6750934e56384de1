"""Data and questions that answer as they like: they break, hide other data, or are of other kinds."""

from dataclasses import fields
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

import nspca
from nspca.errors import CertificateError

X = np.random.default_rng(3).standard_normal((15, 6)) * np.arange(1, 7)
P = nspca.Problem.from_data(X, 3)
ONE = nspca.solve(P.with_k(1)).certificate  # its bound is below the optimum for k = 3
THREE = nspca.solve(P).certificate


def forged(certificate, **changes):
    return SimpleNamespace(**{f.name: getattr(certificate, f.name) for f in fields(certificate)} | changes)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"nonneg": 1}, "nonneg that is asked for must be true or false, got 1"),
        ({"nonneg": "yes"}, "nonneg that is asked for must be true or false, got 'yes'"),
        ({"center": 1.0}, "center that is asked for must be true or false, got 1.0"),
        ({"scale": 0}, "scale that is asked for must be true or false, got 0"),
        ({"scale": np.zeros(1)}, "scale that is asked for must be true or false"),
        ({"k": 3.0}, "k that is asked for must be of whole numbers, got 3.0"),
        ({"k": np.float64(3)}, "k that is asked for must be of whole numbers"),
        ({"k": (3.0,)}, "k that is asked for must be of whole numbers, got 3.0"),
        ({"k": "3"}, "k that is asked for must be of whole numbers, got '3'"),
        ({"k": np.array([3])}, "k that is asked for must be of whole numbers"),
        ({"source": 5}, "source that is asked for must be text, got 5"),
        ({"source": b"data"}, "source that is asked for must be text, got b'data'"),
        ({"problem": 5}, "problem must be an nspca.Problem, got int; give one"),
        ({"problem": THREE}, "problem must be an nspca.Problem, got Certificate; give one"),
        ({"problem": P.covariance}, "problem must be an nspca.Problem, got RowsCovariance; give one"),
        ({"problem": False}, "problem must be an nspca.Problem, got bool; give one"),
    ],
)
def test_what_is_asked_for_is_of_its_type(words, said):
    with pytest.raises(CertificateError, match=said):
        nspca.verify(X, THREE, **words)


def test_yes_is_not_one_nonzero():
    for yes in (True, np.True_, (True,)):
        with pytest.raises(CertificateError, match="k that is asked for must be of whole numbers, got"):
            nspca.verify(X, ONE, k=yes)


class Broken:
    """An object whose attributes all raise an error."""

    def __getattr__(self, name):
        raise RuntimeError("gone")

    def __array__(self, *_, **__):
        raise RuntimeError("gone")


class Entry:
    """An object that cannot be converted to a number."""

    def __float__(self):
        raise RuntimeError("gone")


def test_whatever_is_raised_by_what_is_handed_in_is_told():
    table = X.astype(object)
    table[3, 2] = Entry()
    for given in ((Broken(), THREE), (table, THREE), (X, Broken()), (X, THREE, Broken())):
        with pytest.raises(CertificateError, match=r"cannot be read: RuntimeError.*gone"):
            nspca.verify(*given)


class Hidden:
    """Sparse data whose parts are `shown` and whose columns are those of zeros."""

    def __init__(self, shown):
        self.shown = shown

    def __getattr__(self, name):
        return getattr(self.shown, name)

    def tocsr(self):
        return self

    def copy(self):
        return self

    astype = copy

    def tocsc(self):
        return sp.csc_array(self.shown.shape)

    def toarray(self):
        return np.zeros(self.shown.shape)


@pytest.mark.parametrize("source", ["data", "covariance"])
def test_what_is_proved_is_proved_of_what_the_digest_is_of(source):
    given = sp.csr_array(X if source == "data" else X.T @ X)
    problem = (nspca.Problem.from_data if source == "data" else nspca.Problem.from_covariance)(given, 3)
    certificate = nspca.solve(problem).certificate
    nothing = forged(certificate, form="diagonal", witness={}, upper=certificate.upper / 2)
    with pytest.raises(CertificateError, match="is claimed, but only"):
        nspca.verify(Hidden(given), nothing, problem)
    assert nspca.verify(Hidden(given), certificate) == nspca.verify(given, certificate)


def duplicated(dtype):
    """Sparse data with entries in parts, and its canonical form."""
    rng = np.random.default_rng(0)
    rows, columns, values = (
        np.sort(rng.integers(0, 12, 70)),
        rng.integers(0, 5, 70),
        rng.integers(1, 100, 70).astype(dtype),
    )
    starts = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=12))))
    return sp.csr_array((values, columns, starts), shape=(12, 5))


@pytest.mark.parametrize("dtype", ["bool", "int8", "float32", "int64"])
def test_entries_in_parts_are_the_sums_that_scipy_makes_of_them(dtype):
    parts, whole = duplicated(dtype), duplicated(dtype)
    whole.sum_duplicates()
    dense = nspca.Problem.from_data(whole.toarray(), 2)
    for given in (parts, parts.tocoo(), parts.tocsc(), whole):
        problem = nspca.Problem.from_data(given, 2)
        assert problem.total_variance == pytest.approx(dense.total_variance, rel=1e-12)
        certificate = nspca.solve(problem).certificate
        assert nspca.verify(whole, certificate) == nspca.verify(parts, certificate)


def test_sparse_data_whose_parts_disagree_are_refused():
    for at, wrong in ((0, 99), (0, -1)):
        broken = sp.csr_array(np.eye(4))
        broken.indices[at] = wrong
        with pytest.raises(nspca.InvalidProblem, match="in order"):
            nspca.Problem.from_data(broken, 1)
        with pytest.raises(CertificateError):
            nspca.verify(broken, THREE)
