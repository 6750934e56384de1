"""The server of the dashboard: access control, the files of Plotly, its log, and settings of the process.

app.py hands `options` to Streamlit's `st.App`. Hosts and other origins are those of Streamlit's options
``server.allowedHosts`` and ``server.corsAllowedOrigins``; a proxy does what the files in deploy/ say.
"""

import asyncio
import base64
import binascii
import hmac
import ipaddress
import json
import logging
import os
import secrets
import sys
import time
import warnings
from collections import Counter, defaultdict
from fnmatch import fnmatch
from typing import Any
from urllib.parse import urlencode, urlsplit

import streamlit as st
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import HTTPConnection, Request
from starlette.responses import FileResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nspca.dashboard.app import memory, plotly
from nspca.data import is_installed
from nspca.specs.sweep import COMPARED

HEALTH, METRICS, UPLOAD = "/_stcore/health", "/_stcore/metrics", "/_stcore/upload_file/"
COOKIE = "nspca_access"
DELAY = 3.0  # seconds before a wrong password is answered; those of one address wait for each other
MOST_WAITING = 100  # guesses of one address that wait; a whole class may log in at once
# Bytes of uploads within `HELD_SECONDS`, which Streamlit keeps as long as their page is open.
OF_A_SESSION, OF_ALL, HELD_SECONDS = 420 * 2**20, 1200 * 2**20, 1800.0
OLD: dict[str, tuple[str, str | None, dict[str, str]]] = {
    "parts": ("components", "orl-faces", {"pictures": "sample", "parts": "components"}),
    "topics": (
        "components",
        "state-of-the-union",
        {"texts": "sample", "topics": "components", "topic": "component"},
    ),
    "compare": ("sweep", None, {"k": "at_k"}),
}
"""Former pages: the page that shows the same now, its sample, and new names of values in the query."""
HEADERS = {
    # Streamlit's scripts need inline scripts and eval. Nothing is loaded from other hosts.
    "Content-Security-Policy": "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; "
    "media-src 'self' data: blob:; connect-src 'self' data: blob:; worker-src 'self' blob:; "
    "frame-src 'self' data: blob:; object-src 'none'; base-uri 'self'; form-action 'self'; "
    "frame-ancestors 'self'",
    "X-Frame-Options": "SAMEORIGIN",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # an address contains the name of a workspace
}
_log = logging.getLogger("nspca.access")


def options() -> dict[str, Any]:
    """Return the arguments of `st.App` for the dashboard, after preparing this process."""
    begin_log()
    memory.limit_arenas()
    if not sys.warnoptions:  # warnings of other packages, about which an operator can do nothing
        warnings.simplefilter("ignore")
        os.environ.setdefault("PYTHONWARNINGS", "ignore")  # in the workers
    access = Middleware(Access, password=os.environ.get("NSPCA_PASSWORD", ""))
    base = st.get_option("server.baseUrlPath").strip("/")
    there = f"/{base}" if base else ""
    old = [Route(f"{there}/{name}", _lead_on) for name in OLD]
    return {"middleware": [access], "routes": [Route(plotly.url().partition("?")[0], _send_plotly), *old]}


async def _lead_on(request: Request) -> Response:
    """Send a browser from an old address of a page to the page that shows the same now, with its query."""
    folder, _, name = request.url.path.rpartition("/")
    page, sample, names = OLD[name]
    query = {names.get(key, key): value for key, value in request.query_params.items() if value != "mine"}
    if sample is not None and not query.keys() & {"sample", "upload", "folder"}:
        query["sample"] = sample if is_installed(sample) else "digits"
    if name == "compare":
        query.setdefault("rivals", ",".join(COMPARED))  # unfolds the methods side by side
    return RedirectResponse(f"{folder}/{page}?{urlencode(query)}")


async def _send_plotly(request: HTTPConnection) -> Response:
    """Send plotly.js, which a browser keeps for a year: its address changes with its version."""
    return FileResponse(plotly.file(), headers={"Cache-Control": "public, max-age=31536000, immutable"})


class Access:
    """ASGI middleware around the whole server: known hosts and origins, a password, limits on uploads.

    The path of the health check is answered under any name and without a password.
    """

    def __init__(self, app: ASGIApp, password: str = "") -> None:
        self.app, self._password, self._token = app, password.encode(), secrets.token_urlsafe(32)
        self._turns: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)  # of guesses, by address
        self._waiting: Counter[str] = Counter()
        self._uploads: list[tuple[str, int, float]] = []  # session, bytes and time of uploads

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request with a refusal, or pass it on to Streamlit."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        asked = HTTPConnection(scope)
        refusal = None if scope["path"].endswith(HEALTH) else await self._refuse(asked)
        if scope["type"] == "websocket":
            if refusal is not None:
                await send({"type": "websocket.close", "code": 1008})  # uvicorn answers with 403
                return
            # Streamlit would ask an outside host whether an origin is this machine's address.
            heads = [(name, value) for name, value in scope["headers"] if name != b"origin"]
            memory.open_pages.add(id(scope))
            try:
                await self.app({**scope, "headers": heads}, receive, send)
            finally:
                memory.open_pages.discard(id(scope))
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                heads = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    heads.setdefault(name, value)
                if self._password and refusal is None and not self._has_cookie(asked):
                    secure = "; Secure" * (scope["scheme"] == "https")
                    heads.append(
                        "Set-Cookie", f"{COOKIE}={self._token}; HttpOnly; SameSite=Lax; Path=/{secure}"
                    )
            await send(message)

        await (refusal or self.app)(scope, receive, with_headers)

    async def _refuse(self, asked: HTTPConnection) -> Response | None:
        """Return the answer to a request that is not passed on; None for a good one."""
        host, origins = asked.headers.get("host", ""), asked.headers.getlist("origin")
        name = _host_name(host)
        if not any(fnmatch(name, one.strip("[]")) for one in st.get_option("server.allowedHosts")):
            return PlainTextResponse(
                f"This server does not answer for {name or 'such a Host'}. Whoever runs it can allow a name "
                "with STREAMLIT_SERVER_ALLOWED_HOSTS.",
                403,
            )
        others = st.get_option("server.corsAllowedOrigins")
        if any(one not in others and one.partition("://")[2].lower() != host.lower() for one in origins):
            return PlainTextResponse("Only pages of this server may use it.", 403)
        known = not self._password or self._has_cookie(asked)
        if not known and (refusal := await self._ask_password(asked)) is not None:
            return refusal
        if asked.scope["type"] == "http":
            if asked.scope["path"].endswith(METRICS) and os.environ.get("NSPCA_METRICS") != "1":
                return PlainTextResponse("Measurements are handed out with NSPCA_METRICS=1.", 404)
            if UPLOAD in asked.scope["path"] and asked.scope["method"] == "PUT":
                return self._limit_upload(asked)
        return None

    async def _ask_password(self, asked: HTTPConnection) -> Response | None:
        """Return the refusal of a browser without the cookie; None if its password is right."""
        challenge = {"WWW-Authenticate": 'Basic realm="nspca"'}
        missing = PlainTextResponse("A password is needed.", 401, challenge)
        kind, _, text = asked.headers.get("authorization", "").partition(" ")
        if kind.lower() != "basic":
            return missing
        address = name_address(asked.client.host if asked.client else None)
        if self._waiting[address] >= MOST_WAITING:
            sentence = "Too many passwords are tried from this address: wait a little, then reload the page."
            return PlainTextResponse(sentence, 429, {"Retry-After": f"{DELAY:.0f}"})
        self._waiting[address] += 1
        try:
            async with self._turns[address]:
                try:
                    given = base64.b64decode(text, validate=True).partition(b":")[2]
                except (binascii.Error, ValueError):
                    given = b""
                if hmac.compare_digest(given, self._password):
                    return None
                _log.warning("wrong password from %s", address)
                await asyncio.sleep(DELAY)
                return missing
        finally:
            self._waiting[address] -= 1
            if not self._waiting[address]:
                del self._waiting[address], self._turns[address]

    def _limit_upload(self, asked: HTTPConnection) -> Response | None:
        """Return the refusal of an upload that does not fit beside those of the last half hour."""
        length = asked.headers.get("content-length", "")
        if not length.isdecimal():
            return PlainTextResponse("The size of an upload has to be said.", 411)
        session = asked.scope["path"].partition(UPLOAD)[2].partition("/")[0]
        size, now = int(length), time.monotonic()
        self._uploads = [one for one in self._uploads if now - one[2] < HELD_SECONDS]
        mine = sum(held for name, held, _ in self._uploads if name == session)
        if mine + size > OF_A_SESSION or sum(held for _, held, _ in self._uploads) + size > OF_ALL:
            sentence = "Too much is held of uploads already: reload the page, or wait a while."
            return PlainTextResponse(sentence, 413)
        self._uploads.append((session, size, now))
        return None

    def _has_cookie(self, asked: HTTPConnection) -> bool:
        return hmac.compare_digest(asked.cookies.get(COOKIE, "").encode(), self._token.encode())


def _host_name(host: str) -> str:
    """Return the name in a ``Host`` header; empty when the header is malformed."""
    try:
        parts = urlsplit(f"//{host}")
        return "" if parts.path or parts.username or parts.port == 0 else (parts.hostname or "").rstrip(".")
    except ValueError:
        return ""


def name_address(client: str | None) -> str:
    """Return the address under which a client is counted: of IPv6 the network, and no text of a proxy."""
    try:
        address = ipaddress.ip_address(client or "")
    except ValueError:
        return "an unknown address"
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return str(address.ipv4_mapped)
        return str(ipaddress.ip_network((int(address), 64), strict=False))
    return str(address)


LINE = "%(asctime)s %(levelname)s %(name)s: %(message)s"


class Json(logging.Formatter):
    """Formatter of log records as JSON, one object per line."""

    def format(self, record: logging.LogRecord) -> str:
        said = {
            "time": self.formatTime(record, self.datefmt),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            said["trace"] = self.formatException(record.exc_info)
        return json.dumps(said)


def begin_log() -> None:
    """Send the log of nspca to standard error from now on."""
    handler = logging.StreamHandler()
    kind = Json if os.environ.get("NSPCA_LOG") == "json" else logging.Formatter
    formatter = kind(LINE, datefmt="%Y-%m-%dT%H:%M:%SZ")
    formatter.converter = time.gmtime
    handler.setFormatter(formatter)
    logger = logging.getLogger("nspca")
    logger.handlers[:] = [handler]
    logger.setLevel(logging.INFO)
    logger.propagate = False
