"""Collect garbage every few seconds for all sessions together, and free memory after the last page is closed.

Streamlit would collect after every rerun of each session (`runner.postScriptGC`). With a class of students
that would be most of the server's work. Imported modules are exempt from collection. The frame of the first
page starts a thread that runs `work`; every page calls `note`.
"""

import gc
import threading
import time

from nspca.dashboard.app import internals
from nspca.dashboard.app.allocator import give_back
from nspca.dashboard.app.cache import shared

SECONDS = 2.0  # between two collections while pages are drawn; none while nothing is
EMPTY = 300.0  # seconds without an open page after which cached data are dropped
LOOK = 30.0  # seconds between two checks whether a page is open
GIVE_BACK = 60.0  # seconds between two calls that return memory, which take some tens of milliseconds each
_drawn = threading.Event()


def note() -> None:
    """Record that a page or a part of one was drawn."""
    _drawn.set()


def freeze() -> None:
    """Exempt all present objects from garbage collection."""
    gc.collect()
    gc.freeze()


def work() -> None:
    """Collect garbage and free memory in a loop, as long as the server runs."""
    drawn, given, seen = _drawn, time.monotonic(), None
    while True:
        # Nothing is cached before the first page is drawn, nor after everything was dropped.
        if drawn.wait(None if seen is None else LOOK):
            time.sleep(SECONDS)
            drawn.clear()
            gc.collect()
            shared.trim_at_times()
            seen = time.monotonic()
            if seen - given >= GIVE_BACK:
                give_back()
                given = seen
        elif internals.is_page_open():
            seen = time.monotonic()
        elif seen is not None and time.monotonic() - seen >= EMPTY:
            empty()
            seen = None


def empty() -> None:
    """Drop all cached data and ended sessions, and return their memory to the system."""
    internals.forget_closed_sessions()
    shared.drop()
    gc.collect()
    give_back()
