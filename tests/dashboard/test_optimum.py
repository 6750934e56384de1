"""A search until a component is proved optimal is started, watched, cancelled, resumed and ended."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import nspca
from nspca.dashboard import home
from nspca.dashboard.learn import fixing
from nspca.dashboard.learn.lesson import lesson
from nspca.dashboard.proof import attempts as proofs
from nspca.dashboard.proof import optimal
from nspca.dashboard.proof.answer import Answer
from nspca.dashboard.proof.optimal import LABEL, LIMITS, PROVED, progress_words
from nspca.dashboard.runs import first_answer
from nspca.dashboard.runs.tasks import spec_of
from nspca.jobs import JobState, engine
from nspca.plots.fixing import BEST
from nspca.plots.sweeps import OPTIMAL
from nspca.progress import Event
from nspca.specs import DataSpec, OptimumSpec, SweepSpec
from nspca.specs.optimum import Standing
from tests.dashboard.figures import figures
from tests.patience import wait_for

PAGE = "pages/sweep.py"
HARD = {"sample": "digits", "from_": 24, "to": 24, "step": 1, "signed": 1}


def searches(page, address) -> list:
    runs = engine().store.list_runs(address(page)["w"])
    return [run for run in runs if run.function == "optimum"]


def begun(visit, finish, **query):
    page = visit(PAGE, **query)
    page.button(key="run").click().run()
    return finish(page)


def standing(run_id, nodes=0, certain=0):
    """Return the standing of a search after so many nodes, with so many certain features."""

    def looked():
        found = Standing.of(engine().status(run_id).event, 64)
        is_there = found is not None and found.nodes >= nodes and found.certain.sum() >= certain
        return found if is_there else None

    return wait_for(looked)


@pytest.mark.visit
def test_a_search_ends_with_a_proof_that_the_whole_page_knows(visit, finish, address, alts, texts):
    page = begun(visit, finish, sample="digits", from_=14, to=14, step=1)
    assert not page.success
    page.button(key="best").click().run()
    run = searches(page, address)[0]
    wait_for(lambda: engine().status(run.id).ended)
    page = visit(PAGE, **address(page))
    assert not page.exception and not page.error
    assert PROVED in page.success[0].value
    assert not [button for button in page.button if button.key == "best"]
    assert any(f"14 {BEST}" in alt for alt in alts(page))
    assert OPTIMAL in [trace.get("name") for trace in figures(page)[0]["data"]]
    found = nspca.Result.from_bytes(engine().result(run.id))
    assert found.status is nspca.Status.OPTIMAL
    upper = nspca.verify(nspca.load_sample("digits").X, found.certificate)
    assert found.value >= upper * (1 - 1e-8)
    assert Standing.of(engine().status(run.id).event, 64).open == 0


@pytest.mark.visit
def test_a_search_is_cancelled_and_goes_on_from_there(visit, finish, address, texts):
    page = begun(visit, finish, **HARD)
    page.button(key="best").click().run()
    first = searches(page, address)[0]
    seen = standing(first.id, certain=1)
    assert seen.open > 0
    page.run()
    page.button(key="cancel_best").click().run()
    assert not page.exception and not page.error
    page.run()
    assert engine().status(first.id).state == "cancelled"
    assert "Cancelled. What was proved by then is kept, with" in texts(page)
    assert page.button(key="best").label == LABEL
    page.button(key="best").click().run()
    second = searches(page, address)[0]
    assert second.id != first.id and spec_of(second).attempt == 1
    begun_with = standing(second.id)
    assert (begun_with.certain >= seen.certain).all(), "what was certain is not sought again"
    assert begun_with.open > 0
    engine().cancel(second.id, address(page)["w"])
    wait_for(lambda: engine().status(second.id).ended and not engine().hands_in(second.id))
    before, after = (nspca.Result.from_bytes(engine().store.result(run.id)) for run in (first, second))
    assert before.certificate.tree["features"].size >= seen.certain.sum()
    assert after.certificate.upper <= before.certificate.upper
    nspca.verify(nspca.load_sample("digits").X, after.certificate)


@pytest.mark.visit
def test_a_search_begins_with_what_the_sweep_proved_and_keeps_to_its_limit(visit, finish, address, given):
    page = begun(visit, finish, **HARD)
    proved = nspca.Sweep.from_bytes(engine().result(address(page)["run"]))["auto", 24].certificate
    assert page.selectbox(key="best_limit").value == max(LIMITS)
    page.selectbox(key="best_limit").set_value(60).run()
    page.button(key="best").click().run()
    first = searches(page, address)[0]
    assert spec_of(first).seconds == 60
    began = nspca.Certificate.from_bytes(given[-1]["certificate"])
    assert (began.upper, began.tree is None) == (proved.upper, proved.tree is None)
    standing(first.id)
    assert engine().status(first.id).event.upper <= proved.upper
    engine().cancel(first.id, address(page)["w"])
    wait_for(lambda: engine().status(first.id).ended and not engine().hands_in(first.id))


def test_a_search_goes_on_with_the_last_tree_and_the_smallest_bound(poor):
    _, attempt = poor
    tree = replace(attempt.certificate, upper=9.0)
    of_sweep = replace(tree, form="diagonal", witness={}, upper=8.0)
    tried = [replace(attempt, certificate=tree)]
    known = optimal._known(proofs.Proof(of_sweep, None), tried)
    assert known.upper == 8.0 and known.form == "diagonal" and known.tree is tree.tree
    assert optimal._known(proofs.Proof(tree, None), tried) is tree
    assert optimal._known(proofs.Proof(of_sweep, None), []) is of_sweep
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
        monkeypatch.setattr(first_answer, "find_stored", lambda *given: None)
    home.digits.clear()
    page = visit("app.py", digit_k=14)
    home.digits.clear()
    asked = [button.label for button in page.button if button.key == "best"]
    assert asked == ([] if stored else [LABEL])
    assert not page.success and ("with nonnegative weights: proved. They keep" in texts(page)) is stored


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
    return sweep, proofs.Attempt("a", 3, JobState("a", "done"), found.certificate, spec, found)


def test_a_better_component_takes_the_place_of_the_first_one(poor):
    sweep, attempt = poor
    before = sweep["auto", 3].value
    result = proofs.improved(sweep, [attempt])["auto", 3]
    assert result.value == attempt.answer.value > before == result.info["before"]
    assert np.array_equal(result.components, attempt.answer.components)
    assert proofs.table(proofs.improved(sweep, [attempt]), [attempt])["ratio"][0] >= 1 - 1e-8


def test_another_method_keeps_its_component(poor):
    sweep, attempt = poor
    other = replace(attempt, spec=attempt.spec.but(method="em"))
    for tried in ([other], [replace(attempt, k=4)], [replace(attempt, answer=None)], []):
        assert proofs.improved(sweep, tried)["auto", 3] is sweep["auto", 3]


@pytest.mark.visit
def test_the_page_says_that_a_better_component_was_found(visit, finish, poor, monkeypatch, texts):
    _, attempt = poor
    page = begun(visit, finish, sample="digits", from_=3, to=3, step=1)
    sweep = poor[0]
    monkeypatch.setattr("nspca.dashboard.runs.lookup.Watched.results", property(lambda run: sweep))
    monkeypatch.setattr(proofs, "attempts", lambda asked: [attempt])
    page.run()
    assert not page.exception and not page.error
    assert "The search found a better component" in texts(page) and PROVED in page.success[0].value


def test_progress_in_a_line():
    event = Event("proving the optimum", lower=3.0, upper=4.0, payload={"open": 1, "nodes": 7})
    said = progress_words(JobState("a", "running", event=event))
    assert said == "At least 75.0 % of the best possible; 1 open case, 7 looked at"
    assert progress_words(JobState("a", "running")) == "Searching"
    known = progress_words(JobState("a", "running", event=event), 0.8)
    assert known == "At least 80.0 % of the best possible; 1 open case, 7 looked at", (
        "what was proved is not lost"
    )
    assert progress_words(JobState("a", "running"), 0.8) == "At least 80.0 % of the best possible"
    assert Standing.of(replace(event, payload={"certain": "zz", "possible": 3}), 4) is None


@pytest.fixture
def candidate(poor):
    """Return a function that makes an answer with searches that ended after so many cases, newest first."""
    _, attempt = poor

    def made(*searches):
        standing = {"certain": "0" * 16, "possible": "f" * 16, "open": 4}
        tried = [
            replace(
                attempt,
                now=JobState("a", state, event=Event("x", payload={**standing, "nodes": nodes})),
                certificate=attempt.certificate if kept else None,
            )
            for state, nodes, kept in searches
        ]
        found = attempt.answer
        return Answer(None, None, None, nspca.Sweep({(found.method, 3): found}), 3, found.method, tried)

    return made


def test_a_search_that_goes_on_counts_what_was_looked_at_before(candidate, monkeypatch):
    said = []
    monkeypatch.setattr(optimal.st, "caption", said.append)
    answer = candidate(("cancelled", 9, True), ("cancelled", 31, True))
    optimal._say_ended(answer)
    assert said == ["Cancelled. What was proved by then is kept, with 4 cases open and 40 looked at."]
    working = candidate(("running", 9, False), ("cancelled", 31, True))
    line = progress_words(working.working.now, 0.8, working.looked_at)
    assert line == "At least 80.0 % of the best possible; 4 open cases, 40 looked at"


def test_a_cancelled_search_that_left_nothing_says_so(candidate, monkeypatch):
    said = []
    monkeypatch.setattr(optimal.st, "caption", said.append)
    answer = candidate(("cancelled", 9, False))
    optimal._say_ended(answer)
    assert answer.looked_at == 0 and said == [optimal.NOTHING_KEPT]


@pytest.mark.visit
def test_pixels_are_ruled_out_on_the_last_screen_of_learn(visit, monkeypatch, alts):
    monkeypatch.setattr(fixing, "BEAT", 0.0)
    page = visit("pages/learn.py", screen=6)
    assert "64 undecided" in alts(page)[0]
    page.button(key="fix_pixels").click().run()
    assert not page.exception and PROVED in page.success[0].value
    assert f"8 {BEST}, 56 ruled out" in alts(page)[0]


def test_the_steps_of_the_lesson_only_settle_more():
    of = lesson()
    steps = fixing.search(of.of.content, of).standings
    assert len(steps) > 2
    for before, now in pairwise(steps):
        assert (now.possible <= before.possible).all()
        assert now.open == 0 or (before.certain <= now.certain).all()


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("columns", [1, 2])
def test_a_search_is_mentioned_to_those_who_can_start_one(own, columns):
    result = nspca.solve(nspca.Problem.from_data(np.eye(6), k=(2,) * columns), certify=None)
    asked, sweep = SweepSpec(data=DataSpec(sample="digits"), ks=(2,)), nspca.Sweep({("auto", 2): result})
    answer = Answer(None, asked, None, sweep, 2, "auto", own=own)
    said = optimal._question(answer, 0.5)
    assert "at least 50.0 % of the best possible" in said and ("A search can prove" in said) == own
