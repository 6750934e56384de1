"""The interface of the file readers: `Source` holds the bytes, `Reader` returns a `Size` and `Block`s."""

import gzip
import io
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import scipy.sparse as sp

from nspca.data.arrays import make_dataset, plain_numbers
from nspca.data.dataset import Dataset
from nspca.data.findings import Finding
from nspca.data.limits import MOST_PACKED, Files, check_dense, check_growth, check_sparse
from nspca.data.options import ReadOptions
from nspca.errors import InvalidData
from nspca.progress import Report, silent
from nspca.validation.archive import MAX_BYTES, mib

if TYPE_CHECKING:
    from nspca.data.dialect import Layout

GZIP = b"\x1f\x8b"
USUAL_PACKED = 3
"""Usual ratio of plain to compressed bytes of a gzipped table, for estimates."""
FIRST = 2**16
"""Number of bytes at the beginning of a file that its format is found from."""
DEFAULT = ReadOptions()


@dataclass(frozen=True)
class Strings:
    """Table whose cells are all texts, stored by column."""

    header: tuple[str, ...]
    columns: list[list[str]]
    notes: tuple[Finding | str, ...] = ()


@dataclass(frozen=True)
class Source:
    """A file on disk (`path`), or the bytes of a file in memory (`raw`). `open` decompresses gzip.

    `packed` is the size of the compressed file that contained `raw`, 0 when `raw` is the whole file. `name`
    is that of the file, `title` that of the data set. `files` are those of a ZIP or folder, each with a
    function that reads it. `annotation` is a table about the samples, which tells whether these are in rows.
    `layouts` and `converted` get what a reader found, also where the file is refused later.
    """

    path: Path | None = None
    raw: bytes = b""
    packed: int = 0
    name: str = ""
    files: Files | None = None
    title: str = "upload"
    vocabulary: bytes | None = None
    annotation: Strings | None = None
    layouts: "list[Layout]" = field(default_factory=list, compare=False)
    converted: "list[Converted]" = field(default_factory=list, compare=False)

    @property
    def of(self) -> str:
        """`` of PATH`` for the middle of a sentence; empty for bytes, which have no name."""
        return "" if self.path is None else f" of {self.path}"

    @property
    def called(self) -> str:
        """The subject of a sentence about the file: its path, or "the file" for bytes."""
        return "the file" if self.path is None else str(self.path)

    @property
    def given_bytes(self) -> int:
        """Size in bytes of the file as the user gave it, with all its compression."""
        return self.packed or self.size

    @property
    def size(self) -> int:
        """Size in bytes of the file or of `raw`, not decompressed."""
        return len(self.raw) if self.path is None else self.path.stat().st_size

    @property
    def is_packed(self) -> bool:
        """Tell whether the file is compressed with gzip."""
        with io.BytesIO(self.raw) if self.path is None else self.path.open("rb") as handle:
            return handle.read(len(GZIP)) == GZIP

    @property
    def most_bytes(self) -> int:
        """Upper bound on the bytes of the decompressed content."""
        return self.size * (MOST_PACKED if self.is_packed else 1)

    @property
    def usual_bytes(self) -> int:
        """Estimate of the bytes of the decompressed content, at the usual compression of tables."""
        return self.size * (USUAL_PACKED if self.is_packed else 1)

    def open(self) -> BinaryIO:
        """Open the decompressed content for reading."""
        stored = io.BytesIO(self.raw) if self.path is None else self.path
        if self.is_packed:
            return cast(BinaryIO, gzip.open(stored))
        return stored.open("rb") if isinstance(stored, Path) else stored

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the files of a ZIP or folder; empty for any other file."""
        return tuple(name for name, _ in self.files or ())

    def first(self) -> bytes:
        """Return the first `FIRST` bytes of the decompressed content; none of a folder."""
        if self.path is not None and self.path.is_dir():
            return b""
        with self.unpacking(), self.open() as handle:
            return handle.read(FIRST)

    def last(self, count: int) -> bytes:
        """Return the last bytes of the content, at most `count`, as they are stored."""
        if self.path is None:
            return self.raw[-count:]
        with self.path.open("rb") as handle:
            handle.seek(max(0, self.size - count))
            return handle.read()

    @contextmanager
    def unpacking(self) -> Iterator[None]:
        """Turn the errors of a damaged gzip file into `InvalidData`."""
        try:
            yield
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise InvalidData(
                f"{self.called} is damaged or cut short as a gzip file: compress it again or give the plain "
                "file."
            ) from None


@dataclass(frozen=True)
class Size:
    """The size of a table, in a file according to its header, and where it is.

    `columns` are those that are features, and `not_counted` says the others in words. `entries` are the
    nonzeros of a sparse table, all entries of a dense one. The rows are counted, or estimated from the first
    megabyte if not `exact`. `at` is "memory", "shards" or "file"; `text` counts bytes of text to be parsed.
    """

    rows: int
    columns: int
    entries: int
    sparse: bool
    exact: bool = True
    at: str = "file"
    text: int = 0
    not_counted: str = ""


@dataclass(frozen=True)
class Block:
    """Consecutive rows of a table: an array or CSR matrix, with NaN where a value is missing.

    `texts` are the cells of the columns that are neither features nor names nor labels, by column number.
    """

    X: Any
    texts: Mapping[int, Sequence[str]] = field(default_factory=dict)


class Reader(ABC):
    """Base class of the readers, one for each file format. The constructor parses the header.

    A file `on_disk` is read block by block for a folder of shards. Missing values are then refused at once,
    and errors name the line of the file. `report` gets progress events and may raise `Cancelled`.
    """

    def __init__(
        self,
        source: Source,
        options: ReadOptions = DEFAULT,
        *,
        on_disk: bool = False,
        report: Report = silent,
    ) -> None:
        self.source, self.options, self.on_disk, self.report = source, options, on_disk, report
        self.findings: tuple[Finding | str, ...] = ()
        self._read_header()

    @abstractmethod
    def _read_header(self) -> None:
        """Parse the header and set the attributes that `shape` needs."""

    @property
    @abstractmethod
    def shape(self) -> Size:
        """Size of the table according to the header, even if the file is too short for it."""

    def probe(self) -> Size:
        """Return the size of the table; refuse a header that claims more than such a file can hold."""
        return self.shape

    def feature_names(self) -> Sequence[str] | None:
        """Return the feature names that a file without named columns holds beside its numbers, or None."""
        return None

    def about(self) -> dict[str, Any]:
        """Return what the file says beside its numbers, as fields of `Dataset`."""
        return {"findings": self.findings}

    def close(self) -> None:  # noqa: B027
        """Close the file where it was left open."""

    @abstractmethod
    def blocks(self, rows: int | None = None, spill: Path | None = None) -> Iterator[Block]:
        """Yield the rows of the table in the order of the file, `rows` at a time unless the format decides.

        `spill` is a folder for temporary files, needed to sort entries that come in any order.
        """


def read_matrix(reader: Reader) -> Dataset:
    """Return the matrix of a reader, whose header must claim no more than the file holds and memory takes."""
    with closing(reader):
        size = reader.probe()
        if size.sparse:
            check_sparse(size.rows, size.columns, size.entries)
        else:
            check_dense(size.rows, size.columns)
        (block,) = reader.blocks()
        X = block.X if sp.issparse(block.X) else plain_numbers(block.X)
        return make_dataset(X, reader.source.title, reader.options, **reader.about())


@dataclass(frozen=True)
class Converted:
    """A table in UTF-8 that a file of another format was converted to.

    `options` of reading hold unless the user gave others. An `annotation` is joined by the names of samples.
    """

    text: bytes
    delimiter: str = ","
    options: Mapping[str, Any] = field(default_factory=dict)
    annotation: Strings | None = None
    findings: tuple[Finding | str, ...] = ()


def join_pieces(pieces: Iterable[bytes], source: Source, what: str) -> bytes:
    """Return a table that is converted to text piece by piece; refuse one that grows too much.

    `what` is the name of the format, for the error.
    """
    held = io.BytesIO()
    for piece in pieces:
        held.write(piece)
        check_growth(held.tell(), source.given_bytes, what, "save the table as CSV")
        if held.tell() > MAX_BYTES:
            raise InvalidData(f"The {what} file is more than {mib(MAX_BYTES)} of text: keep fewer columns.")
    return held.getvalue()


@dataclass(frozen=True)
class Format:
    """A file format: how it is recognised, and one way to read it.

    `name` is the format in words, such as ``an Excel workbook``. `matches` tells a source of this format from
    its first bytes or its files. Of the ways, `convert` returns the table of the file as text, `read` the
    `Dataset`, and `refused` says of a format that is not read what to do instead. `reader` reads the rows of
    a file on disk block by block; without the others, it reads a file in memory too. `labels` returns name
    and content of a table beside the data that may have their labels. `is_apart` says that an upload is
    always read in a sandbox, since its library is not trusted with the server's own process.
    """

    name: str
    matches: Callable[[Source], bool]
    convert: Callable[[Source, ReadOptions], Converted] | None = None
    read: Callable[[Source, ReadOptions, Report], Dataset] | None = None
    reader: type[Reader] | None = None
    labels: Callable[[Source], tuple[str, Callable[[], bytes]] | None] | None = None
    refused: str = ""
    is_apart: bool = False
