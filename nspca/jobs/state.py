"""What can be known about a run: the live view of it and the kept one."""

import json
from dataclasses import dataclass
from typing import Any

from nspca.progress import Event

UNFINISHED = ("queued", "running")


@dataclass(frozen=True)
class Finished:
    """How an execution ended.

    Parameters
    ----------
    state : "done", "failed", "cancelled", or "killed" when its worker died
    result : what it returned; of a cancelled one what was ready, if it hands that in
    error, trace : the sentence of a failure, and its traceback for the log
    """

    state: str
    result: bytes = b""
    error: str = ""
    trace: str = ""


@dataclass(frozen=True)
class JobState:
    """A run at one moment.

    Parameters
    ----------
    id : str
        Unguessable; it stays valid over page reloads and restarts of the server.
    state : str
        "starting" (no workers yet), "queued", "running", "done", "failed", "cancelled" or "interrupted".
    place : int
        1 = next to run; 0 when the run does not wait in this process.
    event : Event or None
        The last thing the run said; its payload is what JSON makes of it.
    rows : tuple of dict
        Every ``payload={"row": ...}`` so far, in order.
    error : str
        The sentence for the user when the run failed.
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
        return self.state in ("done", "failed", "cancelled", "interrupted")


@dataclass(frozen=True)
class Run:
    """A run as the store keeps it: enough to show it, open it, and run it again.

    `title` is what it was started under, `name` what its owner calls it, empty until then.
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
        return JobState(
            self.id,
            self.state,
            self.title,
            event=Event(**json.loads(self.event)) if self.event else None,
            rows=tuple(json.loads(self.rows)),
            error=self.error,
            created=self.created,
            started=self.started,
            finished=self.finished,
        )
