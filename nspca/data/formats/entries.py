"""Read text files with one matrix entry per line: parse them in pieces, and sort the entries into rows."""

import io
import re
from abc import abstractmethod
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pandas as pd
import scipy.sparse as sp

from nspca.data.cells import FLOATS
from nspca.data.formats.base import Block, Reader, Source
from nspca.data.limits import check_text_float64
from nspca.errors import InvalidData

PIECE = 16 * 2**20
"""Bytes of text parsed at a time: about a million entries. Parsing takes ten times as much memory."""
LONGEST = 1000
"""Maximum bytes of a line with an entry. Three numbers never need so many."""
BLANK = 2**20
"""Maximum bytes of comments and empty lines above the entries."""
RECORD = np.dtype([("row", "<i8"), ("column", "<i4"), ("value", "<f8")])
_NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_WHOLE = re.compile(rb"\d{1,18}")
_MISSING = (b"nan", b"NaN", b"NAN")

Entries: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Row numbers, column numbers (from 0) and values of some entries."""


class EntryText:
    """Parser of a text file with a fixed number of numbers on each line.

    Parameters
    ----------
    source : Source
    is_whole : bool
        Whether all numbers must be integers.
    comment : bytes
        The character that begins a comment; empty if the format has none.
    missing : bool
        Whether "nan" is allowed, as a missing value.
    """

    def __init__(
        self, source: Source, *, is_whole: bool = False, comment: bytes = b"", missing: bool = False
    ):
        self.source, self.is_whole, self.comment, self.missing = source, is_whole, comment, missing
        self.handle = source.open()
        self.line = 0
        """Lines read so far."""
        self.header_bytes = 0
        """Bytes of the lines that were read one by one."""
        self._body = b""

    def close(self) -> None:
        """Close the file."""
        self.handle.close()

    def read_line(self) -> bytes:
        """Return the beginning of the next line, `LONGEST` bytes at most, and skip the rest of it."""
        self.line += 1
        with self.source.unpacking():
            line = rest = self.handle.readline(LONGEST)
            while rest:
                self.header_bytes += len(rest)
                rest = b"" if rest.endswith(b"\n") else self.handle.readline(PIECE)
        return line

    def skip(self, count: int) -> None:
        """Skip `count` bytes, which must end with a line."""
        with self.source.unpacking():
            self.line += self.handle.read(count).count(b"\n")

    def tables(self, cells: int, refuse: Callable[[int, str], InvalidData]) -> Iterator[np.ndarray]:
        """Yield the numbers of the remaining lines, a piece of the file at a time.

        Empty lines and comments are skipped.

        Parameters
        ----------
        cells : int
            Numbers per line.
        refuse : callable
            ``refuse(number, line)`` returns the error for a line without exactly `cells` numbers.

        Yields
        ------
        table : (lines, cells) array
        """
        rest = b""
        blank = 0
        while True:
            with self.source.unpacking():
                piece = self.handle.read(PIECE)
            end = piece.rfind(b"\n") + 1
            if not end and len(rest) + len(piece) > PIECE:
                raise refuse(self.line + 1, "one without an end")
            body, rest = (rest + piece[:end], piece[end:]) if piece else (rest, b"")
            if not end and piece:
                body, rest = b"", body + rest
            if body:
                blank = self._check_first_line(body, cells, refuse, blank)
                if blank < 0:
                    yield self._table(body, cells, refuse)
                    blank = 0
            self.line += body.count(b"\n")
            if not piece:
                return

    def _check_first_line(
        self, body: bytes, cells: int, refuse: Callable[[int, str], InvalidData], blank: int
    ) -> int:
        """Return -1 if the first line of numbers has `cells` numbers; refuse it if not.

        If `body` has no line of numbers, return `blank` plus the bytes of `body`. Without this check pandas
        would make a column for each number of a first line with millions of numbers.
        """
        lines, number = io.BytesIO(body), self.line
        while line := lines.readline(LONGEST):
            number += 1
            if not line.endswith(b"\n"):
                blank += len(lines.readline())  # the rest of a long comment
            if text := self._without_comment(line).strip():
                if len(text.split()) == cells and len(line) < LONGEST:
                    return -1
                raise refuse(number, _quoted(line))
            blank += len(line)
            if blank > BLANK:
                raise refuse(number, "one of too many without a number")
        return blank

    def _without_comment(self, line: bytes) -> bytes:
        return line.split(self.comment)[0] if self.comment else line

    def _table(self, body: bytes, cells: int, refuse: Callable[[int, str], InvalidData]) -> np.ndarray:
        try:
            table: np.ndarray = pd.read_csv(
                io.BytesIO(body),
                sep=r"\s+",
                header=None,
                dtype=np.int64 if self.is_whole else np.float64,
                na_filter=self.missing,
                na_values=[word.decode() for word in _MISSING],
                keep_default_na=False,
                comment=self.comment.decode() or None,
                engine="c",
                float_precision=FLOATS,
            ).to_numpy()
        except (ValueError, OverflowError, pd.errors.ParserError, MemoryError):
            table = np.zeros((0, 0))
        wrong = table.shape[1] != cells or not np.isfinite(table).all()
        if wrong and (found := self._wrong_line(body, cells, table.shape[1] == cells)) is not None:
            raise refuse(*found)
        self._body = body
        return table

    def _wrong_line(self, body: bytes, cells: int, is_table: bool) -> tuple[int, str] | None:
        """Return number and text of the first line without exactly `cells` numbers, or None.

        If no line is wrong but pandas found no table of `cells` columns (`is_table` is False), return the
        first line.
        """
        for number, line in enumerate(body.splitlines(), self.line + 1):
            parts = self._without_comment(line).split()
            if parts and not (len(parts) == cells and all(map(self._is_number, parts))):
                return number, _quoted(line)
        return None if is_table else (self.line + 1, _quoted(body.splitlines()[0]))

    def _is_number(self, part: bytes) -> bool:
        if self.is_whole:
            return _WHOLE.fullmatch(part) is not None
        return (self.missing and part in _MISSING) or (
            _NUMBER.fullmatch(part) is not None and bool(np.isfinite(float(part)))
        )

    def check_float64(self, table: np.ndarray, where: str) -> None:
        """Refuse integers in the last table of `tables` that float64 cannot represent."""
        check_text_float64(table, self._body, where)

    def line_of(self, entry: int) -> tuple[int, str]:
        """Return number and text of the line of an entry (from 0) of the last table of `tables`."""
        for number, line in enumerate(self._body.splitlines(), self.line + 1):
            if self._without_comment(line).strip():
                if entry == 0:
                    return number, _quoted(line)
                entry -= 1
        return self.line + 1, ""


def _quoted(line: bytes) -> str:
    return f'"{line[:40].decode(errors="replace").strip()}"'


class EntryReader(Reader):
    """Base class of the readers of sparse matrices with entries in any order: docword and Matrix Market.

    In memory, all entries become one block. On disk, `EntrySorter` sorts them into blocks of rows.
    """

    @abstractmethod
    def entries(self) -> Iterator[Entries]:
        """Yield the checked entries in the order of the file, a piece of the file at a time."""

    def blocks(self, rows: int | None = None, spill: Path | None = None) -> Iterator[Block]:
        count, columns = self.shape.rows, self.shape.columns
        if rows is None or spill is None:
            yield Block(self._matrix((count, columns)))
            return
        sorter = EntrySorter(spill, (count, columns), rows)
        for found in self.entries():
            sorter.add(*found)
        for block in sorter.blocks():
            yield Block(block)

    def _matrix(self, shape: tuple[int, int]) -> sp.csr_array:
        most = self.probe().entries
        rows, columns = np.empty((2, most), dtype=np.int32)
        values, held = np.empty(most), 0
        for found in self.entries():
            end = held + found[0].size
            if end <= most:  # `entries` refuses a file with more entries at its end
                rows[held:end], columns[held:end], values[held:end] = found
            held = end
        X = sp.csr_array((values[:held], (rows[:held], columns[:held])), shape=shape)
        X.sum_duplicates()
        return X


class EntrySorter:
    """Sorts the entries of a sparse matrix into blocks of rows, by one temporary file for each block.

    Parameters
    ----------
    folder : Path
        Folder for the temporary files.
    shape : (rows, columns)
        Shape of the matrix.
    rows : int
        Rows per block.
    """

    def __init__(self, folder: Path, shape: tuple[int, int], rows: int):
        self.folder, self.shape, self.rows = folder, shape, rows

    def add(self, rows: np.ndarray, columns: np.ndarray, values: np.ndarray) -> None:
        """Append some entries to the files of their blocks."""
        records = np.empty(rows.size, dtype=RECORD)
        records["row"], records["column"], records["value"] = rows, columns, values
        number = rows // self.rows
        if number.size and number.min() != number.max():
            order = np.argsort(number, kind="stable")
            records, number = records[order], number[order]
        starts = np.flatnonzero(np.diff(number, prepend=-1))
        for start, end in pairwise([*starts, number.size]):
            with self._file(int(number[start])).open("ab") as handle:
                records[start:end].tofile(handle)

    def blocks(self) -> Iterator[sp.csr_array]:
        rows, columns = self.shape
        for number, start in enumerate(range(0, rows, self.rows)):
            shape = min(self.rows, rows - start), columns
            path = self._file(number)
            if not path.exists():
                yield sp.csr_array(shape)
                continue
            held = np.fromfile(path, dtype=RECORD)
            path.unlink()
            yield sp.csr_array((held["value"], (held["row"] - start, held["column"])), shape=shape)

    def _file(self, number: int) -> Path:
        return self.folder / f"{number:06d}.entries"
