"""A whole server process: no end leaves processes or noise behind, and the next server takes over."""

import os
import signal
import subprocess
import sys

import psutil
import pytest

from nspca.jobs import Engine, Store
from tests import servers

SERVER = """
import sys, time
from nspca.jobs import Engine, Store
from tests import servers

if __name__ == "__main__":
    servers.hold_on()
    home, ending = sys.argv[1:]
    engine = Engine(Store(home), workers=1)
    job = engine.submit("tests.jobs.background_tasks:stubborn", {"seconds": 600.0}, workspace="w")
    if ending != "at once":
        while not engine.status(job).rows:
            time.sleep(0.01)
    print(job, *[row["pid"] for row in engine.status(job).rows], flush=True)
    if ending == "killed":
        time.sleep(600)
"""


def running(pid):
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.mark.visit
@pytest.mark.parametrize(
    "ending",
    [
        "at once",
        "orderly",
        pytest.param("killed", marks=pytest.mark.skipif(os.name != "posix", reason="SIGKILL")),
    ],
)
def test_the_end_of_a_server_leaves_no_process_and_an_interrupted_run(tmp_path, wait_for, ending):
    (tmp_path / "server.py").write_text(SERVER)
    errors = tmp_path / "errors"
    with errors.open("w") as stderr:
        command = [sys.executable, str(tmp_path / "server.py"), str(tmp_path / "home"), ending]
        environment = os.environ | {"PYTHONPATH": str(servers.ROOT)}
        server = servers.launch(command, env=environment, stdout=subprocess.PIPE, stderr=stderr, text=True)
    job, *pids = server.stdout.readline().split()
    family = psutil.Process(server.pid).children(recursive=True) if ending == "killed" else []
    if ending == "killed":
        server.send_signal(signal.SIGKILL)
    server.wait(timeout=120)
    assert (
        errors.read_text() == "" or ending == "killed"
    )  # Python's resource tracker then says what it cleans up
    wait_for(lambda: not any(running(pid) for pid in [*map(int, pids), *(process.pid for process in family)]))
    engine = Engine(Store(tmp_path / "home"))
    state = engine.status(job)
    assert state.state == "interrupted" and engine.store.open_run("w", job).function.endswith(":stubborn")
    engine.shutdown()
