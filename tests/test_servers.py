"""What tests start does not outlive them: a test process that is killed takes its server and the workers of
that along.
"""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time

import psutil
import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from tornado.websocket import websocket_connect

from tests.servers import ROOT, launch

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
