"""Memory of the server: fewer arenas, garbage collected for all sessions together, data let go of in time.

Streamlit would collect garbage after every rerun of each session (`runner.postScriptGC`). With a class of
students that would be most of the server's work. The frame of the first page starts a thread that runs
`work`; every page calls `note`.
"""

import ctypes
import gc
import threading
import time
from contextlib import suppress

from nspca.dashboard.app.cache import shared

# glibc gives each thread an arena of its own, in which memory that was freed stays. Streamlit draws every
# page in a new thread. Python runs one thread at a time, so few arenas are needed.
ARENAS = 2
MAPPED_BYTES = 256 * 1024  # larger blocks are separate mappings, which return to the system when freed
_ARENA_MAX, _MMAP_THRESHOLD = -8, -3  # names of settings, from malloc.h
SECONDS = 2.0  # between two collections while pages are drawn; none while nothing is
EMPTY = 300.0  # seconds without an open page after which cached data are dropped
LOOK = 30.0  # seconds between two checks whether a page is open
GIVE_BACK = 60.0  # seconds between two calls that return memory, which take some tens of milliseconds each
_drawn = threading.Event()
open_pages: set[int] = set()
"""A number for each page that is open in a browser, which `server` adds and removes."""


def limit_arenas() -> None:
    """Let all threads of this process share `ARENAS` arenas of glibc; before any thread is started."""
    with suppress(OSError, AttributeError, TypeError):
        library = ctypes.CDLL(None)
        library.mallopt(_ARENA_MAX, ARENAS)
        library.mallopt(_MMAP_THRESHOLD, MAPPED_BYTES)


def give_back() -> None:
    """Return free memory of this process to the system, which glibc would keep for later requests."""
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


def note() -> None:
    """Record that a page or a part of one was drawn."""
    _drawn.set()


def freeze() -> None:
    """Exempt all present objects from garbage collection, such as imported modules."""
    gc.collect()
    gc.freeze()


def work() -> None:
    """Collect garbage and free memory in a loop, as long as the server runs."""
    given, seen = time.monotonic(), None
    while True:
        # Nothing is cached before the first page is drawn, nor after everything was dropped.
        if _drawn.wait(None if seen is None else LOOK):
            time.sleep(SECONDS)
            _drawn.clear()
            gc.collect()
            shared.trim_at_times()
            seen = time.monotonic()
            if seen - given >= GIVE_BACK:
                give_back()
                given = seen
        elif is_page_open():
            seen = time.monotonic()
        elif seen is not None and time.monotonic() - seen >= EMPTY:
            shared.drop()
            gc.collect()
            give_back()
            seen = None


def is_page_open() -> bool:
    """Tell whether a browser is connected to the server of this process."""
    return bool(open_pages)
