"""Read tables of text (CSV, TSV and the like) in pieces of whole rows.

A table in memory must be UTF-8 (see `as_utf8`). A table on disk may have any encoding and is converted piece
by piece.
"""

import codecs
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import chain, islice

import numpy as np

from nspca.data.cells import Cells, rows_of
from nspca.data.formats.base import Source
from nspca.data.formats.tables import Piece, TableReader
from nspca.data.layout import Layout, as_utf8, find_layout, stripped, trimmed
from nspca.data.limits import MAX_LINE, check_lines
from nspca.data.missing import refusal
from nspca.data.thousands import check_written
from nspca.errors import InvalidData, MissingValues

PIECE = 8 * 2**20
"""Bytes of text parsed at a time."""
PER_COLUMN = 2**14
"""Minimum bytes of a piece per column, in memory. Pandas needs 60 microseconds per column and piece; parsing
so many bytes takes five times as long.
"""
HEAD = 2**20
"""Number of bytes at the beginning of a table that its layout is found from."""
_SHOWN = 10
"""Minimum lines for finding the layout, even if they are longer than `HEAD`."""
_BARE = b",;\t |\r\n"
"""Characters of the empty lines that spreadsheets write below a table."""


class DelimitedReader(TableReader):
    """Reader of a text table whose columns are separated by a delimiter."""

    @staticmethod
    def matches(first: bytes) -> bool:
        """Return True: a file that no other reader takes is tried as text."""
        return True

    def _read_header(self) -> None:
        """Read the beginning of the text and find its layout."""
        self._text = DelimitedText(self.source)
        options = self.options
        head = stripped(as_utf8(self._text.head)[0])
        self.layout = find_layout(
            head, header=options.header, delimiter=options.delimiter, decimal=options.decimal
        )
        check_written(self.layout, options)
        self.notes = self.layout.notes

    @property
    def rows(self) -> int:
        """Number of rows: exact for a short text, estimated from the beginning of a long one."""
        text = self._text
        rows = sum(any(map(str.strip, row)) for _, row in rows_of(text.head, self.layout.delimiter))
        if text.taken:
            rows = round(rows * self.source.usual_bytes / text.taken)
        return max(1, rows - self.layout.header)

    @property
    def is_exact(self) -> bool:  # type: ignore[override]
        """Tell whether `rows` is exact, because the text is short."""
        return not self._text.taken

    @property
    def text_bytes(self) -> int:  # type: ignore[override]
        """Bytes of the text, estimated if it is long and compressed."""
        return self.source.usual_bytes if self._text.taken else len(self._text.head)

    @property
    def most_rows(self) -> int:
        """Number of lines, header included, of a text in memory: an upper bound on the number of rows."""
        raw = self.source.raw
        return _count_lines(raw) + (not raw.endswith((b"\n", b"\r")))

    def pieces(self, texts: Sequence[int], skipped: Sequence[int] = ()) -> Iterator[Piece]:
        """Yield the rows, some megabytes of text at a time; see `TableReader.pieces`.

        On disk, errors name the line of the file, and the first missing value is refused. In memory, errors
        name the row. Missing values are then NaN, or all refused together at the end.
        """
        gaps = _Gaps()
        allowed = self.options.missing != "refuse" and not self.on_disk
        before = 0
        for raw, line in self._cut():
            cells = Cells(raw, self.layout, allowed, line if self.on_disk else None, before)
            values, found, gap = cells.read(texts, skipped)
            gaps.add(values, gap)
            before += (len(values) or len(next(iter(found.values()), ()))) + len(skipped)
            skipped = ()
            yield values, found
        self.notes = (*self.layout.notes, *self._text.notes)
        gaps.check()

    def _cut(self) -> Iterator[tuple[bytes, int]]:
        """Yield pieces of the text, each with the header, and the number of lines of the file above it.

        The first one has all rows that the layout knows.
        """
        most = PIECE
        if not self.on_disk:
            most = max(PIECE, PER_COLUMN * len(self.layout.columns), len(self._text.head))
            if b'"' in self.source.raw:  # only parsing all cells tells where rows end, so the text is not cut
                yield trimmed(self.source.raw), 0
                return
        yield from self._text.pieces(self.layout, most)


class _Gaps:
    """Counts the missing values of a table, for the error that refuses them."""

    def __init__(self) -> None:
        self.first = ""
        self.cells = self.rows = 0
        self.shape = 0, 0
        self.columns: np.ndarray | None = None

    def add(self, values: np.ndarray, first: str) -> None:
        """Count the missing values (NaN) of some rows.

        `first` describes the first one; empty when there is none or missing values are allowed.
        """
        self.shape = self.shape[0] + len(values), values.shape[1]
        if not first:
            return
        missing = np.isnan(values)
        self.first = self.first or first
        self.cells += int(missing.sum())
        self.rows += int(missing.any(axis=1).sum())
        here = missing.any(axis=0)
        self.columns = here if self.columns is None else self.columns | here

    def check(self) -> None:
        """Refuse the table if missing values were counted."""
        if self.columns is not None:
            counts = self.cells, self.rows, int(self.columns.sum())
            raise MissingValues(refusal(self.first, *counts), *counts, shape=self.shape)


class DelimitedText:
    """The text of a table on disk or in memory. The constructor reads its beginning.

    Attributes
    ----------
    head : bytes
        Whole lines from the beginning, as UTF-8, enough to find the layout.
    taken : int
        Approximate size in bytes of `head` in the decompressed file; 0 when it is the whole text.
    notes : tuple of str
        Notes about the encoding so far.
    """

    def __init__(self, source: Source):
        self.source = source
        self.notes: tuple[str, ...] = ()
        self.head, self.taken = b"", 0
        for number, text in enumerate(self._decoded()):
            if len(self.head) >= HEAD and (
                _count_lines(self.head) >= _SHOWN or len(self.head) >= _SHOWN * MAX_LINE
            ):
                end = _find_last_line(self.head) or len(self.head)
                self.head, self.taken = self.head[:end], number * HEAD * end // len(self.head)
                break
            self.head += text

    def pieces(self, layout: Layout, most: int) -> Iterator[tuple[bytes, int]]:
        """Yield pieces of the text, each with the header, and the number of lines of the file above it.

        A piece has about `most` bytes. A row is never cut.
        """
        above = len(self.head) - len(self.head.lstrip(b"\r\n"))
        if layout.header:
            above += _find_row(self.head[above:], layout.delimiter, 1)
        header = self.head[:above].lstrip(b"\r\n")
        line, skip = _count_lines(self.head[:above]) - _count_lines(header), above
        parts, size = [b""], 0
        for text in chain(self._decoded(), (b"",)):
            parts.append(text)
            size += len(text)
            if text and size - skip < most:
                continue
            rest = b"".join(parts)
            check_lines(rest)
            rest, skip = rest[skip:], 0
            end = _find_last_row(rest, layout.delimiter) if text else len(rest)
            filled = _find_filled_end(rest[:end])
            if end - filled < MAX_LINE:  # empty lines wait for the next piece, unless they are very many
                end = filled
            if end and not rest[:end].isspace():
                yield header + rest[:end], line
            line += _count_lines(rest[:end])
            rest = rest[end:]
            parts, size = [rest], len(rest)

    def _decoded(self) -> Iterator[bytes]:
        """Yield the text as UTF-8. Text that is not UTF-8 is taken as Western European (cp1252)."""
        with self.source.unpacking(), self.source.open() as handle:
            raw = handle.read(HEAD)
            wide = raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
            decoder: codecs.IncrementalDecoder
            decoder = codecs.getincrementaldecoder("utf-16" if wide else "utf-8")()
            raw, ascii_so_far = raw.removeprefix(codecs.BOM_UTF8), True
            while raw or decoder.getstate()[0]:
                held = decoder.getstate()[0]
                try:
                    text = decoder.decode(raw, final=not raw)
                except UnicodeDecodeError:
                    if wide or not ascii_so_far:
                        raise InvalidData(
                            f"{self.source.called} begins as {'UTF-16' if wide else 'UTF-8'} text and does "
                            "not go on as such: save it as UTF-8."
                        ) from None
                    self.notes = as_utf8(held + raw)[1]
                    decoder = codecs.getincrementaldecoder("cp1252")("replace")
                    text = decoder.decode(held + raw)
                ascii_so_far = ascii_so_far and text.isascii()
                if text:
                    yield text.encode()
                raw = handle.read(HEAD)


def _count_lines(text: bytes) -> int:
    """Return the number of line ends: LF, CR or both together."""
    ends = text.count(b"\n")
    return ends + text.count(b"\r") - text.count(b"\r\n") if b"\r" in text else ends


def _find_last_line(text: bytes) -> int:
    """Return the offset of the last line; 0 when there is no line end."""
    return text.rfind(b"\n") + 1 or text.rfind(b"\r") + 1


def _find_last_row(text: bytes, delimiter: str) -> int:
    """Return the offset of the last row, which may be incomplete. Quoted cells may contain line ends."""
    if b'"' not in text:
        return _find_last_line(text)
    line, _ = deque(rows_of(text, delimiter), maxlen=1)[0]
    return _find_byte(text, line)


def _find_row(text: bytes, delimiter: str, number: int) -> int:
    """Return the offset of a row (numbered from 0); the length of the text if there is no such row."""
    found = next(islice(rows_of(text, delimiter), number, None), None)
    return len(text) if found is None else _find_byte(text, found[0])


def _find_byte(text: bytes, line: int) -> int:
    """Return the offset of a line (numbered from 1)."""
    return sum(map(len, text.splitlines(keepends=True)[: line - 1]))


def _find_filled_end(text: bytes) -> int:
    """Return the offset of the end of the last line that is not empty."""
    held = len(text.rstrip(_BARE))
    ends = [end for end in (text.find(b"\n", held), text.find(b"\r", held)) if end >= 0]
    return min(ends, default=len(text))
