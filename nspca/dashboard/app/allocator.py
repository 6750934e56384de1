"""Settings of the C library's memory allocator, which keep the server's memory from growing visit by visit.

glibc gives each thread that allocates an arena of its own, up to eight for each core. Streamlit draws every
page in a new thread. What one thread frees is then not used by another, and each arena keeps pages that hold
a few live bytes. Other C libraries have no such settings, and nothing is done there.
"""

import ctypes
from contextlib import suppress

ARENAS = 2  # arenas of all threads together; few threads allocate at a time, since Python runs one at a time
MAPPED_BYTES = 256 * 1024  # a block from this size is a mapping of its own, which goes when it is freed
# Left alone, glibc raises this threshold up to 32 MB when it frees such a block: tables of that size would
# then lie in arenas, among small blocks that stay.

_ARENA_MAX, _MMAP_THRESHOLD = -8, -3  # names of settings, from malloc.h


def limit_arenas() -> None:
    """Let all threads of this process share `ARENAS` arenas, and map large blocks one by one.

    Arenas that exist already stay, so this is called before threads are started.
    """
    with suppress(OSError, AttributeError, TypeError):
        library = ctypes.CDLL(None)
        library.mallopt(_ARENA_MAX, ARENAS)
        library.mallopt(_MMAP_THRESHOLD, MAPPED_BYTES)


def give_back() -> None:
    """Give memory that is free inside this process back to the system.

    The C library keeps what was freed for the next request: a server that once read a large table would look
    as large until its end.
    """
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
