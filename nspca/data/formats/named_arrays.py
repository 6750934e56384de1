"""Read NPZ files as data sets: the table with names, labels, preparations and texts that `to_npz` writes."""

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from nspca.data.arrays import MOST_TEXT, finished, from_array, plain_numbers, unrolled, with_gaps
from nspca.data.dataset import Dataset, Kind
from nspca.data.findings import as_findings
from nspca.data.formats.base import Format, Source
from nspca.data.formats.npz import FEATURE_NAMES, NpyReader, NpzReader
from nspca.data.limits import check_sparse
from nspca.data.missing import Settled, settle
from nspca.data.names import frozen, numbered, pixel_names, unique_names
from nspca.data.options import ReadOptions
from nspca.data.preparation import PREPARATIONS
from nspca.progress import Report

AS_IT_IS = ReadOptions()
MOST_STEPS = 100
"""Maximum preparations that a file may list."""
MOST_LABEL_COLUMNS = 100
"""Maximum label columns that a file may hold."""
_NAMES = {"feature": FEATURE_NAMES, "sample": ("sample_names", "samples", "index")}


def read_npz(raw: bytes, name: str) -> Dataset:
    """Return an NPZ with names and labels as a Dataset; see `from_npz`."""
    return from_npz(Source(raw=raw, title=name), AS_IT_IS)


def from_npz(source: Source, options: ReadOptions) -> Dataset:
    """Return an NPZ with names and labels as a Dataset.

    The table is `X`, the only 2-D array, or the parts of a scipy.sparse matrix. Other keys: ``labels`` or
    ``y``, ``feature_names``, ``sample_names``, ``image_shape``, ``wavelength_um``, ``header`` with
    ``header_names``, ``prepared``, ``is_covariance``, and the texts and label columns that `to_npz` writes.
    """
    reader = NpzReader(source, options)
    if reader.is_sparse:
        shape = reader.shape
        check_sparse(shape.rows, shape.columns, shape.entries)
    (block,) = reader.blocks()
    X = block.X if reader.is_sparse else plain_numbers(block.X, reader.source.given_bytes)
    return finished(_to_dataset(with_gaps(X, options), source.title, reader), options)


def _to_dataset(X: np.ndarray, name: str, reader: NpzReader) -> Dataset:
    options, notes = reader.options, reader.findings
    image_shape, axis, labels, left_out = _extras(reader)
    notes += left_out
    if X.ndim == 3:
        image_shape = (X.shape[1], X.shape[2])
        X = unrolled(X)
    prepared, done = _prepared(reader)
    header, header_names, more = _header(reader, X.shape[0])
    notes += done + more
    weights, more = _weights(reader, X.shape[0])
    notes += more
    names = {what: _names(reader, what) for what in _NAMES}
    # Dataset refuses an image_shape that does not fit the table. No pixel names are made before that.
    fits = image_shape is not None and image_shape[0] * image_shape[1] == X.shape[1]
    features, more = unique_names(names["feature"], "feature") if names["feature"] else (None, ())
    samples, again = unique_names(names["sample"], "sample") if names["sample"] else (None, ())
    settled = settle(X, options.missing, bool(options.features_in_rows))
    texts, groups, label_name, lost = _about_samples(reader, X.shape[0])
    data = Dataset(
        name=name,
        # Names are checked against the full shape, so X is an empty stand-in until rows are dropped.
        X=sp.csr_array(X.shape) if settled.notes else X,
        feature_names=features
        or (pixel_names(image_shape) if image_shape and fits else numbered("feature", X.shape[1])),
        sample_names=samples or numbered("sample", X.shape[0]),
        labels=labels,
        image_shape=image_shape,
        kind=_kind(image_shape, axis, texts),
        axis=None if axis is None else axis.astype(np.float64),
        axis_name="" if axis is None else "wavelength (µm)",
        findings=as_findings((*notes, *more, *again, *lost)),
        label_columns=groups,
        label_name=label_name,
        texts=texts,
        is_covariance=_is_covariance(reader),
        prepared=prepared,
        header=header,
        header_names=header_names,
        weights=weights,
    )
    return _drop_missing(data, settled) if settled.notes else data


def _extras(
    reader: NpzReader,
) -> tuple[tuple[int, int] | None, np.ndarray | None, np.ndarray | None, tuple[str, ...]]:
    image_shape: tuple[int, int] | None = None
    notes: tuple[str, ...] = ()
    sides, axis, labels = (
        next((reader.read_array(key) for key in keys if key in reader.files), None)
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


def _kind(
    image_shape: tuple[int, int] | None, axis: np.ndarray | None, texts: tuple[str, ...] | None
) -> Kind:
    """Return the kind of the data, which decides how a component is drawn."""
    if image_shape is not None:
        return "image"
    return "spectrum" if axis is not None else "table" if texts is None else "words"


def _about_samples(
    reader: NpzReader, rows: int
) -> tuple[tuple[str, ...] | None, dict[str, np.ndarray], str, tuple[str, ...]]:
    files, notes = reader.files, tuple[str, ...]()
    texts: tuple[str, ...] | None = None
    if {"texts", "text_ends"} <= files.keys():
        texts = unpack_texts(reader.read_array("texts"), reader.read_array("text_ends"), rows)
        if texts is None:
            notes = ("The texts are not one text for each sample and were left out.",)
    names = reader.read_array("label_columns") if "label_columns" in files else np.array([], dtype=np.str_)
    groups: dict[str, np.ndarray] = {}
    if names.ndim == 1 and names.dtype.kind == "U" and names.size <= MOST_LABEL_COLUMNS:
        for number, name in enumerate(names.tolist()):
            key = f"label_column_{number}"
            labels = reader.read_array(key) if key in files else np.array([])
            if labels.shape == (rows,) and labels.dtype.kind in "iuU":
                groups[name] = labels
    called = reader.read_array("label_name") if "label_name" in files else np.array("")
    return texts, groups, str(called.item()) if called.size == 1 and called.dtype.kind == "U" else "", notes


def unpack_texts(raw: np.ndarray, ends: np.ndarray, rows: int) -> tuple[str, ...] | None:
    """Return the texts packed by `to_npz` as UTF-8 bytes `raw` and end positions `ends`.

    Returns None for arrays that are not one text for each of the `rows`.
    """
    if raw.ndim != 1 or raw.dtype != np.uint8 or ends.shape != (rows,) or ends.dtype.kind not in "iu":
        return None
    places = np.concatenate([[0], ends.astype(np.int64)])
    if raw.size > MOST_TEXT or (np.diff(places) < 0).any() or places[-1] != raw.size:
        return None
    whole = raw.tobytes()
    pieces = zip(places[:-1].tolist(), places[1:].tolist(), strict=True)
    return tuple(whole[start:end].decode("utf-8", errors="replace") for start, end in pieces)


def _header(reader: NpzReader, rows: int) -> tuple[np.ndarray | None, tuple[str, ...], tuple[str, ...]]:
    if "header" not in reader.files:
        return None, (), ()
    header = reader.read_array("header")
    if (
        header.ndim != 2
        or len(header) != rows
        or header.dtype.kind not in "iuf"
        or not np.isfinite(header).all()
    ):
        return None, (), ("The header is not a row of numbers for each sample and was left out.",)
    names = reader.read_array("header_names") if "header_names" in reader.files else np.array([])
    if names.shape != header.shape[1:] or names.dtype.kind != "U":
        return header.astype(np.float64), tuple(numbered("header field", header.shape[1])), ()
    return header.astype(np.float64), tuple(str(name).replace("_", " ") for name in names), ()


def _weights(reader: NpzReader, rows: int) -> tuple[np.ndarray | None, tuple[str, ...]]:
    if "sample_weight" not in reader.files:
        return None, ()
    w = reader.read_array("sample_weight")
    numbers = w.shape == (rows,) and w.dtype.kind in "iuf" and np.isfinite(w).all()
    if not numbers or (w < 0).any() or not w.any():
        return None, ("The sample_weight is not a number of at least 0 for each sample and was left out.",)
    return w.astype(np.float64), ("The samples have the weights that are in the file.",)


def _prepared(reader: NpzReader) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if "prepared" not in reader.files:
        return (), ()
    steps = reader.read_array("prepared")
    if steps.ndim != 1 or steps.dtype.kind != "U" or steps.size > MOST_STEPS:
        return (), ("What is called prepared is not a list of preparations and was left out.",)
    known = tuple(step for step in steps.tolist() if step in PREPARATIONS)
    notes = tuple(f"Before it was saved: {PREPARATIONS[step].note}" for step in known)
    unknown = steps.size - len(known)
    return known, notes + ((f"{unknown} of its preparations are not known here.",) if unknown else ())


def _is_covariance(reader: NpzReader) -> bool:
    flag = reader.read_array("is_covariance") if "is_covariance" in reader.files else np.array(False)
    return flag.dtype.kind == "b" and flag.size == 1 and bool(flag.item())


def _drop_missing(data: Dataset, settled: Settled) -> Dataset:
    """Return a data set without the rows and columns dropped for missing values.

    Images that lost pixels become a table.
    """
    whole = settled.columns.size == data.X.shape[1]
    data = data.rows(settled.rows) if settled.rows.size < data.X.shape[0] else data
    return replace(
        data,
        X=settled.X,
        feature_names=frozen(settled.of_columns(data.feature_names)),
        axis=None if data.axis is None else data.axis[settled.columns],
        image_shape=data.image_shape if whole else None,
        kind=data.kind if whole or data.kind != "image" else "table",
        findings=as_findings((*data.findings, *settled.notes)),
    )


def _names(reader: NpzReader, what: str) -> list[str]:
    for key in _NAMES[what]:
        if key in reader.files:
            names = reader.read_array(key)
            if names.ndim == 1 and names.dtype.kind in "Uiu":
                return [str(name) for name in names]
    return []


def _read_archive(source: Source, options: ReadOptions, report: Report) -> Dataset:
    return from_npz(source, options)


def _read_array(source: Source, options: ReadOptions, report: Report) -> Dataset:
    reader = NpyReader(source, options)
    (block,) = reader.blocks()
    X = plain_numbers(block.X, source.given_bytes)
    return from_array(X, source.title, options, reader.findings)


def _is_archive(source: Source) -> bool:
    return bool(source.names) and all(name.endswith(".npy") for name in source.names)


FORMAT = Format("an NPZ file", _is_archive, read=_read_archive, reader=NpzReader)
NPY = Format(
    "an NPY file", lambda source: NpyReader.matches(source.first()), read=_read_array, reader=NpyReader
)
