"""The papers' uses on small made data whose answers are known."""

from math import log

import numpy as np
import pytest

import nspca
from nspca.errors import InvalidData, InvalidProblem
from nspca.papers import uses
from nspca.specs import (
    ComparisonSpec,
    DataSpec,
    StabilitySpec,
)


@pytest.fixture
def planted():
    """60 samples of three groups; 12 of 200 genes tell them apart, the others are noise."""
    rng = np.random.default_rng(0)
    labels = np.repeat(["a", "b", "c"], 20)
    X = rng.normal(size=(60, 200))
    X[:, :12] += 6 * np.repeat([0, 1, 2], 20)[:, None]
    return X, labels


def entropy(Z):
    values = np.linalg.svd(Z, compute_uv=False) ** 2
    share = values[values > 0] / values.sum()
    return -sum(v * log(v) for v in share) / log(min(Z.shape))


@pytest.mark.parametrize("shape", [(9, 30), (30, 9), (7, 7)])
def test_entropy_contributions_are_those_of_the_definition(shape):
    Z = np.random.default_rng(1).normal(size=shape) * 1e3
    found = uses.svd_entropy_contributions(Z)
    if shape[0] < shape[1]:
        expected = [entropy(Z) - entropy(np.delete(Z, j, axis=1)) for j in range(shape[1])]
    # without a feature one singular value is zero; the scale of the entropy stays that of the whole table
    else:
        expected = [entropy(Z) - entropy(np.where(np.arange(shape[1]) == j, 0.0, Z)) for j in range(shape[1])]
    assert np.allclose(found, expected, atol=1e-10)


def test_entropy_contributions_of_awkward_tables():
    Z = np.random.default_rng(2).normal(size=(5, 12))
    Z[:, 3] = 0.0
    found = uses.svd_entropy_contributions(Z)
    assert found[3] == pytest.approx(0.0, abs=1e-12)
    assert np.allclose(uses.svd_entropy_contributions(np.zeros((3, 4))), 0.0)
    assert np.allclose(uses.svd_entropy_contributions(1e150 * Z), found, atol=1e-10)
    with pytest.raises(InvalidData, match="at least 2 samples and 2 features, got 1 and 4"):
        uses.svd_entropy_contributions(np.zeros((1, 4)))


def test_jaccard_of_pairs_by_hand():
    assert uses.jaccard_of_pairs(["x", "x", "y", "y"], [7, 7, 3, 3]) == 1.0
    # pairs together: labels {01, 23}, clusters {01, 02, 12}: one in both of four in either
    assert uses.jaccard_of_pairs([0, 0, 1, 1], [0, 0, 0, 1]) == pytest.approx(1 / 4)
    assert uses.jaccard_of_pairs([0, 1, 2], [0, 1, 2]) == 1.0
    assert uses.jaccard_of_pairs([0, 0], [0, 1]) == 0.0


def test_planted_genes_are_selected_and_cluster_better_than_all(planted):
    X, labels = planted
    problem = nspca.Problem.from_data(X, k=1)
    selected = uses.select(problem, [6, 12])
    assert set(selected[12]) == set(range(12)) and set(selected[6]) <= set(range(12))
    chosen = uses.cluster_scores(X[:, selected[12]], labels, starts=20)
    useless = uses.cluster_scores(X[:, 100:112], labels, starts=20)
    assert chosen.shape == (20,) and chosen.max() == 1.0
    assert chosen.mean() > useless.mean() + 0.3
    assert np.array_equal(chosen, uses.cluster_scores(X[:, selected[12]], labels, starts=20))


def test_separable_faces_are_found_and_noise_is_not():
    rng = np.random.default_rng(3)
    U = np.linalg.qr(rng.normal(size=(9, 2)))[0]
    faces, others = rng.normal(size=(80, 9)) + 8 * U[:, 0], rng.normal(size=(90, 9)) - 8 * U[:, 0]
    train = faces[:40], others[:40]
    apart = uses.detection_curve(U, train, (faces[40:], others[40:]))
    alike = uses.detection_curve(U, train, (others[40:60], others[60:]), scaled=False)
    assert apart["area"] == 1.0
    assert 0.2 < alike["area"] < 0.8
    assert apart["false"][0] == 0 and apart["true"][-1] == 1


def test_parts_of_a_nonnegative_factorisation_are_unit_columns():
    X = np.random.default_rng(4).uniform(size=(40, 3)) @ np.eye(3, 12)
    parts = uses.principal_parts(X, 3)
    assert parts.shape == (12, 3) and (parts >= 0).all() and np.allclose(np.linalg.norm(parts, axis=0), 1)


# --- the jobs -------------------------------------------------------------------------------------


def test_compare_shares_one_certificate_for_each_k_and_leaves_out_who_cannot():
    A, rows = nspca.load_sample("pitprops").X, []
    spec = ComparisonSpec(data=DataSpec(covariance=True), ks=(2, 5), methods=("auto", "nmf", "pca"))
    report = lambda event: rows.append(event.payload["row"]) if "row" in event.payload else None  # noqa: E731
    sweep = spec.run(report, X=A)
    assert set(sweep) == {(method, k) for method in ("auto", "pca") for k in (2, 5)}
    for k in (2, 5):
        assert sweep["auto", k].certificate.digest == sweep["pca", k].certificate.digest
        assert (
            sweep["auto", k].certificate.upper
            == sweep["pca", k].certificate.upper
            >= sweep["auto", k].value
            >= sweep["pca", k].value
        )
        nspca.verify(A, sweep["pca", k].certificate)
    assert [row["method"] for row in rows if "error" in row] == ["nmf"]
    assert sorted(row["k"] for row in rows if "upper" in row and "method" not in row) == [2, 5]


def test_when_no_method_can_the_reason_is_raised():
    spec = ComparisonSpec(data=DataSpec(covariance=True), ks=(2,), methods=("nmf",))
    with pytest.raises(InvalidProblem, match="nmf works on data"):
        spec.run(X=np.eye(3))


def test_stability_of_planted_features_is_perfect_and_deterministic(planted):
    spec = StabilitySpec(k=12, resamples=4, methods=("em", "tpower"))
    supports = spec.run(X=planted[0])
    assert set(supports) == {"em", "tpower"}
    assert all(row["supports"] == [[*range(12)]] for each in supports.values() for row in each)
    assert supports == spec.run(X=planted[0])
    scaled = spec.but(scale=True)
    assert all(row["supports"] == [[*range(12)]] for row in scaled.run(X=planted[0])["tpower"])
