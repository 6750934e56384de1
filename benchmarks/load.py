"""Measure one server with a class of visitors: ``python -m benchmarks.load [SESSIONS] [SECONDS]``.

Each session opens the sweep page in a workspace of its own over Streamlit's websocket, and asks one of two
long questions. Then it checks the run once a second, as a browser does, while the workers compute. The output
has the time of a check from request to answer, errors, and the server's share of a core and its memory. At
the end it has the shares of an idle server and its workers.
"""

import asyncio
import contextlib
import itertools
import statistics
import sys
import time
from collections import deque
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import psutil
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import connect

from benchmarks.served import serving
from benchmarks.shared import say

SESSIONS, SECONDS, IDLE_SECONDS = 30, 60.0, 60.0
QUESTIONS = (
    {"sample": "cbcl", "from": "10", "to": "300", "step": "2", "effort": "thorough"},
    {"sample": "cbcl", "from": "11", "to": "301", "step": "2", "effort": "thorough"},
)
OPENS_SECONDS = 180.0
HELD = 20  # messages; a browser holds those of its last runs
SETTLED = 15.0  # seconds after which a class that came at once has its first figures


class Session:
    """One browser at one page, as far as the server can tell."""

    def __init__(self, url: str, question: dict[str, Any], page: str = "sweep") -> None:
        self.url, self.question, self.page = url, question, page
        self.ticks: list[tuple[float, float]] = []  # when it was asked, and how long it took
        self.errors: list[str] = []
        self.fragment = self.button = ""  # which looks at a run, and which starts one
        self.held: deque[str] = deque(maxlen=HELD)  # hashes of large messages, which are not sent again
        self._finished = asyncio.Event()

    @contextlib.asynccontextmanager
    async def connected(self) -> AsyncIterator[None]:
        """Hold the connection, and listen to the server."""
        address = f"ws://{urlsplit(self.url).netloc}/_stcore/stream"
        async with connect(address, subprotocols=["streamlit"], max_size=None, ping_interval=None) as socket:
            self.socket, reading = socket, asyncio.create_task(self._read(socket))
            yield
            reading.cancel()

    async def visit(self, seconds: float, together: asyncio.Barrier | None = None) -> None:
        async with self.connected():
            await self.run()
            if not self.button:
                self.errors.append("no button to run")
            await self.run(press=self.button)
            end = time.monotonic() + OPENS_SECONDS
            while not self.fragment and time.monotonic() < end:
                await asyncio.sleep(0.1)
            if together is not None:  # all have come
                await together.wait()
            begun = time.monotonic()
            while (start := time.monotonic()) < begun + seconds:
                await self.run(fragment=self.fragment)
                took = time.monotonic() - start
                self.ticks.append((start - begun, took))
                await asyncio.sleep(max(0.0, 1.0 - took))

    async def run(self, press: str = "", fragment: str = "") -> None:
        """Ask for a run of the script, and wait for its end."""
        asked = BackMsg()
        asked.rerun_script.query_string = urlencode(self.question)
        asked.rerun_script.page_name = self.page
        asked.rerun_script.fragment_id = fragment
        asked.rerun_script.cached_message_hashes.extend(self.held)
        if press:
            state = asked.rerun_script.widget_states.widgets.add()
            state.id, state.trigger_value = press, True
        self._finished.clear()
        await self.socket.send(asked.SerializeToString())
        try:
            await asyncio.wait_for(self._finished.wait(), OPENS_SECONDS)
        except TimeoutError:
            self.errors.append("no answer")

    async def _read(self, socket) -> None:
        async for raw in socket:
            said = ForwardMsg.FromString(raw)
            kind = said.WhichOneof("type")
            if said.metadata.cacheable:
                self.held.append(said.hash)
            if kind == "script_finished":
                self._finished.set()
            elif kind == "auto_rerun":
                self.fragment = said.auto_rerun.fragment_id
            elif kind == "page_info_changed":
                self.question |= dict(parse_qsl(said.page_info_changed.query_string))
            elif kind == "delta":
                element = said.delta.new_element
                if element.WhichOneof("type") == "button" and element.button.type == "primary":
                    self.button = element.button.id
                if element.WhichOneof("type") == "exception":
                    self.errors.append(element.exception.message)
                if element.WhichOneof("type") == "alert" and element.alert.format == element.alert.ERROR:
                    self.errors.append(element.alert.body)


def spent(processes: list[psutil.Process]) -> list[float]:
    return [sum(process.cpu_times()[:2]) for process in processes]


def told(what: str, ticks: list[float]) -> None:
    if len(ticks) > 1:
        marks = [1000 * mark for mark in statistics.quantiles(ticks, n=100)]
        said = f"p50 {marks[49]:.0f} ms, p95 {marks[94]:.0f} ms, worst {1000 * ticks[-1]:.0f} ms"
        say(f"{what}: {len(ticks)} ticks, {said}")


async def load(url: str, sessions: int, seconds: float, server: psutil.Process) -> int:
    questions = itertools.cycle(QUESTIONS)
    them = [Session(url, dict(next(questions))) for _ in range(sessions)]
    start, together = time.monotonic(), asyncio.Barrier(sessions + 1)
    visits = asyncio.gather(*(one.visit(seconds, together) for one in them), return_exceptions=True)
    await together.wait()
    arrived, before = time.monotonic(), spent([server])[0]
    done = await visits
    busy, wall = spent([server])[0] - before, time.monotonic() - arrived
    ticks = [tick for one in them for tick in one.ticks]
    errors = [error for one in them for error in one.errors] + [repr(one) for one in done if one is not None]
    watching = sum(bool(one.fragment) for one in them)
    say(f"{sessions} sessions, {watching} at a running job, all there after {arrived - start:.0f} s")
    for after in (0.0, SETTLED):
        told(f"from {after:.0f} s on", sorted(took for when, took in ticks if when >= after))
    memory = server.memory_info().rss / 1e6
    each = 1000 * busy / max(1, len(ticks))
    say(
        f"errors {len(errors)} {errors[:2]}; server {100 * busy / wall:.0f} % of a core, {each:.1f} ms of "
        f"CPU time per tick, {memory:.0f} MB"
    )
    return len(errors)


def idle(server: psutil.Process, seconds: float) -> None:
    """Print the share of a processor that the server and each child use while nobody visits."""
    processes = [server, *server.children(recursive=True)]
    before = spent(processes)
    time.sleep(seconds)
    shares = [100 * (now - then) / seconds for now, then in zip(spent(processes), before, strict=True)]
    others = ", ".join(f"{share:.2f} %" for share in shares[1:])
    say(f"nobody there for {seconds:.0f} s: server {shares[0]:.2f} %, its processes {others}")


def listening(url: str) -> psutil.Process:
    """The server at this address, one of our children."""
    port = urlsplit(url).port
    return next(
        process
        for process in psutil.Process().children(recursive=True)
        if any(c.laddr.port == port for c in process.net_connections() if c.status == psutil.CONN_LISTEN)
    )


def main() -> int:
    sessions = int(sys.argv[1]) if len(sys.argv) > 1 else SESSIONS
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else SECONDS
    with serving() as url:
        server = listening(url)
        wrong = asyncio.run(load(url, sessions, seconds, server))
    with serving() as url:
        server = listening(url)
        asyncio.run(_look_in(url))
        time.sleep(20)
        idle(server, IDLE_SECONDS)
    return int(wrong > 0)


async def _look_in(url: str) -> None:
    """Make one visit, which starts the workers."""
    await asyncio.wait_for(Session(url, {"sample": "digits"}).visit(0.0), OPENS_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
