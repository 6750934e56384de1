"""Everything that had ended before a server was killed is there after it, whenever it is killed: of a process
that does nothing but write, which is killed in the middle of a transaction most of the time, and of an engine
with its workers.
"""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time

import psutil
import pytest

from nspca.jobs import Store
from tests import servers
from tests.jobs.background_tasks import repeat

KILLS, LOTS = 50, 5  # kills, and parallel tests that share those of an engine, which takes seconds to start
WRITER = """
import sys
from nspca.jobs import Store
from tests import servers

if __name__ == "__main__":
    servers.hold_on()
    store = Store(sys.argv[1])
    store.claim()
    for number in range(10**9):
        key = f"{sys.argv[2]} {number}"
        run, done = store.add_run("w", key, "", "m:f", "{}")
        store.note_progress([run], 1.0, "", '[{"row": 1}]')
        store.finish_runs([run], "done", result=(key, key.encode() * 5000))
        print(run, key, sep="|", flush=True)  # whoever hears this may count on it
"""
ENGINE = """
import sys, time
from nspca.jobs import engine
from tests import servers

if __name__ == "__main__":
    servers.hold_on()
    here, waits, number = engine(), {}, 0
    here.start()
    again = [run.id for run in here.store.list_runs("w") if run.state == "interrupted"]
    while True:
        while len(waits) < 4:
            name = f"{sys.argv[1]} {number}"
            if again:
                run = here.again(again.pop())
            else:
                task = "tests.jobs.background_tasks:repeat"
                run = here.submit(task, {"name": name}, workspace="w", title=name)
            waits[run], number = name, number + 1
        for run in [run for run in waits if here.status(run).ended]:
            del waits[run]
            print(run, here.status(run).state, sep="|", flush=True)  # whoever hears this may count on it
        time.sleep(0.001)
"""


def family(session):
    """Return the processes of a session that are still running."""
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if os.getsid(process.pid) == session and process.status() != psutil.STATUS_ZOMBIE:
                yield process


@pytest.mark.long
@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
def test_what_had_ended_is_there_after_every_kill(tmp_path):
    (tmp_path / "server.py").write_text(WRITER)
    chance, home, promised = random.Random(0), tmp_path / "home", {}
    Store(home).close()
    for life in range(KILLS):
        command = [sys.executable, str(tmp_path / "server.py"), str(home), str(life)]
        environment = os.environ | {"PYTHONPATH": str(servers.ROOT)}
        server = servers.launch(command, env=environment, stdout=subprocess.PIPE, text=True)
        heard = [server.stdout.readline()]
        time.sleep(chance.uniform(0.0, 0.3))
        server.send_signal(signal.SIGKILL)
        heard += server.stdout.readlines()
        server.wait(timeout=300)
        server.stdin.close()
        promised |= dict(line.strip().split("|") for line in heard if line.endswith("\n"))
        store = Store(home)
        store.claim()
        lost = [run for run in promised if store.open_run("w", run).state != "done"]
        lost += [key for key in promised.values() if store.result(key) != key.encode() * 5000]
        unfinished = [run for run in store.list_runs("w") if run.state not in ("done", "interrupted")]
        assert not lost and not unfinished, f"life {life}"
        store.close()
    assert len(promised) >= KILLS


@pytest.mark.long
@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
@pytest.mark.parametrize("lot", range(LOTS))
def test_every_run_of_a_killed_engine_is_done_or_can_be_run_again(tmp_path, wait_for, lot):
    """Killed while its workers start, and while runs end; the next one is started on the same store."""
    (tmp_path / "server.py").write_text(ENGINE)
    chance, home, promised, cut = random.Random(lot), tmp_path / "home", set(), set()
    environment = os.environ | {"PYTHONPATH": str(servers.ROOT), "NSPCA_HOME": str(home)}
    for life in range(KILLS // LOTS):
        command = [sys.executable, str(tmp_path / "server.py"), str(life)]
        with (tmp_path / "errors").open("w") as errors:
            server = servers.launch(
                command, env=environment, stdout=subprocess.PIPE, stderr=errors, text=True
            )
        early = life % 5 == 4
        heard = [] if early else [server.stdout.readline()]
        time.sleep(chance.uniform(0.0, 3.0 if early else 0.5))
        server.send_signal(signal.SIGKILL)
        heard += server.stdout.readlines()
        server.wait(timeout=300)
        server.stdin.close()
        wait_for(lambda server=server: not any(family(server.pid)))
        said = dict(line.strip().split("|") for line in heard if line.endswith("\n"))
        assert set(said.values()) <= {"done"}, (life, said, (tmp_path / "errors").read_text())
        promised |= set(said)
        store = Store(home)
        store.claim()  # as the next one does when it starts
        for run in store.list_runs("w"):
            assert run.state == "done" or (run.state == "interrupted" and run.id not in promised), (life, run)
            whole = repeat(lambda event: None, run.title)
            assert store.result(run.key) == (whole if run.state == "done" else None), (life, run)
            cut |= {run.id} if run.state == "interrupted" else set()
        store.close()
    assert len(promised) >= KILLS // LOTS and cut & promised, "what was cut off once was run again"
