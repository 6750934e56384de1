"""File formats: one file for each, with an entry `FORMAT` that is listed here.

A `Format` tells how it is recognised, and has one way of reading. `convert` returns a table of text, for
tables in disguise such as workbooks. `read` returns the `Dataset`. `reader` is the `Reader` of a file on
disk, block by block. Formats that are not read are refused by their names (`foreign`).
"""

from nspca.data.formats import (
    arff,
    arrow,
    delimited,
    docword,
    excel,
    foreign,
    genes,
    hdf5,
    idx,
    images,
    json_tables,
    matrixmarket,
    npz,
    statistics,
    svmlight,
    tenx,
)
from nspca.data.formats.base import Format

ARCHIVE = Format("a ZIP or folder", lambda source: source.files is not None)
"""Any other ZIP or folder, whose table `containers` chooses."""
FORMATS: tuple[Format, ...] = (
    npz.FORMAT,
    *foreign.ARCHIVES,
    excel.FORMAT,
    tenx.FORMAT,
    genes.COUNTS,
    idx.FORMAT,
    images.FORMAT,
    ARCHIVE,
    hdf5.FORMAT,
    arrow.PARQUET,
    npz.NPY,
    statistics.FORMAT,
    arrow.FEATHER,
    *foreign.FORMATS,
    matrixmarket.FORMAT,
    docword.FORMAT,
    json_tables.FORMAT,
    arff.FORMAT,
    svmlight.FORMAT,
    genes.FORMAT,
    delimited.FORMAT,
)
"""The formats in the order in which `matches` is tried. The last one takes every text."""
