"""Read counts of single cells by 10x Genomics: a matrix with the names of features and barcodes beside it.

The three files of a folder or ZIP may have a prefix, and be compressed. Version 3 says ``features``, version 2
``genes``. A cell is a sample, a gene a feature.
"""

import csv
import io
import re
from typing import Any

import scipy.sparse as sp

from nspca.data.formats.strings import quote_names
from nspca.data.limits import Files, plain_bytes
from nspca.errors import InvalidData

_MATRIX = re.compile(r"(.*?)matrix\.mtx(\.gz)?", re.IGNORECASE)
_FEATURES = r"(features|genes)\.tsv(\.gz)?"
_BARCODES = r"barcodes\.tsv(\.gz)?"


def find_tenx(files: Files) -> tuple[Any, Any, Any] | None:
    """Return the readers of matrix, features and barcodes among files; None when there is no such matrix."""
    named = dict(files)
    found = {match[1]: read for label, read in files if (match := _MATRIX.fullmatch(label))}
    whole = {}
    for prefix, read in found.items():
        beside = [
            next(
                (
                    one
                    for label, one in named.items()
                    if re.fullmatch(re.escape(prefix) + name, label, re.IGNORECASE)
                ),
                None,
            )
            for name in (_FEATURES, _BARCODES)
        ]
        if all(beside):
            whole[prefix] = (read, *beside)
    if len(whole) > 1:
        raise InvalidData(
            f"The files hold {len(whole)} matrices of cells, {quote_names(map(str, whole))}: give those of one sample."
        )
    return next(iter(whole.values()), None)


def read_names(features: bytes, barcodes: bytes) -> tuple[list[str], list[str], tuple[str, ...]]:
    """Return the names of genes and cells, and a note about features of several types.

    A gene is called by its symbol, the second column, or by its identifier where there is none.
    """
    rows = _rows(features)
    genes = [row[1] if len(row) > 1 and row[1].strip() else row[0] for row in rows]
    types = {row[2] for row in rows if len(row) > 2}
    notes = (
        (f"The features are of several types, all kept: {quote_names(sorted(types))}.",)
        if len(types) > 1
        else ()
    )
    return genes, [row[0] for row in _rows(barcodes)], notes


def _rows(raw: bytes) -> list[list[str]]:
    text = plain_bytes(raw).decode("utf-8", "replace")
    return [
        row
        for row in csv.reader(io.StringIO(text, newline=""), delimiter="\t", quoting=csv.QUOTE_NONE)
        if row
    ]


def check_names(shape: tuple[int, int], genes: int, cells: int) -> None:
    """Refuse names that do not fit the matrix (features, cells)."""
    if shape != (genes, cells):
        raise InvalidData(
            f"The matrix has {shape[0]} features and {shape[1]} cells, and its files name {genes} and {cells}: they "
            "belong to different matrices, get them again."
        )


def by_cells(X: Any) -> sp.csr_array:
    """Return a matrix (features, cells) with a row for each cell."""
    return sp.csr_array(X.T)
