"""The workers of one command: they read a folder of shards, and are gone afterwards."""

import json

import numpy as np
import psutil
import pytest

from nspca.__main__ import main
from nspca.errors import InvalidOption, JobError
from nspca.jobs import command_workers
from tests.rowblocks import counts, folder_of


def processes():
    """Return the processes that this process and its children have started as workers."""
    started = psutil.Process().children(recursive=True)
    return {one for one in started if "spawn_main" in " ".join(one.cmdline())}


@pytest.mark.visit
def test_solve_with_workers_says_what_it_says_without(tmp_path, capsys):
    folder_of(counts(np.random.default_rng(0), 60, 40, words=6), tmp_path / "s", 7)
    before = processes()  # an engine of other tests may have workers
    command, found = ["solve", str(tmp_path / "s"), "--k", "4", "--json"], []
    for more in ([], ["--workers", "2"]):
        assert main(command + more) == 0
        found.append(json.loads(capsys.readouterr().out))
        del found[-1]["seconds"]
    assert found[0] == found[1]
    assert not psutil.wait_procs(processes() - before, timeout=60)[1]


def test_workers_that_cannot_be_had_are_a_sentence(tmp_path, capsys, monkeypatch):
    assert main(["solve", "digits", "--k", "4", "--workers", "2"]) == 2
    said = capsys.readouterr().err
    assert "workers read a folder of shards or help with --effort exhaustive, got digits" in said
    with pytest.raises(InvalidOption, match="an address like tls://host:8786, got 'localhost'"):
        command_workers.open_client(scheduler="localhost").__enter__()

    def none(*_):
        raise OSError("no room")

    monkeypatch.setattr(command_workers, "local_cluster", none)
    with pytest.raises(JobError, match=r"Workers on this machine are required, .* \(OSError: no room\)"):
        command_workers.open_client(2).__enter__()


def test_who_waits_for_a_scheduler_hears_at_once_for_which(tmp_path, capsys, monkeypatch):
    folder_of(counts(np.random.default_rng(0), 60, 40, words=6), tmp_path / "s", 7)
    heard = []

    def nobody(address, **_):
        heard.append(capsys.readouterr().err)
        raise OSError(f"nobody at {address}")

    monkeypatch.setattr(command_workers, "Client", nobody)
    assert main(["solve", str(tmp_path / "s"), "--k", "4", "--scheduler", "tcp://127.0.0.1:9"]) != 0
    assert len(heard) == 1 and heard[0].startswith("waiting for the scheduler at tcp://127.0.0.1:9 and")
    assert "Workers at tcp://127.0.0.1:9 are required" in capsys.readouterr().err
