"""A scheduler and two workers as `dask` starts them, known to each other by certificates; one dies."""

import os
import sys

import dask
import psutil
import pytest

from nspca.jobs import Engine, Store, certificates
from nspca.jobs.engine import KILLED
from tests import servers


def started(environment, *arguments):
    command = [sys.executable, "-c", servers.DASK, *arguments, "--no-dashboard"]
    return servers.launch(command, env=environment, stdout=-3, stderr=-3)


@pytest.mark.visit
@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
def test_a_cluster_goes_on_without_a_worker_that_was_killed(tmp_path, begun, ended, wait_for, monkeypatch):
    named = certificates.write(tmp_path / "tls")
    environment = {
        **os.environ,
        **named,
        "PYTHONPATH": str(servers.ROOT),
        "DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION": "true",
        "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0",
    }
    port = servers.free_port()
    address = f"tls://127.0.0.1:{port}"
    processes = [
        started(environment, "scheduler", "--protocol", "tls", "--host", "127.0.0.1", "--port", str(port))
    ]
    options = ("worker", address, "--nworkers", "1", "--nthreads", "1", "--host", "tls://127.0.0.1")
    processes += [started(environment, *options) for _ in range(2)]
    tls = {
        "distributed.comm.tls.ca-file": str(tmp_path / "tls" / "ca.pem"),
        "distributed.comm.tls.client.cert": str(tmp_path / "tls" / "cert.pem"),
        "distributed.comm.tls.client.key": str(tmp_path / "tls" / "key.pem"),
    }
    monkeypatch.setenv("NSPCA_SCHEDULER", address)
    try:
        with dask.config.set(tls):
            engine = Engine(Store(tmp_path / "home"))
            engine.start()
            assert engine.wait_ready(300)
            wait_for(lambda: len(engine._pool.load()) == 2)
            gates = [tmp_path / "one", tmp_path / "two"]
            task = "tests.jobs.background_tasks:hold"
            victim, other = (engine.submit(task, {"gate": str(gate)}, workspace="a") for gate in gates)
            pid = begun(engine, victim)
            begun(engine, other)
            servers.killed(
                next(
                    one
                    for one in processes[1:]
                    if pid in [child.pid for child in psutil.Process(one.pid).children(recursive=True)]
                )
            )
            state = ended(engine, victim)
            assert (state.state, state.error) == ("failed", KILLED)
            gates[0].touch()
            again = engine.again(victim)
            gates[1].touch()
            assert [ended(engine, run).state for run in (other, again)] == ["done", "done"]
            engine.shutdown()
    finally:
        for process in processes:
            if process.poll() is None:
                servers.killed(process)
            process.stdin.close()
