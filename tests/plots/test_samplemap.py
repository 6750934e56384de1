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
    assert [trace.name for trace in figure.data] == ["x", "y", "z"]
    assert len({(t.marker.color, t.marker.symbol) for t in figure.data}) == 3
    assert figure.layout.xaxis.title.text == "score along part 1"
    assert figure.layout.meta["alt"] == "Map of samples: 4 samples along part 1 and part 3, 3 groups."
    assert figure.layout.legend.y < 0, "legends stand below"


def test_numbers_of_many_values_are_a_scale_and_few_are_groups():
    S = np.random.default_rng(0).standard_normal((30, 2))
    ages = np.arange(30.0)
    one = sample_map(S, ages, label="age")
    assert len(one.data) == 1 and one.data[0].marker.color.tolist() == ages.tolist()
    assert not one.layout.showlegend and "coloured by age" in one.layout.meta["alt"]
    digits = sample_map(S, np.arange(30) % 10).data
    assert len(digits) == 10, "digits are groups"
    assert len({part.marker.color for part in digits}) == 10, "each with a colour of its own"
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
    assert np.allclose(ends.x, [0.5 * 0.8 * 3, -0.25 * 0.8 * 3]) and np.allclose(ends.y, [0, 0.8 * 5])
    assert list(ends.text) == ["f", "g"] and "0.50 across and 0.00 up" in ends.hovertext[0]
    assert np.allclose(lines.x[1::3], ends.x) and np.isnan(lines.x[2::3]).all()
    assert "2 features as arrows" in figure.layout.meta["alt"]


@pytest.mark.parametrize(
    "hostile",
    [
        {},
        None,
        {"points": None},
        {"points": [{"customdata": "x"}, {"customdata": []}, {"customdata": [True]}, {"customdata": [-1]}]},
        {"points": [{"customdata": [4]}, {"customdata": ["1"]}, {"customdata": [1.0]}, 7]},
    ],
)
def test_what_is_no_sample_is_not_chosen(hostile):
    assert chosen_samples(hostile, 4) == []


def test_a_lasso_names_samples_once_and_in_order():
    points = [{"customdata": [3, "d", ""]}, {"customdata": [0, "a", ""]}, {"customdata": [3, "d", ""]}]
    assert chosen_samples({"points": points}, 4) == [0, 3]
