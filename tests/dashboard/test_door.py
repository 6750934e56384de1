"""The door before the server: who may come in, how much they may bring, what browsers are told."""

import asyncio
import base64

import pytest
from streamlit import config
from streamlit.web.server.starlette import starlette_app

from nspca.dashboard.shell import door, internals
from nspca.dashboard.shell.door import HEADERS, Door, settings

UPLOAD = "/_stcore/upload_file/mine/file"


async def inside(scope, receive, send):
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
        return
    await send({"type": "http.response.start", "status": 200, "headers": [(b"x-frame-options", b"DENY")]})
    await send({"type": "http.response.body", "body": b"inside"})


def ask(made, path="/", method="GET", kind="http", **heads):
    """Status and headers, or how a websocket was answered."""
    said = []

    async def send(message):
        said.append(message)

    raw = [(name.replace("_", "-").encode(), str(value).encode()) for name, value in heads.items()]
    scope = {"type": kind, "path": path, "method": method, "headers": raw}
    asyncio.run(made(scope, None, send))
    if kind == "websocket":
        return said[0]["type"]
    return said[0]["status"], {name.decode(): value.decode() for name, value in said[0]["headers"]}


def test_every_answer_says_what_a_browser_may_do():
    status, heads = ask(Door(inside))
    assert status == 200 and heads["x-frame-options"] == "DENY", "what is said inside holds"
    assert heads["x-content-type-options"] == "nosniff" and heads["referrer-policy"] == "same-origin"
    assert heads["content-security-policy"] == HEADERS["Content-Security-Policy"]
    assert "frame-ancestors 'self'" in heads["content-security-policy"]
    assert "http" not in heads["content-security-policy"], "nothing comes from another host"


def test_measurements_are_handed_out_when_somebody_says_so():
    assert ask(Door(inside), "/_stcore/metrics")[0] == 404
    assert ask(Door(inside, metrics=True), "/_stcore/metrics")[0] == 200


@pytest.mark.parametrize(
    ("origin", "answer"),
    [
        (None, "websocket.accept"),
        ("http://here:8501", "websocket.accept"),
        ("https://HERE:8501", "websocket.accept"),
        ("http://localhost:3000", "websocket.close"),
        ("http://here:8502", "websocket.close"),
        ("https://company.example", "websocket.close"),
        ("https://pca.example.org", "websocket.accept"),
        ("null", "websocket.close"),
    ],
)
def test_only_pages_of_this_server_connect(origin, answer):
    made = Door(inside, origins=["https://pca.example.org/"])
    heads = {} if origin is None else {"origin": origin}
    assert ask(made, "/_stcore/stream", kind="websocket", host="here:8501", **heads) == answer


def basic(text: str) -> str:
    return "Basic " + base64.b64encode(text.encode()).decode()


def test_a_password_is_asked_for_once(monkeypatch):
    monkeypatch.setattr(door, "WRONG_SECONDS", 0.0)
    made = Door(inside, password="geheim")
    status, heads = ask(made)
    assert status == 401 and heads["www-authenticate"].startswith("Basic") and "set-cookie" not in heads
    for wrong in ("", "Basic", basic("anyone:gehei"), basic("geheim"), "Basic ä".encode().decode("latin-1")):
        assert ask(made, authorization=wrong)[0] == 401
    status, heads = ask(made, authorization=basic("anyone:geheim"))
    cookie = heads["set-cookie"].partition(";")[0]
    assert status == 200 and "HttpOnly" in heads["set-cookie"] and "SameSite" in heads["set-cookie"]
    assert ask(made, cookie=cookie)[0] == 200
    assert ask(made, cookie=f"{cookie}x")[0] == 401
    assert ask(made, "/_stcore/stream", kind="websocket", host="h", cookie=cookie) == "websocket.accept"
    assert ask(made, "/_stcore/stream", kind="websocket", host="h") == "websocket.close"
    assert ask(made, UPLOAD, "PUT", content_length=5)[0] == 401
    assert ask(made, "/_stcore/health")[0] == 200, "whoever looks after the machine needs none"


def test_uploads_are_counted_before_they_are_read(monkeypatch):
    monkeypatch.setattr(door, "OF_A_SESSION", 100)
    monkeypatch.setattr(door, "OF_ALL", 250)
    held = {"mine": 60, "theirs": 120}
    made = Door(inside, held=lambda session: (held.get(session, 0), sum(held.values())))
    put = lambda path, size: ask(made, path, "PUT", content_length=size)[0]  # noqa: E731
    assert put(UPLOAD, 40) == 200 and put(UPLOAD, 41) == 413
    assert put("/base/_stcore/upload_file/new/file", 70) == 200
    assert put("/_stcore/upload_file/new/file", 71) == 413, "all together"
    assert ask(made, UPLOAD, "PUT")[0] == 411 and put(UPLOAD, "-1") == 411
    assert ask(made, UPLOAD, "DELETE")[0] == 200


def test_uploads_on_their_way_count(monkeypatch):
    monkeypatch.setattr(door, "OF_A_SESSION", 100)
    inner = []

    async def slow(scope, receive, send):
        if not inner:
            inner.append(True)
            inner.append(ask_async(made, 50))
            inner.append(await inner[-1])
        await inside(scope, receive, send)

    async def ask_async(made, size):
        said = []

        async def send(message):
            said.append(message)

        heads = [(b"content-length", str(size).encode())]
        await made({"type": "http", "path": UPLOAD, "method": "PUT", "headers": heads}, None, send)
        return said[0]["status"]

    made = Door(slow)
    assert asyncio.run(ask_async(made, 60)) == 200 and inner[-1] == 413
    assert asyncio.run(ask_async(made, 100)) == 200, "what has come is no longer on its way"


def test_the_environment_says_what_the_door_asks(monkeypatch):
    for name in ("NSPCA_PASSWORD", "NSPCA_ORIGINS", "NSPCA_METRICS"):
        monkeypatch.delenv(name, raising=False)
    assert settings() == {"password": "", "origins": [], "metrics": False}
    monkeypatch.setenv("NSPCA_ORIGINS", "https://a.example, https://b.example")
    assert settings()["origins"] == ["https://a.example", "https://b.example"]


def test_the_server_is_behind_the_door(monkeypatch):
    """And trusts no page of another host: Streamlit would those of its company."""
    inside = starlette_app.create_streamlit_middleware
    monkeypatch.setattr(starlette_app, "create_streamlit_middleware", inside)  # and back
    before = config.get_option("client.allowedOrigins")
    try:
        internals.put_door()
        first, *others = starlette_app.create_streamlit_middleware()
        assert first.cls is Door and others
        assert before and config.get_option("client.allowedOrigins") == []
    finally:
        config.set_option("client.allowedOrigins", before)
