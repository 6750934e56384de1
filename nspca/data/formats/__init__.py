"""File readers: one for each format, used for data in memory, for folders of shards and for cost estimates.

    base          `Source`, `Size`, `Block` and the interface `Reader`
    entries       text files with one matrix entry per line, in any order
    tables        base class of the readers of CSV and Parquet
    delimited     CSV, TSV and other tables of text
    excel         Excel workbooks, converted to CSV for `delimited`
    parquet       Parquet
    npz           NPZ and NPY
    hdf5          HDF5, never from uploads
    h5ad          AnnData files, never from uploads
    docword       the UCI bag-of-words format
    documents     texts, for counting words
    strings       tables whose cells all stay texts
    images        images from an archive or a folder
    matrixmarket  Matrix Market, coordinate and array

The constructor of a `Reader` parses the header. `probe` returns the size of the table after checking that the
file is long enough for it. `blocks` yields the rows. `open_reader` chooses the reader of a file on disk, for
folders of shards, cost estimates and HDF5. `nspca.data.reader` chooses for data in memory.
"""

import re

from nspca.data.formats.base import DEFAULT, Reader, Size, Source
from nspca.data.formats.delimited import DelimitedReader
from nspca.data.formats.docword import DocwordReader
from nspca.data.formats.excel import is_workbook
from nspca.data.formats.hdf5 import Hdf5Reader
from nspca.data.formats.matrixmarket import MatrixMarketReader
from nspca.data.formats.npz import NpyReader, NpzReader, is_array, list_members
from nspca.data.formats.parquet import ParquetReader
from nspca.data.formats.tables import TableReader
from nspca.data.limits import require_file
from nspca.data.read_options import ReadOptions
from nspca.errors import InvalidData
from nspca.progress import Report, silent

FOREIGN = {
    b"\x89HDF": "an HDF5 file (.h5ad and the like), which is never opened from uploads",
    b"\xd0\xcf\x11\xe0": "an old Excel file, or one with a password",
    b"%PDF": "a PDF",
    b"MATLAB 5": "a MATLAB file",
    b"RDX": "an R data file",
    b"\x80\x04": "a pickle, which is never opened",
    b"\x80\x05": "a pickle, which is never opened",
    b"ARROW1": "an Arrow or Feather file",
    b"SQLite format 3": "an SQLite database",
    b"<!DOCTYPE": "a web page",
    b"<!doctype": "a web page",
    b"<html": "a web page",
    b"<?xml": "an XML file",
    b'{"': "a JSON file",
    b'[{"': "a JSON file",
    b"Rar!": "a RAR archive",
    b"7z\xbc\xaf": "a 7z archive",
    b"BZh": "a bzip2 file",
    b"\xfd7zXZ": "an xz file",
    b"\x28\xb5\x2f\xfd": "a Zstandard file",
}
"""Names of formats that are refused, by the first bytes of a file."""
ONE_IMAGE = re.compile(rb"\x89PNG|\xff\xd8\xff|RIFF.{4}WEBP|P[1-6]\s+[#\d]", re.DOTALL)
"""Pattern of the first bytes of a single image. A table may well begin with a column P1."""
CONTAINERS = (b"PK\x03\x04", b"PK\x05\x06")
"""The first bytes of a ZIP file and of an empty one: NPZ, Excel, images or a packed table."""
FORMATS: tuple[type[Reader], ...] = (
    ParquetReader,
    NpyReader,
    MatrixMarketReader,
    DocwordReader,
    DelimitedReader,
)
"""Readers in the order in which their `matches` is tried. The last one takes every text."""


def open_reader(source: Source, options: ReadOptions = DEFAULT, *, report: Report = silent) -> Reader:
    """Return the reader for a file on disk, chosen by its first bytes and not by its name.

    Raises
    ------
    InvalidData
        For no file, a file of another format, or a damaged header.
    """
    if source.path is not None:
        require_file(source.path)
    first = source.first()
    if not first:
        raise InvalidData(
            f"{source.called} is empty: a table with at least two rows and two columns is needed."
        )
    if source.is_packed and (first.startswith(CONTAINERS) or Hdf5Reader.matches(first)):
        raise InvalidData(
            f"{source.called} is packed, and its rows cannot be read from the middle: unpack it."
        )
    if first.startswith(CONTAINERS):
        kind = _find_archive(source)
    elif Hdf5Reader.matches(first):
        kind = Hdf5Reader
    elif first.startswith(tuple(FOREIGN)) or ONE_IMAGE.match(first):
        raise InvalidData(
            f"{source.called} must be a docword, Matrix Market, Parquet, CSV, NPZ, NPY or HDF5 file, got "
            "another: convert it."
        )
    else:
        kind = next(reader for reader in FORMATS if reader.matches(first))
    return kind(source, options, on_disk=True, report=report)


def _find_archive(source: Source) -> type[Reader]:
    """Return the reader for a ZIP file; refuse workbooks and archives without arrays."""
    members = list_members(source)[1]
    if is_workbook(members):
        raise InvalidData(
            f"{source.called} is an Excel workbook, which has no header: save the sheet as CSV."
        )
    if not any(map(is_array, members)):
        raise InvalidData(
            f"{source.called} is a ZIP archive without arrays: unpack it, or save the table with numpy.savez."
        )
    return NpzReader


__all__ = [
    "FOREIGN",
    "ONE_IMAGE",
    "DocwordReader",
    "MatrixMarketReader",
    "Reader",
    "Size",
    "Source",
    "TableReader",
    "open_reader",
]
