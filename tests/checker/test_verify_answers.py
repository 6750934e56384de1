"""The verifier on form `answers`: honest lists, and forged ones."""

from dataclasses import replace

import numpy as np
import pytest

import nspca
from nspca.checker import fixing, verify
from nspca.checker.mixed import is_never_smallest
from nspca.errors import CertificateError
from tests.checker.test_verify_fixing import Maker
from tests.oracles import brute_force_answers


@pytest.fixture(scope="module", params=[True, False])
def listed(request):
    """Return data and a certificate of several listed sets with stages, a branch and covered leaves."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((40, 9)) * np.linspace(1.0, 1.3, 9) + rng.standard_normal((40, 1))
    problem = nspca.Problem.from_data(X, 4, nonneg=request.param)
    known = nspca.answers(problem, nspca.solve(problem), 0.05)
    certificate, parts = known.certificate, known.certificate.witness
    assert len(known.values) > 2 and (parts["branch"] == fixing.COVERED).any() and len(parts["fixed"])
    assert verify(X, certificate, problem) <= certificate.upper
    return X, certificate, known


def changed(certificate, **arrays):
    return replace(certificate, witness=certificate.witness | arrays)


def refused(X, certificate, reason):
    with pytest.raises(CertificateError, match=reason):
        verify(X, certificate)


def without_set(parts, i):
    """Return the arrays of the sets without set i."""
    ends = np.cumsum([0, *parts["counts"]])
    kept = np.delete(np.arange(ends[-1]), np.arange(ends[i], ends[i + 1]))
    arrays = {name: parts[name][kept] for name in ("members", "weights")}
    return arrays | {name: np.delete(parts[name], i) for name in ("counts", "values")}


def test_a_set_that_is_left_out_is_missed(listed):
    X, certificate, _ = listed
    for i in range(len(certificate.witness["counts"])):
        refused(X, changed(certificate, **without_set(certificate.witness, i)), "no listed set is among")
    none = {name: certificate.witness[name][:0] for name in ("counts", "members", "weights", "values")}
    refused(X, changed(certificate, **none), "no listed set is among")


def test_a_covered_leaf_needs_its_whole_set(listed):
    """A set that is made larger is not in, and one feature of it in exchange for another is not either."""
    X, certificate, known = listed
    parts, n = certificate.witness, X.shape[1]
    for i, T in enumerate(known.supports):
        members = parts["members"].copy()
        at = int(np.cumsum([0, *parts["counts"]])[i])
        own = members[at : at + parts["counts"][i]]
        members[at] = np.setdiff1d(np.arange(n), own)[0]
        with pytest.raises(CertificateError, match=r"not proved to reach|no listed set is among"):
            verify(X, changed(certificate, members=members))
        assert T.size <= 4


def test_any_leaf_that_is_called_covered_is_looked_at(listed):
    X, certificate, _ = listed
    branch = certificate.witness["branch"].copy()
    bounded = np.flatnonzero(np.isin(branch, [fixing.LEAF, fixing.SQUARES, fixing.NOTHING_LEFT]))
    for i in bounded:
        forged = branch.copy()
        forged[i] = fixing.COVERED
        refused(X, changed(certificate, branch=forged), "no listed set is among")


def test_a_value_is_reached_by_the_vector_of_its_set(listed):
    X, certificate, _ = listed
    parts = certificate.witness
    for factor in (1 + 1e-9, 2.0, -1.0, np.inf, np.nan):
        values = parts["values"].copy()
        values[-1] *= factor
        with pytest.raises(CertificateError):
            verify(X, changed(certificate, values=values))
    assert verify(X, changed(certificate, values=parts["values"] / 2)) <= certificate.upper


def test_vectors_have_the_length_sign_and_size_of_a_component(listed):
    X, certificate, _ = listed
    parts = certificate.witness
    refused(X, changed(certificate, weights=2 * parts["weights"]), "not proved to reach")
    refused(X, changed(certificate, weights=0 * parts["weights"]), "not proved to reach")
    refused(X, changed(certificate, weights=parts["weights"][1:]), "witness weights")
    if certificate.nonneg:
        refused(X, changed(certificate, weights=-parts["weights"]), "negative weights")
    refused(X, changed(certificate, counts=parts["counts"][1:]), "add up|weights|values")
    joined = changed(certificate, counts=np.array([parts["members"].size]), values=parts["values"][:1])
    refused(X, joined, "twice|at most 4 features")
    for wrong in (-1, X.shape[1]):
        members = parts["members"].copy()
        members[0] = wrong
        refused(X, changed(certificate, members=members), "numbers from 0")
    empty = changed(certificate, counts=np.append(parts["counts"], 0), values=np.append(parts["values"], 0.0))
    refused(X, empty, "at least 1 each")


def test_a_level_that_is_raised_or_lowered_after_the_stages(listed):
    """A higher level only proves a higher bound than is claimed, and at a lower one stages prove nothing."""
    X, certificate, _ = listed
    level = certificate.witness["level"]
    refused(X, changed(certificate, level=level * 1.01), "is claimed, but only")
    refused(X, changed(certificate, level=level * 0.99), "above the level|at least|squares|is proved")
    refused(X, replace(certificate, upper=certificate.upper * 0.999), "is claimed, but only")


def test_other_forms_have_no_covered_leaves(listed):
    X, certificate, _ = listed
    names = ("counts", "members", "weights", "values")
    plain = {name: array for name, array in certificate.witness.items() if name not in names}
    refused(X, replace(certificate, form="fixing", witness=plain), "no listed set is among")
    refused(X, replace(certificate, form="fixing"), "has the witness arrays")
    refused(X, replace(certificate, witness=plain), "members|counts|weights|values|no listed set")


@pytest.mark.parametrize("name", ["counts", "members"])
def test_a_list_without_sets_has_its_arrays_all_the_same(name):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((8, 5))
    empty = {part: np.zeros(0, dtype=int) for part in ("counts", "members", "weights", "values")}
    plain = Maker(X, 2, True, rng, 0.0).certificate
    certificate = replace(plain, form="answers", witness=plain.witness | empty)
    assert verify(X, certificate) <= certificate.upper
    del certificate.witness[name]
    refused(X, certificate, f"witness {name} cannot be read: it is missing")


def test_forced_features_count_among_the_k():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 7))
    problem = nspca.Problem.from_data(X, 3, forced=(6,))
    known = nspca.answers(problem, nspca.solve(problem), 0.05)
    certificate = known.certificate
    assert verify(X, certificate, problem) <= certificate.upper and all(6 in T for T in known.supports)
    refused(X, replace(certificate, forced=(5,)), ".")
    refused(X, replace(certificate, forced=()), ".")


@pytest.fixture(scope="module")
def mixed():
    """Return pitprops and a list for it with leaves of mixed sign."""
    A = nspca.load_sample("pitprops").X
    problem = nspca.Problem.from_covariance(A, 10)
    certificate = nspca.answers(problem, nspca.solve(problem), 0.001).certificate
    assert (certificate.witness["branch"] == fixing.MIXED).any()
    assert verify(A, certificate, problem) <= certificate.upper
    return A, certificate


def test_a_leading_vector_of_one_sign_proves_nothing(mixed):
    """No other node may be said to be one, nor one to be another, nor be used where weights have any sign."""
    A, certificate = mixed
    branch = certificate.witness["branch"]
    for i in np.flatnonzero(branch < 0):
        forged = branch.copy()
        forged[i] = fixing.COVERED if branch[i] == fixing.MIXED else fixing.MIXED
        refused(A, changed(certificate, branch=forged), "listed set|smallest|left over|left out")
    refused(A, replace(certificate, nonneg=False), ".")
    refused(A, replace(certificate, forced=(0,)), ".")
    names = ("counts", "members", "weights", "values")
    plain = {name: array for name, array in certificate.witness.items() if name not in names}
    refused(A, replace(certificate, form="fixing", witness=plain), "smallest|listed set")


def test_the_rule_of_mixed_sign_against_enumeration():
    """A set of which it is proved is never minimal, on random matrices, near ties and scaled ones."""
    rng, proved = np.random.default_rng(0), 0
    for i in range(150):
        p = int(rng.integers(1, 6))
        G = rng.standard_normal((p, int(rng.integers(1, 6))))
        G = np.abs(G) if i % 3 else G
        E = (G @ G.T + (i % 7 == 0) * np.eye(p)) * 10.0 ** rng.integers(-3, 4)
        if i % 5 == 0 and p > 1:
            E[:, 0], E[0] = E[:, 1], E[1]
            E[0, 0] = E[0, 1] = E[1, 0] = E[1, 1]
        if is_never_smallest(fixing.Held(E), np.arange(p)):
            proved += 1
            for level in np.linalg.eigvalsh(E)[-1] * np.array([0.3, 0.9, 0.999999]):
                assert set(range(p)) not in brute_force_answers(E, p, level)
    assert proved > 15
    assert not is_never_smallest(fixing.Held(np.eye(2)), np.arange(0))


def test_numbers_that_are_none_and_numbers_beyond_all_sizes(listed):
    X, certificate, _ = listed
    parts = certificate.witness
    forged = [("weights", wrong) for wrong in (np.nan, np.inf, 1e308)]
    forged += [("values", wrong) for wrong in (np.nan, np.inf, 1e308, -1e-320)]
    forged += [(name, wrong) for name in ("counts", "members") for wrong in (2**62, 2**31, -1, -(2**62))]
    for name, wrong in forged:
        array = parts[name].copy()
        array[0] = wrong
        refused(X, changed(certificate, **{name: array}), ".")
    for name in ("counts", "members", "weights", "values"):
        refused(X, changed(certificate, **{name: parts[name].astype(object)}), ".")
        refused(X, changed(certificate, **{name: parts[name][:, None]}), ".")


def test_a_copy_of_another_set_and_features_in_another_order(listed):
    X, certificate, _ = listed
    parts = certificate.witness
    count, ends = parts["counts"][0], np.cumsum([0, *parts["counts"]])
    refused(
        X, changed(certificate, members=np.r_[parts["members"][:count][::-1], parts["members"][count:]]), "."
    )
    for i in np.flatnonzero(parts["counts"][1:] == count) + 1:
        members = parts["members"].copy()
        members[ends[i] : ends[i + 1]] = members[:count]
        refused(X, changed(certificate, members=members), ".")
    refused(X[:, :-1], certificate, ".")
