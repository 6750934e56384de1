"""Compute a pass over a table on the workers of a Dask cluster, one branch of the tree per task.

A task is a branch of the tree: some neighbouring blocks, read by a worker and joined there. Workers also join
the results of tasks, and only the root comes back. In every pass, neighbouring blocks go to the worker that
had them before, so that it finds them checked and in memory. Dask recomputes the tasks of a lost worker; the
tree is fixed, so the result does not change.

The client is the caller's, and recognised by its methods: Dask is not imported here. `passes.Rows` calls
`folded` where a `Problem` on shards was given a client.
"""

import queue
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from nspca.covariance.tree import FAN, Join, Part
from nspca.covariance.tree import folded as folded_here
from nspca.errors import InvalidOption, NSPCAError, WorkersLost, shown
from nspca.progress import Event, Report

T = TypeVar("T")
EACH = 4
"""Least number of tasks per worker in a pass, if there are enough blocks, so that all workers stay busy."""
TRIES = 3
"""Maximum starts of a pass when the scheduler blames a task for the loss of its worker."""
PATIENCE = 60.0
"""Seconds that the work waits for a first worker, and for another one when none is left."""
KNOWN = 1.0
"""Seconds that an abandoned pass waits for the scheduler to know all of its tasks."""
FIRST = 1000
"""Priority of the task that shows that the scheduler has made all tasks: it does not wait for blocks."""
TICK = 0.2
"""Seconds between two reports while no task ends."""
CHECKED = 5.0
"""Seconds between two questions to the scheduler whether it has workers, while no task ends."""


def check_client(client: Any) -> None:
    """Refuse a client without the methods `submit` and `nthreads` of a `distributed.Client`."""
    if client is not None and not all(hasattr(client, name) for name in ("submit", "nthreads")):
        raise InvalidOption(f"client must be a distributed.Client or None, got {shown(client)}")


def folded(client: Any, table: Any, function: Any, join: Join, report: Report) -> Part:
    """Return the results of `function` for the blocks of `table`, joined in the order of the tree.

    Parameters
    ----------
    client : distributed.Client
    table
        Has ``block(number)`` and a length, and can be pickled.
    function : callable
        Takes a block, and can be pickled.
    join : callable
    report : callable
        Called for every finished branch, and in between every `TICK` seconds; may raise `Cancelled`.

    Raises
    ------
    WorkersLost
        When the workers are lost, or end again and again.
    """
    for tries in range(TRIES):
        with clear_errors():
            begun = Pass(client, table, function, join)
        try:
            begun.wait(report)
            with clear_errors():
                return begun.total.result()
        except WorkersLost as lost:
            if not is_blamed(lost) or tries + 1 == TRIES:
                raise
        finally:
            begun.let_go()
    raise AssertionError("the last try returns or raises")


@contextmanager
def clear_errors(work: str = "read the shards to the end") -> Iterator[None]:
    """Turn errors of connections, processes and versions into `WorkersLost`; `work` names the task."""
    try:
        yield
    except (NSPCAError, MemoryError):
        raise
    except Exception as error:  # Dask is not imported, so its errors have no names here
        raise WorkersLost(
            f"Workers that {work} are required, got {type(error).__name__} ({shown(str(error))}): see their "
            "logs, or leave the client out."
        ) from error


def is_blamed(lost: WorkersLost) -> bool:
    """Tell whether the scheduler blames a task for the loss of its worker; the task may be innocent."""
    return type(lost.__cause__).__name__ == "KilledWorker"


def submit(client: Any, function: Callable[..., Any], *arguments: Any, **how: Any) -> Any:
    """Return the future of a function call on the cluster, without the warning about large arguments."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph")
        # Not pure: unlike names that Dask makes of the arguments, its own numbers cost nothing.
        return client.submit(function, *arguments, pure=False, **how)


class Attendance:
    """Record of when a cluster was last known to have workers, while its client waits for a task."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.asked = self.seen = time.monotonic()

    def wait(self, done: queue.SimpleQueue[bool]) -> bool:
        """Wait `TICK` seconds for an entry of a queue, and return it; False without one.

        The scheduler is asked now and then; `WorkersLost` when it has had no worker for too long.
        """
        with suppress(queue.Empty):
            return done.get(timeout=TICK)
        self._check()
        return False

    def _check(self) -> None:
        """Ask the scheduler whether it has workers, unless it was asked just before."""
        now = time.monotonic()
        if now - self.asked < CHECKED:
            return
        self.asked = now
        with clear_errors("answer"):
            if self.client.nthreads():
                self.seen = now
        if now - self.seen > PATIENCE:
            raise WorkersLost(
                f"Workers are required, and there has been none for {PATIENCE:.0f} s: start one, or leave "
                "the client out."
            )


class Pass:
    """The submitted tasks of one pass.

    Attributes
    ----------
    total : future
        The result at the root of the tree.
    waiting : set of numbers
        Branches that are not done.
    held : dict of futures
        Futures that are not done, by key. Finished ones are released, so that workers free joined results.
        Futures must be held until then: a scheduler that hears of a release before it has made the task would
        keep the task for ever.
    """

    def __init__(self, client: Any, table: Any, function: Any, join: Join) -> None:
        self.client = client
        self.waiting: set[int] = set()
        self.held: dict[Any, Any] = {}
        self._done: queue.SimpleQueue[bool] = queue.SimpleQueue()
        workers = sorted(client.nthreads())
        if not workers:  # lost workers may be restarting
            client.wait_for_workers(1, timeout=PATIENCE)
            workers = sorted(client.nthreads())
        blocks, size = len(table), branch(len(table), len(workers))
        starts = range(0, blocks, size)
        self.branches = len(starts)
        # A task that holds them, not data that are scattered: those would be lost with their worker.
        function = self._submit(itself, function)

        def parts() -> Iterator[Any]:
            """Yield the futures of the branches, submitted one after the other."""
            for name, start in enumerate(starts):
                numbers = range(start, min(start + size, blocks))
                near = workers[start * len(workers) // blocks]
                self.waiting.add(name)
                one = self._submit(_branch, table, numbers, function, join, near=near)
                one.add_done_callback(lambda _, name=name: self._ended(name))
                yield one

        joined = lambda one, other: self._submit(_joined, join, one, other)  # noqa: E731
        self.total = folded_here(parts(), joined, first=itself)
        self.total.add_done_callback(lambda _: self._done.put(True))
        # The last task, and the next one that a worker takes: when it is done, the scheduler has made all.
        self._made = self._submit(itself, None, priority=FIRST)

    def wait(self, report: Report) -> None:
        """Wait until the root is computed or has failed; `report` is called meanwhile."""
        over, attendance = False, Attendance(self.client)
        while not over:
            report(Event("reading", self.branches - len(self.waiting), self.branches))
            over = attendance.wait(self._done)

    def let_go(self) -> None:
        """Abandon the pass: release all futures, once the scheduler knows them.

        `Client.cancel` is not used, because it fails where other tasks wait for these.
        """
        give_up = time.monotonic() + KNOWN
        while self.held and not self._made.done() and time.monotonic() < give_up:
            time.sleep(0.01)
        for future in [*self.held.values(), self.total, self._made]:
            future.release()

    def _ended(self, name: int) -> None:
        """Record that the branch with this number is done, and wake `wait` for a report."""
        self.waiting.discard(name)
        self._done.put(False)

    def _submit(
        self, function: Callable[..., Any], *arguments: Any, near: str | None = None, priority: int = 0
    ) -> Any:
        """Submit a task, to the worker `near` if possible, and return its future, held until it is done."""
        where = {} if near is None else {"workers": [near], "allow_other_workers": True}
        future = submit(self.client, function, *arguments, priority=priority, **where)
        self.held[future.key] = future
        future.add_done_callback(lambda done: self.held.pop(done.key, None))
        return future


def branch(blocks: int, workers: int) -> int:
    """Return the number of blocks of a task: the largest branch that leaves every worker `EACH` tasks."""
    size = 1
    while blocks >= EACH * workers * size * FAN:
        size *= FAN
    return size


def itself(what: T) -> T:
    """Return the argument: a task that puts an object on the cluster or shows that the scheduler lives."""
    return what


def _branch(table: Any, numbers: Iterable[int], function: Any, join: Join) -> Part:
    """Return the joined result of the branch of the tree over some neighbouring blocks."""
    return folded_here((function(table.block(number)) for number in numbers), join)


def _joined(join: Join, one: Part, other: Part) -> Part:
    """Join two neighbouring results without changing the arrays that Dask holds."""
    return join(tuple(part.copy() if hasattr(part, "copy") else part for part in one), other)
