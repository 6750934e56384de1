"""What stands between the network and Streamlit: who may come in, how much they may bring, and what a browser
is told about the pages. No Streamlit calls.
"""

import asyncio
import base64
import binascii
import hmac
import os
import secrets
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import urlsplit

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]

# One page may hold two of the largest files, one of which is being replaced; all pages together six.
OF_A_SESSION = 420 * 2**20
OF_ALL = 1200 * 2**20
HEALTH = "/_stcore/health"
UPLOAD = "/_stcore/upload_file/"
METRICS = "/_stcore/metrics"
COOKIE = "nspca_door"
WRONG_SECONDS = 1.0  # a wrong password is answered slowly
# Streamlit's scripts make functions of text, styles and modules in place; nothing comes from another host.
CONTENT = {
    "default-src": "'self'",
    "script-src": "'self' 'unsafe-inline' 'unsafe-eval' blob:",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data: blob:",
    "font-src": "'self' data:",
    "media-src": "'self' data: blob:",
    "connect-src": "'self' data: blob:",
    "worker-src": "'self' blob:",
    "frame-src": "'self' data: blob:",
    "object-src": "'none'",
    "base-uri": "'self'",
    "form-action": "'self'",
    "frame-ancestors": "'self'",
}
HEADERS = {
    "Content-Security-Policy": "; ".join(f"{what} {where}" for what, where in CONTENT.items()),
    "X-Frame-Options": "SAMEORIGIN",
    "X-Content-Type-Options": "nosniff",
    # An address holds the name of a workspace, which is for nobody else.
    "Referrer-Policy": "same-origin",
}


class Door:
    """ASGI middleware around the whole server.

    Parameters
    ----------
    app : what is behind it
    held : ``held(session)`` gives the bytes that are held of uploads, of that session and of all
    password : what a browser has to give; nothing when empty
    origins : of other pages that may connect, such as ``https://pca.example.org``
    metrics : whether Streamlit's measurements are handed out
    """

    def __init__(
        self,
        app: Application,
        *,
        held: Callable[[str], tuple[int, int]] = lambda session: (0, 0),
        password: str = "",
        origins: Iterable[str] = (),
        metrics: bool = False,
    ) -> None:
        self.app, self.held, self.metrics = app, held, metrics
        self._origins = {origin.rstrip("/").lower() for origin in origins}
        self._password = password.encode()
        self._token = secrets.token_urlsafe(32)
        self._coming: dict[str, int] = {}  # bytes that are on their way, by session

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        heads = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if scope["type"] == "websocket":
            if self._is_known(heads) and self._is_ours(heads):
                await self.app(scope, receive, send)
            else:
                await send({"type": "websocket.close", "code": 1008})
            return
        path = scope["path"]
        send = _with(send, HEADERS)
        if not path.endswith(HEALTH) and not self._is_known(heads):
            if self._is_right(heads):
                send = _with(send, {"Set-Cookie": f"{COOKIE}={self._token}; HttpOnly; SameSite=Lax; Path=/"})
            else:
                await asyncio.sleep(WRONG_SECONDS if "authorization" in heads else 0.0)
                await _answer(send, 401, "A password is needed.", {"WWW-Authenticate": 'Basic realm="nspca"'})
                return
        if path.endswith(METRICS) and not self.metrics:
            await _answer(send, 404, "Measurements are handed out with NSPCA_METRICS=1.")
        elif UPLOAD in path and scope["method"] == "PUT":
            await self._take(path.partition(UPLOAD)[2].partition("/")[0], heads, scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _take(
        self, session: str, heads: dict[str, str], scope: Message, receive: Receive, send: Send
    ) -> None:
        """An upload: its size is said before its body is read, and there is room for it."""
        length = heads.get("content-length", "")
        if not length.isdecimal():
            await _answer(send, 411, "The size of an upload has to be said.")
            return
        size, (mine, everyone) = int(length), self.held(session)
        mine += self._coming.get(session, 0)
        everyone += sum(self._coming.values())
        if mine + size > OF_A_SESSION or everyone + size > OF_ALL:
            await _answer(send, 413, "Too much is held of uploads already: reload the page, or wait a while.")
            return
        self._coming[session] = self._coming.get(session, 0) + size
        try:
            await self.app(scope, receive, send)
        finally:
            self._coming[session] -= size
            if not self._coming[session]:
                del self._coming[session]

    def _is_ours(self, heads: dict[str, str]) -> bool:
        """Whether a page of this server asks, or a program, which says no origin."""
        origin = heads.get("origin")
        return (
            origin is None
            or urlsplit(origin).netloc.lower() == heads.get("host", "").lower()
            or origin.lower() in self._origins
        )

    def _is_known(self, heads: dict[str, str]) -> bool:
        if not self._password:
            return True
        try:
            cookie = SimpleCookie(heads.get("cookie", "")).get(COOKIE)
        except ValueError:
            return False
        return cookie is not None and hmac.compare_digest(cookie.value.encode(), self._token.encode())

    def _is_right(self, heads: dict[str, str]) -> bool:
        """Whether the password was given, under any name."""
        kind, _, text = heads.get("authorization", "").partition(" ")
        try:
            given = base64.b64decode(text, validate=True).partition(b":")[2]
        except (binascii.Error, ValueError):
            return False
        return kind.lower() == "basic" and hmac.compare_digest(given, self._password)


def settings() -> dict[str, Any]:
    """What the environment says about the door."""
    return {
        "password": os.environ.get("NSPCA_PASSWORD", ""),
        "origins": [one.strip() for one in os.environ.get("NSPCA_ORIGINS", "").split(",") if one.strip()],
        "metrics": os.environ.get("NSPCA_METRICS") == "1",
    }


def _with(send: Send, headers: dict[str, str]) -> Send:
    """The same, with headers added that are not there yet."""

    async def more(message: Message) -> None:
        if message["type"] == "http.response.start":
            there = {name.lower() for name, _ in message["headers"]}
            added = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
            message["headers"] = [*message["headers"], *(one for one in added if one[0] not in there)]
        await send(message)

    return more


async def _answer(send: Send, status: int, sentence: str, headers: dict[str, str] | None = None) -> None:
    body = sentence.encode()
    heads = {"content-type": "text/plain; charset=utf-8", "content-length": str(len(body)), **(headers or {})}
    raw = [(name.lower().encode(), value.encode()) for name, value in heads.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})
    await send({"type": "http.response.body", "body": body})
