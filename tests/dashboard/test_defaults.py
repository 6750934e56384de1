"""Default runs are computed once for all sessions, and are started again without a button."""

import time

import pytest

import nspca
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.runs import defaults, first_answer
from nspca.dashboard.views import membership
from nspca.jobs import JobState, new_workspace
from nspca.specs import ComponentsSpec, DataSpec


class Engine:
    """An engine with one run in a given state, which counts how often it was submitted."""

    def __init__(self):
        self.asked, self.now = 0, {}

    def submit(self, *given, **more):
        self.asked, self.now = self.asked + 1, {"state": "queued"}
        return "a run"

    def status(self, run):
        return JobState(run, **self.now)


@pytest.fixture
def asked(monkeypatch):
    made = Engine()
    for module in (defaults, membership, membership.progress):
        monkeypatch.setattr(module, "engine", lambda: made)
    defaults._begun.clear()
    yield made
    defaults._begun.clear()


def test_many_questions_leave_little_behind(asked, monkeypatch):
    asked.now = {"state": "queued"}
    monkeypatch.setattr(asked, "submit", lambda *given, **more: new_workspace())
    for number in range(1700):
        defaults.call("a task", number=number)
    assert 100 < len(defaults.NAMES) < 1600 and not defaults.NAMES._making


def test_what_was_dropped_or_failed_a_while_ago_is_asked_for_again(asked):
    look = lambda: defaults.call("a task").state  # noqa: E731
    assert [look(), look()] == ["queued"] * 2 and asked.asked == 1
    for state, seconds, again in [
        ("done", 9e9, 0),
        ("failed", defaults.AGAIN / 2, 0),
        ("failed", defaults.AGAIN * 2, 1),
        ("interrupted", 0, 1),
        ("cancelled", 0, 1),
    ]:
        asked.asked, asked.now = 0, {"state": state, "finished": time.time() - seconds}
        assert look() == ("queued" if again else state) and asked.asked == again


DATA = nspca.load_sample("pitprops")
OF = Chosen(DATA, DataSpec(sample="pitprops"), "a table")


def arrives():
    question = ComponentsSpec(data=OF.spec, sizes=(3,))
    return first_answer.unasked(OF, question)


def places_it():
    problem = nspca.Problem.from_covariance(DATA.X, 5)
    return membership.of(OF, problem, nspca.solve(problem))


@pytest.mark.parametrize("page", [arrives, places_it])
def test_no_page_is_left_without_until_the_server_starts_again(page, asked, monkeypatch):
    monkeypatch.setattr(first_answer, "LARGEST", 1e9)
    monkeypatch.setattr(membership, "PATIENCE", 0.0)
    monkeypatch.setattr(membership.state, "get", {"within": 950}.get)
    monkeypatch.setattr(membership.progress, "repeat", lambda look: None)
    page()
    asked.now = {"state": "failed", "finished": time.time() - 2 * defaults.AGAIN}
    page()
    assert asked.asked == 2
