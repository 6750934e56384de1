"""The map of samples: every point where its scores are, what a lasso says, and what is left out."""

import numpy as np
import pytest

from nspca.plots.samplemap import Arrows, chosen_samples, sample_map
from nspca.plots.samples import drawn_samples

SCORES = np.array([[1.0, 5.0], [2.0, -4.0], [-3.0, 0.0], [0.5, 0.5]])


def points(figure):
    """Sample number -> where it is drawn, and what its hover says."""
    return {
        data[0]: (float(x), float(y), data[1])
        for trace in figure.data
        if trace.customdata is not None
        for x, y, data in zip(trace.x, trace.y, trace.customdata, strict=True)
    }


def test_every_sample_is_drawn_where_its_scores_are():
    names = ["a", "<b>", "c", "d"]
    figure = sample_map(SCORES, ["x", "y", "x", "z"], names, axes=("part 1", "part 3"), label="tissue")
    assert points(figure) == {i: (*SCORES[i], name) for i, name in enumerate(["a", "&lt;b&gt;", "c", "d"])}
    assert [trace.name for trace in figure.data] == ["x", "y", "z"], "three samples make no ellipse"
    assert len({(t.marker.color, t.marker.symbol) for t in figure.data}) == 3
    assert figure.layout.xaxis.title.text == "along part 1"
    assert figure.layout.meta["alt"] == "Map of samples: 4 samples along part 1 and part 3, 3 groups."


def test_numbers_of_many_values_are_a_scale_and_few_are_groups():
    S = np.random.default_rng(0).standard_normal((30, 2))
    ages = np.arange(30.0)
    one = sample_map(S, ages, label="age")
    assert len(one.data) == 1 and one.data[0].marker.color.tolist() == ages.tolist()
    assert not one.layout.showlegend and "coloured by age" in one.layout.meta["alt"]
    digits = sample_map(S, np.arange(30) % 10).data
    assert len(digits) == 10, "digits are groups"
    assert len({part.marker.color for part in digits}) == 10, "each with a colour of its own"
    assert len({part.marker.symbol for part in digits}) == 10, "and with a mark of its own"
    assert len(sample_map(S).data) == 1 and not sample_map(S).layout.showlegend


def test_of_large_tables_some_are_drawn_and_it_says_so():
    S = np.random.default_rng(0).standard_normal((10_001, 2))
    figure = sample_map(S)
    assert len(points(figure)) == 3334 and sorted(points(figure)) == list(range(0, 10_001, 3))
    assert "3,334 of 10,001 samples" in figure.layout.meta["alt"]
    assert drawn_samples(4000).tolist() == list(range(4000)) and drawn_samples(0).size == 0


def test_arrows_point_where_the_correlations_do():
    figure = sample_map(SCORES, arrows=Arrows(["f", "g"], [[0.5, 0.0], [-0.25, 1.0]]))
    ends, lines = figure.data[-1], figure.data[-2]
    assert np.allclose(ends.x, [-0.25 * 0.8 * 3, 0.5 * 0.8 * 3]) and np.allclose(ends.y, [0.8 * 5, 0])
    assert list(ends.text) == ["g", "f"] and "0.50 across and 0.00 up" in ends.hovertext[1]
    assert np.allclose(lines.x[1::3], ends.x) and np.isnan(lines.x[2::3]).all()
    assert "the strongest features as arrows" in figure.layout.meta["alt"]


def test_of_arrows_that_would_hide_each_other_the_longest_is_drawn():
    W = [[0.5, 0.0], [0.55, 0.02], [-0.5, 0.5], [0.0, -0.9]]
    figure = sample_map(SCORES, arrows=Arrows(["hidden", "f", "g", "h"], W))
    assert list(figure.data[-1].text) == ["h", "g", "f"]


def test_a_searched_feature_is_an_arrow_of_its_own_colour_with_its_symbol():
    W = np.array([[0.1, 0.0], [0.9, 0.5]])
    names = ["CD33 CD33 antigen (M23197_at)", "TCL1 gene (X82240_rna1_at)"]
    figure = sample_map(np.eye(4)[:, :2], arrows=Arrows(names, W, [0]))
    drawn = {one.text[0]: one.marker.color for one in figure.data if one.mode == "markers+text"}
    assert list(drawn) == ["TCL1", "CD33"] and len(set(drawn.values())) == 2


def test_many_groups_have_a_mark_of_their_own_and_no_legend():
    labels = [f"person {i}" for i in range(40)] * 2
    figure = sample_map(np.arange(160.0).reshape(80, 2), labels)
    marks = {(one.marker.color, one.marker.symbol) for one in figure.data}
    assert len(marks) == len(figure.data) == 40 and not figure.layout.showlegend


def test_an_ellipse_lies_two_deviations_around_each_group():
    rng = np.random.default_rng(0)
    S = rng.standard_normal((400, 2)) * [3.0, 0.5] + [10.0, -2.0]
    ellipse, points = sample_map(S, ["a"] * 400).data
    assert ellipse.fill == "toself" and ellipse.legendgroup == points.legendgroup == "a"
    around = np.column_stack([ellipse.x, ellipse.y]) - S.mean(axis=0)
    lengths = np.einsum("ij,jk,ik->i", around, np.linalg.inv(np.cov(S.T)), around)
    assert np.allclose(lengths, 4, rtol=1e-3)


def test_samples_that_were_searched_have_a_ring_and_their_name():
    ring = sample_map(SCORES, sample_names=["a", "b", "c", "d"], found=[2]).data[-1]
    assert (list(ring.x), list(ring.y), list(ring.text)) == ([-3.0], [0.0], ["c"])


@pytest.mark.parametrize(
    "hostile",
    [
        {},
        None,
        ["x", [], [True], [-1]],
        [[4], ["1"], [1.0], 7],
    ],
)
def test_what_is_no_sample_is_not_chosen(hostile):
    assert chosen_samples(hostile, 4) == []


def test_a_lasso_names_samples_once_and_in_order():
    assert chosen_samples([[3, "d", ""], [0, "a", ""], [3, "d", ""]], 4) == [0, 3]


def test_outliers_stand_at_the_edge_and_leave_the_axes_to_the_others():
    S = np.vstack(
        [np.random.default_rng(0).standard_normal((20, 2)), [[90.0, 0.0], [0.0, -70.0], [0.1, 0.1]]]
    )
    figure = sample_map(S, ["a"] * 23, [f"s{i}" for i in range(23)], far=[20, 21, 22])
    edge = figure.data[-1]
    assert list(edge.text) == ["s20", "s21"], "one in the midst of the others is none"
    assert list(edge.marker.symbol) == ["triangle-right", "triangle-down"]
    assert np.abs(np.concatenate([edge.x, edge.y])).max() < 4
    assert edge.customdata[0][0] == 20 and edge.customdata[0][2] == 90.0, "its hover has its true scores"
    assert sorted(points(figure)) == list(range(23))
    assert np.abs(figure.data[0].x).max() < 4, "no ellipse is drawn around them"
