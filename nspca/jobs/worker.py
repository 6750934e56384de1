"""Execution in a worker process: load the arguments, call the function, report events, return the outcome.

`Pool` in the server sends `run` and `stop` to the workers. A `Reporter` sends few messages, but no last event
and no small row is lost.
"""

import importlib
import io
import json
import logging
import os
import signal
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from distributed import get_worker

from nspca.errors import Cancelled, JobError, NSPCAError
from nspca.jobs import packing
from nspca.jobs.job import Finished
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


NICENESS = 10  # scheduling priority of workers, so that pages stay quick while every core computes
RESULT_BYTES = 500_000_000  # maximum size of a result; SQLite holds at most 1e9 bytes in one value
NO_DATA = "The data of this run is no longer kept: open its data again and start a new run."

# Tokens of the executions that should stop. A worker process has no other place that a message can reach.
_stopped: set[str] = set()


@dataclass(frozen=True)
class Task:
    """One execution in the form that is sent to a worker."""

    token: str  # id of the execution
    topic: str  # Dask's topic of the messages to the server
    function: str  # ``module:function``
    parameters: str  # packed arguments
    folder: str  # folder of the files of array arguments


def dask_setup(worker: Any) -> None:
    """Prepare a new local worker; called by Dask in its main thread, before the first task."""
    quiet(worker)
    process = psutil.Process()
    with suppress(psutil.AccessDenied):
        process.nice(psutil.BELOW_NORMAL_PRIORITY_CLASS if psutil.WINDOWS else max(NICENESS, process.nice()))


def quiet(worker: Any) -> None:
    """Stop the status pages of a Dask worker, a second unprotected port, and make it ignore Ctrl-C.

    Ctrl-C in the terminal is for the process that started the workers and then closes them.
    """
    worker.http_server.stop()
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def stop(token: str) -> None:
    """Make the next report of a run raise `Cancelled`."""
    _stopped.add(token)


def run(task: Task, blobs: dict[str, bytes] | None = None) -> Finished:
    """Execute a task and return its outcome.

    Exceptions are turned into text here, because not every exception can be pickled. `blobs` has the contents
    of argument files by digest, for a worker that cannot read the folder; None otherwise.
    """
    worker = get_worker()

    def send(text: str) -> None:
        # Always queue on the event loop. In the thread of the loop Dask would send at once, and so before
        # messages that other threads have queued.
        worker.loop.add_callback(worker.log_event, task.topic, {"token": task.token, "text": text})

    def later(seconds: float, function: Callable[[], None]) -> None:
        worker.loop.add_callback(worker.loop.call_later, seconds, function)

    send(json.dumps({"worker": worker.address, "pid": os.getpid()}))
    report = Reporter(send, later, lambda: task.token in _stopped)
    try:
        arguments = packing.unpack(
            task.parameters, lambda kind, digest: _load(task.folder, blobs, kind, digest)
        )
        result = _function(task.function)(**arguments, report=report)
        if not _is_kept(result):
            what = f"{len(result)} bytes" if isinstance(result, bytes) else type(result).__name__
            raise JobError(
                f"A run must return at most {RESULT_BYTES} bytes, {task.function} returned {what}."
            )
        return Finished("done", result)
    except Cancelled as stop:
        return Finished("cancelled", stop.result if _is_kept(stop.result) else b"")
    except NSPCAError as error:
        return _failed(str(error))
    except MemoryError:
        return _failed("The run needed more memory than there is: use fewer columns or a smaller k.")
    except (Exception, SystemExit) as error:
        # Whatever a run does, it ends with a sentence and the worker lives on.
        return _failed(f"Unexpected error {type(error).__name__}: {error}")
    finally:
        report.flush()
        _stopped.discard(task.token)


def _is_kept(result: Any) -> bool:
    return isinstance(result, bytes) and len(result) <= RESULT_BYTES


def _failed(sentence: str) -> Finished:
    return Finished("failed", error=sentence, trace=traceback.format_exc())


def _function(name: str) -> Callable[..., Any]:
    module, _, attribute = name.partition(":")
    return getattr(importlib.import_module(module), attribute)


def _load(folder: str, blobs: dict[str, bytes] | None, kind: str, digest: str) -> Any:
    if blobs is not None:
        return packing.read(kind, io.BytesIO(blobs[digest]))
    path = Path(folder) / packing.file_name(kind, digest)
    if not path.is_file():
        raise JobError(NO_DATA)
    return packing.read(kind, path)
