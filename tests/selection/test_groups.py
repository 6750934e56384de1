"""Separation of groups by components: against values computed by hand, SciPy, and halves by definition."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats

import nspca
from nspca.errors import InvalidData, InvalidOption, InvalidProblem
from nspca.selection import groups
from nspca.selection.groups import coded, halves
from nspca.specs import GroupsSpec
from nspca.specs.selection import labels_of


def grouped(m=48, n=10, gap=6.0, seed=0):
    """Return three groups whose means differ along the four most varying features, with texts as labels."""
    rng = np.random.default_rng(seed)
    labels = np.array(["a", "b", "c"])[np.arange(m) % 3]
    X = rng.standard_normal((m, n))
    X[:, :4] += (gap * (labels == "b"))[:, None]
    return X, labels


def test_unequal_groups_are_pooled_by_their_degrees_of_freedom():
    # x: 0, 2 (mean 1, squares 2); y: 4, 4, 7 (mean 5, squares 6); variance 8 / 3
    found = nspca.group_effects([4.0, 0.0, 4.0, 2.0, 7.0], list("yxyxy"))
    assert found.effect[0] == pytest.approx(-4 / np.sqrt(8 / 3))


def test_more_groups_have_eta_squared_worked_out_by_hand():
    # means 1, 2, 6 of 2 each, mean of all 3: between 2 (4 + 1 + 9) = 28, within 2 + 2 + 2 = 6
    found = nspca.group_effects([0, 2, 1, 3, 5, 7], [10, 10, 20, 20, 3, 3])
    assert found.measure == "eta squared" and found.effect[0] == pytest.approx(28 / 34)
    assert found.groups == ("10", "20", "3")


def test_eta_squared_agrees_with_the_f_of_scipy():
    X, labels = grouped()
    found = nspca.group_effects(X, labels).effect
    f = np.array([stats.f_oneway(*(x[labels == name] for name in "abc")).statistic for x in X.T])
    assert np.allclose(found, 2 * f / (2 * f + len(X) - 3))


def test_samples_without_a_label_are_left_out_and_counted():
    scores = [1.0, 2.0, 3.0, 9.0, 50.0, 60.0, 70.0]
    found = nspca.group_effects(scores, ["x", "x", "y", "y", None, np.nan, " "])
    assert found.unlabelled == 3 and found.counts == (2, 2)
    assert found.effect[0] == nspca.group_effects(scores[:4], list("xxyy")).effect[0]


def test_scores_that_do_not_vary_separate_nothing():
    scores = np.column_stack([np.full(6, 0.1), [1, 1, 1, 2, 2, 2]])
    two = nspca.group_effects(scores, list("xxxyyy")).effect
    assert np.isnan(two[0]) and two[1] == -np.inf
    three = nspca.group_effects(scores, list("xxyyzz")).effect
    assert np.isnan(three[0]) and 0 < three[1] < 1


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (list("xxxx"), "at least two groups of samples, got 1"),
        (list("abcd"), "at least two samples into one group, got 4 groups of one"),
        ([None] * 4, "at least two groups of samples, got 0"),
        (list("xy"), "one for each of 4 samples, got 2"),
    ],
)
def test_labels_that_are_no_groups_are_refused(labels, said):
    with pytest.raises(InvalidProblem, match=said):
        nspca.group_effects(np.arange(4.0), labels)


def test_halves_split_every_group_and_share_no_row():
    codes = coded(["a"] * 9 + ["b"] * 4 + ["c"] * 3 + [""] * 5, 21)[1]
    first, second = halves(codes, 3)
    assert not set(first) & set(second)
    assert np.bincount(codes[first]).tolist() == [4, 2] and np.bincount(codes[second]).tolist() == [5, 2]
    assert [one.tolist() for one in halves(codes, 3)] == [first.tolist(), second.tolist()]
    assert halves(codes, 4)[0].tolist() != first.tolist()
    with pytest.raises(InvalidProblem, match="two groups of four samples each, got 1"):
        halves(coded(list("aaaabbb"), 7)[1], 0)


@pytest.mark.parametrize(("layout", "scale"), [(np.asarray, False), (sp.csr_array, True)])
def test_the_effect_is_that_of_components_of_the_other_half(layout, scale):
    X, labels = grouped()
    found = nspca.held_out_group_effects(layout(X), labels, 4, 2, scale=scale, permutations=3, seed=5)
    Z = X / X.std(axis=0) if scale else X
    first, second = halves(coded(labels, len(X))[1], 5)
    V = nspca.solve(
        nspca.Problem.from_data(Z[first], 4), "joint", components=2, seed=5, certify=None
    ).components
    assert list(found.frame.columns) == ["component", "eta squared", "p"] and len(found.frame) == 2
    assert np.allclose(found.effect, nspca.group_effects(Z[second] @ V, labels[second]).effect)
    assert sum(found.counts) == len(second) and found.groups == ("a", "b", "c")


@pytest.mark.parametrize(("count", "most"), [(6, 3), pytest.param(40, 9, marks=pytest.mark.long)])
def test_planted_groups_are_found_and_made_up_ones_are_not(count, most):
    X, labels = grouped()
    found = nspca.held_out_group_effects(X, labels, 4, 2)
    assert found.effect.max() > 0.8 and found.p.min() == 2 / 1000, "two components: twice 1 / 1000"
    drawn = [
        nspca.held_out_group_effects(*grouped(gap=0.0, seed=seed), 4, permutations=49).p[0]
        for seed in range(count)
    ]
    assert sum(p <= 0.1 for p in drawn) <= most, "a p-value of 0.1 comes up four times in forty by chance"


def test_a_tie_counts():
    # two samples of each group in the half: every shuffle gives one of three effects, so no p is below 1/3
    rng = np.random.default_rng(0)
    X = rng.standard_normal((8, 5))
    found = nspca.held_out_group_effects(X, list("aabbaabb"), 2, permutations=300)
    assert found.p[0] > 0.25


def test_what_a_worker_found_survives_the_store():
    X, labels = grouped()
    spec = GroupsSpec(sizes=(4, 2), permutations=9)
    found = spec.run(X=X, labels=labels)
    again = spec.unpack(spec.pack(found))
    assert again.groups == found.groups and again.counts == found.counts and again.measure == found.measure
    assert np.array_equal(again.effect, found.effect) and np.array_equal(again.p, found.p)
    odd = nspca.GroupEffects("Cohen's d", ("a", "b"), (1, 2), np.array([np.nan, -np.inf, 0.5]))
    assert np.array_equal(spec.unpack(spec.pack(odd)).effect, odd.effect, equal_nan=True)
    data = nspca.load_sample("pitprops")
    with pytest.raises(InvalidData, match="needs rows in memory"):
        spec.run(X=data)
    with pytest.raises(InvalidData, match="a column of labels named 'tissue'"):
        labels_of(nspca.load_sample("digits"), "tissue")


def test_sizes_may_differ_for_a_method_that_finds_components_together():
    X, labels = grouped()
    found = nspca.held_out_group_effects(X, labels, (4, 2, 1), permutations=9)
    assert len(found.effect) == len(found.p) == 3
    with pytest.raises(InvalidOption, match="different sizes need a method"):
        nspca.held_out_group_effects(X, labels, (4, 2), method="tpower")


def test_a_dataset_is_taken_and_rows_without_label_stay_out():
    data = nspca.load_sample("digits")
    labels = [label if label < 2 else None for label in data.labels]
    found = nspca.held_out_group_effects(data, labels, 8, 2, method="tpower", permutations=9)
    assert found.measure == groups.COHEN and found.unlabelled == sum(label is None for label in labels)
