"""Scales of rows in the joint bound: rounding, entries of features outside the kept rows, and memory."""

import tracemalloc
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

import nspca
from nspca.certificate import Certificate
from nspca.checker.inequality import even_entries, top_sum
from nspca.checker.matrix import matrix_of
from nspca.checker.reading import Recipe
from nspca.checker.remainder import entries_of_n, levels
from nspca.errors import CertificateError
from tests.makers import changed, digest_of


def test_products_of_last_entries_are_exactly_no_less_than_the_entries_of_w():
    """The least tau that is accepted is enough at every size of W, and at the smallest and largest scales."""
    rng, ends, tried = np.random.default_rng(0), (2.0**-10, 2.0**10, 1.0), 0
    for _ in range(600):
        size = 10.0 ** rng.choice([-323, -300, -290, -150, 0, 150, 300])
        scales = rng.choice(ends, 2) if rng.random() < 0.3 else 2.0 ** rng.uniform(-10, 10, 2)
        W = size * rng.uniform(0, 1, (2, 2)) * (np.outer(scales, scales) if rng.random() < 0.5 else 1.0)
        with np.errstate(over="ignore"):
            tau = float(np.max(even_entries(SimpleNamespace(W=W, scales=scales))))
        if not np.isfinite(tau) or not W.any():
            continue
        witness = SimpleNamespace(U=np.zeros((2, 0)), scales=scales)
        last = [Fraction(float(v)) for v in top_sum(witness, tau, np.zeros(2), 1, 1, 0, True).V[:, -1]]
        least = Fraction(tau * min(1.0, float(scales.min()))) * (1 - Fraction(1, 2**53))
        assert all(last[i] * last[l] >= Fraction(float(W[i, l])) for i in (0, 1) for l in (0, 1))
        assert tau < 1e-300 or min(last) * last[2] >= least
        tried += 1
    assert tried > 400


def exact_and_computed(rng, source):
    """A table of small whole numbers: A in fractions, and the matrix that the checker makes of it."""
    m, n = 7, 6
    X = rng.integers(-3, 4, (m, n)).astype(float)
    X[0, 0] = 3.0  # the largest, so that the unit scale is known
    S, divisor, exponent = X.T @ X, 16 * m, 4
    if source == "covariance":
        X, exponent = S / 3, int(np.frexp(np.abs(S / 3).max())[1])
        S, divisor = np.ldexp(X, -exponent), 1
    recipe = Recipe("joint", (1, 1), True, source, False, False, X.shape, digest_of(X), exponent, 1.0, ())
    return [[Fraction(float(entry)) / divisor for entry in row] for row in S], matrix_of(X, recipe)


@pytest.mark.parametrize("nonneg", [True, False])
@pytest.mark.parametrize("source", ["data", "covariance"])
def test_what_stays_of_an_entry_is_exactly_no_more_than_its_limit(source, nonneg):
    """Limits are within some roundings of the entries; with features outside, and with scales of rows."""
    rng, used, tight = np.random.default_rng(4), 0, 0
    for _ in range(60):
        exact, A = exact_and_computed(rng, source)
        order = rng.permutation(A.n)
        rows, outside = order[:3], order[3:]
        scales = np.ones(A.n)
        scales[rows] = 2.0 ** rng.uniform(-3, 3, 3)
        near = abs(float(exact[outside[0]][rows[0]]))
        tau = near / scales[rows[0]] * (1 + rng.integers(-6, 7) * 2.0**-53) or 0.01
        limits = np.full(A.n, tau) * scales
        for second in (rows, None):
            N = {}
            for i, j, values, *_ in entries_of_n(A, outside, second, limits, nonneg):
                N |= dict(zip(zip(i.tolist(), j.tolist(), strict=True), values.tolist(), strict=True))
            for i in outside.tolist():
                for j in outside.tolist() if second is None else rows.tolist():
                    left = exact[i][j] - Fraction(N.get((i, j), N.get((j, i), 0.0)))
                    limit = Fraction(tau) * Fraction(float(scales[j]))
                    assert left <= limit and (nonneg or left >= -limit)
                    used += N.get((i, j), 0.0) != 0
                    tight += abs(abs(left) - limit) <= limit * Fraction(1, 10**12)
    assert used > 150 and tight > 150


@pytest.mark.parametrize("nonneg", [True, False])
def test_levels_of_features_outside_are_exactly_no_less_than_the_sums(nonneg):
    rng, tight = np.random.default_rng(5), 0
    for _ in range(40):
        _, A = exact_and_computed(rng, "data")
        outside, y = np.arange(2, 6), 2.0 ** rng.uniform(-5, 5, A.n)
        limits = np.full(A.n, 0.01)
        d, sums = levels(A, outside, y, limits, nonneg), [Fraction(0)] * A.n
        for first, second, values in entries_of_n(A, outside, None, limits, nonneg):
            for i, j, N in zip(first.tolist(), second.tolist(), values.tolist(), strict=True):
                sums[i] += abs(Fraction(N)) * Fraction(float(y[j]))
                sums[j] += abs(Fraction(N)) * Fraction(float(y[i])) * (i != j)
        for i in outside.tolist():
            exact = sums[i] / Fraction(float(y[i]))
            assert exact <= Fraction(float(d[i])) <= exact * (1 + Fraction(1, 10**14)) + Fraction(1, 10**280)
            tight += exact > 0
    assert tight > 80


@pytest.mark.parametrize("tau", [0.0, 1e-17])
def test_a_limit_of_the_size_of_a_rounding_is_refused_for_signed_entries(tau):
    """Rounding may leave more than -tau s_j of a positive entry."""
    _, A = exact_and_computed(np.random.default_rng(4), "data")
    rows, outside = np.arange(3), np.arange(3, 6)
    limits = tau * np.append(np.full(3, 2.0), np.ones(3))
    with pytest.raises(CertificateError, match="not more than the rounding of an entry"):
        list(entries_of_n(A, outside, rows, limits, False))


@pytest.mark.parametrize("nonneg", [True, False])
def test_entries_left_out_are_at_most_tau_times_the_least_scale(nonneg):
    A, none = np.array([[1.0, 0.0, 0.4], [0.0, 1.0, 0.0], [0.4, 0.0, 0.45]]), np.zeros(2)
    problem = nspca.Problem.from_covariance(A, (2, 1), nonneg)
    unit = problem.covariance.unit
    arrays = {"rows": np.array([0, 1]), "W": np.zeros((2, 2)), "prices": none, "tau": np.array([1 / unit])}
    arrays |= {"scales": np.array([0.5, 1.0]), "tree": np.array([255, 255]), "U": np.zeros((2, 0))}
    arrays["claims"] = np.array([1.0, 2.0, 1.0]) * (1 + 1e-9) / unit
    honest = Certificate.of(problem, "JP", "joint", 10.0, arrays)
    assert nspca.verify(A, honest, problem) >= 2.0
    for scales in (np.array([0.3, 1.0]), np.array([1.0, 0.3])):
        with pytest.raises(CertificateError, match="below an entry of A in a row that is not kept"):
            nspca.verify(A, changed(honest, scales=scales), problem)
    # larger scales of kept rows do not count for features outside, of which one has a variance of .45
    arrays |= {"scales": np.full(2, 2.0), "claims": np.array([1.0, 4.0, 2.0]) * (1 + 1e-9) / unit}
    for tau, holds in ((0.46, True), (0.44, False)):
        large = Certificate.of(problem, "JP", "joint", 20.0, arrays | {"tau": np.array([tau / unit])})
        if holds:
            assert nspca.verify(A, large, problem) >= 2.0
        else:
            with pytest.raises(CertificateError, match="below an entry of A in a row that is not kept"):
                nspca.verify(A, large, problem)


def test_scales_without_w_need_no_square_matrix():
    n = 5000
    X = np.random.default_rng(0).standard_normal((2, n))
    problem = nspca.Problem.from_data(X, (3, 3), center=False)
    top = float(np.linalg.eigvalsh(X @ X.T)[-1]) / 2 / problem.covariance.unit * (1 + 1e-6)
    arrays = {"claims": np.array([top, 0.0]), "prices": np.zeros(n), "scales": np.full(n, 0.5)}
    arrays["U"] = np.zeros((n, 0))
    certificate = Certificate.of(problem, "JP", "joint", 1e9, arrays)
    tracemalloc.start()
    nspca.verify(X, certificate, problem)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 4 * n * n
