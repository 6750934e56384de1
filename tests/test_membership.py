"""`nspca.membership`: its statements about every feature, against brute force, and its refusals."""

from dataclasses import replace

import numpy as np
import pytest

import nspca
from nspca.selection.membership import Place
from tests.cancelling import cancelled
from tests.oracles import brute_force_features
from tests.strategies import cases


@pytest.mark.parametrize(("share", "effort"), [(0.9, "standard"), (0.99, "fast"), (1.0, "standard")])
def test_what_is_said_of_features_is_true(share, effort):
    said = set()
    for i, case in enumerate(cases(20, n_max=6, seed=11)):
        A, nonneg = case.V @ case.V.T, i % 2 == 0
        forced = (0,) if i % 5 == 0 else ()
        problem = nspca.Problem.from_covariance(A, case.k, nonneg, forced)
        result = nspca.solve(problem)
        known = nspca.membership(problem, result, share=share, effort=effort)
        having, lacking = brute_force_features(A, case.k, forced, nonneg)
        best = max(having.max(), lacking.max())
        near = 1e-9 * best
        assert nspca.verify(A, known.certificate, problem) <= known.certificate.upper
        assert (known.value_with <= having + near).all() and (known.value_without <= lacking + near).all()
        assert (known.upper_with >= having - near).all() and (known.upper_without >= lacking - near).all()
        for j, place in enumerate(known.places):
            said.add(place)
            if place is Place.EVERY:
                assert lacking[j] < share * best + near
            elif place is Place.NONE:
                assert having[j] < share * best + near and not known.used[j]
            elif place is Place.EITHER:
                assert min(having[j], lacking[j]) >= share * best - near
            if best > 0:
                for cost, optimum in ((known.cost_with[j], having[j]), (known.cost_without[j], lacking[j])):
                    assert cost[0] - 1e-9 <= 1 - optimum / best <= cost[1] + 1e-9
        assert list(known.frame["place"]) == [place.value for place in known.places]
    assert {Place.EVERY, Place.NONE} <= said and (share == 1 or Place.EITHER in said)


def test_equal_features_can_be_exchanged_and_the_needed_one_is_in_every():
    """Features 1 and 2 are equal, 0 is by far the largest, and 4 varies hardly at all."""
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((50, 3))
    X = np.column_stack([9 * Z[:, 0], Z[:, 0] + Z[:, 1], Z[:, 0] + Z[:, 1], 0.1 * Z[:, 2], 0 * Z[:, 2]])
    problem = nspca.Problem.from_data(X, 2)
    result = nspca.solve(problem)
    known = nspca.membership(problem, result, share=0.9999)
    assert known.places[0] is Place.EVERY
    assert known.places[1] is known.places[2] is Place.EITHER
    assert known.places[3] is known.places[4] is Place.NONE
    used = 1 if known.used[1] else 2
    assert known.partner[used] == 3 - used and known.partner[3 - used] == used


@pytest.fixture(scope="module")
def table():
    """Return a table with more features than a tree can decide."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 150)) + np.outer(rng.standard_normal(60), np.linspace(1, 0, 150) ** 3)
    problem = nspca.Problem.from_data(X, 5)
    return X, problem, nspca.solve(problem)


def test_more_effort_decides_more():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 13)) * 0.8 + np.outer(rng.standard_normal(40), np.linspace(1, 0, 13) ** 3)
    problem = nspca.Problem.from_data(X, 4)
    result, decided = nspca.solve(problem), {}
    for effort in ("fast", "standard"):
        known = nspca.membership(problem, result, share=0.95, effort=effort)
        assert nspca.verify(X, known.certificate, problem) <= known.certificate.upper
        decided[effort] = sum(place in (Place.EVERY, Place.NONE) for place in known.places)
    assert decided["standard"] > decided["fast"]


def test_its_certificate_is_a_file_like_any_other(table, tmp_path):
    X, problem, result = table
    known = nspca.membership(problem, result, share=0.99)
    known.certificate.save(tmp_path / "c.npz")
    again = nspca.Certificate.load(tmp_path / "c.npz")
    same = nspca.Membership.from_bytes(known.to_bytes())
    assert same.places == known.places and same.frame.equals(known.frame)
    with pytest.raises(nspca.InvalidData, match="make it again"):
        nspca.Membership.from_bytes(result.to_bytes())
    assert again.of_features and not result.certificate.of_features
    assert nspca.verify(X, again, problem) <= again.upper


def test_what_it_is_asked_must_be_about_one_problem(table):
    X, problem, result = table
    for share in (0, 1.1, -1, True, "0.9", None, np.nan):
        with pytest.raises(nspca.InvalidOption, match="share must be a number above 0"):
            nspca.membership(problem, result, share=share)
    with pytest.raises(nspca.InvalidOption, match="effort must be one of fast, standard, got 'hard'"):
        nspca.membership(problem, result, effort="hard")
    with pytest.raises(nspca.InvalidProblem, match="the same problem, got one whose k is 4 instead of 5"):
        nspca.membership(problem, result, nspca.certify(problem.with_k(4), effort="fast"))
    with pytest.raises(nspca.CertificateError, match="must not lie below a value that was reached"):
        nspca.membership(problem, result, replace(result.certificate, upper=result.value / 2))
    with pytest.raises(nspca.InvalidProblem, match="a Certificate is required, got float"):
        nspca.membership(problem, result, 3.0)
    with pytest.raises(nspca.InvalidProblem, match="pass what solve gave"):
        nspca.membership(problem, X)
    with pytest.raises(nspca.InvalidProblem, match="one k is required"):
        nspca.membership(problem.with_k((3, 3)), result)
    with pytest.raises(nspca.InvalidProblem, match="must have the values"):
        nspca.membership(problem, replace(result, values=result.values * 2))


def test_it_can_be_cancelled_and_makes_a_certificate_where_there_is_none(table):
    _, problem, result = table
    cancelled(nspca.membership, problem, result)
    bare = replace(result, certificate=None)
    known = nspca.membership(problem, bare, share=0.9, effort="fast")
    assert known.upper < problem.leading_eigenvalue and known.value == result.value


def test_a_wide_table_of_zeros_has_no_chain():
    problem = nspca.Problem.from_data(np.zeros((6, 100)), 2)
    found = nspca.membership(problem, nspca.solve(problem), share=0.9)
    assert nspca.verify(np.zeros((6, 100)), found.certificate) == 0.0


def test_nothing_is_said_of_data_that_are_nothing():
    problem = nspca.Problem.from_covariance(np.zeros((3, 3)), 2)
    known = nspca.membership(problem, nspca.solve(problem))
    assert set(known.places) <= {Place.EITHER, Place.OPEN} and (known.cost_with[:, 0] == 0).all()


def test_a_reached_value_above_a_proved_bound_is_no_membership():
    problem = nspca.Problem.from_covariance(np.diag([3.0, 2.0, 1.0]), 1)
    known = nspca.membership(problem, nspca.solve(problem))
    for name in ("value_with", "value_without"):
        for wrong in (1.001, np.inf, np.nan):
            with pytest.raises(nspca.CertificateError, match=rf"below a value that was reached.*{name}\[1\]"):
                replace(known, **{name: getattr(known, name) * np.array([1, wrong, 1])})
        by_rounding = replace(known, **{name: getattr(known, name) * (1 + 1e-14)})
        assert (getattr(by_rounding, name) <= getattr(known, name.replace("value", "upper"))).all()
    with pytest.raises(nspca.CertificateError, match=r"and value\[0\] 3\.3"):
        replace(known, value=3.3)


def test_tables_whose_covariance_is_never_formed_have_it_too():
    n, rng = nspca.covariance.covariance.DENSE_LIMIT + 1, np.random.default_rng(0)
    X = rng.standard_normal((12, n)) * np.where(np.arange(n) < 3, 30.0, 0.1)
    problem = nspca.Problem.from_data(X, 2)
    found = nspca.membership(problem, nspca.solve(problem), share=0.9, effort="fast")
    assert found.places[1] is Place.EVERY and found.places.count(Place.EITHER) == n - 1
    assert nspca.verify(X, found.certificate) <= found.certificate.upper


def test_a_shift_below_zero_is_refused_for_claims_would_be_about_a_smaller_matrix():
    A = np.diag([4.0, 2.0, 1.0])
    certificate = nspca.certify(nspca.Problem.from_covariance(A, 2))
    with pytest.raises(nspca.CertificateError, match="shift, of at least 0"):
        nspca.verify(A, replace(certificate, shift=-0.1))


def test_claims_that_float64_cannot_hold_are_refused():
    X = np.random.default_rng(0).standard_normal((9, 4))
    problem = nspca.Problem.from_data(X, 2)
    known = nspca.membership(problem, nspca.solve(problem), share=0.9).certificate
    long = {name: known.witness[name].astype(np.longdouble) for name in ("having", "lacking")}
    if long["having"].dtype.itemsize > 8:
        with pytest.raises(nspca.CertificateError, match="must be finite, of shape"):
            nspca.verify(X, replace(known, witness=known.witness | long))


def test_a_level_that_is_no_row_of_numbers_is_refused_in_words():
    A = np.diag([4.0, 2.0, 1.0]) + 0.5
    problem = nspca.Problem.from_covariance(A, 2)
    proof = nspca.membership(problem, nspca.solve(problem), share=0.9).certificate
    flat = proof.witness | {"level": np.array(proof.witness["level"][0])}
    with pytest.raises(nspca.CertificateError, match="level must be finite, of shape"):
        nspca.verify(A, replace(proof, witness=flat))
