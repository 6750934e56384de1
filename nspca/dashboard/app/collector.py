"""Garbage is collected every few seconds for all sessions together, and memory goes back to the system when
the last page is closed.

Streamlit would collect after every rerun of each session (`runner.postScriptGC`): of a class that arrives,
and looks at something once a second, that would be most of the server's work. What is imported is frozen:
nobody looks at it again.
"""

import gc
import threading
import time

from nspca.dashboard.app import internals
from nspca.dashboard.app.allocator import give_back
from nspca.dashboard.app.cache import shared

SECONDS = 2.0  # between two collections while pages are drawn; none while nothing is
EMPTY = 300.0  # seconds without an open page after which cached data go: who reloads finds them
LOOK = 30.0  # seconds between two looks whether a page is open
GIVE_BACK = 60.0  # seconds between two calls that give memory back, each some tens of milliseconds
_drawn = threading.Event()


def note() -> None:
    """A page was drawn, or part of one."""
    _drawn.set()


def freeze() -> None:
    """Exempt all present objects from garbage collection."""
    gc.collect()
    gc.freeze()


def work() -> None:
    """Collect and let go, as long as the server runs."""
    drawn, given, seen = _drawn, time.monotonic(), None
    while True:
        # Nothing is held before the first page is drawn, nor after all was let go.
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
    """Let go of all cached data and of the sessions that ended, and give their memory back."""
    internals.forget_closed_sessions()
    shared.drop()
    gc.collect()
    give_back()
