"""Read text files with one matrix entry per line: parse the lines, and sort the entries into rows."""

import csv
import re
from abc import abstractmethod
from collections.abc import Iterator
from itertools import islice, pairwise
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pandas as pd
import scipy.sparse as sp

from nspca.data.cells import FLOATS
from nspca.data.formats.base import Block, Reader, Size
from nspca.data.limits import check_text_float64
from nspca.errors import InvalidData
from nspca.progress import Event
from nspca.validation.integers import LARGEST_EXACT

LINES = 2**20
"""Lines parsed at a time. Parsing takes ten times as much memory as their text."""
LONGEST = 1000
"""Maximum bytes of a line with an entry. Three numbers never need so many."""
RECORD = np.dtype([("row", "<i8"), ("column", "<i4"), ("value", "<f8")])
_NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_WHOLE = re.compile(rb"\d{1,18}")
_MISSING = (b"nan", b"NaN", b"NAN")

Entries: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Row numbers, column numbers (from 0) and values of some entries."""


class EntryReader(Reader):
    """Base class of the readers of matrices with one entry on each line: docword and Matrix Market.

    In memory, all entries become one block. On disk, `EntrySorter` sorts them into blocks of rows.
    A subclass sets the attributes below when it reads the header.
    """

    cells = 3
    """Numbers on each line."""
    is_whole = False
    """Whether all numbers must be integers."""
    comment = ""
    """The character that begins a comment; empty if the format has none."""
    sides: tuple[int, int]
    """Rows and columns of the matrix."""
    held: int
    """Lines with entries that the header promises."""
    header_bytes: int
    """Bytes of the header, which ends with a line."""

    @property
    def shape(self) -> Size:
        return Size(*self.sides, self.held, sparse=True, text=self.source.usual_bytes)

    def probe(self) -> Size:
        if 2 * self.cells * self.held > self.source.most_bytes - self.header_bytes + 1:  # "1 1 1\n"
            raise InvalidData(
                f"The header{self.source.of} promises {self.held} entries, but the file is too short for "
                "them: it is cut short, get it again."
            )
        return self.shape

    @abstractmethod
    def misfits(self, table: np.ndarray) -> Iterator[tuple[np.ndarray, str]]:
        """Yield masks of the lines of a table that are no entries, each with what an entry must be."""

    @abstractmethod
    def entries(self) -> Iterator[Entries]:
        """Yield the checked entries in the order of the file, some lines at a time."""

    def blocks(self, rows: int | None = None, spill: Path | None = None) -> Iterator[Block]:
        if rows is None or spill is None:
            self.probe()
            parts = [*self.entries()] or [(np.zeros(0, np.intp), np.zeros(0, np.intp), np.zeros(0))]
            at, to, values = map(np.concatenate, zip(*parts, strict=True))
            del parts
            X = sp.csr_array((values, (at.astype(np.int32), to.astype(np.int32))), shape=self.sides)
            X.sum_duplicates()
            yield Block(X)
            return
        sorter = EntrySorter(spill, self.sides, rows)
        for found in self.entries():
            sorter.add(*found)
        for block in sorter.blocks():
            yield Block(block)

    def tables(self) -> Iterator[np.ndarray]:
        """Yield the numbers of the lines, (lines, cells) at a time; refuse the first line that does not fit.

        Raises
        ------
        InvalidData
            Also for a file whose number of entries differs from the header.
        """
        done = 0
        for table in self._parse():
            done += len(table)
            self.report(Event("entries", done, self.held))
            yield table
        if done != self.held:
            raise InvalidData(
                f"The header{self.source.of} promises {self.held} entries and the file holds {done}: the "
                "body does not fit its header, get it again or correct the header."
            )

    def _parse(self) -> Iterator[np.ndarray]:
        first = next(self._lines(), None)
        if first is None:
            return
        # pandas would make a column for each number of a first line with millions of them.
        if len(first[1].split()) != self.cells or len(first[1]) >= LONGEST:
            raise self._misfit(first, self._entry)
        done = 0
        with self.source.unpacking(), self.source.open() as handle:
            handle.read(self.header_bytes)
            frames = pd.read_csv(
                handle,
                sep=r"\s+",
                header=None,
                dtype=np.int64 if self.is_whole else np.float64,
                na_filter=not self.is_whole,
                na_values=[word.decode() for word in _MISSING],
                keep_default_na=False,
                comment=self.comment or None,
                quoting=csv.QUOTE_NONE,
                engine="c",
                float_precision=FLOATS,
                chunksize=LINES,
            )
            while True:
                try:
                    table: np.ndarray = next(frames).to_numpy()
                except StopIteration:
                    return
                except (ValueError, OverflowError, MemoryError):
                    raise self._misfit(self._find_wrong(done), self._entry) from None
                self._check(table, done)
                done += len(table)
                yield table

    def _check(self, table: np.ndarray, done: int) -> None:
        """Refuse a table with a line that is no entry; `done` counts the entries above."""
        if table.shape[1] != self.cells or not np.isfinite(table).all():
            wrong = self._find_wrong(done, len(table))
            if wrong is not None:  # otherwise "nan" was meant
                raise self._misfit(wrong, self._entry)
        for mask, why in self.misfits(table):
            if mask.any():
                raise self._misfit(next(self._lines(done + int(np.argmax(mask)))), why)
        if (np.abs(table) >= LARGEST_EXACT).any():
            for _, line in islice(self._lines(done), len(table)):
                check_text_float64(table, line, f"the matrix{self.source.of}")

    @property
    def _entry(self) -> str:
        kind = "whole" if self.is_whole else "finite"
        return f"an entry is {self.cells} {kind} number{'s' * (self.cells > 1)}"

    def _misfit(self, found: tuple[int, bytes] | None, why: str) -> InvalidData:
        number, line = found or (0, b"one that cannot be parsed")
        shown = line[:40].decode(errors="replace")
        return InvalidData(
            f'Line {number}{self.source.of} is "{shown}" and does not fit its header: {why}, correct it.'
        )

    def _find_wrong(self, first: int, count: int | None = None) -> tuple[int, bytes] | None:
        """Return number and text of the first line, from entry `first` on, that is not numbers."""
        for number, line in islice(self._lines(first), count):
            parts = line.split()
            if len(parts) != self.cells or not all(map(self._is_number, parts)):
                return number, line
        return None

    def _is_number(self, part: bytes) -> bool:
        if self.is_whole:
            return _WHOLE.fullmatch(part) is not None
        if part in _MISSING:
            return not self.on_disk
        return _NUMBER.fullmatch(part) is not None and bool(np.isfinite(float(part)))

    def _lines(self, first: int = 0) -> Iterator[tuple[int, bytes]]:
        """Yield number and beginning of the lines with entries, from entry `first` (from 0) on."""
        with self.source.unpacking(), self.source.open() as handle:
            number = handle.read(self.header_bytes).count(b"\n")
            while line := handle.readline(LONGEST):
                number += 1
                end = line
                while end and not end.endswith(b"\n"):
                    end = handle.readline(2**20)
                text = line.split(self.comment.encode())[0] if self.comment else line
                if text.strip():
                    first -= 1
                    if first < 0:
                        yield number, text.strip()


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
