"""The server: who is let in, limits on uploads, headers for browsers, and that it asks nobody outside."""

import asyncio
import base64
import ctypes
import http.client
import logging
import os
import subprocess
import sys
import time

import pytest
from websockets.sync.client import connect

from nspca.dashboard.app import memory, plotly, server
from nspca.dashboard.app.server import HEADERS, Access, name_address
from tests.servers import ROOT, Server

UPLOAD = "/_stcore/upload_file/mine/file"
STREAM = "/_stcore/stream"
HOSTS = ("localhost", "127.0.0.1", "::1", "pca.example.org", "*.class.example")


@pytest.fixture(autouse=True)
def options(monkeypatch):
    """Set the hosts and origins of the server as an operator does; return the options for changes."""
    given = {"server.allowedHosts": HOSTS, "server.corsAllowedOrigins": ["https://other.example"]}
    monkeypatch.setattr(server.st, "get_option", lambda name: given.get(name, ""))
    return given


async def inside(scope, receive, send):
    if scope["type"] == "websocket":
        await send(
            {"type": "websocket.accept", "heads": dict(scope["headers"]), "open": memory.is_page_open()}
        )
        return
    await send({"type": "http.response.start", "status": 200, "headers": [(b"x-frame-options", b"DENY")]})
    await send({"type": "http.response.body", "body": b"inside"})


async def ask_async(
    made, path="/", method="GET", kind="http", client=("192.0.2.7", 5), scheme="http", **heads
):
    """Return status and headers of an answer, or how a websocket was answered."""
    said = []

    async def send(message):
        said.append(message)

    heads = {"host": "localhost:8501"} | heads
    raw = [(name.replace("_", "-").encode(), str(value).encode()) for name, value in heads.items()]
    scope = {"type": kind, "path": path, "method": method, "headers": raw, "client": client, "scheme": scheme}
    await made(scope, None, send)
    if kind == "websocket":
        return (403, {}) if said[0]["type"] == "websocket.close" else (101, said[0])
    return said[0]["status"], {name.decode(): value.decode() for name, value in said[0]["headers"]}


def ask(made, *arguments, **heads):
    return asyncio.run(ask_async(made, *arguments, **heads))


def basic(password):
    return "Basic " + base64.b64encode(b"anyone:" + password.encode()).decode()


def test_every_answer_says_what_a_browser_may_do():
    for status, host in ((200, "localhost"), (403, "evil.example")):
        got, heads = ask(Access(inside), host=host)
        assert got == status and heads["x-content-type-options"] == "nosniff"
        assert heads["content-security-policy"] == HEADERS["Content-Security-Policy"]
    assert ask(Access(inside))[1]["x-frame-options"] == "DENY", "what is said inside holds"
    assert "http" not in HEADERS["Content-Security-Policy"], "nothing comes from another host"


@pytest.mark.parametrize("kind", ["http", "websocket"])
@pytest.mark.parametrize(
    ("host", "good"),
    [
        *((host, True) for host in ("localhost:8501", "LOCALHOST", "localhost.", "127.0.0.1:8501")),
        *((host, True) for host in ("[::1]:8501", "pca.example.org", "a.class.example")),
        *((host, False) for host in ("evil.example", "localhost.evil.example", "evil@localhost", "")),
        *(
            (host, False)
            for host in ("localhost/x", "localhost:x", "localhost:99999", "[::1", "class.example")
        ),
    ],
)
def test_a_foreign_host_is_refused(kind, host, good):
    assert (ask(Access(inside), kind=kind, host=host)[0] < 400) == good
    assert ask(Access(inside), "/_stcore/health", host=host)[0] == 200, "who monitors it may use any name"


@pytest.mark.parametrize("kind", ["http", "websocket"])
@pytest.mark.parametrize(
    ("origin", "good"),
    [
        *((origin, True) for origin in ("http://localhost:8501", "https://other.example")),
        *(
            (origin, False)
            for origin in ("http://evil.example", "http://localhost:80", "null", "localhost:8501")
        ),
        *(
            (origin, False)
            for origin in ("http://other.example", "http://[", "http://localhost:8501@evil.example")
        ),
    ],
)
def test_a_page_of_another_origin_is_refused(kind, origin, good):
    assert (ask(Access(inside), kind=kind, origin=origin)[0] < 400) == good


def test_streamlit_is_told_no_origin_for_which_it_would_ask_an_outside_host():
    status, said = ask(Access(inside), kind="websocket", origin="https://other.example")
    assert status == 101 and b"origin" not in said["heads"] and said["open"] and not memory.is_page_open()


def test_a_password_is_asked_once_and_then_a_cookie_counts():
    made = Access(inside, password="geheim")
    assert ask(made)[0] == 401 and "Basic" in ask(made)[1]["www-authenticate"]
    assert ask(made, kind="websocket")[0] == 403 and ask(made, "/_stcore/health")[0] == 200
    status, heads = ask(made, authorization=basic("geheim"))
    cookie = heads["set-cookie"].partition(";")[0]
    assert status == 200 and "HttpOnly" in heads["set-cookie"] and "Secure" not in heads["set-cookie"]
    assert "Secure" in ask(made, scheme="https", authorization=basic("geheim"))[1]["set-cookie"]
    assert ask(made, cookie=cookie)[0] == 200 and "set-cookie" not in ask(made, cookie=cookie)[1]
    assert ask(made, kind="websocket", cookie=cookie)[0] == 101
    for wrong in ("nspca_access=", f"{cookie}x", "nspca_access=\xe9", ";;="):
        assert ask(made, cookie=wrong)[0] == 401
    assert ask(Access(inside, password="geheim"), cookie=cookie)[0] == 401, "of another start"
    assert ask(made, host="evil.example", authorization=basic("geheim"))[0] == 403


def test_wrong_passwords_of_one_address_are_slow_and_hold_up_nobody_else(monkeypatch, caplog):
    monkeypatch.setattr(server, "DELAY", 0.2)
    monkeypatch.setattr(server, "MOST_WAITING", 5)
    made = Access(inside, password="geheim")

    async def guess():
        begun = time.monotonic()
        wrong = [ask_async(made, authorization=one) for one in (basic("x"), basic(""), "Basic !", basic("y"))]
        guesses = [asyncio.ensure_future(one) for one in wrong]
        await asyncio.sleep(0)
        other = await ask_async(made, client=("198.51.100.1", 5), authorization=basic("geheim"))
        quick = time.monotonic() - begun
        right = asyncio.ensure_future(ask_async(made, authorization=basic("geheim")))
        await asyncio.sleep(0)
        busy = await ask_async(made, authorization=basic("geheim"))
        said = [(await one)[0] for one in guesses]
        return said, other[0], quick, (await right)[0], busy[0], time.monotonic() - begun

    with caplog.at_level(logging.WARNING, logger="nspca.access"):
        said, other, quick, right, busy, seconds = asyncio.run(guess())
    assert said == [401] * 4 and seconds >= 0.8, "one after another"
    assert (other, right, busy) == (200, 200, 429) and quick < 0.2
    assert caplog.text.count("wrong password from 192.0.2.7") == 4 and "geheim" not in caplog.text
    assert not made._waiting and not made._turns, "nothing is remembered of who has gone"


def test_clients_are_counted_by_their_network():
    assert name_address("192.0.2.7") == name_address("::ffff:192.0.2.7") == "192.0.2.7"
    assert name_address("2001:db8::1") == name_address("2001:db8::ffff:1") != name_address("2001:db8:0:1::1")
    assert name_address(None) == name_address("x\ny") == "an unknown address"


def test_uploads_are_limited_for_a_session_and_for_all(monkeypatch):
    made, big = Access(inside), 200 * 2**20
    put = lambda path=UPLOAD, **heads: ask(made, path, "PUT", **heads)[0]  # noqa: E731
    assert put() == 411 and put(content_length="-1") == 411
    assert [put(content_length=big) for _ in range(3)] == [200, 200, 413]
    others = [put(UPLOAD.replace("mine", str(i)), content_length=big) for i in range(5)]
    assert others == [200, 200, 200, 200, 413], "1.2 GB of all"
    monkeypatch.setattr(server, "HELD_SECONDS", 0.0)
    assert put(content_length=big) == 200, "some time later"


def test_measurements_are_handed_out_when_somebody_says_so(monkeypatch):
    assert ask(Access(inside), "/_stcore/metrics")[0] == 404
    monkeypatch.setenv("NSPCA_METRICS", "1")
    assert ask(Access(inside), "/_stcore/metrics")[0] == 200


THREADS = """
import ctypes, sys, threading
from nspca.dashboard.app import memory

memory.limit_arenas()
together = threading.Barrier(24)

def draw():
    together.wait()
    held = [bytearray(1000) for _ in range(100)]
    together.wait()

threads = [threading.Thread(target=draw) for _ in range(24)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
library = ctypes.CDLL(None)
library.fopen.restype = ctypes.c_void_p
file = ctypes.c_void_p(library.fopen(sys.argv[1].encode(), b"w"))
library.malloc_info(0, file)
library.fclose(file)
"""


@pytest.mark.skipif(
    not hasattr(ctypes.CDLL(None) if os.name != "nt" else None, "malloc_info"), reason="only glibc has arenas"
)
def test_all_threads_of_the_server_share_few_arenas(tmp_path):
    there = tmp_path / "arenas.xml"
    subprocess.run([sys.executable, "-c", THREADS, str(there)], cwd=ROOT, check=True, timeout=300)
    assert 1 <= there.read_text().count("<heap nr=") <= memory.ARENAS


@pytest.mark.visit
def test_a_started_server_keeps_all_this(tmp_path):
    """As ``streamlit run app.py`` starts it: hosts, origins, upload size, plotly.js, and an end in time."""
    started = Server(tmp_path).start()
    try:
        assert (answer := fetch(started))[0] == 200 and answer[1]["referrer-policy"] == "same-origin"
        assert (
            fetch(started, Host="evil.example")[0] == fetch(started, Origin="http://evil.example")[0] == 403
        )
        status, heads, size = fetch(started, plotly.url())
        assert (status, size) == (200, plotly.file().stat().st_size) and "immutable" in heads["cache-control"]
        address = f"{started.url.replace('http', 'ws')}{STREAM}"
        with connect(address, origin=started.url), connect(address):
            pass
        for heads in ({"Origin": "http://evil.example"}, {"Host": "evil.example"}):
            upgrade = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13"}
            key = {"Sec-WebSocket-Key": base64.b64encode(bytes(16)).decode()}
            assert fetch(started, STREAM, **upgrade, **key, **heads)[0] == 403
    finally:
        begun = time.monotonic()
        started.stop()
    assert time.monotonic() - begun < 15.0 and "Traceback" not in started.log.read_text()


def fetch(started, path="/", **heads):
    connection = http.client.HTTPConnection("127.0.0.1", started.port, timeout=60)
    connection.request("GET", path, headers=heads)
    answer = connection.getresponse()
    size = len(answer.read())
    connection.close()
    return answer.status, {name.lower(): value for name, value in answer.getheaders()}, size
