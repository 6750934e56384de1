"""Work that is the same for a whole class is done once."""

import threading
import tomllib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import nspca
from nspca.dashboard import open_data
from nspca.dashboard.app import frame, memory


def test_one_computes_what_all_wait_for(monkeypatch):
    problem = nspca.Problem.from_data(np.random.default_rng(0).random((9, 4)), k=2)
    covariance, begun, go_on = problem.covariance, [], threading.Event()
    find = covariance._eigenpairs

    def slow(d):
        begun.append(d)
        assert go_on.wait(300)
        return find(d)

    monkeypatch.setattr(covariance, "_eigenpairs", slow)
    crowd = [threading.Thread(target=open_data.with_leading, args=(problem.with_k(k),)) for k in (1, 2, 3)]
    for one in crowd:
        one.start()
    for one in crowd:
        one.join(0.05)  # who does not wait begins
    go_on.set()
    for one in crowd:
        one.join()
    assert len(begun) == 1 and problem.leading_eigenvalue > 0


def test_garbage_is_collected_for_all_together_after_a_page_was_drawn(monkeypatch):
    config = tomllib.loads((Path(__file__).resolve().parents[2] / ".streamlit" / "config.toml").read_text())
    assert config["runner"]["postScriptGC"] is False, "not by each session after every rerun"
    monkeypatch.setattr(memory, "_drawn", threading.Event())
    monkeypatch.setattr(memory, "SECONDS", 0.0)
    collections = []

    def collect():
        if threading.current_thread() is threading.main_thread():  # else it is of a page of another test
            collections.append(memory._drawn.is_set())
            raise InterruptedError

    monkeypatch.setattr(memory, "gc", SimpleNamespace(collect=collect))
    with frame.guard():
        pass
    assert memory._drawn.is_set()
    with pytest.raises(InterruptedError):
        memory.work()
    assert collections == [False], "and not again before the next page"
