"""Backup and restore of the store."""

import os
import stat

import pytest

from nspca.__main__ import main
from nspca.errors import JobError
from nspca.jobs import Store
from nspca.jobs.backup import backup, restore


def planted(home, key="k"):
    store = Store(home)
    run, _ = store.add_run("w", key, "", "m:f", "{}", "s")
    store.finish_runs([run], "done", result=(key, b"bytes"))
    return store, run


def test_a_copy_is_made_in_use_and_put_back(tmp_path, monkeypatch, capsys):
    home, copy = tmp_path / "home", tmp_path / "copy.sqlite"
    store, run = planted(home)
    server = store.register_server()
    monkeypatch.setenv("NSPCA_HOME", str(home))
    assert main(["backup", str(copy)]) == 0
    assert os.name != "posix" or stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert main(["restore", str(copy)]) == 2 and "A server uses the store" in capsys.readouterr().err
    later, _ = store.add_run("w", "later", "", "m:f", "{}", server)
    store.leave_server(server)
    store.close()
    assert main(["restore", str(copy)]) == 0
    assert "what was there before is in" in capsys.readouterr().out
    again = Store(home)
    assert again.open_run("w", run).state == "done" and again.result("k") == b"bytes"
    assert again.find_run(later) is None
    again.close()
    (before,) = home.glob("runs-before-*.sqlite")
    assert restore(before, tmp_path / "new") is None
    old = Store(tmp_path / "new")
    assert old.find_run(later).state == "interrupted"
    old.close()


def test_what_is_no_copy_is_refused_and_nothing_is_lost(tmp_path):
    store, run = planted(tmp_path / "home")
    store.close()
    (tmp_path / "text").write_text("no database" * 1000)
    (tmp_path / "empty").touch()
    for wrong, said in (("missing", "There is no file"), ("text", "is no copy"), ("empty", "is no copy")):
        with pytest.raises(JobError, match=said):
            restore(tmp_path / wrong, tmp_path / "home")
    store = Store(tmp_path / "home")
    assert store.open_run("w", run).state == "done"
    store.close()
    with pytest.raises(JobError, match="There is no store"):
        backup(tmp_path / "copy", tmp_path / "nowhere")
    with pytest.raises(JobError, match="could not be written"):
        backup(tmp_path / "no folder" / "copy", tmp_path / "home")
