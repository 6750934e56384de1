"""Read single cells in HDF5 by h5py: H5AD files of AnnData, and the HDF5 files of 10x Genomics.

A path of the user's own is opened, never an upload. A cell is a sample, a gene a feature.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse as sp

from nspca.data.arrays import finished
from nspca.data.dataset import Dataset
from nspca.data.dialect import are_few
from nspca.data.findings import as_findings
from nspca.data.formats.base import Format, Source
from nspca.data.formats.hdf5 import Hdf5Reader
from nspca.data.formats.npz import csr_rows
from nspca.data.limits import check_dense, check_growth, check_sparse
from nspca.data.missing import settle
from nspca.data.names import quote_names, unique_names
from nspca.data.options import ReadOptions
from nspca.data.roles import to_labels
from nspca.errors import InvalidData, Late, NSPCAError, shown
from nspca.progress import Report

h5py: Any = Late("h5py", "HDF5 files", "files")
MOST_NAMES = 2_000_000
"""Maximum rows of a table of cells or genes."""


def read(source: Source, options: ReadOptions, report: Report) -> Dataset:
    """Return the cells of an H5AD or 10x file: X or the layer that the option sheet names, names, groups."""
    with _opened(source) as file:
        tenx = _find_tenx(file)
        findings: list[str] = []
        if tenx is None:
            layers = sorted(file.get("layers", ()))
            X = _read_matrix(_layer(file, options.sheet, layers), source)
            samples, columns = _read_table(file["obs"])
            features, _ = _read_table(file["var"])
            if layers and options.sheet is None:
                findings.append(
                    f"X was read; the file also has the layers {quote_names(layers)} (option sheet)."
                )
        else:
            X = _read_matrix(tenx, source, by_columns=True)
            features, samples, columns = _gene_names(tenx), _texts(tenx["barcodes"]), {}
    if (len(samples), len(features)) != X.shape:
        raise _damaged(
            f"X is {X.shape[0]} x {X.shape[1]}, and {len(samples)} cells and {len(features)} genes are named"
        )
    wanted = options.label_column
    groups = {
        name: cells
        for name, cells in columns.items()
        if name == wanted or are_few(len(set(cells)), len(cells))
    }
    if left := [name for name in columns if name not in groups]:
        findings.append(f"Columns about the cells that are no groups were left out: {quote_names(left)}.")
    if wanted is not None and wanted not in groups:
        raise InvalidData(
            f"There is no column {shown(wanted)} of the cells: they are {quote_names(columns)}."
        )
    names, more = unique_names(features, "feature")
    cells, notes = unique_names(samples, "sample")
    settled = settle(X, options.missing)
    labels = {name: to_labels(settled.of_rows(found)) for name, found in groups.items()}
    data = Dataset(
        source.title,
        settled.X,
        tuple(settled.of_columns(names)),
        tuple(settled.of_rows(cells)),
        labels=None if wanted is None else labels[str(wanted)],
        label_columns=labels,
        label_name="" if wanted is None else str(wanted),
        findings=as_findings((*findings, *more, *notes, *settled.notes)),
    )
    return finished(data, options)


def _damaged(what: str) -> InvalidData:
    return InvalidData(f"The file of cells is damaged or of an unknown version ({what}): save it again.")


@contextmanager
def _opened(source: Source) -> Iterator[Any]:
    open_file = h5py.File  # a missing package is told before the file is blamed
    try:
        with open_file(source.path, "r") as file:
            elsewhere = file.visititems_links(
                lambda name, link: name if isinstance(link, h5py.ExternalLink) else None
            )
            if elsewhere is not None:
                raise InvalidData(f"{elsewhere} of the file is in another file: save it in one file.")
            yield file
    except InvalidData:
        raise
    except Exception as error:  # h5py raises errors of many kinds
        raise _damaged(" ".join(str(error).split())[:100]) from None


def _find_tenx(file: Any) -> Any:
    """Return the group with the matrix of a 10x file: "matrix" of version 3, or the genome of version 2."""
    found = [one for name, one in file.items() if hasattr(one, "keys") and {"barcodes", "indptr"} <= set(one)]
    if len(found) > 1:
        raise InvalidData(
            f"The file holds the genomes {quote_names(one.name[1:] for one in found)}: keep one."
        )
    return found[0] if found else None


def _gene_names(group: Any) -> list[str]:
    return _texts(group["features/name"] if "features" in group else group["gene_names"])


def _layer(file: Any, wanted: str | int | None, layers: Sequence[str]) -> Any:
    if wanted is None or wanted == "X":
        if "X" not in file:
            raise InvalidData(
                f"The file has no numbers in X; its layers are {quote_names(layers) or 'none'}."
            )
        return file["X"]
    if wanted not in layers:
        raise InvalidData(
            f"There is no layer {shown(wanted)}: the layers are {quote_names(layers) or 'none'}."
        )
    return file["layers"][wanted]


def _own(node: Any) -> Any:
    """Return a dataset; refuse one whose numbers are in another file, which a stranger's file may name."""
    if node.is_virtual or node.external:
        raise InvalidData(f"{node.name[1:]} of the file is stored in another file: save it in one file.")
    return node


def _read_matrix(node: Any, source: Source, by_columns: bool = False) -> Any:
    given = source.size
    if not hasattr(node, "keys"):
        rows, columns = node.shape
        check_dense(rows, columns)
        check_growth(8 * rows * columns, given, "H5AD", "save X as a sparse matrix")
        return np.asarray(_own(node)[()], dtype=np.float64)
    data, indices, indptr = (_own(node[part]) for part in ("data", "indices", "indptr"))
    shape = (
        node["shape"][()] if "shape" in node else node.attrs.get("shape", node.attrs.get("h5sparse_shape"))
    )
    rows, columns = map(int, shape)
    kind = str(node.attrs.get("encoding-type", node.attrs.get("h5sparse_format", "csr")))
    by_columns = by_columns or kind.startswith("csc")
    check_sparse(rows, columns, data.size)
    check_growth(12 * data.size, given, "H5AD", "save X without compression")
    pointers = indptr[()].astype(np.int64)
    length, across = (columns, rows) if by_columns else (rows, columns)
    ends = pointers.size == length + 1 and (pointers[0], pointers[-1]) == (0, data.size)
    if not ends or (np.diff(pointers) < 0).any() or indices.size != data.size:
        raise _damaged("the parts of the sparse matrix do not fit")
    X = csr_rows(
        data[()], indices[()], pointers, across, _damaged("the sparse matrix names rows that it has not")
    )
    # 10x writes features in rows, by columns: its columns are the cells.
    is_tenx = "barcodes" in node
    return X if is_tenx or not by_columns else sp.csr_array(X.T)


def _read_table(node: Any) -> tuple[list[str], dict[str, list[str]]]:
    if not hasattr(node, "keys"):  # before AnnData 0.7: one array with fields
        rows = _own(node)[()]
        fields = list(rows.dtype.names)
        first = next((name for name in ("index", "_index") if name in fields), fields[0])
        return _words(rows[first]), {name: _words(rows[name]) for name in fields if name != first}
    index = node.attrs.get("_index", "_index")
    names = _texts(node[index])
    columns = {}
    for name in node:
        if name not in (index, "__categories"):
            cells = _texts(node[name], node.get("__categories", {}).get(name))
            if len(cells) == len(names):
                columns[name] = cells
    return names, columns


def _texts(node: Any, categories: Any = None) -> list[str]:
    """Return a column as texts: an array, codes with categories, or values with a mask."""
    if hasattr(node, "keys"):
        if "codes" in node:
            return _texts(node["codes"], node["categories"])
        values = _texts(node["values"])
        return [
            "" if out else value for value, out in zip(values, _own(node["mask"])[()].tolist(), strict=True)
        ]
    if node.size > MOST_NAMES:
        raise _damaged(f"{node.name[1:]} has {node.size} values")
    values = _own(node)[()]
    if categories is None:
        return _words(values)
    names = _texts(categories)
    return [names[code] if 0 <= code < len(names) else "" for code in values.tolist()]


def _words(values: Any) -> list[str]:
    return [
        value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
        for value in values.tolist()
    ]


def _is_cells(source: Source) -> bool:
    if source.path is None or not Hdf5Reader.matches(source.first()):
        return False
    try:
        with h5py.File(source.path, "r") as file:
            return {"obs", "var"} <= set(file) or _find_tenx(file) is not None
    except (NSPCAError, OSError):
        return False  # the reader of other HDF5 files says why


FORMAT = Format("an H5AD or 10x HDF5 file", _is_cells, read=read)
