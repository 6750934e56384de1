"""Entries of a table that come in any order: kept on disk by blocks of rows until all are there."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import scipy.sparse as sp

RECORD = np.dtype([("row", "<i8"), ("column", "<i4"), ("value", "<f8")])


class Entries:
    """Entries (row, column, value), counted from 0.

    Parameters
    ----------
    folder : Path
        Where they are kept meanwhile.
    shape : (rows, columns)
    per_block : int
        Rows of a block.
    """

    def __init__(self, folder: Path, shape: tuple[int, int], per_block: int):
        self.folder, self.shape, self.per_block = folder, shape, per_block

    def put(self, rows: np.ndarray, columns: np.ndarray, values: np.ndarray) -> None:
        """Some more of them."""
        records = np.empty(rows.size, dtype=RECORD)
        records["row"], records["column"], records["value"] = rows, columns, values
        number = rows // self.per_block
        if number.size and number.min() != number.max():
            order = np.argsort(number, kind="stable")
            records, number = records[order], number[order]
        starts = np.flatnonzero(np.diff(number, prepend=-1))
        for start, end in zip(starts, [*starts[1:], number.size], strict=True):
            with self._file(int(number[start])).open("ab") as handle:
                records[start:end].tofile(handle)

    def blocks(self) -> Iterator[sp.csr_array]:
        """The rows in order; what has been read is deleted."""
        rows, columns = self.shape
        for number, start in enumerate(range(0, rows, self.per_block)):
            shape = min(self.per_block, rows - start), columns
            path = self._file(number)
            if not path.exists():
                yield sp.csr_array(shape)
                continue
            held = np.fromfile(path, dtype=RECORD)
            path.unlink()
            yield sp.csr_array((held["value"], (held["row"] - start, held["column"])), shape=shape)

    def _file(self, number: int) -> Path:
        return self.folder / f"{number:06d}.entries"
