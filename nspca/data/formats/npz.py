"""Read NPZ and NPY files: a dense table, a stack of images, or what ``scipy.sparse.save_npz`` writes.

An NPZ may also hold names, labels, preparations and texts, as `to_npz` writes them. The size in every header
is compared with the length of the file before an array is allocated. Nothing is unpickled.
"""

import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
import scipy.sparse as sp

from nspca.data import limits
from nspca.data.arrays import MOST_TEXT, unrolled
from nspca.data.dataset import Dataset
from nspca.data.formats.base import Block, Format, Reader, Size, Source, read_matrix
from nspca.data.formats.entries import EntrySorter
from nspca.data.names import numbered, quote_names, unique_names
from nspca.data.preparation import PREPARATIONS
from nspca.errors import InvalidData
from nspca.validation.archive import check_array, check_type, npy_layout, open_zip, read_npy, unzip_member

SPARSE = ("data", "indices", "indptr", "shape")
"""Members of an archive that form a sparse matrix by rows or by columns."""
FEATURE_NAMES, SAMPLE_NAMES = (
    ("feature_names", "features", "columns"),
    ("sample_names", "samples", "index"),
)
"""Members that may name the features, and the samples."""
PIECE = 2_000_000
"""Maximum entries of a sparse matrix by columns that are sorted at a time."""
MOST_LISTED = 100
"""Maximum preparations, and label columns, that a file may list."""
_OTHER_FORM = "A sparse matrix must be saved in CSR or CSC form with scipy.sparse.save_npz."


def list_members(source: Source) -> tuple[zipfile.ZipFile, list[zipfile.ZipInfo]]:
    """Open the archive of a source and list its members; refuse one in memory that unpacks to too much."""
    if source.path is None:
        return open_zip(source.raw)
    try:
        archive = zipfile.ZipFile(source.path)
    except (zipfile.BadZipFile, OSError):
        raise InvalidData(f"{source.path} is damaged or cut short: save it again.") from None
    return archive, [info for info in archive.infolist() if not info.is_dir()]


class NpyReader(Reader):
    """Reader of an NPY file: a table of numbers, or a stack of images."""

    is_sparse = False
    _table = ""

    def _read_header(self) -> None:
        self._take_table("")

    def _take_table(self, key: str) -> None:
        """Take the array `key` as the table. A stack of images has a row for each image."""
        lengths, dtype, self._held = self._header(key)
        check_type(dtype)
        if dtype.kind not in "biuf":
            raise InvalidData(f"The table must hold real numbers, got type {dtype}: convert it first.")
        if len(lengths) not in (2, 3):
            raise InvalidData(
                f"The table must have 2 dimensions, samples x features, got {len(lengths)}: reshape it "
                "before saving."
            )
        self._table, self._lengths, self._dtype = key, lengths, dtype
        self._sides = int(lengths[0]), int(np.prod(lengths[1:], dtype=np.int64))
        self._entries = self._sides[0] * self._sides[1]
        if len(lengths) == 3:
            said = f"A stack of images of {lengths[1]} x {lengths[2]} pixels was unrolled row by row."
            self.findings += (said,)

    def _header(self, key: str) -> tuple[tuple[int, ...], np.dtype, int]:
        """Return shape and type of an array from its header, and the bytes that follow."""
        with self._open(key) as handle:
            shape, _, dtype = npy_layout(handle)
            return shape, dtype, self._size(key) - handle.tell()

    def _open(self, key: str) -> BinaryIO:
        return self.source.open()

    def _size(self, key: str) -> int:
        return self.source.most_bytes

    def read_array(self, key: str) -> np.ndarray:
        """Return an array of numbers or texts, after checking its header."""
        return read_npy(self.source.raw)

    def _map(self, key: str, folder: Path) -> np.ndarray:
        """Return an array of a file on disk without reading it."""
        if self.source.is_packed:
            raise InvalidData(
                f"{self.source.called} is packed, its rows cannot be read one by one: unpack it."
            )
        assert self.source.path is not None  # a file on disk has one
        return cast(np.ndarray, np.load(self.source.path, mmap_mode="r", allow_pickle=False))

    @property
    def shape(self) -> Size:
        return Size(*self._sides, self._entries, sparse=self.is_sparse)

    def probe(self) -> Size:
        if not self.source.is_packed:
            check_array(self._lengths, self._dtype, self._held)
        return self.shape

    def blocks(self, rows: int | None = None, spill: Path | None = None) -> Iterator[Block]:
        if not self.on_disk:
            yield Block(self.read_array(self._table))
            return
        self.probe()
        count = self._sides[0]
        with tempfile.TemporaryDirectory(dir=spill, ignore_cleanup_errors=True) as folder:
            for start in range(0, count, rows or count):
                # Mapped anew for each block, which frees the pages of earlier ones.
                whole = self._map(self._table, Path(folder))
                part = unrolled(whole[start : start + (rows or count)])
                yield Block(checked_rows(part, start, self.source))


class NpzReader(NpyReader):
    """Reader of an archive with an array ``X``, or exactly one table of numbers, or a sparse matrix.

    `files` maps names to members. Beside the table may stand ``labels`` or ``y``, ``feature_names``,
    ``sample_names``, ``image_shape``, ``axis`` with ``axis_name``, ``header`` with ``header_names``,
    ``prepared``, ``is_covariance``, and the texts and label columns that `to_npz` writes.
    """

    def _read_header(self) -> None:
        self._archive, members = list_members(self.source)
        arrays = [info for info in members if info.filename.endswith(".npy")]
        self.files = {info.filename.removesuffix(".npy"): info for info in arrays}
        self.is_sparse = all(part in self.files for part in SPARSE)
        if not self.is_sparse:
            self._take_table(self._find_table())
            return
        self._lengths, self._dtype, self._held = self._header("data")
        self._entries = int(np.prod(self._lengths, dtype=np.int64))
        if any(self.files[key].file_size > 10_000 for key in ("shape", "format") if key in self.files):
            raise InvalidData(_OTHER_FORM)
        sides = self.read_array("shape")
        layout = self.read_array("format") if "format" in self.files else np.array("csr")
        word = layout.item() if layout.size == 1 else ""
        self._layout = word.decode("ascii", errors="replace") if isinstance(word, bytes) else str(word)
        if sides.shape != (2,) or sides.dtype.kind not in "iu" or self._layout not in ("csr", "csc"):
            raise InvalidData(_OTHER_FORM)
        self._sides = int(sides[0]), int(sides[1])

    def _find_table(self) -> str:
        if "X" in self.files:
            return "X"
        if {"data", "format", "shape"} <= set(self.files):  # scipy.sparse; a table "data" would be diagonals
            raise InvalidData(_OTHER_FORM)
        headers = {key: self._header(key)[:2] for key in self.files}
        tables = [
            key for key, (shape, dtype) in headers.items() if len(shape) in (2, 3) and dtype.kind in "biuf"
        ]
        if len(tables) != 1:
            found = ", ".join(sorted(self.files)[:8]) or "nothing"
            raise InvalidData(
                f"An NPZ needs an array named X, or exactly one table of numbers; this one holds {found}: "
                "save the table as X."
            )
        self.findings = (f'The array "{tables[0]}" was taken as the table.',)
        return tables[0]

    def _open(self, key: str) -> BinaryIO:
        try:
            return cast(BinaryIO, self._archive.open(self.files[key]))
        except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError):
            raise self._damaged() from None

    def _header(self, key: str) -> tuple[tuple[int, ...], np.dtype, int]:
        try:
            return super()._header(key)
        except (zipfile.BadZipFile, zlib.error, EOFError):
            raise self._damaged() from None

    def _size(self, key: str) -> int:
        return self.files[key].file_size

    def read_array(self, key: str) -> np.ndarray:
        return read_npy(unzip_member(self._archive, self.files[key]))

    def _map(self, key: str, folder: Path) -> np.ndarray:
        path = folder / f"{[*self.files].index(key)}.npy"
        if not path.exists():
            check_array(*self._header(key))
            with self._open(key) as packed, path.open("wb") as plain:
                try:
                    shutil.copyfileobj(packed, plain)
                except (zipfile.BadZipFile, zlib.error, EOFError):
                    raise self._damaged() from None
        return cast(np.ndarray, np.load(path, mmap_mode="r", allow_pickle=False))

    def _damaged(self) -> InvalidData:
        return InvalidData(f"{self.source.called} is damaged or cut short as an NPZ file: save it again.")

    def blocks(self, rows: int | None = None, spill: Path | None = None) -> Iterator[Block]:
        if not self.is_sparse:
            yield from super().blocks(rows, spill)
            return
        with tempfile.TemporaryDirectory(dir=spill, ignore_cleanup_errors=True) as name:
            folder = Path(name)
            data, indices, indptr = (
                self._map(key, folder) if self.on_disk else self.read_array(key) for key in SPARSE[:3]
            )
            yield from map(Block, self._sparse_rows(data, indices, indptr, rows, folder))

    def _sparse_rows(
        self, data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, rows: int | None, folder: Path
    ) -> Iterator[sp.csr_array]:
        count, columns = self._sides
        misfit = InvalidData(
            f"The parts of the sparse matrix{self.source.of} do not fit together, or have the wrong types: "
            "save it with scipy.sparse.save_npz."
        )
        if self._layout == "csr":
            yield from compressed_rows(data, indices, indptr, self._sides, misfit, rows)
        elif rows is None:
            (X,) = compressed_rows(data, indices, indptr, (columns, count), misfit)
            yield sp.csr_array(X.T)
        else:
            pointers = _checked_pointers(data, indices, indptr, (columns, count), misfit)
            sorter = EntrySorter(folder, (count, columns), rows)
            for start in range(0, data.size, PIECE):
                where = slice(start, start + PIECE)
                values, at = _checked_entries(data[where], indices[where], count, misfit)
                own = np.searchsorted(pointers, start + np.arange(at.size), side="right") - 1
                sorter.add(at, own, values)
            yield from sorter.blocks()

    def feature_names(self) -> Sequence[str] | None:
        for key in FEATURE_NAMES:
            if key in self.files:
                names = self.read_array(key)
                if names.shape == (self._sides[1],) and names.dtype.kind == "U":
                    return unique_names(names.tolist(), "feature")[0]
        return None

    def about(self) -> dict[str, Any]:
        return _read_about(self, self._sides[0])


def compressed_rows(
    data: Any, indices: Any, indptr: Any, shape: tuple[int, int], misfit: InvalidData, step: int | None = None
) -> Iterator[sp.csr_array]:
    """Yield a sparse matrix in compressed form, `step` rows at a time, or whole.

    The parts may be arrays, mapped files or datasets of an HDF5 file. Raises `misfit` where they do not fit
    together. A matrix without rows is one empty block.
    """
    pointers = _checked_pointers(data, indices, indptr, shape, misfit)
    step = step or max(1, shape[0])
    for start in range(0, max(1, shape[0]), step):
        part = pointers[start : start + step + 1]
        where = slice(int(part[0]), int(part[-1]))
        values, at = _checked_entries(data[where], indices[where], shape[1], misfit)
        block = sp.csr_array((values, at.astype(np.int32), part - part[0]), shape=(part.size - 1, shape[1]))
        block.sum_duplicates()
        yield block


def _checked_pointers(
    data: Any, indices: Any, indptr: Any, shape: tuple[int, int], misfit: InvalidData
) -> np.ndarray:
    kinds = data.dtype.kind in "biuf" and indices.dtype.kind in "iu" and indptr.dtype.kind in "iu"
    lengths = data.shape == indices.shape and len(data.shape) == 1 and indptr.shape == (shape[0] + 1,)
    if not kinds or not lengths or not 0 <= shape[1] < 2**31:
        raise misfit
    pointers: np.ndarray = indptr[()].astype(np.int64)
    if (pointers[0], pointers[-1]) != (0, data.shape[0]) or (np.diff(pointers) < 0).any():
        raise misfit
    return pointers


def _checked_entries(
    data: np.ndarray, indices: np.ndarray, columns: int, misfit: InvalidData
) -> tuple[np.ndarray, np.ndarray]:
    if indices.size and not (indices.min() >= 0 and indices.max() < columns):
        raise misfit
    limits.check_float64(data, "the sparse matrix")
    return data.astype(np.float64), indices


def checked_rows(part: np.ndarray, start: int, source: Source) -> np.ndarray:
    """Return rows of a dense table on disk as float64, without missing values; the first is row `start`."""
    limits.check_float64(part, f"{source.called}, near row {start + 1},")
    X = np.ascontiguousarray(part, dtype=np.float64)
    missing = np.argwhere(np.isnan(X))
    if missing.size:
        row, column = missing[0]
        raise InvalidData(
            f"Row {start + row + 1} of {source.called} has no number in column {column + 1}: fill it in."
        )
    return X


def read_npz(raw: bytes, name: str) -> Dataset:
    """Return an NPZ with names and labels, which `to_npz` wrote, as a Dataset."""
    return read_matrix(NpzReader(Source(raw=raw, title=name)))


def _read_about(reader: NpzReader, m: int) -> dict[str, Any]:
    """Return what an archive says about the table with `m` rows, as fields of `Dataset`."""
    used = {*SPARSE, "format", "_is_array"} if reader.is_sparse else {reader._table}
    found: dict[str, np.ndarray] = {}
    left: list[str] = []
    for name, (keys, fits) in _EXTRAS.items():
        arrays = {key: reader.read_array(key) for key in keys if key in reader.files}
        fitting = [key for key, array in arrays.items() if fits(array, m)]
        found |= {name: arrays[fitting[0]]} if fitting else {}
        left += [key for key in arrays if key not in fitting]
        used |= {*fitting[:1], *left}
    about: dict[str, Any] = {"labels": found["labels"]} if "labels" in found else {}
    about |= {_FLOATS[name]: found[name].astype(np.float64) for name in _FLOATS if name in found}
    about |= {
        name: found[name].tolist() for name in ("is_covariance", "label_name", "image_shape") if name in found
    }
    if "spectra" in found:
        about["options"] = {"spectra": bool(found["spectra"])}
    notes = [*reader.findings]
    if "weights" in about:
        notes.append("The samples have the weights that are in the file.")
    for name, what in (("feature_names", "feature"), ("sample_names", "sample")):
        if name in found:
            about[name], renamed = unique_names([*map(str, found[name].tolist())], what)
            notes += renamed
    steps = found["prepared"].tolist() if "prepared" in found else []
    about["prepared"] = tuple(step for step in steps if step in PREPARATIONS)
    notes += [f"Before it was saved: {PREPARATIONS[step].note}" for step in about["prepared"]]
    if len(about["prepared"]) < len(steps):
        notes.append(f"{len(steps) - len(about['prepared'])} of its preparations are not known here.")
    about["label_columns"] = {}
    for number, column in enumerate(found["label_columns"].tolist() if "label_columns" in found else ()):
        if (key := f"label_column_{number}") in reader.files:
            labels = reader.read_array(key)
            if labels.shape == (m,) and labels.dtype.kind in "iuU":
                about["label_columns"][column] = labels
    if "texts" in found:
        texts = _unpack(found["texts"], found.get("text_ends"))
        about |= {"texts": texts, "kind": "words"} if texts is not None else {}
        left += [] if texts is not None else ["texts"]
    if "axis" in found:
        unit = found.get("axis_name", "wavelength (µm)" if "wavelength_um" in used else "")
        about |= {"axis_name": str(unit), "kind": "spectrum"}
    if "header" in found:
        words: Sequence[str] = numbered("header field", found["header"].shape[1])
        if "header_names" in found and found["header_names"].shape == (len(words),):
            words = found["header_names"].tolist()
        about["header_names"] = tuple(word.replace("_", " ") for word in words)
    if left:
        notes.append(f"Arrays that do not fit their names or the table were left out: {quote_names(left)}.")
    if others := [key for key in reader.files if key not in used and not key.startswith("label_column_")]:
        notes.append(f"Other arrays of the file were not read: {quote_names(others)}.")
    return {**about, "findings": notes}


def _unpack(raw: np.ndarray, ends: np.ndarray | None) -> tuple[str, ...] | None:
    """Return the texts that end at some positions in UTF-8; None when they do not fit."""
    if ends is None or [*ends[-1:]] != [raw.size] or (np.diff(ends.astype(np.int64), prepend=0) < 0).any():
        return None
    text = raw.tobytes()
    return tuple(text[i:j].decode(errors="replace") for i, j in pairwise([0, *ends.tolist()]))


def _is_finite(array: np.ndarray) -> bool:
    return array.dtype.kind in "iuf" and bool(np.isfinite(array).all())


def _are_names(array: np.ndarray, m: int) -> bool:
    return array.ndim == 1 and array.dtype.kind in "Uiu" and array.size > 0


def _are_words(array: np.ndarray, m: int) -> bool:
    return array.ndim == 1 and array.dtype.kind == "U" and array.size <= MOST_LISTED


_EXTRAS: dict[str, tuple[tuple[str, ...], Callable[[np.ndarray, int], Any]]] = {
    "image_shape": (("image_shape",), lambda a, m: a.shape == (2,) and a.dtype.kind in "iu" and a.min() > 0),
    "axis": (("axis", "wavelength_um"), lambda a, m: a.ndim == 1 and _is_finite(a)),
    "axis_name": (("axis_name",), lambda a, m: a.ndim == 0 and a.dtype.kind == "U"),
    "labels": (("labels", "y"), lambda a, m: a.ndim == 1 and a.dtype.kind != "S"),
    "sample_weight": (
        ("sample_weight",),
        lambda a, m: a.shape == (m,) and _is_finite(a) and (a >= 0).all() and a.any(),
    ),
    "header": (("header",), lambda a, m: a.ndim == 2 and len(a) == m and _is_finite(a)),
    "prepared": (("prepared",), _are_words),
    "feature_names": (FEATURE_NAMES, _are_names),
    "sample_names": (SAMPLE_NAMES, _are_names),
    "label_columns": (("label_columns",), _are_words),
    "header_names": (("header_names",), lambda a, m: a.dtype.kind == "U"),
    "label_name": (("label_name",), lambda a, m: a.shape == () and a.dtype.kind == "U"),
    "is_covariance": (("is_covariance",), lambda a, m: a.shape == () and a.dtype.kind == "b"),
    "spectra": (("spectra",), lambda a, m: a.shape == () and a.dtype.kind == "b"),
    "text_ends": (("text_ends",), lambda a, m: a.shape == (m,) and a.dtype.kind in "iu"),
    "texts": (("texts",), lambda a, m: a.ndim == 1 and a.dtype == np.uint8 and a.size <= MOST_TEXT),
}
"""Members beside the table: their names, and what they must be."""
_FLOATS = {"sample_weight": "weights", "axis": "axis", "header": "header"}
"""Members of numbers, and the fields of `Dataset` that they are."""


FORMAT = Format(
    "an NPZ file",
    lambda source: bool(source.names) and all(name.endswith(".npy") for name in source.names),
    reader=NpzReader,
)
NPY = Format("an NPY file", lambda source: source.first().startswith(b"\x93NUMPY"), reader=NpyReader)
