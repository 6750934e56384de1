"""Everything that had ended before a server was killed is there after it, whenever it is killed: of a process
that does nothing but write, which is killed in the middle of a transaction most of the time.
"""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from nspca.jobs import Store
from tests import servers

KILLS = 50
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
