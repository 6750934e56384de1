"""Engine of background runs: it queues them, executes them in worker processes, and tells pages their state.

A job is one execution, which serves all runs with an equal key. A run belongs to a workspace. Pages get the
engine of this process from `engine`. Only one thread, the supervisor, talks to the workers, so a page never
waits for them.
"""

import atexit
import logging
import math
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from nspca.errors import JobError
from nspca.jobs import packing
from nspca.jobs.job import Finished, Job, JobState, Limits, in_turn, next_job
from nspca.jobs.runs import NO_RUN
from nspca.jobs.store import Store
from nspca.progress import Event

if TYPE_CHECKING:
    from nspca.jobs.pool import Pool

PATIENCE = 10.0  # seconds for the next report of a cancelled run
NOTE_SECONDS = 5.0  # between writes of progress to the store; an interrupted run may lose this much
ATTEMPTS = 3  # for a run whose worker died before it began
LOST_SECONDS = 30.0  # wait for news of a run that no worker has: it may just be sent, or just have ended
NO_WORKER_SECONDS = 120.0  # maximum seconds without workers; a busy machine takes half a minute to start one
CLOSE_SECONDS = 20.0  # maximum wait for the supervisor at the end; workers may be in the middle of starting
TIDY_SECONDS = 600.0  # between deletions of old results and arguments
KILLED = (
    "The run was ended from outside before it had a result, by hand or by the system, which does so when "
    "memory runs out: start it again, with fewer columns or rows or a smaller k if that does not help."
)
OUT_OF_MEMORY = (
    "The run needed more memory than one worker may use, and was ended: use fewer columns or "
    "rows, or a smaller k."
)
UNKEPT = "The end of this run could not be kept, perhaps for want of room on the disk: start it again."
SHUT = "The engine has been shut down: start the server again."

_log = logging.getLogger(__name__)


class Engine:
    """Engine that runs tasks given by name in worker processes. It is the only one on its store.

    `tasks` maps names to ``module:function``; an unknown name is the function itself. `workers` and `memory`
    are as for `Pool`.
    """

    def __init__(
        self,
        store: Store | None = None,
        limits: Limits | None = None,
        *,
        tasks: Mapping[str, str] | None = None,
        workers: int | None = None,
        memory: int | None = None,
    ) -> None:
        self.limits = limits or Limits.of_environment()
        self.store = store or Store()
        try:
            self.store.claim()
        except JobError:
            self.store.close()
            raise
        self.tasks = dict(tasks or {})
        self._options = {"workers": workers, "memory": memory}
        self._arrays = packing.ArrayFolder(self.store.home / "arrays")
        self._lock = threading.RLock()  # writers only; readers see whole values
        self._wake = threading.Event()
        self._ready = threading.Event()
        self._closing = False
        self._thread: threading.Thread | None = None
        self._pool: Pool | None = None
        self._queue: tuple[Job, ...] = ()
        self._live: dict[str, Job] = {}  # by key of the result: jobs that other runs can join
        self._runs: dict[str, Job] = {}  # by run id: jobs whose state here is newer than in the store
        self._tokens: dict[str, Job] = {}  # by token: jobs on a worker, even if no run waits
        self._full = ""  # why the store could not take the last end
        self._missed_at = math.inf  # monotonic time since which there are no workers
        self._noted_at = self._tidied_at = -math.inf

    # ---- requests of pages

    def start(self, warm: tuple[str, ...] = ()) -> None:
        """Start the workers in the background, once; `warm` names modules that they import in advance."""
        with self._lock:
            if self._closing:
                raise JobError(SHUT)
            if self._thread is None:
                atexit.register(self.shutdown)
                self._thread = threading.Thread(
                    target=self._supervise, args=(warm,), name="nspca-engine", daemon=True
                )
                self._thread.start()

    def wait_ready(self, timeout: float) -> bool:
        """Wait at most `timeout` seconds for workers, after `start`; return whether they are available."""
        return self._ready.wait(timeout)

    @property
    def trouble(self) -> str:
        """Message for all visitors about results that cannot be stored; empty for none."""
        return self.store.missing() or self._full

    @property
    def address(self) -> str:
        """Address of Dask's scheduler; empty until the workers are started."""
        return self._pool.address if self._pool else ""

    @property
    def memory(self) -> int:
        """Maximum bytes of memory of one run; 0 if unknown or unlimited."""
        return self._pool.memory if self._pool and self._ready.is_set() else 0

    def submit(
        self,
        task: str,
        arguments: dict[str, Any],
        *,
        workspace: str,
        person: str = "",
        title: str = "",
        page: str = "",
        automatic: bool = False,
    ) -> str:
        """Submit a task, and return the id of its run; raise `JobError` when there are too many.

        The function of the task is called as ``function(**arguments, report=...)`` and returns bytes. A
        request with the key of a running computation joins that computation. A finished one is answered from
        the store. Arguments are arrays, sparse matrices, bytes, and JSON values (tuples arrive as lists).

        The run counts for the turn and the limit of the `person`, by default the workspace. The list of runs
        has its `title` and the address of its `page`. No visitor asked for an `automatic` run, until another
        request joins. It waits for all others, and is cancelled when no page asks for its state any more.
        """
        parameters = packing.pack(arguments, self._arrays.keep)
        key = packing.packed_key(task, parameters, self._function(task))
        job = Job(key, task, parameters, automatic=automatic)
        return self._enter(job, parameters, workspace, title, page, person or workspace)

    def again(self, job_id: str, *, goes_on: bool = False) -> str:
        """Start a failed, cancelled or interrupted run again, and return its unchanged id.

        Called when a visitor presses "Run again" or "Go on". With `goes_on` the function gets what the
        cancelled run had ready, if anything, as its argument `begun`.
        """
        run = self.store.find_run(job_id)
        if run is None:
            raise JobError(NO_RUN)
        part = self.store.result(job_id) if goes_on else None
        begun = {} if part is None else {"begun": part}
        job = Job(run.key, run.function, packing.add(run.parameters, begun, self._arrays.keep))
        return self._enter(job, run.parameters, run.workspace, run.title, run.page, run.workspace)

    def status(self, job_id: str) -> JobState:
        """Return the state of a run; raise `JobError` when there is no such run."""
        job = self._runs.get(job_id)
        if job is None:
            run = self.store.find_run(job_id)
            if run is None:
                raise JobError(NO_RUN)
            if run.ended:
                return run
            with self._lock:  # it may just have been entered
                job = self._runs.get(job_id)
            if job is None:
                return replace(run, state="failed", error=self._full or UNKEPT)
        job.looked = time.monotonic()
        if job.started:
            return job.as_state(job_id, "running")
        queue = self._queue
        place = queue.index(job) + 1 if job in queue else 0
        return job.as_state(job_id, "queued" if self._ready.is_set() else "starting", place=place)

    def result(self, job_id: str) -> bytes:
        """Return the bytes that the function of a run returned; raise `JobError` when it is not done."""
        state = self.status(job_id)
        run = self.store.find_run(job_id) if state.state == "done" else None
        body = self.store.result(run.key) if run else None
        if body is None:
            raise JobError(
                f"This run has no result, it is {state.state}{': ' + state.error if state.error else ''}."
            )
        return body

    def cancel(self, job_id: str) -> None:
        """Cancel a run. A computation that no other run waits for stops."""
        with self._lock:
            job = self._runs.pop(job_id, None)
            if job is None:
                return
            del job.people[job_id]
            job.left.append(job_id)
            if not job.people:
                self._forget(job)
            self._store_end(job, [job_id], "cancelled")
        self._wake.set()

    def hands_in(self, job_id: str) -> bool:
        """Tell whether the partial result of a cancelled run may still arrive from its worker."""
        return not self._closing and any(
            job_id in job.left and job.started and not job.people for job in self._at_work()
        )

    def shutdown(self) -> None:
        """End every worker and interrupt unfinished runs. Called automatically at exit."""
        with self._lock:
            if self._closing:
                return
            self._closing = True
        self._wake.set()
        if self._thread:
            self._thread.join(CLOSE_SECONDS)
        try:
            self._note_progress()
            self.store.interrupt_runs()
        except JobError:
            _log.exception("the state of unfinished runs could not be kept")
        self.store.close()
        atexit.unregister(self.shutdown)

    # ---- the queue, under the lock

    def _enter(self, job: Job, parameters: str, workspace: str, title: str, page: str, person: str) -> str:
        """Add a run with the `parameters` of its question to the store, and to a live or a new job."""
        with self._lock:
            if self._closing:
                raise JobError(SHUT)
            live = self._live.get(job.key)
            if not self.store.has_result(job.key) and not (live and person in live.people.values()):
                self._check_limits(person, joins=live is not None)
            run_id, done = self.store.add_run(workspace, job.key, title, job.function, parameters, page)
            if done:
                self._runs.pop(run_id, None)
                return run_id
            if live is None:
                self._live[job.key] = live = job
                self._queue += (job,)
            live.automatic = live.automatic and job.automatic
            live.people[run_id] = person
            live.looked = time.monotonic()
            self._queue = in_turn(self._queue, [*self._tokens.values()])
            self._runs[run_id] = live
        self.start()
        self._wake.set()
        return run_id

    def _check_limits(self, person: str, joins: bool) -> None:
        mine = sum(person in job.people.values() for job in self._live.values())
        if mine >= self.limits.per_person:
            raise JobError(
                f"At most {self.limits.per_person} runs of one person may wait or run at once, you have "
                f"{mine}: wait for one or cancel one."
            )
        if not joins and len(self._live) >= self.limits.total:
            raise JobError(
                f"At most {self.limits.total} runs may wait or run on this server at once, all are taken: "
                "try again in a while."
            )

    def _forget(self, job: Job) -> None:
        if self._live.get(job.key) is job:
            del self._live[job.key]
        self._queue = tuple(other for other in self._queue if other is not job)

    # ---- messages of workers, in Dask's threads

    def _heard(self, token: str, message: dict[str, Any]) -> None:
        job = self._tokens.get(token)
        if job is None:
            return
        if "worker" in message:
            job.worker, job.pid, job.started = message["worker"], message["pid"], time.time()
            self._wake.set()
        else:
            job.event = Event(**message["event"])
            job.rows += tuple(message["rows"])

    def _ended(self, job: Job, token: str, outcome: Finished) -> None:
        """Record the outcome of an execution once, in one transaction for all of its runs."""
        state, error = outcome.state, outcome.error
        with self._lock:
            if self._closing or self._tokens.pop(token, None) is None:
                return
            if outcome.trace and job.people:
                _log.error("run of %s failed: %s", job.function, outcome.trace)
            if state == "killed" and job.people and not job.started and job.attempts < ATTEMPTS:
                job.future = None
                self._queue = (job, *self._queue)
            elif job.people or state == "done":
                if state == "killed":
                    error = OUT_OF_MEMORY if self._pool and self._pool.ran_out_of_memory(job.pid) else KILLED
                self._finish(job, "failed" if state == "killed" else state, error, outcome.result)
            elif outcome.result:
                try:  # the partial result of a cancelled job; not for runs that run again
                    again = self._runs
                    self.store.keep_part([run for run in job.left if run not in again], outcome.result)
                except JobError:  # nobody waits for this part
                    _log.exception("what a cancelled run had ready could not be kept")
        self._wake.set()

    def _finish(self, job: Job, state: str, error: str = "", result: bytes = b"") -> None:
        self._forget(job)
        seconds = time.time() - (job.started or time.time())
        _log.info("run %s: task=%s seconds=%.1f key=%.12s", state, job.function, seconds, job.key)
        self._store_end(job, [*job.people], state, error, result)
        for run_id in job.people:
            self._runs.pop(run_id, None)

    def _store_end(self, job: Job, runs: list[str], state: str, error: str = "", result: bytes = b"") -> None:
        """Store the end of a job for some of its runs; those whose end is not stored have failed."""
        kept = (job.key, result) if state == "done" else None
        try:
            self.store.finish_runs(runs, state, error=error, result=kept, **job.progress())
            self._full = ""
        except JobError as trouble:
            self._full = str(trouble)
            _log.error("the end of a run could not be kept: %s", trouble)

    # ---- the supervisor's thread, the only one that talks to the scheduler

    def _supervise(self, warm: tuple[str, ...]) -> None:
        """Start the workers and serve the queue until the engine closes or the workers are gone."""
        try:
            # Dask takes half a second to import: the first page is painted meanwhile
            from nspca.jobs.pool import Pool

            pool = self._pool = Pool(self._heard, warm=warm, **self._options)
        except Exception as error:  # without workers every waiting run has to hear why
            if threading.main_thread().is_alive():  # otherwise the program ended while workers started
                _log.exception("no workers")
                self._give_up(str(error))
            return
        self._ready.set()
        _log.info("workers ready: scheduler=%s store=%s", pool.address, self.store.path)
        self._missed_at = math.inf
        while not self._closing and time.monotonic() - self._missed_at < NO_WORKER_SECONDS:
            self._wake.clear()
            try:
                self._stop_unwanted(pool)
                self._dispatch(pool)
                self._note_progress()
                self._tidy()
                soon = bool(self._queue) or any(not job.people or not job.started for job in self._at_work())
                self._wake.wait(0.1 if soon else NOTE_SECONDS)
            except Exception:
                # After a lost connection this thread must continue, to restart workers.
                _log.exception("the engine stumbled")
                self._missed_at = min(self._missed_at, time.monotonic())  # the next round may say otherwise
                time.sleep(1.0)
        self._ready.clear()
        pool.close()
        if not self._closing:
            self._give_up(
                "No worker has come back for two minutes: start the run again, and the server if that does "
                "not help."
            )

    def _give_up(self, sentence: str) -> None:
        """Fail all waiting and running jobs with a message; the next `start` tries again."""
        with self._lock:
            for job in (*self._queue, *self._tokens.values()):
                self._finish(job, "failed", sentence)
            self._tokens.clear()
            self._thread = None

    def _at_work(self) -> list[Job]:
        with self._lock:
            return list(self._tokens.values())

    def _stop_unwanted(self, pool: "Pool") -> None:
        """Cancel automatic jobs that give way, and end jobs that no run waits for on their workers."""
        with self._lock:
            for job in (*self._queue, *self._tokens.values()):
                if job.gives_way(self._queue):
                    for run_id in list(job.people):
                        self.cancel(run_id)
        for job in self._at_work():
            if job.people or not job.started or not job.future or job.pid is None:
                continue
            if job.future.done():  # the result is on its way; stopping the worker now would lose it
                continue
            if job.stop_asked is None:
                job.stop_asked = time.monotonic()
                pool.stop(job.token, job.worker)
                continue
            if time.monotonic() - job.stop_asked > PATIENCE:
                with self._lock:
                    self._tokens.pop(job.token, None)
                pool.kill(job.future, job.worker, job.pid)

    def _dispatch(self, pool: "Pool") -> None:
        """Give each idle worker one job; one that waited there would die with the job that runs."""
        load = pool.load() if self._queue or self._tokens else None
        self._missed_at = min(self._missed_at, time.monotonic()) if load == {} else math.inf
        if not load:
            return
        self._end_lost(load)
        promised = {job.worker for job in self._at_work() if not job.started}
        for address in (address for address in load if not load[address] and address not in promised):
            with self._lock:
                job = next_job(self._queue, [*self._tokens.values()], len(load))
                if job is None:
                    return
                job.attempts += 1
                job.token, job.worker, job.missed = uuid4().hex, address, None
                self._tokens[job.token] = job
                left = [other for other in self._queue if other is not job]
                self._queue = in_turn(left, [*self._tokens.values()])
            function = self._function(job.function)
            ender = partial(self._ended, job, job.token)
            try:
                job.future = pool.submit(
                    job.token, function, job.parameters, self._arrays.folder, ender, address
                )
            except JobError as error:  # fail this run alone, and go on with the others
                ender(Finished("failed", error=str(error), trace=repr(error.__cause__)))

    def _end_lost(self, load: dict[str, set[str]]) -> None:
        """End the jobs that no worker has any more; those that never began go back to the queue."""
        held = set().union(*load.values())
        for job in self._at_work():
            future, now = job.future, time.monotonic()
            if future is None or future.done() or job.token in held:
                job.missed = None
                continue
            job.missed = job.missed or now
            if (not job.started and job.worker not in load) or now - job.missed > LOST_SECONDS:
                self._ended(job, job.token, Finished("killed"))
                future.cancel()

    def _function(self, task: str) -> str:
        return self.tasks.get(task, task)

    # ---- care of the store

    def _note_progress(self) -> None:
        if time.monotonic() - self._noted_at < NOTE_SECONDS and not self._closing:
            return
        self._noted_at = time.monotonic()
        with self._lock:  # a run that ends meanwhile must not be written back to running
            for job in self._tokens.values():
                if job.people and job.started and job.event is not job.noted:
                    try:
                        self.store.note_progress(job.people, **job.progress())
                    except JobError as error:  # only progress is lost, and only if the run is interrupted
                        _log.error("progress could not be kept: %s", error)
                        return
                    job.noted = job.event

    def _tidy(self) -> None:
        if time.monotonic() - self._tidied_at > TIDY_SECONDS:
            self._tidied_at = time.monotonic()
            limits, unfinished = self.limits, self.store.unfinished_parameters()
            needed = {digest for text in unfinished for _, digest in packing.references(text)}
            gone = self.store.make_room(limits.result_bytes, limits.workspace_bytes, limits.result_age)
            if gone:
                _log.info("%d results were deleted for age or room", gone)
            self._arrays.tidy(needed, limits.array_bytes, limits.array_age)


_engine: Engine | None = None
_engine_lock = threading.Lock()


def engine(tasks: Mapping[str, str] | None = None) -> Engine:
    """Return the engine of this process, made at the first call and given the `tasks` of every call."""
    global _engine
    with _engine_lock:
        if _engine is None or _engine._closing:
            _engine = Engine()
        _engine.tasks.update(tasks or {})
        return _engine
