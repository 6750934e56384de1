"""The proof of several components: it improves during a run, goes on when asked to, and is stored."""

import re

import numpy as np
import pytest

import nspca
from nspca.dashboard.joint import page as joint_proof
from nspca.jobs import JobState
from nspca.specs import ComponentsSpec, OptimumSpec
from nspca.specs.proof import sparsity_words
from nspca.specs.rows import Closer, Several, pack, unpack

PAGE = "pages/components.py"
SHORT = {"sample": "digits", "r": 3, "size": "6, 6, 4", "by": "joint,tpower", "look": "proof"}
HOW = {"nonneg": True, "center": True, "scale": False}
ASKED = ComponentsSpec(sizes=(6, 6, 4), methods=("joint",), noun="part")


@pytest.fixture(scope="module")
def X():
    return nspca.load_sample("digits").X


@pytest.fixture
def start(ran):
    """Return a page after its run has ended."""
    return lambda **values: ran(PAGE, **(SHORT | values))


def test_every_time_the_bound_comes_down_is_a_row(X):
    events = []
    sweep = ASKED.but(effort="standard").run(events.append, X=X)
    now = JobState("x", "done", rows=tuple(e.payload["row"] for e in events if "row" in e.payload))
    rows, result = joint_proof.optimal.closers(now), sweep["joint", 3]
    uppers = [row.upper for row in rows]
    assert len(rows) >= 2 and uppers == sorted(set(uppers), reverse=True)
    assert {(row.effort, row.lower) for row in rows} == {("standard", result.value)}
    assert min(uppers) >= result.certificate.upper * (1 - 1e-6)
    assert all(
        "share" in e.payload for e in events if "row" in e.payload and e.payload["row"]["row"] == "closer"
    )


def test_more_is_proved_about_several_components(X):
    problem = nspca.Problem.from_data(X, (6, 6, 4))
    result = nspca.solve(problem, certify="fast")
    spec = OptimumSpec(k=(6, 6, 4), effort="standard", seconds=0)
    events = []
    kept = spec.run(events.append, X=X, component=result.components).certificate
    assert result.value <= nspca.verify(X, kept, k=(6, 6, 4)) <= kept.upper <= result.certificate.upper
    said = unpack(e.payload["row"] for e in events if "row" in e.payload)
    assert {row.effort for row in said} == {"standard"}


@pytest.mark.visit
def test_what_a_run_left_that_has_no_result_is_shown_without_its_proof(start, monkeypatch, texts):
    page = start(proof="fast")
    monkeypatch.setattr("nspca.dashboard.runs.lookup.read_sweep", lambda now: nspca.Sweep({}))
    page = page.run()
    assert not page.exception and "How much better another choice could be is not proved" in texts(page)


@pytest.mark.visit
def test_one_part_is_one_part(start, texts):
    page = start(proof="fast", r=1, size="6")
    said = texts(page)
    assert "## 1 part of 6 pixels. The pixels vary together" in said
    assert re.search(r"No other part explains( [\d.]+ %)? more: proved", said)
    assert "1 part of 6 pixels, nonnegative" in said and "1 parts" not in said


def test_the_time_of_a_proof_begins_after_the_methods(monkeypatch):
    drawn = []
    monkeypatch.setattr(joint_proof.optimal, "draw_gap", lambda *given, **how: drawn.append(given))
    monkeypatch.setattr(joint_proof.time, "time", lambda: 110.0)
    rows = [Several("joint", [1.0], 4.0, None), Closer(2.0, 1.0, 2.0, "standard")]
    now = JobState("x", "running", started=100.0, rows=tuple(pack(row)["row"] for row in rows))
    problem = nspca.Problem.from_covariance(np.eye(3), 1)
    joint_proof.live(now, problem, "x")
    joint_proof.live(JobState("x", "running", started=100.0), problem, "x")
    assert [given[3] for given in drawn] == [6.0]


@pytest.mark.parametrize(
    ("k", "says"),
    [(4, "k = 4"), ((15,) * 8, "8 components of 15"), ((6, 6, 4), "3 components of 6, 6 and 4")],
)
def test_sizes_in_words(k, says):
    assert sparsity_words(k) == says
