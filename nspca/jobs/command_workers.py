"""Workers for one command, which read shards or help with an exhaustive search.

They are processes of this machine, or workers of a running scheduler. The command line opens them for the
options --workers and --scheduler.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from distributed import Client

from nspca.errors import InvalidOption, JobError
from nspca.jobs import worker
from nspca.jobs.pool import START_SECONDS, local_cluster


def dask_setup(process: Any) -> None:
    """Prepare a worker process of this machine; called by Dask in each of them."""
    worker.quiet(process)


@contextmanager
def open_client(
    workers: int | None = None,
    scheduler: str | None = None,
    tell: Callable[[str], object] = lambda sentence: None,
) -> Iterator[Any]:
    """Open a Dask client of so many local `workers` or of a running `scheduler`; close it at the end.

    Local processes listen on loopback only, with new certificates. `tell` gets one message before the wait
    for a scheduler and its first worker. `JobError` says that there is none.
    """
    if scheduler is not None and not scheduler.startswith(("tls://", "tcp://")):
        raise InvalidOption(f"a scheduler has an address like tls://host:8786, got {scheduler!r}: correct it")
    cluster: Any = None
    client = None
    try:
        try:
            if scheduler is None:
                cluster = local_cluster(workers, None, (__name__, "nspca.covariance.data"))
                cluster.scheduler.allowed_failures = 3  # such a task begins again, unlike a run
            else:
                tell(
                    f"waiting for the scheduler at {scheduler} and then for a worker of it, at most "
                    f"{START_SECONDS:.0f} s each"
                )
            client = Client(scheduler or cluster, set_as_default=False, timeout=START_SECONDS)
            client.wait_for_workers(workers or 1, timeout=START_SECONDS)
        except Exception as error:  # network, certificates, processes: all end in the same sentence
            where = f"at {scheduler}" if scheduler else "on this machine"
            raise JobError(
                f"Workers {where} are required, none could be had ({type(error).__name__}: {error})."
            ) from error
        yield client
    finally:
        for one in (client, cluster):
            if one is not None:
                one.close()
