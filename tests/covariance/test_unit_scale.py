"""Bringing numbers to unit scale, centring and hashing are quick, and exact to the last bit."""

import hashlib

import numpy as np
import pytest

from nspca.covariance.linalg import scaled
from nspca.covariance.moments import CACHED, centred
from nspca.covariance.numbers import dense_digest

rng = np.random.default_rng(0)


@pytest.mark.parametrize("exponent", [0, -8, 1000, -1000, 1023, -1074, 1074])
def test_scaling_is_ldexp_to_the_bit_at_any_exponent(exponent):
    X = np.append(rng.standard_normal(200) * 10.0 ** rng.integers(-300, 300, 200), [5e-324, 0.0, -0.0, 1e308])
    with np.errstate(over="ignore"):
        expected, found = np.ldexp(X, exponent), scaled(X, np.int64(exponent))
    assert found.tobytes() == expected.tobytes()


@pytest.mark.parametrize("shape", [(3, CACHED), (CACHED + 5, 2), (700, 200), (1, 4)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_columns_are_centred_each_by_its_own_mean(shape, order):
    X = np.asarray(rng.standard_normal(shape) + 1e6 * np.arange(shape[1]), order=order)
    given = X.copy()
    C = centred(X)
    for j in {0, shape[1] // 2, shape[1] - 1}:
        column = np.ascontiguousarray(X[:, j])
        once = column - column.mean()
        assert np.array_equal(C[:, j], once - once.mean())
    assert np.array_equal(X, given)


@pytest.mark.parametrize("shape", [(2, 3), (700, 200), (2, 2**17)])
def test_the_digest_is_that_of_all_numbers_without_negative_zeros(shape):
    X = rng.standard_normal(shape)
    X[0, 0] = -0.0
    whole = f"dense {shape[0]} {shape[1]}".encode() + (X + 0.0).tobytes()
    assert dense_digest(np.asfortranarray(X)) == hashlib.sha256(whole).hexdigest()
