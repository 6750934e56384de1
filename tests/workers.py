"""Clients of workers for tests: threads without Dask, and small Dask clusters."""

import pickle
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

from distributed import Client, LocalCluster


def sent(what):
    """Return a copy as another process gets it: arrays have no views and no neighbours there."""
    return pickle.loads(pickle.dumps(what))


class Workers:
    """A client of several workers, which are threads that get and give copies as processes do."""

    def __init__(self, count):
        self.pool, self.given = ThreadPoolExecutor(count), 0

    def nthreads(self):
        return {"one": 1}

    def submit(self, function, *arguments, pure):
        self.given += 1
        given = [sent(one.result() if isinstance(one, Future) else one) for one in arguments]
        future = self.pool.submit(lambda: sent(function(*given)))
        future.release = lambda: None
        return future


@contextmanager
def started(processes):
    """Return a client of a cluster of two workers."""
    quiet = {"dashboard_address": "127.0.0.1:0", "dashboard": False}
    how = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "scheduler_kwargs": quiet}
    with (
        LocalCluster(processes=processes, host="127.0.0.1" if processes else None, **how) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        assert len(client.nthreads()) == 2
        yield client
