"""Execution in a worker process: load the arguments, call the function, and return the outcome.

`Pool` in the server sends `run` and `stop` to the workers.
"""

import importlib
import io
import json
import os
import signal
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from distributed import get_worker

from nspca.errors import Cancelled, JobError, NSPCAError
from nspca.jobs import packing
from nspca.jobs.job import Finished
from nspca.jobs.reporting import Reporter

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
