"""Parquet, CSV and sparse NPZ files as shards, read row by row."""

import zipfile
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from nspca.archive import npy_header
from nspca.data.dataset import unique_names
from nspca.data.look import SPACES
from nspca.errors import InvalidData
from nspca.progress import Event
from nspca.shards.making import Made
from nspca.shards.pieces import opened
from nspca.shards.reader import Shards
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
        return writer.finish()


def parquet(made: Made) -> Shards:
    import pyarrow as pa
    import pyarrow.parquet as pq
    import pyarrow.types as kinds

    try:
        file = pq.ParquetFile(made.source)
        number = lambda kind: kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_boolean(kind)  # noqa: E731
        columns = [i for i, field in enumerate(file.schema_arrow) if number(field.type)]
        names = [file.schema_arrow.names[i] for i in columns]
        if not names or len(set(file.schema_arrow.names)) != len(file.schema_arrow.names):
            raise InvalidData(
                f"{made.source} must have columns of numbers, each with its own name: save it again."
            )
        rows, width = file.metadata.num_rows, len(names)

        def blocks() -> Iterator[sp.csr_array]:
            before = 0
            for batch in file.iter_batches(max(1, STEP // width), columns=names, use_threads=False):
                X = np.empty((batch.num_rows, width))
                for j, column in enumerate(batch.columns):
                    if column.null_count:
                        row = before + 1 + column.is_null().to_pylist().index(True)
                        raise InvalidData(
                            f'Row {row} of {made.source} has no number in column "{names[j]}": fill it in.'
                        )
                    X[:, j] = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
                before += batch.num_rows
                yield sp.csr_array(X)

        per_block = made.per_block(rows, rows * width)
        return _from_rows(made, blocks(), width, per_block, unique_names(names, "feature")[0], rows)
    except (pa.ArrowException, OSError) as error:
        raise InvalidData(
            f"{made.source} is damaged or cut short ({str(error)[:80]}): save it again."
        ) from None


def csv(made: Made) -> Shards:
    import pandas as pd

    from nspca.data.reader import look_at

    with opened(made.source) as handle:
        head = handle.read(2**20)
    found = look_at(head[: head.rfind(b"\n") + 1] or head)
    if found is None:
        raise InvalidData(
            f"{made.source} must be a docword, Matrix Market, Parquet, CSV or sparse NPZ file, got another: "
            "convert it."
        )
    aside = {*found.text_columns, *found.empty_columns}
    use = [i for i in range(len(found.columns)) if i not in aside]
    names = unique_names([found.columns[i] for i in use], "feature")[0] if found.header else None
    if not use:
        raise InvalidData(f"{made.source} must have columns of numbers, got none: save the table again.")

    def blocks() -> Iterator[sp.csr_array]:
        line = 1 + bool(found.header)
        options: dict[str, Any] = {
            "sep": r"\s+" if found.delimiter == SPACES else found.delimiter,
            "decimal": found.decimal,
            "usecols": use,
        }
        step = max(1, STEP // len(use))
        try:
            with opened(made.source) as handle:
                pieces = pd.read_csv(
                    handle, header=0 if found.header else None, chunksize=step, low_memory=False, **options
                )
                for piece in pieces:
                    try:
                        X = piece.to_numpy(dtype=np.float64)
                    except (ValueError, TypeError):
                        X = piece.apply(pd.to_numeric, errors="coerce").to_numpy(dtype=np.float64)
                    if not np.isfinite(X).all():
                        at = int(np.argmin(np.isfinite(X).all(axis=1)))
                        raise InvalidData(
                            f"Line {line + at} of {made.source} has a cell that is no finite number: fill it "
                            "in."
                        )
                    line += len(piece)
                    yield sp.csr_array(X)
        except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
            raise InvalidData(f"{made.source} cannot be read ({str(error)[:100]}): save it again.") from None

    per_block = made.per_block(UNKNOWN, UNKNOWN * len(use))
    return _from_rows(made, blocks(), len(use), per_block, names)


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
