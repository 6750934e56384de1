"""Formats that are not read: each is refused by its name, with what to do instead."""

from nspca.data.formats.base import Format

_SAVE = "save the table as CSV or as NPZ"
_IN_R = 'write it in R by write.csv(x, "x.csv", row.names = FALSE)'
_TEXT = "save it as plain text (.txt), one document in each file"
_MAGIC = {
    b"\x89HDF": ("an HDF5 file (.h5ad and the like), which is never opened from uploads", _SAVE),
    b"%PDF": ("a PDF", "save its table as CSV"),
    b"MATLAB 5": ("a MATLAB file", _SAVE),
    b"MATLAB 7": ("a MATLAB file", _SAVE),
    b"RDX": ("an R data file (.RData)", _IN_R),
    b"X\n\0\0": ("an R data file (.rds)", _IN_R),
    b"$FL": ("an SPSS file (.sav)", "save it as CSV or as Stata in SPSS, PSPP or R"),
    b"CDF": ("a netCDF file", _SAVE),
    b"SIMPLE  =": ("a FITS file", _SAVE),
    b"{\\rtf": ("a Rich Text document", _TEXT),
    b"FEA1": ("a Feather file of version 1", "write it again with a newer pandas or pyarrow, or as CSV"),
    b"\x80\x04": ("a pickle, which is never opened", _SAVE),
    b"\x80\x05": ("a pickle, which is never opened", _SAVE),
    b"SQLite format 3": ("an SQLite database", _SAVE),
    b"<!DOCTYPE": ("a web page", _SAVE),
    b"<!doctype": ("a web page", _SAVE),
    b"<html": ("a web page", _SAVE),
    b"<?xml": ("an XML file", _SAVE),
    b"##TITLE": ("a JCAMP-DX file of a spectrum", "save the spectra as one table in CSV"),
    b"^DATABASE": ("a SOFT file of GEO", "take the series matrix of the series"),
    b"^SAMPLE": ("a SOFT file of GEO", "take the series matrix of the series"),
    b"FCS": ("a flow cytometry file (.fcs)", _SAVE),
    b"##fileformat=VCF": ("a VCF file of variants", "write counts of alleles, by plink --recode A"),
    b"Rar!": ("a RAR archive", _SAVE),
    b"7z\xbc\xaf": ("a 7z archive", _SAVE),
    b"BZh": ("a bzip2 file", _SAVE),
    b"\xfd7zXZ": ("an xz file", _SAVE),
    b"\x28\xb5\x2f\xfd": ("a Zstandard file", _SAVE),
}
"""Names of formats and what to do instead, by the first bytes of a file."""


def _begins(magic: bytes, name: str, way: str) -> Format:
    return Format(name, lambda source: source.first().startswith(magic), refused=way)


def _holds(member: str, name: str, way: str) -> Format:
    return Format(name, lambda source: member in source.names, refused=way)


_OCEAN = Format(
    "a file of one spectrum, as OceanView and SpectraSuite write it",
    lambda source: source.files is None and b">>>>>Begin" in source.first(),
    refused="join the spectra of all samples in one CSV, a row for each sample, a column for each wavelength",
)
FORMATS = (*(_begins(magic, name, way) for magic, (name, way) in _MAGIC.items()), _OCEAN)
"""Refused files, told by their beginning."""
ARCHIVES = (
    _holds("word/document.xml", "a Word document", "save its table as CSV"),
    _holds("ppt/presentation.xml", "a PowerPoint file", "save its texts as .txt, or its tables as CSV"),
    _holds("META-INF/container.xml", "an e-book (EPUB)", _TEXT),
    _holds("Index/Document.iwa", "a file of Numbers, Pages or Keynote", "export it as CSV, Excel or text"),
    _holds("Index.zip", "a file of Numbers, Pages or Keynote", "export it as CSV, Excel or text"),
    _holds("xl/workbook.bin", "a binary Excel workbook (.xlsb)", "save it as .xlsx or as CSV"),
)
"""Refused archives, told by a file inside."""
