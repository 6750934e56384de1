"""Writing a folder of shards: it has a temporary name until it is complete. `shard` uses a `Writer`."""

import glob
import os
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from nspca.data.limits import check_float64
from nspca.errors import InvalidData
from nspca.progress import Report, silent
from nspca.shards.reader import META, TYPES, Record, Shards, content_digest

PART = ".part"
"""Ending of the temporary name of a folder of shards."""


def unfinished(folder: Path) -> list[Path]:
    """Return the temporary folders for `folder`: of runs that were killed, or that still write."""
    return sorted(folder.absolute().parent.glob(f".{glob.escape(folder.name)}.*{PART}"))


class Writer:
    """A context manager that writes a new folder of shards; after an error nothing is left behind.

    The folder is read in blocks of `step` rows. `features` are the names of its columns.
    """

    def __init__(
        self,
        folder: str | Path,
        columns: int,
        step: int,
        name: str = "shards",
        features: Sequence[str] | None = None,
        report: Report = silent,
    ):
        self.folder, self.columns, self.step = Path(folder), columns, step
        self.name, self.features, self.report = name, features, report
        self.parent = self.folder.absolute().parent
        if self.folder.exists():
            raise InvalidData(f"Shards are written to a new folder, {self.folder} is there: name another.")
        if not self.parent.is_dir():
            raise InvalidData(f"There is no folder {self.parent}: make it first.")
        self.rows, self.nonzeros, self.largest = 0, 0, 0.0

    def __enter__(self) -> "Writer":
        """Make the temporary folder, whose path is `place`, and open its files."""
        # Hidden and without a record: what a kill leaves behind looks like no folder of shards.
        self.place = Path(tempfile.mkdtemp(prefix=f".{self.folder.name}.", suffix=PART, dir=self.parent))
        self._open = ExitStack()
        self._files = {
            part: self._open.enter_context((self.place / f"{part}.npy").open("wb")) for part in TYPES
        }
        self._write_headers(dict.fromkeys(TYPES, 0))
        self._files["indptr"].write(bytes(8))  # the first number is 0
        return self

    def __exit__(self, *error: object) -> None:
        """Delete the temporary folder, unless `finish` has renamed it."""
        self._open.close()
        shutil.rmtree(self.place, ignore_errors=True)

    def _write_headers(self, lengths: dict[str, int]) -> None:
        """Write the beginning of each file; NumPy leaves room for vectors of any length."""
        for part, file in self._files.items():
            file.seek(0)
            shape = {"descr": TYPES[part].str, "fortran_order": False, "shape": (lengths[part],)}
            np.lib.format.write_array_header_1_0(file, shape)
        self._offsets = {part: file.tell() for part, file in self._files.items()}

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
        ends = block.indptr[1:].astype(TYPES["indptr"]) + self.nonzeros
        for part, array in (("indptr", ends), ("indices", block.indices), ("data", block.data)):
            self._files[part].write(array.astype(TYPES[part]).data)
        self.rows, self.nonzeros = self.rows + block.shape[0], self.nonzeros + block.data.size

    def finish(self, notes: tuple[str, ...] = ()) -> Shards:
        """Write names and record with `notes` about the data, rename the folder, and return it opened."""
        if not self.rows:
            raise InvalidData("A table of at least one row is needed, got none: give another file.")
        self._write_headers({"indptr": self.rows + 1, "indices": self.nonzeros, "data": self.nonzeros})
        self._open.close()
        names = self.features
        record = Record(
            version=3,
            name=self.name,
            rows=self.rows,
            columns=self.columns,
            nonzeros=self.nonzeros,
            step=self.step,
            largest=self.largest,
            digest=content_digest(self.place, (self.rows, self.columns), self._offsets, self.report),
            features=None if names is None else tuple(" ".join(name.split()) for name in names),
            notes=notes,
        )
        (self.place / META).write_text(record.model_dump_json(indent=1), encoding="utf-8")
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
