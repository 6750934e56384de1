"""Data sets of arrays without named columns, and data sets as NPZ."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from nspca.data.dataset import Dataset, Kind
from nspca.data.findings import as_findings
from nspca.data.limits import check_dense, check_float64
from nspca.data.missing import settle
from nspca.data.names import frozen, numbered, pixel_names, quote_names, unique_names
from nspca.data.options import ReadOptions
from nspca.data.roles import NO_NAMES, find_column, match_items, to_labels
from nspca.data.spectra import as_spectra
from nspca.errors import InvalidData, shown
from nspca.validation.archive import write_arrays

MOST_TEXT = 16 * 2**20
"""Maximum bytes of all texts in a file: about sixteen thousand pages."""


def make_dataset(X: Any, name: str, options: ReadOptions, /, **about: Any) -> Dataset:
    """Return numbers as a Dataset, after settling missing values and applying the options of reading.

    X is a matrix (m, n) or a stack of images, which is unrolled row by row. `about` are fields of `Dataset`
    about all rows and columns; without names, these are numbered.
    """
    if X.ndim == 3:
        about, X = {**about, "image_shape": X.shape[1:]}, unrolled(X)
    codes = [float(code) for code in options.missing_codes if not isinstance(code, str)]
    if codes:
        X = X.astype(np.float64)
        values = X.data if sp.issparse(X) else X
        values[np.isin(values, codes)] = np.nan
    m, n = X.shape
    shape = about["image_shape"] = tuple(about["image_shape"]) if about.get("image_shape") else None
    # Dataset refuses an image_shape that does not fit the table. No pixel names are made before that.
    names: dict[str, Any] = {"sample_names": numbered("sample", m), "feature_names": numbered("feature", n)}
    if shape is not None and int(shape[0]) * int(shape[1]) == n:
        names["feature_names"] = pixel_names(shape)
    settled = settle(X, options.missing, bool(options.features_in_rows))
    # Names are checked against the full shape, so X is an empty stand-in until rows are left out.
    full = sp.csr_array(X.shape) if settled.notes else X
    kind: Kind = about.pop("kind", "table") if shape is None else "image"
    data = Dataset(name, full, kind=kind, **{**names, **about})
    if settled.notes:
        data = data.rows(settled.rows) if settled.rows.size < m else data
        whole = settled.columns.size == n
        data = replace(
            data,
            X=settled.X,
            feature_names=frozen(settled.of_columns(data.feature_names)),
            axis=None if data.axis is None else data.axis[settled.columns],
            image_shape=data.image_shape if whole else None,
            kind=data.kind if whole or data.kind != "image" else "table",
            findings=(*data.findings, *as_findings(settled.notes)),
        )
    data = data.transposed() if options.features_in_rows else data
    data = _with_roles(data, options)
    if options.columns:
        data = data.only(match_items(data.feature_names, options.columns, "column"))
    if options.drop_columns:
        data = data.without(match_items(data.feature_names, options.drop_columns, "column"))
    if options.drop_rows:
        out = match_items(data.sample_names, options.drop_rows, "row")
        data = data.rows(np.setdiff1d(np.arange(len(data.sample_names)), out))
    return data


def _with_roles(data: Dataset, options: ReadOptions) -> Dataset:
    """Return data with the wanted names and labels of the samples, which are features or label columns."""
    label, names = options.label_column, options.id_column
    features = [] if data.is_covariance or data.image_shape else [*data.feature_names]
    taken = []
    if features and names is not None and names != NO_NAMES:
        taken.append(find_column(features, names, "id"))
        data = replace(data, sample_names=unique_names(_as_texts(data.X[:, taken]), "sample")[0])
    if label is not None and str(label) not in data.label_columns:
        try:
            taken.append(find_column(features, label, "label"))
        except InvalidData:
            known = quote_names(data.label_columns) or "none"
            raise InvalidData(
                f"There is no column {shown(label)} to take as labels: the file has {known}."
            ) from None
        column = features[taken[-1]]
        groups = {**data.label_columns, column: to_labels(_as_texts(data.X[:, taken[-1:]]))}
        data, label = replace(data, label_columns=groups), column
    if taken:
        data = replace(data.without(taken), findings=data.findings)
    return data if label is None else (data.labelled(str(label)) or data)


def _as_texts(column: Any) -> list[str]:
    """Return the numbers of a column (m, 1), whole ones without a point."""
    values = column.toarray() if sp.issparse(column) else column
    return [f"{value:.15g}" for value in values.ravel().tolist()]


def plain_numbers(X: np.ndarray) -> np.ndarray:
    """Return a C-contiguous array of two or three dimensions: uint8 stays, other types become float64."""
    check_dense(X.shape[0], int(np.prod(X.shape[1:], dtype=np.int64)))
    check_float64(X)
    return np.ascontiguousarray(X, dtype=np.uint8 if X.dtype == np.uint8 else np.float64)


def unrolled(X: np.ndarray) -> np.ndarray:
    """Return a table as given, and a stack of images (m, rows, columns) with a row for each image."""
    return X.reshape(len(X), int(np.prod(X.shape[1:], dtype=np.int64)))


def to_npz(dataset: Dataset) -> bytes:
    """Return a data set as compressed NPZ bytes, which `read_npz` reads. Equal data give equal bytes."""
    X: Any = dataset.X  # SciPy has no types
    arrays: dict[str, Any] = {"X": X}
    if sp.issparse(X):
        arrays = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": np.array(X.shape)}
    arrays |= {"feature_names": _texts(dataset.feature_names), "sample_names": _texts(dataset.sample_names)}
    optional = {
        "labels": dataset.labels,
        "image_shape": dataset.image_shape,
        "axis": dataset.axis,
        "axis_name": np.array(dataset.axis_name) if dataset.axis_name else None,
        "sample_weight": dataset.weights,
        "header": dataset.header,
        "header_names": None if dataset.header is None else _texts(dataset.header_names),
        "label_columns": _texts([*dataset.label_columns]) if dataset.label_columns else None,
        "label_name": np.array(dataset.label_name) if dataset.label_name else None,
        "is_covariance": True if dataset.is_covariance else None,
        # A table that its reader did not take as spectra stays one.
        "spectra": None if as_spectra(dataset, None) is dataset else False,
        "prepared": _texts(dataset.prepared) if dataset.prepared else None,
    }
    arrays |= {key: np.asarray(value) for key, value in optional.items() if value is not None}
    arrays |= {f"label_column_{i}": labels for i, labels in enumerate(dataset.label_columns.values())}
    if dataset.texts is not None:
        encoded = [text.encode("utf-8", errors="replace") for text in dataset.texts]
        arrays["texts"] = np.frombuffer(b"".join(encoded), dtype=np.uint8)
        arrays["text_ends"] = np.cumsum([len(text) for text in encoded], dtype=np.int64)
    return write_arrays(arrays)


def _texts(names: Sequence[str]) -> np.ndarray:
    return np.array([*names], dtype=np.str_)
