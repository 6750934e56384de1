"""States of runs: the outcome that a worker returns, the state that a page shows, and the stored run."""

import json
from dataclasses import dataclass
from typing import Any

from nspca.progress import Event

UNFINISHED = ("queued", "running")  # states of stored runs that have not ended


@dataclass(frozen=True)
class Finished:
    """Outcome of an execution, as a worker returns it to the engine."""

    state: str  # "done", "failed", "cancelled", or "killed" if the worker died
    result: bytes = b""  # returned bytes; for a cancelled execution its partial result, if any
    error: str = ""  # error message
    trace: str = ""  # traceback for the log


@dataclass(frozen=True)
class JobState:
    """State of a run at one moment, as pages get it from the engine.

    Parameters
    ----------
    id : unguessable; it stays valid over page reloads and restarts of the server
    state : "starting" (no workers yet), "queued", "running", "done", "failed", "cancelled" or "interrupted"
    title : title in the list of runs; empty while the run is in memory
    place : place in the queue from 1; 0 if the run does not wait in this process
    event : the latest event of the run, with its payload as read from JSON
    rows : every ``payload={"row": ...}`` so far, in order
    error : error message of a failed run
    created, started, finished : seconds since the epoch
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
    """A run as stored, with everything to show it, open it, and run it again."""

    id: str
    workspace: str
    key: str  # hash of the computation
    title: str  # set at the start
    function: str  # name of the task
    parameters: str  # packed arguments
    page: str  # address of the page that shows the run; empty for none
    state: str
    event: str  # JSON
    rows: str  # JSON
    error: str
    created: float
    started: float | None
    finished: float | None
    name: str = ""  # set by the owner later

    def as_state(self) -> JobState:
        """Return the state for a page, with event and rows read from JSON."""
        same = ("id", "state", "title", "error", "created", "started", "finished")
        event = Event(**json.loads(self.event)) if self.event else None
        rows = tuple(json.loads(self.rows))
        return JobState(event=event, rows=rows, **{name: getattr(self, name) for name in same})
