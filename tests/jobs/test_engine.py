"""The engine with real worker processes."""

import collections
import gc
import logging
import os
import signal
import sys
import time

import dask
import numpy as np
import psutil
import pytest
import scipy.sparse

from nspca.errors import JobError
from nspca.jobs import Engine, Store, packing, pool
from nspca.jobs.engine import KILLED, OUT_OF_MEMORY
from nspca.jobs.pool import Pool


def test_an_early_run_says_that_workers_are_starting(engine, ended):
    assert (engine.early_state.state, engine.early_state.place) == ("starting", 1)
    assert ended(engine, engine.early).state == "done"
    assert engine.result(engine.early) == b"3"


def test_everything_listens_on_loopback_with_tls_and_niced_workers(engine, ended):
    assert engine.wait_ready(300)
    assert engine.address.startswith("tls://127.0.0.1:")
    family = [psutil.Process(), *psutil.Process().children(recursive=True)]
    listening = {c.laddr.ip for p in family for c in p.net_connections() if c.status == psutil.CONN_LISTEN}
    assert listening == {"127.0.0.1"}
    job = engine.submit("tests.jobs.background_tasks:environment", {}, workspace="a")
    assert ended(engine, job).state == "done"
    pid, nice, threads = engine.result(job).split()
    assert int(pid) != os.getpid() and int(nice) >= 10 and threads == b"1"


def test_arguments_arrive_by_content(engine, ended):
    X = np.arange(12.0).reshape(3, 4)
    arguments = {
        "X": X,
        "S": scipy.sparse.csr_array(X),
        "raw": b"\x00\x01",
        "ks": (1, np.int64(2)),
        "nested": {"y": [X[0]]},
        "none": None,
    }
    job = engine.submit("tests.jobs.background_tasks:describe", arguments, workspace="a")
    assert ended(engine, job).error == ""
    text = engine.result(job).decode()
    assert "'X': ('ndarray', (3, 4))" in text and "'S': ('csr_array', (3, 4))" in text
    assert (
        "'ks': ('list', [1, 2])" in text
        and r"'raw': ('bytes', b'\x00\x01')" in text
        and "'none': ('NoneType', None)" in text
    )
    job = engine.submit("tests.jobs.background_tasks:mean", {"X": X.T}, workspace="a")
    assert ended(engine, job).state == "done" and engine.result(job) == b" 5.5"


def test_the_same_question_runs_once_and_is_then_answered_from_the_store(engine, ended, begun, tmp_path):
    question = {"gate": str(tmp_path / "gate"), "trace": str(tmp_path / "trace")}
    first = engine.submit("tests.jobs.background_tasks:hold", question, workspace="a")
    second = engine.submit("tests.jobs.background_tasks:hold", question, workspace="b")
    assert first != second
    assert engine.submit("tests.jobs.background_tasks:hold", question, workspace="a") == first
    begun(engine, second)
    (tmp_path / "gate").touch()
    for job in (first, second):
        assert ended(engine, job).state == "done" and engine.result(job) == b"held"
    third = engine.submit("tests.jobs.background_tasks:hold", question, workspace="c")
    assert engine.status(third).state == "done"
    assert engine.status(third).rows == engine.status(first).rows != ()
    assert (tmp_path / "trace").read_text() == "run\n"


def test_cancel_stops_at_the_next_report_and_keeps_the_worker(engine, begun, wait_for, tmp_path):
    asked = "tests.jobs.background_tasks:hold", {"gate": str(tmp_path / "never")}
    job = engine.submit(*asked, workspace="w")
    pid = begun(engine, job)
    engine.cancel(job)
    state = engine.status(job)
    assert state.state == "cancelled" and state.rows[0]["pid"] == pid and state.finished
    wait_for(lambda: not engine._tokens)
    assert psutil.pid_exists(pid)
    with pytest.raises(JobError, match="no result, it is cancelled"):
        engine.result(job)
    for ask in (engine.status, engine.result):
        with pytest.raises(JobError, match="no run with this address"):
            ask("nothing")
    engine.cancel("nothing")


def test_what_a_cancelled_run_had_ready_is_its_own(engine, begun, wait_for):
    """A partial result is not found by the key of its question, and is deleted with its run."""
    task, store = "tests.jobs.background_tasks:ready", engine.store
    first = engine.submit(task, {}, workspace="a")
    begun(engine, first)
    key = store.find_run(first).key
    engine.cancel(first)
    wait_for(lambda: store.has_result(first))
    assert (
        store.result(first) == b"part"
        and not store.has_result(key)
        and engine.status(first).state == "cancelled"
    )
    second = engine.submit(task, {}, workspace="b")
    begun(engine, second)
    assert engine.again(first) == first and not store.has_result(first), "it begins anew"
    engine.cancel(first)
    engine.cancel(second)
    wait_for(lambda: store.has_result(second))
    assert store.has_result(first), "who left before the end has it too"
    store.delete_run("b", second)
    store.forget_deleted(age=0.0)
    assert not store.has_result(second) and store.has_result(first)


def test_a_cancelled_run_goes_on_from_what_it_had_ready(engine, begun, wait_for):
    task, store = "tests.jobs.background_tasks:ready", engine.store
    job = engine.submit(task, {}, workspace="a")
    before = store.find_run(job)
    for part in (b"part", b"partpart"):
        begun(engine, job)
        engine.cancel(job)
        wait_for(lambda: store.has_result(job))
        assert store.result(job) == part
        assert engine.again(job, goes_on=True) == job
    now = store.find_run(job)
    assert (now.key, now.parameters) == (before.key, before.parameters), "the same question"
    engine.cancel(job)


def test_a_result_on_its_way_is_not_lost_with_its_worker(engine, begun, monkeypatch):
    """A busy machine takes a while to hand over what is computed already."""
    outcome = Pool._outcome

    def late(*arguments):
        time.sleep(0.6)
        return outcome(*arguments)

    monkeypatch.setattr(Pool, "_outcome", late)
    monkeypatch.setattr(sys.modules[Engine.__module__], "PATIENCE", 0.3)
    job = engine.submit("tests.jobs.background_tasks:slow_to_stop", {"seconds": 0.0}, workspace="a")
    pid = begun(engine, job)
    engine.cancel(job)
    while engine.hands_in(job):
        time.sleep(0.05)
    assert engine.store.result(job) == b"part" and psutil.pid_exists(pid)


def test_cancel_detaches_from_a_run_that_others_want(engine, begun, ended, tmp_path):
    question = {"gate": str(tmp_path / "gate")}
    alone = engine.submit("tests.jobs.background_tasks:hold", question, workspace="a")
    shared = engine.submit("tests.jobs.background_tasks:hold", question, workspace="b")
    begun(engine, shared)
    engine.cancel(alone)
    assert engine.status(alone).state == "cancelled" and engine.status(shared).state == "running"
    assert not engine.hands_in(alone) and not engine.hands_in(shared), "nobody waits"
    (tmp_path / "gate").touch()
    assert ended(engine, shared).state == "done" and engine.status(alone).state == "cancelled"


def test_a_run_that_ignores_cancel_is_killed_and_the_engine_goes_on(
    engine, begun, ended, wait_for, monkeypatch
):
    monkeypatch.setattr(sys.modules[Engine.__module__], "PATIENCE", 0.3)
    job = engine.submit("tests.jobs.background_tasks:stubborn", {}, workspace="a")
    pid = begun(engine, job)
    engine.cancel(job)
    wait_for(lambda: not psutil.pid_exists(pid))
    assert engine.status(job).state == "cancelled"
    following = [
        engine.submit("tests.jobs.background_tasks:add", {"a": a}, workspace="a") for a in range(100, 104)
    ]
    assert [ended(engine, j).state for j in following] == ["done"] * 4


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs POSIX signals")
@pytest.mark.visit
@pytest.mark.parametrize("allowed", [0, 3])
def test_a_killed_worker_ends_its_run_alone_with_a_sentence(
    engine, begun, ended, monkeypatch, tmp_path, allowed
):
    """Also when the scheduler keeps the run of a worker that died, as that of another cluster may."""
    assert engine.wait_ready(300)
    monkeypatch.setattr(engine._pool._cluster.scheduler, "allowed_failures", allowed)
    monkeypatch.setattr(sys.modules[Engine.__module__], "LOST_SECONDS", 1.0)
    gates = [tmp_path / "one", tmp_path / "two"]
    victim, neighbour = (
        engine.submit("tests.jobs.background_tasks:hold", {"gate": str(gate)}, workspace="a")
        for gate in gates
    )
    begun(engine, neighbour)
    os.kill(begun(engine, victim), signal.SIGKILL)
    following = engine.submit("tests.jobs.background_tasks:add", {"a": 7, "b": allowed}, workspace="a")
    state = ended(engine, victim)
    assert (state.state, state.error) == ("failed", KILLED)
    assert ended(engine, following).state == "done"
    gates[1].touch()
    assert ended(engine, neighbour).state == "done"


def test_a_scheduler_that_does_not_answer_is_not_waited_for(narrow, monkeypatch):
    assert narrow.wait_ready(300)
    monkeypatch.setattr(pool, "LOAD_SECONDS", 0.1)
    narrow._pool._client.loop.add_callback(time.sleep, 1.0)
    with pytest.raises(TimeoutError):
        narrow._pool.load()


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        ("refuse", "k must be between 1 and n = 3, got 7"),
        ("stumble", "Unexpected error KeyError: 'missing'"),
        ("leave", "Unexpected error SystemExit: 3"),
        (
            "give_a_number",
            "A run must return at most 500000000 bytes, tests.jobs.background_tasks:give_a_number returned "
            "int.",
        ),
        (
            "not_there",
            "Unexpected error AttributeError: module 'tests.jobs.background_tasks' has no attribute "
            "'not_there'",
        ),
    ],
)
def test_an_exception_becomes_one_sentence_and_its_traceback_goes_to_the_log(
    engine, ended, caplog, function, sentence
):
    with caplog.at_level(logging.ERROR, logger="nspca.jobs"):
        job = engine.submit(f"tests.jobs.background_tasks:{function}", {}, workspace="a")
        state = ended(engine, job)
    assert (state.state, state.error) == ("failed", sentence)
    assert "Traceback" in caplog.text
    assert (
        engine.submit(f"tests.jobs.background_tasks:{function}", {}, workspace="a") == job
    )  # may be tried again
    ended(engine, job)


def test_no_row_of_a_fast_sweep_is_lost(engine, ended):
    job = engine.submit("tests.jobs.background_tasks:sweep", {"count": 3000}, workspace="a")
    state = ended(engine, job)
    assert [row["k"] for row in state.rows] == list(range(3000))
    assert (state.event.stage, state.event.done, state.event.total, state.event.k) == (
        "sweep",
        3000,
        3000,
        2999,
    )
    assert "row" not in state.event.payload


def test_the_queue_says_the_place_and_refuses_beyond_its_limits(narrow, begun, ended, tmp_path):
    gates = [tmp_path / str(i) for i in range(4)]
    jobs = [
        narrow.submit("tests.jobs.background_tasks:hold", {"gate": str(gate)}, workspace="ab"[i // 3])
        for i, gate in enumerate(gates)
    ]
    begun(narrow, jobs[0])
    assert [(narrow.status(j).state, narrow.status(j).place) for j in jobs] == [
        ("running", 0),
        ("queued", 2),
        ("queued", 3),
        ("queued", 1),  # a has had a turn
    ]
    with pytest.raises(JobError, match=r"At most 3 runs of one person .* you have 3"):
        narrow.submit("tests.jobs.background_tasks:add", {"a": 1}, workspace="a")
    with pytest.raises(JobError, match=r"At most 4 runs may wait or run on this server"):
        narrow.submit("tests.jobs.background_tasks:add", {"a": 1}, workspace="b")
    joined = narrow.submit(
        "tests.jobs.background_tasks:hold", {"gate": str(gates[0])}, workspace="b"
    )  # joining takes no place
    narrow.cancel(jobs[1])
    assert [narrow.status(j).place for j in jobs] == [0, 0, 2, 1]
    for gate in gates:
        gate.touch()
    assert [ended(narrow, j).state for j in (*jobs, joined)] == ["done", "cancelled", "done", "done", "done"]


def test_an_automatic_run_that_no_page_shows_gives_its_place_away(engine, begun, ended, wait_for, tmp_path):
    """The first visitor has left. A second one looks at another page, and a third one asks."""
    task, add = "tests.jobs.background_tasks:hold", "tests.jobs.background_tasks:add"
    never = {"gate": str(tmp_path / "never")}
    left = engine.submit(task, never, workspace="nobody", automatic=True)
    begun(engine, left)
    seen = engine.submit(add, {"a": 72}, workspace="nobody", automatic=True)
    assert engine.status(seen).state == "queued", "a worker is left for people"
    asked = engine.submit(add, {"a": 73}, workspace="a")
    assert ended(engine, asked).state == "done"
    engine._runs[left].looked -= 11
    assert ended(engine, seen).state == "done" and engine.status(left).state == "cancelled"
    alone = engine.submit(task, never, workspace="nobody", automatic=True)
    begun(engine, alone)
    engine._runs[alone].looked -= 11
    with engine._lock:
        assert not engine._runs[alone].gives_way([]), "nobody waits"
    engine._runs[alone].looked -= 120
    engine._wake.set()
    wait_for(lambda: engine.store.find_run(alone).state == "cancelled")


def test_an_automatic_run_that_somebody_asks_for_is_like_any_other(engine, begun, ended, tmp_path):
    task, gates = "tests.jobs.background_tasks:hold", [tmp_path / name for name in ("first", "second")]
    automatic = [
        engine.submit(task, {"gate": str(gate)}, workspace="nobody", automatic=True) for gate in gates
    ]
    begun(engine, automatic[0])
    assert engine.status(automatic[1]).state == "queued"
    joined = engine.submit(task, {"gate": str(gates[1])}, workspace="b")
    begun(engine, joined)
    for gate in gates:
        gate.touch()
    assert [ended(engine, job).state for job in (*automatic, joined)] == ["done"] * 3


def test_an_interrupted_run_is_run_again_from_what_was_kept(ended, monkeypatch, tmp_path):
    arguments = {"X": np.full((2, 2), 3.0), "name": "again"}
    before = Engine(Store(tmp_path))
    monkeypatch.setattr(before, "start", lambda: None)  # a server that ends before its workers have started
    job = before.submit("tests.jobs.background_tasks:mean", arguments, workspace="a", title="kept")
    with pytest.raises(JobError, match="Another server uses the store"):
        Engine(Store(tmp_path))
    before.shutdown()
    after = Engine(Store(tmp_path), workers=1)
    assert after.status(job).state == "interrupted"
    assert after.again(job) == job
    state = ended(after, job)
    assert (state.state, state.title) == ("done", "kept") and after.result(job) == b"again 3.0"
    with pytest.raises(JobError, match="no run with this address"):
        after.again("nothing")
    after.shutdown()


def test_a_run_that_a_full_disk_cannot_take_fails_with_a_sentence(narrow, ended, wait_for, caplog, tmp_path):
    """Neither its result nor the sentence fits into the file of the store."""
    task, question = "tests.jobs.background_tasks:large", {"gate": str(tmp_path / "gate")}
    job = narrow.submit(task, question, workspace="a")
    wait_for(lambda: narrow.status(job).state == "running")
    db = narrow.store._db
    db.execute(f"PRAGMA max_page_count = {db.execute('PRAGMA page_count').fetchone()[0] + 20}")
    (tmp_path / "gate").touch()
    state = ended(narrow, job)
    assert state.state == "failed" and "disk is full" in state.error and "make room" in state.error
    assert "disk is full" in narrow.trouble
    wait_for(lambda: "the end of a run could not be kept" in caplog.text)
    with pytest.raises(JobError, match=r"it is failed: .*disk is full"):
        narrow.result(job)
    db.execute(f"PRAGMA max_page_count = {2**30}")
    assert narrow.again(job) == job and ended(narrow, job).state == "done"
    assert not narrow.trouble and narrow.result(job) == b"large" * 200_000


@pytest.mark.visit
def test_a_worker_out_of_memory_ends_the_run_with_a_sentence(narrow, ended):
    job = narrow.submit("tests.jobs.background_tasks:fill", {}, workspace="a")
    state = ended(narrow, job)
    assert (state.state, state.error) == ("failed", OUT_OF_MEMORY)
    assert (
        ended(narrow, narrow.submit("tests.jobs.background_tasks:add", {"a": 5}, workspace="a")).state
        == "done"
    )


def test_runs_that_have_ended_leave_nothing_in_the_scheduler(narrow, ended, wait_for):
    """Dask kept a record of every run until the end of the server."""

    def records():
        gc.collect()
        there = collections.Counter(type(one).__name__ for one in gc.get_objects())
        return sum(there[name] for name in ("TaskGroup", "Span", "Computation", "TaskState", "Finished"))

    def run(first, count):
        for a in range(first, first + count):
            job = narrow.submit("tests.jobs.background_tasks:add", {"a": a}, workspace="a")
            assert ended(narrow, job).state == "done"

    run(1000, 3)
    wait_for(lambda: not narrow._tokens)
    before = records()
    run(2000, 12)
    wait_for(lambda: records() <= before + 2)


@pytest.fixture
def guest(narrow, monkeypatch, tmp_path):
    """Yield an engine that uses the workers of another one, by their address."""
    assert narrow.wait_ready(300)
    security = narrow._pool._cluster.security
    tls = {
        "distributed.comm.tls.ca-file": security.tls_ca_file,
        "distributed.comm.tls.client.key": security.tls_client_key,
        "distributed.comm.tls.client.cert": security.tls_client_cert,
    }
    monkeypatch.setenv("NSPCA_SCHEDULER", narrow.address)
    with dask.config.set(tls):
        guest = Engine(Store(tmp_path))
        yield guest
        guest.shutdown()


def test_another_cluster_is_used_through_its_address(narrow, guest, ended):
    job = guest.submit(
        "tests.jobs.background_tasks:mean", {"X": np.ones((2, 3)), "name": "guest"}, workspace="a"
    )
    state = ended(guest, job)
    assert state.error == "" and guest.address == narrow.address
    assert guest.result(job) == b"guest 1.0"
    guest.shutdown()
    assert (
        ended(narrow, narrow.submit("tests.jobs.background_tasks:add", {"a": 6}, workspace="a")).state
        == "done"
    )


def test_a_run_that_cannot_be_sent_to_another_cluster_ends_and_holds_up_nobody(guest, ended, monkeypatch):
    def lost(*_):
        raise OSError("the scheduler is gone")

    asked = {"X": np.ones((2, 3)), "name": "guest"}
    guest.start()
    assert guest.wait_ready(300)
    with monkeypatch.context() as patched:
        patched.setattr(guest._pool._client, "scatter", lost)
        job = guest.submit("tests.jobs.background_tasks:mean", asked, workspace="a")
        state = ended(guest, job)
    assert (state.state, state.error) == (
        "failed",
        "The connection to the worker was lost (OSError): start the run again.",
    )
    (kept,) = (guest.store.home / "arrays").iterdir()
    kept.unlink()
    assert guest.again(job) == job
    state = ended(guest, job)
    assert state.state == "failed" and state.error.startswith("The data of this run is no longer kept")
    other = guest.submit("tests.jobs.background_tasks:mean", asked, workspace="b")
    assert ended(guest, other).state == "done"


def test_the_engine_of_the_process_is_one(monkeypatch, tmp_path):
    from nspca import jobs

    monkeypatch.setenv("NSPCA_HOME", str(tmp_path / "home"))
    jobs.engine().shutdown()  # an engine that another test of this process may have left
    first = jobs.engine()
    assert jobs.engine() is first and (tmp_path / "home" / "runs.sqlite").is_file()
    first.shutdown()
    second = jobs.engine()
    assert second is not first
    second.shutdown()


def key_of(task, arguments, function=None):
    return packing.packed_key(task, packing.pack(arguments), function)


def test_a_task_keeps_its_name_when_its_function_moves(engine, ended):
    """The store, the key and another start know the name; only the table knows the place."""
    engine.tasks["adding"] = "tests.jobs.background_tasks:moved_away"
    job = engine.submit("adding", {"a": 50, "b": 1}, workspace="a")
    assert ended(engine, job).state == "failed" and "moved_away" in engine.status(job).error
    engine.tasks["adding"] = "tests.jobs.background_tasks:add"
    assert engine.again(job) == job and ended(engine, job).state == "done" and engine.result(job) == b"51"
    assert engine.store.find_run(job).function == "adding"
    assert engine.submit("adding", {"a": 50, "b": 1}, workspace="b") != job
    places = {key_of("adding", {"a": 1}, f"tests.{place}:add") for place in ("here", "there")}
    assert len(places) == 1 and places != {key_of("adding", {"a": 1}, "numpy:add")}, (
        "the version of the package counts"
    )
