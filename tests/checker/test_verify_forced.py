"""The verifier on problems with forced features: against brute force, honest certificates and liars."""

import itertools
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import nspca
from nspca.checker import verify
from nspca.errors import CertificateError
from tests.checker.test_verify_fixing import Maker, best_of, by_squares
from tests.makers import (
    PROBLEMS,
    Stand,
    as_covariance,
    brute,
    certify,
    changed,
    digest_of,
    drawn,
    random_parts,
    refused,
    spiked,
    unit_matrix,
)


def some(rng, n):
    """k, and features that may be forced: any number of them up to k, in increasing order."""
    k = int(rng.integers(1, n + 1))
    return k, tuple(sorted(rng.permutation(n)[: rng.integers(0, k + 1)].tolist()))


def elementary(data, k, nonneg, forced, **recipe):
    """The k variances that there can be, one support after the other."""
    A, exponent = unit_matrix(data, **recipe)
    others = [j for j in range(len(A)) if j not in forced]
    sums = []
    for chosen in itertools.combinations(others, min(k - len(forced), len(others))):
        sums.append(A.diagonal()[[*forced, *chosen]].sum())
    bound, more = max(0.0, max(sums) + 1e-9 * (np.trace(A) + abs(A).sum())), {"forced": forced} | recipe
    upper = float(np.nextafter(np.ldexp(np.nextafter(bound, np.inf), exponent), np.inf))
    stand = Stand("diagonal", k, nonneg, data.shape, digest_of(data), exponent, upper, **more)
    return stand, max(sums)


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("nonneg", [True, False])
@pytest.mark.parametrize("trials", [2, pytest.param(80, marks=pytest.mark.long)])
def test_no_form_is_below_brute_force(name, nonneg, trials):
    rng = np.random.default_rng([len(name), nonneg])
    for trial in range(trials):
        X = drawn(name, rng, [-150, 0, 0, 150])
        source, center = ["data", "covariance"][trial % 2], bool(rng.random() < 0.7)
        X = as_covariance(X, rng) if source == "covariance" else X
        recipe = {"source": source, "center": center}
        A, exponent = unit_matrix(X, **recipe)
        k, forced = some(rng, len(A))
        best = best_of(A, k, nonneg, forced, [j for j in range(len(A)) if j not in forced])
        others = [] if len(forced) == k else [int(j) for j in rng.permutation(len(A)) if j not in forced]
        R = np.array([*forced, *others[: int(rng.integers(0, len(others) + 1))]], dtype=int)
        W, M = random_parts(rng, A, R, rng.choice(["clip", "noise", "negative", "none"]))
        more = {"tol": 0.05, "depth": 6, "forced": forced} | recipe
        found = [certify(X, k, nonneg, min(1, R.size), W, M, R, **more)]
        found.append(Maker(X, k, nonneg, rng, 0.0, forced=forced, **recipe).certificate)
        c, exact = elementary(X, k, nonneg, forced, **recipe)
        found.append(c)
        assert np.ldexp(verify(X, c), -exponent) == pytest.approx(exact, rel=1e-6, abs=1e-9 * A.trace())
        for c in found:
            bound = np.ldexp(verify(X, c, forced=forced), -exponent)
            assert best * (1 - 1e-12) <= bound, c.form
            assert verify(X, replace(c, upper=c.upper * 2)) == verify(X, c) <= c.upper


@pytest.mark.parametrize("nonneg", [True, False])
def test_a_forced_feature_that_nobody_would_choose_lowers_the_bound_of_every_form(nonneg):
    """Large features, and two small ones that are forced: a bound for these two is refused for anybody."""
    X = np.random.default_rng(1).standard_normal((30, 7)) * [1e-3, 3, 3, 1e-3, 3, 3, 3]
    forced, rng = (0, 3), np.random.default_rng(2)
    A, exponent = unit_matrix(X)
    plain = np.ldexp(brute(A, 3, nonneg), exponent)
    made = [elementary(X, 3, nonneg, forced)[0]]
    made += [Maker(X, 3, nonneg, rng, 0.0, 0, forced, grow=1.0, depth=6).certificate]
    made += [with_all_rows(X, 3, nonneg, forced)]
    for c in made:
        assert verify(X, c) <= c.upper < plain, c.form
        refused(X, c, "another problem: forced is \\(0, 3\\), asked for was \\(\\)", forced=())
        refused(X, c, "another problem: forced", forced=(0,))
        assert verify(X, c, forced=[3, 0]) <= c.upper
        for other in ((), (0,), (3,), (1, 2), (0, 2), (0, 1, 3)):
            others = [j for j in range(7) if j not in other]
            if best_of(A, 3, nonneg, other, others) > c.upper * 2**-exponent:
                with pytest.raises(CertificateError):
                    verify(X, replace(c, forced=other))


def with_all_rows(X, k, nonneg, forced):
    """A cover of the leading directions of A, with the forced features first."""
    order = [*forced, *(j for j in range(X.shape[1]) if j not in forced)]
    return certify(X, k, nonneg, 2, rows=order, depth=20, forced=forced)


X = spiked(8, 9, 6)


@pytest.mark.parametrize(
    ("forced", "said"),
    [
        ((3, 1), "some from 0 to 5 in increasing order, got \\(3, 1\\)"),
        ((1, 1), "in increasing order, got \\(1, 1\\)"),
        ((-1,), "some from 0 to 5 in increasing order, got \\(-1,\\)"),
        ((6,), "some from 0 to 5 in increasing order, got \\(6,\\)"),
        ((10**30,), "some from 0 to 5"),
        ((0, 1, 2, 3), "count among the k of one component, got 4 of 3"),
        ((True,), "forced must be of whole numbers, got True"),
        ((np.True_,), "forced must be of whole numbers, got"),
        ((1.0,), "forced must be of whole numbers, got 1.0"),
        (("1",), "forced must be of whole numbers, got '1'"),
        ((None,), "forced must be of whole numbers, got None"),
        (3, "cannot be read"),
        (None, "cannot be read"),
        ("12", "forced must be of whole numbers, got '1'"),
    ],
)
def test_words_that_name_no_forced_features_are_refused(forced, said):
    c, _ = elementary(X, 3, True, (1, 3))
    assert verify(X, c, forced=(1, 3)) <= c.upper
    refused(X, replace(c, forced=forced, upper=1e9), said)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ((1,), "forced is \\(1, 3\\), asked for was 1"),
        ((), "asked for was \\(\\)"),
        ((1, 3, 3), "asked for was \\(1, 3, 3\\)"),
        ((1, True), "the forced that is asked for must be of whole numbers, got True"),
        ("13", "must be of whole numbers, got '13'"),
        ({1, 3}, "must be of whole numbers"),
    ],
)
def test_forced_features_that_are_asked_for(asked, said):
    refused(X, elementary(X, 3, True, (1, 3))[0], said, forced=asked)


def test_a_certificate_without_the_word_has_none():
    c = elementary(X, 3, True, ())[0]
    old = SimpleNamespace(**{name: value for name, value in vars(c).items() if name != "forced"})
    assert verify(X, old) == verify(X, c, forced=())
    refused(X, old, "forced is \\(\\), asked for was 1", forced=1)


def test_several_components_have_no_forced_features():
    c = Stand("joint", (2, 1), True, X.shape, digest_of(X), 10, 1e9, forced=(1,), witness={})
    refused(X, c, "forced features count among the k of one component, got 1 of 2")


def test_rows_that_do_not_begin_with_the_forced_features_fix_none():
    """A certificate with its rows in another order proves less: nothing says that forced rows are used."""
    data = np.random.default_rng(1).standard_normal((30, 7)) * [1e-3, 3, 3, 1e-3, 3, 3, 3]
    c = with_all_rows(data, 3, True, (0, 3))
    assert verify(data, c) <= c.upper
    for order in ([1, 0, *range(2, 7)], [*range(1, 7), 0]):
        witness = {"rows": c.witness["rows"][order], "U": c.witness["U"][order]}
        refused(data, changed(c, **witness), "not proved to stay below")


def test_a_tree_does_not_branch_on_what_is_forced():
    for k, feature in ((3, 1), (3, 3), (2, 0)):
        c = by_squares(X, k, True, (1, 3), 1e3, [feature], unit_matrix(X)[1])
        refused(X, c, "cannot be branched on")


@pytest.mark.parametrize("nonneg", [True, False])
def test_forced_features_of_an_asymmetric_covariance_may_have_no_variance(nonneg):
    """Rounding A and its transpose to their mean leaves zeros exact: a row of zeros needs no margin."""
    A = np.array([[2.0, 0.0, 1.0], [0.0, 0.0, 0.0], [np.nextafter(1.0, 2.0), 0.0, 3.0]])
    for k in (1, 2):
        problem = nspca.Problem.from_covariance(A, k, nonneg, forced=(1,))
        certificate = nspca.certify(problem, effort="standard")
        best = (0.0, 3.0)[k - 1]
        assert best <= nspca.verify(A, certificate, problem) <= best * (1 + 1e-9)
