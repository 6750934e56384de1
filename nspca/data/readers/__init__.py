"""File readers: one for each format, used for data in memory, for folders of shards and for cost estimates.

    base          `Source`, `Shape`, `Block` and the interface `Reader`
    entries       text files with one entry a line, in any order
    tables        what CSV and Parquet have in common
    delimited     CSV, TSV and other tables of text
    parquet       Parquet
    docword       the UCI bag-of-words format
    matrixmarket  Matrix Market, coordinate and array

A reader takes the header when it is made. `probe` says the size that the header claims, as far as the file is
long enough for it; `blocks` yields the rows.
"""

from nspca.data.readers.base import Block, Reader, Shape, Source
from nspca.data.readers.delimited import DelimitedReader
from nspca.data.readers.docword import DocwordReader
from nspca.data.readers.matrixmarket import MatrixMarketReader
from nspca.data.readers.parquet import ParquetReader

FOREIGN = {
    b"\x89HDF": "an HDF5 file (.h5ad and the like), which is never opened from uploads",
    b"\xd0\xcf\x11\xe0": "an old Excel file, or one with a password",
    b"%PDF": "a PDF",
    b"MATLAB": "a MATLAB file",
    b"\x80\x04": "a pickle, which is never opened",
    b"Rar!": "a RAR archive",
    b"7z\xbc\xaf": "a 7z archive",
}
"""The first bytes of formats that are never read, and what the file is then called."""
ONE_IMAGE = (b"\x89PNG", b"P1", b"P2", b"P3", b"P4", b"P5", b"P6")
"""The first bytes of single images."""
NPY = b"\x93NUMPY"
"""The first bytes of one array of NumPy."""
CONTAINERS = (b"PK\x03\x04", b"PK\x05\x06")
"""The first bytes of a ZIP file and of an empty one: NPZ, Excel, images or a packed table."""
FORMATS: tuple[type[Reader], ...] = (ParquetReader, MatrixMarketReader, DocwordReader, DelimitedReader)
"""The readers in the order in which they are asked whether a file is theirs; the last takes every text."""


def find_format(first: bytes) -> type[Reader] | None:
    """Return the reader for a file with these first bytes; None for formats that no reader takes."""
    if first.startswith((*FOREIGN, *CONTAINERS, NPY, *ONE_IMAGE)):
        return None
    return next(reader for reader in FORMATS if reader.matches(first))


__all__ = [
    "CONTAINERS",
    "FOREIGN",
    "FORMATS",
    "NPY",
    "ONE_IMAGE",
    "Block",
    "DelimitedReader",
    "DocwordReader",
    "MatrixMarketReader",
    "ParquetReader",
    "Reader",
    "Shape",
    "Source",
    "find_format",
]
