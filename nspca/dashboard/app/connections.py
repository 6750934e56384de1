"""Limit the connections of the server: their number, and the time that a request may take to arrive.

Uvicorn waits forever for the head of a request, and accepts connections until the process has no file
descriptors left. A public server could be stopped by either. `internals.server_options` hands the limits to
uvicorn.
"""

import asyncio
import logging
import sys
import time
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 20.0  # for a whole request head; nginx and Apache allow 60 and 20
BODY_SECONDS = 60.0  # without a byte of a body that was announced
MOST_CONNECTIONS = 4000  # a class of 60 has at most 420: six of each browser, and a websocket
BACKLOG = 512  # connections that the event loop accepts in one turn, before any of them is counted
RESERVED = BACKLOG + 200  # descriptors for these, and for files, workers and the store
FEWEST_CONNECTIONS = 16  # however few descriptors there are
SAID_EVERY = 60.0  # seconds between two lines of the log about too many connections
log = logging.getLogger("nspca.access")


class GuardedConnection(H11Protocol):
    """HTTP connection that is closed when its request does not arrive in time, or when there are too many.

    A connection waits from its start, or from the end of its last answer, until a request head is complete.
    If there are too many connections, the one that has waited longest is closed.
    """

    head_seconds = HEAD_SECONDS
    body_seconds = BODY_SECONDS
    most = MOST_CONNECTIONS
    last_said = float("-inf")

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.waits_since: float | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._upgraded = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Set the timer for the first head; if there are too many connections, close the longest waiting."""
        super().connection_made(transport)
        self._watch()
        if len(self.connections) <= self.most:
            return
        connections: set[Any] = self.connections
        waiting = [one for one in connections if getattr(one, "waits_since", None) is not None]
        oldest = min(waiting, key=lambda one: one.waits_since, default=self)
        _say_full(type(self))
        # Its end is heard of later; until then others would find the same one to close.
        connections.discard(oldest)
        oldest._stop()
        oldest.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self._stop()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        """Handle the received data, then set the timer for the missing part."""
        super().handle_events()
        self._watch()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """Hand the connection over to the websocket protocol, which needs no timer."""
        self._upgraded = True
        super().handle_websocket_upgrade(event)

    def on_response_complete(self) -> None:
        """Set the timer for the next head, or for the unread rest of a body."""
        super().on_response_complete()
        self._watch()

    def _watch(self) -> None:
        """Start, keep or stop the timer, depending on the state of the connection."""
        theirs, ours = self.conn.their_state, self.conn.our_state
        if self._upgraded or self.transport.is_closing():
            self._stop()
        elif theirs is h11.IDLE or ours is h11.DONE:
            if self.waits_since is None:
                self._stop()
                self.waits_since = self.loop.time()
                self._timer = self.loop.call_later(self.head_seconds, self.transport.abort)
        elif theirs is h11.SEND_BODY:
            self._stop()
            self._timer = self.loop.call_later(self.body_seconds, self._give_up_body)
        else:
            self._stop()

    def _give_up_body(self) -> None:
        """Close a connection whose body does not arrive, unless the server itself has paused reading."""
        if self.flow.read_paused:
            self._watch()
        else:
            self.transport.abort()

    def _stop(self) -> None:
        self.waits_since = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def raise_descriptor_limit() -> int:
    """Raise the limit on open files of this process as far as needed and allowed; return the limit, or
    the number needed where there is none.
    """
    needed = MOST_CONNECTIONS + RESERVED
    if sys.platform == "win32":
        return needed  # sockets are no files there
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return needed
    if soft < needed:
        soft = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return soft


def count_connections(descriptors: int) -> int:
    """Return the maximum number of connections for a limit on open files."""
    return max(FEWEST_CONNECTIONS, min(MOST_CONNECTIONS, descriptors - RESERVED))


def _say_full(kind: type[GuardedConnection]) -> None:
    """Log that there are too many connections, at most once in `SAID_EVERY` seconds."""
    now = time.monotonic()
    if now - kind.last_said >= SAID_EVERY:
        kind.last_said = now
        log.warning("too many connections: of more than %d those that ask nothing are closed", kind.most)
