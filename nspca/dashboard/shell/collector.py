"""Garbage is collected every few seconds for all sessions together.

Streamlit would do so after every rerun of each (`runner.postScriptGC`): of a class that arrives, and looks at
something once a second, that would be most of the server's work. What is imported is frozen: nobody looks at
it again.
"""

import gc
import threading
import time

SECONDS = 2.0  # between two collections while pages are drawn; none while nothing is
_drawn = threading.Event()


def note() -> None:
    """A page was drawn, or part of one."""
    _drawn.set()


def freeze() -> None:
    """What is there now stays."""
    gc.collect()
    gc.freeze()


def work() -> None:
    """Collect, as long as the server runs."""
    drawn = _drawn
    while True:
        drawn.wait()
        time.sleep(SECONDS)
        drawn.clear()
        gc.collect()
