"""A long table of text, in any encoding that `nspca.read` knows, in pieces that are tables themselves."""

import codecs
from collections import deque
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path

from nspca.data.cells import rows_of
from nspca.data.limits import MAX_LINE, check_lines
from nspca.data.look import Look, to_utf8
from nspca.errors import InvalidData
from nspca.shards import pieces

HEAD, SHOWN = 2**20, 10
"""Bytes that are looked at, and lines at least, which may be longer."""
BARE = b",;\t |\r\n"
"""What spreadsheets write below a table."""


class TextTable:
    """A CSV or TSV file, of which the beginning is read at once.

    Parameters
    ----------
    path : Path

    Attributes
    ----------
    head : bytes
        Whole lines from the beginning as UTF-8, enough to tell the form.
    taken : int
        Bytes of the file that they are, about; 0 when they are all.
    notes : tuple of str
        What is said of the encoding of what was read so far.
    """

    def __init__(self, path: Path):
        self.path = path
        self.notes: tuple[str, ...] = ()
        self.head, self.taken = b"", 0
        for number, text in enumerate(self._decoded()):
            if len(self.head) >= HEAD and (_lines(self.head) >= SHOWN or len(self.head) >= SHOWN * MAX_LINE):
                end = _last_line(self.head) or len(self.head)
                self.head, self.taken = self.head[:end], number * HEAD * end // len(self.head)
                break
            self.head += text

    def tables(self, found: Look) -> Iterator[tuple[bytes, int]]:
        """Some rows below the header of the table, and how many lines further down they stand in the file."""
        above = len(self.head) - len(self.head.lstrip(b"\r\n"))
        if found.header:
            above += _second_row(self.head[above:], found.delimiter)
        header = self.head[:above].lstrip(b"\r\n")
        line, skip, rest = _lines(self.head[:above]) - _lines(header), above, b""
        for text in chain(self._decoded(), (b"",)):
            rest += text
            if text and len(rest) - skip < pieces.PIECE:
                continue
            check_lines(rest)
            rest, skip = rest[skip:], 0
            end = _last_row(rest, found.delimiter) if text else len(rest)
            filled = _filled(rest[:end])
            if end - filled < MAX_LINE:  # of so much that is bare, nobody waits for the end
                end = filled
            if end:
                yield header + rest[:end], line
            line, rest = line + _lines(rest[:end]), rest[end:]

    def _decoded(self) -> Iterator[bytes]:
        """All of it as UTF-8; what is not UTF-8 is read as Western European, as in memory."""
        with pieces.reading(self.path), pieces.opened(self.path) as handle:
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
                            f"{self.path} begins as {'UTF-16' if wide else 'UTF-8'} text and does not go on "
                            "as such: save it as UTF-8."
                        ) from None
                    self.notes = to_utf8(held + raw)[1]
                    decoder = codecs.getincrementaldecoder("cp1252")("replace")
                    text = decoder.decode(held + raw)
                ascii_so_far = ascii_so_far and text.isascii()
                if text:
                    yield text.encode()
                raw = handle.read(HEAD)


def _lines(text: bytes) -> int:
    return text.count(b"\n") + text.count(b"\r") - text.count(b"\r\n")


def _last_line(text: bytes) -> int:
    """Where the last line begins."""
    return text.rfind(b"\n") + 1 or text.rfind(b"\r") + 1


def _last_row(text: bytes, delimiter: str) -> int:
    """Where the last row begins, which may go on below; a line ends inside of quotation marks too."""
    if b'"' not in text:
        return _last_line(text)
    line, _ = deque(rows_of(text, delimiter), maxlen=1)[0]
    return _byte(text, line)


def _second_row(text: bytes, delimiter: str) -> int:
    line, _ = next(islice(rows_of(text, delimiter), 1, None))
    return _byte(text, line)


def _byte(text: bytes, line: int) -> int:
    """Where a line, from 1, begins."""
    return sum(map(len, text.splitlines(keepends=True)[: line - 1]))


def _filled(text: bytes) -> int:
    """Where the last line that holds something ends."""
    held = len(text.rstrip(BARE))
    ends = [end for end in (text.find(b"\n", held), text.find(b"\r", held)) if end >= 0]
    return min(ends, default=len(text))
