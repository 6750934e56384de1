"""Proofs of a table in shards on workers: the same bytes as here, also when a worker is killed in the middle,
and what is left when the cluster goes away.
"""

import os
import signal
import sys
import time
from dataclasses import replace
from importlib import import_module

import dask
import numpy as np
import pytest
import scipy.sparse as sp
from distributed import Client, WorkerPlugin

import nspca
from nspca.__main__ import main
from nspca.bounds import search
from nspca.bounds.disjoint import pricing
from nspca.bounds.plan import PLANS
from nspca.errors import WorkersLost
from nspca.jobs.command_workers import open_client
from nspca.shards import Shards
from tests import servers
from tests.rowblocks import folder_of
from tests.workers import Workers

NODES = 10
QUICK = {
    "nspca.bounds.fixing.eigenvalues": {"COUNTED": 0.0},
    "nspca.bounds.fixing.settle": {"FIX_CAP": 0, "ROUND": 4},
    "nspca.bounds.fixing.lifts": {"RANK": 2},
}
"""Constants with which nothing is fixed or counted and a node has few steps, so that a tree has many."""


@pytest.fixture
def branching(monkeypatch):
    for module, constants in QUICK.items():
        for name, value in constants.items():
            monkeypatch.setattr(f"{module}.{name}", value)
    monkeypatch.setattr(search, "ROOT_ROUNDS", 1)
    monkeypatch.setattr(pricing, "COUNTED", 0.0)
    monkeypatch.setattr(pricing, "ROUNDS", 1)
    monkeypatch.setitem(PLANS, "standard", replace(PLANS["standard"], eigenvalues=0.0, cap=30))


class Branching(WorkerPlugin):
    """Sets the constants in every worker, and makes nodes slow, so that a worker that is killed has one."""

    name = "branching"

    def setup(self, worker):
        for module, constants in QUICK.items():
            for name, value in constants.items():
                setattr(import_module(module), name, value)
        module = import_module("nspca.bounds.fixing.settle")
        quick = module.settle

        def settle(*arguments):
            time.sleep(0.2)
            return quick(*arguments)

        module.settle = settle


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder of shards of noise, of which many supports are nearly as good as the best one."""
    return noise(tmp_path_factory.mktemp("shards") / "s", 14)


def noise(place, n):
    X = sp.csr_array(np.random.default_rng(3).standard_normal((60, n)))
    folder_of(X, place, 20)
    return place


def problem_of(folder, k, client=None):
    return nspca.Problem.from_shards(folder, k, nonneg=False, client=client)


def searched(problem, nodes=NODES, **more):
    """Return the certificate of a search that is ended before the optimum is proved."""
    return nspca.certify(problem, effort="exhaustive", nodes=nodes, **more)


@pytest.mark.parametrize(
    ("k", "count", "nodes"),
    [
        (4, 3, 6),
        ((4, 4), 3, 6),
        *(pytest.param(k, count, NODES, marks=pytest.mark.visit) for k in (5, (5, 5)) for count in (1, 3)),
    ],
)
def test_any_workers_make_the_same_certificate(branching, folder, tmp_path, k, count, nodes):
    """Workers that read the shards settle the nodes too, with no client named for the search."""
    folder = folder if nodes == NODES else noise(tmp_path / "s", 12)
    here = searched(problem_of(folder, k), nodes)
    assert len(here.tree["branch"]) > nodes / 2
    reading, named = Workers(count), Workers(count)
    problem = problem_of(folder, k)
    problem.covariance.client = reading
    assert searched(problem, nodes).to_bytes() == here.to_bytes()
    assert searched(problem_of(folder, k), nodes, client=named).to_bytes() == here.to_bytes()
    assert min(reading.given, named.given) >= 0.8 * nodes
    nspca.verify(Shards(folder), here)


@pytest.mark.visit
@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
@pytest.mark.parametrize("k", [5, (5, 5)])
def test_a_worker_that_is_killed_in_the_middle_of_a_tree_changes_nothing(branching, folder, k):
    here = searched(problem_of(folder, k))
    with open_client(2) as client:
        client.register_plugin(Branching())
        killed = []

        def kill(event):
            if killed or event.stage != "proving the optimum" or not 2 <= event.done < NODES:
                return
            busy = [worker for worker, keys in client.processing().items() if keys]
            if busy:
                killed.append(client.run(os.getpid)[busy[0]])
                os.kill(killed[0], signal.SIGKILL)

        assert searched(problem_of(folder, k, client), report=kill).to_bytes() == here.to_bytes()
        assert killed and killed[0] not in client.run(os.getpid).values()


@pytest.fixture
def cluster():
    """Yield the address of a scheduler with one worker, and the process of the worker, to be killed."""
    port = servers.free_port()
    address = f"tcp://127.0.0.1:{port}"
    environment = {**os.environ, "PYTHONPATH": str(servers.ROOT)}

    def begun(*arguments):
        command = [sys.executable, "-c", servers.DASK, *arguments, "--no-dashboard", "--host", "127.0.0.1"]
        return servers.launch(command, env=environment, stdout=-3, stderr=-3)

    processes = [begun("scheduler", "--port", str(port)), begun("worker", address, "--nthreads", "1")]
    try:
        yield address, processes[0]
    finally:
        for process in processes:
            servers.killed(process)
            process.stdin.close()


@pytest.mark.visit
@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
def test_a_cluster_that_goes_away_leaves_a_tree_to_go_on_from(branching, folder, cluster):
    address, scheduler = cluster

    def kill(event):
        if event.stage == "proving the optimum" and event.done >= 3:
            os.kill(scheduler.pid, signal.SIGKILL)

    with (
        dask.config.set({"distributed.comm.timeouts.connect": "2s"}),
        Client(address, set_as_default=False, timeout=300) as client,
    ):
        client.wait_for_workers(1, timeout=300)
        client.register_plugin(Branching())
        with pytest.raises(WorkersLost, match="Workers that work to the end are required, got") as lost:
            nspca.solve(problem_of(folder, 5, client), certify="exhaustive", report=kill)
    left, problem = lost.value.result.certificate, problem_of(folder, 5)
    assert lost.value.best is left and len(left.tree["branch"]) > 1
    assert nspca.verify(Shards(folder), left, problem) >= lost.value.result.value
    after = searched(problem, resume=left)
    assert len(after.tree["branch"]) > len(left.tree["branch"]) and after.upper <= left.upper
    nspca.verify(Shards(folder), after, problem)


def test_the_command_prints_and_saves_what_was_ready_when_workers_were_lost(
    branching, folder, tmp_path, monkeypatch, capsys
):
    file = str(tmp_path / "lost.npz")
    asked = ["solve", str(folder), "--k", "5", "--signed", "--effort", "exhaustive"]

    def losing(event):
        if event.stage == "proving the optimum" and event.done >= 3:
            raise WorkersLost("Workers are required.")

    with monkeypatch.context() as patch:
        patch.setattr("nspca.cli.solve.progress", lambda: losing)
        assert main([*asked, "--nodes", str(NODES), "--certificate", file]) == 2
    printed = capsys.readouterr()
    assert "proved" in printed.out
    assert printed.err == (
        "nspca: Workers are required. The answer is what was ready, and --resume goes on.\n"
    )
    assert main(["verify", str(folder), file]) == 0
    assert main([*asked, "--resume", file, "--nodes", "4"]) == 0


def test_the_command_says_one_sentence_when_nothing_was_ready(folder, monkeypatch, capsys):
    def losing(*_):
        raise WorkersLost("Workers are required.")

    monkeypatch.setattr("nspca.solving.run_method", losing)
    assert main(["solve", str(folder), "--k", "5", "--effort", "exhaustive", "--nodes", "4"]) == 2
    printed = capsys.readouterr()
    assert printed.err == "nspca: Workers are required.\n" and printed.out == ""
