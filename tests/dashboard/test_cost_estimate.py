"""Pages state the cost of a run before it starts, and refuse impossible runs with a way out."""

import os

import numpy as np
import pytest

from nspca.dashboard import open_data
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.runs import cost_estimate, start
from nspca.dashboard.sweep.form import SWEEP
from nspca.data import Dataset
from nspca.errors import Refused
from nspca.jobs import Engine
from nspca.planning import costs
from nspca.specs import ComponentsSpec, DataSpec, SweepSpec

DATA = "pages/data.py"


@pytest.fixture
def small_workers(monkeypatch):
    """Let a run use hardly more memory than a worker has without data."""
    most = int(cost_estimate.PROGRAM / cost_estimate.ENDED_AT)
    monkeypatch.setattr(Engine, "memory", property(lambda self: most))


def line(page):
    return next(one.value for one in page.caption if ":material/timer:" in one.value)


def test_the_data_page_says_what_solving_takes(visit):
    page = visit(DATA, sample="digits")
    assert not page.exception and not page.error and not page.warning
    said = line(page)
    for part in ("10 features", "a moment", "MB of memory", "1 pass over the data", "all 64 features"):
        assert part in said
    assert "13 features" in line(visit(DATA, sample="pitprops"))


@pytest.mark.parametrize(
    ("seconds", "slower", "said"),
    [
        (0.5, 1.0, "a moment"),
        (20, 1.0, "about 20 seconds"),
        (20, 1.9, "about 20 seconds"),
        (0.5, 10.0, "1 to 5 seconds"),
        (2, 10.0, "2 to 20 seconds"),
        (40, 5.0, "40 seconds to 3 minutes"),
        (600, 3.0, "10 to 30 minutes"),
    ],
)
def test_on_a_busy_machine_a_time_is_a_range(seconds, slower, said):
    assert cost_estimate.took(seconds, slower) == said


def test_how_busy_a_machine_is(monkeypatch):
    monkeypatch.undo()  # the fixture of all pages makes the machine idle
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    for load, slower in ((0.0, 1.0), (1.0, 1.0), (7.0, 4.0)):
        monkeypatch.setattr(os, "getloadavg", lambda load=load: (load, 0.0, 0.0))
        assert cost_estimate.busy() == slower
    monkeypatch.delattr(os, "getloadavg")
    assert cost_estimate.busy() == 1.0, "Windows says nothing"


def test_what_memory_cannot_hold_is_refused_with_what_can(visit, small_workers):
    page = visit(DATA, sample="digits")
    assert not page.exception and len(page.warning) == 1
    said = page.warning[0].value
    assert "memory on this server" in said and "shard digits FOLDER" in said and "k 10" in said


@pytest.mark.parametrize("name", ["sweep", "components"])
def test_the_pages_that_would_start_it_refuse_it_too(visit, small_workers, name):
    page = visit(f"pages/{name}.py", sample="pitprops")
    assert not page.exception and page.button(key="run").disabled
    assert any("memory on this server" in one.value for one in page.warning)
    of = open_data.find(DataSpec(sample="pitprops"), None)
    with pytest.raises(Refused, match="memory on this server"):
        start.of_page(SWEEP, of, SweepSpec(data=of.spec, ks=(3,)))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"sample": "pitprops", "proof": "fast"}, "Find 3 components (a moment)"),
        ({"sample": "pitprops", "proof": "thorough"}, "Find 3 components (2 to 70 seconds)"),
        ({"sample": "digits", "r": 5, "size": 10, "by": "joint,tpower"}, "Find 5 parts (a moment)"),
        ({"sample": "state-of-the-union", "proof": "fast"}, "Find 8 topics (about "),
    ],
)
def test_a_start_button_says_how_long_its_run_takes(visit, monkeypatch, given, said):
    monkeypatch.setattr(costs, "speed", lambda: 9e-9)
    opened = visit("pages/components.py", **given)
    assert not opened.exception and opened.button(key="run").label.startswith(said)


def test_a_proof_of_more_effort_is_said_to_take_longer(monkeypatch):
    monkeypatch.setattr(costs, "speed", lambda: 9e-9)
    drawn = []
    range_of = lambda seconds, slower: drawn.append((seconds, seconds * slower)) or ""  # noqa: E731
    monkeypatch.setattr(cost_estimate, "took", range_of)
    of = open_data.find(DataSpec(sample="digits"), None)
    for effort in ("fast", "standard", "thorough"):
        cost_estimate.estimate(of, ComponentsSpec(data=of.spec, sizes=(10,) * 5, effort=effort))
    assert drawn == sorted(drawn) and drawn[0][0] == drawn[0][1] > 0
    assert drawn[1] == (drawn[0][0], 40 * drawn[0][0])


def test_what_takes_hours_is_refused(monkeypatch):
    of = open_data.find(DataSpec(sample="digits"), None)
    assert cost_estimate.refusal(of, (10,) * 8) == ""
    monkeypatch.setattr(costs, "speed", lambda: 1e-3)
    said = cost_estimate.refusal(of, (10,) * 2, problems=9)
    assert "4 hours on this server" in said and "--k 10 --components 2" in said


@pytest.mark.parametrize(
    ("shape", "methods", "proof", "took"),
    [  # seconds of one processor
        ((1797, 64), 3, "fast", (0.7, 0.7)),
        ((600, 361), 3, "fast", (1.4, 1.4)),
        ((72, 2000), 2, "fast", (2.6, 2.6)),
        ((72, 7129), 2, "fast", (4.5, 4.5)),
        ((72, 7129), 2, "standard", (8.0, 130.0)),
    ],
)
def test_the_time_to_several_components_is_within_a_factor_of_two_or_in_a_range(
    monkeypatch, shape, methods, proof, took
):
    said = []
    monkeypatch.setattr(
        cost_estimate, "took", lambda seconds, slower: said.append((seconds, seconds * slower))
    )
    data = Dataset("made", np.ones(shape), tuple(map(str, range(shape[1]))), tuple(map(str, range(shape[0]))))
    by = ("joint", "cone", "tpower")[:methods]
    asked = ComponentsSpec(data=DataSpec(sample="lrs"), sizes=(10,) * 5, methods=by, effort=proof)
    cost_estimate.estimate(Chosen(data, asked.data, "made"), asked)
    ((least, most),) = said
    assert least / 2 <= took[0] and took[1] <= 2 * most
    assert proof != "fast" or took[0] / 2 <= least <= most <= 2 * took[0]
