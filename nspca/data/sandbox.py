"""The sandbox for uploads: each file is read in a separate process with a memory limit.

A file that cannot become large is read in the server's own process, which saves a second. The separate
process returns its outcome as JSON and NPY files; nothing is pickled.
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
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from nspca.data.containers import open_source
from nspca.data.dataset import Dataset
from nspca.data.dialect import Layout
from nspca.data.findings import Finding
from nspca.data.formats import FORMATS
from nspca.data.formats.base import GZIP, Source
from nspca.data.formats.documents import find_documents
from nspca.data.formats.excel import is_workbook
from nspca.data.limits import plain_bytes
from nspca.data.names import Numbered
from nspca.data.numerals import Numerals
from nspca.data.options import ReadOptions, TableOptions
from nspca.data.reading import read_opened, read_text
from nspca.errors import InvalidData, InvalidOption, MissingValues, Way
from nspca.validation.archive import mib, open_zip

SMALL = 2 * 2**20
"""Maximum unpacked bytes of a file that is read in the server's own process."""
MEMORY = 4 * 2**30
"""Bytes of address space for a sandbox: three GiB for the largest permitted table, and one for libraries."""
SHARE = 4
"""A sandbox gets at most the machine's memory divided by this number."""
SECONDS = 120.0
"""Maximum seconds for reading a file. The widest permitted table takes twenty."""
AT_ONCE = 2
"""Maximum sandboxes at the same time. A class of students may upload thirty files at once."""
_RAW, _REQUEST, _ANSWER = "raw", "request.json", "answer.json"
_KINDS = {kind.__name__: kind for kind in (Dataset, Layout, Numbered, Numerals, Finding, Way)}
_ERRORS = {kind.__name__: kind for kind in (InvalidData, MissingValues)}
_free_places = threading.BoundedSemaphore(AT_ONCE)
_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Opened:
    """The outcome of reading a file: the data, or the error that explains why it was refused.

    A table with named columns has a `layout`; `texts` is what `find_documents` says of the file.
    """

    data: Dataset | InvalidData
    layout: Layout | None
    texts: str = ""

    @property
    def is_mendable(self) -> bool:
        """Tell whether a refused file may be read with other options, so that a page should keep it."""
        if not isinstance(self.data, InvalidData):
            return False
        return bool(self.texts or self.data.ways) or self.layout is not None


def open_file(
    raw: bytes,
    name: str,
    words: bytes | None = None,
    *,
    annotation: bytes | None = None,
    as_texts: bool = False,
    **options: Any,
) -> Opened:
    """Read a file of an untrusted user; called by pages for every upload.

    `words` is the content of a vocabulary file, `annotation` that of a table about the samples. With
    `as_texts`, words are counted by `nspca.data.read_text`. `options` are those of it, or of `read`.
    """
    beside = {"vocabulary": None if as_texts else words, "annotation": annotation}
    given = {key: one for key, one in beside.items() if one is not None}
    if is_small(raw) and all(map(is_small, given.values())):
        return _read_here(raw, name, given, as_texts, options)
    try:
        with _free_places, tempfile.TemporaryDirectory(prefix="nspca-", ignore_cleanup_errors=True) as folder:
            return _read_in_sandbox(Path(folder), raw, name, given, as_texts, options)
    except OSError as error:
        return Opened(InvalidData(f"The file cannot be read just now ({error}): try again."), None)


def is_small(raw: bytes) -> bool:
    """Tell whether reading a file is sure to take little memory, whatever its header claims."""
    if raw.startswith(GZIP):
        try:
            with gzip.GzipFile(fileobj=io.BytesIO(raw)) as file:  # all its members, not the first alone
                raw = file.read(SMALL + 1)
        except (OSError, EOFError, zlib.error):
            return True  # a damaged file is refused at once
    if len(raw) > SMALL or raw.startswith((GZIP, b"%PDF")):  # of a PDF the texts may be read
        return False
    if not raw.startswith(b"PK\x03\x04"):
        return not next(one for one in FORMATS if one.matches(Source(raw=raw))).is_apart
    try:
        members = open_zip(raw)[1]
    except InvalidData:
        return True
    known = is_workbook(info.filename for info in members) or all(
        info.filename.endswith(".npy") for info in members
    )
    return known and sum(info.file_size for info in members) <= SMALL


def _read_here(
    raw: bytes, name: str, beside: Mapping[str, bytes], as_texts: bool, options: dict[str, Any]
) -> Opened:
    """Read a file in this process; `beside` holds the vocabulary and the annotation by name."""
    source = Source(raw=raw)
    data: Dataset | InvalidData
    try:
        if as_texts:
            data = read_text(raw, name=name, annotation=beside.get("annotation"), **options)
        else:
            words = plain_bytes(beside["vocabulary"]) if "vocabulary" in beside else None
            source = open_source(raw, name, words)
            data = read_opened(source, ReadOptions(**dict(TableOptions(**options))), beside.get("annotation"))
    except InvalidData as error:
        data = error.with_traceback(None)
    except InvalidOption as error:
        data = InvalidData(str(error))
    texts = find_documents(source) if as_texts or isinstance(data, InvalidData) else ""
    return Opened(data, source.layouts[-1] if source.layouts else None, texts)


def _read_in_sandbox(
    folder: Path, raw: bytes, name: str, beside: Mapping[str, bytes], as_texts: bool, options: dict[str, Any]
) -> Opened:
    """Write a request to a folder, run a process that answers it, and return the outcome."""
    (folder / _RAW).write_bytes(raw)
    for key, content in beside.items():
        (folder / key).write_bytes(content)
    most = MEMORY
    with suppress(AttributeError, ValueError):  # a machine that does not say how much memory it has
        most = min(most, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // SHARE)
    request = {"name": name, "beside": [*beside], "as_texts": as_texts, "options": options, "most": most}
    (folder / _REQUEST).write_text(json.dumps(request))
    here = str(Path(__file__).resolve().parents[2])
    paths = os.pathsep.join(filter(None, (here, os.environ.get("PYTHONPATH"))))
    try:
        ran = subprocess.run(
            [sys.executable, "-m", "nspca.data.sandbox", str(folder)],
            env={**os.environ, "PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return _refused(f"takes more than {SECONDS:.0f} seconds: save it as NPZ, or keep fewer columns")
    if not (folder / _ANSWER).is_file():
        told = ran.stderr[-2000:].decode(errors="replace")
        _log.warning("reading a file ended with %d: %s", ran.returncode, told)
        return _refused(
            f"needs more than the {mib(most)} of memory that it may take, or is not possible at all: keep "
            "fewer columns, or save it as compressed NPZ"
        )
    return _load_answer(folder)


def _refused(what: str) -> Opened:
    return Opened(InvalidData(f"Reading the file {what}."), None)


def _answer(folder: Path) -> None:
    request = json.loads((folder / _REQUEST).read_text())
    with suppress(ImportError, ValueError, OSError):  # a system without such limits
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (request["most"], request["most"]))
    beside = {key: (folder / key).read_bytes() for key in request["beside"]}
    raw, options = (folder / _RAW).read_bytes(), request["options"]
    outcome = _read_here(raw, request["name"], beside, request["as_texts"], options)
    arrays = 0

    def to_plain(value: Any) -> Any:
        """Return a value that JSON does not know as dicts and lists; arrays go to NPY files."""
        nonlocal arrays
        if sp.issparse(value):
            return {"$sparse": [value.data, value.indices, value.indptr], "shape": value.shape}
        if isinstance(value, np.ndarray):
            arrays += 1
            np.save(folder / f"{arrays}.npy", value, allow_pickle=False)
            return {"$array": arrays}
        if type(value).__name__ in _KINDS:
            found = {field.name: getattr(value, field.name) for field in fields(value)}
            return {f"${type(value).__name__}": {name: _pairs(one) for name, one in found.items()}}
        if isinstance(value, InvalidData):
            kind = MissingValues if isinstance(value, MissingValues) else InvalidData
            return {"$error": kind.__name__, "arguments": [value.message, value.ways]}
        if isinstance(value, frozenset):
            return {"$set": sorted(value)}
        return value.item()  # a number of NumPy

    found = [getattr(outcome, field.name) for field in fields(outcome)]
    text = json.dumps(found, default=to_plain)
    (folder / "answer.part").write_text(text)
    (folder / "answer.part").rename(folder / _ANSWER)


def _load_answer(folder: Path) -> Opened:
    def from_plain(value: dict[str, Any]) -> Any:
        """Return the value that a dict of `to_plain` stands for; any other dict unchanged."""
        kind = next(iter(value), "")
        if kind == "$array":
            return np.load(folder / f"{value[kind]}.npy", allow_pickle=False)
        if kind == "$sparse":
            return sp.csr_array(tuple(value[kind]), shape=tuple(value["shape"]))
        if kind == "$mapping":
            return {name: _tuples(one) for name, one in value[kind]}
        if kind == "$error":
            return _ERRORS[value[kind]](*_tuples(value["arguments"]))
        if kind == "$set":
            return frozenset(value[kind])
        if kind[1:] in _KINDS:
            return _KINDS[kind[1:]](**{name: _tuples(one) for name, one in value[kind].items()})
        return value

    return Opened(*json.loads((folder / _ANSWER).read_text(), object_hook=from_plain))


def _pairs(value: Any) -> Any:
    """Return a mapping as a list of pairs under one key; any other value unchanged.

    A user's column called "$array" could otherwise be taken for an encoded array.
    """
    return {"$mapping": [*value.items()]} if isinstance(value, Mapping) else value


def _tuples(value: Any) -> Any:
    return tuple(_tuples(one) for one in value) if isinstance(value, list) else value


if __name__ == "__main__":
    _answer(Path(sys.argv[1]))
