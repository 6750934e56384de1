"""The speed of this machine, measured in less than a second at first use and kept in the user's cache.

Another version of the package or another machine is measured anew.
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
    """Seconds for one multiplication in a product of sparse or dense matrices, and for a byte of text."""

    sparse: float
    dense: float
    text: float


def speed() -> Speed:
    """Return the speed of this machine, measured unless it is known."""
    speeds = known()
    if speeds is None:
        speeds = measured()
        with suppress(OSError):  # it is measured again next time
            write_atomically(_path(), json.dumps({"of": who()} | asdict(speeds)).encode())
    return speeds


def known() -> Speed | None:
    """Return the speed of this machine if it was measured before, else None."""
    return _read(_path(), who())


def _path() -> Path:
    return cache_folder().parent / FILE


def who() -> list[str]:
    """Return the version of the package and the machine, which a measurement is valid for."""
    version = sys.modules["nspca"].__version__  # which is above this room
    return [version, platform.node(), platform.machine(), str(os.cpu_count()), np.__version__]


def _read(path: Path, who: list[str]) -> Speed | None:
    try:
        speeds = json.loads(path.read_text(encoding="utf-8"))
        known = Speed(*(float(speeds[name]) for name in ("sparse", "dense", "text")))
        return known if speeds["of"] == who and all(0 < s < 1 for s in asdict(known).values()) else None
    except (OSError, ValueError, TypeError, KeyError):
        return None


def measured() -> Speed:
    """Measure the speed of this machine: the quickest of three tries of each product."""
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
    speeds = []
    for _ in range(3):
        begun = time.perf_counter()
        run()
        speeds.append(time.perf_counter() - begun)
    return max(min(speeds), 1e-9)
