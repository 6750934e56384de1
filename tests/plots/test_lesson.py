"""The figures of the learn page, and the small drawings of runs: what they say is in the numbers they were
given.
"""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from nspca.plots.lesson import (
    descent_figure,
    direction_figure,
    guess_curve,
    guess_strip,
    quartic_figure,
)
from nspca.plots.thumbnail import HEIGHT, WIDTH, patches, sparkline
from nspca.solvers.coordinate import maximiser


def test_the_line_of_a_direction_passes_the_mean_and_tells_the_variance():
    points = np.random.default_rng(0).integers(0, 5, (200, 2)).astype(float)
    figure = direction_figure(points, np.array([0.6, 0.8]), ("one", "two"))
    discs, across, along = figure.data
    assert discs.customdata.sum() == 200 and len(discs.x) == len(np.unique(points, axis=0))
    for line, turned in ((along, [0.6, 0.8]), (across, [-0.8, 0.6])):
        assert np.allclose([np.mean(line.x), np.mean(line.y)], points.mean(axis=0))
        assert line.name.endswith(f"{np.var(points @ turned):.3g}")
    assert np.isclose(np.diff(along.y)[0] / np.diff(along.x)[0], 4 / 3)


def test_a_guess_at_an_end_of_the_axis_is_whole():
    axis = guess_curve([0, 180], [50, 50], ("angle", 0, 180), "%").layout.xaxis
    assert axis.range[0] < 0 and axis.range[1] > 180 and axis.dtick == 30
    assert guess_strip([0.0], 90.0).layout.xaxis.range[0] < 0


def test_the_star_stands_on_the_highest_point_of_its_quartic():
    curves = [(1.2, 0.1, 1.0), (1.2, -0.5, 1.0)]
    best = [maximiser(*curve) for curve in curves]
    line, star, *_ = quartic_figure(curves, best, ("free", "priced")).data
    assert star.y[0] >= np.max(line.y) - 1e-6 and star.x[0] == best[0] > 0


@pytest.mark.parametrize("k", [1, 4, 9])
def test_k_entries_rise_above_the_level(k):
    sizes = np.random.default_rng(k).permutation(np.arange(10.0))
    taken, left = descent_figure(sizes, k).data
    assert np.count_nonzero(left.y) == k
    assert np.allclose(np.asarray(taken.y) + left.y, np.sort(sizes)[::-1])


def drawn(svg: str) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(svg))


def points(shape: ElementTree.Element) -> np.ndarray:
    return np.array(re.findall(r"[\d.]+", shape.get("points")), float).reshape(-1, 2)


def test_a_sparkline_keeps_order_and_stays_inside():
    band, first, second = drawn(sparkline([1, 2, 5], {"a": [1.0, 2, 3], "b": [1, 1, 1]}, [2.0, None, 4]))
    assert band.tag.endswith("polygon") and len(points(band)) == 4, (
        "where nothing is proved the band has no corner"
    )
    for shape in (band, first, second):
        at = points(shape)
        assert (at >= 0).all() and (at <= [WIDTH, HEIGHT]).all()
    x, y = points(first).T
    assert (np.diff(x) > 0).all() and (np.diff(y) < 0).all() and x[2] - x[1] > 2 * (x[1] - x[0])
    assert np.ptp(points(second)[:, 1]) == 0
    assert any(shape.tag.endswith("circle") for shape in drawn(sparkline([3], {"a": [1.0]}))), (
        "one point is seen"
    )


def test_patches_lie_where_their_features_are():
    frame, *cells = drawn(patches([[0, 3], [5]], 6, 3))
    assert len(cells) == 3 and cells[0].get("fill") == cells[1].get("fill") != cells[2].get("fill")
    at = [(float(cell.get("x")), float(cell.get("y"))) for cell in cells]
    assert (
        at[0][0] == at[1][0] == float(frame.get("x"))
        and at[0][1] < at[1][1] == at[2][1]
        and at[2][0] > at[1][0]
    )


def test_before_the_answer_a_dot_does_not_tell_what_it_reaches():
    angles, reached = [31.0, 90.0, 33.0], [99.0, 10.0, 98.0]
    before = guess_curve(angles, reached, ("angle", 0, 180), "% of the best")
    assert list(before.data[0].x) == [31, 33, 90] and list(before.data[0].y) == [1, 2, 1]
    assert "%" not in (before.layout.yaxis.ticksuffix or "") and "y" not in before.data[0].hovertemplate
    after = guess_curve(angles, reached, ("angle", 0, 180), "% of the best", ([0.0, 90.0], [100.0, 10.0]))
    assert list(after.data[1].y) == reached
