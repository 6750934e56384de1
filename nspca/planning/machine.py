"""Measure the speed of this machine once, in less than a second, and keep it in the user's cache.

Cost estimates call `speed`. Pages call `known`, since their server measures it after its start. A measurement
is valid for one machine and one version of the package.
"""

import json
import os
import platform
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from nspca.data.folders import cache_folder, write_atomically

FILE = "speed.json"
EACH = 2**20
"""Entries of the sparse matrix that is multiplied to measure the speed."""
DENSE, TEXT = 1 / 4, 10
"""Times of a multiplication in a dense product, and of a byte of text, relative to the measured one."""


@dataclass(frozen=True)
class Speed:
    """Seconds for one multiplication in a sparse matrix product, and what follows from them."""

    sparse: float

    @property
    def dense(self) -> float:
        """Return the seconds for one multiplication in a dense matrix product."""
        return self.sparse * DENSE

    @property
    def text(self) -> float:
        """Return the seconds for reading a byte of text."""
        return self.sparse * TEXT


def speed() -> Speed:
    """Return the speed of this machine, measured now if the cache does not have it."""
    speeds = known()
    if speeds is None:
        speeds = measure_speed()
        with suppress(OSError):  # it is measured again next time
            write_atomically(
                _path(), json.dumps({"of": identify_machine(), "sparse": speeds.sparse}).encode()
            )
    return speeds


def known() -> Speed | None:
    """Return the speed of this machine if it was measured before, else None."""
    return _read(_path(), identify_machine())


def _path() -> Path:
    """Return the path of the file with the measurement."""
    return cache_folder().parent / FILE


def identify_machine() -> list[str]:
    """Return the version of the package and what of the machine a measurement depends on."""
    version = sys.modules["nspca"].__version__  # importing nspca here would be a cycle
    return [version, platform.node(), platform.machine(), str(os.cpu_count()), np.__version__]


def _read(path: Path, machine: list[str]) -> Speed | None:
    """Return the measurement in a file; None if unreadable or not of `machine` (see `identify_machine`)."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        seconds = float(found["sparse"])
        return Speed(seconds) if found["of"] == machine and 0 < seconds < 1 else None
    except (OSError, ValueError, TypeError, KeyError):
        return None


def measure_speed() -> Speed:
    """Measure the speed of this machine, with the quickest of three products."""
    indices = np.random.default_rng(0).integers(0, 2**16, EACH)
    X = sp.csr_array((np.ones(EACH), indices, np.arange(0, EACH + 1, 2**6)), shape=(EACH // 2**6, 2**16))
    Y, seconds = np.ones((2**16, 4)), []
    for _ in range(3):
        begun = time.perf_counter()
        X.T @ (X @ Y)
        seconds.append(time.perf_counter() - begun)
    return Speed(max(min(seconds), 1e-9) / (8 * EACH))
