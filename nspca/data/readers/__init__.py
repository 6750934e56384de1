"""File readers: one for each format, used for data in memory, for folders of shards and for cost estimates.

    base          `Source`, `Shape`, `Block` and the interface `Reader`
    entries       text files with one entry a line, in any order
    tables        what CSV and Parquet have in common
    delimited     CSV, TSV and other tables of text
    parquet       Parquet
    npz           NPZ and NPY
    hdf5          HDF5, only by a path of the user's own
    docword       the UCI bag-of-words format
    documents     texts, whose words are counted elsewhere
    strings       tables of which every cell stays a text
    images        images from an archive or a folder
    matrixmarket  Matrix Market, coordinate and array

A reader takes the header when it is made. `probe` says the size that the header claims, as far as the file is
long enough for it; `blocks` yields the rows.
"""

from nspca.data.read_options import ReadOptions
from nspca.data.readers.base import DEFAULT, Block, Reader, Shape, Source
from nspca.data.readers.delimited import DelimitedReader
from nspca.data.readers.docword import DocwordReader
from nspca.data.readers.entries import EntryReader
from nspca.data.readers.excel import is_workbook
from nspca.data.readers.hdf5 import Hdf5Reader
from nspca.data.readers.matrixmarket import MatrixMarketReader
from nspca.data.readers.npz import NpyReader, NpzReader, is_array, list_members
from nspca.data.readers.parquet import ParquetReader
from nspca.data.readers.tables import TableReader
from nspca.errors import InvalidData
from nspca.progress import Report, silent

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
ONE_IMAGE = (b"\x89PNG", b"\xff\xd8\xff", b"RIFF", b"P1", b"P2", b"P3", b"P4", b"P5", b"P6")
"""The first bytes of single images."""
CONTAINERS = (b"PK\x03\x04", b"PK\x05\x06")
"""The first bytes of a ZIP file and of an empty one: NPZ, Excel, images or a packed table."""
FORMATS: tuple[type[Reader], ...] = (
    ParquetReader,
    NpyReader,
    MatrixMarketReader,
    DocwordReader,
    DelimitedReader,
)
"""The readers in the order in which they are asked whether a file is theirs; the last takes every text."""


def open_reader(source: Source, options: ReadOptions = DEFAULT, *, report: Report = silent) -> Reader:
    """Return the reader of a file on disk, which its first bytes tell and never its name.

    Raises
    ------
    InvalidData
        For a file of another format, and for a header that makes no sense.
    """
    first = source.first()
    if first.startswith(CONTAINERS):
        kind = _find_archive(source)
    elif Hdf5Reader.matches(first):
        kind = Hdf5Reader
    elif first.startswith((*FOREIGN, *ONE_IMAGE)):
        raise InvalidData(
            f"{source.called} must be a docword, Matrix Market, Parquet, CSV, NPZ, NPY or HDF5 file, got "
            "another: convert it."
        )
    else:
        kind = next(reader for reader in FORMATS if reader.matches(first))
    return kind(source, options, on_disk=True, report=report)


def _find_archive(source: Source) -> type[Reader]:
    members = list_members(source)[1]
    if is_workbook(members):
        raise InvalidData(
            f"{source.called} is an Excel workbook, which has no header: save the sheet as CSV."
        )
    if not any(map(is_array, members)):
        raise InvalidData(f"{source.called} holds no table of numbers: save one with numpy.savez.")
    return NpzReader


__all__ = [
    "CONTAINERS",
    "FOREIGN",
    "FORMATS",
    "ONE_IMAGE",
    "Block",
    "DelimitedReader",
    "DocwordReader",
    "EntryReader",
    "Hdf5Reader",
    "MatrixMarketReader",
    "NpyReader",
    "NpzReader",
    "ParquetReader",
    "Reader",
    "Shape",
    "Source",
    "TableReader",
    "open_reader",
]
