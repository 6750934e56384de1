"""Long text files, plain or gzipped, in pieces that end with a line: read as tables of numbers, and the line
named where one cannot be.
"""

import gzip
import io
import re
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pandas as pd

from nspca.data.limits import check_text_float64
from nspca.errors import InvalidData

PIECE = 16 * 2**20
"""Bytes of text read at a time: about a million entries, and ten times that in memory while it is parsed."""
LONGEST = 1000
"""Bytes of a line of entries; of three numbers there are never so many."""
NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


class Text:
    """A file of lines.

    Parameters
    ----------
    path : Path
    whole : bool
        Whether numbers are whole ones.
    """

    def __init__(self, path: Path, whole: bool = False):
        self.path, self.dtype = path, np.dtype(np.int64 if whole else np.float64)
        self.handle = opened(path)
        self.line = 0
        """Lines read so far."""

    def close(self) -> None:
        self.handle.close()

    def readline(self, most: int = LONGEST) -> bytes:
        """The next line; a longer one is cut."""
        self.line += 1
        with reading(self.path):
            return self.handle.readline(most)

    def tables(self, cells: int, wrong: Callable[[int, str], InvalidData]) -> Iterator[np.ndarray]:
        """The other lines as numbers, (some, cells). ``wrong(number, line)`` is the error for a line that
        does not have so many; empty lines do not count.
        """
        rest = b""
        while True:
            with reading(self.path):
                piece = self.handle.read(PIECE)
            end = piece.rfind(b"\n") + 1
            if not end and len(rest) + len(piece) > PIECE:
                raise wrong(self.line + 1, "one without an end")
            body, rest = (rest + piece[:end], piece[end:]) if piece else (rest, b"")
            if not end and piece:
                body, rest = b"", body + rest
            if body.strip():
                yield self._table(body, cells, wrong)
            self.line += body.count(b"\n")
            if not piece:
                return

    def _table(self, body: bytes, cells: int, wrong) -> np.ndarray:
        try:
            table = pd.read_csv(
                io.BytesIO(body), sep=r"\s+", header=None, dtype=self.dtype, na_filter=False, engine="c"
            ).to_numpy()
        except (ValueError, OverflowError, pd.errors.ParserError):
            table = np.zeros((0, 0))
        if table.shape[1] != cells or not np.isfinite(table).all():
            raise wrong(*self._wrong_line(body, cells))
        check_text_float64(table, body, str(self.path))
        self.body = body
        return table

    def _wrong_line(self, body: bytes, cells: int) -> tuple[int, str]:
        whole = re.compile(rb"\d{1,18}") if self.dtype.kind == "i" else NUMBER
        for number, line in enumerate(body.splitlines(), self.line + 1):
            parts = line.split()
            if parts and not (len(parts) == cells and all(whole.fullmatch(part) for part in parts)):
                return number, said(line)
        return self.line + 1, said(body.splitlines()[0])

    def line_of(self, entry: int) -> tuple[int, str]:
        """Number and text of the line that an entry of the last table, from 0, stands on."""
        for number, line in enumerate(self.body.splitlines(), self.line + 1):
            if line.strip():
                if entry == 0:
                    return number, said(line)
                entry -= 1
        return self.line + 1, ""


class reading:
    """What goes wrong while a file is read, in a sentence."""

    def __init__(self, path: Path):
        self.path = path

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if isinstance(error, EOFError | zlib.error | gzip.BadGzipFile):
            raise InvalidData(
                f"{self.path} is damaged or cut short as a gzip file: compress it again or give the plain "
                "file."
            ) from None


def opened(path: Path) -> BinaryIO:
    """A file for reading, unpacked as it is read where it is a gzip file."""
    with path.open("rb") as handle:
        packed = handle.read(2) == b"\x1f\x8b"
    return gzip.open(path, "rb") if packed else path.open("rb")  # type: ignore[return-value]


def said(line: bytes) -> str:
    """A line as an error shows it."""
    return f'"{line[:40].decode(errors="replace").strip()}"'
