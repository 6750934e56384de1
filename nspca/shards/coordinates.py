"""Docword and Matrix Market files as shards: sparse matrices whose entries come in any order."""

from collections.abc import Sequence

from nspca.data import limits
from nspca.data.readers.base import Source
from nspca.data.readers.docword import DocwordReader, find_vocabulary, read_vocabulary, vocabulary_words
from nspca.data.readers.entries import EntryReader
from nspca.data.readers.matrixmarket import MatrixMarketReader
from nspca.errors import InvalidData
from nspca.shards.making import Made
from nspca.shards.reader import Shards

MOST_ROWS = 2**40
"""Rows of a table in a folder of shards: a number that no real table reaches."""


def docword(made: Made) -> Shards:
    """Write a docword file as shards."""
    reader = DocwordReader(Source(made.source), made.how, on_disk=True, report=made.report)
    path = made.vocabulary or find_vocabulary(made.source)
    names = None if path is None else vocabulary_words(read_vocabulary(path), reader.shape.columns)[0]
    return write_entries(made, reader, names)


def write_entries(made: Made, reader: EntryReader, names: Sequence[str] | None = None) -> Shards:
    """Write a sparse matrix whose entries come in any order as shards."""
    shape = reader.shape
    rows, columns, entries = shape.rows, shape.columns, shape.nonzeros
    # A row or column costs an index whether anything is in it or not, so a header alone buys no gigabyte.
    most = limits.FREE_LINES + entries
    if not min(rows, columns) > 0 or max(rows, columns) > most or columns >= 2**31 or rows > MOST_ROWS:
        raise InvalidData(
            f"{made.source} says {rows} rows, {columns} columns and {entries} entries: a table has at least "
            f"one of each, and at most {limits.FREE_LINES} more than entries."
        )
    with made.writer(columns, names) as writer:
        for block in reader.blocks(made.per_block(rows, entries), writer.place):
            writer.add(block.X)
        return writer.finish()


def matrix_market(made: Made) -> Shards:
    """Write a Matrix Market file as shards."""
    return write_entries(
        made, MatrixMarketReader(Source(made.source), made.how, on_disk=True, report=made.report)
    )
