"""A search until a component is proved optimal is started, watched, cancelled, resumed and ended."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import nspca
from nspca.dashboard import home
from nspca.dashboard.learn import screens
from nspca.dashboard.learn.lesson import lesson
from nspca.dashboard.proof import attempts as proofs
from nspca.dashboard.proof import optimal
from nspca.dashboard.proof.optimal import chip, progress_words
from nspca.dashboard.runs import first_answer, lookup
from nspca.dashboard.runs.answer import Attempt
from nspca.dashboard.runs.tasks import spec_of
from nspca.jobs import JobState, engine
from nspca.plots.sweeps import OPTIMAL
from nspca.progress import Event
from nspca.specs import DataSpec, OptimumSpec, SweepSpec
from nspca.specs.optimum import Standing
from tests.dashboard.figures import figures, slider
from tests.patience import wait_for

PAGE = "pages/sweep.py"
PROVED = ": proved. They keep"
SEARCHES = optimal._searches_by_itself
EASY = {"sample": "digits", "from_": 12, "to": 12, "step": 1, "signed": 1}
HARD = {"sample": "digits", "from_": 20, "to": 20, "step": 1, "signed": 1}


def searches(page, address) -> list:
    runs = engine().store.list_runs(address(page)["w"])
    return [run for run in runs if run.function == "optimum"]


def standing(run_id, nodes=0, certain=0):
    """Return the standing of a search after so many nodes, with so many certain features."""

    def looked():
        found = Standing.of(engine().status(run_id).event, 64)
        is_there = found is not None and found.nodes >= nodes and found.certain.sum() >= certain
        return found if is_there else None

    return wait_for(looked)


def automatic(asked) -> list:
    """Return the searches that pages began by themselves about the problem of a question."""
    return [
        run for run, spec in lookup.find_all(OptimumSpec, everybody=asked.content) if spec.k == asked.ks[0]
    ]


@pytest.mark.visit
def test_a_page_searches_by_itself_and_what_it_proved_stays(visit, ran, address, texts, monkeypatch):
    monkeypatch.setattr(optimal, "_searches_by_itself", SEARCHES)
    page = ran(PAGE, **EASY)
    asked = spec_of(engine().store.list_runs(address(page)["w"])[0])
    (run,) = automatic(asked)
    wait_for(lambda: engine().status(run.id).ended)
    page = visit(PAGE, **address(page))
    assert not page.exception and not page.error and not searches(page, address)
    assert PROVED in texts(page)
    assert not [button for button in page.button if button.key == "best"]
    assert OPTIMAL in [trace.get("name") for trace in figures(page)[0]["data"]]
    other = ran(PAGE, **EASY)  # another visitor
    assert PROVED in texts(other) and len(automatic(asked)) == 1


@pytest.mark.visit
def test_a_search_begins_with_what_the_sweep_proved(ran, address, given):
    page = ran(PAGE, **HARD)
    proved = nspca.Sweep.from_bytes(engine().result(address(page)["run"]))["auto", 20].certificate
    page.button(key="best").click().run()
    first = searches(page, address)[0]
    began = nspca.Certificate.from_bytes(given[-1]["certificate"])
    assert (began.upper, began.tree is None) == (proved.upper, proved.tree is None)
    standing(first.id)
    assert engine().status(first.id).event.upper <= proved.upper
    engine().cancel(first.id)
    wait_for(lambda: engine().status(first.id).ended and not engine().hands_in(first.id))


@pytest.mark.visit
def test_a_sweep_knows_what_home_and_other_sweeps_have_proved(visit, finish, address, texts, ran):
    of_home = ran(PAGE, sample="digits", from_=14, to=14, step=1)
    assert "These 14 pixels are the best 14" in texts(of_home), "the stored answer of Home proves it"
    first = ran(PAGE, sample="digits", from_=3, to=3, step=1, signed=1)
    second = visit(PAGE, **address(first) | {"from": 4, "to": 5, "run": None})
    second.button(key="run").click().run()
    second = finish(second)
    assert slider(second)["ks"] == [3, 4, 5]


def test_a_search_goes_on_with_the_last_tree_and_the_smallest_bound(poor):
    _, attempt = poor
    tree = replace(attempt.certificate, upper=9.0)
    of_sweep = replace(tree, form="diagonal", witness={}, upper=8.0)
    tried = [replace(attempt, certificate=tree)]
    known = optimal._known(of_sweep, tried)
    assert known.upper == 8.0 and known.form == "diagonal" and known.tree is tree.tree
    assert optimal._known(tree, tried) is tree
    assert optimal._known(of_sweep, []) is of_sweep
    assert optimal._known(None, []) is None


@pytest.fixture
def given(monkeypatch):
    """Return a list to which every run started in the test adds what it was given."""
    kept, start = [], proofs.start.start
    keep = lambda *asked, **more: kept.append(more) or start(*asked, **more)  # noqa: E731
    monkeypatch.setattr(proofs.start, "start", keep)
    return kept


@pytest.mark.visit
@pytest.mark.parametrize("stored", [True, False])
def test_home_asks_the_question_where_its_stored_answer_is_missing(visit, texts, monkeypatch, stored):
    if not stored:
        monkeypatch.setattr(first_answer, "find_same_problem", lambda *given: None)
        monkeypatch.setattr(first_answer, "find_stored", lambda *given: None)
    home.digits.clear()
    page = visit("app.py", digit_k=14)
    home.digits.clear()
    assert ("with nonnegative weights: proved. They keep" in texts(page)) is stored


@pytest.fixture(scope="module")
def poor():
    """Return a sweep with a poor component, the search that found a better one, and the question."""
    data = DataSpec(sample="digits")
    asked = SweepSpec(data=data, ks=(3,))
    spec = OptimumSpec(**asked.about_problem(), k=3)
    problem = spec.problem(nspca.load_sample("digits").X)
    worse = nspca.Result.of(problem, np.eye(64)[:, 20], nspca.Status.HEURISTIC, "auto")
    sweep = nspca.Sweep({("auto", 3): worse})
    found = spec.run(X=nspca.load_sample("digits").X, component=worse.components[:, 0])
    return sweep, Attempt("a", 3, JobState("a", "done"), found.certificate, spec, found)


@pytest.mark.visit
def test_the_page_says_that_a_better_component_was_found(ran, poor, monkeypatch, texts):
    _, attempt = poor
    page = ran(PAGE, sample="digits", from_=3, to=3, step=1)
    sweep = poor[0]
    monkeypatch.setattr("nspca.dashboard.runs.lookup.read_sweep", lambda now: sweep)
    monkeypatch.setattr(proofs, "attempts", lambda asked: [attempt])
    page.run()
    assert not page.exception and not page.error
    assert "A search found this better component" in texts(page) and PROVED in texts(page)


def test_progress_in_a_line():
    event = Event("proving the optimum", lower=3.0, upper=4.0, payload={"open": 1, "nodes": 7})
    said = progress_words(JobState("a", "running", event=event))
    assert said == "at least 75.0 % of the best, still rising"
    assert progress_words(JobState("a", "running")) == "searching"
    known = progress_words(JobState("a", "running", event=event), 0.8)
    assert known == "at least 80.0 % of the best, still rising", "what was proved is not lost"
    assert progress_words(JobState("a", "running"), 0.8) == known
    assert Standing.of(replace(event, payload={"certain": "zz", "possible": 3}), 4) is None


def test_what_is_proved_in_a_few_words():
    assert chip(1.0) == chip(0.0) == ""
    assert chip(0.9701) == "the best within 3.0 %: proved"
    assert chip(0.99999) == "the best within 0.001 %: proved"
    assert chip(0.5) == "at least 50.0 % of the best: proved"


def test_the_steps_of_the_lesson_only_settle_more():
    of = lesson()
    steps = screens.search(of.of.content, of).standings
    assert len(steps) > 2
    for before, now in pairwise(steps):
        assert (now.possible <= before.possible).all()
        assert now.open == 0 or (before.certain <= now.certain).all()
