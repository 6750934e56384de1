"""The `report` hook of a task in a worker: few messages, but no last event and no small row is lost.

The worker makes a `Reporter` for each run, and the task calls it with its events.
"""

import json
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from nspca.errors import Cancelled
from nspca.progress import Event

PERIOD = 0.1  # minimum seconds between messages; people cannot follow more than ten per second
# Maximum size of a payload, and of a row; larger ones are left out.
PAYLOAD_BYTES = 65536

_log = logging.getLogger(__name__)


class Reporter:
    """Forward events as JSON texts, at most one per `PERIOD`.

    Within a period the newest event replaces earlier ones, and keys that its payload lacks are taken from
    them. Rows, ``payload={"row": {...}}``, are collected into ``{"rows": [...]}``, so every row arrives.
    Larger rows and payloads than `PAYLOAD_BYTES` are left out, with a warning in the log. ``later(seconds,
    function)`` calls a function once after some seconds, in any thread.
    """

    def __init__(
        self,
        send: Callable[[str], None],
        later: Callable[[float, Callable[[], None]], Any],
        cancelled: Callable[[], bool],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._send, self._later, self._cancelled, self._clock = send, later, cancelled, clock
        self._lock = threading.RLock()
        self._event: Event | None = None
        self._rows: list[str] = []
        self._next = -float("inf")
        self._waiting = False

    def __call__(self, event: Event) -> None:
        """Send an event now or at the end of the period; raise `Cancelled` if the run should stop."""
        if self._cancelled():
            raise Cancelled("The run was cancelled.")
        with self._lock:
            payload = dict(event.payload)
            row = _json(payload.pop("row", None))
            if row != "null" and _fits(row):
                self._rows.append(row)
            if not _fits(_json(payload)):
                payload = {}
            merged = (self._event.payload if self._event else {}) | payload
            self._event = replace(event, payload=merged if len(_json(merged)) <= PAYLOAD_BYTES else payload)
            wait = self._next - self._clock()
            if wait <= 0:
                self.flush()
            elif not self._waiting:
                self._waiting = True
                self._later(wait, self.flush)

    def flush(self) -> None:
        """Send the waiting event and all rows; also called at the end."""
        with self._lock:
            self._waiting = False
            if self._event is None:
                return
            self._send(f'{{"event": {_json(asdict(self._event))}, "rows": [{", ".join(self._rows)}]}}')
            self._event, self._rows = None, []
            self._next = self._clock() + PERIOD


def _fits(text: str) -> bool:
    """Tell whether a payload may be sent, and log one that is too large."""
    if len(text) > PAYLOAD_BYTES:
        _log.warning("left out a progress payload of %d bytes, at most %d are sent", len(text), PAYLOAD_BYTES)
    return len(text) <= PAYLOAD_BYTES


def _json(value: Any) -> str:
    """Return the JSON text of a value that may contain arrays; other objects become text."""
    return json.dumps(
        value, default=lambda one: one.tolist() if isinstance(one, np.generic | np.ndarray) else str(one)
    )
