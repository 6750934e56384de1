"""`local_search.removal`: values without one feature are reached, however little of the component remains."""

from fractions import Fraction

import numpy as np
import pytest

import nspca
from nspca.local_search.exchange import _replacements
from nspca.local_search.removal import without_each
from nspca.result import Result, Status
from tests.oracles import brute_force_features

ROUNDING = 1e-13


def exact_without(A, x, i):
    """``y'Ay / y'y`` in rational numbers, y being x without feature i; 0 where nothing remains."""
    y = [Fraction(0) if j == i else Fraction(float(v)) for j, v in enumerate(x)]
    square = sum(v * v for v in y)
    value = sum(y[a] * Fraction(float(A[a, b])) * y[b] for a in range(len(y)) for b in range(len(y)))
    return float(value / square) if square else 0.0


def weakly_coupled(rng, n):
    """A covariance whose features are nearly uncorrelated, down to 1e-16 and with variances far apart."""
    diagonal = rng.choice([1.0, 0.999, 0.6, 0.5, 1e-3, 1e-9, 1e-20], n)
    strength = 10.0 ** -rng.uniform(0.3, 16, (n, n)) * rng.choice([1.0, -1.0, 0.0], (n, n))
    C = np.triu(strength, 1) / n
    C = C + C.T + np.eye(n)  # diagonally dominant
    return C * np.sqrt(np.outer(diagonal, diagonal))


def nearly_alone(rng, A, k, nonneg):
    """A unit vector whose first feature has nearly all of the length."""
    x = np.zeros(len(A))
    support = rng.choice(len(A), k, replace=False)
    x[support] = 10.0 ** -rng.uniform(0, 10, k) * (1.0 if nonneg else rng.choice([1.0, -1.0], k))
    x[support[0]] = 1.0
    return x / np.linalg.norm(x)


def test_values_without_a_feature_are_those_of_exact_arithmetic():
    rng = np.random.default_rng(0)
    for _ in range(60):
        n = int(rng.integers(1, 5))
        A = weakly_coupled(rng, n)
        x = nearly_alone(rng, A, n, nonneg=False)
        left = without_each(A, x)
        for i in range(n):
            most = max(A[j, j] for j in range(n) if j != i) if n > 1 else 0.0
            assert abs(left.values[i] - exact_without(A, x, i)) <= ROUNDING * most


def test_a_replacement_is_never_worth_more_than_the_best_on_its_features():
    rng = np.random.default_rng(1)
    for _ in range(30):
        k, A = int(rng.integers(1, 4)), weakly_coupled(rng, 5)
        x = nearly_alone(rng, A, k, nonneg=False)
        out, gains, _ = _replacements(A, x, A @ x, k, nonneg=False)
        for i, entering in np.ndindex(gains.shape):
            J = np.append(np.setdiff1d(np.flatnonzero(x), out[i]), entering)
            best = np.linalg.eigvalsh(A[np.ix_(J, J)])[-1] if x[entering] == 0 else np.inf
            assert gains[i, entering] + x @ A @ x <= best * (1 + ROUNDING) + 4e-16 * (x @ A @ x)


@pytest.mark.parametrize("effort", ["fast", "standard"])
def test_a_feature_nearly_alone_is_not_exchangeable(effort):
    A = np.diag([1, 0.6, 0.5])
    A[0, 1:] = A[1:, 0] = 8e-9
    problem = nspca.Problem.from_covariance(A, 2)
    known = nspca.membership(problem, nspca.solve(problem), effort=effort)
    assert known.value_without[0] == pytest.approx(0.6, rel=1e-14)
    assert known.places[0] is nspca.selection.membership.Place.EVERY


@pytest.mark.parametrize("count", [18, pytest.param(1200, marks=pytest.mark.long)])
def test_no_value_is_reached_that_is_not_whatever_the_component(count):
    """Components found, and given ones that are far from the best or use a feature nearly alone."""
    rng = np.random.default_rng(count)
    for number in range(count):
        n, nonneg = int(rng.integers(2, 6)), bool(number % 2)
        A, k = weakly_coupled(rng, n), int(rng.integers(1, n))
        forced = (int(rng.integers(n)),) if number % 5 == 0 else ()
        problem = nspca.Problem.from_covariance(A, k, nonneg, forced)
        result = nspca.solve(problem)
        if number % 3 == 0 and not forced:
            result = Result.of(problem, nearly_alone(rng, A, k, nonneg), Status.HEURISTIC, "given")
        known = nspca.membership(problem, result, effort="fast")
        having, lacking = brute_force_features(A, k, forced, nonneg)
        assert (known.value_with <= having * (1 + ROUNDING)).all()
        assert (known.value_without <= lacking * (1 + ROUNDING)).all()
        assert (known.value_with <= known.upper_with).all()
        assert (known.value_without <= known.upper_without).all()
        assert nspca.verify(A, known.certificate, problem) <= known.certificate.upper
