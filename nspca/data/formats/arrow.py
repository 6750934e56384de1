"""Read the tables of Arrow, Parquet and Feather files, as CSV that Arrow writes some rows at a time."""

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, BinaryIO

from nspca.data.formats.base import Converted, Format, Source, join_pieces
from nspca.data.formats.delimited import DelimitedReader
from nspca.data.limits import check_dense
from nspca.data.names import short
from nspca.data.options import ReadOptions
from nspca.errors import InvalidData, Late
from nspca.validation.archive import shortened

pa: Any = Late("pyarrow", "Parquet and Feather files", "files")
compute: Any = Late("pyarrow.compute", "Parquet and Feather files", "files")
csv_of: Any = Late("pyarrow.csv", "Parquet and Feather files", "files")
kinds: Any = Late("pyarrow.types", "Parquet and Feather files", "files")
pq: Any = Late("pyarrow.parquet", "Parquet and Feather files", "files")
PARQUET_MAGIC, FEATHER_MAGIC = b"PAR1", b"ARROW1"
"""First bytes of the two formats."""
STEP = 2**18
"""Numbers written at a time: 5 MB of text."""
_TEXT = 2**24
"""Bytes of texts written at a time, as if each row had the longest of them."""
_INDEX = "__index_level_"
"""Beginning of the column name that pandas gives to an index without a name."""


@contextmanager
def _guarded(source: Source) -> Iterator[str]:
    """Turn the errors of Arrow about a damaged file into `InvalidData`; give the name of its format."""
    what = "Feather" if source.first().startswith(FEATHER_MAGIC) else "Parquet"
    try:
        yield what
    except InvalidData:
        raise
    except (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError) as error:
        trouble = "is encrypted" if "ncrypt" in str(error) else "is damaged or cut short"
        raise InvalidData(f"The {what} file{source.of} {trouble}: save it again, or as CSV.") from None


def _open_parquet(source: Source) -> Any:
    """Return a Parquet file, after checking that one row of each part can be read.

    Arrow raises for damaged columns while it reads, and ends the process when it is asked for their metadata.
    """

    def opened(texts: Sequence[str] = ()) -> Any:
        plain = source.path or pa.BufferReader(source.raw)
        return pq.ParquetFile(source.open() if source.is_packed else plain, read_dictionary=texts)

    schema = opened().schema_arrow
    _check_kinds(schema)
    # A text that is repeated is held once.
    file = opened([field.name for field in schema if _is_text(field.type)])
    if file.metadata.num_rows < 0 or file.metadata.num_row_groups > 100_000:
        raise InvalidData("The footer of the Parquet file is damaged: save it again, or as CSV.")
    for group in range(file.metadata.num_row_groups):
        next(file.iter_batches(1, row_groups=[group], use_threads=False), None)
    return file


def _is_text(kind: Any) -> bool:
    return bool(kinds.is_string(kind) or kinds.is_large_string(kind))


def _check_kinds(schema: Any) -> None:
    """Refuse a table with a column that is neither numbers nor texts."""
    known = (
        kinds.is_integer, kinds.is_floating, kinds.is_boolean, kinds.is_decimal, kinds.is_null,
        kinds.is_string, kinds.is_large_string, kinds.is_date, kinds.is_time, kinds.is_timestamp,
    )  # fmt: skip
    for field in schema:
        kind = field.type.value_type if kinds.is_dictionary(field.type) else field.type
        if not any(is_known(kind) for is_known in known):
            raise InvalidData(
                f'Column "{short(field.name)}" holds {shortened(str(field.type))}: numbers or text are read; '
                "save the table again, or as CSV."
            )


def _find_options(schema: Any) -> dict[str, Any]:
    """Return options of reading: the index of a data frame names the samples."""
    return {"header": True, "id_column": 0} if len(_find_index(schema)) == 1 else {"header": True}


def _find_index(schema: Any) -> list[str]:
    """Return the columns that pandas wrote as the index of a data frame."""
    try:
        listed = (schema.pandas_metadata or {}).get("index_columns", ())
        return [name for name in listed if isinstance(name, str) and name in schema.names]
    except (ValueError, AttributeError, TypeError, RecursionError):  # the words of a stranger
        return []


def _write_csv(source: Source) -> Iterator[bytes]:
    """Yield a table as CSV, the header first, then some rows at a time. An index stands in front."""
    with _guarded(source):
        schema, _, batches = _open(source)
        index, names = _find_index(schema), schema.names
        order = sorted(range(len(names)), key=lambda i: names[i] not in index)
        header = io.StringIO()
        csv.writer(header, lineterminator="\n").writerow(
            "" if names[i].startswith(_INDEX) else names[i] for i in order
        )
        yield header.getvalue().encode()
        as_they_are = kinds.is_integer, kinds.is_float32, kinds.is_float64
        odd = {i for i, kind in enumerate(schema.types) if not any(is_kind(kind) for is_kind in as_they_are)}
        for batch in batches:
            batch.validate(full=True)
            step = max(1, _TEXT // max(1, sum(_longest(batch.column(i)) for i in odd)))
            for start in range(0, len(batch), step):
                held = batch.slice(start, step).columns
                columns = [_plain(held[i]) if i in odd else held[i] for i in order]
                rows = pa.RecordBatch.from_arrays(columns, [*map(str, order)])
                stream = io.BytesIO()
                csv_of.write_csv(rows, stream, csv_of.WriteOptions(include_header=False))
                yield stream.getvalue()


def _longest(column: Any) -> int:
    """Return the bytes of the longest text that a column repeats by its number; 0 for any other column."""
    if not kinds.is_dictionary(column.type) or not _is_text(column.type.value_type):
        return 0
    return compute.max(compute.binary_length(column.dictionary)).as_py() or 0


def _plain(column: Any) -> Any:
    """Return a column as numbers or texts that CSV can hold."""
    kind = column.type
    if kinds.is_dictionary(kind):
        column = column.dictionary_decode()
    elif kinds.is_boolean(kind):
        column = column.cast(pa.int8())
    elif kinds.is_float16(kind):
        column = column.cast(pa.float32())
    elif kinds.is_temporal(kind) or kinds.is_decimal(kind):
        try:
            column = column.cast(pa.string())
        except pa.ArrowException:
            raise InvalidData(f"A column of {kind} cannot be read: save the table as CSV.") from None
        # Whole numbers beyond 2**53 are written as such, so that digits that float64 loses are refused.
        column = compute.replace_substring_regex(column, r"^(-?\d{16,})\.0+$", r"\1")
    return column


def _open(source: Source) -> tuple[Any, int, Iterator[Any]]:
    """Return schema, rows (0 where the header does not say) and batches of a Parquet or Feather file."""
    if source.first().startswith(FEATHER_MAGIC):
        file = pa.ipc.open_file(pa.BufferReader(source.raw))
        _check_kinds(file.schema)
        return file.schema, 0, map(file.get_batch, range(file.num_record_batches))
    file = _open_parquet(source)
    return file.schema_arrow, int(file.metadata.num_rows), _checked(file)


def _checked(file: Any) -> Iterator[Any]:
    """Yield the rows of a Parquet file; refuse a footer that says more or less than the file holds."""
    held = 0
    for batch in file.iter_batches(max(1, STEP // max(1, len(file.schema_arrow))), use_threads=False):
        held += len(batch)
        yield batch
    if held != file.metadata.num_rows:
        raise InvalidData("The footer of the Parquet file does not fit its rows: save it again, or as CSV.")


def convert(source: Source, options: ReadOptions) -> Converted:
    """Return a Parquet or Feather file as CSV; the size that a footer claims is checked first."""
    with _guarded(source) as what:
        schema, rows, _ = _open(source)
        check_dense(rows, len(schema))
        return Converted(join_pieces(_write_csv(source), source, what), options=_find_options(schema))


class ParquetReader(DelimitedReader):
    """Reader of a Parquet table on disk, whose rows become CSV while they are read."""

    is_exact = True
    text_bytes = 0

    def _read_header(self) -> None:
        given = self.source
        with _guarded(given):
            schema, self._rows, _ = _open(given)
        self.options = self.options.filled({"delimiter": ",", **_find_options(schema)})
        self.source = _CsvSource(given.path, layouts=given.layouts, pieces=partial(_write_csv, given))
        super()._read_header()

    @property
    def rows(self) -> int:
        return self._rows


@dataclass(frozen=True)
class _CsvSource(Source):
    """A source whose content is CSV that is written while it is read."""

    pieces: Callable[[], Iterator[bytes]] = lambda: iter(())
    is_packed = False

    def open(self) -> BinaryIO:
        return io.BufferedReader(_Stream(self.pieces()))


class _Stream(io.RawIOBase):
    def __init__(self, pieces: Iterator[bytes]) -> None:
        self.pieces, self.held = pieces, b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self.held = self.held or next(filter(None, self.pieces), b"")
        count = min(len(buffer), len(self.held))
        buffer[:count], self.held = self.held[:count], self.held[count:]
        return count


PARQUET = Format(
    "a Parquet file",
    lambda source: source.first().startswith(PARQUET_MAGIC),
    convert=convert,
    reader=ParquetReader,
    is_apart=True,
)
FEATHER = Format(
    "a Feather file",
    lambda source: source.first().startswith(FEATHER_MAGIC),
    convert=convert,
    is_apart=True,
)
