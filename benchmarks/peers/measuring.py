"""Measure one run in a process of its own: CPU seconds, wall seconds, memory and the loading found.

The process is a copy of this one, with all packages and the data loaded, and warms up on a small table. So
imports and first calls do not count, and no contender profits from the computations of another.
"""

import multiprocessing
import resource
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

TOGETHER = 0.1
"""Seconds: a run that takes less is repeated for about so long, and the mean counts. Clocks, and what a first
touch of memory costs, are too coarse for milliseconds.
"""
WAIT = 5
"""Wall seconds waited for a CPU second: other work may be beside."""
STATUS = Path("/proc/self/status")
RESET = Path("/proc/self/clear_refs")


@dataclass(frozen=True)
class Run:
    """The outcome of one run. `failed` says in a few words why there is no answer. Memory is in MB, beyond
    what the process held when the clock started.
    """

    loadings: np.ndarray | None = None
    certificate: Any = None
    cpu: float = 0.0
    wall: float = 0.0
    memory: float = 0.0
    failed: str = ""


def measured(work: Callable[[], tuple], warm: Callable[[], Any], limit: float) -> Run:
    """Return the run of ``work()``, which gives loadings (n, r) and a certificate or None; `limit` is of CPU
    seconds.
    """
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(theirs, work, warm, limit), daemon=True)
    process.start()
    theirs.close()
    try:
        return ours.recv() if ours.poll(WAIT * limit) else Run(failed=beyond(limit))
    except EOFError:
        process.join()
        late = process.exitcode == -signal.SIGXCPU
        return Run(failed=beyond(limit) if late else "the process ended without an answer")
    finally:
        process.kill()
        process.join()


def beyond(limit: float) -> str:
    """Return the phrase about a run that was ended at its limit."""
    return f"more than {limit:g} s"


def limited(seconds: float) -> None:
    """End this process after so many more CPU seconds."""
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (ceil(time.process_time() + seconds), hard))


def _run(connection, work, warm, limit) -> None:
    try:
        warm()
        limited(limit)
        before = held("VmRSS") if reset_peak() else 0.0
        (loadings, certificate), cpu, wall = clocked(work, 1)
        memory = max(held("VmHWM") - before, 0.0) if before else 0.0
        if wall < TOGETHER:
            _, cpu, wall = clocked(work, 1 + int(TOGETHER / wall))
        connection.send(Run(loadings, certificate, cpu, wall, memory))
    except Exception as error:
        connection.send(Run(failed=f"{type(error).__name__}: {error}".splitlines()[0]))


def clocked(work, times: int) -> tuple:
    """Return the answer of the last of `times` calls, and the mean CPU and wall seconds of a call."""
    started, begun = time.perf_counter(), time.process_time()
    for _ in range(times):
        answer = work()
    return answer, (time.process_time() - begun) / times, (time.perf_counter() - started) / times


def reset_peak() -> bool:
    """Let the peak memory of this process begin anew; False where a system has no such thing."""
    try:
        RESET.write_text("5")
    except OSError:
        return False
    return True


def held(what: str) -> float:
    """Return the MB that this process holds (VmRSS) or has held at most (VmHWM)."""
    return int(STATUS.read_text().split(f"{what}:")[1].split()[0]) / 1024
