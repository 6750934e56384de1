"""Every page states trouble of the server in one sentence."""

import sys

from nspca.dashboard.app import frame
from nspca.errors import JobError
from nspca.jobs import engine

PAGE = "pages/learn.py"


def test_trouble_with_the_store_is_said_before_anybody_works(visit, monkeypatch, sentence):
    assert not visit(PAGE).error
    said = "The store cannot be used (disk image is malformed): repair it."
    monkeypatch.setattr(type(engine()), "trouble", property(lambda engine: said))
    assert "disk image is malformed" in sentence(visit(PAGE))


def test_a_store_that_cannot_be_opened_is_said(visit, monkeypatch, sentence):
    def closed():
        raise JobError("The store cannot be used (attempt to write a readonly database).")

    monkeypatch.setattr(frame, "engine", closed)
    said = sentence(visit(PAGE))
    assert "Nothing can be computed or kept just now" in said and "readonly database" in said


def test_results_that_a_wrong_clock_would_delete_are_said_in_the_log_and_on_the_pages(visit, monkeypatch):
    assert not visit(PAGE).warning
    logged, served = [], engine()
    for i in range(8):
        run = served.store.add_run("old", f"of a wrong clock {i}", "", "m:f", "{}", "s")[0]
        served.store.finish_runs([run], "done", result=(f"of a wrong clock {i}", b"r"), finished=1e9 + i)
    log = sys.modules[type(served.upkeep).__module__]._log
    monkeypatch.setattr(log, "warning", lambda text, *given: logged.append(text % given))
    monkeypatch.setattr(served.upkeep, "_tidied_at", -1e9)
    monkeypatch.setattr("nspca.jobs.runs.SHARE_AT_ONCE", 0.0)
    with served._lock:
        served.upkeep.tidy()
    said = "8 results on this server are older than the 365 days that results are kept"
    assert any(said in warning.value and "clock" in warning.value for warning in visit(PAGE).warning)
    assert any(said in line for line in logged)
    monkeypatch.setattr("nspca.jobs.runs.SHARE_AT_ONCE", 1.0)
    monkeypatch.setattr(served.upkeep, "_tidied_at", -1e9)
    with served._lock:
        served.upkeep.tidy()
    assert not visit(PAGE).warning


def test_a_store_that_was_deleted_is_said(visit, monkeypatch, sentence):
    monkeypatch.setattr(engine().store, "_file", (0, 0))
    assert "was deleted or replaced while this server runs" in sentence(visit(PAGE))
