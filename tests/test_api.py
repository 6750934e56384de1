"""The public names, end to end on small problems; files, sweeps, estimator, errors."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.utils.estimator_checks import parametrize_with_checks

import nspca
from nspca.errors import CertificateError, InvalidOption, InvalidProblem
from tests.cancelling import cancelled

X = np.random.default_rng(0).standard_normal((60, 15)) @ np.diag(np.linspace(2, 0.5, 15))


@pytest.mark.parametrize("k", [0, 16, -1, 2.5, True, "3", None, (3, 20), ()])
def test_impossible_k_is_refused_with_the_range(k):
    with pytest.raises(InvalidProblem, match="got"):
        nspca.Problem.from_data(X, k)


def test_sizes_of_joint_problems_are_kept():
    assert nspca.Problem.from_data(X, (3, np.int64(4))).k == (3, 4)
    result = nspca.solve(nspca.Problem.from_data(X, (3, 4)), certify="fast")
    assert result.components.shape == (15, 2) and 0.5 < result.ratio <= 1
    assert result.value <= nspca.verify(X, result.certificate) <= result.certificate.upper
    same = nspca.certify(nspca.Problem.from_data(X, 3), components=2, effort="fast")
    assert same.k == (3, 3) and nspca.verify(X, same) <= same.upper
    with pytest.raises(InvalidProblem, match="got sizes"):
        nspca.sweep(nspca.Problem.from_data(X, 3), [(3, 4)])


def test_violation_measures_each_way_to_be_infeasible():
    problem = nspca.Problem.from_data(X, 2)
    x = np.zeros(15)
    x[:2] = 0.6, 0.8
    assert problem.violation(x) < 1e-15
    assert np.isclose(problem.violation(2 * x), 1)
    assert np.isclose(problem.violation(np.where(x == 0.6, -0.6, x)), 0.6)
    dense = np.full(15, 15**-0.5)
    assert problem.violation(dense) > 0.5


def test_scores_are_in_the_units_of_the_data_and_their_mean_square_is_the_value():
    for data, scale in ((X * 1000, False), (X * 1e-6, False), (X, True), (sp.csr_matrix(X), False)):
        problem = nspca.Problem.from_data(data, 3, scale=scale)
        x = nspca.solve(problem, certify=None).components[:, 0]
        assert np.isclose(np.mean(problem.scores(x) ** 2), problem.value(x))
    with pytest.raises(InvalidProblem, match="scores need the samples"):
        nspca.Problem.from_covariance(np.eye(3), 1).scores(np.ones(3))


def test_certificate_refuses_a_value_above_it():
    certificate = nspca.certify(nspca.Problem.from_data(X, 4))
    with pytest.raises(CertificateError, match="must not lie below a value"):
        certificate.ratio(certificate.upper * 1.001)
    assert certificate.ratio(certificate.upper * 0.5) == 0.5
    assert certificate.ratio(np.nextafter(certificate.upper, 0)) < 1


def test_results_that_share_a_certificate_store_it_once():
    problem = nspca.Problem.from_data(X, 3)
    found = [nspca.solve(problem, method, certify=None) for method in ("tpower", "threshold", "em")]
    proof = nspca.certify(problem, found[0])
    shared = nspca.Sweep(
        {(r.method, 3): r.with_certificate(proof if i < 2 else None) for i, r in enumerate(found)}
    )
    apart = nspca.Sweep(
        {
            key: (r.certificate and r.with_certificate(replace(proof))) or r
            for key, r in shared.results.items()
        }
    )
    assert len(shared.to_bytes()) < len(apart.to_bytes()) - len(proof.to_bytes()) / 2
    again = nspca.Sweep.from_bytes(shared.to_bytes())
    assert (
        again["tpower", 3].certificate is again["threshold", 3].certificate
        and again["em", 3].certificate is None
    )
    assert again.frame.equals(shared.frame) and list(again) == list(shared)


def test_sweep_frame_rows_and_events_agree():
    events = []
    sweep = nspca.sweep(
        nspca.Problem.from_data(X, 1), [2, 5, 9], methods=("auto", "epsnet"), report=events.append
    )
    assert list(sweep.frame.columns) == ["method", "k", "value", "upper", "ratio", "kind", "seconds"]
    rows = [event.payload["row"] for event in events if event.stage == "sweep"]
    assert rows == sweep.frame.to_dict("records")
    assert [event.done for event in events if event.stage == "sweep"] == [1, 2, 3, 4, 5, 6]
    auto = sweep.frame[sweep.frame.method == "auto"].value.to_numpy()
    assert np.all(np.diff(auto) >= -1e-12)
    assert np.all(auto >= sweep.frame[sweep.frame.method == "epsnet"].value.to_numpy() * (1 - 1e-9))


def test_sweep_without_certificates_and_with_options():
    sweep = nspca.sweep(nspca.Problem.from_data(X, 1), [3], methods="epsnet", certify=None, samples=7)
    assert sweep["epsnet", 3].info["samples"] == 7 and sweep.frame.upper.isna().all()
    with pytest.raises(InvalidOption, match="no method of this sweep has an option 'sample'"):
        nspca.sweep(nspca.Problem.from_data(X, 1), [3], sample=7)


@pytest.mark.parametrize(
    ("sizes", "stages"),
    [(3, ("swaps", "certificate", "dual")), ((3, 2), ("exchanges", "kicks", "joint proof"))],
)
def test_a_cancelled_search_hands_in_what_it_has(sizes, stages):
    problem, few = (
        nspca.Problem.from_data(X, sizes),
        {"restarts": 1} | ({} if sizes == 3 else {"iterations": 1}),
    )
    found = nspca.solve(problem, certify=None, **few)
    for stage in stages:
        there = lambda seen, stage=stage: seen[-1].stage == stage  # noqa: E731
        result = cancelled(nspca.solve, problem, certify="standard", when=there, **few)[0].result
        assert result.status is nspca.Status.CANCELLED
        assert max(problem.violation(x) for x in result.components.T) < 1e-12
        assert 0 < result.value <= found.value * (1 + 1e-12)
        if stage in ("certificate", "dual"):
            assert (
                result.value == found.value <= nspca.verify(X, result.certificate) <= result.certificate.upper
            )


HOW = [*({"deflation": name} for name in nspca.components.DEFLATIONS), {"angle": 60}, {"angle": 90}]


@pytest.mark.parametrize("how", [*HOW[:2], *(pytest.param(how, marks=pytest.mark.visit) for how in HOW[2:])])
def test_who_cancels_components_in_turn_gets_those_that_were_found(how):
    """Whole ones, with their values in the problem itself; of the first alone also a part."""
    problem = nspca.Problem.from_data(pd.DataFrame(X).rename(columns="gene {}".format), 3)
    ends = []
    found = nspca.solve(problem, components=3, report=lambda event: ends.append(event.stage), **how)
    seen = set()
    for number in np.linspace(0, len(ends) - 1, 7).astype(int):
        enough = lambda seen, last=number: len(seen) > last  # noqa: E731
        result = cancelled(nspca.solve, problem, components=3, when=enough, **how)[0].result
        if result is None:
            assert not seen
            continue
        r = result.components.shape[1]
        seen.add(r)
        assert (result.status, result.method) == (nspca.Status.CANCELLED, "auto")
        assert result.weights(0)[0][0].startswith("gene ")
        assert max(problem.violation(x) for x in result.components.T) < 1e-12
        assert np.allclose(result.values, [problem.value(x) for x in result.components.T])
        if r > 1:
            assert np.array_equal(result.components, found.components[:, :r])
    assert seen == {1, 2}


# --- what is said of an answer
# ----------------------------------------------------------------------------------------------


def test_a_ratio_is_a_fraction_whatever_the_value():
    zero = nspca.certify(nspca.Problem.from_covariance(np.zeros((3, 3)), 1))
    assert zero.upper == 0 and zero.ratio(0.0) == zero.ratio(-0.0) == 1.0 and zero.ratio(-1e-300) == 0.0
    some = nspca.certify(nspca.Problem.from_data(X, 4), effort="fast")
    assert some.ratio(-1e-20) == some.ratio(-1.0) == some.ratio(0.0) == 0.0
    assert 0 < some.ratio(1e-300) < 1e-290 and some.ratio(some.upper) == 1.0


@pytest.mark.parametrize("count", [10, pytest.param(100, marks=pytest.mark.long)])
def test_bounds_among_the_smallest_numbers_are_rounded_up(count):
    """Variances near 1e-308 and below: the product with the unit of the data has fewer digits there."""
    for seed in range(count):
        rng = np.random.default_rng(seed)
        Y = np.ldexp(1 + 10.0 ** -rng.integers(3, 8) * rng.standard_normal((6, 4)), -500)
        for k in (1, 3):
            problem = nspca.Problem.from_data(Y, k)
            result = nspca.solve(problem)
            assert 0 < result.value < 1e-305
            assert nspca.verify(Y, result.certificate, problem) >= result.value


def test_a_certificate_says_what_it_is_about():
    A = np.cov(X, rowvar=False)
    said = {
        "no nonnegative component of the centred data with at most 3 nonzero weights explains more "
        "than": nspca.Problem.from_data(X, 3),
        "no component of the centred and scaled data with at most 1 nonzero weight explains":
            nspca.Problem.from_data(X, 1, False, scale=True),
        "of the scaled, not centred data with": nspca.Problem.from_data(X, 2, center=False, scale=True),
        "of the data as they are, not centred with": nspca.Problem.from_data(X, 2, center=False),
        "no component of the covariance with": nspca.Problem.from_covariance(A, 2, nonneg=False),
        "no 2 disjoint nonnegative components of the centred data with at most 3 nonzero weights each "
        "together explain more than":
            nspca.Problem.from_data(X, (3, 3)),
        "no 3 disjoint components of the covariance with at most 1, 2 and 3 nonzero weights in turn "
        "together explain":
            nspca.Problem.from_covariance(A, (1, 2, 3), nonneg=False),
    }  # fmt: skip
    for words, problem in said.items():
        certificate = nspca.certify(problem, effort="fast")
        assert (
            words in certificate.statement and float(certificate.statement.split()[-1]) == certificate.upper
        )
        rounded = certificate.rounded(3)
        assert (
            certificate.upper <= rounded.upper <= certificate.upper * 1.01
            and len(rounded.statement.split()[-1]) < 9
        )


def test_a_certificate_of_another_recipe_is_refused():
    problem = nspca.Problem.from_data(X, 3)
    certificate = nspca.certify(problem, effort="fast")
    bound = nspca.verify(X, certificate)
    assert nspca.verify(X, certificate, problem) == bound
    assert nspca.verify(X, certificate, k=3, nonneg=True, center=True, scale=False, source="data") == bound
    for other, word in (
        (problem.with_k(4), "k is"),
        (problem.with_k((3, 3)), "k is"),
        (nspca.Problem.from_data(X, 3, nonneg=False), "nonneg is True, asked for was False"),
        (nspca.Problem.from_data(X, 3, center=False), "center is"),
        (nspca.Problem.from_data(X, 3, scale=True), "scale is"),
        (nspca.Problem.from_data(X[:, :9], 3), "shape is"),
        (nspca.Problem.from_data(X + 1, 3), "digest is"),
        (nspca.Problem.from_covariance(np.cov(X, rowvar=False), 3), "is"),
    ):
        with pytest.raises(CertificateError, match=f"another problem: .*{word}"):
            nspca.verify(X, certificate, other)
    for words in ({"k": 2}, {"nonneg": False}, {"center": False}, {"scale": True}, {"source": "covariance"}):
        with pytest.raises(CertificateError, match="another problem"):
            nspca.verify(X, certificate, **words)
    one = nspca.certify(problem.with_k((3,)), effort="fast")
    assert nspca.verify(X, one, problem) == nspca.verify(X, one, problem.with_k((3,)))


def test_a_data_set_is_verified_as_its_numbers(tmp_path):
    data = nspca.load_sample("pitprops")
    problem = nspca.Problem.from_covariance(data, 3)
    certificate = nspca.certify(problem, effort="fast")
    assert nspca.verify(data, certificate, problem) == nspca.verify(data.X, certificate)
    as_data = nspca.certify(nspca.Problem.from_data(data.X, 3, center=False), effort="fast")
    with pytest.raises(CertificateError, match="source is 'data', asked for was 'covariance'"):
        nspca.verify(data, as_data)
    assert nspca.verify(data, as_data, source="data") == nspca.verify(data.X, as_data)
    for path in ("x.csv", tmp_path):
        with pytest.raises(CertificateError, match=r"got the path .*nspca\.read, .*nspca\.Shards"):
            nspca.verify(path, certificate)


# --- results that belong to the problem, and others
# ---------------------------------------------------------------------------


def test_a_result_of_several_components_is_certified_as_that():
    problem = nspca.Problem.from_data(X, 3)
    for result in (
        nspca.solve(problem, "joint", components=3, certify=None),
        nspca.solve(problem, components=3, certify="fast"),
    ):
        for more in ({}, {"components": 3}):
            certificate = nspca.certify(problem, result, effort="fast", **more)
            assert (
                certificate.k == (3, 3, 3)
                and nspca.verify(X, certificate, problem.with_k((3, 3, 3))) >= result.value
            )
    with pytest.raises(InvalidOption, match="number of components of the result, 3, got 2"):
        nspca.certify(problem, result, components=2)


def test_a_result_that_does_not_belong_is_refused_by_name():
    problem = nspca.Problem.from_data(X, 3)
    result = nspca.solve(problem)
    overlapping = nspca.Result.of(
        problem.with_k((3, 3)), np.repeat(result.components, 2, axis=1), result.status, "twice"
    )
    long = nspca.Result.of(problem, 2 * result.components, result.status, "long")
    signed = nspca.solve(nspca.Problem.from_data(X, 3, nonneg=False))
    assert signed.components.min() < 0
    for other, wrong, words in (
        (nspca.Problem.from_data(X[:, :9], 3), result, "of n = 9 entries, got an array of shape"),
        (problem.with_k(2), result, "at most k = 2 nonzero weights, got"),
        (problem, signed, "must be nonnegative"),
        (problem, overlapping, "share no feature, got 3 shared"),
        (problem, long, "must have length 1"),
        (nspca.Problem.from_data(X * 2, 3), result, "found for other data, centring or scaling"),
        (nspca.Problem.from_data(X, 3, scale=True), result, "found for other data, centring or scaling"),
        (problem.with_k((3, 2)), result, r"must have 2 component\(s\)"),
    ):
        with pytest.raises(InvalidProblem, match=words):
            nspca.certify(other, wrong)
    smaller = nspca.certify(problem.with_k(5), result)  # fewer features than allowed are an answer
    assert smaller.ratio(result.value) < 1


def test_rows_that_are_few_lose_nothing():
    X = np.random.default_rng(1).random((12, 7))
    parts = nspca.NSPCA(k=3)
    parts.partial_fit(X[:5], finish=False)
    assert not hasattr(parts, "components_")
    parts.partial_fit(X[5:])
    at_once = nspca.NSPCA(k=3).fit(X)
    assert np.allclose(parts.components_, at_once.components_, atol=1e-6)
    assert np.allclose(parts.transform(X), at_once.transform(X), atol=1e-6)
    assert not hasattr(parts.fit(X), "covariance_")
    assert parts.partial_fit(X[:2]).mean_ == pytest.approx(X[:2].mean(axis=0))  # fit began anew
    with pytest.raises(nspca.InvalidOption, match="scale first"):
        nspca.NSPCA(k=3, scale=True).partial_fit(X)


@parametrize_with_checks([nspca.NSPCA(k=3)])
def test_estimator_follows_scikit_learn(estimator, check):
    if check.func.__name__ in ("check_estimator_sparse_matrix", "check_estimator_sparse_array"):
        estimator.set_params(certify=None)  # with a proof that is checked: tests/test_estimator.py
    check(estimator)


@pytest.mark.visit
@parametrize_with_checks([nspca.NSPCA(k=1, n_components=2, nonneg=False, method="cone")])
def test_several_components_follow_scikit_learn_too(estimator, check):
    check(estimator)


@pytest.mark.parametrize("method", ["auto", "em", "greedy", "pca"])
def test_of_any_sign_the_largest_weight_is_positive(method):
    result = nspca.solve(
        nspca.Problem.from_data((X + X[:, :1]) * np.where(np.arange(15) % 2, 1, -1), 4, nonneg=False),
        method,
        certify=None,
    )
    x = result.components[:, 0]
    assert x[np.argmax(np.abs(x))] > 0 and x.min() < 0
