"""Parquet, CSV and sparse NPZ files as shards, read row by row."""

import zipfile
from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from nspca.archive import npy_header
from nspca.data.cells import Cells
from nspca.data.columns import Columns, columns, taken_as_names
from nspca.data.look import Look, quoted
from nspca.data.parquet import look_at_file, numbers_of, texts_of
from nspca.data.thousands import check_written
from nspca.errors import InvalidData
from nspca.progress import Event
from nspca.shards.aside import Aside
from nspca.shards.making import Made
from nspca.shards.reader import Shards
from nspca.shards.texts import TextTable
from nspca.shards.writer import regrouped

STEP = 2**21
"""Numbers of a dense table read at a time."""
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


def _chosen(made: Made, found: Look) -> tuple[Columns, tuple[str, ...] | None]:
    """Which columns of the table are features, and their names."""
    chosen = columns(found, made.how)
    if len(chosen.features) < 2:
        got = len(chosen.features) or "none"
        raise InvalidData(
            f"{made.source} must have two columns of numbers at least, got {got}{chosen.set_aside(found)}: "
            "save the table again."
        )
    made.notes += (*found.notes, *taken_as_names(found, chosen, made.how))
    named = found.header or chosen.aside  # else they are numbered, which nobody writes down
    return chosen, tuple(found.columns[i] for i in chosen.features) if named else None


def parquet(made: Made) -> Shards:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(made.source)
        if len(set(file.schema_arrow.names)) != len(file.schema_arrow.names):
            raise InvalidData(f"{made.source} must have columns each with its own name: save it again.")
        found = look_at_file(file)
        chosen, names = _chosen(made, found)
        aside, rows, width = Aside(found, chosen), file.metadata.num_rows, len(chosen.features)

        def blocks() -> Iterator[sp.csr_array]:
            step = max(1, STEP // len(found.columns))
            for batch in file.iter_batches(step, use_threads=False):
                table = pa.Table.from_batches([batch])
                X = np.empty((len(table), width))
                for j, i in enumerate(chosen.features):
                    X[:, j] = numbers_of(table.column(i), quoted(found, i))
                    if table.column(i).null_count:
                        row = aside.rows + 1 + int(np.argmax(np.isnan(X[:, j])))
                        raise InvalidData(
                            f"Row {row} of {made.source} has no number in column{quoted(found, i)}: fill it "
                            "in."
                        )
                aside.add({i: texts_of(table.column(i)) for i in chosen.others}, len(table))
                yield sp.csr_array(X)
            made.notes += aside.notes()

        return _from_rows(made, blocks(), width, made.per_block(rows, rows * width), names, rows)
    except (pa.ArrowException, OSError) as error:
        raise InvalidData(
            f"{made.source} is damaged or cut short ({str(error)[:80]}): save it again."
        ) from None


def csv(made: Made) -> Shards:
    from nspca.data.reader import look_at

    text = TextTable(made.source)
    found = look_at(text.head, decimal=made.how.decimal)
    if found is None:
        raise InvalidData(
            f"{made.source} must be a docword, Matrix Market, Parquet, CSV or sparse NPZ file, got another: "
            "convert it."
        )
    check_written(found, made.how)
    chosen, names = _chosen(made, found)
    aside, width = Aside(found, chosen), len(chosen.features)

    def blocks() -> Iterator[sp.csr_array]:
        for raw, line in text.tables(found):
            X, texts = Cells(raw, found, line=line).read(chosen.aside)
            aside.add({i: texts[i] for i in chosen.others}, len(X))
            yield sp.csr_array(X)
        made.notes += (*text.notes, *aside.notes())

    return _from_rows(made, blocks(), width, made.per_block(UNKNOWN, UNKNOWN * width), names)


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
