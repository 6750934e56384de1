"""Writing a folder of shards: it has a temporary name until it is complete. `shard` uses a `Writer`."""

import glob
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np
import scipy.sparse as sp

from nspca.data.limits import check_float64
from nspca.errors import InvalidData
from nspca.progress import Event, Report, silent
from nspca.shards.manifest import FEATURES, PARTS, Content, Manifest, Shard, file_of
from nspca.shards.reader import TYPES, Shards

PART = ".part"
"""Ending of the temporary name of a folder of shards."""


def unfinished(folder: Path) -> list[Path]:
    """Return the temporary folders for `folder`: of runs that were killed, or that still write."""
    return sorted(folder.absolute().parent.glob(f".{glob.escape(folder.name)}.*{PART}"))


class Writer:
    """A context manager that writes a folder of shards; after an error nothing is left behind.

    Parameters
    ----------
    folder : Path
        Path of the folder, which must not exist yet.
    columns : int
    name : str
    features : sequence of str, optional
    report : callable
    """

    def __init__(
        self,
        folder: str | Path,
        columns: int,
        name: str = "shards",
        features: Sequence[str] | None = None,
        report: Report = silent,
    ):
        self.folder, self.columns, self.name = Path(folder), columns, name
        if self.folder.exists():
            raise InvalidData(f"Shards are written to a new folder, {self.folder} is there: name another.")
        if not self.folder.absolute().parent.is_dir():
            raise InvalidData(f"There is no folder {self.folder.absolute().parent}: make it first.")
        self.features, self.report = features, report
        self.shards: list[Shard] = []
        self.largest = 0.0
        self.notes: tuple[str, ...] = ()
        """Notes about the file, complete once it is read."""

    def __enter__(self) -> "Writer":
        """Make the temporary folder, whose path is `place`."""
        parent = self.folder.absolute().parent
        # Hidden and without a manifest: what a kill leaves behind looks like no folder of shards.
        self.place = Path(tempfile.mkdtemp(prefix=f".{self.folder.name}.", suffix=PART, dir=parent))
        return self

    def __exit__(self, *error: object) -> None:
        """Delete the temporary folder, unless `finish` has renamed it."""
        shutil.rmtree(self.place, ignore_errors=True)

    def add(self, block: sp.csr_array) -> None:
        """Write the next rows in canonical form: duplicates summed, zeros left out, columns sorted."""
        number = len(self.shards)
        block.sum_duplicates()
        block.eliminate_zeros()
        check_float64(block.data, "the matrix")
        block = block.astype(np.float64)
        if not np.isfinite(block.data).all():
            row = int(np.searchsorted(block.indptr, np.argmin(np.isfinite(block.data)), side="right"))
            before = sum(shard.rows for shard in self.shards)
            raise InvalidData(
                f"Every value must be a finite number, row {before + row} has another: fill it in."
            )
        if block.data.size:
            self.largest = max(self.largest, float(np.abs(block.data).max()))
        arrays = {"indptr": block.indptr, "indices": block.indices, "data": block.data}
        files = {
            part: _write(self.place / file_of(number, part), arrays[part], TYPES[part]) for part in PARTS
        }
        self.shards.append(Shard(block.shape[0], int(block.indptr[-1]), files))

    def finish(self) -> Shards:
        """Write digest, names and manifest, rename the folder, and return it opened for reading."""
        rows, nonzeros = (sum(getattr(one, what) for one in self.shards) for what in ("rows", "nonzeros"))
        if not rows:
            raise InvalidData("A table of at least one row is needed, got none: give another file.")
        features = None
        if self.features is not None:
            lines = "".join(f"{' '.join(name.split())}\n" for name in self.features)
            (self.place / FEATURES).write_text(lines, encoding="utf-8", newline="\n")
            features = Content(len(lines.encode()), hashlib.sha256(lines.encode()).hexdigest())
        digest = self._digest(rows)
        counts = rows, self.columns, nonzeros
        manifest = Manifest(
            self.name, *counts, self.largest, digest, features, tuple(self.shards), self.notes
        )
        manifest.write(self.place)
        os.chmod(self.place, 0o755 & ~_umask())
        try:
            os.rename(self.place, self.folder)
        except OSError as error:
            raise InvalidData(
                f"The folder {self.folder} cannot be given its name ({error.strerror}): name another."
            ) from None
        return Shards(self.folder)

    def _digest(self, rows: int) -> str:
        """Return the content hash of the whole table, equal to `digests.sparse_digest` in memory.

        It covers all indptr, then all indices, then all data.
        """
        digest, before = hashlib.sha256(f"sparse {rows} {self.columns}".encode()), 0
        for done, part in enumerate(PARTS):
            self.report(Event("digest", done, len(PARTS)))
            for number, shard in enumerate(self.shards):
                array = np.load(self.place / file_of(number, part), mmap_mode="r", allow_pickle=False)
                if part == "indptr":
                    array = array[bool(number) :] + before
                    before += shard.nonzeros
                digest.update(np.ascontiguousarray(array, dtype="<f8" if part == "data" else "<i8").data)
        return digest.hexdigest()


def regrouped(blocks: Iterator[sp.csr_array], rows: int) -> Iterator[sp.csr_array]:
    """Yield the rows of some blocks in order, in new blocks of `rows` rows; the last block may be shorter."""
    held: list[sp.csr_array] = []
    count = 0
    for block in blocks:
        held, count = [*held, block], count + block.shape[0]
        while count >= rows:
            whole = sp.csr_array(sp.vstack(held, format="csr")) if len(held) > 1 else held[0]
            yield whole[:rows]
            held, count = [whole[rows:]], count - rows
    if count:
        yield sp.csr_array(sp.vstack(held, format="csr")) if len(held) > 1 else held[0]


class _Hashing:
    """A file that computes a checksum of everything written to it."""

    def __init__(self, handle: BinaryIO):
        self.handle, self.hash, self.bytes = handle, hashlib.sha256(), 0

    def write(self, piece: bytes) -> int:
        """Write some bytes."""
        self.hash.update(piece)
        self.bytes += len(piece)
        return self.handle.write(piece)


def _write(path: Path, array: np.ndarray, kind: str) -> Content:
    """Write an array of the type `kind` as an NPY file, and return its size and checksum."""
    with path.open("wb") as handle:
        file = _Hashing(handle)
        np.lib.format.write_array(file, np.ascontiguousarray(array, dtype=kind), allow_pickle=False)
    return Content(file.bytes, file.hash.hexdigest())


def _umask() -> int:
    """Return the file mode mask of this process, which can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
