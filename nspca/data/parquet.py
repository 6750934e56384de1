"""Parquet: its footer says how large everything is, and is held against the limits before a column is
read.
"""

from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.types as kinds

from nspca.archive import MAX_BYTES, mib, shortened
from nspca.data import limits
from nspca.data.dataset import Dataset, unique_names
from nspca.data.how import How
from nspca.data.look import ENOUGH_ROWS, Look, are_labels, quoted, short
from nspca.data.table import Table, read_table
from nspca.errors import InvalidData
from nspca.rounded import WHOLE

MAGIC = b"PAR1"
# Names and statistics in a footer; Arrow's own limit is 100 MB and a million.
_STRING, _CONTAINER = 16 * 2**20, 1_000_000
# A text is kept once however often it occurs. What a page unpacks to is Arrow's business: up to 2 GiB each.
_LONGEST = 10_000
# How pandas calls an index without a name.
_INDEX = "__index_level_"
_WAY_OUT = "save the table again, or as CSV"
_SPARSER = "save it as CSV, or as a sparse matrix with scipy.sparse.save_npz"


def read_parquet(raw: bytes, name: str, how: How, packed: int | None = None) -> Dataset:
    """Read a Parquet table as a Dataset; columns that hold no numbers are names or labels, as in a CSV.

    `packed` counts the bytes of the file that `raw` came in, when that is packed again.
    """
    table = _table(raw, packed or len(raw))
    found = _look(table)

    def body(text: Any, skipped: Any) -> tuple[np.ndarray, dict[int, list[str]]]:
        numbers = [i for i in range(table.num_columns) if i not in set(text)]
        values = np.empty((len(numbers), table.num_rows))
        for row, i in enumerate(numbers):
            values[row] = numbers_of(table.column(i), quoted(found, i))
        return np.ascontiguousarray(values.T), {i: texts_of(table.column(i)) for i in text}

    return read_table(Table(name, found, body), how)


def look_at_parquet(raw: bytes, packed: int | None = None) -> Look:
    """Return the columns of a Parquet table, and which could be names or labels; `packed` as above."""
    return _look(_table(raw, packed or len(raw)))


def look_at_file(file: Any) -> Look:
    """The same of one that stays on disk, a `pyarrow.parquet.ParquetFile`."""
    _check_kinds(file.schema_arrow)
    batches = [*islice(file.iter_batches(ENOUGH_ROWS, use_threads=False), 1)]
    return _look(pa.Table.from_batches(batches, file.schema_arrow))


def _table(raw: bytes, packed: int) -> pa.Table:
    """Read all columns, when the footer is within the limits and the values are what it says."""
    # Imported when it is needed: the start of every page is faster without.
    import pyarrow.parquet as pq

    options = {"thrift_string_size_limit": _STRING, "thrift_container_size_limit": _CONTAINER}
    try:
        file = pq.ParquetFile(pa.BufferReader(raw), **options)
        _check_kinds(file.schema_arrow)
        _check_shape(file.metadata, packed)
        # Arrow itself refuses the metadata of a damaged column here; to ask for them would end the process.
        for group in range(file.metadata.num_row_groups):
            next(file.iter_batches(1, row_groups=[group], use_threads=False), None)
        _check_sizes(file.metadata, len(raw))
        # A text is held once, however often it occurs.
        texts = [
            field.name
            for field in file.schema_arrow
            if kinds.is_string(field.type) or kinds.is_large_string(field.type)
        ]
        table = pq.ParquetFile(pa.BufferReader(raw), read_dictionary=texts, **options).read(use_threads=False)
        table.validate(full=True)
    except InvalidData:
        raise
    except (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError) as error:
        trouble = "is encrypted" if "ncrypt" in str(error) else "is damaged or cut short"
        raise InvalidData(f"The Parquet file {trouble}: {_WAY_OUT}.") from None
    if table.num_rows != file.metadata.num_rows:
        raise InvalidData(f"The footer of the Parquet file says more than the file holds: {_WAY_OUT}.")
    return table


def _check_kinds(schema: pa.Schema) -> None:
    """Refuse columns that hold neither numbers nor text."""
    for field in schema:
        if not _is_number(field.type) and not _is_text(field.type):
            raise InvalidData(
                f'Column "{short(field.name)}" holds {shortened(str(field.type))}: numbers or text are read; '
                f"{_WAY_OUT}."
            )


def _check_shape(about: Any, packed: int) -> None:
    """Refuse what the footer alone shows to be too large.

    The sizes in a footer are those of dictionaries and runs; the values themselves are counted here. Half a
    million equal values take a few bytes in the file and four megabytes in memory.
    """
    rows, columns, groups = about.num_rows, about.num_columns, about.num_row_groups
    limits.check_text_columns(columns)
    limits.check_dense(rows, columns)
    limits.check_growth(8 * rows * columns, packed, "Parquet", _SPARSER)
    if rows < 0 or groups * columns > _CONTAINER:
        raise InvalidData(
            f"The Parquet file says {rows} rows in {groups} row groups of {columns} columns: {_WAY_OUT}, in "
            "one group."
        )


def _check_sizes(about: Any, held: int) -> None:
    """Refuse columns that say they are too large, or that cannot be what they say."""
    rows, columns, groups = about.num_rows, about.num_columns, about.num_row_groups
    plain = packed = counted = 0
    for g in range(groups):
        group = about.row_group(g)
        counted += group.num_rows
        for c in range(columns):
            chunk = group.column(c)
            plain, packed = plain + chunk.total_uncompressed_size, packed + chunk.total_compressed_size
            if (
                chunk.num_values != group.num_rows
                or min(chunk.total_uncompressed_size, chunk.total_compressed_size) < 0
            ):
                raise InvalidData(f"The footer of the Parquet file does not fit its columns: {_WAY_OUT}.")
    if counted != rows or packed > held:
        raise InvalidData(f"The footer of the Parquet file says more than the file holds: {_WAY_OUT}.")
    if plain > MAX_BYTES:
        raise InvalidData(
            f"The Parquet file would unpack to {mib(plain)}, at most {mib(MAX_BYTES)} are read: keep fewer "
            f"columns, or {limits.FROM_DISK}."
        )


def _look(table: pa.Table) -> Look:
    """What its first rows show, as many as of a text: who goes through a file in pieces sees no more."""
    table = table.slice(0, ENOUGH_ROWS)
    names = ["" if name.startswith(_INDEX) else name for name in table.column_names]
    columns, notes = unique_names(names, "column")
    texts = tuple(i for i, field in enumerate(table.schema) if _is_text(field.type))
    empty = tuple(i for i, field in enumerate(table.schema) if kinds.is_null(field.type))
    index = [i for i, name in enumerate(table.column_names) if name.startswith(_INDEX)]
    first = index or [i for i in texts[:1] if i == 0]
    held = {i: texts_of(table.column(i)) for i in {*texts, *first}}
    ids = next((i for i in first if len(set(held[i])) == table.num_rows), None)
    labels = tuple(i for i in texts if i != ids and are_labels(held[i]))
    return Look("", ".", True, columns, texts, empty, ids, labels, (), (tuple(columns),), notes)


def _is_number(kind: pa.DataType) -> bool:
    return (
        kinds.is_integer(kind)
        or kinds.is_floating(kind)
        or kinds.is_boolean(kind)
        or kinds.is_decimal(kind)
        or kinds.is_null(kind)
    )


def _is_text(kind: pa.DataType) -> bool:
    kind = kind.value_type if kinds.is_dictionary(kind) else kind
    return (
        kinds.is_string(kind)
        or kinds.is_large_string(kind)
        or (kinds.is_temporal(kind) and not kinds.is_duration(kind))
    )


def numbers_of(column: pa.ChunkedArray, called: str) -> np.ndarray:
    """float64, NaN where there is no value; `called` as a sentence does."""
    if kinds.is_int64(column.type) or kinds.is_uint64(column.type):
        for chunk in column.chunks:
            whole = chunk.drop_null().to_numpy()
            limits.check_float64(whole, f"column{called}", "name the column as id or label column")
    values = _cast(column, pa.float64()).to_numpy()
    if kinds.is_decimal(column.type) and (large := np.abs(values) >= WHOLE).any():
        way_out = "name the column as id or label column"
        limits.check_decimals((one.as_py() for one in column.filter(large)), f"column{called}", way_out)
    return values


def _cast(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    try:
        return column.cast(kind, safe=False)
    except pa.ArrowException:
        raise InvalidData(f"A column of {column.type} cannot be read: {_WAY_OUT}.") from None


def texts_of(column: pa.ChunkedArray) -> list[str]:
    """One text for each row, empty where there is none; equal ones are one object."""
    if kinds.is_null(column.type):
        return [""] * len(column)
    if not kinds.is_dictionary(column.type):
        column = _cast(column, pa.string()).dictionary_encode()
    out: list[str] = []
    for chunk in column.chunks:
        words = [str(word) if word is not None else "" for word in chunk.dictionary.to_pylist()]
        if max(map(len, words), default=0) > _LONGEST:
            raise InvalidData(
                f"A cell may hold at most {_LONGEST} characters of text: leave that column out."
            )
        out += ["" if j is None else words[j] for j in chunk.indices.to_pylist()]
    return out
