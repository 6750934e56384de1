"""States of runs: the outcome that a worker returns, the state that a page shows, and the stored run."""

import json
from dataclasses import dataclass
from typing import Any

from nspca.progress import Event

UNFINISHED = ("queued", "running")  # states of stored runs that have not ended


@dataclass(frozen=True)
class Finished:
    """Outcome of an execution, as a worker returns it to the engine.

    Parameters
    ----------
    state : "done", "failed", "cancelled", or "killed" if the worker died
    result : returned bytes; for a cancelled execution its partial result, if any
    error, trace : error message, and traceback for the log
    """

    state: str
    result: bytes = b""
    error: str = ""
    trace: str = ""


@dataclass(frozen=True)
class JobState:
    """State of a run at one moment, as pages get it from the engine.

    Parameters
    ----------
    id : str
        Unguessable; it stays valid over page reloads and restarts of the server.
    state : str
        "starting" (no workers yet), "queued", "running", "done", "failed", "cancelled" or "interrupted".
    title : str
        Title in the list of runs; empty while the run is in memory.
    place : int
        Place in the queue from 1; 0 if the run does not wait in this process.
    event : Event or None
        The latest event of the run, with its payload as read from JSON.
    rows : tuple of dict
        Every ``payload={"row": ...}`` so far, in order.
    error : str
        Error message of a failed run.
    created, started, finished : float or None
        Seconds since the epoch.
    """

    id: str
    state: str
    title: str = ""
    place: int = 0
    event: Event | None = None
    rows: tuple[dict[str, Any], ...] = ()
    error: str = ""
    created: float | None = None
    started: float | None = None
    finished: float | None = None

    @property
    def ended(self) -> bool:
        """Tell whether the run neither waits nor runs any more, with or without a result."""
        return self.state in ("done", "failed", "cancelled", "interrupted")


@dataclass(frozen=True)
class Run:
    """A run as stored, with everything to show it, open it, and run it again.

    `title` is set at the start. `name` is set by the owner later, and empty until then. `key` is the hash of
    the computation, `function` the name of its task, and `parameters` its packed arguments. `event` and
    `rows` are JSON.
    """

    id: str
    workspace: str
    key: str
    title: str
    function: str
    parameters: str
    state: str
    event: str
    rows: str
    error: str
    created: float
    started: float | None
    finished: float | None
    name: str = ""

    def as_state(self) -> JobState:
        """Return the state for a page, with event and rows read from JSON."""
        same = ("id", "state", "title", "error", "created", "started", "finished")
        event = Event(**json.loads(self.event)) if self.event else None
        rows = tuple(json.loads(self.rows))
        return JobState(event=event, rows=rows, **{name: getattr(self, name) for name in same})
