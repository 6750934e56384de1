"""Conversion of a file into a folder of shards: read block by block, so that it need not fit into memory.

The command `shard` calls `shard`.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from nspca.data import limits
from nspca.data.containers import open_reader
from nspca.data.dialect import FEW_LABELS, quoted
from nspca.data.findings import Finding, as_findings
from nspca.data.formats.base import Block, Reader, Source
from nspca.data.formats.delimited import DelimitedReader
from nspca.data.formats.docword import DocwordReader, find_vocabulary, read_vocabulary
from nspca.data.names import short
from nspca.data.options import ReadOptions
from nspca.data.roles import describe_left_out
from nspca.errors import InvalidData, InvalidOption
from nspca.progress import Event, Report, silent
from nspca.shards.reader import Shards
from nspca.shards.writer import Writer
from nspca.validation.options import check_whole, positive

MEGABYTES = 32
"""Size of a shard: three million entries, which take three times that in memory while they are sorted."""
PER_ENTRY = 12
"""Bytes of an entry: four for its column, eight for its value."""
MOST_ROWS, MOST_COLUMNS = 2**40, 2**31 - 1
"""Maximum rows of a table in a folder of shards, which no real table has, and columns that int32 counts."""
UNKNOWN = 2**31
"""Rows assumed for a text file, known only at its end; the size of a shard does not depend on them."""


def shard(
    source: str | Path,
    folder: str | Path,
    *,
    rows: int | None = None,
    megabytes: float = MEGABYTES,
    vocabulary: str | Path | None = None,
    id_column: str | int | None = None,
    label_column: str | int | None = None,
    decimal: str | None = None,
    report: Report | None = None,
) -> Shards:
    """Write a file that need not fit into memory as a folder of shards.

    Parameters
    ----------
    source : path
        UCI docword, Matrix Market in coordinate form, Parquet, NPY, NPZ (dense, or saved by
        ``scipy.sparse.save_npz``), HDF5 (with the package h5py), or CSV. Texts may be gzipped.
    folder : path
        A new folder.
    rows : int, optional
        Rows of a shard.
    megabytes : float
        About the size of a shard, where `rows` are not given.
    vocabulary : path, optional
        The words of a docword file; ``vocab.x.txt`` beside ``docword.x.txt`` is found by itself.
    id_column, label_column : str or int, optional
        Columns of a CSV or Parquet file, by name or 0-based position, that are names and groups of the
        samples: no features, as for `nspca.read`.
    decimal : "," or ".", optional
        The decimal sign of a CSV file, found by itself when not given.
    report : callable, optional
        Gets progress events and may raise `Cancelled`; then nothing is left behind.

    Returns
    -------
    Shards

    Raises
    ------
    InvalidData
        For a file that cannot be read; the message names the line of a text.
    InvalidOption
        For an option that is not about a file of this kind.
    """
    if rows is not None:
        check_whole("rows", rows, 1)
    positive("megabytes", megabytes)
    path, report = Path(source), report or silent
    asked: dict[str, Any] = {"id_column": id_column, "label_column": label_column, "decimal": decimal}
    options = ReadOptions(**asked)
    reader = open_reader(Source(path), options, report=report)
    words = find_vocabulary(path) if vocabulary is None else Path(vocabulary)
    if vocabulary is not None and not isinstance(reader, DocwordReader):
        raise InvalidOption(f"vocabulary is for a docword file, got {path}, which is none: leave it out")
    if options != ReadOptions() and not isinstance(reader, DelimitedReader):
        raise InvalidOption(
            f"id_column, label_column and decimal are for a table with named columns, got {path}, which is "
            "none: leave them out"
        )
    if words is not None:
        reader.source = replace(reader.source, vocabulary=read_vocabulary(words))
    title = path.name.removesuffix(".gz")
    title = title.rsplit(".", 1)[0] or title
    size = reader.shape
    count, entries = (size.rows, size.entries) if size.exact else (UNKNOWN, UNKNOWN * size.columns)
    each = PER_ENTRY * entries / max(count, 1) + 8
    step = rows or int(np.clip(float(megabytes) * 2**20 / each, 1, max(count, 1)))
    table = reader if isinstance(reader, DelimitedReader) else None
    names = _check_matrix(reader) if table is None else _check_table(table)
    with Writer(folder, size.columns, step, title, names, report) as writer:
        others = None if table is None else OtherColumns(table)
        for block in reader.blocks(step, writer.place):
            if others is not None:
                others.add(block)
            writer.add(sp.csr_array(block.X))
            report(Event("shards", writer.rows, count if size.exact else 0))
        findings = (*reader.findings, *(() if others is None else others.findings()))
        return writer.finish(tuple(one.sentence for one in as_findings(findings)))


def _check_matrix(reader: Reader) -> Sequence[str] | None:
    """Refuse a matrix of impossible size; return the names of its columns, where there are any."""
    rows, columns, called = reader.shape.rows, reader.shape.columns, reader.source.called
    if rows < 1 or columns < 2:
        raise InvalidData(
            f"{called} must have a row and two columns at least, got {rows} x {columns}: give another file."
        )
    limits.check_filled(rows, columns, reader.shape.entries, called)
    if columns > MOST_COLUMNS or rows > MOST_ROWS:
        raise InvalidData(
            f"{called} may have at most {MOST_ROWS} rows and {MOST_COLUMNS} columns, got {rows} x {columns}: "
            "keep fewer."
        )
    return reader.feature_names()


def _check_table(reader: DelimitedReader) -> Sequence[str] | None:
    """Refuse a table of less than two features; return their names, or None where they are numbered."""
    chosen, found = reader.columns, reader.layout
    if len(chosen.features) < 2:
        got = len(chosen.features) or "none"
        raise InvalidData(
            f"{reader.source.called} must have two columns of numbers at least, got "
            f"{got}{chosen.describe_excluded(found)}: save the table again."
        )
    return [found.columns[i] for i in chosen.features] if found.header or chosen.excluded else None


class OtherColumns:
    """The different texts of each column that is no feature, with their first rows, collected block by block.

    A column of dates, of few texts that repeat, or of texts beside the names is left out, and a finding says
    so; any other is refused. Reading the table into memory does the same.
    """

    def __init__(self, reader: DelimitedReader) -> None:
        self.layout, self.columns, self.called = reader.layout, reader.columns, reader.source.called
        self.rows = 0
        self._first_rows: dict[int, dict[str, int]] = {i: {} for i in self.columns.others}

    def add(self, block: Block) -> None:
        """Add the next rows; refuse a missing value, and a column as soon as it has held too many texts."""
        missing = np.argwhere(np.isnan(block.X))
        if missing.size:
            row, column = missing[0]
            raise InvalidData(
                f"Row {self.rows + 1 + row} of {self.called} has no number in "
                f"column{quoted(self.layout, self.columns.features[column])}: fill it in."
            )
        for i, first in self._first_rows.items():
            for text in set(block.texts[i]).difference(first):
                first[text] = self.rows + block.texts[i].index(text) + 1
            if len(first) > FEW_LABELS:
                self._describe(i)
                # Dates were not refused. Enough are kept to tell that they are not few.
                self._first_rows[i] = dict(islice(first.items(), FEW_LABELS + 1))
        self.rows += len(block.X)

    def findings(self) -> tuple[Finding, ...]:
        """Return what was found out about the columns, after the last row."""
        return (*self.columns.findings, *map(self._describe, self._first_rows))

    def _describe(self, i: int) -> Finding:
        """Return the finding about a column that is left out, or refuse the column."""
        first, layout = self._first_rows[i], self.layout
        held = {text: row for text, row in first.items() if not layout.numerals.is_missing(text)}
        if i in layout.empty_columns and held:
            if all(map(layout.numerals.is_number, held)):
                text = min(held, key=held.__getitem__)
                raise InvalidData(
                    f"Every cell must hold a number, but column{quoted(layout, i)} is empty in its first "
                    f'rows and holds "{short(text)}" in row {held[text]}: fill it in, or remove it.'
                )
            layout = replace(layout, empty_columns=())
        found = describe_left_out(layout, i, first, self.rows, self.columns.ids is not None)
        if isinstance(found, InvalidData):
            raise InvalidData(found.message, found.ways[:2])  # a folder of shards leaves no column out
        return found
