"""NPY and NPZ without pickle: every header is read, and believed only as far as the file is long, before an
array is made.
"""

import io
import zipfile
import zlib
from dataclasses import replace
from typing import Any, BinaryIO, cast

import numpy as np
import scipy.sparse as sp

from nspca.archive import npy_header, open_zip, read_npy, unzip_member
from nspca.data.dataset import Dataset, frozen, numbered, pixel_names, unique_names
from nspca.data.how import How
from nspca.data.limits import check_archive, check_dense, check_float64, check_growth, check_sparse
from nspca.data.missing import Settled, settle
from nspca.data.prepare import PREPARATIONS
from nspca.errors import InvalidData

AS_IT_IS = How()
MOST_STEPS = 100  # preparations of a file that are read and said
_SPARSER = "save a table of mostly zeros as a sparse matrix with scipy.sparse.save_npz, any other as CSV"
_SPARSE = ("data", "indices", "indptr", "shape")
_NAMES = {"feature": ("feature_names", "features", "columns"), "sample": ("sample_names", "samples", "index")}


def read_npz(raw: bytes, name: str, how: How = AS_IT_IS, packed: int | None = None) -> Dataset:
    """Read an NPZ with `X` (or its only 2-D array, or the parts of a scipy.sparse matrix), names and labels.

    Other keys: ``labels`` or ``y``, ``feature_names``, ``sample_names``, ``image_shape``, ``wavelength_um``,
    ``header`` with ``header_names``, ``prepared``, ``is_covariance``. `packed` counts the bytes of the file
    that `raw` came in, when that is packed again.
    """
    archive, members = open_zip(raw)
    packed = packed or len(raw)
    check_archive(packed, members, "NPZ", _SPARSER)
    files = {info.filename.removesuffix(".npy"): info for info in members if info.filename.endswith(".npy")}
    if all(part in files for part in _SPARSE):
        parts = {part: _member(archive, files, part) for part in _SPARSE}
        layout = _layout(_member(archive, files, "format")) if "format" in files else "csr"
        X = _sparse(parts, layout)
        return _dress(X, name, archive, files, (), how)
    key, notes = _matrix_key(archive, files)
    return _dress(plain_numbers(_member(archive, files, key), packed), name, archive, files, notes, how)


def _matrix_key(archive: zipfile.ZipFile, files: dict[str, zipfile.ZipInfo]) -> tuple[str, tuple[str, ...]]:
    if "X" in files:
        return "X", ()
    tables = []
    for key, info in files.items():
        try:
            with archive.open(info) as handle:
                shape, dtype = npy_header(cast(BinaryIO, handle))
        except (zipfile.BadZipFile, zlib.error, OSError, RuntimeError):
            raise InvalidData("The NPZ file is damaged: save it again.") from None
        if len(shape) in (2, 3) and dtype.kind in "biuf":
            tables.append(key)
    if len(tables) == 1:
        return tables[0], (f'The array "{tables[0]}" was taken as the table.',)
    found = ", ".join(sorted(files)[:8]) or "nothing"
    raise InvalidData(
        f"An NPZ needs an array named X, or exactly one table of numbers; this one holds {found}: save the "
        "table as X."
    )


def _member(archive: zipfile.ZipFile, files: dict[str, zipfile.ZipInfo], key: str) -> np.ndarray:
    return read_npy(unzip_member(archive, files[key]))


def plain_numbers(X: np.ndarray, packed: int) -> np.ndarray:
    """Return a C-contiguous table: uint8 stays, every other real type becomes float64.

    A stack of images is unrolled by `_dress`. `packed` counts the bytes of the file that X came in.
    """
    if X.dtype.kind not in "biuf":
        raise InvalidData(f"The table must hold real numbers, got type {X.dtype}: convert it before saving.")
    if X.ndim not in (2, 3):
        raise InvalidData(
            f"The table must have 2 dimensions, samples x features, got {X.ndim}: reshape it before saving."
        )
    check_dense(X.shape[0], int(np.prod(X.shape[1:], dtype=np.int64)))
    kept = np.dtype(np.uint8 if X.dtype == np.uint8 else np.float64)
    check_growth(X.size * kept.itemsize, packed, "packed", _SPARSER)
    check_float64(X)
    return np.ascontiguousarray(X, dtype=kept)


def _layout(told: np.ndarray) -> str:
    """What a sparse matrix says it is saved as; SciPy says it in bytes."""
    word = told.item() if told.size == 1 else ""
    return word.decode("ascii", errors="replace") if isinstance(word, bytes) else str(word)


def _sparse(parts: dict[str, np.ndarray], layout: str) -> sp.csr_array:
    shape = parts["shape"]
    if shape.shape != (2,) or shape.dtype.kind not in "iu" or layout not in ("csr", "csc"):
        raise InvalidData("A sparse matrix must be saved in CSR or CSC form with scipy.sparse.save_npz.")
    rows, columns = (int(length) for length in shape)
    check_sparse(rows, columns, parts["data"].size)
    make = sp.csr_array if layout == "csr" else sp.csc_array
    if (
        parts["indices"].dtype.kind not in "iu"
        or parts["indptr"].dtype.kind not in "iu"
        or parts["data"].dtype.kind not in "biuf"
    ):
        raise InvalidData(
            "The parts of the sparse matrix have the wrong types: save it with scipy.sparse.save_npz."
        )
    check_float64(parts["data"], "the sparse matrix")
    try:
        X = make((parts["data"].astype(np.float64), parts["indices"], parts["indptr"]), shape=(rows, columns))
        X.check_format(full_check=True)
    except (ValueError, IndexError):
        raise InvalidData(
            "The parts of the sparse matrix do not fit together: save it with scipy.sparse.save_npz."
        ) from None
    X = X.tocsr()
    X.sum_duplicates()
    return X


def _dress(
    X: np.ndarray,
    name: str,
    archive: zipfile.ZipFile,
    files: dict[str, zipfile.ZipInfo],
    notes: tuple[str, ...],
    how: How,
) -> Dataset:
    image_shape, axis, labels, left_out = _extras(archive, files)
    notes += left_out
    if X.ndim == 3:
        image_shape = (X.shape[1], X.shape[2])
        X = X.reshape(len(X), -1)
        notes += (
            f"A stack of images of {image_shape[0]} x {image_shape[1]} pixels was unrolled row by row.",
        )
    prepared, done = _prepared(archive, files)
    header, header_names, more = _header(archive, files, X.shape[0])
    notes += done + more
    names = {what: _names(archive, files, what) for what in _NAMES}
    # A shape that is not that of the table is refused by Dataset; no names are made for it before.
    fits = image_shape is not None and image_shape[0] * image_shape[1] == X.shape[1]
    features, more = unique_names(names["feature"], "feature") if names["feature"] else (None, ())
    samples, again = unique_names(names["sample"], "sample") if names["sample"] else (None, ())
    settled = settle(X, how.missing, how.features_in_rows)
    data = Dataset(
        name=name,
        X=sp.csr_array(X.shape) if settled.notes else X,  # its names are checked against all rows and columns
        feature_names=features
        or (pixel_names(image_shape) if image_shape and fits else numbered("feature", X.shape[1])),
        sample_names=samples or numbered("sample", X.shape[0]),
        labels=labels,
        image_shape=image_shape,
        kind="image" if image_shape else "spectrum" if axis is not None else "table",
        axis=None if axis is None else axis.astype(np.float64),
        axis_name="" if axis is None else "wavelength (µm)",
        notes=(*notes, *more, *again),
        is_covariance=_flag(archive, files, "is_covariance"),
        prepared=prepared,
        header=header,
        header_names=header_names,
    )
    return _of_what_is_left(data, settled) if settled.notes else data


def _extras(
    archive: zipfile.ZipFile, files: dict[str, zipfile.ZipInfo]
) -> tuple[tuple[int, int] | None, np.ndarray | None, np.ndarray | None, tuple[str, ...]]:
    """Image shape, wavelengths and labels, each None unless it is what it is called, and notes."""
    image_shape: tuple[int, int] | None = None
    notes: tuple[str, ...] = ()
    sides, axis, labels = (
        next((_member(archive, files, key) for key in keys if key in files), None)
        for keys in (("image_shape",), ("wavelength_um",), ("labels", "y"))
    )
    if sides is not None:
        if sides.shape == (2,) and sides.dtype.kind in "iu" and sides.min() > 0:
            image_shape = (int(sides[0]), int(sides[1]))
        else:
            notes += ("The image_shape is not two whole numbers and was left out.",)
    if axis is not None and not (axis.ndim == 1 and axis.dtype.kind in "iuf" and np.isfinite(axis).all()):
        axis = None
        notes += ("The wavelengths are not a list of numbers and were left out.",)
    if labels is not None and (labels.ndim != 1 or labels.dtype.kind == "S"):
        labels = None
        notes += ("The labels are not a list of numbers or text and were left out.",)
    return image_shape, axis, labels, notes


def _header(
    archive: zipfile.ZipFile, files: dict[str, zipfile.ZipInfo], rows: int
) -> tuple[np.ndarray | None, tuple[str, ...], tuple[str, ...]]:
    """Numbers of each sample that are no features, and their names; and notes."""
    if "header" not in files:
        return None, (), ()
    header = _member(archive, files, "header")
    if (
        header.ndim != 2
        or len(header) != rows
        or header.dtype.kind not in "iuf"
        or not np.isfinite(header).all()
    ):
        return None, (), ("The header is not a row of numbers for each sample and was left out.",)
    names = _member(archive, files, "header_names") if "header_names" in files else np.array([])
    if names.shape != header.shape[1:] or names.dtype.kind != "U":
        return header.astype(np.float64), tuple(numbered("header field", header.shape[1])), ()
    return header.astype(np.float64), tuple(str(name).replace("_", " ") for name in names), ()


def _prepared(
    archive: zipfile.ZipFile, files: dict[str, zipfile.ZipInfo]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What was done to the numbers before they were saved, as `to_npz` wrote it, and notes."""
    if "prepared" not in files:
        return (), ()
    steps = _member(archive, files, "prepared")
    if steps.ndim != 1 or steps.dtype.kind != "U" or steps.size > MOST_STEPS:
        return (), ("What is called prepared is not a list of preparations and was left out.",)
    known = tuple(step for step in steps.tolist() if step in PREPARATIONS)
    notes = tuple(f"Before it was saved: {PREPARATIONS[step].said}" for step in known)
    unknown = steps.size - len(known)
    return known, notes + ((f"{unknown} of its preparations are not known here.",) if unknown else ())


def _flag(archive: zipfile.ZipFile, files: dict[str, zipfile.ZipInfo], key: str) -> bool:
    """Whether it is there, and says yes."""
    told = _member(archive, files, key) if key in files else np.array(False)
    return told.dtype.kind == "b" and told.size == 1 and bool(told.item())


def _of_what_is_left(data: Dataset, settled: Settled) -> Dataset:
    """Names, labels and axis of the rows and columns that are left; an image that lost pixels is a table."""
    whole = settled.columns.size == data.X.shape[1]
    return replace(
        data,
        X=settled.X,
        feature_names=frozen(settled.of_columns(data.feature_names)),
        sample_names=frozen(settled.of_rows(data.sample_names)),
        labels=None if data.labels is None else data.labels[settled.rows],
        header=None if data.header is None else data.header[settled.rows],
        axis=None if data.axis is None else data.axis[settled.columns],
        image_shape=data.image_shape if whole else None,
        kind=data.kind if whole or data.kind != "image" else "table",
        notes=(*data.notes, *settled.notes),
    )


def _names(archive: zipfile.ZipFile, files: dict[str, zipfile.ZipInfo], what: str) -> list[str]:
    for key in _NAMES[what]:
        if key in files:
            names = _member(archive, files, key)
            if names.ndim == 1 and names.dtype.kind in "Uiu":
                return [str(name) for name in names]
    return []


def to_npz(dataset: Dataset) -> bytes:
    """A dataset as a compressed NPZ that `read_npz` gives back; equal data make equal bytes."""
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
    if dataset.header is not None:
        arrays["header"] = dataset.header
        arrays["header_names"] = np.array(dataset.header_names, dtype=np.str_)
    if dataset.is_covariance:
        arrays["is_covariance"] = np.array(True)
    if dataset.prepared:
        arrays["prepared"] = np.array(dataset.prepared, dtype=np.str_)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for key, array in arrays.items():
            plain = io.BytesIO()
            np.lib.format.write_array(plain, np.ascontiguousarray(array), allow_pickle=False)
            # A ZipInfo made by hand has the fixed date 1980-01-01.
            archive.writestr(
                zipfile.ZipInfo(f"{key}.npy"), plain.getvalue(), compress_type=zipfile.ZIP_DEFLATED
            )
    return stream.getvalue()
