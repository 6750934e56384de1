"""Configure glibc's memory allocator, so that the server's memory does not grow with every visit.

glibc gives each allocating thread an arena of its own, up to eight per core. Streamlit draws every page in a
new thread. Memory that one thread frees is then not used by another, and each arena keeps pages with a few
live bytes. Nothing is done with other C libraries. `internals.command_line` calls `limit_arenas` before the
server starts, and `collector` calls `give_back` about once a minute.
"""

import ctypes
from contextlib import suppress

ARENAS = 2  # for all threads together; Python runs one thread at a time, so few are needed
MAPPED_BYTES = 256 * 1024  # larger blocks are separate mappings, which return to the system when freed
# By default glibc raises this threshold up to 32 MB when such a block is freed. Tables of that size would
# then be allocated in arenas, among small blocks that stay.

_ARENA_MAX, _MMAP_THRESHOLD = -8, -3  # names of settings, from malloc.h


def limit_arenas() -> None:
    """Let all threads of this process share `ARENAS` arenas, and map large blocks separately.

    Existing arenas remain, so this must be called before threads are started.
    """
    with suppress(OSError, AttributeError, TypeError):
        library = ctypes.CDLL(None)
        library.mallopt(_ARENA_MAX, ARENAS)
        library.mallopt(_MMAP_THRESHOLD, MAPPED_BYTES)


def give_back() -> None:
    """Return free memory of this process to the system, which glibc would keep for later requests."""
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
