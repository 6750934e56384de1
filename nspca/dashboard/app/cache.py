"""A cache for the data sets, problems, results and drawings of all sessions, limited by bytes.

Streamlit's own caches count entries only: six tables of 500 MB would be six entries and stay forever.
"""

import inspect
import mmap
import os
import sys
import threading
import time
import types
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, nullcontext
from functools import wraps
from gc import get_referents
from typing import Any, Generic, ParamSpec, TypeVar

import numpy as np

from nspca.errors import InvalidOption
from nspca.progress import Event, telling

P = ParamSpec("P")
R = TypeVar("R")
MEGABYTES = "NSPCA_CACHE_MB"
USUAL_MEGABYTES = 1000.0
"""Default limit in MB: two tables of the largest permitted size, or many usual ones with their results."""
IDLE = 900.0  # seconds without use after which a value is dropped
BEAT = 0.5  # seconds before the first progress of a pass over the data is shown, and between two
LATER = 30.0
"""Seconds between two measurements of all values. A value may grow after it was made, as a problem caches its
eigenvectors.
"""
PROGRAM = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.CodeType)
"""Types of objects that belong to the program and not to a cached value."""
SAMPLE = 1000  # maximum items of a list that are measured; the others are assumed to be of similar size
MOST_OBJECTS = 50_000  # maximum objects visited to measure one value. A figure has some thousands


class Cache:
    """A cache of function values for all sessions, limited by bytes.

    The least recently used values are dropped first, and any value unused for `IDLE` seconds. The last value
    stays however large it is, since a page would otherwise compute it at every rerun.
    """

    def __init__(self, most: Callable[[], float], clock: Callable[[], float] = time.monotonic):
        self._most, self._clock = most, clock
        self._values: OrderedDict[Hashable, tuple[Any, float]] = OrderedDict()
        self._sizes: dict[Hashable, int] = {}  # bytes of each value alone when it was made
        self._making: dict[Hashable, threading.Lock] = {}
        self._lock = threading.Lock()
        self._measured = -LATER

    def get(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Return the cached value of `key`, or ``make()``; other callers wait while the value is made."""
        with self._lock:
            if key in self._values:
                return self._used(key)
            making = self._making.setdefault(key, threading.Lock())
        with making:
            with self._lock:
                if key in self._values:
                    return self._used(key)
            try:
                value = make()
                size = bytes_of(value, set())
                with self._lock:
                    self._values[key] = value, self._clock()
                    self._sizes[key] = size
                    most_held = sum(self._sizes.values())
            finally:
                with self._lock:
                    if self._making.get(key) is making:
                        del self._making[key]
        if most_held > self._most():  # otherwise all values certainly fit
            self.trim()
        return value

    def _used(self, key: Hashable) -> Any:
        value = self._values[key][0]
        self._values[key] = value, self._clock()
        self._values.move_to_end(key)
        return value

    def drop(self, belongs: Callable[[Hashable], bool] = lambda key: True) -> int:
        """Drop all values, or those for whose key ``belongs(key)`` is true; return their number."""
        with self._lock:
            gone = [key for key in self._values if belongs(key)]
            for key in gone:
                del self._values[key], self._sizes[key]
        return len(gone)

    def trim(self) -> int:
        """Drop the least recently used values until the rest fits; return the bytes of the rest."""
        with self._lock:
            self._measured = now = self._clock()
            newest_first = [*reversed(self._values.items())]
        held, seen, most, full = 0, set[int](), self._most(), False
        gone = []
        for place, (key, (value, used)) in enumerate(newest_first):
            full = full or now - used > IDLE
            size = 0 if full else bytes_of(value, seen)
            full = full or (place > 0 and held + size > most)
            if full:
                gone.append((key, used))
            else:
                held += size
        with self._lock:
            for key, used in gone:
                if key in self._values and self._values[key][1] == used:
                    del self._values[key], self._sizes[key]
        return held

    def trim_at_times(self) -> None:
        """Trim unless the last trim was less than `LATER` seconds ago."""
        if self._clock() - self._measured >= LATER:
            self.trim()

    def __len__(self) -> int:
        return len(self._values)


def bytes_of(value: Any, seen: set[int]) -> int:
    """Return the bytes of a value and of all objects that it refers to, without those in `seen`.

    An array counts with the memory that it views, and a memory-mapped file counts as 0. The identities of the
    counted objects are added to `seen`, so several values that share an array pay for it once.
    """
    total, waiting, left = 0.0, [(value, 1.0)], MOST_OBJECTS
    while waiting and left:
        one, times = waiting.pop()
        if id(one) in seen or isinstance(one, PROGRAM):
            continue
        seen.add(id(one))
        left -= 1
        if isinstance(one, np.ndarray):
            owner: Any = one
            while isinstance(owner, np.ndarray) and owner.base is not None:
                owner = owner.base
            if owner is not one and id(owner) in seen:
                continue
            seen.add(id(owner))
            size = getattr(owner, "nbytes", one.nbytes)
            total += times * (0 if isinstance(owner, mmap.mmap) else size)
            more = owner.ravel()[:SAMPLE].tolist() if one.dtype.hasobject else []
        else:
            # The size that a data frame reports includes its arrays, which are counted below.
            plain = type(one).__module__ == "builtins"
            total += times * (sys.getsizeof(one, 0) if plain else object.__sizeof__(one))
            if isinstance(one, list | tuple | set | frozenset) and len(one) > SAMPLE:
                more, times = [each for each, _ in zip(one, range(SAMPLE), strict=False)], len(one) / SAMPLE
            else:
                more = get_referents(one)
        waiting += [(each, times) for each in more]
    return int(total)


def most_bytes() -> float:
    """Return the limit of the cache in bytes, from the environment variable ``NSPCA_CACHE_MB``."""
    given = os.environ.get(MEGABYTES) or USUAL_MEGABYTES
    try:
        megabytes = float(given)
    except ValueError:
        megabytes = -1.0
    if not 0 <= megabytes < float("inf"):
        raise InvalidOption(f"{MEGABYTES} must be a number of at least 0, got {given!r}")
    return megabytes * 1e6


shared = Cache(most_bytes)
"""The cache of this server."""


class Cached(Generic[P, R]):
    """A function with cached values; the result of the decorator `keep`."""

    def __init__(self, function: Callable[P, R], spinner: str, within: Cache):
        self.function, self.spinner, self.within = function, spinner, within
        self.signature = inspect.signature(function)
        wraps(function)(self)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.within.get(self._key(args, kwargs), lambda: self._made(args, kwargs))

    def clear(self, *args: Any, **kwargs: Any) -> None:
        """Drop the value for the given arguments, or all values when none are given."""
        if args or kwargs:
            gone = self._key(args, kwargs)
            self.within.drop(lambda key: key == gone)
        else:
            self.within.drop(lambda key: isinstance(key, tuple) and key[0] is self.function)

    def _made(self, args: Any, kwargs: Any) -> R:
        with spinner(self.spinner) if self.spinner else nullcontext():
            return self.function(*args, **kwargs)

    def _key(self, args: Any, kwargs: Any) -> tuple[Any, ...]:
        """Return the cache key: the function and its arguments, except those with a leading underscore."""
        given = self.signature.bind(*args, **kwargs).arguments
        told = {name: value for name, value in given.items() if not name.startswith("_")}
        return (self.function, *((name, _hashable(value)) for name, value in told.items()))


def keep(spinner: str = "", within: Cache = shared) -> Callable[[Callable[P, R]], Cached[P, R]]:
    """Return a decorator that caches the values of a function, by default in the cache of this server.

    All sessions share each value, so values must not be modified. Arguments whose names begin with an
    underscore are not part of the cache key, as in Streamlit. The text `spinner` is shown while a value is
    computed.
    """
    return lambda function: Cached(function, spinner, within)


@contextmanager
def spinner(said: str) -> Iterator[None]:
    """Show a spinner with a text, and the progress of a pass over the data inside it that lasts.

    Nothing of either stays on the page, also if the pass fails.
    """
    import streamlit as st

    bars: list[Any] = []  # no bar where all is quick: elements below keep their place
    last = time.monotonic()

    def report(event: Event) -> None:
        nonlocal last
        if event.total and time.monotonic() - last >= BEAT:
            last = time.monotonic()
            bars[:] = bars or [st.empty()]
            share = min(event.done, event.total) / event.total
            bars[0].progress(share, f"Reading the table: {int(100 * share)} %")

    try:
        with st.spinner(said), telling(report):
            yield
    finally:
        for bar in bars:
            bar.empty()


def _hashable(value: Any) -> Hashable:
    if isinstance(value, dict):
        return tuple((name, _hashable(one)) for name, one in value.items())
    if isinstance(value, list | tuple):
        return tuple(map(_hashable, value))
    return (type(value), value)  # 1 == True, but they are different arguments
