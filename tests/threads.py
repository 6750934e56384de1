"""Workers that are threads of this process, in the place of `nspca.jobs.pool.Pool`."""

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

from nspca.jobs import worker


class Threads:
    """Two workers that need no time to start. A run in them ends at its next report, and cannot be killed:
    tests of that are in tests/jobs.
    """

    memory = 2**31
    address = "threads"

    def __init__(self, heard, **options):
        self.heard = heard
        self.hands = {name: ThreadPoolExecutor(1, initializer=self._hired, initargs=[name]) for name in "ab"}
        self.runs = {name: {} for name in self.hands}

    def _hired(self, name):
        _HERE.worker = SimpleNamespace(address=name, loop=_Loop, log_event=self._message)

    def _message(self, topic, message):
        self.heard(message["token"], worker.json.loads(message["text"]))

    def load(self):
        return {
            name: {token for token, run in [*runs.items()] if not run.done()}
            for name, runs in self.runs.items()
        }

    def submit(self, token, function, parameters, folder, ended, address):
        task = worker.Task(token, "", function, parameters, str(folder))
        future = self.runs[address][token] = self.hands[address].submit(worker.run, task)
        future.add_done_callback(lambda future: ended(future.result()))
        return future

    def stop(self, token, worker_address):
        worker.stop(token)

    def kill(self, future, worker_address, pid):
        pass

    def ran_out_of_memory(self, pid):
        return False

    def close(self):
        for hand in self.hands.values():
            hand.shutdown(wait=False, cancel_futures=True)


class _Loop:
    """The event loop of a worker of Dask, as far as `worker.run` needs one."""

    @staticmethod
    def add_callback(function, *arguments):
        function(*arguments)

    @staticmethod
    def call_later(seconds, function):
        threading.Timer(seconds, function).start()


_HERE = threading.local()


def hire(patch=setattr):
    """Runs of the dashboard in this process go to threads from now on. Other engines keep their processes."""
    from nspca.jobs import pool

    processes, asked = pool.Pool, worker.get_worker

    def chosen(heard, **options):
        is_shown = heard.__self__ is sys.modules["nspca.jobs.engine"]._engine
        return (Threads if is_shown else processes)(heard, **options)

    patch(pool, "Pool", chosen)
    patch(worker, "get_worker", lambda: getattr(_HERE, "worker", None) or asked())
