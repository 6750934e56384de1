"""Read text files with one matrix entry per line: parse the lines, and sort the entries into rows."""

import csv
import io
import re
from abc import abstractmethod
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pandas as pd
import scipy.sparse as sp

from nspca.data.cells import FLOATS
from nspca.data.formats.base import Block, Reader, Size
from nspca.data.limits import MAX_LINE, check_lines, check_text_float64
from nspca.errors import InvalidData
from nspca.progress import Event

PIECE = 2**24
"""Bytes of lines parsed at a time."""
_RECORD = np.dtype([("row", "<i8"), ("column", "<i4"), ("value", "<f8")])
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
    comment = b""
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
        yield from map(Block, sorter.blocks())

    def tables(self) -> Iterator[np.ndarray]:
        """Yield the numbers of some lines at a time, (lines, cells); refuse the first that does not fit."""
        done = 0
        with self.source.unpacking(), self.source.open() as handle:
            above = handle.read(self.header_bytes).count(b"\n")
            while piece := handle.read(PIECE) + handle.readline(MAX_LINE + 1):
                check_lines(piece)
                table = self._parse(lines := io.BytesIO(piece).readlines(), above)
                above, done = above + len(lines), done + len(table)
                self.report(Event("entries", done, self.held))
                yield table
        if done != self.held:
            raise InvalidData(
                f"The header{self.source.of} promises {self.held} entries and the file holds {done}: the "
                "body does not fit its header, get it again or correct the header."
            )

    def _parse(self, lines: list[bytes], above: int) -> np.ndarray:
        """Return the numbers of some lines; `above` counts the lines of the file before them."""
        kind = "whole" if self.is_whole else "finite"
        entry = f"an entry is {self.cells} {kind} number{'s' * (self.cells > 1)}"
        first = next((line for line in lines if self._text(line)), b"")
        if not first:
            return np.empty((0, self.cells))
        if len(self._text(first).split()) != self.cells:  # pandas would make a column for each number
            raise self._misfit(lines, above, 0, entry)
        try:
            table: np.ndarray = pd.read_csv(
                io.BytesIO(b"".join(lines)),
                sep=r"\s+",
                header=None,
                dtype=np.int64 if self.is_whole else np.float64,
                na_filter=not self.is_whole,
                na_values=[word.decode() for word in _MISSING],
                keep_default_na=False,
                comment=self.comment.decode() or None,
                quoting=csv.QUOTE_NONE,
                engine="c",
                float_precision=FLOATS,
            ).to_numpy()
        except (ValueError, OverflowError, MemoryError):
            raise self._misfit(lines, above, self._find_wrong(lines), entry) from None
        if not np.isfinite(table).all() and (wrong := self._find_wrong(lines)) is not None:
            raise self._misfit(lines, above, wrong, entry)  # otherwise "nan" was meant
        for mask, why in self.misfits(table):
            if mask.any():
                raise self._misfit(lines, above, int(np.argmax(mask)), why)
        check_text_float64(table, b"".join(lines), f"the matrix{self.source.of}")
        return table

    def _text(self, line: bytes) -> bytes:
        return (line.split(self.comment)[0] if self.comment else line).strip()

    def _misfit(self, lines: list[bytes], above: int, entry: int | None, why: str) -> InvalidData:
        """Return the error about an entry of some lines, by its number from 0."""
        entries = [(above + i, text) for i, line in enumerate(lines, 1) if (text := self._text(line))]
        number, text = entries[entry] if entry is not None else (0, b"one that cannot be parsed")
        return InvalidData(
            f'Line {number}{self.source.of} is "{text[:40].decode(errors="replace")}" and does not fit its '
            f"header: {why}, correct it."
        )

    def _find_wrong(self, lines: list[bytes]) -> int | None:
        """Return the number of the first entry that is not numbers."""
        for number, text in enumerate(filter(None, map(self._text, lines))):
            parts = text.split()
            if len(parts) != self.cells or not all(map(self._is_number, parts)):
                return number
        return None

    def _is_number(self, part: bytes) -> bool:
        if self.is_whole:
            return _WHOLE.fullmatch(part) is not None
        if part in _MISSING:
            return not self.on_disk
        return _NUMBER.fullmatch(part) is not None and bool(np.isfinite(float(part)))


class EntrySorter:
    """Sorts the entries of a matrix of some `shape` into blocks of `rows`, by a temporary file for each."""

    def __init__(self, folder: Path, shape: tuple[int, int], rows: int):
        self.folder, self.shape, self.rows = folder, shape, rows

    def add(self, rows: np.ndarray, columns: np.ndarray, values: np.ndarray) -> None:
        """Append some entries to the files of their blocks."""
        records = np.empty(rows.size, dtype=_RECORD)
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
            held = np.fromfile(path, dtype=_RECORD)
            path.unlink()
            yield sp.csr_array((held["value"], (held["row"] - start, held["column"])), shape=shape)

    def _file(self, number: int) -> Path:
        return self.folder / f"{number:06d}.entries"
