"""Apply a function to the tasks of a wave: one at a time in this process, or on workers of a Dask cluster.

A *wave* is a fixed number of tasks that do not depend on each other. What each begins with is known before
the wave, so the outcome does not depend on the number of workers. All tasks of a wave have an object in
common, which is sent to the cluster once.

`bounds.fixing.tree` settles the nodes of its trees in waves. The caller brings the Dask client, and this
module imports nothing of Dask.
"""

import queue
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, TypeVar

from nspca.covariance.distributed import TRIES, Attendance, clear_errors, is_blamed, itself, submit
from nspca.covariance.linalg import one_thread
from nspca.errors import WorkersLost
from nspca.progress import Report, silent

C = TypeVar("C")
R = TypeVar("R")
T = TypeVar("T")
Function = Callable[[C, T, Report], R]
"""Function of the common object, a task and a report. It can be pickled."""


class Waves(Protocol):
    """Way to apply a function to the tasks of a wave."""

    def __call__(self, function: Function[C, T, R], common: C, tasks: Iterable[T]) -> Iterator[R]:
        """Yield the results in the order of the tasks."""


def waves(client: Any, report: Report, tell: Callable[[], None]) -> Waves:
    """Return the way to work on waves: on the workers of a Dask client, or in this process without a client.

    In this process `report` gets the events of the function. With a client, `tell` is called every `TICK`
    seconds while workers are busy. Both may raise `Cancelled`.
    """
    return LocalWaves(report) if client is None else ClusterWaves(client, tell)


class LocalWaves:
    """Work on tasks in this process, one at a time, with a report that each of them gets."""

    def __init__(self, report: Report):
        self.report = report

    def __call__(self, function: Function[C, T, R], common: C, tasks: Iterable[T]) -> Iterator[R]:
        """Yield the results in the order of the tasks."""
        for task in tasks:
            yield function(common, task, self.report)


class ClusterWaves:
    """Work on tasks on the workers of a Dask cluster.

    A task whose worker is lost is computed again. Where the scheduler blames the task for the loss, it is
    submitted again, at most `TRIES` times. `tell` is called every `TICK` seconds while workers are busy, and
    may raise `Cancelled`.
    """

    def __init__(self, client: Any, tell: Callable[[], None]):
        self.client, self.tell = client, tell
        self._common: Any = None
        self._sent: Any = None  # future of the common object on the cluster
        self._done: queue.SimpleQueue[bool] = queue.SimpleQueue()

    def __call__(self, function: Function[C, T, R], common: C, tasks: Iterable[T]) -> Iterator[R]:
        """Yield the results in the order of the tasks.

        Raises
        ------
        WorkersLost
            When there are no workers any more, or the scheduler blames a task too often.
        """
        with clear_errors("work to the end"):
            self._send(common)
            left = deque((task, self._begin(function, task)) for task in tasks)
        try:
            while left:
                yield self._first_result(function, common, left)
        finally:
            for _, future in left:
                future.release()

    def _first_result(self, function: Function[C, T, R], common: C, left: deque[tuple[T, Any]]) -> R:
        """Remove the first task from those that are `left`, and return its result."""
        for tries in range(TRIES):
            task, future = left[0]
            try:
                self._wait(future)
                with clear_errors("work to the end"):
                    result: R = future.result()
            except WorkersLost as lost:
                if not is_blamed(lost) or tries + 1 == TRIES:
                    raise
                self._send(common, anew=True)
                left[0] = task, self._begin(function, task)
            else:
                left.popleft()
                future.release()
                return result
        raise AssertionError("the last try returns or raises")

    def _send(self, common: Any, anew: bool = False) -> None:
        """Put the object that tasks have in common on the cluster, unless it is there.

        A task of the cluster returns the object, so a worker that is lost with it is no loss.
        """
        if anew or self._sent is None or common is not self._common:
            self._common, self._sent = common, submit(self.client, itself, common)

    def _wait(self, future: Any) -> None:
        """Wait until a future is done, or until there has been no worker for too long."""
        attendance = Attendance(self.client)
        while not future.done():
            self.tell()
            attendance.wait(self._done)

    def _begin(self, function: Callable[..., Any], task: Any) -> Any:
        """Submit a task with the common object, and return its future."""
        future = submit(self.client, _apply, function, self._sent, task)
        future.add_done_callback(lambda _: self._done.put(True))
        return future


def _apply(function: Callable[..., Any], common: Any, task: Any) -> Any:
    """Work on a task on a worker with one BLAS thread, since the cluster runs tasks in parallel."""
    with one_thread():
        return function(common, task, silent)
