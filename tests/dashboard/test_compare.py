"""Compare: methods side by side as a background run, further questions on buttons."""

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import nspca
from nspca.dashboard.compare import form as compare_form
from nspca.dashboard.compare.form import QUICK, default_ks, read_ks
from nspca.dashboard.compare.loadings import aligned
from nspca.dashboard.compare.more import agreement, frequencies
from nspca.dashboard.compare.page import known
from nspca.dashboard.compare.sections import shown
from nspca.dashboard.compare.seen import Seen
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.runs.tasks import TASKS
from nspca.dashboard.views.filling import says
from nspca.data.dataset import Dataset
from nspca.data.names import numbered
from nspca.errors import InvalidProblem
from nspca.jobs import JobState
from nspca.plots.compare import (
    overlap_figure,
    ranking_figure,
    ratios_figure,
    styles,
    times_figure,
    values_figure,
    weights_figure,
)
from nspca.progress import Event
from nspca.specs import ComparisonSpec, DataSpec
from nspca.specs.comparison import DEFAULT as FIRST
from nspca.specs.rows import Found, Proved, Refused

PAGE = "pages/compare.py"
SHORT = {"sample": "pitprops", "ks": "2-4", "rivals": "auto,threshold,pca"}


def open_section(page, name):
    """Open a section below the answer."""
    return page.segmented_control(key="widget_look").set_value(name).run()


@pytest.fixture
def done(visit, ended):
    """Return a finished short comparison."""
    page = visit(PAGE, **SHORT)
    page.button(key="run").click().run()
    return ended(page)


def test_it_opens_on_an_answer_and_stand_ins_say_so(visit, stand_ins, texts):
    page = visit(PAGE, sample="digits")
    assert not page.exception and not page.error
    assert (
        "**Stored answer** for 6 methods at 4 values of k, nonnegative: " in texts(page)
        and "compare" not in page.query_params
    )
    assert "**spanspca** has no nonnegative form" in texts(page)


def test_methods_with_the_same_features_are_named_by_group(visit, texts):
    page = visit(PAGE, sample="digits", k=5)
    assert "The methods of each of these groups do: auto, em and greedy; threshold and pca." in texts(page)


@pytest.mark.visit
def test_a_comparison_from_run_to_loadings(done, texts, alts):
    done.select_slider(key="widget_k").set_value(2).run()
    assert "All of them do" in texts(done) and not any("Overlap" in alt for alt in alts(done))
    done.select_slider(key="widget_k").set_value(3).run()
    assert not done.exception and not done.error
    said = " ".join(alts(done))
    assert "Variance explained against k for 3 methods" in said and "Weight of" in said
    assert "Overlap of the supports of 3 methods" in said
    assert "pca: baseline: the k largest weights" in texts(done)
    for look, drawn in (("proof", "Proved share of the best possible"), ("seconds", "Time of every method")):
        assert any(drawn in alt for alt in alts(open_section(done, look)))
    open_section(done, "numbers")
    table = done.dataframe[0].value
    assert set(table["method"]) == {"auto", "threshold", "pca"} and (table["ratio"] <= 1).all()
    direct = nspca.sweep(
        nspca.Problem.from_covariance(nspca.load_sample("pitprops").X, k=2), [2, 3, 4], certify=None
    )
    found = table.set_index(["method", "k"])["value"]
    assert found["auto", 4] == direct["auto", 4].value
    assert (table.groupby("k")["upper"].nunique() == 1).all()  # one certificate for each k


@pytest.mark.visit
def test_a_reload_finds_the_comparison_and_its_k(done, visit, address, texts):
    done.select_slider(key="widget_k").set_value(4).run()
    again = visit(PAGE, **address(done))
    assert not again.error and again.select_slider(key="widget_k").value == 4
    assert texts(again) == texts(done)


def test_another_workspace_does_not_see_it(done, visit, address, sentence):
    assert "no run with this address" in sentence(
        visit(PAGE, sample="pitprops", compare=address(done)["compare"])
    )


@pytest.mark.visit
def test_more_components_and_what_their_variance_means(done, ended, alts, texts):
    done.select_slider(key="widget_k").set_value(2).run()
    open_section(done, "components").button(key="components").click().run()
    page = ended(done)
    assert not page.error and not page.exception
    assert any("against the number of components" in alt for alt in alts(page))
    page.segmented_control(key="widget_counted").set_value("adjusted").run()
    assert "beyond those before it" in texts(page)
    page.select_slider(key="widget_k").set_value(4).run()
    assert page.button(key="components")  # another k is another question
    page.select_slider(key="widget_k").set_value(2).run()
    assert any("against the number of components" in alt for alt in alts(page))


@pytest.mark.visit
def test_stability_on_a_table_and_not_on_a_covariance(done, visit, ended, alts, texts):
    assert "has no rows to draw" in texts(open_section(done, "again"))
    page = visit(PAGE, sample="digits", ks="5", rivals="tpower,threshold")
    page.button(key="run").click().run()
    page = ended(page)
    open_section(page, "again").button(key="stability").click().run()
    page = ended(page)
    assert not page.error and not page.exception
    assert "mean overlap of two draws" in texts(page)
    assert sum("as 8 × 8 images" in alt for alt in alts(page)) == 2  # two pictures of frequencies


@pytest.mark.parametrize(
    ("ks", "said"),
    [
        ("0", "at least 1 and at most 13"),
        ("2, 99", "got 99"),
        ("five", "such as 5, 10, 20-25"),
        (" , ", "at least one value of k"),
    ],
)
def test_wrong_ks_are_one_sentence(visit, sentence, ks, said):
    page = visit(PAGE, **{**SHORT, "ks": ks})
    assert said in sentence(page).replace("&#45;", "-").replace("&#46;", ".")
    page.text_input(key="widget_ks").set_value("3").run()
    assert not page.error and page.button(key="run")


@pytest.mark.visit
def test_a_method_that_refuses_is_left_out_with_its_sentence(visit, ended, texts, monkeypatch):
    monkeypatch.setattr("nspca.dashboard.runs.methods.refusals", lambda *problem: {"auto": None, "nmf": None})
    page = visit(PAGE, **{**SHORT, "rivals": "auto,nmf"})
    page.button(key="run").click().run()
    page = ended(page)
    assert not page.error and not page.exception
    assert "**nmf** left out" in texts(page) and "works on data" in texts(page)


def test_cancel_keeps_what_was_ready(visit, texts):
    page = visit(PAGE, sample="orl-faces", rivals="spca,nmf,em", effort="thorough")
    page.button(key="run").click().run()
    page.button(key="cancel").click().run()
    assert "Cancelled" in texts(page) and page.button(key="again")
    assert not page.exception and not page.error


def test_a_failed_run_is_one_sentence(visit, ended, sentence, monkeypatch):
    monkeypatch.setitem(TASKS, "comparison", "nspca.specs.job:not_there")
    page = visit(PAGE, **SHORT, signed=1)
    page.button(key="run").click().run()
    page = ended(page)
    assert "not_there" in sentence(page).replace("&#95;", "_") and page.button(key="again")


def test_a_cancelled_run_hands_in_what_was_ready():
    events, X = [], nspca.load_sample("digits").X
    spec = ComparisonSpec(ks=(3, 6), methods=("auto", "pca", "threshold"))

    def until(stop):
        def report(event):
            events.append(event)
            if stop(event):
                raise nspca.errors.Cancelled

        with pytest.raises(nspca.errors.Cancelled) as cancelled:
            spec.run(report, X=X)
        return cancelled.value.result

    found = lambda event: event.payload.get("row", {})  # noqa: E731
    assert until(lambda event: event.stage == "leading eigenvectors") is None
    early = until(lambda event: found(event).get("method") == "auto" and found(event)["k"] == 3)
    assert list(early) == [("auto", 3), ("pca", 3), ("pca", 6), ("threshold", 3), ("threshold", 6)], (
        "the cheapest were first"
    )
    late = until(lambda event: found(event).get("row") == "proved")
    assert (
        len(late) == 6
        and late["pca", 3].certificate is late["auto", 3].certificate
        and late["pca", 6].certificate is None
    )
    assert nspca.verify(X, late["pca", 3].certificate) >= late["auto", 3].value


def test_the_axes_are_there_before_the_first_point():
    empty = values_figure(
        known([]), unit=50.0, unit_name="x", ks=[5, 160], style=styles(["a"]), ceiling=40.0
    ).layout
    assert (
        list(empty.yaxis.range) == [0, 84]
        and empty.xaxis.range is not None
        and "nothing is ready yet" in empty.meta["alt"]
    )


@pytest.mark.parametrize(
    ("n", "methods", "ks"),
    [
        (13, FIRST, tuple(range(1, 14))),
        (100, FIRST, (5, 10, 20, 40, 80)),
        (361, FIRST, (5, 20, 80)),
        (1000, FIRST, (5, 20, 80)),
        (1001, QUICK, (5, 20, 80)),
    ],
)
def test_of_many_features_fewer_k_are_compared_unasked_and_of_very_many_fewer_methods(n, methods, ks):
    X = np.random.default_rng(n).standard_normal((12, n))
    data = Dataset("made", X, numbered("feature", n), numbered("sample", 12))
    asked = compare_form.usual(Chosen(data, DataSpec(sample="made"), "made"))
    assert (asked.methods, asked.ks) == (methods, ks)


def test_values_of_k_are_read_and_have_a_default():
    assert read_ks("2, 4–6 ; 9", 13) == (2, 4, 5, 6, 9)
    with pytest.raises(InvalidProblem, match="at most 60"):
        read_ks("1-400", 400)
    assert default_ks(13) == tuple(range(1, 14)) and default_ks(361) == (5, 10, 20, 40, 80, 160)
    assert default_ks(20) == (5, 10) and max(default_ks(12582)) == 160


def test_rows_become_a_table_with_its_proofs():
    value = Found("em", 3, 2.0, seconds=0.1)
    table = known([value, Refused("nmf", "no"), replace(value, k=4), Proved(3, 2.5, "B3")])
    assert table["upper"][0] == 2.5 and np.isnan(table["upper"][1]) and len(table) == 2


def test_components_of_any_sign_are_turned_alike():
    X = np.array([[-1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    assert np.array_equal(aligned(X), [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])


def test_frequency_and_agreement_by_hand():
    supports = [[0, 1], [0, 2]]
    assert np.array_equal(frequencies(supports, 4), [1, 0.5, 0.5, 0])
    assert agreement(supports) == pytest.approx(1 / 3) and agreement([[1]]) == 1.0


def test_figures_say_what_they_show():
    style = styles(["a", "b"], ["b"])
    for look in ("line", "width"), ("marker", "size"):  # equal curves show around each other
        assert style["a"][look[0]][look[1]] > style["b"][look[0]][look[1]]
    assert (
        style["b"]["line"]["dash"] == "dot"
        and style["b"]["marker"]["symbol"].endswith("open")
        and style["a"]["line"]["dash"] == "solid"
    )
    rows = [{"method": m, "k": k, "value": v, "upper": 4.0, "ratio": v / 4, "kind": "B0", "seconds": v} for m,
    k, v in
            [("a", 1, 2.0), ("a", 20, 3.0), ("b", 1, 1.0), ("b", 20, 2.0)]]  # fmt: skip
    look = {"ks": [1, 2, 20], "style": style, "selected": 20}
    figure = values_figure(rows, unit=4.0, unit_name="the leading eigenvalue", **look)
    assert figure.layout.meta["alt"].endswith("At k = 20, of the leading eigenvalue: a 75 %, b 50 %.")
    assert figure.layout.xaxis.type == "log" and list(figure.data[-1].y) == [25.0, 50.0]
    assert sum(bool(trace.fill) for trace in figure.data) == 1  # the certified band, once
    assert "a 50.0 %" in ratios_figure(rows, **look).layout.meta["alt"]
    assert times_figure(rows, **look).layout.yaxis.type == "log"
    assert (
        "least alike are a and &lt;b&gt; with 0.50"
        in overlap_figure({"a": [1, 2], "<b>": [2]}).layout.meta["alt"]
    )
    assert list(
        weights_figure(np.array([[0.1], [0.0], [-0.9]]), ["x", "y", "z"], ["a"]).layout.yaxis.ticktext
    ) == ["z", "x"]


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (JobState("x", "starting"), "Starting workers …"),
        (JobState("x", "queued", place=2), "Waiting: place 2 in the queue"),
        (JobState("x", "running"), "1 of 9 ready"),
        (
            JobState("x", "running", event=Event("em", k=5)),
            "1 of 9 ready; em &#40;multiply and shrink&#41;, k = 5",
        ),
    ],
)
def test_what_is_said_while_it_runs(now, said):
    assert says(now, 1, 9) == said


def test_the_headline_counts_the_bars_and_the_others_are_in_the_same_per_cent(visit, alts):
    page = visit(PAGE, sample="pitprops", k=3)
    assert not page.exception and not page.error
    said = [element.value for element in page.markdown]
    headline = next(text for text in said if text.startswith("## ")).replace("\N{NO-BREAK SPACE}", " ")
    assert "Each bar is what one method captures. Move the slider to compare with more or fewer." in said
    assert headline.startswith("## With 3 features, 3 of 6 methods do best: 58.6 % of the variance ")
    assert headline.endswith(" It is proved that no 3 features with nonnegative weights capture more.")
    pitprops = nspca.load_sample("pitprops").X
    problem = nspca.Problem.from_covariance(pitprops, 3)
    found = [nspca.solve(problem, method).value for method in FIRST]
    assert sum(value >= max(found) * (1 - 1e-6) for value in found) == 3 and len(found) == 6, "as many bars"
    value = nspca.solve(problem, "threshold").value / problem.leading_eigenvalue
    bars = next(alt for alt in alts(page) if "threshold (largest weights) " in alt and " %" in alt)
    share = bars.partition("threshold (largest weights) ")[2].partition(" %")[0]
    assert 0 <= 100 * value - float(share) < 0.1


def test_methods_with_the_same_number_on_their_bars_do_equally_well():
    data = nspca.load_sample("pitprops")
    problem = nspca.Problem.from_covariance(data.X, 3)
    best = nspca.solve(problem)
    x = best.components[:, 0].copy()
    x[np.flatnonzero(x)[0]] *= 1.003
    near = nspca.Result.of(problem, (x / np.linalg.norm(x))[:, None], nspca.Status.HEURISTIC, "near")
    assert 1e-6 < 1 - near.value / best.value < 1e-4
    seen = object.__new__(Seen)
    seen.data, seen.problem = SimpleNamespace(dataset=data), problem
    seen.ks, seen.k, seen.of_k = [3], 3, {"tpower": near, "auto": best}
    said, headline, _ = seen.sentences()
    assert headline.startswith(f"With 3 features, all 2 methods do equally well: {said.share_text} of")
    seen.of_k["tpower"] = nspca.solve(problem, "threshold")
    assert seen.sentences()[1].startswith("With 3 features, auto &#40;best of several&#41; does best: ")


def test_the_headline_is_about_the_best_of_all_methods_however_near_another_is():
    data = nspca.load_sample("pitprops")
    problem = nspca.Problem.from_covariance(data.X, 3)
    found = nspca.solve(problem)
    above, below = (
        replace(found, values=np.array([share * problem.leading_eigenvalue]))
        for share in (0.5860001, 0.5859999)
    )
    assert 1 - below.value / above.value < 1e-6
    seen = object.__new__(Seen)
    seen.data, seen.problem = SimpleNamespace(dataset=data), problem
    seen.ks, seen.k, seen.of_k = [3], 3, {"tpower": below, "auto": above}
    headline = seen.sentences()[1]
    assert headline.startswith("With 3 features, auto &#40;best of several&#41; does best: 58.60 % of ")


def test_a_value_that_equals_the_best_is_all_of_the_best():
    frame = pd.DataFrame({"method": list("abc"), "k": 3, "value": [2.0, 2.0 - 1e-15, 1.9]})
    assert list(shown(frame.assign(ratio=0.9, upper=2.1, seconds=0.1))["best"]) == [1.0, 1.0, 0.95]


def test_how_good_the_best_is_stands_below_the_headline_and_follows_from_its_numbers(reopened):
    page = reopened(PAGE, "compare", sample="digits", k=14, ks="14", rivals="auto,threshold")
    said = [element.value.replace("\N{NO-BREAK SPACE}", " ") for element in page.markdown]
    headline = next(text for text in said if text.startswith("## "))
    below = next(text for text in said if text.startswith("This is at least "))
    found, limit = (float(number) for number in re.findall(r"([\d.]+) %", headline))
    guarantee = float(re.match(r"This is at least ([\d.]+) % of the best possible, proved\. ", below)[1])
    assert guarantee < 100 and abs(100 * found / limit - guarantee) < 0.1


def test_no_method_has_the_colour_or_the_mark_of_the_proved_region():
    from nspca.dashboard.runs.methods import ALL
    from nspca.presentation.colours import PROVED
    from nspca.presentation.phrases import RIVALS

    assert set(ALL) == set(RIVALS), "every method has a plain word"
    looks = styles(ALL).values()
    assert PROVED not in {look["line"]["color"] for look in looks}
    drawn = values_figure(
        [{"method": "a", "k": k, "value": 1.0, "upper": 2.0, "kind": "B0"} for k in (1, 2)],
        unit=4.0,
        unit_name="x",
        ks=[1, 2],
        style=styles(["a"]),
    )
    assert {"the optimum is in here (proved)", "nothing above this (proved)"} <= {
        one.name for one in drawn.data
    }
    assert not any(one.showlegend is False for one in drawn.data), "one legend has everything"


def test_the_ranking_has_the_largest_bar_on_top_and_the_limit_of_the_page():
    values = {"tpower": 2.0, "auto": 3.0, "em": 1.0}
    figure = ranking_figure(values, unit=4.0, unit_name="all", upper=3.5, limit="87.5 %", places=1)
    (bars,) = figure.data
    assert list(bars.x) == [25.0, 50.0, 75.0] and bars.y[-1].startswith("auto")
    assert list(bars.text) == ["25.0 %", "50.0 %", "75.0 %"]
    assert figure.layout.shapes[0].x0 == 87.5 and figure.layout.annotations[0].text == "proved limit 87.5 %"
    assert "auto (best of several) 75.0 %" in figure.layout.meta["alt"]
    bare = ranking_figure(values, unit=4.0, unit_name="all", upper=None, limit="", places=1)
    assert not bare.layout.shapes
