"""Servers for tests, which end with the test process however that ends."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[1]
START_LIMIT = 300  # seconds until a server that does not answer counts as failed
PORTS = 5  # maximum ports at which a server is started, since a port may be taken before it listens
TAKEN = "Port {} is not available"  # what Streamlit prints about a taken port
# Requests to this machine bypass the proxy of the environment.
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))
# Settings for a script of the tests; the dashboard has them in .streamlit/config.toml.
BARE = ("--browser.gatherUsageStats=false", "--server.fileWatcherType=none")
STREAMLIT = (
    "from tests import servers; servers.hold_on(); "
    "import runpy; runpy.run_module('streamlit', run_name='__main__', alter_sys=True)"
)
DASK = "from tests import servers; servers.hold_on(); from dask.__main__ import main; main()"


def launch(command: list[str], **options) -> subprocess.Popen:
    """Start a process that calls `hold_on`, as the head of a session of its own."""
    return subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True, **options)


def hold_on() -> None:
    """End this process and its group as soon as whoever launched it is gone.

    Standard input is a pipe that only the launching process writes to. A process that is killed can clean
    nothing up, but the system closes its end of the pipe.
    """

    def wait() -> None:
        while os.read(0, 1):
            pass
        if hasattr(os, "killpg"):
            os.killpg(0, signal.SIGKILL)
        for process in psutil.Process().children(recursive=True):
            with contextlib.suppress(psutil.Error):
                process.kill()
        os._exit(1)

    threading.Thread(target=wait, name="hold-on", daemon=True).start()


def killed(process: subprocess.Popen) -> None:
    """Kill a process and what it has started, and wait for its end."""
    with contextlib.suppress(psutil.Error):
        for one in [*psutil.Process(process.pid).children(recursive=True), process]:
            one.send_signal(signal.SIGKILL)
    process.wait(timeout=START_LIMIT)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """The dashboard, or another Streamlit script, as a user starts it: on a free loopback port, with a home
    of its own. It has its port and address once it is started.
    """

    def __init__(
        self, home: Path, script: Path = ROOT / "app.py", options: tuple[str, ...] = (), first: str = ""
    ):
        self.home = home
        self.script = script
        self.options = options
        self.first = first  # what its process does before all else
        self.port = None
        self.log = home / "server.log"
        self.process = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> "Server":
        """Start it, again at the port that it had. The first time a port may be taken before the server has
        it: then at another one.
        """
        said = ""
        for port in [self.port] if self.port else (free_port() for _ in range(PORTS)):
            self.port = port
            told = self.log.stat().st_size if self.log.exists() else 0
            if self.started():
                return self
            with self.log.open("rb") as log:
                log.seek(told)
                said = log.read().decode(errors="replace")
            if TAKEN.format(port) not in said:
                break
        raise RuntimeError("the server did not start:\n" + said[-4000:])

    def started(self) -> bool:
        """Return whether the server answers at its port after a start; end it otherwise."""
        environment = os.environ | {
            "NSPCA_HOME": str(self.home),
            "HOME": str(self.home),
            "PYTHONPATH": str(ROOT),
        }
        command = [
            sys.executable,
            "-c",
            self.first + STREAMLIT,
            "run",
            self.script.name,
            "--server.headless=true",
        ]
        command += ["--server.address=127.0.0.1", f"--server.port={self.port}", *self.options]
        with self.log.open("ab") as log:
            self.process = launch(command, cwd=self.script.parent, env=environment, stdout=log, stderr=log)
        give_up = time.monotonic() + START_LIMIT
        while not (self.listening() and self.healthy()):
            if self.process.poll() is not None or time.monotonic() > give_up:
                self.stop()
                return False
            time.sleep(0.1)
        return True

    def listening(self) -> bool:
        """Return whether the port belongs to this server, since another server may have taken it and would
        answer.
        """
        with contextlib.suppress(psutil.Error):
            ours = psutil.Process(self.process.pid).net_connections("tcp4")
            return any(one.status == psutil.CONN_LISTEN and one.laddr.port == self.port for one in ours)
        return False

    def healthy(self) -> bool:
        try:
            with DIRECT.open(f"{self.url}/_stcore/health", timeout=2) as answer:
                return answer.status == 200
        except (urllib.error.URLError, OSError):
            return False

    def stop(self) -> None:
        """End the server and every process of its session."""
        if self.process is None:
            return
        for how in ("SIGINT", "SIGTERM", "SIGKILL"):
            self.signal_all(how)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=5)
                break
        self.signal_all("SIGKILL")  # workers that outlived it
        self.process.stdin.close()
        self.process = None

    def signal_all(self, how: str) -> None:
        if os.name == "nt":
            self.process.kill()
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, getattr(signal, how))
