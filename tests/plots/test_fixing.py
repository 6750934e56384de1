"""The picture of a search, and the rings around values that are proved optimal."""

import numpy as np
import pandas as pd
import pytest

from nspca.plots.fixing import BEST, CERTAIN, LOOK, NOW, OUT, RULED_OUT, UNKNOWN, fixing_figure
from nspca.plots.sweeps import OPTIMAL, sweep_figure
from nspca.plots.theme import alt_text

X = np.array([0.8, 0.6, 0, 0, 0, 0])
CERTAIN_MASK = np.array([1, 0, 0, 0, 0, 0], bool)
POSSIBLE = np.array([1, 1, 1, 0, 0, 0], bool)


def legend(figure):
    return [trace.name for trace in figure.data if trace.name]


def test_pixels_have_the_colour_of_what_is_known_of_them():
    figure = fixing_figure(X, CERTAIN_MASK, POSSIBLE, image_shape=(2, 3))
    heat = next(trace for trace in figure.data if trace.type == "heatmap")
    assert np.array(heat.z).tolist() == [[2, 1, 1], [0, 0, 0]]
    assert [colour for _, colour in heat.colorscale][::2] == list(LOOK.values())
    assert legend(figure) == [f"{CERTAIN}: 1", f"{UNKNOWN}: 2", f"{OUT}: 3", NOW]
    dots = figure.data[-1]
    assert (list(dots.x), list(dots.y)) == ([0, 1], [0, 0])
    assert alt_text(figure) == f"6 features: 1 {CERTAIN}, 2 {UNKNOWN}, 3 {OUT}."


def test_several_components_stand_side_by_side():
    X2 = np.stack([X, np.roll(X, 2)], axis=1)
    certain, possible = (
        np.stack([CERTAIN_MASK, ~POSSIBLE], axis=1),
        np.stack([POSSIBLE, ~CERTAIN_MASK], axis=1),
    )
    figure = fixing_figure(X2, certain, possible, image_shape=(2, 3), captions=("1: 9 %", "2: 8 %"))
    heat = next(trace for trace in figure.data if trace.type == "heatmap")
    z = np.array(heat.z)[-2:]
    assert z[:, :3].tolist() == [[2, 1, 1], [0, 0, 0]] and np.isnan(z[:, 3]).all()
    assert z[:, 4:].tolist() == [[0, 1, 1], [2, 2, 2]] and np.array(heat.customdata)[-1, -1] == 2
    assert legend(figure) == [f"{CERTAIN}: 4", f"{UNKNOWN}: 4", f"{OUT}: 4", NOW]
    assert [note.text for note in figure.layout.annotations] == ["1: 9 %", "2: 8 %"]
    assert alt_text(figure).startswith("6 features in each of 2 components: 4 ")
    dots = figure.data[-1]
    assert sorted(zip(dots.x, dots.y, strict=True)) == [(0, 3), (1, 3), (4, 4), (6, 3)]


def test_one_part_of_images_is_drawn_like_one_component():
    plain = fixing_figure(X, CERTAIN_MASK, POSSIBLE, image_shape=(2, 3))
    column = [array[:, None] for array in (X, CERTAIN_MASK, POSSIBLE)]
    assert alt_text(fixing_figure(*column, image_shape=(2, 3))) == alt_text(plain)


def test_when_nothing_is_possible_the_component_is_the_best():
    none = np.zeros(6, bool)
    figure = fixing_figure(X, none, none, image_shape=(2, 3))
    assert legend(figure) == [f"{BEST}: 2", f"{RULED_OUT}: 4"]
    assert (
        np.array(next(t for t in figure.data if t.type == "heatmap").z).ravel().tolist() == [2, 2] + [0] * 4
    )


def test_other_features_are_listed_by_name():
    names = ["a", "b <i>", "c", "d", "e", "f"]
    figure = fixing_figure(X, CERTAIN_MASK, POSSIBLE, names=names)
    bars = next(trace for trace in figure.data if trace.type == "bar")
    assert list(figure.layout.yaxis.ticktext) == ["a", "b &lt;i&gt;", "c"]
    assert list(bars.x) == pytest.approx([0.8, 0.6, 0])
    assert list(bars.marker.color) == [LOOK[CERTAIN], LOOK[UNKNOWN], LOOK[UNKNOWN]]


def test_many_undecided_features_are_counted():
    every = np.ones(1000, bool)
    figure = fixing_figure(np.eye(1000)[0], ~every, every)
    assert len(figure.layout.yaxis.ticktext) == 40
    assert "960 more undecided" in figure.layout.xaxis.title.text


def test_the_curve_is_drawn_again_where_values_are_proved_optimal():
    rows = pd.DataFrame(
        {
            "method": "auto",
            "k": [1, 2, 3],
            "value": [1.0, 2.0, 2.5],
            "upper": [1.0, 2.0 * (1 + 1e-9), 2.6],
            "ratio": [1.0, 1 - 1e-9, 2.5 / 2.6],
            "kind": "B8",
        }
    )
    curve = next(t for t in sweep_figure(rows, unit=4.0).data if t.name == OPTIMAL)
    assert list(curve.x) == [1, 2, 3] and list(curve.y)[:2] == [25.0, 50.0] and np.isnan(curve.y[2])
    assert OPTIMAL not in legend(sweep_figure(rows[rows["k"] == 3], unit=4.0))
    assert OPTIMAL not in legend(sweep_figure(rows.assign(upper=np.nan, ratio=np.nan), unit=4.0))
