"""The engine when workers do not start or are lost, and after its server was paused; no worker is real."""

import concurrent.futures
import sys
import time
from types import SimpleNamespace

import pytest

from nspca.errors import JobError
from nspca.jobs import Engine, Store
from nspca.jobs.engine import KILLED
from nspca.jobs.job import Finished


class OneWorker:
    """A pool with one worker, in which every run is done at once."""

    address = "tls://127.0.0.1:9"

    def __init__(self, *_, **__):
        pass

    def load(self):
        return {"worker": set()}

    def submit(self, token, function, parameters, folder, ended, address):
        ended(Finished("done", b"3"))

    def close(self):
        pass


class ForgetfulWorker(OneWorker):
    """Stands for a pool that begins the first run, and then knows nothing of it."""

    def __init__(self, heard, **_):
        self.heard, self.future = heard, concurrent.futures.Future()

    def submit(self, token, function, parameters, folder, ended, address):
        if self.future.cancelled():
            return super().submit(token, function, parameters, folder, ended, address)
        self.heard(token, {"worker": address, "pid": 1})
        return self.future

    def ran_out_of_memory(self, pid):
        return False


def test_a_run_that_no_worker_has_any_more_ends_with_a_sentence(ended, monkeypatch, tmp_path):
    monkeypatch.setattr("nspca.jobs.pool.Pool", ForgetfulWorker)
    for name in ("LOST_SECONDS", "NOTE_SECONDS"):
        monkeypatch.setattr(sys.modules[Engine.__module__], name, 0.1)
    engine = Engine(Store(tmp_path))
    job = engine.submit("tests.jobs.background_tasks:add", {}, workspace="a")
    state = ended(engine, job)
    assert (state.state, state.error) == ("failed", KILLED)
    assert engine.again(job) == job and ended(engine, job).state == "done"
    engine.shutdown()


def test_a_server_that_was_stopped_for_a_while_goes_on(ended, wait_for, monkeypatch, tmp_path):
    """The time in which it was stopped is no time without workers."""
    clock = SimpleNamespace(**{name: getattr(time, name) for name in ("time", "monotonic", "sleep")})
    monkeypatch.setattr(sys.modules[Engine.__module__], "time", clock)
    monkeypatch.setattr("nspca.jobs.pool.Pool", OneWorker)
    closed = []
    monkeypatch.setattr(OneWorker, "close", lambda pool: closed.append(pool))
    engine = Engine(Store(tmp_path))
    for a in range(3):
        job = engine.submit("tests.jobs.background_tasks:add", {"a": a}, workspace="a")
        assert ended(engine, job).state == "done"
        wait_for(lambda: not engine._wake.is_set())
        clock.monotonic = lambda later=3600.0 * (a + 1): time.monotonic() + later
    assert not closed
    engine.shutdown()


def test_workers_that_do_not_start_fail_the_run_and_are_started_again_for_the_next(
    ended, monkeypatch, tmp_path
):
    tried = []

    def start(*options, **more):
        tried.append(options)
        if len(tried) == 1:
            raise JobError("No worker could be started on this machine: start the run again later.")
        return OneWorker()

    monkeypatch.setattr("nspca.jobs.pool.Pool", start)
    engine = Engine(Store(tmp_path))
    job = engine.submit("tests.jobs.background_tasks:add", {}, workspace="a")
    state = ended(engine, job)
    assert state.state == "failed" and "start the run again later" in state.error
    engine.again(job)
    assert ended(engine, job).state == "done" and len(tried) == 2
    engine.shutdown()


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        (
            "tcp://127.0.0.1:1",
            "NSPCA_SCHEDULER must be an encrypted address like tls://host:8786, got 'tcp://127.0.0.1:1'",
        ),
        ("tls://127.0.0.1:1", "No worker could be started at tls://127.0.0.1:1"),
    ],
)
def test_a_cluster_that_is_not_there_fails_the_run_with_a_sentence(
    ended, monkeypatch, tmp_path, address, sentence
):
    monkeypatch.setattr("nspca.jobs.pool.START_SECONDS", 0.2)
    monkeypatch.setenv("NSPCA_SCHEDULER", address)
    engine = Engine(Store(tmp_path))
    job = engine.submit("tests.jobs.background_tasks:add", {}, workspace="a")
    state = ended(engine, job)
    assert state.state == "failed" and state.error.startswith(sentence)
    engine.shutdown()
    with pytest.raises(JobError, match="shut down"):
        engine.start()
