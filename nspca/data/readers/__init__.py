"""File readers: one for each format, used for data in memory, for folders of shards and for cost estimates.

    base          `Source`, `Shape`, `Block` and the interface `Reader`
    entries       text files with one entry a line, in any order
    docword       the UCI bag-of-words format
    matrixmarket  Matrix Market, coordinate and array

A reader takes the header when it is made. `probe` says the size that the header claims, as far as the file is
long enough for it; `blocks` yields the rows.
"""

from nspca.data.readers.base import Block, Reader, Shape, Source
from nspca.data.readers.docword import DocwordReader
from nspca.data.readers.matrixmarket import MatrixMarketReader

FORMATS: tuple[type[Reader], ...] = (MatrixMarketReader, DocwordReader)
"""Every reader that knows its format from the first bytes of a file."""


def find_format(first: bytes) -> type[Reader] | None:
    """Return the reader for a file with these first bytes; None where no format fits."""
    return next((reader for reader in FORMATS if reader.matches(first)), None)


__all__ = [
    "FORMATS",
    "Block",
    "DocwordReader",
    "MatrixMarketReader",
    "Reader",
    "Shape",
    "Source",
    "find_format",
]
