"""Access control in front of the server: who is let in, upload limits, and headers for browsers."""

import asyncio
import base64

import pytest
from streamlit import config
from streamlit.web.server.starlette import starlette_app, starlette_server

from nspca.dashboard.app import access, connections, internals
from nspca.dashboard.app.access import HEADERS, AccessControl, Settings, read_settings
from nspca.dashboard.app.hosts import list_allowed
from nspca.dashboard.app.passwords import PasswordCheck
from nspca.errors import InvalidOption

UPLOAD = "/_stcore/upload_file/mine/file"
STREAM = "/_stcore/stream"


async def inside(scope, receive, send):
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
        return
    heads = [(b"x-frame-options", b"DENY"), (b"set-cookie", b"a=1; Path=/")]
    await send({"type": "http.response.start", "status": 200, "headers": heads})
    await send({"type": "http.response.body", "body": b"inside"})


async def ask_async(made, path="/", method="GET", kind="http", client=("192.0.2.7", 5), **heads):
    """Return status and headers of an answer, or how a websocket was answered."""
    said = []

    async def send(message):
        said.append(message)

    heads = {"host": "localhost:8501"} | heads
    raw = [(name.replace("_", "-").encode(), str(value).encode()) for name, value in heads.items()]
    scope = {"type": kind, "path": path, "method": method, "headers": raw, "client": client}
    if kind == "websocket":
        scope["extensions"] = {"websocket.http.response": {}}
    await made(scope, None, send)
    if kind == "websocket":
        return {"websocket.close": 403}.get(said[0]["type"], said[0].get("status", said[0]["type"]))
    return said[0]["status"], {name.decode(): value.decode() for name, value in said[0]["headers"]}


def ask(made, *arguments, **heads):
    return asyncio.run(ask_async(made, *arguments, **heads))


def test_every_answer_says_what_a_browser_may_do():
    status, heads = ask(AccessControl(inside))
    assert status == 200 and heads["x-frame-options"] == "DENY", "what is said inside holds"
    assert heads["x-content-type-options"] == "nosniff" and heads["referrer-policy"] == "same-origin"
    assert heads["content-security-policy"] == HEADERS["Content-Security-Policy"]
    assert "frame-ancestors 'self'" in heads["content-security-policy"]
    assert "http" not in heads["content-security-policy"], "nothing comes from another host"
    assert ask(AccessControl(inside), host="evil.example")[1]["x-content-type-options"] == "nosniff"


def test_measurements_are_handed_out_when_somebody_says_so():
    assert ask(AccessControl(inside), "/_stcore/metrics")[0] == 404
    assert ask(AccessControl(inside, metrics=True), "/_stcore/metrics")[0] == 200


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost:8501", 200),
        ("LOCALHOST", 200),
        ("localhost.", 200),
        ("127.0.0.1:8501", 200),
        ("[::1]:8501", 200),
        ("[0:0:0:0:0:0:0:1]", 200),
        ("pca.example.org", 200),
        ("192.168.1.5:8501", 200),
        ("evil.example", 403),
        ("evil.example:8501", 403),
        ("localhost.evil.example", 403),
        ("pca.example.org.evil.example", 403),
        ("192.168.1.6", 403),
        ("[::2]", 403),
        ("", 400),
        ("[::1", 400),
        ("::1", 400),
        ("localhost:x", 400),
        ("localhost:99999", 400),
        ("user@localhost", 400),
        ("localhost/", 400),
        ("localhost evil.example", 400),
    ],
)
def test_only_hosts_that_were_asked_for_are_answered(host, status):
    """DNS rebinding: a page of another site whose name is made to point here sends that name as its Host."""
    made = AccessControl(inside, allowed=list_allowed("192.168.1.5", None, ["pca.example.org"]))
    assert ask(made, host=host)[0] == status
    assert ask(made, UPLOAD, "PUT", host=host, content_length=1)[0] == status
    answer = "websocket.accept" if status == 200 else status
    assert ask(made, STREAM, kind="websocket", host=host) == answer
    if "evil" in host and " " not in host:
        assert ask(made, STREAM, kind="websocket", host=host, origin=f"http://{host}") == 403
    assert ask(made, "/_stcore/health", host=host)[0] == 200


def test_a_server_for_a_network_answers_for_its_addresses():
    """An address in the place of a name cannot be made to point elsewhere."""
    for everywhere in ("0.0.0.0", "::", None):
        made = AccessControl(inside, allowed=list_allowed(everywhere, "room.example"))
        for host in ("192.168.1.5:8501", "[fe80::1]", "room.example", "localhost"):
            assert ask(made, host=host)[0] == 200
        assert ask(made, host="evil.example")[0] == 403
    named = list_allowed("::1", None, ["Pca.Example.org."])
    assert named.names == {"localhost", "127.0.0.1", "::1", "pca.example.org"} and not named.any_address


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        (None, 200),
        ("http://localhost:8501", 200),
        ("https://LOCALHOST:8501", 200),
        ("https://pca.example.org", 200),
        ("https://pca.example.org:443", 200),
        ("http://pca.example.org", 403),
        ("http://localhost:3000", 403),
        ("http://localhost", 403),
        ("https://company.example", 403),
        ("http://127.0.0.1:8501", 403),
        ("null", 403),
        ("chrome-extension://abcdef", 403),
        ("http://[::1", 400),
        ("http://", 400),
        ("localhost:8501", 400),
        ("http://localhost:8501/page", 400),
        ("http://localhost:8501 http://evil.example", 400),
        ("http://a@localhost:8501", 400),
        ("", 400),
    ],
)
def test_only_pages_of_this_server_connect(origin, status):
    made = AccessControl(inside, allowed=list_allowed("localhost", origins=["https://pca.example.org/"]))
    heads = {} if origin is None else {"origin": origin}
    answer = "websocket.accept" if status == 200 else status
    assert ask(made, STREAM, kind="websocket", **heads) == answer
    assert ask(made, **heads)[0] == status
    assert ask(made, UPLOAD, "PUT", content_length=1, **heads)[0] == status


def test_a_port_that_is_not_written_is_the_usual_one():
    made = AccessControl(inside, allowed=list_allowed("localhost", hosts=["pca.example.org"]))
    for host, origin, status in (
        ("pca.example.org", "https://pca.example.org", 200),
        ("pca.example.org:443", "https://pca.example.org", 200),
        ("pca.example.org", "https://pca.example.org:443", 200),
        ("pca.example.org:443", "http://pca.example.org", 403),
        ("pca.example.org", "https://pca.example.org:8443", 403),
    ):
        assert ask(made, host=host, origin=origin)[0] == status, (host, origin)


def test_a_server_that_cannot_answer_a_websocket_closes_it():
    made, said = AccessControl(inside), []

    async def send(message):
        said.append(message)

    scope = {"type": "websocket", "path": STREAM, "headers": [(b"host", b"evil.example")]}
    asyncio.run(made(scope, None, send))
    assert said == [{"type": "websocket.close", "code": 1008}]


@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_a_body_of_two_lengths_is_refused(kind):
    answer = ask(AccessControl(inside), kind=kind, content_length=5, transfer_encoding="chunked")
    assert (answer if kind == "websocket" else answer[0]) == 400
    if kind == "http":
        assert answer[1]["connection"] == "close", "what follows may be half of another request"


def basic(text: str) -> str:
    return "Basic " + base64.b64encode(text.encode()).decode()


class Clock:
    """A clock that only its own sleeps move; `slept` are the sleeps, as they end."""

    def __init__(self):
        self.now, self.slept = 1000.0, []

    def __call__(self):
        return self.now

    async def sleep(self, seconds):
        await asyncio.sleep(0)
        self.now += seconds
        self.slept.append(seconds)


def test_a_password_is_asked_for_once():
    clock = Clock()
    made = AccessControl(inside, password="geheim", passwords=PasswordCheck(clock, clock.sleep))
    status, heads = ask(made)
    assert status == 401 and heads["www-authenticate"].startswith("Basic")
    assert "nspca" not in heads.get("set-cookie", "") and not clock.slept, "who gives none need not wait"
    for wrong in ("", "Basic", basic("anyone:gehei"), basic("geheim"), "Basic ä".encode().decode("latin-1")):
        assert ask(made, authorization=wrong)[0] == 401
    status, heads = ask(made, authorization=basic("anyone:geheim"))
    cookie = heads["set-cookie"].partition(";")[0]
    assert status == 200 and "HttpOnly" in heads["set-cookie"] and "SameSite" in heads["set-cookie"]
    assert ask(made, cookie=cookie)[0] == 200
    assert ask(made, cookie=f"{cookie}x")[0] == 401
    assert ask(made, STREAM, kind="websocket", cookie=cookie) == "websocket.accept"
    assert ask(made, STREAM, kind="websocket") == 403
    assert ask(made, UPLOAD, "PUT", content_length=5)[0] == 401
    assert ask(made, "/_stcore/health")[0] == 200, "whoever looks after the machine needs none"


def test_only_the_health_check_itself_is_open_to_all():
    made = AccessControl(inside, password="geheim")
    for path in ("/media/_stcore/health", f"{UPLOAD}/_stcore/health", "//_stcore/health"):
        assert ask(made, path)[0] == 401
        assert ask(made, path, "PUT", host="evil.example", content_length=1)[0] == 403
    below = AccessControl(inside, password="geheim", health="/pca/_stcore/health")
    assert ask(below, "/pca/_stcore/health", host="10.0.0.5")[0] == 200


def test_cookies_stay_on_encrypted_connections():
    made = AccessControl(inside, password="geheim")

    def cookies(scheme):
        said = []

        async def send(message):
            said.append(message)

        heads = [(b"host", b"localhost"), (b"authorization", basic("a:geheim").encode())]
        scope = {"type": "http", "path": "/", "method": "GET", "headers": heads, "scheme": scheme}
        asyncio.run(made(scope, None, send))
        return [value for name, value in said[0]["headers"] if name == b"set-cookie"]

    assert len(cookies("https")) == 2 and all(b"; Secure" in one for one in cookies("https"))
    assert len(cookies("http")) == 2 and not any(b"Secure" in one for one in cookies("http"))
    assert access._make_secure(b"a=1; secure; Path=/") == b"a=1; secure; Path=/"
    assert access._make_secure(b"secure=1") == b"secure=1; Secure"


def test_wrong_passwords_wait_longer_and_longer(caplog):
    clock = Clock()
    made = AccessControl(inside, password="geheim", passwords=PasswordCheck(clock, clock.sleep))
    for _ in range(5):
        assert ask(made, authorization=basic("anyone:wrong-one"))[0] == 401
    assert clock.slept == [1.0, 2.0, 4.0, 8.0, 8.0]
    assert ask(made, authorization=basic("anyone:wrong-one"), client=("192.0.2.8", 5))[0] == 401
    assert clock.slept[5:] == [1.0], "each address by itself"
    assert ask(made, authorization=basic("anyone:geheim"))[0] == 200 and len(clock.slept) == 6
    assert [record.message for record in caplog.records] == ["wrong password from 192.0.2.7"] * 5 + [
        "wrong password from 192.0.2.8"
    ]
    assert "wrong-one" not in caplog.text and basic("anyone:wrong-one")[6:] not in caplog.text


def test_guesses_that_come_at_once_are_checked_one_after_another():
    """Simultaneous guesses are checked in turn, each after the delay of the one before, right ones too."""
    clock = Clock()
    made = AccessControl(inside, password="geheim", passwords=PasswordCheck(clock, clock.sleep))
    ended = []

    async def guess(text):
        status, _ = await ask_async(made, authorization=basic(f"anyone:{text}"))
        ended.append((text, status, clock.now - 1000.0))

    async def all_at_once():
        await asyncio.gather(guess("a"), guess("b"), guess("geheim"), guess("c"))

    asyncio.run(all_at_once())
    assert ended == [("a", 401, 1.0), ("b", 401, 3.0), ("geheim", 200, 3.0), ("c", 401, 4.0)]


def test_too_many_guesses_at_once_are_not_looked_at(monkeypatch):
    monkeypatch.setattr("nspca.dashboard.app.passwords.MOST_WAITING", 3)
    clock = Clock()
    made = AccessControl(inside, password="geheim", passwords=PasswordCheck(clock, clock.sleep))

    async def all_at_once():
        asked = [ask_async(made, authorization=basic("a:wrong")) for _ in range(4)]
        right = ask_async(made, authorization=basic("a:geheim"))
        other = ask_async(made, authorization=basic("a:geheim"), client=("192.0.2.8", 5))
        return await asyncio.gather(*asked, right, other)

    answers = asyncio.run(all_at_once())
    assert [status for status, _ in answers] == [401, 401, 401, 429, 429, 200]
    assert answers[3][1]["retry-after"] == "8"


def test_old_guesses_are_forgotten(monkeypatch):
    monkeypatch.setattr("nspca.dashboard.app.passwords.MOST_ADDRESSES", 3)
    clock = Clock()
    check = PasswordCheck(clock, clock.sleep)

    def wrong(address):
        asyncio.run(check.check(address, lambda: False))
        return clock.slept[-1]

    assert [wrong("a"), wrong("a")] == [1.0, 2.0]
    clock.now += 601.0
    assert wrong("a") == 1.0, "ten minutes later it starts anew"
    for address in ("b", "c", "d", "e"):
        wrong(address)
    assert len(check._guesses) == 3 and wrong("e") == 2.0
    asyncio.run(check.check("e", lambda: True))
    assert set(check._guesses) == {"c", "d"}, "nothing is kept of who is right"


@pytest.mark.parametrize(
    ("client", "name"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("::1", "::1"),
        ("2001:db8:1:2:3::4", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::9", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("\x1b[31mred", "an unknown address"),
        ("", "an unknown address"),
        (None, "an unknown address"),
    ],
)
def test_addresses_are_counted_by_network(client, name):
    from nspca.dashboard.app.passwords import name_address

    assert name_address(client) == name


def test_uploads_are_counted_before_they_are_read(monkeypatch):
    monkeypatch.setattr(access, "OF_A_SESSION", 100)
    monkeypatch.setattr(access, "OF_ALL", 250)
    held = {"mine": 60, "theirs": 120}
    made = AccessControl(inside, held=lambda session: (held.get(session, 0), sum(held.values())))
    put = lambda path, size: ask(made, path, "PUT", content_length=size)[0]  # noqa: E731
    assert put(UPLOAD, 40) == 200 and put(UPLOAD, 41) == 413
    assert put("/base/_stcore/upload_file/new/file", 70) == 200
    assert put("/_stcore/upload_file/new/file", 71) == 413, "all together"
    assert ask(made, UPLOAD, "PUT")[0] == 411 and put(UPLOAD, "-1") == 411
    assert ask(made, UPLOAD, "DELETE")[0] == 200


def test_uploads_on_their_way_count(monkeypatch):
    monkeypatch.setattr(access, "OF_A_SESSION", 100)
    inner = []

    async def put(size):
        return (await ask_async(made, UPLOAD, "PUT", content_length=size))[0]

    async def slow(scope, receive, send):
        if not inner:
            inner.append(True)
            inner.append(await put(50))
        await inside(scope, receive, send)

    made = AccessControl(slow)
    assert asyncio.run(put(60)) == 200 and inner[-1] == 413
    assert asyncio.run(put(100)) == 200, "what has come is no longer on its way"


@pytest.fixture
def plain_environment(monkeypatch):
    for name in ("PASSWORD", "HOSTS", "ORIGINS", "PROXIES", "METRICS"):
        monkeypatch.delenv(f"NSPCA_{name}", raising=False)


def test_the_environment_says_who_may_come_in(plain_environment, monkeypatch):
    assert read_settings() == Settings()
    monkeypatch.setenv("NSPCA_ORIGINS", "https://a.example, https://b.example")
    monkeypatch.setenv("NSPCA_HOSTS", "a.example ,b.example,")
    monkeypatch.setenv("NSPCA_PROXIES", "172.16.0.0/12,2001:db8::1")
    read = read_settings()
    assert read.origins == ("https://a.example", "https://b.example")
    assert read.hosts == ("a.example", "b.example")
    assert read.proxies == ("127.0.0.1", "::1", "172.16.0.0/12", "2001:db8::1")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("NSPCA_HOSTS", "https://pca.example.org"),
        ("NSPCA_HOSTS", "pca.example.org:443"),
        ("NSPCA_HOSTS", "*"),
        ("NSPCA_ORIGINS", "pca.example.org"),
        ("NSPCA_PROXIES", "*"),
        ("NSPCA_PROXIES", "proxy.example.org"),
        ("NSPCA_PROXIES", "10.0.0.1/8"),
    ],
)
def test_a_wrong_setting_ends_the_start_with_a_sentence(name, value, plain_environment, monkeypatch):
    monkeypatch.setenv(name, value)
    with pytest.raises(InvalidOption, match=f"{name} needs .*{value.replace('*', '.')}"):
        internals.guard_server()


def test_the_server_is_guarded(plain_environment, monkeypatch):
    """The server has access control, and trusts no page of another host, which Streamlit would."""
    create, options = starlette_app.create_streamlit_middleware, starlette_server._get_uvicorn_config_kwargs
    monkeypatch.setattr(starlette_app, "create_streamlit_middleware", create)  # and back
    monkeypatch.setattr(starlette_server, "_get_uvicorn_config_kwargs", options)
    monkeypatch.setattr(connections, "raise_descriptor_limit", lambda: 1024)
    monkeypatch.setenv("NSPCA_HOSTS", "pca.example.org")
    before, base = config.get_option("client.allowedOrigins"), config.get_option("server.baseUrlPath")
    try:
        internals.guard_server()
        first, *others = starlette_app.create_streamlit_middleware()
        assert first.cls is AccessControl and others
        assert "pca.example.org" in first.kwargs["allowed"].names
        assert before and config.get_option("client.allowedOrigins") == []
        assert first.kwargs["health"] == "/_stcore/health"
        config.set_option("server.baseUrlPath", "/pca/")
        below, *_ = starlette_app.create_streamlit_middleware()
        assert below.kwargs["health"] == "/pca/_stcore/health"
        used = starlette_server._get_uvicorn_config_kwargs()
        assert issubclass(used["http"], connections.GuardedConnection) and used["http"].most < 1024
        assert used["forwarded_allow_ips"] == ["127.0.0.1", "::1"] and used["ws"] == options()["ws"]
    finally:
        config.set_option("client.allowedOrigins", before)
        config.set_option("server.baseUrlPath", base)
