"""Passes on workers: to the last bit what they are here, whoever computes what, and whoever is lost."""

import os
import pickle
import signal
import time
from dataclasses import replace
from functools import partial
from threading import Event

import numpy as np
import pytest
import scipy.sparse as sp

import nspca
from nspca.bounds.plan import IN_PARTS
from nspca.bounds.search import strongest
from nspca.covariance import parallel
from nspca.errors import Cancelled, InvalidData, InvalidOption, InvalidProblem, JobError
from nspca.progress import telling
from nspca.shards import Shards
from tests.patience import wait_for
from tests.rowblocks import InMemory, counts, folder_of
from tests.workers import started


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """More shards than a branch has, and one without entries."""
    X, place = counts(np.random.default_rng(3), 400, 130), tmp_path_factory.mktemp("shards") / "s"
    X = sp.csr_array(sp.vstack((X * np.pi, sp.csr_array((60, 130)), X[:20]), format="csr"))
    folder_of(X, place, 45)
    return place


@pytest.fixture(scope="module")
def client():
    with started(processes=False) as client:
        yield client


class OneWorker:
    """A Dask client that knows only one of the workers of another client."""

    def __init__(self, client):
        self.submit, self.wait_for_workers = client.submit, client.wait_for_workers
        self.nthreads = lambda: dict([*client.nthreads().items()][:1])


def answers(A):
    """Return the results of passes of every kind over A."""
    Y = np.random.default_rng(0).standard_normal((A.n, 3))
    some = np.arange(A.n)[::3]
    found = [A.diagonal, A.product(Y), A.product(Y[:, 0]), A.columns(some), A.block(some), A.scores(Y)]
    found += [A.gram(), A.restrict(some).matrix, *A.crossed([(some, some[:4]), (some[:2], some[5:])])]
    return found


def same(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


# --- the tree -----------------------------------------------------------------------------------------------


def test_a_tree_put_together_of_its_branches_is_the_same_tree():
    drawn = parallel.folded([[str(i)] for i in range(18)], lambda a, b: [f"({a[0]}+{b[0]})"])[0]
    eight = "(((((((0+1)+2)+3)+4)+5)+6)+7)"
    assert drawn.startswith(f"(({eight}+(((((((8+9)") and drawn.endswith("+15))+(16+17))")
    for total in [*range(1, 80), 511, 512, 513, 600]:
        sums = np.random.default_rng(total).standard_normal(total) * 1e3
        whole = parallel.folded([(x.reshape(1),) for x in sums.copy()], parallel.added)[0]
        for size in (1, parallel.FAN, parallel.FAN**2):
            cut = [[(x.reshape(1),) for x in sums[i : i + size].copy()] for i in range(0, total, size)]
            branches = [parallel.folded(part, parallel.added) for part in cut]
            assert parallel.folded(branches, parallel.added)[0] == whole


# --- the same bits ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [False, pytest.param(True, marks=pytest.mark.visit)])
def test_workers_one_worker_and_none_find_the_same_bits(folder, client, few, monkeypatch, scale):
    here = answers(nspca.Problem.from_shards(folder, 3, scale=scale).covariance)
    for workers in (client, OneWorker(client)):
        problem = nspca.Problem.from_shards(folder, 3, scale=scale, client=workers)
        assert same(answers(problem.covariance), here)
        monkeypatch.setattr(parallel, "EACH", 1)  # so that a task is more than a block


def with_core(problem):
    """A certificate with a core of 20 features and weights for the others."""
    value = nspca.solve(problem, certify=None).value
    return strongest(problem, problem.covariance.to_unit(value), "fast")[0]


def test_a_proof_with_a_core_is_the_same_bits(folder, client, few, monkeypatch):
    monkeypatch.setattr("nspca.bounds.core.pays", lambda *_: True)
    plan, *rounds = IN_PARTS[False, "fast"]
    monkeypatch.setitem(IN_PARTS, (False, "fast"), (replace(plan, cores=(20,)), *rounds))
    here = with_core(nspca.Problem.from_shards(folder, 4))
    there = with_core(nspca.Problem.from_shards(folder, 4, client=client))
    assert "y" in here.witness and here.upper == there.upper
    assert all(np.array_equal(here.witness[name], there.witness[name]) for name in here.witness)
    assert nspca.verify(Shards(folder), there) <= there.upper


@pytest.mark.visit
@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
def test_a_worker_that_is_killed_in_the_middle_changes_nothing(folder, few):
    here = answers(nspca.Problem.from_shards(folder, 3).covariance)
    with started(processes=True) as client:
        A = nspca.Problem.from_shards(folder, 3, client=client).covariance
        killed, branches = [], []

        def kill(event):
            branches.append(event.total)
            if not killed and event.done >= 4:
                victim = next(iter(client.run(os.getpid).values()))
                os.kill(victim, signal.SIGKILL)
                killed.append((victim, event.done))

        with telling(kill):
            assert same(answers(A), here)
        assert killed and killed[0][1] < branches[0] == 11
        assert killed[0][0] not in client.run(os.getpid).values()


# --- ends ---------------------------------------------------------------------------------------------------


def stop_at(number, event):
    if event.stage == "reading" and event.done >= number:
        raise Cancelled


@pytest.fixture
def gate(monkeypatch):
    """Let blocks after the fourth wait for an event; return the numbers of the blocks read, and the event."""
    read, opened, quick = [], Event(), Shards.block

    def block(self, number):
        read.append(number)
        assert len(read) <= 4 or opened.wait(20)
        return quick(self, number)

    monkeypatch.setattr(Shards, "block", block)
    return read, opened


def waiting(client):
    """Return the tasks that may still begin, as the scheduler or a worker sees them."""
    places = client.cluster.scheduler.tasks, *(one.state.tasks for one in client.cluster.workers.values())
    begin = {"waiting", "ready", "constrained", "queued", "no-worker", "processing"}
    return [task for tasks in places for task in [*tasks.values()] if task.state in begin]


@pytest.mark.parametrize("spread_out", [False, pytest.param(True, marks=pytest.mark.visit)])
def test_a_pass_is_ended_in_its_middle(folder, client, few, gate, spread_out):
    (read, opened), workers = gate, client if spread_out else None

    def ended(call, *arguments):
        read.clear()
        opened.clear()
        with pytest.raises(Cancelled):
            call(*arguments, report=partial(stop_at, 3))
        wait_for(lambda: not waiting(client))  # the word gets around
        opened.set()
        time.sleep(0.1)
        assert 3 <= len(read) <= 8 < len(Shards(folder))

    ended(partial(nspca.Problem.from_shards, client=workers), folder, 3)
    problem = nspca.Problem.from_shards(folder, 3, client=workers)
    ended(nspca.solve, problem)
    ended(partial(nspca.certify, effort="fast"), problem)
    assert np.isfinite(problem.covariance.product(np.ones(130))).all()


def test_a_pass_that_is_over_leaves_nothing_on_the_workers(folder, client):
    A = nspca.Problem.from_shards(folder, 3, client=client).covariance
    A.product(np.ones(130))
    wait_for(lambda: not client.cluster.scheduler.tasks)


def test_what_the_caller_raises_is_the_callers(folder, client):
    with pytest.raises(ZeroDivisionError):
        nspca.Problem.from_shards(folder, 3, client=client, report=lambda _: 1 / 0)


def test_what_is_wrong_with_a_shard_is_said_by_whoever_reads_it(folder, client, tmp_path):
    folder_of(np.eye(6), tmp_path / "s", 2)
    path = tmp_path / "s" / "indices.npy"
    raw = bytearray(path.read_bytes())
    raw[-3] ^= 1
    path.write_bytes(raw)
    with pytest.raises(InvalidData, match=r"Rows 5 to 6 of the folder .* are no compressed rows"):
        nspca.Problem.from_shards(tmp_path / "s", 2, client=client)
    how, (place, mark) = Shards(folder).__reduce__()
    assert how(place, mark) is pickle.loads(pickle.dumps(Shards(folder)))  # opened once
    with pytest.raises(InvalidData, match="must hold the same shards for every worker"):
        how(str(tmp_path / "s"), mark)


def test_workers_that_cannot_are_refused_in_a_sentence(folder, client, monkeypatch):
    with pytest.raises(InvalidOption, match=r"client must be a distributed\.Client or None, got 'tcp:"):
        nspca.Problem.from_shards(folder, 3, client="tcp://127.0.0.1:8786")
    with pytest.raises(InvalidProblem, match="workers read a folder of shards, got InMemory"):
        nspca.Problem.from_shards(InMemory(np.eye(4), 2), 2, client=client)
    lonely = OneWorker(client)
    lonely.nthreads = dict
    lonely.wait_for_workers = lambda n, timeout: client.wait_for_workers(9, timeout)
    with monkeypatch.context() as patch, pytest.raises(JobError, match="are required, got WorkerStart"):
        patch.setattr(parallel, "PATIENCE", 0.1)
        nspca.Problem.from_shards(folder, 3, client=lonely)
    monkeypatch.setattr(Shards, "block", lambda *_: 1 / 0)
    with pytest.raises(JobError, match="to the end are required, got ZeroDivisionError"):
        nspca.Problem.from_shards(folder, 3, client=client)
