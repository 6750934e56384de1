"""Measure the speed of this machine once, in less than a second, and keep it in the user's cache.

Cost estimates call `speed`. Pages call `known` and measure in a worker, so that they need not wait. A
measurement is valid for one machine and one version of the package.
"""

import json
import os
import platform
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from nspca.data.folders import cache_folder, write_atomically

FILE = "speed.json"
SIDE, EACH = 1000, 2**20
"""Side of the dense matrix, and entries of the sparse one, that are multiplied to measure the speed."""


@dataclass(frozen=True)
class Speed:
    """Seconds for one multiplication in a sparse or dense matrix product, and for reading a byte of text."""

    sparse: float
    dense: float
    text: float


def speed() -> Speed:
    """Return the speed of this machine, measured now if the cache does not have it."""
    speeds = known()
    if speeds is None:
        speeds = measure_speed()
        with suppress(OSError):  # it is measured again next time
            write_atomically(_path(), json.dumps({"of": identify_machine()} | asdict(speeds)).encode())
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
        speeds = json.loads(path.read_text(encoding="utf-8"))
        known = Speed(*(float(speeds[name]) for name in ("sparse", "dense", "text")))
        return known if speeds["of"] == machine and all(0 < s < 1 for s in asdict(known).values()) else None
    except (OSError, ValueError, TypeError, KeyError):
        return None


def measure_speed() -> Speed:
    """Measure the speed of this machine, with the quickest of three runs of each operation."""
    rng = np.random.default_rng(0)
    indices = rng.integers(0, 2**16, EACH)
    X = sp.csr_array((np.ones(EACH), indices, np.arange(0, EACH + 1, 2**6)), shape=(EACH // 2**6, 2**16))
    D, Y = rng.standard_normal((SIDE, SIDE)), rng.standard_normal((2**16, 4))
    y, text = rng.standard_normal((SIDE, 4)), "\n".join(map(str, range(2**17)))
    return Speed(
        sparse=_quickest(lambda: X.T @ (X @ Y)) / (8 * EACH),
        dense=_quickest(lambda: D @ y) / (4 * SIDE**2),
        text=_quickest(lambda: np.fromstring(text, sep="\n")) / len(text),
    )


def _quickest(run: Callable[[], object]) -> float:
    """Return the seconds of the quickest of three runs."""
    speeds = []
    for _ in range(3):
        begun = time.perf_counter()
        run()
        speeds.append(time.perf_counter() - begun)
    return max(min(speeds), 1e-9)
