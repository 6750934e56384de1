"""Backup and restore of the store."""

import os
import shutil
import sqlite3
import stat

import pytest

from nspca.__main__ import main
from nspca.errors import JobError
from nspca.jobs import Store
from nspca.jobs.backup import backup, restore
from nspca.jobs.database import VERSION


def planted(home, key="k"):
    store = Store(home)
    run, _ = store.add_run("w", key, "", "m:f", "{}", "s")
    store.finish_runs([run], "done", result=(key, b"bytes"))
    return store, run


def test_a_copy_is_made_in_use_and_put_back(tmp_path, monkeypatch, capsys):
    home, copy = tmp_path / "home", tmp_path / "copy.sqlite"
    store, run = planted(home)
    digest = store.put_upload("w", b"genes", {"file": "genes.csv"})
    server = store.register_server()
    monkeypatch.setenv("NSPCA_HOME", str(home))
    assert main(["backup", str(copy)]) == 0
    assert os.name != "posix" or stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert main(["restore", str(copy)]) == 2 and "A server uses the store" in capsys.readouterr().err
    later, _ = store.add_run("w", "later", "", "m:f", "{}", server)
    store.delete_upload("w", digest)
    other = store.put_upload("w", b"other", {})
    store.leave_server(server)
    store.close()
    assert main(["restore", str(copy)]) == 0
    assert "what was there before is in" in capsys.readouterr().out
    again = Store(home)
    assert again.open_run("w", run).state == "done" and again.result("k") == b"bytes"
    assert again.find_run(later) is None
    assert again.get_upload("w", digest) == (b"genes", {"file": "genes.csv"})
    assert [path.name for path in (home / "uploads").iterdir()] == [digest], "files, of these rows alone"
    again.close()
    (before,) = home.glob("runs-before-*.sqlite")
    assert restore(before, tmp_path / "new") is None
    old = Store(tmp_path / "new")
    assert old.find_run(later).state == "interrupted" and old.get_upload("w", other)[0] == b"other"
    old.close()


def test_a_copy_made_beside_a_server_is_put_elsewhere_while_that_goes_on(tmp_path):
    """Nobody is at work on the copy, and it can be replaced by another one."""
    store, done = planted(tmp_path / "home")
    server = store.register_server()
    runs = [store.add_run("w", key, "", "m:f", "{}", server)[0] for key in ("waiting", "at work")]
    store.note_progress(runs[1:], 1.0, "", "[]")
    backup(tmp_path / "copy", tmp_path / "home")
    for _ in range(2):
        restore(tmp_path / "copy", tmp_path / "new")
        new = Store(tmp_path / "new")
        assert [new.find_run(run).state for run in (done, *runs)] == ["done", "interrupted", "interrupted"]
        assert new.owner("waiting", "me") is None and not new.is_shared("me")
        new.close()
    assert [store.find_run(run).state for run in runs] == ["queued", "running"]
    assert store.owner("waiting", "me") == server
    store.close()


def test_a_copy_made_while_an_upload_is_deleted_does_not_show_it(tmp_path):
    store, _ = planted(tmp_path / "home")
    kept, gone = (store.put_upload("w", body, {}) for body in (b"kept", b"gone"))
    (tmp_path / "home" / "uploads" / gone).unlink()
    store.close()
    backup(tmp_path / "copy", tmp_path / "home")
    restore(tmp_path / "copy", tmp_path / "new")
    again = Store(tmp_path / "new")
    assert [upload["digest"] for upload in again.list_uploads("w")] == [kept]
    assert again.get_upload("w", kept)[0] == b"kept"
    again.close()


def test_a_copy_of_another_version_is_refused(tmp_path):
    store, run = planted(tmp_path / "home")
    store.close()
    backup(tmp_path / "copy", tmp_path / "home")
    with sqlite3.connect(tmp_path / "copy") as db:
        db.execute(f"PRAGMA user_version = {VERSION + 1}")
    db.close()
    with pytest.raises(JobError, match=f"must be of version {VERSION}, got version {VERSION + 1}: "):
        restore(tmp_path / "copy", tmp_path / "home")
    store = Store(tmp_path / "home")
    assert store.open_run("w", run).state == "done"
    store.close()


def test_what_is_no_copy_is_refused_and_nothing_is_lost(tmp_path):
    store, run = planted(tmp_path / "home")
    store.close()
    (tmp_path / "text").write_text("no database" * 1000)
    (tmp_path / "empty").touch()
    shutil.copy(tmp_path / "home" / "runs.sqlite", tmp_path / "store")
    for wrong, said in (
        ("missing", "There is no file"),
        ("text", "is no copy"),
        ("empty", "is no copy"),
        ("store", "must be a copy that backup wrote"),
    ):
        with pytest.raises(JobError, match=said):
            restore(tmp_path / wrong, tmp_path / "home")
    store = Store(tmp_path / "home")
    assert store.open_run("w", run).state == "done"
    store.close()
    with pytest.raises(JobError, match="There is no store"):
        backup(tmp_path / "copy", tmp_path / "nowhere")
    with pytest.raises(JobError, match="could not be written"):
        backup(tmp_path / "no folder" / "copy", tmp_path / "home")
