"""Parquet, CSV and sparse NPZ files as shards, read row by row."""

import zipfile
from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from nspca.archive import npy_header
from nspca.data.columns import taken_as_names
from nspca.data.look import quoted
from nspca.data.readers.base import Source
from nspca.data.readers.delimited import DelimitedReader
from nspca.data.readers.parquet import ParquetReader
from nspca.data.readers.tables import TableReader
from nspca.errors import InvalidData
from nspca.progress import Event
from nspca.shards.aside import Aside
from nspca.shards.making import Made
from nspca.shards.reader import Shards
from nspca.shards.writer import regrouped

UNKNOWN = 2**31
"""Rows of a text: nobody knows before the end, and a shard is not larger for it."""
WAY_OUT = "save the matrix in CSR form with scipy.sparse.save_npz"


def _from_rows(
    made: Made, blocks: Iterator[sp.csr_array], columns: int, per_block: int, names=None, rows: int = 0
) -> Shards:
    with made.writer(columns, names) as writer:
        done = 0
        for block in regrouped(blocks, per_block):
            writer.add(block)
            made.report(Event("shards", done := done + block.shape[0], rows))
        writer.notes = made.notes
        return writer.finish()


def write_table(made: Made, reader: TableReader) -> Shards:
    """Write a table of named columns as shards; its names, labels and other texts are left out."""
    chosen, found = reader.columns, reader.layout
    if len(chosen.features) < 2:
        got = len(chosen.features) or "none"
        raise InvalidData(
            f"{made.source} must have two columns of numbers at least, got {got}{chosen.set_aside(found)}: "
            "save the table again."
        )
    named = found.header or chosen.aside  # else they are numbered, which nobody writes down
    names = tuple(found.columns[i] for i in chosen.features) if named else None
    width, rows = len(chosen.features), reader.rows if reader.is_exact else UNKNOWN
    aside = Aside(found, chosen)

    def blocks() -> Iterator[sp.csr_array]:
        for block in reader.blocks():
            missing = np.argwhere(np.isnan(block.X))
            if missing.size:
                row, column = missing[0]
                raise InvalidData(
                    f"Row {aside.rows + 1 + row} of {made.source} has no number in "
                    f"column{quoted(found, chosen.features[column])}: fill it in."
                )
            aside.add(block.texts, len(block.X))
            yield sp.csr_array(block.X)
        made.notes += (*reader.notes, *taken_as_names(found, chosen, made.how), *aside.notes())

    known = reader.rows if reader.is_exact else 0
    return _from_rows(made, blocks(), width, made.per_block(rows, rows * width), names, known)


def parquet(made: Made) -> Shards:
    """Write a Parquet file as shards."""
    source = Source(made.source)
    return write_table(made, ParquetReader(source, made.how, on_disk=True, report=made.report))


def csv(made: Made) -> Shards:
    """Write a table of text as shards."""
    source = Source(made.source)
    return write_table(made, DelimitedReader(source, made.how, on_disk=True, report=made.report))


def npz(made: Made) -> Shards:
    """A sparse matrix in compressed rows: its members are read side by side, a block of rows at a time."""
    try:
        with zipfile.ZipFile(made.source) as archive:
            members = {info.filename for info in archive.infolist()}
            if not {"indptr.npy", "indices.npy", "data.npy", "shape.npy", "format.npy"} <= members:
                raise InvalidData(f"{made.source} holds no sparse matrix: {WAY_OUT}.")

            layout = _array(archive, "format", 1)[0]
            layout = layout.decode() if isinstance(layout, bytes) else str(layout)
            shape = _array(archive, "shape", 2)
            if layout != "csr" or shape.size != 2 or not shape.min() > 0 or shape[1] >= 2**31:
                raise InvalidData(f'{made.source} holds a matrix in the form "{layout}": {WAY_OUT}.')
            rows, columns = (int(s) for s in shape)
            indptr = _array(archive, "indptr", 2**30)
            if indptr.size != rows + 1 or indptr[0] != 0 or (np.diff(indptr) < 0).any():
                raise InvalidData(f"indptr of {made.source} must count up for {rows} rows: {WAY_OUT}.")
            per_block = made.per_block(rows, int(indptr[-1]))

            def blocks() -> Iterator[sp.csr_array]:
                with archive.open("indices.npy") as at, archive.open("data.npy") as values:
                    streams = [(at, "iu"), (values, "biuf")]
                    kinds = []
                    for handle, known in streams:
                        length, dtype = npy_header(handle)  # type: ignore[arg-type]
                        if length != (int(indptr[-1]),) or dtype.kind not in known:
                            raise InvalidData(f"The parts of {made.source} disagree: {WAY_OUT}.")
                        kinds.append(dtype)
                    for start in range(0, rows, per_block):
                        part = indptr[start : min(start + per_block, rows) + 1].astype(np.int64)
                        indices, data = (
                            _numbers(handle, kind, int(part[-1] - part[0]))
                            for (handle, _), kind in zip(streams, kinds, strict=True)
                        )
                        if indices.size and not (indices.min() >= 0 and indices.max() < columns):
                            raise InvalidData(
                                f"indices of {made.source} must be columns from 0 to {columns - 1}: "
                                f"{WAY_OUT}."
                            )
                        shape = part.size - 1, columns
                        yield sp.csr_array((data, indices.astype(np.int32), part - part[0]), shape=shape)

            return _from_rows(made, blocks(), columns, per_block, None, rows)
    except (zipfile.BadZipFile, EOFError, OSError, ValueError) as error:
        if isinstance(error, InvalidData):
            raise
        raise InvalidData(f"{made.source} is damaged or cut short: save it again.") from None


def _array(archive: zipfile.ZipFile, name: str, most: int) -> np.ndarray:
    """A small member, whole."""
    with archive.open(f"{name}.npy") as handle:
        shape, dtype = npy_header(handle)  # type: ignore[arg-type]
        length = int(np.prod(shape))
        if len(shape) > 1 or dtype.kind not in "iuSU" or length > most:
            raise InvalidData(f"{name} of the NPZ file is not that of a sparse matrix: {WAY_OUT}.")
        raw = handle.read(length * dtype.itemsize)
    return np.frombuffer(raw, dtype=dtype, count=length)


def _numbers(handle, dtype: np.dtype, count: int) -> np.ndarray:
    raw = handle.read(count * dtype.itemsize)
    if len(raw) != count * dtype.itemsize:
        raise EOFError
    return np.frombuffer(raw, dtype=dtype).copy()
