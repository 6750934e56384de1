"""Tables of text (CSV, TSV and the like): cut into pieces of whole rows, each of which is parsed on its own.

A table in memory is made UTF-8 before it is read (`as_utf8`). One on disk may have any encoding, and is
converted as it is read.
"""

import codecs
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import chain, islice

import numpy as np

from nspca.data.cells import Cells, rows_of
from nspca.data.layout import Layout, as_utf8, find_layout, stripped, trimmed
from nspca.data.limits import MAX_LINE, check_lines
from nspca.data.missing import refusal
from nspca.data.readers.base import Source
from nspca.data.readers.tables import Piece, TableReader
from nspca.data.thousands import check_written
from nspca.errors import InvalidData, MissingValues

PIECE = 8 * 2**20
"""Bytes of text parsed at a time."""
PER_COLUMN = 2**14
"""Bytes of a piece for each column, in memory: a column costs 60 microseconds in every piece, parsing such a
part of it five times that.
"""
HEAD = 2**20
"""Bytes from the beginning that tell the form of a table."""
_SHOWN = 10
"""Lines that the beginning has at least, even when they are longer than `HEAD`."""
_BARE = b",;\t |\r\n"
"""Signs that spreadsheets write in the lines below a table."""


class DelimitedReader(TableReader):
    """A table of text whose columns are separated by a sign."""

    @staticmethod
    def matches(first: bytes) -> bool:
        """Tell whether bytes may be text: the format of every file that has no other."""
        return True

    def _read_header(self) -> None:
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
        """The number of rows: counted in a short text, estimated from the beginning of a long one."""
        text = self._text
        rows = sum(any(map(str.strip, row)) for _, row in rows_of(text.head, self.layout.delimiter))
        if text.taken:
            rows = round(rows * self.source.usual_bytes / text.taken)
        return max(1, rows - self.layout.header)

    @property
    def is_exact(self) -> bool:  # type: ignore[override]
        """Tell whether the beginning is the whole text."""
        return not self._text.taken

    @property
    def text_bytes(self) -> int:  # type: ignore[override]
        """Bytes of the text, estimated for a long one that is packed."""
        return self.source.usual_bytes if self._text.taken else len(self._text.head)

    @property
    def most_rows(self) -> int:
        """The lines of a text in memory."""
        raw = self.source.raw
        return _lines(raw) + (not raw.endswith((b"\n", b"\r")))

    def pieces(self, texts: Sequence[int], skipped: Sequence[int] = ()) -> Iterator[Piece]:
        """Yield the rows, some megabytes of text at a time; see `TableReader.pieces`.

        On disk an error names the line of the file, and a missing value is one. In memory it names the row,
        and missing values are NaN, or refused at the end with their number.
        """
        gaps = _Gaps()
        allowed = self.options.missing != "refuse" and not self.on_disk
        before = 0
        for raw, line in self._cut():
            cells = Cells(raw, self.layout, allowed, line if self.on_disk else None, before)
            values, found, gap = cells.read(texts, skipped)
            gaps.add(values, gap)
            before += (len(values) or len(next(iter(found.values()), ()))) + len(skipped)
            skipped = ()  # the first piece has all rows that the layout knows
            yield values, found
        self.notes = (*self.layout.notes, *self._text.notes)
        gaps.check()

    def _cut(self) -> Iterator[tuple[bytes, int]]:
        """Yield pieces of the text, each with the header, and the lines of the file above each."""
        if self.on_disk:
            yield from self._text.pieces(self.layout, PIECE)
            return
        raw, most = trimmed(self.source.raw), max(PIECE, PER_COLUMN * len(self.layout.columns))
        # With quotation marks, a row ends where only a walk through all cells tells, which takes longer than
        # parsing.
        if len(raw) <= most or b'"' in raw:
            yield raw, 0
            return
        head, layout = raw[: len(self._text.head)], self.layout
        start = _row(head, layout.delimiter, 1) if layout.header else 0
        known = _row(head, layout.delimiter, len(layout.rows))
        header = raw[:start]
        while start < len(raw):
            end = _last_line(raw, start, start + most) or _next_line(raw, start + most)
            end = len(raw) if len(raw) - start <= most else max(end, known)
            piece = raw[start:end]
            if not piece.isspace():
                yield header + piece, 0
            start = end


class _Gaps:
    """A count of missing values, for a table in which they are refused."""

    def __init__(self) -> None:
        self.first = ""
        self.cells = self.rows = 0
        self.shape = 0, 0
        self.columns: np.ndarray | None = None

    def add(self, values: np.ndarray, first: str) -> None:
        """Count those of some rows; `first` describes the first one, empty when none is to be refused."""
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
        """Refuse the table if there were any."""
        if self.columns is not None:
            counts = self.cells, self.rows, int(self.columns.sum())
            raise MissingValues(refusal(self.first, *counts), *counts, shape=self.shape)


class DelimitedText:
    """The text of a table, of which the beginning is read at once.

    Parameters
    ----------
    source : Source

    Attributes
    ----------
    head : bytes
        Whole lines from the beginning as UTF-8, enough to tell the form.
    taken : int
        Bytes of the plain file that the head is, about; 0 when it is the whole text.
    notes : tuple of str
        Sentences about the encoding of what was read so far.
    """

    def __init__(self, source: Source):
        self.source = source
        self.notes: tuple[str, ...] = ()
        self.head, self.taken = b"", 0
        for number, text in enumerate(self._decoded()):
            if len(self.head) >= HEAD and (
                _lines(self.head) >= _SHOWN or len(self.head) >= _SHOWN * MAX_LINE
            ):
                end = _last_line(self.head) or len(self.head)
                self.head, self.taken = self.head[:end], number * HEAD * end // len(self.head)
                break
            self.head += text

    def pieces(self, layout: Layout, most: int) -> Iterator[tuple[bytes, int]]:
        """Yield some rows below the header of the table, and how many lines further down they stand.

        Parameters
        ----------
        layout : Layout
        most : int
            Bytes of a piece, about. One row is never cut.
        """
        above = len(self.head) - len(self.head.lstrip(b"\r\n"))
        if layout.header:
            above += _row(self.head[above:], layout.delimiter, 1)
        header = self.head[:above].lstrip(b"\r\n")
        line, skip = _lines(self.head[:above]) - _lines(header), above
        parts, size = [b""], 0
        for text in chain(self._decoded(), (b"",)):
            parts.append(text)
            size += len(text)
            if text and size - skip < most:
                continue
            rest = b"".join(parts)
            check_lines(rest)
            rest, skip = rest[skip:], 0
            end = _last_row(rest, layout.delimiter) if text else len(rest)
            filled = _filled(rest[:end])
            if end - filled < MAX_LINE:  # longer runs of bare lines are parsed, not kept in memory
                end = filled
            if end and not rest[:end].isspace():
                yield header + rest[:end], line
            line += _lines(rest[:end])
            rest = rest[end:]
            parts, size = [rest], len(rest)

    def _decoded(self) -> Iterator[bytes]:
        """Yield the text as UTF-8; what is not UTF-8 is read as Western European, as in memory."""
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


def _lines(text: bytes) -> int:
    """Return the number of line ends: LF, CR or both together."""
    ends = text.count(b"\n")
    return ends + text.count(b"\r") - text.count(b"\r\n") if b"\r" in text else ends


def _last_line(text: bytes, start: int = 0, end: int | None = None) -> int:
    """Return where the last line of ``text[start:end]`` begins; 0 when it has no end of a line."""
    return text.rfind(b"\n", start, end) + 1 or text.rfind(b"\r", start, end) + 1


def _next_line(text: bytes, start: int) -> int:
    """Return where the line after a place in the text begins; the length of the text where none does."""
    ends = [end + 1 for sign in (b"\n", b"\r") if (end := text.find(sign, start)) >= 0]
    return min(ends, default=len(text))


def _last_row(text: bytes, delimiter: str) -> int:
    """Return where the last row begins, which may go on below; a quoted cell may hold ends of lines."""
    if b'"' not in text:
        return _last_line(text)
    line, _ = deque(rows_of(text, delimiter), maxlen=1)[0]
    return _byte(text, line)


def _row(text: bytes, delimiter: str, number: int) -> int:
    """Return where a row, counted from 0, begins; the length of the text where there is none."""
    found = next(islice(rows_of(text, delimiter), number, None), None)
    return len(text) if found is None else _byte(text, found[0])


def _byte(text: bytes, line: int) -> int:
    """Return where a line, counted from 1, begins."""
    return sum(map(len, text.splitlines(keepends=True)[: line - 1]))


def _filled(text: bytes) -> int:
    """Return where the last line that holds something ends."""
    held = len(text.rstrip(_BARE))
    ends = [end for end in (text.find(b"\n", held), text.find(b"\r", held)) if end >= 0]
    return min(ends, default=len(text))
