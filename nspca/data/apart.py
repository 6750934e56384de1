"""Reading a file in a process of its own, under a memory limit: what a stranger's file does there, the server
does not feel.

A file that cannot become large is read here, which saves the second that a process takes to start. The answer
comes back as JSON and plain arrays, never pickled.
"""

import gzip
import io
import json
import logging
import os
import subprocess
import sys
import tempfile
import threading
import zlib
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import scipy.sparse as sp

from nspca.archive import mib, open_zip
from nspca.data.dataset import Candidate, Dataset, Numbered
from nspca.data.excel import is_workbook
from nspca.data.look import Look
from nspca.data.parquet import MAGIC as PARQUET
from nspca.data.reader import could_be_read, look_at, read
from nspca.errors import InvalidData, MissingValues, NotNumbers

# What is read in this process: at most this many bytes, unpacked.
SMALL = 2 * 2**20
# Of address space: the largest table that is read takes three, and the libraries one.
MEMORY = 4 * 2**30
SHARE = 4  # and at most one in so many of the machine's bytes
SECONDS = 120.0  # the widest table that is read takes twenty
AT_ONCE = 2  # files that are read at a time: a class gives thirty at once
_RAW, _WORDS, _HOW, _TOLD = "raw", "words", "how.json", "told.json"
_KINDS = {kind.__name__: kind for kind in (Dataset, Candidate, Look)}
_ERRORS = {kind.__name__: kind for kind in (InvalidData, MissingValues, NotNumbers)}
_room = threading.BoundedSemaphore(AT_ONCE)
_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Opened:
    """A file as it was read.

    Parameters
    ----------
    data : Dataset, or the error that says why it is none
    look : Look or None
        What its first lines show, of a table of columns.
    mendable : bool
        When it is no data: whether it is some once something is chosen about it.
    """

    data: Dataset | InvalidData
    look: Look | None
    mendable: bool = False


def open_file(raw: bytes, name: str, words: bytes | None = None, **how: Any) -> Opened:
    """Read a file from anybody.

    Parameters
    ----------
    raw : bytes of the file
    name : str, what the data are called
    words : bytes of a vocabulary
    how : options of `nspca.data.read`

    Returns
    -------
    Opened
    """
    if is_small(raw):
        return _opened(raw, name, words, how)
    try:
        with _room, tempfile.TemporaryDirectory(prefix="nspca-", ignore_cleanup_errors=True) as folder:
            return _apart(Path(folder), raw, name, words, how)
    except OSError as error:
        return Opened(InvalidData(f"The file cannot be read just now ({error}): try again."), None)


def is_small(raw: bytes) -> bool:
    """Whether reading cannot take much, whatever the file says of itself."""
    if raw.startswith(b"\x1f\x8b"):
        try:
            with gzip.GzipFile(fileobj=io.BytesIO(raw)) as file:  # all its members, not the first alone
                raw = file.read(SMALL + 1)
        except (OSError, EOFError, zlib.error):
            return True  # which is refused at once
    if len(raw) > SMALL or raw.startswith((PARQUET, b"\x1f\x8b")):
        return False
    if not raw.startswith(b"PK\x03\x04"):
        return True
    try:
        members = open_zip(raw)[1]
    except InvalidData:
        return True
    known = is_workbook(members) or all(info.filename.endswith(".npy") for info in members)
    return known and sum(info.file_size for info in members) <= SMALL


def _opened(raw: bytes, name: str, words: bytes | None, how: dict[str, Any]) -> Opened:
    try:
        data: Dataset | InvalidData = read(raw, name=name, vocabulary=words, **how)
    except InvalidData as error:
        data = error.with_traceback(None)
    try:
        look = look_at(raw)
    except InvalidData:
        look = None
    mendable = isinstance(data, InvalidData) and look is not None and could_be_read(raw, data, look)
    return Opened(data, look, mendable)


def _apart(folder: Path, raw: bytes, name: str, words: bytes | None, how: dict[str, Any]) -> Opened:
    (folder / _RAW).write_bytes(raw)
    if words is not None:
        (folder / _WORDS).write_bytes(words)
    most = min(MEMORY, psutil.virtual_memory().total // SHARE)
    (folder / _HOW).write_text(json.dumps({"name": name, "how": how, "most": most}))
    here = str(Path(__file__).resolve().parents[2])
    paths = os.pathsep.join(filter(None, (here, os.environ.get("PYTHONPATH"))))
    try:
        ran = subprocess.run(
            [sys.executable, "-m", "nspca.data.apart", str(folder)],
            env={**os.environ, "PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        sentence = (
            f"Reading the file takes more than {SECONDS:.0f} seconds: save it as NPZ, or keep fewer columns."
        )
        return Opened(InvalidData(sentence), None)
    if not (folder / _TOLD).is_file():
        _log.warning(
            "reading a file ended with %d: %s", ran.returncode, ran.stderr[-2000:].decode(errors="replace")
        )
        sentence = (
            f"Reading the file needs more than the {mib(most)} of memory that it may take, or is not "
            "possible at all: keep fewer columns, or save it as compressed NPZ."
        )
        return Opened(InvalidData(sentence), None)
    return _told(folder)


def _inside(folder: Path) -> None:
    """What the process does: read, and say what came of it."""
    asked = json.loads((folder / _HOW).read_text())
    with suppress(ImportError, ValueError, OSError):  # a system without such limits
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (asked["most"], asked["most"]))
    words = (folder / _WORDS).read_bytes() if (folder / _WORDS).is_file() else None
    found = _opened((folder / _RAW).read_bytes(), asked["name"], words, asked["how"])
    arrays = 0

    def plain(value: Any) -> Any:
        nonlocal arrays
        if sp.issparse(value):
            return {"$sparse": [value.data, value.indices, value.indptr], "shape": value.shape}
        if isinstance(value, np.ndarray):
            arrays += 1
            np.save(folder / f"{arrays}.npy", value, allow_pickle=False)
            return {"$array": arrays}
        if isinstance(value, Numbered):
            return {"$numbered": [value.what, value.length]}
        if type(value).__name__ in _KINDS:
            return {
                f"${type(value).__name__}": {
                    field.name: getattr(value, field.name) for field in fields(value)
                }
            }
        if type(value).__name__ in _ERRORS:
            return {"$error": type(value).__name__, "said": value.args}
        return value.item()  # a number of NumPy

    text = json.dumps([found.data, found.look, found.mendable], default=plain)
    (folder / "telling").write_text(text)
    (folder / "telling").rename(folder / _TOLD)


def _told(folder: Path) -> Opened:
    """The same again, from JSON and arrays."""

    def full(value: dict[str, Any]) -> Any:
        kind = next(iter(value), "")
        if kind == "$array":
            return np.load(folder / f"{value[kind]}.npy", allow_pickle=False)
        if kind == "$sparse":
            return sp.csr_array(tuple(value[kind]), shape=tuple(value["shape"]))
        if kind == "$numbered":
            return Numbered(*value[kind])
        if kind == "$error":
            return _ERRORS[value[kind]](*value["said"])
        if kind[1:] in _KINDS:
            return _KINDS[kind[1:]](**{name: _tuples(one) for name, one in value[kind].items()})
        return value

    return Opened(*json.loads((folder / _TOLD).read_text(), object_hook=full))


def _tuples(value: Any) -> Any:
    return tuple(_tuples(one) for one in value) if isinstance(value, list) else value


if __name__ == "__main__":
    _inside(Path(sys.argv[1]))
