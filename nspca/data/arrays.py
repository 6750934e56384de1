"""Make data sets of arrays without named columns, and write data sets as NPZ."""

import io
import zipfile
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from nspca.data.dataset import Dataset
from nspca.data.findings import Finding, as_findings
from nspca.data.limits import check_dense, check_float64, check_growth
from nspca.data.missing import settle
from nspca.data.names import frozen, numbered, pixel_names
from nspca.data.options import ReadOptions
from nspca.data.roles import match_items

MOST_TEXT = 16 * 2**20
"""Maximum bytes of all texts in a file: about sixteen thousand pages."""
SPARSER = "save a table of mostly zeros as a sparse matrix with scipy.sparse.save_npz, any other as CSV"
"""Advice in the error for a table that grows too much when it is unpacked."""


def with_gaps(X: Any, options: ReadOptions) -> Any:
    """Return numbers with NaN in place of the codes of missing values."""
    codes = [float(code) for code in options.missing_codes if not isinstance(code, str)]
    if not codes:
        return X
    X = X.astype(np.float64)
    values = X.data if sp.issparse(X) else X
    values[np.isin(values, codes)] = np.nan
    return X


def from_array(X: Any, name: str, options: ReadOptions, findings: Sequence[Finding | str] = ()) -> Dataset:
    """Return a matrix without names (m, n), or a stack of images (m, rows, columns), as a Dataset."""
    shape = X.shape[1:] if X.ndim == 3 else None
    X = with_gaps(unrolled(X) if shape else X, options)
    settled = settle(X, options.missing, bool(options.features_in_rows))
    shape = shape if settled.columns.size == X.shape[1] else None
    features = pixel_names(shape) if shape else frozen(settled.of_columns(numbered("feature", X.shape[1])))
    samples = frozen(settled.of_rows(numbered("sample", X.shape[0])))
    data = Dataset(
        name,
        settled.X,
        features,
        samples,
        image_shape=shape,
        kind="image" if shape else "table",
        findings=as_findings((*findings, *settled.notes)),
    )
    return finished(data, options)


def finished(data: Dataset, options: ReadOptions) -> Dataset:
    """Return the data of a file without named columns, with the rows and columns that were asked for."""
    data = data.transposed() if options.features_in_rows else data
    if options.columns:
        data = data.only(match_items(data.feature_names, options.columns, "column"))
    if options.drop_columns:
        data = data.without(match_items(data.feature_names, options.drop_columns, "column"))
    if options.drop_rows:
        out = match_items(data.sample_names, options.drop_rows, "row")
        data = data.rows(np.setdiff1d(np.arange(len(data.sample_names)), out))
    return data


def plain_numbers(X: np.ndarray, packed: int) -> np.ndarray:
    """Return a C-contiguous table: uint8 stays, every other real type becomes float64.

    A stack of images may have three dimensions. `packed` is the size in bytes of the file that held X.
    """
    check_dense(X.shape[0], int(np.prod(X.shape[1:], dtype=np.int64)))
    kept = np.dtype(np.uint8 if X.dtype == np.uint8 else np.float64)
    check_growth(X.size * kept.itemsize, packed, "packed", SPARSER)
    check_float64(X)
    return np.ascontiguousarray(X, dtype=kept)


def unrolled(X: np.ndarray) -> np.ndarray:
    """Return a table as given, and a stack of images (m, rows, columns) with a row for each image."""
    return X.reshape(len(X), int(np.prod(X.shape[1:], dtype=np.int64)))


def to_npz(dataset: Dataset) -> bytes:
    """Return a data set as compressed NPZ bytes, which `read_npz` reads. Equal data give equal bytes."""
    X: Any = dataset.X  # SciPy has no types
    arrays = (
        {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": np.array(X.shape)}
        if sp.issparse(X)
        else {"X": X}
    )
    arrays["feature_names"] = np.array(dataset.feature_names, dtype=np.str_)
    arrays["sample_names"] = np.array(dataset.sample_names, dtype=np.str_)
    optional = {"labels": dataset.labels, "image_shape": dataset.image_shape, "wavelength_um": dataset.axis}
    arrays |= {key: np.asarray(value) for key, value in optional.items() if value is not None}
    if dataset.weights is not None:
        arrays["sample_weight"] = dataset.weights
    if dataset.header is not None:
        arrays["header"] = dataset.header
        arrays["header_names"] = np.array(dataset.header_names, dtype=np.str_)
    if dataset.texts is not None:
        encoded = [text.encode("utf-8", errors="replace") for text in dataset.texts]
        arrays["texts"] = np.frombuffer(b"".join(encoded), dtype=np.uint8)
        arrays["text_ends"] = np.cumsum([len(text) for text in encoded], dtype=np.int64)
    if dataset.label_columns:
        arrays["label_columns"] = np.array([*dataset.label_columns], dtype=np.str_)
        for number, labels in enumerate(dataset.label_columns.values()):
            arrays[f"label_column_{number}"] = labels
    if dataset.label_name:
        arrays["label_name"] = np.array(dataset.label_name, dtype=np.str_)
    if dataset.is_covariance:
        arrays["is_covariance"] = np.array(True)
    if dataset.prepared:
        arrays["prepared"] = np.array(dataset.prepared, dtype=np.str_)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for key, array in arrays.items():
            plain = io.BytesIO()
            np.lib.format.write_array(plain, np.ascontiguousarray(array), allow_pickle=False)
            # An explicit ZipInfo has the fixed date 1980-01-01, so the bytes do not depend on the time.
            archive.writestr(
                zipfile.ZipInfo(f"{key}.npy"), plain.getvalue(), compress_type=zipfile.ZIP_DEFLATED
            )
    return stream.getvalue()
