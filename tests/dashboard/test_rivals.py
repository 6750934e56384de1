"""Methods side by side below a sweep: the question, the run, the answer, and what else can be asked of it."""

import io
import os
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import nspca
from nspca.dashboard.history.descriptions import describe_runs
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.runs.tasks import TASKS
from nspca.dashboard.sweep import rivals
from nspca.dashboard.sweep.rivals import (
    agreement,
    aligned,
    compared,
    default_ks,
    frequencies,
    known,
    read_ks,
    sentences,
    shown,
)
from nspca.errors import InvalidProblem
from nspca.jobs import engine
from nspca.plots.compare import (
    ranking_figure,
    ratios_figure,
    styles,
    times_figure,
    values_figure,
    weights_figure,
)
from nspca.specs import ComparisonSpec, DataSpec
from nspca.specs.rows import Found, Proved, Refused
from nspca.specs.sweep import COMPARED
from tests.cancelling import cancelled
from tests.patience import wait_for

PAGE = "pages/sweep.py"
HERE = {"PYTHONPATH": str(Path(nspca.__file__).parents[1])}
SHORT = {"sample": "pitprops", "to": 4, "ks": "2-4", "rivals": "auto,threshold,pca"}


@pytest.fixture
def done(arrive, address):
    """``done(**values)``: the page Sweep with a finished comparison."""

    def run(**values):
        page = arrive(**(SHORT | values))
        assert not page.exception and not page.error
        page.button(key="rivals_run").click().run()
        return settle(page)

    def settle(page):
        mine = address(page)["w"]
        wait_for(lambda: all(engine().status(run.id).ended for run in engine().store.list_runs(mine)))
        return page.run()

    run.settle = settle
    return run


def open_section(page, name):
    return page.segmented_control(key="widget_look").set_value(name).run()


def test_the_section_is_folded_and_makes_nothing_until_it_is_opened(arrive, texts):
    page = arrive(sample="pitprops")
    (fold,) = [one for one in page.expander if one.label == "Methods side by side"]
    assert not fold.children and not page.exception
    page.session_state["rivals"] = True
    page.run()
    assert (
        page.button(key="rivals_run").label == f"Compare {len(COMPARED)} methods at 13 values of k: a moment"
    )
    assert "spca" in texts(page) and "3 methods cannot answer this question" in texts(page)


def test_a_comparison_from_run_to_its_sections_and_back_by_its_address(done, visit, texts, alts, address):
    page = done()
    page.select_slider(key="widget_at_k").set_value(3).run()
    said = " ".join(alts(page))
    assert "Variance explained against k for 3 methods" in said and "Weight of" in said
    assert "Do they choose the same features?" in texts(page)
    assert "pca: baseline: the k largest weights" in texts(page)
    for look, drawn in (("proof", "Proved share of the best possible"), ("seconds", "Time of every method")):
        assert any(drawn in alt for alt in alts(open_section(page, look)))
    assert "is a covariance matrix without rows" in texts(open_section(page, "again"))
    open_section(page, "numbers")
    table = next(one.value for one in page.dataframe if "method" in one.value)
    assert set(table["method"]) == {"auto", "threshold", "pca"} and (table["ratio"] <= 1).all()
    problem = nspca.Problem.from_covariance(nspca.load_sample("pitprops").X, k=2)
    direct = nspca.sweep(problem, [2, 3, 4], certify=None)
    assert table.set_index(["method", "k"])["value"]["auto", 4] == direct["auto", 4].value
    assert (table.groupby("k")["upper"].nunique() == 1).all()  # one certificate for each k
    again = visit(PAGE, **address(page))
    assert not again.error and again.select_slider(key="widget_at_k").value == 3
    assert texts(again) == texts(page)
    (run,) = describe_runs(engine().store.list_runs(address(page)["w"]))
    assert run.page == PAGE and run.query["ks"] == "2, 3, 4" and run.query["rivals"] == SHORT["rivals"]
    other = visit(PAGE, **{**address(page), "w": "another"})
    assert not other.exception and other.button(key="rivals_run")


def test_the_zip_computes_the_comparison_again_and_checks_its_proofs(tmp_path):
    data = nspca.load_sample("pitprops")
    asked = ComparisonSpec(data=DataSpec(sample="pitprops"), ks=(2, 10), methods=("auto", "threshold"))
    problem = nspca.Problem.from_covariance(data.X, k=2)
    seen = compared(Chosen(data, asked.data, "content"), asked, problem, asked.run(lambda event: None))
    with zipfile.ZipFile(io.BytesIO(rivals.taken(seen).pack({}, {}))) as packed:
        packed.extractall(tmp_path)
    (folder,) = tmp_path.iterdir()
    table = pd.read_csv(folder / "tables" / "methods.csv")
    assert len(table) == 4 and set(table["certificate"]) == {"certificates/k02.npz", "certificates/k10.npz"}
    for row in table.itertuples():
        proof = nspca.Certificate.load(folder / row.certificate)
        assert row.value <= nspca.verify(data.X, proof, problem.with_k(row.k)) <= row.upper
    script = [sys.executable, "reproduce.py"]
    ended = subprocess.run(script, cwd=folder, capture_output=True, text=True, env=os.environ | HERE)
    assert ended.returncode == 0, ended.stderr
    assert "k02.npz" in ended.stdout and "threshold" in (folder / "report.html").read_text("utf-8")


@pytest.mark.visit
def test_more_components_and_other_samples(done, alts, texts):
    page = done(sample="digits", ks="5", rivals="tpower,threshold")
    open_section(page, "components").button(key="components").click().run()
    page = done.settle(page)
    assert any("against the number of components" in alt for alt in alts(page))
    page.segmented_control(key="widget_counted").set_value("adjusted").run()
    assert "beyond those before it" in texts(page)
    open_section(page, "again").button(key="stability").click().run()
    page = done.settle(page)
    assert not page.error and not page.exception and "mean overlap of two draws" in texts(page)
    assert any("2 components by each method as 8 × 8 images" in alt for alt in alts(page)), "frequencies"


def test_a_wrong_question_is_one_sentence(arrive, sentence):
    page = arrive(**{**SHORT, "ks": "2, 99"})
    assert "at least 1 and at most 13" in sentence(page) and "got 99" in sentence(page)
    page.text_input(key="widget_ks").set_value("3").run()
    assert not page.error and page.button(key="rivals_run")


@pytest.mark.visit
def test_a_method_that_refuses_is_left_out_with_its_sentence(done, texts, monkeypatch):
    monkeypatch.setattr("nspca.dashboard.runs.methods.refusals", lambda *problem: {"auto": None, "nmf": None})
    assert "**nmf** left out: " in texts(done(rivals="auto,nmf", ks="2"))


def test_a_run_is_cancelled_and_can_run_again(arrive, texts, monkeypatch):
    monkeypatch.setitem(TASKS, "comparison", "tests.jobs.background_tasks:ready")
    page = arrive(**SHORT, k=3)
    page.button(key="rivals_run").click().run()
    page.button(key="cancel_rivals_run").click().run()
    assert "Cancelled" in texts(page) and page.button(key="again_rivals_run")
    assert not page.exception and not page.error


def test_a_cancelled_run_hands_in_what_was_ready():
    X = nspca.load_sample("digits").X
    spec = ComparisonSpec(ks=(3, 6), methods=("auto", "pca", "threshold"))

    def until(stop):
        return cancelled(spec.run, X=X, when=lambda seen: stop(seen[-1]))[0].result

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


def test_values_of_k_are_read_and_have_a_default():
    assert read_ks("2, 4–6 ; 9", 13) == (2, 4, 5, 6, 9)
    for wrong, said in (
        ("0", "at least 1 and at most 400, .* got 0"),
        ("five", "such as 5, 10, 20-25, got five"),
        (" , ", "takes 1 to 60 values of k, got none"),
        ("1-400", "takes 1 to 60 values of k, got 61"),
    ):
        with pytest.raises(InvalidProblem, match=said):
            read_ks(wrong, 400)
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
    assert list(
        weights_figure(np.array([[0.1], [0.0], [-0.9]]), ["x", "y", "z"], ["a"]).layout.yaxis.ticktext
    ) == ["z", "x"]


def test_methods_with_the_same_number_on_their_bars_do_equally_well():
    data = nspca.load_sample("pitprops")
    problem = nspca.Problem.from_covariance(data.X, 3)
    best = nspca.solve(problem)
    x = best.components[:, 0].copy()
    x[np.flatnonzero(x)[0]] *= 1.003
    near = nspca.Result.of(problem, (x / np.linalg.norm(x))[:, None], nspca.Status.HEURISTIC, "near")
    assert 1e-6 < 1 - near.value / best.value < 1e-4
    seen = SimpleNamespace(of=SimpleNamespace(dataset=data), problem=problem, k=3)
    seen.results = {"tpower": near, "auto": best}
    said, headline, _ = sentences(seen)
    assert headline.startswith(f"With 3 features, all 2 methods do equally well: {said.share_text} of")
    seen.results["tpower"] = nspca.solve(problem, "threshold")
    assert sentences(seen)[1].startswith("With 3 features, auto &#40;best of several&#41; does best: ")


def test_the_headline_is_about_the_best_of_all_methods_however_near_another_is():
    data = nspca.load_sample("pitprops")
    problem = nspca.Problem.from_covariance(data.X, 3)
    found = nspca.solve(problem)
    above, below = (
        replace(found, values=np.array([share * problem.leading_eigenvalue]))
        for share in (0.5860001, 0.5859999)
    )
    assert 1 - below.value / above.value < 1e-6
    seen = SimpleNamespace(of=SimpleNamespace(dataset=data), problem=problem, k=3)
    seen.results = {"tpower": below, "auto": above}
    headline = sentences(seen)[1]
    assert headline.startswith("With 3 features, auto &#40;best of several&#41; does best: 58.6 % of ")


def test_a_value_that_equals_the_best_is_all_of_the_best():
    frame = pd.DataFrame({"method": list("abc"), "k": 3, "value": [2.0, 2.0 - 1e-15, 1.9]})
    assert list(shown(frame.assign(ratio=0.9, upper=2.1, seconds=0.1))["best"]) == [1.0, 1.0, 0.95]


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
