"""Read AnnData files from a path that the user gives. Uploads are never opened as HDF5."""

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from nspca.data.arrays import finished
from nspca.data.dataset import Dataset
from nspca.data.findings import as_findings
from nspca.data.formats.base import Format, Source
from nspca.data.limits import check_dense, check_float64, check_growth, check_sparse, require_file
from nspca.data.names import unique_names
from nspca.data.options import ReadOptions
from nspca.errors import InvalidData
from nspca.progress import Report

SUFFIX = ".h5ad"


def read_h5ad(path: Path, name: str, label_column: str | int | None) -> Dataset:
    """Return an AnnData file as a Dataset: X, the names of cells and genes, and labels.

    `label_column` names the column of `obs` that holds the labels.

    Raises
    ------
    InvalidData
        When anndata is not installed, or cannot read the file.
    """
    try:
        anndata = import_module("anndata")
    except ImportError:
        raise InvalidData(
            f"A {SUFFIX} file needs the package anndata, which is not installed: install it, or save the "
            "table as CSV or as NPZ."
        ) from None
    require_file(path)
    try:
        _check_size(path)
        cells = anndata.read_h5ad(path)
    except InvalidData:
        raise
    except Exception as error:  # h5py and anndata raise errors of many kinds
        message = " ".join(str(error).split())[:200]
        raise InvalidData(
            f"This is no {SUFFIX} file that anndata reads ({message}): save it again."
        ) from None
    if cells.X is None:
        raise InvalidData(f"The {SUFFIX} file has no numbers in X: put a layer there and save it again.")
    if label_column is not None and label_column not in cells.obs:
        known = ", ".join(map(str, cells.obs.columns[:10])) or "none"
        raise InvalidData(f"There is no column {label_column!r} of the cells: the columns are {known}.")
    features, more = unique_names([*map(str, cells.var_names)], "feature")
    samples, notes = unique_names([*map(str, cells.obs_names)], "sample")
    X = cells.X
    check_float64(X.data if sp.issparse(X) else X, "X")
    return Dataset(
        name,
        sp.csr_array(X, dtype=np.float64) if sp.issparse(X) else np.asarray(X, dtype=np.float64),
        features,
        samples,
        labels=None if label_column is None else cells.obs[label_column].astype(str).to_numpy(dtype=str),
        findings=as_findings((*more, *notes)),
    )


def _check_size(path: Path) -> None:
    """Refuse a file whose X is too large, or expands too much, judged by its shape before X is read."""
    h5py: Any = import_module("h5py")  # installed with anndata
    with h5py.File(path) as file:
        X = file.get("X")
        if X is None:
            return
        if isinstance(X, h5py.Dataset):
            if len(X.shape) == 2:
                check_dense(*X.shape)
            check_growth(8 * X.size, path.stat().st_size, "H5AD", "save X as a sparse matrix")
        else:
            rows, columns = map(int, X.attrs["shape"])
            entries = X["data"].size
            check_sparse(rows, columns, entries)
            check_growth(12 * entries, path.stat().st_size, "H5AD", "save X without compression")


def read(source: Source, options: ReadOptions, report: Report) -> Dataset:
    """Return the cells of an AnnData file."""
    assert source.path is not None
    return finished(read_h5ad(source.path, source.title, options.label_column), options)


def _is_h5ad(source: Source) -> bool:
    return source.path is not None and source.name.lower().endswith(SUFFIX)


FORMAT = Format("an H5AD file", _is_h5ad, read=read)
