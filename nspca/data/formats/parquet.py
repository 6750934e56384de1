"""Read Parquet files. The sizes in the footer are checked before a column is read."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

import numpy as np

from nspca.data import limits
from nspca.data.dataset import Dataset
from nspca.data.dialect import ENOUGH_ROWS, Layout, are_labels, quoted
from nspca.data.findings import Finding
from nspca.data.formats.base import Format, Source
from nspca.data.formats.tables import Piece, TableReader, read_table
from nspca.data.names import short, unique_names
from nspca.data.numerals import Numerals
from nspca.data.options import ReadOptions
from nspca.errors import InvalidData, Late
from nspca.progress import Report
from nspca.validation.archive import MAX_BYTES, mib, shortened
from nspca.validation.integers import LARGEST_EXACT

pa: Any = Late("pyarrow", "Parquet files", "files")
kinds: Any = Late("pyarrow.types", "Parquet files", "files")
pq: Any = Late("pyarrow.parquet", "Parquet files", "files")
MAGIC = b"PAR1"
STEP = 2**21
"""Numbers read at a time: 16 MiB."""
_STRING, _CONTAINER = 16 * 2**20, 1_000_000
"""Maximum bytes of a text in the footer (Arrow's default is 100 MB), and maximum items of a list."""
_LONGEST = 10_000
"""Maximum characters of a cell of text."""
_INDEX = "__index_level_"
"""Beginning of the column name that pandas gives to an index without a name."""
_WAY_OUT = "save the table again, or as CSV"
_TOO_MUCH = f"The footer of the Parquet file says more than the file holds: {_WAY_OUT}."
_SPARSER = "save it as CSV, or as a sparse matrix with scipy.sparse.save_npz"


class ParquetReader(TableReader):
    """Reader of a Parquet table. Text columns are sample names or labels, as in a CSV file."""

    def _read_header(self) -> None:
        with self._guarded():
            file = self._open()
            check_kinds(file.schema_arrow)
            self._check_shape(file.metadata)
            # Reading one row makes Arrow raise for damaged columns. Asking for their metadata, as
            # _check_sizes does, would crash the process.
            for group in range(file.metadata.num_row_groups):
                next(file.iter_batches(1, row_groups=[group], use_threads=False), None)
            self._check_sizes(file.metadata)
            batches = [*islice(file.iter_batches(ENOUGH_ROWS, use_threads=False), 1)]
            self.layout = _find_layout(pa.Table.from_batches(batches, file.schema_arrow))
            self._rows = int(file.metadata.num_rows)
            self.findings = self.layout.findings
            self.source.layouts.append(self.layout)

    def _open(self, texts: Sequence[str] = ()) -> Any:
        plain = self.source.path or pa.BufferReader(self.source.raw)
        return pq.ParquetFile(
            self.source.open() if self.source.is_packed else plain,
            read_dictionary=texts,
            thrift_string_size_limit=_STRING,
            thrift_container_size_limit=_CONTAINER,
        )

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            yield
        except InvalidData:
            raise
        except (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError) as error:
            trouble = "is encrypted" if "ncrypt" in str(error) else "is damaged or cut short"
            raise InvalidData(f"{self._called} {trouble}: {_WAY_OUT}.") from None

    @property
    def _called(self) -> str:
        """Name of the file for the beginning of an error."""
        return "The Parquet file" if self.source.path is None else f"The Parquet file {self.source.path}"

    @property
    def rows(self) -> int:
        return self._rows

    most_rows = rows

    def pieces(self, texts: Sequence[int], skipped: Sequence[int] = ()) -> Iterator[Piece]:
        """Yield the rows, `STEP` numbers at a time; see `TableReader.pieces`. A missing value is NaN."""
        numbers = [i for i in range(len(self.layout.columns)) if i not in set(texts)]
        held = 0
        with self._guarded():
            schema = self._open().schema_arrow
            words = [
                one.name for one in schema if kinds.is_string(one.type) or kinds.is_large_string(one.type)
            ]
            file = self._open(words)
            for batch in file.iter_batches(max(1, STEP // len(self.layout.columns)), use_threads=False):
                batch.validate(full=True)
                table = pa.Table.from_batches([batch])
                X = np.empty((len(table), len(numbers)))
                for j, i in enumerate(numbers):
                    X[:, j] = numbers_of(table.column(i), quoted(self.layout, i))
                held += len(table)
                if held <= self._rows:
                    yield X, {i: texts_of(table.column(i)) for i in texts}
        if held != self._rows:
            raise InvalidData(_TOO_MUCH)

    def _check_shape(self, about: Any) -> None:
        """Refuse a table that is too large according to the footer.

        The number of values is counted, not the bytes that the footer states: half a million equal values
        take a few bytes in the file and four megabytes in memory.
        """
        rows, columns, groups = about.num_rows, about.num_columns, about.num_row_groups
        limits.check_text_columns(columns)
        if not self.on_disk:
            limits.check_dense(rows, columns)
            limits.check_growth(8 * rows * columns, self.source.given_bytes, "Parquet", _SPARSER)
        if rows < 0 or groups * columns > _CONTAINER:
            raise InvalidData(
                f"{self._called} says {rows} rows in {groups} row groups of {columns} columns: {_WAY_OUT}, "
                "in one group."
            )

    def _check_sizes(self, about: Any) -> None:
        """Refuse columns that are too large according to the footer, or that contradict the footer."""
        rows, columns, groups = about.num_rows, about.num_columns, about.num_row_groups
        plain = packed = counted = 0
        for g in range(groups):
            group = about.row_group(g)
            counted += group.num_rows
            for c in range(columns):
                chunk = group.column(c)
                sizes = chunk.total_uncompressed_size, chunk.total_compressed_size
                plain, packed = plain + sizes[0], packed + sizes[1]
                if chunk.num_values != group.num_rows or min(sizes) < 0:
                    raise InvalidData(f"The footer of the Parquet file does not fit its columns: {_WAY_OUT}.")
        if counted != rows or packed > self.source.most_bytes:
            raise InvalidData(_TOO_MUCH)
        if plain > MAX_BYTES and not self.on_disk:
            raise InvalidData(
                f"{self._called} would unpack to {mib(plain)}, at most {mib(MAX_BYTES)} are read: keep fewer "
                f"columns, or {limits.FROM_DISK}."
            )


def check_kinds(schema: Any) -> None:
    """Refuse an Arrow table with a column that is neither numbers nor text."""
    for field in schema:
        if not _is_number(field.type) and not _is_text(field.type):
            raise InvalidData(
                f'Column "{short(field.name)}" holds {shortened(str(field.type))}: numbers or text are read; '
                f"{_WAY_OUT}."
            )


def _find_layout(table: Any) -> Layout:
    names = ["" if name.startswith(_INDEX) else name for name in table.column_names]
    columns, notes = unique_names(names, "column")
    named = _index_of(table.schema)
    texts = tuple(i for i, field in enumerate(table.schema) if _is_text(field.type))
    empty = tuple(i for i, field in enumerate(table.schema) if kinds.is_null(field.type))
    index = [i for i, name in enumerate(table.column_names) if name.startswith(_INDEX) or name in named]
    first = index or [i for i in texts[:1] if i == 0]
    held = {i: texts_of(table.column(i)) for i in {*texts, *first}}
    ids = next((i for i in first if len(set(held[i])) == table.num_rows), None)
    labels = tuple(i for i in texts if i != ids and are_labels(held[i]))
    rows = [[str(cell) for cell in row.values()] for row in table.slice(0, ENOUGH_ROWS).to_pylist()]
    return Layout(
        "",
        Numerals(),
        True,
        columns,
        texts,
        empty,
        id_column=ids,
        label_columns=labels,
        rows=(tuple(columns), *map(tuple, rows)),
        findings=tuple(map(Finding, notes)),
    )


def _index_of(schema: Any) -> tuple[str, ...]:
    """Return the names of the columns that pandas wrote as the index of a data frame."""
    try:
        index = (schema.pandas_metadata or {}).get("index_columns", ())
        return tuple(name for name in index if isinstance(name, str))
    except (ValueError, AttributeError, TypeError, RecursionError):  # the words of a stranger
        return ()


def _is_number(kind: Any) -> bool:
    return bool(
        kinds.is_integer(kind)
        or kinds.is_floating(kind)
        or kinds.is_boolean(kind)
        or kinds.is_decimal(kind)
        or kinds.is_null(kind)
    )


def _is_text(kind: Any) -> bool:
    kind = kind.value_type if kinds.is_dictionary(kind) else kind
    return bool(
        kinds.is_string(kind)
        or kinds.is_large_string(kind)
        or (kinds.is_temporal(kind) and not kinds.is_duration(kind))
    )


def numbers_of(column: Any, called: str) -> np.ndarray:
    """Return a column as float64 with NaN for missing values; `called` is its name for errors."""
    if kinds.is_int64(column.type) or kinds.is_uint64(column.type):
        for chunk in column.chunks:
            whole = chunk.drop_null().to_numpy()
            limits.check_float64(whole, f"column{called}", "name the column as id or label column")
    values: np.ndarray = _cast(column, pa.float64()).to_numpy()
    if kinds.is_decimal(column.type) and (large := np.abs(values) >= LARGEST_EXACT).any():
        way_out = "name the column as id or label column"
        limits.check_decimals((one.as_py() for one in column.filter(large)), f"column{called}", way_out)
    return values


def _cast(column: Any, kind: Any) -> Any:
    """Return a column converted to another type; refuse a column that cannot be converted."""
    try:
        return column.cast(kind, safe=False)
    except pa.ArrowException:
        raise InvalidData(f"A column of {column.type} cannot be read: {_WAY_OUT}.") from None


def texts_of(column: Any) -> list[str]:
    """Return the texts of a column, "" for missing ones. Equal texts are one object, to save memory."""
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


def read(source: Source, options: ReadOptions, report: Report) -> Dataset:
    """Return the table of a Parquet file in memory."""
    return read_table(ParquetReader(source, options, report=report), source.title, (), source.annotation)


FORMAT = Format(
    "a Parquet file", lambda source: source.first().startswith(MAGIC), read=read, reader=ParquetReader
)
