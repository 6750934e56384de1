"""Parts of the engine without threads: runs and their states, executions, their queue, and the limits."""

import json
import math
import os
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from nspca.errors import JobError
from nspca.progress import Event

if TYPE_CHECKING:
    from distributed import Future

UNFINISHED = ("queued", "running")  # states of stored runs that have not ended
DAY = 86400.0  # seconds
MOST = 1e9  # maximum of a setting: a billion runs, days or gigabytes must be a typing error
LOOKED_SECONDS = 5.0  # since the last request for its state, during which a page shows a run
# Seconds after which an automatic run that no page shows is stopped, also when nobody waits. A browser asks
# once a minute for a page in the background.
STOP_SECONDS = 120.0


@dataclass(frozen=True)
class Finished:
    """Outcome of an execution, as a worker returns it to the engine."""

    state: str  # "done", "failed", "cancelled", or "killed" if the worker died
    result: bytes = b""  # returned bytes; for a cancelled execution its partial result, if any
    error: str = ""  # error message
    trace: str = ""  # traceback for the log


@dataclass(frozen=True)
class JobState:
    """State of a run at one moment, as pages get it from the engine. Times are seconds since the epoch."""

    id: str  # unguessable; it stays valid over page reloads and restarts of the server
    state: str  # "starting" (no workers), "queued", "running", "done", "failed", "cancelled", "interrupted"
    title: str = ""  # in the list of runs; empty while the run is in memory
    place: int = 0  # in the queue from 1; 0 if the run does not wait in this process
    event: Event | None = None  # the latest one
    rows: tuple[dict[str, Any], ...] = ()  # every ``payload={"row": ...}`` so far, in order
    error: str = ""  # why it failed
    created: float | None = None
    started: float | None = None
    finished: float | None = None

    @property
    def ended(self) -> bool:
        """Tell whether the run neither waits nor runs any more, with or without a result."""
        return self.state in ("done", "failed", "cancelled", "interrupted")


@dataclass(frozen=True)
class Run(JobState):
    """A run as stored: its last state, and everything to open it and to run it again."""

    workspace: str = ""
    key: str = ""  # hash of the computation
    function: str = ""  # name of the task
    parameters: str = ""  # packed arguments
    page: str = ""  # address of the page that shows the run; empty for none
    created: float = 0.0
    name: str = ""  # set by the owner later


@dataclass(frozen=True)
class Limits:
    """Limits on unfinished runs, on stored arguments and on stored results, with ages in seconds."""

    per_person: int = 4
    total: int = 100
    array_bytes: int = 4_000_000_000
    array_age: float = 30 * DAY
    result_bytes: int = 20_000_000_000
    workspace_bytes: int = 5_000_000_000
    result_age: float = 365 * DAY

    @classmethod
    def of_environment(cls) -> "Limits":
        """Return the limits set in the environment, with defaults for the others."""
        usual = cls()
        return cls(
            per_person=int(_number("NSPCA_RUNS", usual.per_person, whole=True)),
            result_bytes=int(1e9 * _number("NSPCA_KEEP_GB", usual.result_bytes / 1e9)),
            result_age=DAY * _number("NSPCA_KEEP_DAYS", usual.result_age / DAY),
        )


def _number(name: str, usual: float, whole: bool = False) -> float:
    text = os.environ.get(name, "")
    try:
        value = float(text) if text else usual
    except ValueError:
        value = math.nan
    if not 0 < value < MOST or (whole and value % 1):
        raise JobError(
            f"{name} must be a {'whole ' * whole}number above 0 and below {MOST:g}, got {text!r}: correct or "
            "unset it."
        )
    return value


@dataclass(eq=False)
class Job:
    """One execution of a task, for whose result several runs may wait.

    `created` and `started` are seconds since the epoch; `looked`, `missed` and `stop_asked` are readings of
    the monotonic clock.
    """

    key: str  # hash of the computation; its result is stored under this key
    function: str  # name of the task
    parameters: str  # packed arguments
    created: float = field(default_factory=time.time)
    people: dict[str, str] = field(default_factory=dict)  # run id -> who asked for it, by the workspace
    left: list[str] = field(default_factory=list)  # cancelled runs, which get the partial result
    event: Event | None = None  # the last one
    rows: tuple[dict[str, Any], ...] = ()
    started: float | None = None
    token: str = ""  # id of the execution, by which its worker knows it
    worker: str = ""
    pid: int | None = None  # process of its worker, known once the job has started
    future: "Future[Any] | None" = None
    missed: float | None = None  # time since which no worker has it, though it was sent to one
    attempts: int = 0
    automatic: bool = False  # no visitor asked for it
    looked: float = field(default_factory=time.monotonic)  # time of the last request for its state
    stop_asked: float | None = None  # time at which its worker was asked to stop
    noted: Event | None = None  # the last event written to the store

    @property
    def unseen(self) -> float:
        """Seconds since a page asked for the state of the job; a page that shows it asks every second."""
        return time.monotonic() - self.looked

    def gives_way(self, queue: Sequence["Job"]) -> bool:
        """Tell whether the job is to stop: nobody asked for it, no page shows it, and others wait."""
        if not self.automatic or self.unseen < LOOKED_SECONDS:
            return False
        wanted = any(not job.automatic or job.unseen < LOOKED_SECONDS for job in queue)
        return wanted or self.unseen > STOP_SECONDS

    def as_state(self, run_id: str, state: str, **more: Any) -> JobState:
        """Return the state of one of the runs for a page; `more` are further fields of it."""
        own = {name: getattr(self, name) for name in ("event", "rows", "created", "started")}
        return JobState(run_id, state, **own, **more)

    def progress(self) -> dict[str, Any]:
        """Return start, last event and rows as arguments for `Store.note_progress` and `finish_runs`."""
        event = json.dumps(asdict(self.event)) if self.event else ""
        return {"started": self.started, "event": event, "rows": json.dumps(self.rows)}


def in_turn(queue: Sequence[Job], at_work: Sequence[Job]) -> tuple[Job, ...]:
    """Return the queue in a fair order between people.

    The first job of each person comes before the second job of anybody. A running job counts as the first of
    its people. Automatic jobs come last.
    """
    turns = Counter(one for job in at_work for one in job.people.values())
    order = []
    for place, job in enumerate(queue):
        people = set(job.people.values())
        order.append((job.automatic, min((turns[one] for one in people), default=0), place))
        turns.update(people)
    return tuple(queue[place] for _, _, place in sorted(order))


def next_job(queue: Sequence[Job], at_work: Sequence[Job], workers: int) -> Job | None:
    """Return the job of the queue that a free worker gets, or None if there is none.

    Automatic jobs leave one of several workers to others. Those that a page shows come before other ones.
    """
    first = next((job for job in queue if not job.automatic), None)
    if first is not None or sum(job.automatic for job in at_work) >= max(1, workers - 1):
        return first
    return min(queue, key=lambda job: job.unseen >= LOOKED_SECONDS, default=None)
