"""Read counts of single cells by 10x Genomics: a matrix with the names of features and barcodes beside it.

The three files of a folder or ZIP may have a prefix, and be compressed. Version 3 says ``features``, version
2 ``genes``. A cell is a sample, a gene a feature.
"""

import csv
import io
import re
from collections.abc import Callable

import scipy.sparse as sp

from nspca.data.arrays import make_dataset
from nspca.data.dataset import Dataset
from nspca.data.formats.base import Format, Source
from nspca.data.formats.matrixmarket import MatrixMarketReader
from nspca.data.limits import check_sparse, plain_bytes
from nspca.data.names import quote_names, unique_names
from nspca.data.options import ReadOptions
from nspca.errors import InvalidData
from nspca.progress import Report

_MATRIX = re.compile(r"(.*?)matrix\.mtx(\.gz)?", re.IGNORECASE)
_BESIDE = (r"(features|genes)\.tsv(\.gz)?", r"barcodes\.tsv(\.gz)?")


def _find(source: Source) -> list[tuple[str, list[Callable[[], bytes]]]]:
    """Return the prefix of each matrix, with functions that read matrix, features and barcodes."""
    out = []
    for label, read in source.files or ():
        if match := _MATRIX.fullmatch(label):
            patterns = [re.compile(re.escape(match[1]) + name, re.IGNORECASE) for name in _BESIDE]
            beside = [
                [one for name, one in source.files or () if pattern.fullmatch(name)] for pattern in patterns
            ]
            if all(beside):
                out.append((match[1], [read, *(found[0] for found in beside)]))
    return out


def read(source: Source, options: ReadOptions, report: Report) -> Dataset:
    """Return the cells of a 10x matrix; a gene is called by its symbol, or by its identifier without one."""
    found = _find(source)
    if len(found) > 1:
        raise InvalidData(
            f"The files hold {len(found)} matrices of cells ({quote_names(one[0] for one in found)}): give "
            "those of one sample."
        )
    matrix, features, barcodes = (plain_bytes(one(), source.packed or None) for one in found[0][1])
    reader = MatrixMarketReader(Source(raw=matrix), report=report)
    size = reader.probe()
    check_sparse(size.rows, size.columns, size.entries)
    (block,) = reader.blocks()
    rows = _rows(features)
    genes, renamed = unique_names([one[1] if one[1:2] and one[1].strip() else one[0] for one in rows], "gene")
    cells, more = unique_names([row[0] for row in _rows(barcodes)], "cell")
    X = block.X if block.X.shape == (len(cells), len(genes)) != (len(genes), len(cells)) else block.X.T
    if (len(cells), len(genes)) != X.shape:
        raise InvalidData(
            f"The matrix has {block.X.shape[0]} features and {block.X.shape[1]} cells, and its files name "
            f"{len(genes)} and {len(cells)}: they belong to different matrices, get them again."
        )
    said = [f"A 10x matrix: its {len(genes)} genes are the features, its {len(cells)} cells the samples."]
    types = sorted({row[2] for row in rows if len(row) > 2})
    if len(types) > 1:
        said.append(f"The features are of several types, all kept: {quote_names(types)}.")
    about = {"feature_names": genes, "sample_names": cells, "findings": (*said, *renamed, *more)}
    return make_dataset(sp.csr_array(X), source.title, options, **about)


def _rows(raw: bytes) -> list[list[str]]:
    text = io.StringIO(raw.decode("utf-8", "replace"), newline="")
    return [row for row in csv.reader(text, delimiter="\t", quoting=csv.QUOTE_NONE) if row]


FORMAT = Format("a 10x matrix of cells", lambda source: bool(_find(source)), read=read)
