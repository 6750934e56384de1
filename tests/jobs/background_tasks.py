"""Functions the tests run in worker processes, by name."""

import itertools
import os
import time
from pathlib import Path

import numpy as np

from nspca.errors import Cancelled, InvalidProblem
from nspca.progress import Event


def add(report, a=0, b=0):
    report(Event("adding", 1, 1))
    return str(a + b).encode()


def mean(report, X, name=""):
    return f"{name} {float(X.mean())}".encode()


def describe(report, **arguments):
    return repr(
        {
            name: (type(value).__name__, getattr(value, "shape", value))
            for name, value in sorted(arguments.items())
        }
    ).encode()


def environment(report):
    nice = os.nice(0) if hasattr(os, "nice") else 0
    return f"{os.getpid()} {nice} {os.environ.get('OPENBLAS_NUM_THREADS')}".encode()


def sweep(report, count):
    for k in range(count):
        report(Event("sweep", k + 1, count, k=k, payload={"row": {"k": np.int64(k), "value": float(k)}}))
    return b"swept"


def ready(report, begun=b"", **asked):
    """Run without end, and return a partial result when cancelled, after that of an earlier run."""
    for step in itertools.count(1):
        try:
            report(Event("step", step, payload={"row": {"pid": os.getpid()}}))
        except Cancelled as stop:
            stop.result = begun + b"part"
            raise
        time.sleep(0.01)


def slow_to_stop(report, seconds):
    """Have a partial result ready, and notice a cancel only after `seconds`."""
    report(Event("ready", payload={"row": {"pid": os.getpid()}}))
    time.sleep(seconds)
    try:
        while True:
            report(Event("late"))
            time.sleep(0.01)
    except Cancelled as stop:
        stop.result = b"part"
        raise


def hold(report, gate, trace=""):
    """Report until the file `gate` exists; append one line to `trace` at each execution."""
    if trace:
        with open(trace, "a") as file:
            file.write("run\n")
    step = 0
    while not Path(gate).exists():
        step += 1
        report(
            Event("holding", step, payload={"row": {"step": step, "pid": os.getpid()}} if step == 1 else {})
        )
        time.sleep(0.01)
    return b"held"


def stubborn(report, seconds=600.0):
    """Run without end and without a report."""
    report(Event("stubborn", payload={"row": {"pid": os.getpid()}}))
    time.sleep(seconds)
    return b"never"


def fill(report):
    held = []
    while True:
        held.append(np.ones(2_000_000))
        report(Event("filling", len(held)))
        time.sleep(0.005)


def large(report, gate):
    """Return a megabyte once the file `gate` exists."""
    while not Path(gate).exists():
        report(Event("waiting", payload={"pid": os.getpid()}))
        time.sleep(0.01)
    return b"large" * 200_000


def repeat(report, name):
    """Return a quarter of a megabyte made from the question, after some short steps."""
    for step in range(5):
        report(Event("repeating", step + 1, 5, payload={"row": {"step": step}}))
        time.sleep(0.01)
    return name.encode() * (250_000 // len(name))


def refuse(report):
    raise InvalidProblem("k must be between 1 and n = 3, got 7")


def stumble(report):
    return {}["missing"]


def leave(report):
    raise SystemExit(3)


def give_a_number(report):
    return 7
