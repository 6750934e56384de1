"""Figures show their numbers: values on curves, ends of bands, sentences, gaps, limited sizes."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import nspca
from nspca.plots.components import (
    component_bars,
    component_figure,
    component_image,
    component_spectrum,
    component_words,
)
from nspca.plots.gaps import gap_figure
from nspca.plots.published import with_paper_bound, with_rank3_bound
from nspca.plots.samples import groups_of, score_figure, sparsity_figure, spectrum_figure
from nspca.plots.spannogram import curves, highest, spans, top_set
from nspca.plots.sphere import STATUS, field, flat_map_figure, from_hammer, globe, hammer, sphere_figure
from nspca.plots.sweeps import certified, kind_words, sweep_figure
from nspca.plots.theme import alt_text, certainty, ratio_sentence, sheet

rng = np.random.default_rng(3)


def named(figure, name):
    return next(trace for trace in figure.data if trace.name == name)


def rows(ks, *, method="auto", value=0.5, upper=0.6, kind="B3"):
    return pd.DataFrame(
        {
            "method": method,
            "k": list(ks),
            "value": [value + 0.01 * k for k in ks],
            "upper": [upper + 0.01 * k for k in ks],
            "ratio": [(value + 0.01 * k) / (upper + 0.01 * k) for k in ks],
            "kind": kind,
            "seconds": 0.1,
        }
    )


# --- words ---


def test_what_holds_with_a_probability_is_never_called_proved():
    assert (
        ratio_sentence(0.9)
        == ratio_sentence(0.9, float("nan"))
        == "at least 90.0 % of the best possible, proved"
    )
    assert (
        ratio_sentence(0.9, 0.99799)
        == "at least 90.0 % of the best possible, with probability at least 99.7 %"
    )
    assert "proved" not in certainty(np.nextafter(1.0, 0.0)) + certainty(1.0)


# --- sweeps ---


def test_sweep_values_are_shares_of_the_unit_and_carry_their_k():
    figure = sweep_figure(rows([5, 10, 20]), unit=2.0)
    line = named(figure, "best found")
    assert list(line.x) == [5, 10, 20]
    assert np.allclose(line.y, [27.5, 30, 35])
    assert [tuple(c) for c in line.customdata] == [(5, "auto"), (10, "auto"), (20, "auto")]
    assert "at least 84.6 % of the best possible, proved" in line.text[0]
    assert "30 % of the leading eigenvalue" in line.text[1]
    upper = named(figure, "nothing above this (proved)")
    assert "35 % of the leading eigenvalue" in upper.text[1]
    assert "search over all mixtures" in upper.text[1]
    assert "No nonnegative sparse component" in upper.text[1]
    assert "at least 84.6 %" in alt_text(figure)


def test_band_is_the_best_value_and_the_least_bound_over_methods():
    frame = pd.concat([rows([5, 10]), rows([5, 10], method="other", value=0.55, upper=0.7, kind="B2")])
    region = certified(frame)
    assert np.allclose(region["lower"], [0.6, 0.65])
    assert np.allclose(region["upper"], [0.65, 0.7])
    figure = sweep_figure(frame, unit=1.0)
    outline = named(figure, "the optimum is in here (proved)")
    assert list(outline.x) == [5, 10, 10, 5, 5]
    assert np.allclose(outline.y, [60, 65, 70, 65, 60])


def test_a_k_that_is_not_ready_leaves_a_gap():
    figure = sweep_figure(rows([5, 10, 20, 30]), unit=1.0, all_ks=[5, 10, 15, 20, 25, 30])
    line = named(figure, "best found")
    assert list(line.x) == [5, 10, 15, 20, 25, 30]
    assert np.array_equal(np.isnan(line.y), [False, False, True, False, True, False])
    pieces = [
        list(g)
        for gap, g in itertools.groupby(
            named(figure, "the optimum is in here (proved)").x, lambda x: x is None
        )
        if not gap
    ]
    assert pieces == [
        [5, 10, 10, 5, 5],
        [18.75, 21.25, 21.25, 18.75, 18.75],
        [28.75, 31.25, 31.25, 28.75, 28.75],
    ]
    assert figure.layout.xaxis.range[0] < 5 and figure.layout.xaxis.range[1] > 30


def test_sweep_without_bounds_or_rows_draws_no_certified_region():
    frame = rows([5, 10])
    frame[["upper", "ratio"]] = np.nan
    figure = sweep_figure(frame, unit=1.0)
    assert "the optimum is in here (proved)" not in [t.name for t in figure.data]
    assert "nothing proved" in named(figure, "best found").text[0]
    empty = sweep_figure(frame.head(0), unit=1.0, all_ks=[5, 10])
    assert "no value is ready" in alt_text(empty)
    assert len(empty.data) == 0


@pytest.mark.parametrize(("upper", "listed"), [(0.6, True), (0.5, False)])
def test_a_band_without_room_has_no_entry_in_the_legend(upper, listed):
    frame = rows([5, 10]).assign(value=0.5, upper=upper)
    drawn = named(sweep_figure(frame, unit=1.0), "the optimum is in here (proved)")
    assert drawn.showlegend is listed


IN_HERE, PAPER, RANK_3 = (
    "the optimum is in here (proved)",
    "2014 paper's bound",
    "rank-3 bound, its exact form (proved)",
)
WITH_A_PROBABILITY = f"{PAPER} (probability 99.7 %)"


def test_the_paper_s_bound_is_a_second_shade_behind_ours_and_its_exact_form_a_line():
    frame = rows([5, 10], upper=0.6).assign(
        upper_rank3=[0.8, 0.9], upper_epsnet=[0.9, 1.1], epsnet_probability=0.9979
    )
    both = sweep_figure(frame, unit=1.0, bounds="both")
    names = [trace.name for trace in both.data]
    assert names.index(WITH_A_PROBABILITY) < names.index(RANK_3) < names.index(IN_HERE)
    assert np.allclose(named(both, PAPER).y, [90, 110]) and np.allclose(named(both, RANK_3).y, [80, 90])
    assert (
        "with probability at least 99.7 %" in named(both, PAPER).text[0]
        and "eps-net" in named(both, PAPER).text[0]
    )
    assert (
        "proved" in named(both, RANK_3).text[0]
        and "exact form of the 2014 paper's" in named(both, RANK_3).text[0]
    )
    assert "at least 84.6 % of the best possible, proved" in named(both, "best found").text[0]
    ours = sweep_figure(frame, unit=1.0)
    assert not {PAPER, RANK_3, WITH_A_PROBABILITY} & {trace.name for trace in ours.data}


def test_the_paper_s_bound_alone_proves_nothing():
    frame = rows([5, 10], upper=0.6).assign(
        upper_rank3=[0.8, 0.9], upper_epsnet=[0.9, 1.1], epsnet_probability=0.9979
    )
    alone = sweep_figure(frame, unit=1.0, bounds="paper")
    assert [trace.name for trace in alone.data] == [WITH_A_PROBABILITY, PAPER, RANK_3, "best found"]
    for said in (
        *named(alone, PAPER).text,
        *named(alone, "best found").text,
        alt_text(alone),
    ):
        assert "with probability at least 99.7 %" in said and "proved" not in said
    assert "at least 61.1 % of the best possible" in named(alone, "best found").text[0], (
        "what the paper's bound knows about the same component"
    )


@pytest.mark.parametrize("bounds", ["both", "paper"])
def test_a_sweep_without_the_other_bounds_shows_nothing_in_their_place(bounds):
    """An earlier run kept the exact bound as ``upper_paper``; and one without its probability is not the
    paper's.
    """
    frame = rows([5, 10], upper=0.6)
    for columns in (
        {},
        {"upper_paper": 0.9},
        {"upper_epsnet": 0.9},
        {"upper_epsnet": None, "upper_rank3": None},
    ):
        figure = sweep_figure(frame.assign(**columns), unit=1.0, bounds=bounds)
        assert (IN_HERE in [trace.name for trace in figure.data]) == (bounds == "both")
        assert not any("paper" in trace.name or "rank-3" in trace.name for trace in figure.data)
        assert ("proved" in named(figure, "best found").text[0].replace("nothing proved", "")) == (
            bounds == "both"
        )


def test_the_other_bounds_are_cut_at_the_leading_eigenvalue_and_say_so():
    frame = rows([5, 10], upper=0.6).assign(
        upper_rank3=[0.8, 1.05], upper_epsnet=[0.9, 1.1], epsnet_probability=0.9979
    )
    figure = sweep_figure(frame, unit=2.0, bounds="paper", ceiling=1.0)
    assert np.allclose(named(figure, PAPER).y, [45, 50]) and np.allclose(named(figure, RANK_3).y, [40, 50])
    for name in (PAPER, RANK_3):
        assert (
            "the leading eigenvalue" in named(figure, name).text[1]
            and "proved" in named(figure, name).text[1]
        )
        assert "leading eigenvalue, which" not in named(figure, name).text[0]
    assert "at least 59.9 % of the best possible, proved" in named(figure, "best found").text[1]
    assert "with probability at least 99.7 %" in alt_text(figure), "not all of it is proved"


def test_a_bound_that_a_component_passes_has_failed():
    frame = pd.DataFrame(
        {"k": [3, 3, 4, 4], "value": [1.0, 2.0, 1.5, 1.6], "upper_epsnet": [1.9, 1.9, 1.6, 1.6]}
    )
    frame = frame.assign(epsnet_probability=0.9, upper_rank3=3.0)
    seen = with_paper_bound(frame, ceiling=2.5)
    assert list(seen["upper"]) == [2.5, 2.5, 1.6, 1.6] and list(seen["kind"]) == [
        "l1",
        "l1",
        "epsnet",
        "epsnet",
    ]
    assert seen["probability"].isna().tolist() == [True, True, False, False]
    assert with_paper_bound(frame)["upper"].isna().tolist() == [True, True, False, False]


def test_a_ratio_to_another_bound_never_rounds_up():
    other = {
        "upper_epsnet": [3.0, 0.0, None],
        "upper_rank3": [3.0, 0.0, None],
        "epsnet_probability": [0.9, 0.9, None],
    }
    frame = pd.DataFrame({"k": [1, 2, 3], "value": [1.0, 0.0, 2.0]} | other, dtype=object)
    for seen in (with_paper_bound, with_rank3_bound):
        ratio = seen(frame)["ratio"]
        assert ratio[0] < 1 / 3 and ratio[1:].isna().all()


def test_the_curve_before_has_its_own_hundred_per_cent():
    figure = sweep_figure(rows([5, 10]), unit=1.0, before=(rows([5, 10, 20]), 2.0, "before: <b>signed</b>"))
    before = named(figure, "before: &lt;b&gt;signed&lt;/b&gt;")
    assert np.allclose(before.y, [27.5, 30, 35]) and "27.5 % of" in before.text[0]
    assert figure.data[-1].name == "best found", "a click finds the curve that is shown"


def test_the_label_of_k_stays_inside():
    label = lambda k, ks: sweep_figure(rows(ks), unit=1.0, selected_k=k).layout.annotations[-1]  # noqa: E731
    assert (label(5, [5, 10, 20]).xanchor, label(20, [5, 10, 20]).xanchor) == ("left", "right")
    assert label(10, [5, 10, 20]).x == 10 and label(10, [1, 2, 10, 1000]).x == 1.0, (
        "Plotly wants the logarithm"
    )


def test_the_axis_of_k_ends_where_the_values_of_k_end():
    for ks, place in (([5, 10, 20], float), ([1, 2, 10, 1000], np.log10)):
        axis = sweep_figure(rows(ks).head(0), unit=1.0, all_ks=ks).layout.xaxis
        assert (
            axis.minallowed == axis.range[0] < place(ks[0])
            and place(ks[-1]) < axis.range[1] == axis.maxallowed
        )
        assert (axis.type == "log") == (len(ks) == 4) and (
            axis.type != "log" or list(axis.tickvals) == [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]
        )


def test_the_axis_of_values_is_there_before_the_first_row_and_ends_at_the_largest_bound():
    empty = sweep_figure(rows([5]).head(0), unit=2.0, all_ks=[5, 10], ceiling=2.0)
    assert empty.layout.yaxis.range[0] == 0 and empty.layout.yaxis.range[1] >= 100
    whole = sweep_figure(rows([5, 10]), unit=1.0, ceiling=2.0).layout.yaxis
    assert whole.range[0] == 0 == whole.minallowed and whole.range[1] == whole.maxallowed
    wild = sweep_figure(rows([5]).assign(upper=50.0), unit=1.0, ceiling=1.0)
    assert wild.layout.yaxis.range[1] < 110, "a bound far above what is possible does not flatten the curve"


def test_the_knee_is_the_smallest_k_near_the_plateau():
    frame = rows([5, 10, 20, 30]).assign(value=[0.5, 0.949, 0.951, 1.0])
    assert nspca.knee(frame) == 20
    ring = named(sweep_figure(frame, unit=1.0, marked=20), "enough (≥ 95 % of the highest)")
    assert list(ring.x) == [20] and np.allclose(ring.y, [95.1])


def test_codes_of_bounds_stay_out_of_the_figure():
    figure = sweep_figure(rows([5, 10]), unit=1.0)
    assert "(B3)" not in str(figure) and kind_words("B3").endswith("(B3)")


def gap(lower, upper, unit=100.0):
    how = {"steps_name": "seconds", "unit": unit, "unit_name": "the leading eigenvalue"}
    return gap_figure(lower, upper, np.arange(len(lower)), **how)


def test_gap_and_rho():
    figure = gap([1, 2, 3], [9, 5, 3.1], unit=10.0)
    assert list(named(figure, "best found").y) == [10, 20, 30]
    assert np.allclose(named(figure, "bound").y, [90, 50, 31])
    assert "at least 96.7 %" in alt_text(figure)
    low, high = gap([10.0] * 3, [14.0, 10.8, 10.2]).layout.yaxis.range
    assert low < 10 and 10.8 < high < 12, "the first bound does not hide how the gap closes"
    low, high = gap([1.0, 9.0], [20.0, 10.0]).layout.yaxis.range
    assert low < 9 and high > 10
    low, high = gap([9.0] * 2, [9 + 3e-9, 9 + 1e-9]).layout.yaxis.range
    assert low < 9 < high and 1e-4 <= (high - low) / 9 < 2e-4, "ticks stay numbers that can be read"
    assert gap([5.0], [5.0]).layout.yaxis.range is None


# --- components ---


def test_image_leaves_pixels_outside_the_support_empty():
    x = np.array([0, 0.6, 0, 0, 0, 0.8])
    figure = component_figure(x, kind="image", image_shape=(2, 3), mean=np.arange(6.0))
    weights = np.asarray(figure.data[1].z)
    assert weights.shape == (2, 3)
    assert np.array_equal(np.isnan(weights), (x == 0).reshape(2, 3))
    assert (figure.data[1].zmin, figure.data[1].zmax) == (0, 0.8)
    assert figure.layout.yaxis.scaleanchor == "x" and figure.layout.yaxis.autorange == "reversed"
    signed = component_image(-x, (2, 3)).data[1]
    assert (signed.zmin, signed.zmax) == (-0.8, 0.8)


@pytest.mark.parametrize("kind", ["table", "words"])
def test_bars_of_features_that_are_not_proved_are_hatched(kind):
    x, sure = np.array([0.1, 0.8, 0, 0.5]), np.array([False, True, True, False])
    figure = component_figure(x, kind=kind, sure=sure)
    assert list(figure.data[0].marker.pattern.shape) == ["", "/", "/"], "largest weight first"
    assert "1 of them solid, the others hatched" in alt_text(figure)
    few = component_figure(x, kind=kind, sure=sure, top=2)
    assert list(few.data[0].marker.pattern.shape) == ["", "/"]
    assert component_figure(x, kind=kind).data[0].marker.pattern.shape is None


def test_pixels_that_are_not_proved_are_hatched_and_wavelengths_rings():
    x, sure = np.array([0, 0.6, 0, 0, 0, 0.8]), np.array([True, True, True, True, True, False])
    hatch = component_figure(x, kind="image", image_shape=(2, 3), sure=sure).data[-1]
    assert hatch.mode == "lines" and np.nanmin(hatch.x) >= 1.5 and np.nanmin(hatch.y) >= 0.5
    assert np.nanmax(hatch.x) <= 2.5 and np.nanmax(hatch.y) <= 1.5, "inside the pixel"
    figure = component_figure(x, kind="spectrum", axis=np.arange(6.0), sure=sure)
    assert list(figure.data[-1].marker.symbol) == ["circle", "circle-open"]


def test_spectrum_has_stems_at_the_support_and_breaks_where_the_axis_goes_back():
    axis = np.array([1.0, 2, 3, 2.5, 3.5])
    figure = component_figure(
        np.array([0, 0.6, 0, 0.8, 0]),
        kind="spectrum",
        axis=axis,
        axis_name="µm",
        mean=axis,
        spread=np.ones(5),
    )
    assert list(named(figure, "weights").x) == [2, 2.5]
    assert np.allclose(named(figure, "weights").y, [0.6, 0.8])
    means = [t for t in figure.data if t.name == "mean spectrum"]
    assert [list(t.x) for t in means] == [[1, 2, 3], [2.5, 3.5]]
    assert [t.showlegend for t in means] == [True, False]


def test_falling_axis_is_one_stretch():
    figure = component_spectrum(np.array([0.0, 1, 0]), [3, 2, 1], mean=np.array([30.0, 20, 10]))
    assert list(named(figure, "mean spectrum").x) == [1, 2, 3]
    assert list(named(figure, "mean spectrum").y) == [10, 20, 30]


def test_ranking_is_by_size_with_ties_in_order_and_markup_off():
    figure = component_bars(["a", "<b>", "c", "d", "e & f"], [0.1, -0.5, 0.1, 0, 0.4], 3)
    assert list(figure.layout.yaxis.ticktext) == ["&lt;b&gt;", "e &amp; f", "a"]
    assert list(figure.data[0].x) == [-0.5, 0.4, 0.1]
    assert figure.layout.title.text == "the 3 largest of 4"


@pytest.mark.parametrize("kind", ["words", "table"])
def test_bars_show_the_largest_of_many(kind):
    x = np.zeros(12582)
    x[100:200] = np.linspace(1, 0.1, 100)
    figure = component_figure(x, kind=kind)
    assert len(figure.data[0].x) == 40
    assert figure.layout.title.text == "the 40 largest of 100"
    assert "feature 100" in alt_text(figure)


def test_zero_component_is_drawn_as_nothing():
    for kind in ("words", "table"):
        assert "without" in alt_text(component_figure(np.zeros(5), kind=kind))
    assert component_figure(np.zeros(4), kind="image", image_shape=(2, 2))
    assert component_figure(np.zeros(4), kind="spectrum", axis=np.arange(4.0))


# --- samples ---


def test_scores_by_label_keep_every_sample_once():
    scores, labels = rng.normal(size=50), np.array(["b", "a"] * 25)
    figure = score_figure(scores, labels, [f"s{i}" for i in range(50)])
    assert [t.name for t in figure.data] == ["b", "a"]
    assert np.allclose(figure.data[0].x, scores[::2])
    assert list(figure.data[1].customdata[:2]) == ["s1", "s3"]
    assert np.abs(figure.data[0].y).max() < 0.5 > np.abs(figure.data[1].y + 1).max(), "strips stay apart"
    assert figure.to_json() == score_figure(scores, labels, [f"s{i}" for i in range(50)]).to_json()


def test_too_many_samples_are_thinned_and_said():
    figure = score_figure(np.arange(10001.0))
    assert len(figure.data[0].x) <= 4000
    assert "of 10,001 samples" in figure.layout.xaxis.title.text


def test_many_labels_share_a_last_group():
    labels = np.repeat(np.arange(30), 2)
    groups = groups_of(labels, 60)
    assert len(groups) == 12 and groups[-1][0] == "other labels"
    assert sorted(np.concatenate([r for _, r in groups])) == list(range(60))


def test_sheet_of_images_places_pixels():
    X = np.arange(9 * 6.0).reshape(9, 6)
    drawn = sheet(X, (2, 3), 8, room=1, gap=1)[0][1:]
    assert drawn.shape == (5, 31)
    assert np.array_equal(drawn[:2, :3], X[0].reshape(2, 3))
    assert np.array_equal(drawn[3:, :3], X[8].reshape(2, 3))
    assert np.isnan(drawn[2]).all() and np.isnan(drawn[:, 3]).all() and np.isnan(drawn[3:, 4:]).all()


def test_scree_adds_up():
    figure = spectrum_figure([6.0, 3.0, 1.0], 10.0)
    assert np.allclose(figure.data[0].y, [60, 30, 10])
    assert np.allclose(figure.data[1].y, [60, 90, 100])


def test_sparsity_counts_every_entry():
    X = sp.random(101, 307, density=0.05, random_state=0, format="csr")
    figure = sparsity_figure(X)
    share = np.asarray(figure.data[0].customdata, float)
    tall = np.ones(101)
    wide = np.bincount(np.arange(307) * 240 // 307)
    assert (share / 100 * np.outer(tall, wide)).sum() == pytest.approx(X.nnz, rel=1e-5)
    assert f"{X.nnz} of 101 × 307" in alt_text(figure)


# --- spannogram ---


def brute_top(values, k, nonneg):
    scores = np.maximum(values, 0) if nonneg else np.abs(values)
    return max(
        sum(scores[i] ** 2 for i in chosen) for chosen in itertools.combinations(range(len(values)), k)
    )


@pytest.mark.parametrize("nonneg", [True, False])
def test_spans_agree_with_brute_force(nonneg):
    V = rng.normal(size=(6, 2))
    found = spans(V, 3, nonneg, count=61)
    assert found.objective.shape == (2 if nonneg else 1, 61)
    for row, sign in zip(found.objective, (1, -1), strict=False):
        assert np.allclose(row, [brute_top(sign * v, 3, nonneg) for v in curves(V, found.phi).T])
    for sign, edges, sets in zip((1, -1), found.edges, found.sets, strict=False):
        assert len(edges) == len(sets) + 1 and (np.diff(edges) > 0).all()
        for left, right, members in zip(edges, edges[1:], sets, strict=False):
            middle = found.phi[np.argmin(abs(found.phi - (left + right) / 2))]
            assert np.array_equal(members, top_set(sign * curves(V, [middle])[:, 0], 3, nonneg))


def test_ties_go_to_the_lowest_index_and_zeros_stay_out():
    assert list(top_set([1, 2, 2, 2], 2)) == [1, 2]
    assert list(top_set([0, -1, 3], 2)) == [2]
    assert list(top_set([0, -4, 3], 1, nonneg=False)) == [1]
    assert list(top_set([-1, 0], 2)) == []


def test_degenerate_spans():
    for V in (
        np.zeros((4, 2)),
        np.ones((4, 2)),
        np.array([[1.0, 0]]),
        np.repeat(rng.normal(size=(2, 2)), 3, axis=0),
    ):
        for k in (1, len(V), len(V) + 2):
            found = spans(V, k, count=31)
            assert np.isfinite(found.objective).all()


@pytest.mark.parametrize("nonneg", [True, False])
def test_highest_is_exact_when_only_the_longest_rows_are_looked_at(nonneg):
    # Heavy tails stop early, equal lengths force every row to be read: both must agree with a plain sort.
    for V in (rng.standard_t(1.5, size=(2000, 3)), rng.normal(size=(2000, 3))):
        V[:500] /= np.linalg.norm(V[:500], axis=1, keepdims=True)
        directions = rng.normal(size=(40, 3))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        values = directions @ V.T
        expected = np.sort(np.maximum(values, 0) if nonneg else abs(values), axis=1)[:, -7:]
        assert np.allclose(
            np.sort(highest(V, directions, 7, nonneg), axis=1), expected, rtol=1e-12, atol=1e-12
        )


# --- sphere ---


def test_hammer_is_inverted_and_keeps_area():
    c = rng.normal(size=(4000, 3))
    c /= np.linalg.norm(c, axis=1, keepdims=True)
    x, y = hammer(c)
    assert np.allclose(from_hammer(x, y), c, atol=1e-9)
    # Uniform on the sphere is uniform on the map: half of it lies inside the ellipse of half the area.
    assert np.mean(x**2 / 8 + y**2 / 2 <= 0.5) == pytest.approx(0.5, abs=0.04)
    assert np.isnan(from_hammer(2.8, 1.4)).all()


@pytest.mark.parametrize("nonneg", [True, False])
def test_field_is_the_objective(nonneg):
    V, c = rng.normal(size=(6, 3)), rng.normal(size=(5, 3))
    assert np.allclose(field(V, 2, c, nonneg), [brute_top(V @ row, 2, nonneg) for row in c])


def test_both_pictures_of_the_sphere_have_a_trace_for_each_status_and_mark_the_best():
    world, best = globe(rng.normal(size=(20, 3)), 3, resolution=12), np.array([1.0, 2.0, -2.0])
    for figure in (sphere_figure(world, best), flat_map_figure(world, best)):
        names = [trace.name for trace in figure.data]
        assert {words for _, _, words in STATUS.values()} | {"best found"} <= set(names)
    x, y = (float(at[0]) for at in (figure.data[-2].x, figure.data[-2].y))
    assert figure.data[-2].name == "best found" and np.allclose(from_hammer(x, y), best / 3)
    # The browser puts the centres of the cones into the trace after their outline.
    for _, _, words in STATUS.values():
        assert figure.data[names.index(words)].fill == "toself"
        assert figure.data[names.index(words) + 1].hovertemplate.startswith("%{text}")


def test_every_figure_has_a_description_and_leaves_its_colours_to_the_theme():
    world = globe(np.eye(3), 1, resolution=6)
    made = [
        sweep_figure(rows([5, 10]), unit=1.0),
        gap([1], [2]),
        component_bars(["a"], [1.0]),
        component_words(["a"], [1.0]),
        component_image(np.ones(4), (2, 2)),
        component_spectrum(np.ones(3), np.arange(3.0)),
        score_figure(np.arange(5.0)),
        spectrum_figure([1.0], 1.0),
        sparsity_figure(np.eye(3)),
        sphere_figure(world, np.ones(3)),
        flat_map_figure(world, np.ones(3)),
    ]
    for figure in made:
        assert len(alt_text(figure)) > 20
        spec = json.loads(figure.to_json())["layout"]
        assert spec["template"]["layout"]["paper_bgcolor"] == "rgba(0,0,0,0)"
        assert "font" not in spec and "paper_bgcolor" not in spec
