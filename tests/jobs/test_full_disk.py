"""Runs that end while the store of the engine cannot be written."""

import sys
import time
from types import SimpleNamespace

import pytest

from nspca.errors import JobError
from nspca.jobs import Engine, outcomes, pool, upkeep


@pytest.fixture
def full_disk(narrow):
    """``full_disk(True)``: the file of the store cannot grow."""

    def fill(full):
        db = narrow.store._db
        pages = db.execute("PRAGMA page_count").fetchone()[0]
        db.execute(f"PRAGMA max_page_count = {pages + 20 if full else 2**30}")

    yield fill
    fill(False)


@pytest.fixture
def logged(monkeypatch):
    """Return a list to which the engine adds the lines that it logs."""
    lines = []

    def say(text, *values, **_):
        lines.append(text % values)

    log = SimpleNamespace(error=say, warning=say, exception=say, info=say)
    for module in (sys.modules[Engine.__module__], outcomes, pool, upkeep):
        monkeypatch.setattr(module, "_log", log)
    return lines


def test_a_result_survives_a_full_disk(narrow, ended, wait_for, full_disk, monkeypatch, tmp_path, logged):
    """A result that does not fit on the disk is shown from memory, and stored as soon as there is room."""
    monkeypatch.setattr("nspca.jobs.outcomes.RETRY_SECONDS", 0.05)
    task, question = "tests.jobs.background_tasks:large", {"gate": str(tmp_path / "gate")}
    job = narrow.submit(task, question, viewer="a")
    wait_for(lambda: narrow.status(job).state == "running")
    full_disk(True)
    (tmp_path / "gate").touch()
    assert ended(narrow, job).state == "done" and narrow.result(job) == b"large" * 200_000
    assert "1 run that has ended is not kept yet" in narrow.trouble and "disk is full" in narrow.trouble
    assert narrow.store.find_run(job).state in ("queued", "running")
    second = narrow.submit(task, question, viewer="b")
    assert narrow.status(second).state == "done" and narrow.result(second) == b"large" * 200_000
    time.sleep(0.3)
    assert sum("could not be kept" in line for line in logged) == 1, "tried again, and said once"
    full_disk(False)
    narrow._wake.set()
    wait_for(lambda: not narrow.trouble)
    for run in (job, second):
        kept = narrow.store.find_run(run)
        assert kept.state == "done" and narrow.store.result(kept.key) == narrow.result(run)


def test_a_cancel_on_a_full_disk_ends_the_run(narrow, begun, wait_for, monkeypatch, tmp_path):
    job = narrow.submit("tests.jobs.background_tasks:hold", {"gate": str(tmp_path / "never")}, viewer="a")
    begun(narrow, job)
    with monkeypatch.context() as patch:

        def full(*_, **__):
            raise JobError("The store cannot be used (database or disk is full).")

        patch.setattr(narrow.store, "finish_runs", full)
        narrow.cancel(job, "a")
        assert narrow.status(job).state == "cancelled" and "disk is full" in narrow.trouble
        wait_for(lambda: not narrow._tokens)
    narrow._outcomes.retry()
    assert narrow.store.find_run(job).state == "cancelled" and not narrow.trouble


def test_a_full_disk_is_one_line_in_the_log(narrow, begun, ended, wait_for, monkeypatch, tmp_path, logged):
    job = narrow.submit("tests.jobs.background_tasks:hold", {"gate": str(tmp_path / "gate")}, viewer="a")
    begun(narrow, job)
    tried = []

    def full(*_, **__):
        tried.append(True)
        raise JobError("The store cannot be used (database or disk is full).")

    with monkeypatch.context() as patch:
        patch.setattr(sys.modules[Engine.__module__], "NOTE_SECONDS", 0.01)
        patch.setattr(narrow.store, "note_progress", full)
        narrow.upkeep._complained.clear()
        narrow._wake.set()
        wait_for(lambda: len(tried) > 5)
    (tmp_path / "gate").touch()
    assert ended(narrow, job).state == "done"
    assert [line for line in logged if "disk is full" in line] == [
        "progress could not be kept: The store cannot be used (database or disk is full)."
    ]
