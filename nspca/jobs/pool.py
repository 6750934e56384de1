"""Worker processes: a local Dask cluster on loopback, or the cluster named by NSPCA_SCHEDULER.

The engine owns a `Pool`, and decides which run goes to which worker and when. `jobs.command_workers` starts a
cluster without an engine.
"""

import json
import logging
import os
import secrets
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import dask
import psutil
from dask.system import CPU_COUNT
from distributed import Client, Future, KilledWorker, LocalCluster
from distributed.system import MEMORY_LIMIT

from nspca.errors import JobError
from nspca.jobs import packing, worker
from nspca.jobs.job import Finished
from nspca.jobs.worker import Task

START_SECONDS = 120.0  # maximum wait for a scheduler, and for a first worker
CLOSE_SECONDS = 5.0  # maximum wait for Dask's own closing
LOAD_SECONDS = 30.0  # maximum wait for the scheduler to say what the workers do
RESULT_SECONDS = 60.0  # wait for a result, which never comes if its worker dies before it is fetched
SHARE_OF_MEMORY = 0.8  # share of memory for workers; the rest is for the server itself
LEAST_MEMORY = 2**30  # least bytes per worker; with less memory there are fewer workers
RUN = "nspca-run-"  # begin of the keys of runs in the scheduler, before their tokens

SETTINGS: dict[str, Any] = {
    "distributed.scheduler.allowed-failures": 0,  # a run that kills its worker must not kill three more
    "distributed.scheduler.work-stealing": False,
    "distributed.scheduler.worker-ttl": None,  # a long computation may hold the interpreter lock
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    # The scheduler would remember the last 1000 progress messages, and hours of measurements.
    "distributed.admin.low-level-log-length": 20,
    "distributed.admin.system-monitor.log-length": 20,
    "distributed.diagnostics.computations.max-history": 1,
    "distributed.diagnostics.erred-tasks.max-history": 1,
    # Reduce the work of idle processes: profiles, ticks and measurements. The memory monitor stays frequent,
    # since it ends a worker before the system ends the server.
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.tick.cycle": "10s",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.scheduler.active-memory-manager.start": False,
    "distributed.client.scheduler-info-interval": "10s",
    "distributed.worker.memory.monitor-interval": "250ms",
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,  # a paused worker would never take the next run
    "distributed.worker.memory.terminate": 0.95,
}

_log = logging.getLogger(__name__)


class Pool:
    """Connection to a pool of workers, which are started if necessary; ready when the first worker is.

    To use an existing cluster, set NSPCA_SCHEDULER to ``tls://host:port``. Dask's settings
    ``distributed.comm.tls`` (in its files or as DASK_DISTRIBUTED__COMM__TLS__CA_FILE and so on) name the
    certificates. Each worker there needs one thread and this package.

    ``heard(token, message)`` is called for each message of a run, in order, in a thread of Dask. Local
    processes are as many `workers` of so much `memory` in bytes, by default by the machine's size, and import
    the modules `warm` before their first run. The attribute `memory` is 0 for no limit. `JobError` says that
    no worker can be started or reached.
    """

    def __init__(
        self,
        heard: Callable[[str, dict[str, Any]], None],
        *,
        workers: int | None = None,
        memory: int | None = None,
        warm: tuple[str, ...] = (),
    ) -> None:
        self.topic = f"nspca-{secrets.token_hex(8)}"
        self._heard = heard
        self._cluster: LocalCluster | None = None
        self._client: Any = None  # a Client once __init__ has returned
        self._short_of_memory: set[int] = set()
        address = os.environ.get("NSPCA_SCHEDULER", "")
        if address and not address.startswith("tls://"):
            raise JobError(
                f"NSPCA_SCHEDULER must be an encrypted address like tls://host:8786, got {address!r}: "
                "correct or unset it."
            )
        try:
            if not address:
                self._cluster = local_cluster(workers, memory, (worker.__name__, *warm))
            with dask.config.set(SETTINGS):
                self._client = Client(self._cluster or address, set_as_default=False, timeout=START_SECONDS)
            self._client.subscribe_topic(self.topic, lambda event: self._receive(event[1]))
            self._client.subscribe_topic(
                "worker-restart-memory", lambda event: self._short_of_memory.add(event[1]["pid"])
            )
            self._client.wait_for_workers(1, timeout=START_SECONDS)
            known = self._client.scheduler_info(n_workers=-1)["workers"].values()
            self.memory: int = min((int(one["memory_limit"] or 0) for one in known), default=0)
        except Exception as error:  # network, certificates, processes: all end in the same sentence
            self.close()
            where = f"at {address}" if address else "on this machine"
            raise JobError(
                f"No worker could be started {where} ({type(error).__name__}: {error}): start the run again "
                "later."
            ) from error

    @property
    def address(self) -> str:
        """Address of the scheduler."""
        return self._client.scheduler.address

    def ran_out_of_memory(self, pid: int | None) -> bool:
        """Tell whether Dask ended this worker process because it used too much memory."""
        return pid in self._short_of_memory

    def load(self) -> dict[str, set[str]]:
        """Return the tokens of the runs of each connected worker, by its address.

        It raises `TimeoutError` when the scheduler does not answer.
        """
        client = self._client
        load = client.sync(client.scheduler.processing, workers=None, callback_timeout=LOAD_SECONDS)
        return {address: {str(key).removeprefix(RUN) for key in keys} for address, keys in load.items()}

    def submit(
        self,
        token: str,
        function: str,
        parameters: str,
        folder: Path,
        ended: Callable[[Finished], None],
        address: str,
    ) -> Future[Any]:
        """Run a function on the worker at `address`; `ended` is called once, "killed" if the worker died.

        `parameters` are packed arguments, whose arrays are files in `folder`. The scheduler would queue a run
        on a busy worker while a new one is registering. A run for a lost worker stays unassigned. When data
        or connection are lost, it raises `JobError`, and `ended` is not called.
        """

        def done(future: Future[Any]) -> None:
            ended(self._outcome(future))
            future.release()  # the worker need not hold the result until a garbage collection here

        blobs, task = None, Task(token, self.topic, function, parameters, str(folder))
        try:
            if not self._cluster:  # another machine does not see the folder
                blobs = {
                    digest: self._client.scatter((folder / packing.file_name(kind, digest)).read_bytes())
                    for kind, digest in packing.references(parameters)
                }
            future = self._client.submit(
                worker.run, task, blobs, key=RUN + token, workers=[address], pure=False, retries=0
            )
            future.add_done_callback(done)
            return future
        except FileNotFoundError as error:
            raise JobError(worker.NO_DATA) from error
        except Exception as error:  # Dask raises errors of many kinds for a lost connection or scheduler
            raise JobError(_describe_lost_connection(error)) from error

    def stop(self, token: str, worker_address: str) -> None:
        """Ask a run to end at its next report, without waiting for a worker that may not answer."""
        _call_in_thread(
            lambda: self._client.run(worker.stop, token, workers=[worker_address], on_error="ignore")
        )

    def kill(self, future: Future[Any], worker_address: str, pid: int) -> None:
        """End the worker of a run that does not stop; Dask starts another one."""
        if self._cluster:
            with suppress(psutil.NoSuchProcess):
                psutil.Process(pid).kill()
        else:
            future.cancel()  # an orderly restart would run it again elsewhere
            _call_in_thread(lambda: self._client.restart_workers([worker_address], raise_for_error=False))

    def close(self) -> None:
        """Close all connections, processes and threads; running work is killed."""
        if self._client:
            with suppress(Exception):  # Dask's own closing must not keep the server from ending
                self._client.close(timeout=CLOSE_SECONDS)
        if self._cluster:
            for nanny in self._cluster.workers.values():
                with suppress(psutil.Error):
                    if nanny.pid:
                        psutil.Process(nanny.pid).kill()
            with suppress(Exception):  # nor must an error of the cluster
                self._cluster.close(timeout=CLOSE_SECONDS)

    def _receive(self, message: dict[str, str]) -> None:
        try:
            self._heard(message["token"], json.loads(message["text"]))
        except Exception:  # an exception here would end Dask's connection
            _log.exception("a progress message could not be read")

    def _outcome(self, future: Future[Any]) -> Finished:
        """Return the outcome of a finished run; a dead worker or lost connection is an outcome too."""
        try:
            return future.result(timeout=RESULT_SECONDS)
        except KilledWorker:
            return Finished("killed")
        except Exception as error:  # a lost connection, a cancelled future: the run has no result either way
            return Finished("failed", error=_describe_lost_connection(error), trace=str(error))


def local_cluster(workers: int | None, memory: int | None, preload: tuple[str, ...]) -> LocalCluster:
    """Start worker processes on loopback, with new certificates, one thread each, and preloaded modules."""
    usable = int(SHARE_OF_MEMORY * MEMORY_LIMIT)
    workers = workers or max(1, min(CPU_COUNT, usable // LEAST_MEMORY))
    # Read when a worker is lost; its nanny starts another, however slowly.
    dask.config.set({"distributed.deploy.lost-worker-timeout": "365d"})
    with dask.config.set(SETTINGS):
        cluster: Any = LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            memory_limit=memory or usable // workers,
            host="127.0.0.1",
            security=True,
            dashboard_address=None,
            scheduler_kwargs={"dashboard_address": "127.0.0.1:0", "dashboard": False},
            preload=list(preload),
            silence_logs=logging.CRITICAL,
        )
    cluster.scheduler.http_server.stop()
    cluster.scheduler.extensions["spans"] = NoSpans()
    return cluster


class NoSpans:
    """False in place of Dask's record of all computations, which grows with every run and is never read."""

    def __bool__(self) -> bool:
        return False

    def heartbeat(self, worker: Any, data: Any) -> None:
        """Ignore the measurements that a worker still sends."""


def _describe_lost_connection(error: Exception) -> str:
    return f"The connection to the worker was lost ({type(error).__name__}): start the run again."


def _call_in_thread(call: Callable[[], Any]) -> None:
    """Call a function in a thread of its own, and ignore its errors: the worker may be gone by now."""

    def quietly() -> None:
        with suppress(Exception):
            call()

    threading.Thread(target=quietly, daemon=True).start()
