"""One cache for all that sessions share: data sets, problems, results and drawings, bounded by bytes.

Streamlit's own caches count entries. Six tables of 500 MB are six entries, and stay for ever.
"""

import inspect
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from typing import Any, Generic, ParamSpec, TypeVar

from nspca.dashboard.app.sizes import bytes_of
from nspca.errors import InvalidOption

P = ParamSpec("P")
R = TypeVar("R")
MEGABYTES = "NSPCA_CACHE_MB"
USUAL_MEGABYTES = 1000.0
"""Two tables of the largest size that is read, or many of a usual one with all that is made of them."""
IDLE = 900.0
"""Seconds after which a value that nobody asked for goes: of a busy day, only the last quarter of an hour is
kept."""
LATER = 30.0
"""Seconds between two measurements of all that is held. A value may grow after it was made: a problem keeps
its eigenvectors."""


class Cache:
    """Values of functions for all sessions together, within a number of bytes.

    The value that was used longest ago goes first, and any that was not used for `IDLE` seconds. The last one
    stays however large it is, since a page that
    made it at every rerun would never end.

    Parameters
    ----------
    most : callable
        Returns the bytes that may be held.
    clock : callable
        Returns the time in seconds.
    """

    def __init__(self, most: Callable[[], float], clock: Callable[[], float] = time.monotonic):
        self._most, self._clock = most, clock
        self._values: OrderedDict[Hashable, tuple[Any, float]] = OrderedDict()
        self._sizes: dict[Hashable, int] = {}  # of each value alone, as it was made
        self._making: dict[Hashable, threading.Lock] = {}
        self._lock = threading.Lock()
        self._measured = -LATER

    def get(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Return the value kept under `key`, made when there is none; who comes meanwhile waits for it."""
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
        if most_held > self._most():  # else they fit for certain
            self.trim()
        return value

    def _used(self, key: Hashable) -> Any:
        value = self._values[key][0]
        self._values[key] = value, self._clock()
        self._values.move_to_end(key)
        return value

    def drop(self, belongs: Callable[[Hashable], bool] = lambda key: True) -> int:
        """Let go of all values, or of those whose key belongs; return how many there were."""
        with self._lock:
            gone = [key for key in self._values if belongs(key)]
            for key in gone:
                del self._values[key], self._sizes[key]
        return len(gone)

    def trim(self) -> int:
        """Let go of the values used longest ago until the others fit; return the bytes that are held."""
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
        """Trim unless that was done a moment ago."""
        if self._clock() - self._measured >= LATER:
            self.trim()

    def __len__(self) -> int:
        return len(self._values)


def most_bytes() -> float:
    """Return the bytes of memory that values may take, from ``NSPCA_CACHE_MB``.

    Raises
    ------
    InvalidOption
        When the setting is no number of at least 0.
    """
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


class Kept(Generic[P, R]):
    """A function whose values are kept, with `clear` to forget them; see `keep`."""

    def __init__(self, function: Callable[P, R], spinner: str, within: Cache):
        self.function, self.spinner, self.within = function, spinner, within
        self.signature = inspect.signature(function)
        wraps(function)(self)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.within.get(self._key(args, kwargs), lambda: self._made(args, kwargs))

    def clear(self, *args: Any, **kwargs: Any) -> None:
        """Forget the value for these arguments, or all values when there are none."""
        if args or kwargs:
            gone = self._key(args, kwargs)
            self.within.drop(lambda key: key == gone)
        else:
            self.within.drop(lambda key: isinstance(key, tuple) and key[0] is self.function)

    def _made(self, args: Any, kwargs: Any) -> R:
        with _spinning(self.spinner):
            return self.function(*args, **kwargs)

    def _key(self, args: Any, kwargs: Any) -> tuple[Any, ...]:
        given = self.signature.bind(*args, **kwargs).arguments
        told = {name: value for name, value in given.items() if not name.startswith("_")}
        return (self.function, *((name, _hashable(value)) for name, value in told.items()))


def keep(spinner: str = "", within: Cache = shared) -> Callable[[Callable[P, R]], Kept[P, R]]:
    """Return a decorator that keeps the values of a function, in the cache of this server or in another one.

    All sessions get one object, which nobody may change. Arguments whose names begin with an underscore do
    not tell values apart, as in Streamlit's caches. The `spinner` is shown while a value is made.
    """
    return lambda function: Kept(function, spinner, within)


def _spinning(said: str) -> AbstractContextManager[Any]:
    if not said:
        return nullcontext()
    import streamlit as st

    return st.spinner(said)


def _hashable(value: Any) -> Hashable:
    if isinstance(value, dict):
        return tuple((name, _hashable(one)) for name, one in value.items())
    if isinstance(value, list | tuple):
        return tuple(map(_hashable, value))
    return (type(value), value)  # 1 and True are equal, and not the same argument
