"""`nspca.answers`: all good sets against enumeration, what a stopped search proves, and its refusals."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import nspca
from nspca.selection.membership import Place
from tests.cancelling import cancelled
from tests.oracles import brute_force_answers, brute_force_features
from tests.strategies import cases, counts

PITPROPS = {4: (1, 1.866), 7: (1, 3.906), 8: (4, 0.354), 9: (4, 0.549)}
"""Number of good sets within 1 % of any sign by k, and what the second best set loses, in per cent."""


def as_sets(supports):
    return sorted(sorted(int(j) for j in features) for features in supports)


@counts(20, 400)
def test_the_list_is_that_of_enumeration(count):
    rng, several = np.random.default_rng(3), 0
    for i, case in enumerate(cases(count, n_max=9 if count > 20 else 7, ranks=(1, 2, 3, 6), seed=17)):
        A, nonneg = case.V @ case.V.T, i % 2 == 0
        forced = (0,) if i % 5 == 0 else ()
        problem = nspca.Problem.from_covariance(A, case.k, nonneg, forced)
        result = nspca.solve(problem)
        if not result.value > 0:
            continue
        within = float(rng.choice([1e-6, 0.001, 0.02, 0.3]))
        known = nspca.answers(problem, result, within)
        assert nspca.verify(A, known.certificate, problem) <= known.rest
        assert known.is_complete
        levels = known.rest * (1 + 1e-11), known.rest * (1 - 3e-9)  # sets in between may be listed or not
        truth = [as_sets(brute_force_answers(A, case.k, level, forced, nonneg)) for level in levels]
        assert as_sets(known.supports) in truth, (case.kind, case.k, nonneg, forced)
        several += len(known.values) > 1
        assert (np.diff(known.values) <= 0).all() and known.counts.sum() == sum(map(len, known.supports))
    assert several > count / 10


def test_places_and_margin_are_those_of_enumeration():
    said = set()
    for i, case in enumerate(cases(20, n_max=6, seed=29)):
        A, nonneg = case.V @ case.V.T, i % 2 == 0
        problem = nspca.Problem.from_covariance(A, case.k, nonneg)
        result = nspca.solve(problem)
        if not result.value > 0:
            continue
        known = nspca.answers(problem, result, 0.05)
        having, lacking = brute_force_features(A, case.k, nonneg=nonneg)
        for j, place in enumerate(known.places):
            said.add(place)
            assert place is not Place.EVERY or lacking[j] <= known.rest * (1 + 1e-9)
            assert place is not Place.NONE or having[j] <= known.rest * (1 + 1e-9)
            assert place is not Place.EITHER or min(having[j], lacking[j]) > known.rest * (1 - 1e-9)
        alone = nspca.answers(problem, result, None)
        assert nspca.verify(A, alone.certificate, problem) <= alone.rest and len(alone.values) == 1
        best = set(alone.supports[0].tolist())
        others = brute_force_answers(A, case.k, alone.rest * (1 + 1e-9), nonneg=nonneg)
        assert all(one >= best for one in others) or alone.margin == 0
        reached = brute_force_answers(A, case.k, alone.rest * (1 - 1e-6), nonneg=nonneg)
        assert any(not one >= best for one in reached) or alone.rest < 1e-9 * alone.value
    assert said >= {Place.EVERY, Place.NONE, Place.EITHER}


@pytest.mark.parametrize("k", PITPROPS)
def test_pitprops(k):
    A = nspca.load_sample("pitprops").X
    problem = nspca.Problem.from_covariance(A, k, nonneg=False)
    result = nspca.solve(problem)
    known, alone = nspca.answers(problem, result, 0.01), nspca.answers(problem, result, None)
    sets, loss = PITPROPS[k]
    assert len(known.values) == sets and known.is_complete and alone.is_complete
    assert 100 * alone.margin == pytest.approx(loss, abs=6e-4)
    assert f"at least {np.floor(100 * loss) / 100:.3}"[:12] in alone.statement and "Unique" in alone.statement
    if sets > 1:
        assert 1 - known.values[1] / known.value == pytest.approx(alone.margin, abs=1e-8)
        out, into, less = known.exchanges(1)
        assert out.size == into.size > 0 and less == pytest.approx(alone.margin, abs=1e-8)


@pytest.fixture(scope="module")
def copies():
    """Features 1, 2 and 3 are equal, 0 is large, and 4 and 5 vary little."""
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((50, 4))
    X = np.column_stack([9 * Z[:, 0], *[Z[:, 0] + Z[:, 1]] * 3, 0.1 * Z[:, 2], 0.1 * Z[:, 3], 0 * Z[:, 3]])
    problem = nspca.Problem.from_data(X, 2)
    return X, problem, nspca.solve(problem)


def test_copies_are_all_listed_and_nothing_is_unique(copies):
    X, problem, result = copies
    known = nspca.answers(problem, result, 1e-6)
    assert as_sets(known.supports) == [[0, 1], [0, 2], [0, 3]]
    assert known.places == [Place.EVERY] + 3 * [Place.EITHER] + 3 * [Place.NONE]
    assert "one of these 3 sets" in known.statement
    alone = nspca.answers(problem, result, None)
    assert alone.margin <= 1e-8 and nspca.verify(X, alone.certificate) <= alone.rest


def test_sparse_data_and_a_file(tmp_path):
    rng = np.random.default_rng(5)
    X = sp.csr_array(rng.poisson(0.6, (80, 18)) * np.linspace(0.9, 1.1, 18))
    problem = nspca.Problem.from_data(X, 4)
    result = nspca.solve(problem, certify="standard")
    known = nspca.answers(problem, result, 0.02)
    assert known.is_complete and len(known.values) > 1
    known.certificate.save(tmp_path / "answers.npz")
    again = nspca.Certificate.load(tmp_path / "answers.npz")
    assert nspca.verify(X, again, problem) <= again.upper
    assert f"one of {len(known.values)} listed sets" in again.statement
    stored = nspca.Answers.from_bytes(known.to_bytes())
    assert stored.statement == known.statement and np.array_equal(stored.components, known.components)
    assert list(stored.frame["set"]) == list(range(1, len(known.values) + 1))


def test_a_search_that_stops_proves_less_and_says_so(copies):
    X, problem, result = copies
    for options in ({"seconds": 0}, {"nodes": 1}, {"most": 1}):
        known = nspca.answers(problem, result, 0.3, **options)
        assert nspca.verify(X, known.certificate, problem) <= known.rest
        assert known.rest > (0.7 - 1e-8) * known.value and ("Proved" in known.statement) == (known.share < 1)
    rng = np.random.default_rng(1)
    Z = rng.standard_normal((60, 40))
    problem = nspca.Problem.from_data(Z, 6)
    result = nspca.solve(problem, certify=None)
    some = lambda seen: seen[-1].stage == "listing good answers" and seen[-1].done > 8  # noqa: E731
    known = cancelled(nspca.answers, problem, result, 0.1, when=some)[0].best
    assert nspca.verify(Z, known.certificate, problem) <= known.rest and not known.is_complete


def test_its_certificate_is_no_bound_on_the_optimum(copies):
    _, problem, result = copies
    known = nspca.answers(problem, result, 1e-6)
    assert known.rest < result.value
    with pytest.raises(nspca.InvalidProblem, match="bounds the optimum"):
        nspca.certify(problem, result, effort="exhaustive", resume=known.certificate)
    with pytest.raises(nspca.CertificateError):
        known.certificate.ratio(result.value)
    kept = nspca.certify(problem, result.with_certificate(known.certificate), effort="fast")
    assert kept.form != "answers"


def test_refusals(copies):
    _, problem, result = copies
    for within in (0, 1e-9, 1, "much", np.nan):
        with pytest.raises(nspca.InvalidOption, match="within"):
            nspca.answers(problem, result, within)
    with pytest.raises(nspca.NSPCAError, match="most"):
        nspca.answers(problem, result, most=0)
    with pytest.raises(nspca.InvalidProblem):
        nspca.answers(problem.with_k((1, 1)), result)
    with pytest.raises(nspca.InvalidProblem, match="Result"):
        nspca.answers(problem, None)
    nothing = nspca.Problem.from_data(np.ones((4, 3)), 2)
    with pytest.raises(nspca.InvalidProblem, match="explains something"):
        nspca.answers(nothing, nspca.solve(nothing))


def test_effort_exhaustive_has_the_margin():
    A = nspca.load_sample("pitprops").X
    problem = nspca.Problem.from_covariance(A, 8, nonneg=False)
    result = nspca.solve(problem, certify="exhaustive")
    assert 100 * result.margin == pytest.approx(0.354, abs=6e-4)
    assert nspca.verify(A, result.others, problem) <= result.others.upper
    assert (
        result.alone in result.statement and result.alone in repr(result) and "0.353 % less" in result.alone
    )
    assert nspca.Result.from_bytes(result.to_bytes()).margin == result.margin
    assert nspca.solve(problem).margin == 0.0 and nspca.solve(problem).alone == ""
    assert nspca.solve(problem, certify="exhaustive", seconds=0).others is None


def test_a_weight_of_nothing_makes_no_larger_set_unique():
    """What is said of all others is about the features that the certificate lists."""
    A = np.diag([2.0, 2.0, 1.0, 1.0])
    A[0, 1] = A[1, 0] = 1.5
    problem = nspca.Problem.from_covariance(A, 3)
    result = nspca.solve(problem, certify="exhaustive")
    x = np.array([[0.5**0.5], [0.5**0.5], [1e-10], [0.0]])
    same = replace(result, components=x)
    for one in (result, same):
        assert one.margin > 0.1 and "contains the same 2 features" in one.alone
    assert nspca.answers(problem, same, within=None).margin == result.margin
    two = nspca.Problem.from_covariance(np.kron(np.diag([2.0, 1.0]), A), (3, 3))
    best = nspca.solve(two, certify="exhaustive")
    beside = replace(best, components=best.components.copy())
    beside.components[[2, 6]] = 1e-10 * (best.components[[0, 4]] != 0)
    joint = nspca.api.prove_optimum(two, beside, seconds=5)
    assert best.margin > 0.1 and joint.margin == pytest.approx(best.margin, rel=1e-8)
    other = nspca.api.prove_optimum(problem.with_k(2), result, seconds=0)
    assert other.certificate is not None and other.others is None
