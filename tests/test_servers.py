"""Servers of tests end with the test process, also when that is killed, and so do their workers."""

import asyncio
import contextlib
import http.server
import os
import signal
import subprocess
import sys
import threading
import time

import psutil
import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from tornado.websocket import websocket_connect

from tests import servers
from tests.servers import BARE, ROOT, Server, launch

PAGE = """
from nspca.jobs import Engine

if __name__ == "__main__":
    engine = Engine(workers=1)
    engine.start()
    assert engine.wait_ready(120)
"""
TEST = """
import pathlib, sys, time
from tests.servers import BARE, Server, hold_on

hold_on()
home = pathlib.Path(sys.argv[1])
server = Server(home, home / "page.py", BARE).start()
print(server.process.pid, server.url, flush=True)
time.sleep(600)
"""


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
def test_a_server_and_its_workers_end_with_a_test_process_that_is_killed(tmp_path):
    (tmp_path / "page.py").write_text(PAGE)
    test = launch([sys.executable, "-c", TEST, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    group, url = test.stdout.readline().split()
    try:
        asyncio.run(look_at(url))
        assert len(members(group)) >= 3, "the server, its worker, and what Python starts beside it"
        test.send_signal(signal.SIGKILL)
        give_up = time.monotonic() + 300
        while members(group):
            assert time.monotonic() < give_up, members(group)
            time.sleep(0.05)
    finally:
        test.kill()
        test.communicate()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(int(group), signal.SIGKILL)


@pytest.mark.visit
def test_a_port_that_another_server_took_first_is_given_up(tmp_path, monkeypatch):
    """The other one answers as a dashboard does, so only the listening process tells them apart."""
    (tmp_path / "page.py").write_text("")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Healthy) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        taken, free = other.server_address[1], servers.free_port
        handed = iter([taken, free()])
        monkeypatch.setattr(servers, "free_port", lambda: next(handed, None) or free())
        server = Server(tmp_path, tmp_path / "page.py", BARE).start()
        try:
            assert server.port != taken and server.listening() and server.healthy()
            assert servers.TAKEN.format(taken) in server.log.read_text()
        finally:
            server.stop()
            other.shutdown()


class Healthy(http.server.BaseHTTPRequestHandler):
    """A server that answers every request with success."""

    def do_GET(self):
        self.send_response(200)
        self.end_headers()

    def log_message(self, *args):
        pass


async def look_at(url: str) -> None:
    """Open the page as a browser does, until its script has run."""
    connection = await websocket_connect(url.replace("http", "ws") + "/_stcore/stream")
    message = BackMsg()
    message.rerun_script.query_string = ""
    await connection.write_message(message.SerializeToString(), binary=True)
    while ForwardMsg.FromString(await connection.read_message()).WhichOneof("type") != "script_finished":
        pass
    connection.close()


def members(group: str) -> list[psutil.Process]:
    """The living processes of a process group."""
    found = []
    for process in psutil.process_iter():
        try:
            if os.getpgid(process.pid) == int(group) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (ProcessLookupError, psutil.Error):
            pass
    return found
