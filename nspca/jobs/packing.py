"""Pack the arguments of a run: plain values as JSON, arrays as files named by the hash of their content.

One file of a matrix serves every k, every session and every worker, which all map the same pages. A killed
worker loses nothing, and an interrupted run can be started again after a restart. The engine packs arguments
when a run is submitted, and the worker of the run unpacks them.
"""

import hashlib
import io
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from nspca.errors import JobError

SUFFIX = {"$array": ".npy", "$sparse": ".npz", "$bytes": ".bin"}  # of the file, by kind of argument
KEPT_SECONDS = 3600.0  # a file just written may belong to a run that is not yet in the store

Keep = Callable[[str, str, Any], None]
"""Function that is called with kind, digest and value of each array, sparse matrix or bytes."""


def packed_key(task: str, parameters: str, function: str | None = None) -> str:
    """Return the hash of a computation: equal questions get equal keys, wherever the function lives.

    The hash covers the name of the task, the version of the package of its function ``module:function`` (the
    task itself when None), and every argument by content: see `pack`.
    """
    package = (function or task).partition(":")[0].partition(".")[0]
    version = getattr(sys.modules.get(package), "__version__", "")
    text = json.dumps([task, version, json.loads(parameters)], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def pack(arguments: dict[str, Any], keep: Keep = lambda kind, digest, value: None) -> str:
    """Return JSON of `arguments` with a reference ``{kind: digest}`` for each array, sparse matrix or bytes.

    ``keep(kind, digest, value)`` is called for each of these. Arrays count by type, shape and entries, and
    sparse matrices by their canonical CSR.
    """

    def plain(value: Any) -> Any:
        if isinstance(value, np.generic) and not isinstance(value, np.bytes_):
            return plain(value.item())
        if isinstance(value, np.ndarray | bytes) or scipy.sparse.issparse(value):
            kind, digest, value = _identify(value)
            keep(kind, digest, value)
            return {kind: digest}
        if isinstance(value, dict):
            for name in value:
                if not isinstance(name, str) or name.startswith("$"):
                    raise JobError(
                        "The names inside an argument must be strings that do not start with '$', got "
                        f"{name!r}: rename it."
                    )
            return {name: plain(item) for name, item in value.items()}
        if isinstance(value, list | tuple):
            return [plain(item) for item in value]
        if value is None or isinstance(value, str | bool | int | float):
            return value
        raise JobError(
            f"An argument must be an array or a plain value, got {type(value).__name__}: convert it first."
        )

    return json.dumps(plain(arguments))


def add(parameters: str, more: dict[str, Any], keep: Keep) -> str:
    """Return packed arguments with further ones."""
    return json.dumps(json.loads(parameters) | json.loads(pack(more, keep)))


def unpack(parameters: str, load: Callable[[str, str], Any]) -> dict[str, Any]:
    """Return packed arguments, with ``load(kind, digest)`` for each reference; tuples have become lists."""

    def full(value: dict[str, Any]) -> Any:
        kind, digest = next(iter(value.items())) if len(value) == 1 else ("", "")
        return load(kind, digest) if kind in SUFFIX else value

    return json.loads(parameters, object_hook=full)


def references(parameters: str) -> list[tuple[str, str]]:
    """Return the (kind, digest) of every array, sparse matrix or bytes that packed `parameters` refer to."""
    found: list[tuple[str, str]] = []
    unpack(parameters, lambda kind, digest: found.append((kind, digest)))
    return found


def file_name(kind: str, digest: str) -> str:
    """Return the name of the file of one argument."""
    return digest + SUFFIX[kind]


def read(kind: str, source: Path | io.BytesIO) -> Any:
    """Return one argument from its file, where a dense array is mapped, or from the bytes of the file."""
    if kind == "$bytes":
        return source.getvalue() if isinstance(source, io.BytesIO) else source.read_bytes()
    if kind == "$sparse":
        return scipy.sparse.load_npz(source)
    with suppress(ValueError):  # bytes and empty arrays cannot be mapped
        if not isinstance(source, io.BytesIO):
            return np.asarray(np.load(source, mmap_mode="r", allow_pickle=False))
    return np.load(source, allow_pickle=False)


class ArrayFolder:
    """The folder of argument files, each named by its digest and dated by its last use."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    def keep(self, kind: str, digest: str, value: Any) -> None:
        """Write `value` unless its file exists already; a file is written whole or not at all."""
        path = self.folder / file_name(kind, digest)
        with suppress(FileNotFoundError):
            os.utime(path)
            return
        temporary = ""
        try:
            with tempfile.NamedTemporaryFile(dir=self.folder, suffix=".part", delete=False) as file:
                temporary = file.name
                _write(kind, value, file)
            os.replace(temporary, path)
        except OSError as error:
            if temporary:
                Path(temporary).unlink(missing_ok=True)
            raise JobError(
                f"The data of this run could not be kept in {self.folder} ({error}): make room there or set "
                "NSPCA_HOME."
            ) from error

    def tidy(self, needed: set[str], limit: int, max_age: float) -> None:
        """Delete files whose digest is not in `needed` by unfinished runs, the longest unused first.

        Files unused for `max_age` seconds are deleted, and others until all have at most `limit` bytes.
        """
        files = []
        for path in self.folder.iterdir():
            with suppress(FileNotFoundError):
                files.append((path.stat().st_mtime, path.stat().st_size, path))
        total, now = sum(size for _, size, _ in files), time.time()
        for used, size, path in sorted(files):
            age = now - used
            if age > KEPT_SECONDS and path.stem not in needed and (age > max_age or total > limit):
                with suppress(OSError):  # Windows: still mapped by a worker
                    path.unlink()
                    total -= size


def _identify(value: Any) -> tuple[str, str, Any]:
    if isinstance(value, bytes):
        return "$bytes", hashlib.sha256(value).hexdigest(), value
    if scipy.sparse.issparse(value):
        value = value.tocsr()
        if not value.has_canonical_format:
            value = value.copy()
            value.sum_duplicates()
        parts = [value.indptr.astype("<i8"), value.indices.astype("<i8"), value.data]
        return "$sparse", _digest(f"sparse {value.shape}", parts), value
    if value.dtype.kind not in "biufcUS":
        raise JobError(f"An array must hold numbers or strings, got {value.dtype}: convert it first.")
    value = np.asarray(value, order="C")
    return "$array", _digest(f"dense {value.shape}", [value]), value


def _digest(head: str, arrays: list[np.ndarray]) -> str:
    digest = hashlib.sha256(head.encode())
    for array in arrays:
        digest.update(array.dtype.str.encode())
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data if array.size else b"")
    return digest.hexdigest()


def _write(kind: str, value: Any, file: Any) -> None:
    if kind == "$bytes":
        file.write(value)
    elif kind == "$sparse":
        scipy.sparse.save_npz(file, value, compressed=False)
    else:
        np.save(file, value, allow_pickle=False)
