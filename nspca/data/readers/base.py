"""The interface of every file reader: `Source` holds the bytes, `Reader` gives a `Shape` and `Block`s."""

import gzip
import io
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, cast

from nspca.data.read_options import ReadOptions
from nspca.errors import InvalidData
from nspca.progress import Report, silent

GZIP = b"\x1f\x8b"
MOST_PACKED = 1032
"""Plain bytes that one byte of a gzip file can hold at most: the limit of the deflate format."""
USUAL_PACKED = 3
"""Plain bytes that one byte of a gzipped table usually holds, for estimates."""
FIRST = 2**16
"""Bytes from the beginning of a file that tell its format."""
DEFAULT = ReadOptions()


@dataclass(frozen=True)
class Source:
    """A file on disk or the bytes of one. It can be opened many times, and gzip is unpacked on the way.

    Parameters
    ----------
    path : Path or None
        The file; its name then stands in every error.
    raw : bytes
        The content, where there is no path.
    packed : int
        Bytes of the file that `raw` was unpacked from; 0 where `raw` is the file.
    """

    path: Path | None = None
    raw: bytes = b""
    packed: int = 0

    @property
    def of(self) -> str:
        """`` of PATH`` for the middle of a sentence; empty for bytes, which have no name."""
        return "" if self.path is None else f" of {self.path}"

    @property
    def called(self) -> str:
        """The subject of a sentence about the file: its path, or "the file" for bytes."""
        return "the file" if self.path is None else str(self.path)

    def named(self, kind: str) -> str:
        """Return the subject of a sentence about a file of this kind, such as "The Parquet file PATH"."""
        return f"The {kind}" if self.path is None else f"The {kind} {self.path}"

    @property
    def given_bytes(self) -> int:
        """Bytes of the file as the user gave it, whatever it is packed in."""
        return self.packed or self.size

    @property
    def size(self) -> int:
        """Bytes of the file as it is stored."""
        return len(self.raw) if self.path is None else self.path.stat().st_size

    @property
    def is_packed(self) -> bool:
        """Tell whether the file is compressed with gzip."""
        if self.path is None:
            return self.raw.startswith(GZIP)
        with self.path.open("rb") as handle:
            return handle.read(len(GZIP)) == GZIP

    @property
    def most_bytes(self) -> int:
        """Most bytes that the plain content can have."""
        return self.size * (MOST_PACKED if self.is_packed else 1)

    @property
    def usual_bytes(self) -> int:
        """Bytes that the plain content has, about, when it is packed as tables usually are."""
        return self.size * (USUAL_PACKED if self.is_packed else 1)

    def open(self) -> BinaryIO:
        """Open the plain content for reading."""
        stored = io.BytesIO(self.raw) if self.path is None else self.path
        if self.is_packed:
            return cast(BinaryIO, gzip.open(stored, "rb"))
        return stored.open("rb") if isinstance(stored, Path) else stored

    def first(self) -> bytes:
        """Return the first bytes of the plain content."""
        with self.open() as handle:
            try:
                return handle.read(FIRST)
            except (OSError, EOFError, zlib.error):
                raise InvalidData(f"{self.called} is damaged: get it again.") from None

    @contextmanager
    def unpacking(self) -> Iterator[None]:
        """Turn the errors of a damaged gzip file into a sentence."""
        try:
            yield
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise InvalidData(
                f"{self.called} is damaged or cut short as a gzip file: compress it again or give the plain "
                "file."
            ) from None


@dataclass(frozen=True)
class Shape:
    """The size of a table as its header says it.

    Parameters
    ----------
    rows, columns : int
        Columns that are features.
    nonzeros : int
        Stored entries: nonzeros of a sparse table, all entries of a dense one.
    is_sparse : bool
    has_names : bool
        Whether the file names the features.
    is_exact : bool
        Whether `rows` is counted, not estimated from the beginning of a text.
    text_bytes : int
        Bytes of text to be parsed; 0 for binary formats.
    not_counted : str
        The columns that are no features, in words; empty when there are none.
    """

    rows: int
    columns: int
    nonzeros: int
    is_sparse: bool
    has_names: bool = False
    is_exact: bool = True
    text_bytes: int = 0
    not_counted: str = ""


@dataclass(frozen=True)
class Block:
    """Some rows of a table, in the order of the file.

    Parameters
    ----------
    X : (m, n) ndarray or scipy.sparse CSR
        NaN where a value is missing.
    names, labels : sequence of str or None
        Names and groups of these rows, where columns of the file hold them.
    texts : mapping of int to sequence of str
        The cells of the other columns that are no features, by the number of the column.
    """

    X: Any
    names: Sequence[str] | None = None
    labels: Sequence[str] | None = None
    texts: Mapping[int, Sequence[str]] = field(default_factory=dict)


class Reader(ABC):
    """A file of one format, of which the header has been read.

    Parameters
    ----------
    source : Source
    options : ReadOptions
    on_disk : bool
        Whether the blocks go to a folder of shards. Then missing values are refused at once, and an error
        names the line of the file.
    report : callable
        Gets progress events and may raise `Cancelled`.
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
        self.notes: tuple[str, ...] = ()
        self._read_header()

    @staticmethod
    @abstractmethod
    def matches(first: bytes) -> bool:
        """Tell whether a file with these first bytes has this format."""

    @abstractmethod
    def _read_header(self) -> None:
        """Read the header; set what `shape` needs."""

    @property
    @abstractmethod
    def shape(self) -> Shape:
        """The size of the table as the header says it, whether or not the file is long enough."""

    def probe(self) -> Shape:
        """Return the size of the table, after checking that the file is long enough for it.

        Raises
        ------
        InvalidData
            When the header promises more than a file of this length can hold.
        """
        return self.shape

    def feature_names(self) -> Sequence[str] | None:
        """Return the names of the features, where a file without columns of text has them."""
        return None

    @abstractmethod
    def blocks(self, rows: int | None = None, spill: Path | None = None) -> Iterator[Block]:
        """Yield the rows of the table in the order of the file, block by block.

        Parameters
        ----------
        rows : int, optional
            Rows of a block where the format does not decide it; all rows when not given.
        spill : Path, optional
            A folder for what has to wait on disk when entries come in any order.
        """
