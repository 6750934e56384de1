"""Settle a wave of nodes: one at a time in this process, or in parallel on the workers of a Dask cluster.

To *settle* a node is to fix features in and out there, and to bound the remaining supports (`settle`). A wave
is settled with the best value known at its beginning, so the outcome does not depend on the number of
workers. The caller brings the Dask client, and this module imports nothing of Dask. A `FixingTree` settles
its waves by `Here` or `There`.
"""

import queue
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from threadpoolctl import threadpool_limits

from nspca.bounds.fixing.ground import Ground
from nspca.bounds.fixing.settle import settle
from nspca.bounds.fixing.tasks import Narrowed, Settled, Task
from nspca.covariance.distributed import clear_errors
from nspca.errors import InvalidOption, shown
from nspca.progress import Report, silent

TICK = 0.2
"""Seconds between two calls of `tell` while workers are busy."""


def check_client(client: Any) -> None:
    """Refuse a client without the methods `submit` and `nthreads` of a `distributed.Client`."""
    if client is not None and not all(hasattr(client, name) for name in ("submit", "nthreads")):
        raise InvalidOption(f"client must be a distributed.Client or None, got {shown(client)}")


class Here:
    """Settle nodes in this process, one at a time.

    Parameters
    ----------
    ground : Ground
    report : callable
    narrowed : callable, optional
        Called whenever features of a node have been fixed.
    """

    def __init__(self, ground: Ground, report: Report, narrowed: Narrowed | None = None):
        self.ground, self.report, self.narrowed = ground, report, narrowed

    def __call__(self, tasks: list[Task]) -> Iterator[Settled]:
        """Yield the settled nodes in the order of the tasks."""
        for task in tasks:
            yield settle(self.ground, task, self.report, self.narrowed)


class There:
    """Settle nodes on the workers of a Dask cluster.

    Parameters
    ----------
    client : distributed.Client
    ground : Ground
        Sent to the cluster once.
    tell : callable
        Called every `TICK` seconds while workers are busy; may raise `Cancelled`.
    """

    def __init__(self, client: Any, ground: Ground, tell: Callable[[], None]):
        self.client, self.tell = client, tell
        self.ground = self._submit(_identity, ground)

    def __call__(self, tasks: list[Task]) -> Iterator[Settled]:
        """Yield the settled nodes in the order of the tasks."""
        done: queue.SimpleQueue[bool] = queue.SimpleQueue()
        futures = [self._submit(_settle, self.ground, task) for task in tasks]
        for future in futures:
            future.add_done_callback(lambda _: done.put(True))
        try:
            for future in futures:
                while not future.done():
                    self.tell()
                    try:
                        done.get(timeout=TICK)
                    except queue.Empty:
                        continue
                yield self._result(future)
        finally:
            for future in futures:
                future.release()

    def _submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return the future of a function call on the cluster, without the warning about large arguments."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")
            return self.client.submit(function, *arguments, pure=False)

    def _result(self, future: Any) -> Settled:
        """Return the result of a future; errors that are not of nspca become a `JobError`."""
        with clear_errors("settle nodes"):
            return future.result()


def _identity(what: Ground) -> Ground:
    """Return the argument: a task that puts an object on the cluster."""
    return what


def _settle(ground: Ground, task: Task) -> Settled:
    """Settle a node on a worker with one BLAS thread, since the cluster runs tasks in parallel."""
    with threadpool_limits(1):
        return settle(ground, task, silent)
