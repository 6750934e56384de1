"""Connections that send no request in time are closed, and too many make room for those that do."""

import asyncio
import base64
import contextlib
import socket
import threading

import pytest
import uvicorn
from websockets.sync.client import connect

from nspca.dashboard.app import connections, internals
from nspca.dashboard.app.access import AccessControl, Settings
from nspca.dashboard.app.connections import count_connections
from nspca.dashboard.app.passwords import PasswordCheck
from tests.patience import STUCK, wait_for
from tests.servers import DIRECT, Server, free_port

HEAD = b"GET / HTTP/1.1\r\nHost: localhost\r\n"
SOON, NEVER = 0.2, 10 * STUCK  # seconds
begun, released = [], threading.Event()  # requests for /slow, and what they wait for


async def application(scope, receive, send):
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
        while (await receive())["type"] != "websocket.disconnect":
            pass
        return
    if scope["type"] != "http":
        return
    more = scope["method"] == "PUT"
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        more = message["more_body"]
    if scope["path"] == "/slow":
        begun.append(scope)
        await asyncio.to_thread(released.wait, STUCK)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


@contextlib.contextmanager
def serve(app=application, proxies=("127.0.0.1",), **limits):
    """Serve an application as the dashboard is served; yield the port and the uvicorn server."""
    options = internals.server_options(Settings(proxies=proxies))
    options["http"] = type("Limited", (options["http"],), limits)
    port = free_port()
    config = uvicorn.Config(app, host="127.0.0.1", port=port, log_config=None, lifespan="off", **options)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    wait_for(lambda: server.started)
    try:
        yield port, server.server_state.connections
    finally:
        server.should_exit = True
        thread.join(STUCK)


def opened(port, text=b""):
    connection = socket.create_connection(("127.0.0.1", port), timeout=STUCK)
    connection.sendall(text)
    return connection


def is_closed(connection) -> bool:
    """Wait until the server closes a connection, and return what the server sent before."""
    try:
        while connection.recv(4096):
            pass
    except ConnectionError:
        pass
    connection.close()
    return True


def answer(connection, ending=b"ok") -> bytes:
    said = b""
    while not said.endswith(ending):
        part = connection.recv(4096)
        assert part, f"closed after {said!r}"
        said += part
    return said


@pytest.mark.parametrize("text", [b"", b"GET", HEAD, HEAD + b"X: "])
def test_a_head_that_does_not_come_ends_its_connection(text):
    with serve(head_seconds=SOON) as (port, there):
        assert is_closed(opened(port, text))
        wait_for(lambda: not there)


def test_a_head_that_comes_in_drops_ends_as_well():
    """A request head that arrives byte by byte has the time limit of a whole head."""
    with serve(head_seconds=SOON) as (port, _):
        connection = opened(port, HEAD)

        def dropped():
            try:
                connection.sendall(b"X")
            except OSError:
                return True

        wait_for(dropped)
        connection.close()


def test_a_second_request_has_to_come_in_time_too():
    with serve(head_seconds=SOON) as (port, _):
        connection = opened(port, HEAD + b"\r\n")
        answer(connection)
        connection.sendall(HEAD)
        assert is_closed(connection)


def test_a_body_that_does_not_come_ends_its_connection():
    put = b"PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nhalf"
    with serve(head_seconds=NEVER, body_seconds=SOON) as (port, _):
        assert is_closed(opened(port, put))


def test_a_body_that_nobody_reads_cannot_hold_a_connection():
    get = HEAD + b"Content-Length: 1000000\r\n\r\n"
    with serve(head_seconds=SOON, body_seconds=NEVER) as (port, _):
        connection = opened(port, get)
        answer(connection)
        assert is_closed(connection)


def test_an_answer_and_a_websocket_may_take_as_long_as_they_like():
    begun.clear(), released.clear()
    put = b"PUT /slow HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nbody"
    with serve(head_seconds=NEVER, body_seconds=NEVER) as (port, there):
        with connect(f"ws://127.0.0.1:{port}/", proxy=None):
            first, second = opened(port, HEAD.replace(b"/ ", b"/slow ") + b"\r\n"), opened(port, put)
            wait_for(lambda: len(begun) == 2 and len(there) == 3)
            assert not [one for one in there if getattr(one, "_timer", None) is not None]
            assert not [one for one in there if getattr(one, "waits_since", None) is not None]
            released.set()
            assert b" 200 " in answer(first) and b" 200 " in answer(second)
            wait_for(lambda: sum(getattr(one, "waits_since", None) is not None for one in there) == 2)
        first.close()
        second.close()


def test_the_longest_waiting_connection_makes_room(caplog):
    most = 6
    with serve(head_seconds=NEVER, most=most) as (port, there):
        asking = opened(port, b"PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n")
        idle = []
        for _ in range(3 * most):
            idle.append(opened(port, HEAD))
            wait_for(lambda: len(there) == min(most, len(idle) + 1))
        for _ in range(most):
            with opened(port, HEAD + b"\r\n") as connection:
                assert answer(connection).startswith(b"HTTP/1.1 200")
        assert all(is_closed(one) for one in idle[: 2 * most])
        asking.sendall(b"12")
        assert answer(asking).startswith(b"HTTP/1.1 200"), "who asks is never closed for others"
        asking.close()
        for one in idle[2 * most :]:
            one.close()
    full = [record for record in caplog.records if "too many connections" in record.message]
    assert len(full) == 1, "one line a minute"


def test_limits_fit_the_descriptors():
    assert count_connections(1024) == 1024 - connections.RESERVED >= 7 * 30, "a class of 30"
    assert count_connections(100_000) == connections.MOST_CONNECTIONS >= 7 * 60
    assert count_connections(10) == connections.FEWEST_CONNECTIONS
    assert connections.BACKLOG < connections.RESERVED, "what is accepted at once is counted afterwards"


def test_the_descriptor_limit_is_raised_as_far_as_it_may(monkeypatch):
    resource = pytest.importorskip("resource")
    needed, kept = connections.MOST_CONNECTIONS + connections.RESERVED, []
    monkeypatch.setattr(resource, "setrlimit", lambda kind, limits: kept.append(limits))
    for soft, hard, result, wanted in (
        (1024, 500_000, needed, [(needed, 500_000)]),
        (1024, 2048, 2048, [(2048, 2048)]),
        (1024, resource.RLIM_INFINITY, needed, [(needed, resource.RLIM_INFINITY)]),
        (needed + 1, needed + 1, needed + 1, []),
        (resource.RLIM_INFINITY, resource.RLIM_INFINITY, needed, []),
    ):
        kept.clear()
        monkeypatch.setattr(resource, "getrlimit", lambda kind, both=(soft, hard): both)
        assert connections.raise_descriptor_limit() == result and kept == wanted


@pytest.mark.visit
def test_a_server_survives_more_connections_than_it_may_have_files(tmp_path):
    """1100 heads that never end, at `ulimit -n 1024`."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 2000:
        pytest.skip(f"the test itself needs 1100 open files, and may have {hard}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2000), hard))
    few = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024)); "
    server = Server(tmp_path, first=few).start()
    idle = []
    try:
        for _ in range(1100):
            idle.append(opened(server.port, HEAD))
        with DIRECT.open(f"{server.url}/_stcore/host-config", timeout=STUCK) as said:
            assert said.status == 200
        with connect(f"ws://127.0.0.1:{server.port}/_stcore/stream", proxy=None) as stream:
            assert stream.ping().wait(STUCK)
        log = server.log.read_text()
        assert "too many connections" in log and "Too many open files" not in log
    finally:
        for one in idle:
            one.close()
        server.stop()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize(
    ("proxies", "forwarded", "address"),
    [
        (("127.0.0.1",), "203.0.113.9", "203.0.113.9"),
        (("127.0.0.1",), "198.51.100.1, 203.0.113.9", "203.0.113.9"),
        (("127.0.0.1", "203.0.113.0/24"), "198.51.100.1, 203.0.113.9", "198.51.100.1"),
        (("127.0.0.1",), None, "127.0.0.1"),
        (("127.0.0.1",), "nonsense", "an unknown address"),
        (("192.0.2.1",), "203.0.113.9", "127.0.0.1"),
    ],
)
def test_a_proxy_that_is_trusted_names_the_address(proxies, forwarded, address, caplog):
    """Addresses in ``X-Forwarded-For`` count only where trusted proxies have added them."""

    async def sleep(seconds):
        pass

    made = AccessControl(application, password="geheim", passwords=PasswordCheck(sleep=sleep))
    wrong = b"Authorization: Basic " + base64.b64encode(b"a:wrong") + b"\r\n"
    right = b"Authorization: Basic " + base64.b64encode(b"a:geheim") + b"\r\nX-Forwarded-Proto: https\r\n"
    header = b"" if forwarded is None else f"X-Forwarded-For: {forwarded}\r\n".encode()
    with serve(made, proxies) as (port, _):
        with opened(port, HEAD + header + wrong + b"Connection: close\r\n\r\n") as connection:
            assert b" 401 " in answer(connection, b"needed.")
        with opened(port, HEAD + header + right + b"Connection: close\r\n\r\n") as connection:
            assert (b"; Secure" in answer(connection)) == ("127.0.0.1" in proxies)
    assert [r.message for r in caplog.records if r.name == "nspca.access"] == [
        f"wrong password from {address}"
    ]
