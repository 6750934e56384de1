"""Access control in front of the whole server: password, allowed hosts, limits on uploads, security headers.

`internals.guard_server` puts `AccessControl` around Streamlit's server. No Streamlit calls.
"""

import base64
import binascii
import hmac
import os
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from http.cookies import SimpleCookie
from ipaddress import ip_network
from typing import Any

from nspca.dashboard.app.hosts import AllowedHosts, read_authority, read_origin
from nspca.dashboard.app.passwords import LONGEST_DELAY, Outcome, PasswordCheck, name_address
from nspca.errors import InvalidOption

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]

# Maximum bytes of uploads held in memory: of one session two of the largest files, of all sessions six.
OF_A_SESSION = 420 * 2**20
OF_ALL = 1200 * 2**20
HEALTH = "/_stcore/health"
UPLOAD = "/_stcore/upload_file/"
METRICS = "/_stcore/metrics"
COOKIE = "nspca_access"
ENCRYPTED = ("https", "wss")
LOOPBACK_PROXIES = ("127.0.0.1", "::1")
# Streamlit's scripts need inline scripts and eval. Nothing is loaded from other hosts.
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
    # An address contains the name of a workspace, which other sites must not see.
    "Referrer-Policy": "same-origin",
}


@dataclass(frozen=True)
class Refusal:
    """Answer to a refused request: HTTP status, one sentence, and further headers."""

    status: int
    sentence: str
    headers: tuple[tuple[str, str], ...] = ()


class AccessControl:
    """ASGI middleware around the whole server. In its methods `heads` has the headers by lower-case name.

    Parameters
    ----------
    app : the application to protect
    allowed : host names of this server, and other origins that may send requests
    held : ``held(session)`` returns the bytes of uploads in memory, of that session and of all sessions
    password : required password; none when empty
    metrics : whether Streamlit's metrics are served
    health : path that is served under any host name and without a password
    passwords : password check with delays
    """

    def __init__(
        self,
        app: Application,
        *,
        allowed: AllowedHosts | None = None,
        held: Callable[[str], tuple[int, int]] = lambda session: (0, 0),
        password: str = "",
        metrics: bool = False,
        health: str = HEALTH,
        passwords: PasswordCheck | None = None,
    ) -> None:
        self.app, self.held, self.metrics, self._health = app, held, metrics, health
        self._allowed = allowed or AllowedHosts()
        self._password = password.encode()
        self._passwords = passwords or PasswordCheck()
        self._token = secrets.token_urlsafe(32)
        self._coming: dict[str, int] = {}  # bytes of uploads in transfer, by session

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on to the application."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        heads = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        refusal = self._refuse(scope, heads)
        if scope["type"] == "websocket":
            if refusal is None and not self._has_cookie(heads):
                refusal = Refusal(403, "A password is needed.")
            if refusal is None:
                await self.app(scope, receive, send)
            else:
                await _refuse_websocket(scope, send, refusal)
            return
        send = _with_headers(send, HEADERS)
        if scope.get("scheme") in ENCRYPTED:
            send = _with_secure_cookies(send)
        if refusal is not None:
            await _answer(send, refusal)
            return
        path = scope["path"]
        if path != self._health and not self._has_cookie(heads):
            refusal = await self._ask_password(scope, heads)
            if refusal is not None:
                await _answer(send, refusal)
                return
            cookie = f"{COOKIE}={self._token}; HttpOnly; SameSite=Lax; Path=/"
            send = _with_headers(send, {"Set-Cookie": cookie})
        if path.endswith(METRICS) and not self.metrics:
            await _answer(send, Refusal(404, "Measurements are handed out with NSPCA_METRICS=1."))
        elif UPLOAD in path and scope["method"] == "PUT":
            await self._take(path.partition(UPLOAD)[2].partition("/")[0], heads, scope, receive, send)
        else:
            await self.app(scope, receive, send)

    def _refuse(self, scope: Message, heads: dict[str, str]) -> Refusal | None:
        """Return the refusal of a request with a bad form, host or origin; None for a good one."""
        if "content-length" in heads and "transfer-encoding" in heads:
            # A proxy and this server may disagree where such a request ends (RFC 9112, 6.1).
            sentence = "A request has either a Content-Length or a Transfer-Encoding, got both."
            return Refusal(400, sentence, (("Connection", "close"),))
        if scope["type"] == "http" and scope["path"] == self._health:
            return None  # monitoring tools may use any host name
        host = read_authority(heads.get("host", ""))
        if host is None:
            return Refusal(400, "The Host of a request has to be a host name or an address.")
        if not self._allowed.has_host(host):
            return Refusal(
                403,
                f"This server does not answer for {host.name}. Whoever runs it can allow that name with "
                f"NSPCA_HOSTS={host.name}",
            )
        if "origin" in heads:
            origin = read_origin(heads["origin"])
            if origin is None or sum(name.lower() == b"origin" for name, _ in scope["headers"]) > 1:
                return Refusal(400, "The Origin of a request has to be one scheme, host and port.")
            if not self._allowed.has_origin(origin, host):
                return Refusal(403, "Only pages of this server may use it, and those in NSPCA_ORIGINS.")
        return None

    async def _ask_password(self, scope: Message, heads: dict[str, str]) -> Refusal | None:
        """Return the refusal of a browser without the cookie; None if its password is right."""
        challenge = (("WWW-Authenticate", 'Basic realm="nspca"'),)
        if "authorization" not in heads:
            return Refusal(401, "A password is needed.", challenge)
        client = scope.get("client")
        address = name_address(client[0] if client else None)
        outcome = await self._passwords.check(address, lambda: self._is_right(heads))
        if outcome is Outcome.BUSY:
            sentence = "Too many passwords are tried from this address: wait a little, then reload the page."
            return Refusal(429, sentence, (("Retry-After", f"{LONGEST_DELAY:.0f}"),))
        return None if outcome is Outcome.RIGHT else Refusal(401, "A password is needed.", challenge)

    async def _take(
        self, session: str, heads: dict[str, str], scope: Message, receive: Receive, send: Send
    ) -> None:
        """Pass on an upload if its announced size fits into the limits; its body is read afterwards."""
        length = heads.get("content-length", "")
        if not length.isdecimal():
            await _answer(send, Refusal(411, "The size of an upload has to be said."))
            return
        size, (mine, everyone) = int(length), self.held(session)
        mine += self._coming.get(session, 0)
        everyone += sum(self._coming.values())
        if mine + size > OF_A_SESSION or everyone + size > OF_ALL:
            sentence = "Too much is held of uploads already: reload the page, or wait a while."
            await _answer(send, Refusal(413, sentence))
            return
        self._coming[session] = self._coming.get(session, 0) + size
        try:
            await self.app(scope, receive, send)
        finally:
            self._coming[session] -= size
            if not self._coming[session]:
                del self._coming[session]

    def _has_cookie(self, heads: dict[str, str]) -> bool:
        """Tell whether no password is required, or the browser has the cookie of a correct one."""
        if not self._password:
            return True
        try:
            cookie = SimpleCookie(heads.get("cookie", "")).get(COOKIE)
        except ValueError:
            return False
        return cookie is not None and hmac.compare_digest(cookie.value.encode(), self._token.encode())

    def _is_right(self, heads: dict[str, str]) -> bool:
        """Tell whether the password of a request is right; the user name does not matter."""
        kind, _, text = heads.get("authorization", "").partition(" ")
        try:
            given = base64.b64decode(text, validate=True).partition(b":")[2]
        except (binascii.Error, ValueError):
            return False
        return kind.lower() == "basic" and hmac.compare_digest(given, self._password)


@dataclass(frozen=True)
class Settings:
    """Access settings from environment variables, see `read_settings`."""

    password: str = ""
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    proxies: tuple[str, ...] = LOOPBACK_PROXIES
    metrics: bool = False


def read_settings() -> Settings:
    """Return the access settings from environment variables.

    Raises
    ------
    InvalidOption
        If ``NSPCA_PROXIES`` has an entry that is neither an address nor a network.
    """
    proxies = _read_list("NSPCA_PROXIES")
    for text in proxies:
        try:
            ip_network(text)
        except ValueError as error:
            raise InvalidOption(
                "NSPCA_PROXIES needs addresses or networks such as 172.16.0.0/12, separated by commas, "
                f"got {text!r}"
            ) from error
    return Settings(
        password=os.environ.get("NSPCA_PASSWORD", ""),
        hosts=_read_list("NSPCA_HOSTS"),
        origins=_read_list("NSPCA_ORIGINS"),
        proxies=(*LOOPBACK_PROXIES, *proxies),
        metrics=os.environ.get("NSPCA_METRICS") == "1",
    )


def _read_list(variable: str) -> tuple[str, ...]:
    """Return the texts between the commas of an environment variable; none when it is not set."""
    return tuple(one.strip() for one in os.environ.get(variable, "").split(",") if one.strip())


def _with_headers(send: Send, headers: dict[str, str]) -> Send:
    """Return a `send` that adds headers which an answer lacks; cookies are always added."""

    async def add(message: Message) -> None:
        if message["type"] == "http.response.start":
            there = {name.lower() for name, _ in message["headers"]} - {b"set-cookie"}
            added = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
            message["headers"] = [*message["headers"], *(one for one in added if one[0] not in there)]
        await send(message)

    return add


def _with_secure_cookies(send: Send) -> Send:
    """Return a `send` that marks every cookie of an answer as Secure."""

    async def add(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [
                (name, _make_secure(value)) if name.lower() == b"set-cookie" else (name, value)
                for name, value in message["headers"]
            ]
        await send(message)

    return add


def _make_secure(cookie: bytes) -> bytes:
    """Return a Set-Cookie header with the attribute Secure."""
    attributes = {part.strip().lower() for part in cookie.split(b";")[1:]}
    return cookie if b"secure" in attributes else cookie + b"; Secure"


async def _answer(send: Send, refusal: Refusal, kind: str = "http") -> None:
    """Send a refusal as the whole answer; `kind` is the prefix of the types of ASGI messages."""
    body = refusal.sentence.encode()
    heads = [("Content-Type", "text/plain; charset=utf-8"), ("Content-Length", str(len(body)))]
    raw = [(name.lower().encode(), value.encode()) for name, value in (*heads, *refusal.headers)]
    await send({"type": f"{kind}.response.start", "status": refusal.status, "headers": raw})
    await send({"type": f"{kind}.response.body", "body": body})


async def _refuse_websocket(scope: Message, send: Send, refusal: Refusal) -> None:
    """Refuse a websocket with the status of a refusal.

    For 403 the connection is closed before the handshake, since uvicorn would log another answer as an error.
    """
    if refusal.status != 403 and "websocket.http.response" in scope.get("extensions", {}):
        await _answer(send, refusal, "websocket.http")
    else:
        await send({"type": "websocket.close", "code": 1008})
