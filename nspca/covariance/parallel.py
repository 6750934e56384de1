"""Work on tasks in this process or on the workers of a Dask cluster, with the same bits in the same order.

A *wave* is a fixed number of tasks that do not depend on each other. What each begins with is known before
the wave, so the outcome does not depend on the number of workers. `bounds.fixing.tree` settles the nodes of
its trees in waves.

A pass over blocks of rows is a wave too. Results are joined in a tree of fixed shape: eight neighbours in
order, then eight of these results, and so on. A floating-point sum depends on its order, and this order
depends only on the blocks. A sum of 8, 64, ... blocks that starts at a multiple of that number is a branch of
the tree, and a task computes one branch.

The client is the caller's, and recognised by its methods: Dask is not imported here. Dask computes the tasks
of a lost worker again, as often as its setting ``allowed-failures`` says.
"""

import queue
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import count, islice
from typing import Any, TypeVar

from nspca.covariance.linalg import one_thread
from nspca.errors import InvalidOption, NSPCAError, WorkersLost, shown
from nspca.progress import Event, Report, silent

T = TypeVar("T")
FAN = 8
"""Number of neighbours joined together: fewer means more sums in memory, more means larger branches."""
EACH = 4
"""Least number of tasks per worker in a pass, if there are enough blocks, so that all workers stay busy."""
AHEAD = 2
"""Tasks of a pass that a worker may have at a time. More would fill its memory with results that wait."""
PATIENCE = 60.0
"""Seconds that the work waits for a first worker, and for another one when none is left."""
TICK = 0.2
"""Seconds between two reports while no task ends."""
CHECKED = 5.0
"""Seconds between two questions to the scheduler whether it has workers, while no task ends."""

Part = tuple[Any, ...]
"""Result of a pass over some of the blocks: arrays."""
Join = Callable[[Any, Any], Any]
"""Function that joins two neighbours: a part that may be changed, and an iterable of arrays."""
Wave = Callable[[Callable[..., Any], Any, Iterable[Any]], Iterator[Any]]
"""Function that yields ``function(common, task, report)`` for all tasks, in their order."""


# --- the tree of sums ---------------------------------------------------------------------------------------


def folded(parts: Iterable[Any], join: Join) -> Any:
    """Join all parts in the order of the tree, with one partial sum in memory per level."""
    sums: list[Any] = []
    counts: list[int] = []
    for part in parts:
        for level in count():
            if level == len(sums):
                sums.append(None)
                counts.append(0)
            if counts[level]:
                sums[level] = join(sums[level], part)
            else:
                sums[level] = part if level else tuple(part)
            counts[level] += 1
            if counts[level] < FAN:
                break
            part, sums[level], counts[level] = sums[level], None, 0
    total, *above = [found for found, held in zip(sums, counts, strict=True) if held]
    for found in above:
        total = join(found, total)
    return total


def added(one: Part, other: Iterable[Any]) -> Part:
    """Add the arrays of `other` to the arrays of `one`, in place."""
    for total, part in zip(one, other, strict=True):
        total += part
    return one


def gathered(one: Part, other: Iterable[Any]) -> Part:
    """Return the tuple of the arrays of both parts, in order."""
    return *one, *other


def folded_on_workers(client: Any, table: Any, function: Any, join: Join, report: Report) -> Part:
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
    work, done = "read the shards to the end", 0
    with clear_errors(work):
        if not client.nthreads():  # lost workers may be restarting
            client.wait_for_workers(1, timeout=PATIENCE)
        workers = len(client.nthreads())
    size = branch(len(table), workers)
    branches = [range(start, min(start + size, len(table))) for start in range(0, len(table), size)]
    wave = ClusterWaves(client, lambda: report(Event("reading", done, len(branches))), work, AHEAD * workers)

    def parts() -> Iterator[Part]:
        """Yield copies of the results of the branches: Dask may hold the arrays."""
        nonlocal done
        for part in wave(_branch, (table, function, join), branches):
            done += 1
            wave.tell()
            yield tuple(one.copy() if hasattr(one, "copy") else one for one in part)

    return folded(parts(), join)


def branch(blocks: int, workers: int) -> int:
    """Return the number of blocks of a task: the largest branch that leaves every worker `EACH` tasks."""
    size = 1
    while blocks >= EACH * workers * size * FAN:
        size *= FAN
    return size


def _branch(common: tuple[Any, Any, Join], numbers: range, report: Report) -> Part:
    """Return the joined result of the branch of the tree over some neighbouring blocks."""
    table, function, join = common
    return folded((function(table.block(number)) for number in numbers), join)


# --- waves of tasks -----------------------------------------------------------------------------------------


def waves(client: Any, report: Report, tell: Callable[[], None]) -> Wave:
    """Return the way to work on waves: on the workers of a Dask client, or in this process without a client.

    In this process `report` gets the events of the function. With a client, `tell` is called every `TICK`
    seconds while workers are busy. Both may raise `Cancelled`.
    """
    if client is not None:
        return ClusterWaves(client, tell)
    return lambda function, common, tasks: (function(common, task, report) for task in tasks)


class ClusterWaves:
    """Work on tasks on the workers of a Dask cluster.

    Parameters
    ----------
    client : distributed.Client
    tell : callable
        Called every `TICK` seconds while workers are busy; may raise `Cancelled`.
    work : str
        The task of the workers, for errors.
    ahead : int, optional
        Maximum number of tasks that are submitted at a time; all of a wave by default.
    """

    def __init__(
        self, client: Any, tell: Callable[[], None], work: str = "work to the end", ahead: int | None = None
    ) -> None:
        self.client, self.tell, self.work, self.ahead = client, tell, work, ahead
        self._common: Any = None
        self._sent: Any = None  # future of the common object on the cluster
        self._done: queue.SimpleQueue[bool] = queue.SimpleQueue()

    def __call__(self, function: Callable[..., Any], common: Any, tasks: Iterable[Any]) -> Iterator[Any]:
        """Yield the results in the order of the tasks.

        Raises
        ------
        WorkersLost
            When there are no workers any more, or the scheduler blames a task for their loss.
        """
        if self._sent is None or common is not self._common:
            # A task of the cluster returns the common object, so a worker that is lost with it is no loss.
            with clear_errors(self.work):
                self._common, self._sent = common, self._submit(_itself, common)
        rest = iter(tasks)
        left = deque(self._begin(function, task) for task in islice(rest, self.ahead))
        try:
            while left:
                self._wait(left[0])
                with clear_errors(self.work):
                    result = left[0].result()
                yield result
                left.popleft().release()
                left.extend(self._begin(function, task) for task in islice(rest, 1))
        finally:
            for future in left:
                future.release()

    def _begin(self, function: Callable[..., Any], task: Any) -> Any:
        with clear_errors(self.work):
            future = self._submit(_apply, function, self._sent, task)
        future.add_done_callback(lambda _: self._done.put(True))
        return future

    def _submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return the future of a function call on the cluster, without the warning about large arguments."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")
            # Not pure: unlike names that Dask makes of the arguments, its own numbers cost nothing.
            return self.client.submit(function, *arguments, pure=False)

    def _wait(self, future: Any) -> None:
        """Wait until a future is done; `WorkersLost` when there has been no worker for too long."""
        asked = seen = time.monotonic()
        while not future.done():
            self.tell()
            with suppress(queue.Empty):
                self._done.get(timeout=TICK)
                continue
            now = time.monotonic()
            if now - asked >= CHECKED:
                asked = now
                with clear_errors("answer"):
                    seen = now if self.client.nthreads() else seen
                if now - seen > PATIENCE:
                    raise WorkersLost(
                        f"Workers are required, and there has been none for {PATIENCE:.0f} s: start one, or "
                        "leave the client out."
                    )


def check_client(client: Any) -> None:
    """Refuse a client without the methods `submit` and `nthreads` of a `distributed.Client`."""
    if client is not None and not all(hasattr(client, name) for name in ("submit", "nthreads")):
        raise InvalidOption(f"client must be a distributed.Client or None, got {shown(client)}")


@contextmanager
def clear_errors(work: str) -> Iterator[None]:
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


def _itself(common: T) -> T:
    """Return the argument: a task that puts an object on the cluster."""
    return common


def _apply(function: Callable[..., Any], common: Any, task: Any) -> Any:
    """Work on a task on a worker with one BLAS thread, since the cluster runs tasks in parallel."""
    with one_thread():
        return function(common, task, silent)
