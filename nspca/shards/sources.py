"""Conversion of a file into a folder of shards: read block by block, so that it need not fit into memory.

The command `shard` calls `shard`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from nspca.data import limits
from nspca.data.containers import open_reader
from nspca.data.dialect import FEW_LABELS, Layout, quoted
from nspca.data.findings import as_findings
from nspca.data.formats import DocwordReader, Reader, Source, TableReader
from nspca.data.formats.docword import find_vocabulary, read_vocabulary, vocabulary_words
from nspca.data.names import short
from nspca.data.options import ReadOptions
from nspca.data.roles import Columns, describe_left_out
from nspca.errors import InvalidData, InvalidOption, Way
from nspca.progress import Event, Report, silent
from nspca.shards.reader import Shards
from nspca.shards.writer import Writer, regrouped
from nspca.validation.options import positive, whole

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
        whole("rows", rows, 1)
    positive("megabytes", megabytes)
    path, report = Path(source), report or silent
    asked: dict[str, Any] = {"id_column": id_column, "label_column": label_column, "decimal": decimal}
    options = ReadOptions(**asked)
    reader = open_reader(Source(path), options, report=report)
    if vocabulary is not None and not isinstance(reader, DocwordReader):
        raise InvalidOption(f"vocabulary is for a docword file, got {path}, which is none: leave it out")
    if options != ReadOptions() and not isinstance(reader, TableReader):
        raise InvalidOption(
            f"id_column, label_column and decimal are for a table with named columns, got {path}, which is "
            "none: leave them out"
        )
    title = path.name.removesuffix(".gz")
    title = title.rsplit(".", 1)[0] or title
    if isinstance(reader, TableReader):
        names, columns = _check_table(reader), len(reader.columns.features)
    else:
        names, columns = _check_matrix(reader, vocabulary), reader.shape.columns
    count = reader.shape.rows if reader.shape.exact else UNKNOWN
    entries = reader.shape.entries if reader.shape.exact else UNKNOWN * columns
    rows = _rows_of_a_shard(count, entries, megabytes) if rows is None else rows
    with Writer(folder, columns, title, names, report) as writer:
        if isinstance(reader, TableReader):
            _write(writer, regrouped(_table_blocks(reader, writer), rows), reader)
        else:
            blocks = (sp.csr_array(block.X) for block in reader.blocks(rows, writer.place))
            writer.notes = tuple(one.sentence for one in as_findings(reader.findings))
            _write(writer, blocks, reader)
        return writer.finish()


def _rows_of_a_shard(rows: int, entries: int, megabytes: float) -> int:
    """Return how many rows of a table with these `rows` and `entries` make a shard of `megabytes`."""
    each = PER_ENTRY * entries / max(rows, 1) + 8
    return int(np.clip(float(megabytes) * 2**20 / each, 1, max(rows, 1)))


def _write(writer: Writer, blocks: Iterator[sp.csr_array], reader: Reader) -> None:
    """Write blocks as shards and report the progress."""
    total, done = reader.shape.rows if reader.shape.exact else 0, 0
    for block in blocks:
        writer.add(block)
        done += block.shape[0]
        reader.report(Event("shards", done, total))


def _check_matrix(reader: Reader, vocabulary: str | Path | None) -> tuple[str, ...] | None:
    """Refuse a matrix of impossible size; return the names of its columns, where there are any."""
    shape = reader.shape
    rows, columns, entries = shape.rows, shape.columns, shape.entries
    if rows < 1 or columns < 2:
        raise InvalidData(
            f"{reader.source.called} must have a row and two columns at least, got {rows} x {columns}: give "
            "another file."
        )
    limits.check_filled(rows, columns, entries, reader.source.called)
    if columns > MOST_COLUMNS or rows > MOST_ROWS:
        raise InvalidData(
            f"{reader.source.called} may have at most {MOST_ROWS} rows and {MOST_COLUMNS} columns, got "
            f"{rows} x {columns}: keep fewer."
        )
    path = reader.source.path
    if not isinstance(reader, DocwordReader) or path is None:
        found = reader.feature_names()
        return None if found is None else tuple(found)
    words = find_vocabulary(path) if vocabulary is None else Path(vocabulary)
    return None if words is None else tuple(vocabulary_words(read_vocabulary(words), columns)[0])


def _check_table(reader: TableReader) -> tuple[str, ...] | None:
    """Refuse a table of less than two features; return their names, or None where they are numbered."""
    chosen, found = reader.columns, reader.layout
    if len(chosen.features) < 2:
        got = len(chosen.features) or "none"
        raise InvalidData(
            f"{reader.source.called} must have two columns of numbers at least, got "
            f"{got}{chosen.describe_excluded(found)}: save the table again."
        )
    return tuple(found.columns[i] for i in chosen.features) if found.header or chosen.excluded else None


def _table_blocks(reader: TableReader, writer: Writer) -> Iterator[sp.csr_array]:
    """Yield the features of a table; names, labels and other texts are left out, and notes say so."""
    chosen, found = reader.columns, reader.layout
    others = OtherColumns(found, chosen)
    for block in reader.blocks():
        missing = np.argwhere(np.isnan(block.X))
        if missing.size:
            row, column = missing[0]
            raise InvalidData(
                f"Row {others.rows + 1 + row} of {reader.source.called} has no number in "
                f"column{quoted(found, chosen.features[column])}: fill it in."
            )
        others.add(block.texts, len(block.X))
        yield sp.csr_array(block.X)
    said = as_findings((*reader.findings, *chosen.findings, *others.notes()))
    writer.notes = tuple(one.sentence for one in said)


class OtherColumns:
    """The different texts of each column that is no feature, collected block by block.

    A column of dates, of few texts that repeat, or of texts beside the names is left out, and a note says so;
    any other is refused.
    Reading the table into memory does the same.
    """

    def __init__(self, layout: Layout, columns: Columns) -> None:
        self.layout = layout
        self.named = columns.ids is not None
        self.rows = 0
        self._first_rows: dict[int, dict[str, int]] = {i: {} for i in columns.others}

    def add(self, texts: Mapping[int, Sequence[str]], rows: int) -> None:
        """Add the cells of the next rows; refuse a column as soon as it has held too many texts."""
        for i, first in self._first_rows.items():
            for text in set(texts[i]).difference(first):
                first[text] = self.rows + texts[i].index(text) + 1
            if len(first) > FEW_LABELS:
                self._describe(i)
                # Dates were not refused. Enough are kept to tell that they are not few.
                self._first_rows[i] = dict(islice(first.items(), FEW_LABELS + 1))
        self.rows += rows

    def notes(self) -> tuple[str, ...]:
        """Return a sentence about each column, after the last row."""
        return tuple(self._describe(i) for i in self._first_rows)

    def _describe(self, i: int) -> str:
        """Return the sentence about a column that is left out, or refuse the column."""
        first, layout = self._first_rows[i], self.layout
        if i in layout.empty_columns:
            numerals = layout.numerals
            held = sorted((row, text) for text, row in first.items() if not numerals.is_missing(text))
            if held and all(numerals.is_number(text) for _, text in held):
                row, text = held[0]
                raise InvalidData(
                    f"Every cell must hold a number, but column{quoted(layout, i)} is empty in its first "
                    f'rows and holds "{short(text)}" in row {row}: fill it in, or remove it.'
                )
            if held:
                layout = replace(layout, empty_columns=())
        found = describe_left_out(layout, i, first, self.rows, self.named)
        if isinstance(found, InvalidData):
            name = layout.columns[i]
            raise InvalidData(
                found.message,
                (Way("id_column", name, "Use as names"), Way("label_column", name, "Use as labels")),
            )
        return found.sentence
