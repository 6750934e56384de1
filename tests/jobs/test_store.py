"""The store alone: what it keeps and for whom, its backup, and two processes that use it at once."""

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from nspca.__main__ import main
from nspca.errors import JobError
from nspca.jobs import Store, backup
from nspca.jobs.database import VERSION


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "home", quota=1000, total=2500, max_age=3600.0)
    yield store
    store.close()


def add(store, workspace="w", key="k", title=""):
    return store.add_run(workspace, key, title, "m:f", '{"k": 3}')[0]


def test_finished_runs_and_results_survive_a_restart(store):
    run = add(store, title="a sweep")
    store.finish_runs(
        [run], "done", started=5.0, event='{"stage": "sweep"}', rows='[{"k": 1}]', result=("k", b"\x00bytes")
    )
    store.close()
    again = Store(store.home)
    kept = again.open_run("w", run)
    assert (kept.state, kept.title, kept.function, kept.parameters) == ("done", "a sweep", "m:f", '{"k": 3}')
    assert again.result("k") == b"\x00bytes" and again.has_result("k") and not again.has_result("other")
    assert kept.ended and kept.event.stage == "sweep" and kept.rows == ({"k": 1},)
    assert kept.started == 5.0 < kept.finished
    (short,) = again.list_runs("w")
    assert (short.id, short.state, short.event, short.rows) == (run, "done", None, ()) and short.finished
    again.close()


def test_a_result_answers_other_workspaces_but_their_runs_stay_apart(store):
    first = add(store)
    store.finish_runs([first], "done", rows='[{"k": 1}]', result=("k", b"r"))
    second, done = store.add_run("other", "k", "", "m:f", "{}")
    assert done and second != first and store.open_run("other", second).rows == ({"k": 1},)
    for workspace, run in (("other", first), ("w", second), ("w", "guess")):
        with pytest.raises(JobError, match="no run with this address"):
            store.open_run(workspace, run)
        with pytest.raises(JobError, match="no run with this address"):
            store.rename_run(workspace, run, "mine")
        with pytest.raises(JobError, match="no run with this address"):
            store.delete_run(workspace, run)
    assert [run.id for run in store.list_runs("other")] == [second]
    store.delete_run("w", first)
    store.forget_deleted(0)
    assert store.result("k") == b"r"
    store.delete_run("other", second)
    assert store.result("k") == b"r", "it can still be brought back"
    store.forget_deleted(0)
    assert store.result("k") is None


def test_runs_are_renamed_listed_newest_first_and_deleted_once_ended(store):
    runs = [add(store, key=str(i)) for i in range(3)]
    store.rename_run("w", runs[0], 'it\'s "mine"')
    assert store.open_run("w", runs[0]).name == 'it\'s "mine"'
    assert [run.id for run in store.list_runs("w")] == runs[::-1]
    assert [run.id for run in store.list_runs("w", most=2, about='"k": 3')] == runs[:0:-1]
    assert store.list_runs("w", about='"k": 4') == []
    with pytest.raises(JobError, match="cancel it first"):
        store.delete_run("w", runs[1])
    store.finish_runs([runs[1]], "failed", error="a sentence")
    store.delete_run("w", runs[1])
    assert len(store.list_runs("w")) == 2
    store.finish_runs([runs[0]], "failed", error="a sentence")
    assert add(store, key="0", title="asked again") == runs[0]
    kept = store.open_run("w", runs[0])
    assert (kept.state, kept.error, kept.finished) == ("queued", "", None)
    assert (kept.name, kept.title) == ('it\'s "mine"', "asked again")


def test_a_deleted_run_comes_back_until_it_is_forgotten(store):
    run = add(store)
    store.finish_runs([run], "done", rows='[{"k": 1}]', result=("k", b"r"))
    store.rename_run("w", run, "mine")
    store.delete_run("w", run)
    assert store.list_runs("w") == [] and store.find_run(run) is None
    with pytest.raises(JobError, match="too long ago"):
        store.restore_run("other", run)
    store.restore_run("w", run)
    assert store.open_run("w", run).name == "mine" and store.open_run("w", run).state == "done"
    store.delete_run("w", run)
    assert add(store) == run, "who asks the same again gets it back, under no name of its own"
    assert store.open_run("w", run).name == ""
    store.delete_run("w", run)
    store.forget_deleted(0)
    with pytest.raises(JobError, match="too long ago"):
        store.restore_run("w", run)


def test_a_share_opens_one_finished_run_until_that_is_deleted(store):
    run = add(store)
    with pytest.raises(JobError, match="once it is done"):
        store.share_run("w", run)
    store.finish_runs([run], "done", result=("k", b"r"))
    with pytest.raises(JobError, match="no run with this address"):
        store.share_run("other", run)
    share = store.share_run("w", run)
    assert share not in (run, "w") and len(share) >= 22 and store.share_run("w", run) == share
    assert (
        store.shared_run(share).id == run
        and store.shares("w") == {run: share}
        and store.shares("other") == {}
    )
    for wrong in ("", "guess", run):
        with pytest.raises(JobError, match="leads to no run"):
            store.shared_run(wrong)
    store.delete_run("w", run)
    with pytest.raises(JobError, match="leads to no run"):
        store.shared_run(share)
    store.restore_run("w", run)
    assert store.shared_run(share).id == run
    store.delete_run("w", run)
    assert add(store) == run
    with pytest.raises(JobError, match="leads to no run"):
        store.shared_run(share)
    assert store.share_run("w", run) != share, "a link that was ended does not come back with the run"


def test_a_share_says_why_there_is_nothing_to_see_any_more(store):
    run = add(store)
    store.finish_runs([run], "done", result=("k", b"r"))
    share = store.share_run("w", run)
    assert store.make_room(0, 0, 1e9) == 1
    with pytest.raises(JobError, match=r"took the room of others, .* run it again"):
        store.shared_run(share)
    assert add(store) == run
    with pytest.raises(JobError, match="computed once more"):
        store.shared_run(share)
    store.finish_runs([run], "cancelled")
    with pytest.raises(JobError, match="begun once more and stopped"):
        store.shared_run(share)
    add(store)
    store.finish_runs([run], "done", result=("k", b"r"))
    assert store.shared_run(share).id == run


def files(store):
    """Return the digests of all bytes that are kept of uploads."""
    return sorted(row["digest"] for row in store._rows("SELECT digest FROM files"))


def test_a_damaged_result_is_deleted_and_computed_again(store):
    run = add(store)
    store.finish_runs([run], "done", result=("k", b"whole" * 1000))
    assert store.result("k") == b"whole" * 1000

    def damage():
        with store._writing() as db:
            db.execute("UPDATE results SET body = ? WHERE key = 'k'", (b"wholf" * 1000,))

    damage()
    with pytest.raises(JobError, match="was damaged on the disk since, and has been deleted: run it again"):
        store.result("k")
    kept = store.open_run("w", run)
    assert kept.state == "failed" and "damaged" in kept.error and not store.has_result("k")
    assert store.add_run("w", "k", "", "m:f", "{}") == (run, False), "it runs once more"
    store.finish_runs([run], "done", result=("k", b"anew"))
    store.keep_part([run], b"part")
    assert store.result("k") == b"anew" and store.result(run) == b"part"
    damage()
    assert store.add_run("other", "k", "", "m:f", "{}")[1] is False, "nobody is answered with it"


def test_one_server_has_the_store_and_interrupts_what_an_earlier_one_left(store):
    store.claim()
    run = add(store)
    store.note_progress([run], 3.0, '{"stage": "sweep"}', '[{"k": 1}]')
    finished = add(store, key="finished")
    store.finish_runs([finished], "done", result=("finished", b"r"))
    other = Store(store.home)
    with pytest.raises(JobError, match=r"Another server uses the store .* stop it, or set NSPCA_HOME"):
        other.claim()
    assert other.open_run("w", run).state == "running", "what is at work stays so"
    store.close()
    other.claim()
    assert other.open_run("w", run).state == "interrupted" and other.open_run("w", finished).state == "done"
    assert other.open_run("w", run).rows == ({"k": 1},)
    other.close()


def test_a_backup_is_made_in_use_and_is_a_store_itself(store, tmp_path, monkeypatch, capsys):
    store.claim()
    done, waiting = add(store), add(store, key="waiting")
    store.finish_runs([done], "done", result=("k", b"bytes"))
    kept = store.put_upload("w", b"kept", {"name": "a"})
    monkeypatch.setenv("NSPCA_HOME", str(store.home))
    assert main(["backup", str(tmp_path / "copy")]) == 0 and "copy, " in capsys.readouterr().out
    store.delete_upload("w", kept)
    copy = Store(tmp_path / "copy")
    copy.claim()
    assert [copy.find_run(run).state for run in (done, waiting)] == ["done", "interrupted"]
    assert copy.result("k") == b"bytes" and copy.get_upload("w", kept) == (b"kept", {"name": "a"})
    assert [upload["digest"] for upload in copy.list_uploads("w")] == [kept]
    assert store.find_run(waiting).state == "queued"
    copy.close()
    for place, mode in ((tmp_path / "copy", 0o700), (store.home, 0o700), (store.path, 0o600)):
        assert os.name != "posix" or stat.S_IMODE(place.stat().st_mode) == mode, place
    for folder, home, said in (
        ("copy", store.home, "could not be written .*exists.* name another folder"),
        ("new", tmp_path / "nowhere", "There is no store"),
    ):
        with pytest.raises(JobError, match=said):
            backup(tmp_path / folder, home)


def test_uploads_are_opened_only_from_their_workspace(store):
    digest = store.put_upload("a", b"genes", {"name": "genes.csv"})
    assert store.get_upload("a", digest) == (b"genes", {"name": "genes.csv"})
    with pytest.raises(JobError, match="no such upload in this workspace"):
        store.get_upload("b", digest)
    assert store.put_upload("b", b"genes", {"name": "other.csv"}) == digest
    assert store.get_upload("b", digest)[1] == {"name": "other.csv"}
    store.delete_upload("a", digest)
    with pytest.raises(JobError, match="no such upload"):
        store.get_upload("a", digest)
    assert store.get_upload("b", digest)[0] == b"genes" and [u["size"] for u in store.list_uploads("b")] == [
        5
    ]
    store.delete_upload("b", digest)
    assert not files(store)


def test_the_quota_refuses_and_loses_nothing(store):
    first = store.put_upload("a", bytes(600), {})
    with pytest.raises(JobError, match=r"may take 0\.001 MB together, this file would make it 0\.0011 MB"):
        store.put_upload("a", b"x" * 500, {})
    assert store.put_upload("a", bytes(600), {"again": True}) == first
    store.put_upload("b", b"b" * 1000, {})
    with pytest.raises(JobError, match=r"All uploads on this server"):
        store.put_upload("c", b"c" * 1000, {})
    store.put_upload("c", bytes(600), {})  # shared bytes are kept once
    assert len(store.get_upload("a", first)[0]) == 600
    store.delete_upload("a", first)
    assert store.put_upload("a", b"x" * 500, {})


def test_an_upload_is_read_from_a_store_that_cannot_be_written(store, monkeypatch):
    digest = store.put_upload("w", b"x" * 100, {"file": "a"})
    monkeypatch.setattr("nspca.jobs.store.NOTE_SECONDS", -1.0)
    store._db.execute("PRAGMA query_only = 1")
    assert store.get_upload("w", digest) == (b"x" * 100, {"file": "a"})
    store._db.execute("PRAGMA query_only = 0")


def test_bytes_that_were_damaged_are_said_and_mended_by_giving_them_again(store):
    digest = store.put_upload("w", b"genes", {})
    for spoil in ("UPDATE files SET body = x'00'", "DELETE FROM files"):
        store._change(spoil, ())
        with pytest.raises(JobError, match="damaged on the disk since: give the file again"):
            store.get_upload("w", digest)
        assert store.put_upload("w", b"genes", {}) == digest
        assert store.get_upload("w", digest)[0] == b"genes"


def test_a_full_disk_keeps_no_half_of_an_upload(store):
    mine = store.put_upload("w", b"mine", {})
    store.quota = store.total = 10**6
    store._db.execute(f"PRAGMA max_page_count = {store._db.execute('PRAGMA page_count').fetchone()[0] + 2}")
    with pytest.raises(JobError, match=r"disk is full\): make room"):
        store.put_upload("w", bytes(100_000), {})
    assert files(store) == [mine] and [u["digest"] for u in store.list_uploads("w")] == [mine]


def test_who_reads_waits_for_nobody_who_writes(store):
    run = add(store)
    store.finish_runs([run], "done", result=("k", b"r"))
    digest = store.put_upload("w", b"genes", {})
    with ThreadPoolExecutor(1) as aside:
        read = lambda *asked: aside.submit(*asked).result(60.0)  # noqa: E731
        with store._writing() as db:
            db.execute("UPDATE runs SET title = 'being written'")
            assert read(store.find_run, run).title == "", "as it was before"
            assert read(store.result, "k") == b"r" and read(store.get_upload, "w", digest)[0] == b"genes"
        assert read(store.find_run, run).title == "being written"


def test_uploads_too_old_make_room(store):
    old = store.put_upload("a", bytes(900), {})
    with store._writing() as db:
        db.execute("UPDATE uploads SET used = ?", (time.time() - 3601,))
    new = store.put_upload("a", b"n" * 900, {})
    with pytest.raises(JobError, match="too old"):
        store.get_upload("a", old)
    assert [u["digest"] for u in store.list_uploads("a")] == [new] and files(store) == [new]


def test_threads_and_processes_share_one_file(store):
    """Every writer's rows are there afterwards, and the file is sound."""
    script = (
        "import sys; from nspca.jobs.store import Store\n"
        "store = Store(sys.argv[1])\n"
        "for i in range(100): store.add_run(sys.argv[2], str(i), '', 'm:f', '{}')\n"
    )
    processes = [subprocess.Popen([sys.executable, "-c", script, str(store.home), name]) for name in "pq"]
    with ThreadPoolExecutor(2) as threads:
        for t in "tu":
            threads.submit(lambda t=t: [add(store, t, str(i)) for i in range(100)])
    assert [process.wait() for process in processes] == [0, 0]
    assert [len(store.list_runs(name)) for name in "pqtu"] == [100] * 4
    assert store._db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    assert store._db.execute("PRAGMA journal_mode").fetchone()[0] == "wal"


def test_what_is_not_a_usable_store_is_one_sentence(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "runs.sqlite").write_bytes(b"not a database" * 100)
    with pytest.raises(JobError, match=r"cannot be used \(file is not a database\)"):
        Store(tmp_path / "a")
    (tmp_path / "file").touch()
    with pytest.raises(JobError, match="cannot be used"):
        Store(tmp_path / "file")
    Store(tmp_path / "b").close()
    for version in (VERSION + 1, VERSION + 4):
        with sqlite3.connect(tmp_path / "b" / "runs.sqlite") as db:
            db.execute(f"PRAGMA user_version = {version}")
        with pytest.raises(
            JobError, match=f"must be of version {VERSION}, got version {version}: .* NSPCA_HOME"
        ):
            Store(tmp_path / "b")


def test_results_make_room_for_newer_ones(store):
    """By age, by the bytes of all, and by those of a workspace unless another one has room for the same."""
    now, runs = time.time(), {}
    for name, workspace, age in zip("abcde", "wwwvv", (50, 40, 30, 20, 10), strict=True):
        runs[name] = add(store, workspace, name)
        store.finish_runs([runs[name]], "done", result=(name, bytes(100)), finished=now - age)
    add(store, "v", "a")
    there = lambda: "".join(name for name in runs if store.has_result(name))  # noqa: E731
    assert store.kept("w") == (3, 300) and store.kept("v") == (3, 300) and store.kept("x") == (0, 0)
    assert store.make_room(1000, 300, 45.0) == 1 and there() == "bcde"
    assert store.make_room(1000, 100, 1e9) == 2 and there() == "ce"
    assert store.make_room(150, 1000, 1e9) == 1 and there() == "e"
    kept = store.open_run("w", runs["c"])
    assert kept.state == "failed" and "is deleted by now: run it again" in kept.error
    assert store.make_room(150, 1000, 1e9) == 0
    store.keep_part([runs["c"]], bytes(50))
    assert store.kept("w") == (1, 50)


def test_a_workspace_over_its_quota_takes_no_room_from_others(store):
    now = time.time()
    for name, workspace, age in zip("abcd", "vwww", (40, 30, 20, 10), strict=True):
        run = add(store, workspace, name)
        store.finish_runs([run], "done", result=(name, bytes(100)), finished=now - age)
    assert store.make_room(250, 100, 1e9) == 2
    assert [name for name in "abcd" if store.has_result(name)] == ["a", "d"]


@pytest.mark.skipif(os.name == "nt", reason="an open file cannot be deleted there")
@pytest.mark.parametrize("how", ["deleted", "replaced", "folder"])
def test_a_store_deleted_below_a_running_server_is_said(store, how):
    run = add(store, "w")
    assert store.missing() == ""
    if how == "folder":
        shutil.rmtree(store.home)
    else:
        store.path.unlink()
        if how == "replaced":
            Store(store.home).close()
    assert "was deleted or replaced while this server runs" in store.missing()
    for ask in (
        lambda: store.find_run(run),
        lambda: add(store, "w", "other"),
        lambda: store.list_uploads("w"),
    ):
        with pytest.raises(JobError, match="put it back, and start the server again"):
            ask()
    store.close()
