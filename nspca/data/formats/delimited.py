"""Read tables of text (CSV, TSV and the like) in pieces of whole rows.

A table in memory must be UTF-8 (see `as_utf8`). A table on disk may have any encoding and is converted piece
by piece.
"""

import codecs
import csv
import re
from array import array
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import chain, pairwise
from pathlib import Path
from typing import TypeAlias

import numpy as np

from nspca.data.cells import Cells
from nspca.data.dataset import Dataset
from nspca.data.dialect import (
    PREAMBLE,
    SPACES,
    Layout,
    filled_end,
    find_layout,
    lines_of,
    numbered_rows,
    requoted,
)
from nspca.data.encodings import as_utf8, guessed
from nspca.data.findings import Finding
from nspca.data.formats.base import Block, Converted, Format, Reader, Size, Source
from nspca.data.formats.tables import read_table
from nspca.data.limits import MAX_LINE, check_dense, check_lines
from nspca.data.names import Numbered, short, were
from nspca.data.numerals import CENSORED
from nspca.data.options import ReadOptions
from nspca.data.roles import NO_NAMES, Columns, find_columns
from nspca.errors import InvalidData, Way
from nspca.progress import Report, silent
from nspca.validation.archive import MAX_BYTES

PIECE = 3 * 2**20
"""Bytes of text parsed at a time."""
PER_COLUMN = 2**14
"""Minimum bytes of a piece per column, in memory. Pandas needs 60 microseconds per column and piece; parsing
so many bytes takes five times as long.
"""
HEAD = 2**20
"""Number of bytes at the beginning of a table that its layout is found from."""
STREAMED = 16 * 2**20
"""Bytes of a plain text from which it is not held in memory while it is parsed."""
_NOTE = re.compile(r"\W*[^\W\d][\w ]*: ")
"""The beginning of a footnote, such as "Source: "."""
_QUOTES = b'"', b"'", b"\0"
_SHOWN = 10
"""Minimum lines for finding the layout, even if they are longer than `HEAD`."""


Piece: TypeAlias = tuple[np.ndarray, dict[int, list[str]]]
"""Consecutive rows of a table: numbers (rows, numeric columns), and the texts by number of their column."""


class DelimitedReader(Reader):
    """Reader of a text table whose columns are separated by a delimiter; some hold names or labels.

    `layout` is found from the first lines.
    """

    layout: Layout

    def _read_header(self) -> None:
        self._text = DelimitedText(self.source, self.options.encoding)
        self.layout = find_layout(self._text.head, self.options)
        self.repeated = 0
        self.findings = self.layout.findings
        self.source.layouts.append(self.layout)

    @cached_property
    def columns(self) -> Columns:
        """Roles of the columns of a file on disk, whose samples are in rows."""
        return find_columns(self.layout, self.options.but(features_in_rows=False))

    @property
    def shape(self) -> Size:
        rows, count = self.rows, len(self.columns.features)
        return Size(
            rows,
            count,
            rows * count,
            sparse=False,
            exact=self.is_exact,
            text=self.text_bytes,
            not_counted=self.columns.describe_excluded(self.layout).removeprefix(" (").removesuffix(")"),
        )

    def blocks(self, rows: int | None = None, spill: Path | None = None) -> Iterator[Block]:
        """Yield the rows as blocks of data, whose size the pieces decide, not `rows`."""
        for X, texts in self.pieces(self.columns.excluded, self.columns.skipped):
            yield Block(X, {i: texts[i] for i in self.columns.others})

    def read_whole(self, texts: Sequence[int], skipped: Sequence[int]) -> Piece:
        """Return all rows as one piece, with the arguments of `pieces`."""
        X = np.empty((self.most_rows, len(self.layout.columns) - len(set(texts))))
        held = 0
        whole: dict[int, list[str]] = {i: [] for i in texts}
        for values, found in self.pieces(texts, skipped):
            if values.size:
                X[held : held + len(values)] = values
                held += len(values)
            for i, cells in found.items():
                whole[i] += cells
        X.resize((held, X.shape[1]), refcheck=False)  # `most_rows` overestimates
        return X, whole

    @property
    def rows(self) -> int:
        """Number of rows: exact for a short text, estimated from the beginning of a long one."""
        text, body = self._text, self._without_comments(self._text.head[self.layout.body :])
        rows = sum(
            any(map(str.strip, row)) for _, row in numbered_rows(lines_of(body), self.layout.delimiter)
        )
        if text.taken:
            rows = round(rows * self.source.usual_bytes / text.taken)
        return max(1, rows)

    @property
    def is_exact(self) -> bool:
        """Tell whether `rows` is exact, because the text is short."""
        return not self._text.taken

    @property
    def text_bytes(self) -> int:
        """Bytes of the text, estimated if it is long and compressed."""
        return self.source.usual_bytes if self._text.taken else len(self._text.head)

    @property
    def most_rows(self) -> int:
        """Number of lines, header included: an upper bound on the number of rows."""
        with self.source.open() as handle:
            lines = sum(map(_count_lines, iter(partial(handle.read, HEAD), b"")))
        return lines + (self.source.last(1) not in (b"\n", b"\r"))

    def pieces(self, texts: Sequence[int], skipped: Sequence[int] = ()) -> Iterator[Piece]:
        """Yield the rows, some megabytes of text at a time, without the rows `skipped` below the header.

        The columns `texts`, by number, are read as text. On disk, errors name the line of the file, and the
        first missing value is refused. In memory, errors name the row, and missing values are NaN.
        """
        has_gaps = self.options.missing != "refuse" and not self.on_disk
        codes = tuple(float(code) for code in self.options.missing_codes if not isinstance(code, str))
        before, self.empty = 0, array("q")
        for raw, line in self._cut():
            raw = self._without_headers(self._without_comments(raw))
            cells = Cells(raw, self.layout, has_gaps, codes, line if self.on_disk else None, before)
            values, found, nothing = cells.read(texts, skipped)
            has_gaps = has_gaps or bool(np.isnan(values).any())
            self.empty.extend(nothing)
            before += (len(values) or len(next(iter(found.values()), ()))) + len(skipped) + len(nothing)
            skipped = ()
            yield values, found
        self.findings = (*self.layout.findings, *self._text.findings)
        if self.repeated:
            self.findings += (Finding(f"{were(self.repeated, 'line')} left out for repeating the header."),)
        if self.empty:
            self.findings += (Finding(f"{were(len(self.empty), 'row')} left out for having no filled cell."),)

    def _without_headers(self, raw: bytes) -> bytes:
        """Return text without lines that repeat the header, as files written one after another have."""
        left_out = [line.encode() for line in self.layout.left_out]
        if not any(line in raw for line in left_out):
            return raw
        lines = raw.splitlines(keepends=True)
        kept = [line for line in lines if line.strip() not in left_out]
        self.repeated += len(lines) - len(kept)
        return b"".join(kept)

    def _without_comments(self, raw: bytes) -> bytes:
        """Return text without its lines of comments."""
        mark = self.layout.comment.encode()
        if not mark or not (raw.startswith(mark) or b"\n" + mark in raw or b"\r" + mark in raw):
            return raw
        return b"".join(line for line in raw.splitlines(keepends=True) if not line.lstrip().startswith(mark))

    def _cut(self) -> Iterator[tuple[bytes, int]]:
        """Yield pieces of the text, the first with all rows of the layout, and the lines above each."""
        most = PIECE
        if not self.on_disk:
            most = max(PIECE, PER_COLUMN * len(self.layout.columns), len(self._text.head))
            if b'"' in self.source.raw:  # only parsing all cells tells where rows end, so the text is not cut
                yield self.source.raw[self.layout.body : filled_end(self.source.raw)], 0
                return
        yield from self._text.pieces(self.layout, most)


class DelimitedText:
    """The text of a table on disk or in memory. The constructor reads its beginning.

    `head` are whole lines from the beginning, as UTF-8, enough to find the layout. `taken` is their
    approximate size in the decompressed file, 0 when they are the whole text. `findings` are about the
    encoding so far.
    """

    def __init__(self, source: Source, encoding: str | None = None):
        self.source, self.encoding = source, encoding
        self.findings: tuple[Finding, ...] = ()
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
        """Yield pieces of the text below the header, and the number of lines of the file above each.

        A piece has about `most` bytes. A row is never cut.
        """
        skip, line = layout.body, _count_lines(self.head[: layout.body])
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
            filled = filled_end(rest[:end])
            if end - filled < MAX_LINE:  # empty lines wait for the next piece, unless they are very many
                end = filled
            if end and not rest[:end].isspace():
                yield rest[:end], line
            line += _count_lines(rest[:end])
            rest = rest[end:]
            parts, size = [rest], len(rest)

    def _decoded(self) -> Iterator[bytes]:
        """Yield the text as UTF-8. The encoding of a text that is not UTF-8 is guessed."""
        with self.source.unpacking(), self.source.open() as handle:
            raw = handle.read(HEAD)
            wide = raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
            decoder: codecs.IncrementalDecoder
            usual = "utf-16" if wide else "utf-8"
            decoder = codecs.getincrementaldecoder(self.encoding or usual)()
            raw, ascii_so_far = raw.removeprefix(codecs.BOM_UTF8), True
            while raw or decoder.getstate()[0]:
                held = decoder.getstate()[0]
                try:
                    text = decoder.decode(raw, final=not raw)
                except UnicodeDecodeError:
                    if self.encoding:
                        raise InvalidData(
                            f"{self.source.called} is not text in the encoding {self.encoding}: name "
                            f"another one."
                        ) from None
                    if wide or not ascii_so_far:
                        raise InvalidData(
                            f"{self.source.called} begins as {'UTF-16' if wide else 'UTF-8'} text and does "
                            "not go on as such: save it as UTF-8."
                        ) from None
                    as_utf8(held + raw)  # refuses what is no text
                    encoding, finding = guessed(held + raw)
                    self.findings = (finding,)
                    decoder = codecs.getincrementaldecoder(encoding)("replace")
                    text = decoder.decode(held + raw)
                ascii_so_far = ascii_so_far and text.isascii()
                if text:
                    yield text.encode()
                raw = handle.read(HEAD)


def _count_lines(text: bytes) -> int:
    """Return the number of line ends: LF, CR or both together."""
    if b"\r" in text:
        return text.count(b"\n") + text.count(b"\r") - text.count(b"\r\n")
    return int(np.count_nonzero(np.frombuffer(text, np.uint8) == ord("\n")))  # five times as fast


def _find_last_line(text: bytes) -> int:
    """Return the offset of the last line; 0 when there is no line end."""
    return text.rfind(b"\n") + 1 or text.rfind(b"\r") + 1


def _find_last_row(text: bytes, delimiter: str) -> int:
    """Return the offset of the last row, which may be incomplete. Quoted cells may contain line ends."""
    if b'"' not in text:
        return _find_last_line(text)
    line, _ = deque(numbered_rows(lines_of(text), delimiter), maxlen=1)[0]
    return sum(map(len, text.splitlines(keepends=True)[:line]))


def is_plain_text(path: Path) -> bool:
    """Tell whether a file is a large ASCII text without quotation marks, which is parsed piece by piece."""
    if not STREAMED < path.stat().st_size <= MAX_BYTES:
        return False
    with path.open("rb") as handle:
        pieces = iter(partial(handle.read, HEAD), b"")
        return all(piece.isascii() and not any(mark in piece for mark in _QUOTES) for piece in pieces)


def read_delimited(source: Source, options: ReadOptions, report: Report = silent) -> Dataset:
    """Return a text table as a Dataset."""
    if source.path is not None:
        return read_text_table(source, options, (), report)
    raw, findings = as_utf8(source.raw, options.encoding)
    return read_text_table(replace(source, raw=raw), options.but(encoding=None), findings, report)


def read_converted(source: Source, converted: Converted, options: ReadOptions, report: Report) -> Dataset:
    """Return the table of text that a file was converted to as a Dataset."""
    packed = source.packed or len(source.raw)
    inner = replace(
        source,
        path=None,
        raw=converted.text,
        packed=packed,
        annotation=converted.annotation or source.annotation,
    )
    how = options.filled(converted.options).but(delimiter=converted.delimiter, encoding=None)
    return read_text_table(inner, how, converted.findings, report)


def read_text_table(
    source: Source, options: ReadOptions, findings: Sequence[Finding | str] = (), report: Report = silent
) -> Dataset:
    """Return a text table in UTF-8 as a Dataset; `findings` come before those about the table."""
    check_lines(source.raw)
    raw, quotes = requoted(source.raw)
    source, findings = replace(source, raw=raw), (*findings, *quotes)
    reader = DelimitedReader(source, options, report=report)
    rows, columns = reader.most_rows, len(reader.layout.columns)
    end, below = (0, []) if NO_NAMES in options.drop_rows else _find_footnotes(source, reader.layout)
    if below:
        sign = reader.layout.delimiter
        what = f'{were(len(below), "line")} left out below the table ("{short(below[0].rstrip(sign))}")'
        findings = (*findings, Finding(f'{what}; drop_rows="{NO_NAMES}" keeps what is below', "rows"))
        raw = raw if source.path is None else source.path.read_bytes()
        reader = DelimitedReader(replace(source, path=None, raw=raw[:end]), options, report=report)
    check_dense(rows, columns)
    if columns < 2:
        head = source.raw[:HEAD].decode(errors="replace").splitlines()[:20]
        signs = [sign for sign in "^~:#*&§" if len({line.count(sign) for line in head if line.strip()}) == 1
                 and sign in head[0]]  # fmt: skip
        raise InvalidData(
            "Only one column was found: at least two columns are needed, separated by comma, semicolon, "
            "tab, bar or blank.",
            tuple(Way("delimiter", sign, f"Columns are separated by {sign}") for sign in signs),
        )
    error: InvalidData | None = None
    try:
        data = read_table(reader, source.title, findings, source.annotation)
    except InvalidData as caught:
        error = caught
    is_named = error is None and reader.layout.header and not isinstance(data.sample_names, Numbered)
    if error is None and not (is_named and reader.layout.rows[0][0] in data.sample_names):
        return data
    text = raw if source.path is None else source.path.read_bytes()
    second = _find_second_table(text[reader.layout.body :], reader.layout)
    if second is not None:
        line, names = second
        way = Way("header", line, "Read the table that begins there")
        what = f'Line {line} ("{short(", ".join(names))}") begins another table below the first'
        raise InvalidData(f"{what}: save each table in a file of its own.", (way,)) from None
    if error is not None:
        raise error
    return data


def _find_second_table(body: bytes, layout: Layout) -> tuple[int, list[str]] | None:
    """Return line and cells of other names below the first rows of a table, which stand above numbers."""

    def is_number(cell: str) -> bool:
        return layout.numerals.number(cell) is not None

    def is_value(cell: str) -> bool:
        return is_number(cell) or layout.numerals.is_missing(cell) or CENSORED.fullmatch(cell) is not None

    header, width = [cell.strip() for cell in layout.rows[0]], len(layout.columns)
    rows = numbered_rows(lines_of(body), layout.delimiter)
    end, is_below_title = 0, False
    for (line, row), (_, below) in pairwise(one for one in rows if any(map(str.strip, one[1]))):
        is_apart, end = line > end, line + 1 + sum(cell.count("\n") for cell in row)
        is_titled, is_below_title = is_below_title, sum(map(bool, map(str.strip, row))) == 1
        has_name = layout.header and row[0].strip() == header[0]
        if not (is_apart or is_titled or has_name or len(row) != width):
            continue
        cells = [cell.strip() for cell in row if cell.strip()]
        if is_titled and [cell.strip() for cell in row] == header:
            return layout.above + line + 1, cells
        are_names = has_name or not any(map(is_value, cells))
        is_other = len(cells) > 2 and len({*cells}) == len(cells) and cells != [*filter(None, header)]
        if line > 1 and are_names and is_other and 2 * sum(map(is_number, below)) > len(cells) - 1:
            return layout.above + line + 1, cells
    return None


def _find_footnotes(source: Source, layout: Layout) -> tuple[int, list[str]]:
    """Return the lines of few cells at the end of a text, without numbers or with a word such as "Source: "
    that the first row has not, and where the table ends.
    """
    tail, is_named = source.last(HEAD // 16), bool(_NOTE.match(layout.body_rows[0][0]))
    before, end = source.size - len(tail), filled_end(tail)
    below: list[str] = []
    while len(layout.columns) > 2 and layout.delimiter != SPACES and len(below) < PREAMBLE:
        begin = max(tail.rfind(b"\n", 0, end), tail.rfind(b"\r", 0, end)) + 1
        whole = tail[begin:end].decode(errors="replace")
        line = whole.rstrip(f"{layout.delimiter} ")
        cells = next(csv.reader([line], delimiter=layout.delimiter), [])
        is_row = len(cells) in (0, len(layout.columns)) or line.count('"') % 2
        has_number = any(layout.numerals.number(cell) is not None for cell in cells)
        is_row = is_row or (has_number and (is_named or not _NOTE.match(line)))
        if begin == 0 or before + begin <= layout.body or is_row:
            break
        below.insert(0, whole)
        end = filled_end(tail[:begin])
    return before + end, below


FORMAT = Format(
    "a text table", lambda source: source.files is None, read=read_delimited, reader=DelimitedReader
)
