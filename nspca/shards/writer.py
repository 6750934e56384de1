"""Writing a folder of shards: it has a temporary name until it is complete. `shard` uses a `Writer`."""

import glob
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from nspca.data.limits import check_float64
from nspca.errors import InvalidData
from nspca.progress import Event, Report, silent
from nspca.shards.reader import FEATURES, HEADER, TYPES, Record, Shards, checksum, header

PART = ".part"
"""Ending of the temporary name of a folder of shards."""
HASHED = 2**22
"""Numbers that are hashed at a time."""


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
        self.blocks: list[tuple[int, int, str]] = []
        self.rows, self.nonzeros, self.largest = 0, 0, 0.0
        self.notes: tuple[str, ...] = ()
        """Notes about the file, complete once it is read."""

    def __enter__(self) -> "Writer":
        """Make the temporary folder, whose path is `place`, and open its files."""
        parent = self.folder.absolute().parent
        # Hidden and without a record: what a kill leaves behind looks like no folder of shards.
        self.place = Path(tempfile.mkdtemp(prefix=f".{self.folder.name}.", suffix=PART, dir=parent))
        self._open = ExitStack()
        self._files = {part: self._open.enter_context(self._path(part).open("wb")) for part in TYPES}
        for file in self._files.values():
            file.write(bytes(HEADER))  # until the length of the array is known
        self._files["indptr"].write(bytes(8))  # the first number is 0
        return self

    def __exit__(self, *error: object) -> None:
        """Delete the temporary folder, unless `finish` has renamed it."""
        self._open.close()
        shutil.rmtree(self.place, ignore_errors=True)

    def _path(self, part: str) -> Path:
        return self.place / f"{part}.npy"

    def add(self, block: sp.csr_array) -> None:
        """Write the next rows in canonical form: duplicates summed, zeros left out, columns sorted."""
        block.sum_duplicates()
        block.eliminate_zeros()
        check_float64(block.data, "the matrix")
        block = block.astype(np.float64)
        if not np.isfinite(block.data).all():
            row = int(np.searchsorted(block.indptr, np.argmin(np.isfinite(block.data)), side="right"))
            raise InvalidData(
                f"Every value must be a finite number, row {self.rows + row} has another: fill it in."
            )
        self.largest = max(self.largest, float(np.abs(block.data).max(initial=0.0)))
        indptr = block.indptr.astype(TYPES["indptr"]) + self.nonzeros
        indices, data = block.indices.astype(TYPES["indices"]), block.data.astype(TYPES["data"])
        for part, array in (("indptr", indptr[1:]), ("indices", indices), ("data", data)):
            self._files[part].write(array.data)
        self.blocks.append((block.shape[0], data.size, checksum(indptr, indices, data)))
        self.rows, self.nonzeros = self.rows + block.shape[0], self.nonzeros + data.size

    def finish(self) -> Shards:
        """Write digest, names and record, rename the folder, and return it opened for reading."""
        if not self.rows:
            raise InvalidData("A table of at least one row is needed, got none: give another file.")
        lengths = {"indptr": self.rows + 1, "indices": self.nonzeros, "data": self.nonzeros}
        for part, file in self._files.items():
            file.seek(0)
            file.write(header(TYPES[part], lengths[part]))
        self._open.close()
        features = None
        if self.features is not None:
            lines = "".join(f"{' '.join(name.split())}\n" for name in self.features).encode()
            (self.place / FEATURES).write_bytes(lines)
            features = hashlib.sha256(lines).hexdigest()
        digest = self._digest()
        Record(self.name, self.columns, self.largest, digest, features, self.blocks, self.notes).write(
            self.place
        )
        umask = os.umask(0)  # it can only be read by setting it
        os.umask(umask)
        os.chmod(self.place, 0o755 & ~umask)
        try:
            os.rename(self.place, self.folder)
        except OSError as error:
            raise InvalidData(
                f"The folder {self.folder} cannot be given its name ({error.strerror}): name another."
            ) from None
        return Shards(self.folder)

    def _digest(self) -> str:
        """Return the content hash of the whole table, equal to `digests.sparse_digest` in memory.

        It covers all indptr, then all indices, then all data, with indices as 64-bit numbers.
        """
        digest = hashlib.sha256(f"sparse {self.rows} {self.columns}".encode())
        for done, (part, kind) in enumerate(TYPES.items()):
            self.report(Event("digest", done, len(TYPES)))
            with self._path(part).open("rb") as file:
                file.seek(HEADER)
                while (numbers := np.fromfile(file, kind, HASHED)).size:
                    digest.update(numbers.astype("<f8" if part == "data" else "<i8", copy=False).data)
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
