"""Memory of the server does not grow with the number of threads that pages are drawn in."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

from nspca.dashboard.app import allocator

ROOT = Path(__file__).resolve().parents[2]
# The server's own start, with threads of this test in it: each of them allocates while all others do.
THREADS = """
import ctypes, re, sys, threading
from streamlit.web import cli
from nspca.dashboard.app import internals

def crowd(**options):
    together = threading.Barrier(24)

    def draw():
        together.wait()
        held = [bytearray(1000) for _ in range(100)]
        together.wait()

    threads = [threading.Thread(target=draw) for _ in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    library = ctypes.CDLL(None)
    library.fopen.restype = ctypes.c_void_p
    file = ctypes.c_void_p(library.fopen(sys.argv[1].encode(), b"w"))
    library.malloc_info(0, file)
    library.fclose(file)

cli.main = crowd
internals.command_line()
"""


@pytest.mark.skipif(
    not hasattr(ctypes.CDLL(None) if os.name != "nt" else None, "malloc_info"), reason="only glibc has arenas"
)
def test_all_threads_of_the_server_share_few_arenas(tmp_path):
    there = tmp_path / "arenas.xml"
    subprocess.run([sys.executable, "-c", THREADS, str(there)], cwd=ROOT, check=True, timeout=300)
    assert 1 <= there.read_text().count("<heap nr=") <= allocator.ARENAS
