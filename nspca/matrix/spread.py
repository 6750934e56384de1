"""A pass over a table on the workers of a Dask cluster: the tree of `matrix.tree`, branches computed apart.

A task is a branch of the tree: some neighbouring blocks, read by a worker and joined there. What tasks give
is joined by workers too, and only the root comes back. Neighbours go to the same worker, in every pass the
same ones, so that it finds them checked and in the memory of its machine. Dask computes again what a lost
worker had; as the tree is the same, so is the result.

The client is the caller's, and known by what it can do: nothing of Dask is imported here.
"""

import queue
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from nspca.errors import InvalidOption, InvalidProblem, JobError, NSPCAError, shown
from nspca.matrix.tree import FAN, Join, Part
from nspca.matrix.tree import folded as folded_here
from nspca.progress import Event, Report

EACH = 4
"""Tasks of a worker in a pass, at least where there are blocks enough: so that all are busy to the end."""
TRIES = 3
"""Times that a pass is begun where the scheduler blames a task for the loss of its worker."""
PATIENCE = 60.0
"""Seconds that a pass waits for a first worker."""
KNOWN = 1.0
"""Seconds that a pass which nobody wants any more waits to hear that the scheduler knows all of it."""
FIRST = 1000
"""Priority of what shall not wait for blocks."""
TICK = 0.2
"""Seconds between two reports where no task ends."""


def check(client: Any, table: Any) -> None:
    """Refuse a client that is none, and a table that workers cannot open for themselves."""
    if not all(hasattr(client, what) for what in ("submit", "nthreads", "wait_for_workers")):
        raise InvalidOption(f"client must be a distributed.Client or None, got {shown(client)}")
    if not (hasattr(table, "block") and hasattr(table, "__len__")):
        raise InvalidProblem(
            f"workers read a folder of shards, got {type(table).__name__}, whose blocks have no numbers; "
            "leave the client out"
        )


def folded(client: Any, table: Any, question: Any, join: Join, report: Report) -> Part:
    """What `question` gives for the blocks of `table`, joined in the order of the tree.

    Parameters
    ----------
    client : distributed.Client
    table
        With ``block(number)`` and a length; it must survive the way to a worker.
    question : callable
        Of a block; likewise.
    join : callable
    report : callable
        Told of every branch that is done, and between that now and then; may raise `Cancelled`.

    Raises
    ------
    JobError
        When the workers are lost, or end again and again.
    """
    for tries in range(TRIES):
        with said():
            begun = Pass(client, table, question, join)
        try:
            begun.wait(report)
            with said():
                return begun.total.result()
        except JobError as error:
            if type(error.__cause__).__name__ != "KilledWorker" or tries + 1 == TRIES:
                raise
        finally:
            begun.let_go()
    raise AssertionError("the last try returns or raises")


@contextmanager
def said() -> Iterator[None]:
    """What can go wrong with connections, processes and versions ends in one sentence."""
    try:
        yield
    except (NSPCAError, MemoryError):
        raise
    except Exception as error:  # Dask's own are not known here, and a worker may raise any
        raise JobError(
            f"Workers that read the shards to the end are required, got {type(error).__name__} "
            f"({shown(str(error))}): see their logs, or leave the client out."
        ) from error


class Pass:
    """The tasks of one pass, begun.

    Attributes
    ----------
    total : future
        Of the root of the tree.
    waiting : set of numbers
        Of the branches that are not done.
    held : dict of futures
        All that are not done, by key. The others are not held, so that workers let go of what has been
        joined; but a scheduler may hear that a future is let go before it has made the task of it, and would
        then keep that for ever.
    """

    def __init__(self, client, table, question, join):
        self.client = client
        self.waiting: set[int] = set()
        self.held: dict[Any, Any] = {}
        self._done: queue.SimpleQueue[bool] = queue.SimpleQueue()
        workers = sorted(client.nthreads())
        if not workers:  # those that were lost may be on their way back
            client.wait_for_workers(1, timeout=PATIENCE)
            workers = sorted(client.nthreads())
        blocks, size = len(table), branch(len(table), len(workers))
        starts = range(0, blocks, size)
        self.branches = len(starts)
        # A task that holds them, not data that are scattered: those would be lost with their worker.
        question = self._submit(_itself, question)

        def parts():
            for name, start in enumerate(starts):
                numbers = range(start, min(start + size, blocks))
                near = workers[start * len(workers) // blocks]
                self.waiting.add(name)
                one = self._submit(_branch, table, numbers, question, join, near=near)
                one.add_done_callback(lambda _, name=name: self._ended(name))
                yield one

        joined = lambda one, other: self._submit(_joined, join, one, other)  # noqa: E731
        self.total = folded_here(parts(), joined, first=_itself)
        self.total.add_done_callback(lambda _: self._done.put(True))
        # The last task, and the next one that a worker takes: when it is done, the scheduler has made all.
        self._made = self._submit(_itself, None, priority=FIRST)

    def wait(self, report: Report) -> None:
        """Until the root is there, or known never to be; `report` is told meanwhile."""
        over = False
        while not over:
            report(Event("reading", self.branches - len(self.waiting), self.branches))
            try:
                over = self._done.get(timeout=TICK)
            except queue.Empty:
                continue

    def let_go(self) -> None:
        """Begin no more of it and keep nothing of it, as nobody wants it; `Client.cancel` fails where other
        tasks wait for these.
        """
        give_up = time.monotonic() + KNOWN
        while self.held and not self._made.done() and time.monotonic() < give_up:
            time.sleep(0.01)
        for future in [*self.held.values(), self.total, self._made]:
            future.release()

    def _ended(self, name):
        self.waiting.discard(name)
        self._done.put(False)

    def _submit(self, function, *arguments, near=None, priority=0):
        # Unlike names that Dask makes of the arguments, its own numbers cost nothing.
        where = {} if near is None else {"workers": [near], "allow_other_workers": True}
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")
            future = self.client.submit(function, *arguments, pure=False, priority=priority, **where)
        self.held[future.key] = future
        future.add_done_callback(lambda done: self.held.pop(done.key, None))
        return future


def branch(blocks: int, workers: int) -> int:
    """Blocks of a task: those of the largest branches of which every worker has `EACH`."""
    size = 1
    while blocks >= EACH * workers * size * FAN:
        size *= FAN
    return size


def _itself(what):
    return what


def _branch(table, numbers, question, join):
    """The branch of the tree over some neighbouring blocks."""
    return folded_here((question(table.block(number)) for number in numbers), join)


def _joined(join, one, other):
    """Two neighbours; what Dask holds is not changed."""
    return join(tuple(part.copy() if hasattr(part, "copy") else part for part in one), other)
