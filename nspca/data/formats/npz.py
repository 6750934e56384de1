"""Read NPZ and NPY files: a dense table, a stack of images, or what ``scipy.sparse.save_npz`` writes.

An NPZ may also hold names, labels, preparations and texts, as `to_npz` writes them. The size in every header
is compared with the length of the file before an array is allocated. Nothing is unpickled.
"""

import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
import scipy.sparse as sp

from nspca.data import limits
from nspca.data.arrays import MOST_TEXT, finished, from_array, plain_numbers, unrolled, with_gaps
from nspca.data.dataset import Dataset
from nspca.data.findings import as_findings
from nspca.data.formats.base import DEFAULT, Block, Format, Reader, Size, Source
from nspca.data.formats.entries import EntrySorter
from nspca.data.missing import Settled, settle
from nspca.data.names import frozen, numbered, pixel_names, unique_names
from nspca.data.options import ReadOptions
from nspca.data.preparation import PREPARATIONS
from nspca.errors import InvalidData
from nspca.progress import Report, silent
from nspca.validation.archive import check_array, check_type, npy_header, open_zip, read_npy, unzip_member

SPARSE = ("data", "indices", "indptr", "shape")
"""Members of an archive that form a sparse matrix by rows or by columns."""
ANY_SPARSE = ("data", "format", "shape")
"""Members of an archive that ``scipy.sparse.save_npz`` writes for a sparse matrix of any form."""
FEATURE_NAMES, SAMPLE_NAMES = (
    ("feature_names", "features", "columns"),
    ("sample_names", "samples", "index"),
)
"""Members that may name the features, and the samples."""
PIECE = 2_000_000
"""Maximum entries of a sparse matrix by columns that are sorted at a time."""
MOST_LISTED = 100
"""Maximum preparations, and label columns, that a file may list."""
_SMALL = 10_000
"""Maximum bytes of the members "shape" and "format". Each needs less than 200."""
_UNPACKED = 2**20
"""Bytes that are unpacked at a time."""
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError)
_OTHER_FORM = "A sparse matrix must be saved in CSR or CSC form with scipy.sparse.save_npz."


def list_members(source: Source) -> tuple[zipfile.ZipFile, list[zipfile.ZipInfo]]:
    """Open the archive of a source and list its members; refuse one in memory that unpacks to too much."""
    if source.path is None:
        return open_zip(source.raw)
    try:
        archive = zipfile.ZipFile(source.path)
    except _DAMAGE:
        raise InvalidData(f"{source.path} is damaged or cut short: save it again.") from None
    return archive, [info for info in archive.infolist() if not info.is_dir()]


class NpyReader(Reader):
    """Reader of an NPY file: a table of numbers, or a stack of images."""

    is_sparse = False

    def _read_header(self) -> None:
        with self.source.open() as handle:
            self._take_table(*npy_header(handle))
            self._held = self.source.most_bytes - handle.tell()

    def _take_table(self, lengths: tuple[int, ...], dtype: np.dtype) -> None:
        """Take the shape of a table of numbers. A stack of images has a row for each image."""
        check_type(dtype)
        if dtype.kind not in "biuf":
            raise InvalidData(
                f"The table must hold real numbers, got type {dtype}: convert it before saving."
            )
        if len(lengths) not in (2, 3):
            raise InvalidData(
                f"The table must have 2 dimensions, samples x features, got {len(lengths)}: reshape it "
                "before saving."
            )
        self._lengths, self._dtype = lengths, dtype
        self._sides = int(lengths[0]), int(np.prod(lengths[1:], dtype=np.int64))
        self._entries = self._sides[0] * self._sides[1]
        if len(lengths) == 3:
            said = f"A stack of images of {lengths[1]} x {lengths[2]} pixels was unrolled row by row."
            self.findings += (said,)

    @property
    def shape(self) -> Size:
        return Size(*self._sides, self._entries, sparse=self.is_sparse)

    def probe(self) -> Size:
        if not self.source.is_packed:
            check_array(self._lengths, self._dtype, self._held)
        return self.shape

    def blocks(self, rows: int | None = None, spill: Path | None = None) -> Iterator[Block]:
        if not self.on_disk:
            yield Block(read_npy(self.source.raw))
            return
        if self.source.is_packed:
            raise InvalidData(
                f"{self.source.called} is packed, and its rows cannot be read from the middle: unpack it."
            )
        self.probe()
        assert self.source.path is not None  # a file on disk has one
        yield from self._dense_rows(_mapped(self.source.path), rows)

    def _dense_rows(self, load: Callable[[], np.ndarray], rows: int | None) -> Iterator[Block]:
        """Yield a dense table, which is mapped anew for each block, to free the pages of earlier ones."""
        count = self._sides[0]
        for start in range(0, count, rows or count):
            part = unrolled(load()[start : start + (rows or count)])
            yield Block(checked_rows(part, start, self.source))


def _mapped(path: Path) -> Callable[[], np.ndarray]:
    return partial(np.load, path, mmap_mode="r", allow_pickle=False)


class NpzReader(NpyReader):
    """Reader of an archive with an array ``X``, or exactly one table of numbers, or a sparse matrix.

    `files` maps names to members; `read_array` returns one of them.
    """

    def _read_header(self) -> None:
        self._archive, members = list_members(self.source)
        arrays = [info for info in members if info.filename.endswith(".npy")]
        self.files = {info.filename.removesuffix(".npy"): info for info in arrays}
        self.is_sparse = all(part in self.files for part in SPARSE)
        if not self.is_sparse:
            lengths, dtype, self._held = self._header(self._find_table())
            self._take_table(lengths, dtype)
            return
        if any(self.files[key].file_size > _SMALL for key in ("shape", "format") if key in self.files):
            raise InvalidData(_OTHER_FORM)
        shape = self.read_array("shape")
        layout = self.read_array("format") if "format" in self.files else np.array("csr")
        word = layout.item() if layout.size == 1 else ""
        self._layout = word.decode("ascii", errors="replace") if isinstance(word, bytes) else str(word)
        if shape.shape != (2,) or shape.dtype.kind not in "iu" or self._layout not in ("csr", "csc"):
            raise InvalidData(_OTHER_FORM)
        self._sides = int(shape[0]), int(shape[1])
        self._lengths, self._dtype, self._held = self._header("data")
        self._entries = int(np.prod(self._lengths, dtype=np.int64))

    def _find_table(self) -> str:
        if "X" in self.files:
            return "X"
        if all(part in self.files for part in ANY_SPARSE):  # a table "data" would be diagonals
            raise InvalidData(_OTHER_FORM)
        tables = []
        for key in self.files:
            lengths, dtype, _ = self._header(key)
            tables += [key] if len(lengths) in (2, 3) and dtype.kind in "biuf" else []
        if len(tables) != 1:
            found = ", ".join(sorted(self.files)[:8]) or "nothing"
            raise InvalidData(
                f"An NPZ needs an array named X, or exactly one table of numbers; this one holds {found}: "
                "save the table as X."
            )
        self.findings = (f'The array "{tables[0]}" was taken as the table.',)
        return tables[0]

    def read_array(self, key: str) -> np.ndarray:
        """Return a member as an array of numbers or text, after checking its header."""
        return read_npy(unzip_member(self._archive, self.files[key]))

    def blocks(self, rows: int | None = None, spill: Path | None = None) -> Iterator[Block]:
        keys = SPARSE[:3] if self.is_sparse else (self._find_table(),)
        if not self.on_disk and not self.is_sparse:
            yield Block(self.read_array(*keys))
            return
        with tempfile.TemporaryDirectory(dir=spill, ignore_cleanup_errors=True) as folder:
            loads = [self._load(key, Path(folder, f"{i}.npy")) for i, key in enumerate(keys)]
            if self.is_sparse:
                data, indices, indptr = (load() for load in loads)
                yield from map(Block, self._sparse_rows(data, indices, indptr, rows, Path(folder)))
            else:
                yield from self._dense_rows(loads[0], rows)

    def _load(self, key: str, path: Path) -> Callable[[], np.ndarray]:
        """Return a function that loads an array, mapped from a file on disk that it is unpacked to."""
        if not self.on_disk:
            return partial(self.read_array, key)
        check_array(*self._header(key))
        with path.open("wb") as plain:
            for piece in self._pieces(key):  # an error in writing is not taken for a damaged archive
                plain.write(piece)
        return _mapped(path)

    def _pieces(self, key: str) -> Iterator[bytes]:
        try:
            with self._archive.open(self.files[key]) as packed:
                while piece := packed.read(_UNPACKED):
                    yield piece
        except _DAMAGE:
            raise self._damaged() from None

    def _header(self, key: str) -> tuple[tuple[int, ...], np.dtype, int]:
        """Return shape and type of an array from its header, and the bytes that the archive says it has."""
        info = self.files[key]
        try:
            with self._archive.open(info) as packed:
                return *npy_header(cast(BinaryIO, packed)), info.file_size - packed.tell()
        except _DAMAGE:
            raise self._damaged() from None

    def _damaged(self) -> InvalidData:
        return InvalidData(f"{self.source.called} is damaged or cut short as an NPZ file: save it again.")

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
    """Return some rows of a dense table as float64; `start` is the number of the first one, from 0.

    Raises
    ------
    InvalidData
        For values that are not real numbers, for missing values, and for integers that float64 cannot
        represent.
    """
    if part.dtype.kind not in "biuf":
        raise InvalidData(f"{source.called} must hold real numbers, got type {part.dtype}: convert them.")
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
    """Return an NPZ with names and labels as a Dataset; see `read`."""
    return read(Source(raw=raw, title=name), DEFAULT, silent)


def read(source: Source, options: ReadOptions, report: Report) -> Dataset:
    """Return an NPZ with names and labels as a Dataset.

    The table is `X`, the only 2-D array, or the parts of a scipy.sparse matrix. Other keys: ``labels`` or
    ``y``, ``feature_names``, ``sample_names``, ``image_shape``, ``wavelength_um``, ``header`` with
    ``header_names``, ``prepared``, ``is_covariance``, and the texts and label columns that `to_npz` writes.
    """
    reader = NpzReader(source, options)
    if reader.is_sparse:
        limits.check_sparse(*reader._sides, reader._entries)
    (block,) = reader.blocks()
    X = block.X if reader.is_sparse else plain_numbers(block.X, source.given_bytes)
    return finished(_to_dataset(with_gaps(X, options), source.title, reader), options)


def _to_dataset(X: Any, name: str, reader: NpzReader) -> Dataset:
    """Return a table with what its archive says about it. An array of another kind is left out, and said."""
    notes, m = [*reader.findings], X.shape[0]

    def take(keys: Sequence[str], fits: Callable[[np.ndarray], Any], otherwise: str = "") -> Any:
        arrays = [reader.read_array(key) for key in keys if key in reader.files]
        found = next((array for array in arrays if fits(array)), None)
        if found is None and arrays and otherwise:
            notes.append(f"{otherwise} and was left out.")
        return found

    image_shape = take(
        ("image_shape",),
        lambda a: a.shape == (2,) and a.dtype.kind in "iu" and a.min() > 0,
        "The image_shape is not two whole numbers",
    )
    axis = take(
        ("wavelength_um",),
        lambda a: a.ndim == 1 and _is_finite(a),
        "The wavelength_um is not a list of numbers",
    )
    labels = take(
        ("labels", "y"),
        lambda a: a.ndim == 1 and a.dtype.kind != "S",
        "What is called labels is not a list of numbers or text",
    )
    weights = take(
        ("sample_weight",),
        lambda a: a.shape == (m,) and _is_finite(a) and (a >= 0).all() and a.any(),
        "The sample_weight is not a number of at least 0 for each sample",
    )
    if weights is not None:
        notes.append("The samples have the weights that are in the file.")
    header = take(
        ("header",),
        lambda a: a.ndim == 2 and len(a) == m and _is_finite(a),
        "The header is not a row of numbers for each sample",
    )
    fields = take(
        ("header_names",),
        lambda a: header is not None and a.shape == header.shape[1:] and a.dtype.kind == "U",
    )
    steps = take(
        ("prepared",),
        lambda a: a.ndim == 1 and a.dtype.kind == "U" and a.size <= MOST_LISTED,
        "What is called prepared is not a list of preparations",
    )
    steps = [] if steps is None else steps.tolist()
    prepared = tuple(step for step in steps if step in PREPARATIONS)
    notes += [f"Before it was saved: {PREPARATIONS[step].note}" for step in prepared]
    if len(prepared) < len(steps):
        notes.append(f"{len(steps) - len(prepared)} of its preparations are not known here.")
    if X.ndim == 3:
        image_shape, X = X.shape[1:], unrolled(X)
    shape = None if image_shape is None else (int(image_shape[0]), int(image_shape[1]))
    features, samples = (
        take(keys, lambda a: a.ndim == 1 and a.dtype.kind in "Uiu" and a.size)
        for keys in (FEATURE_NAMES, SAMPLE_NAMES)
    )
    # Dataset refuses an image_shape that does not fit the table. No pixel names are made before that.
    is_image = shape is not None and shape[0] * shape[1] == X.shape[1]
    feature_names = pixel_names(shape) if shape and is_image else numbered("feature", X.shape[1])
    sample_names = numbered("sample", m)
    if features is not None:
        feature_names, more = unique_names([*map(str, features.tolist())], "feature")
        notes += more
    if samples is not None:
        sample_names, more = unique_names([*map(str, samples.tolist())], "sample")
        notes += more
    listed = take(("label_columns",), lambda a: a.ndim == 1 and a.dtype.kind == "U" and a.size <= MOST_LISTED)
    groups = {
        column: take((f"label_column_{number}",), lambda a: a.shape == (m,) and a.dtype.kind in "iuU")
        for number, column in enumerate([] if listed is None else listed.tolist())
    }
    label_name = take(("label_name",), lambda a: a.size == 1 and a.dtype.kind == "U")
    ends = take(("text_ends",), lambda a: a.shape == (m,) and a.dtype.kind in "iu")
    packed = take(
        ("texts",),
        lambda a: ends is not None and _are_texts(a, ends.astype(np.int64)),
        "The texts are not one text for each sample",
    )
    texts = None if packed is None else _unpack(packed.tobytes(), [0, *ends.tolist()])
    is_covariance = take(("is_covariance",), lambda a: a.dtype.kind == "b" and a.size == 1)
    settled = settle(X, reader.options.missing, bool(reader.options.features_in_rows))
    data = Dataset(
        name=name,
        # Names are checked against the full shape, so X is an empty stand-in until rows are dropped.
        X=sp.csr_array(X.shape) if settled.notes else X,
        feature_names=feature_names,
        sample_names=sample_names,
        labels=labels,
        image_shape=shape,
        kind="image" if shape else "spectrum" if axis is not None else "table" if texts is None else "words",
        axis=None if axis is None else axis.astype(np.float64),
        axis_name="" if axis is None else "wavelength (µm)",
        findings=as_findings(notes),
        label_columns={column: found for column, found in groups.items() if found is not None},
        label_name="" if label_name is None else str(label_name.item()),
        texts=texts,
        is_covariance=is_covariance is not None and bool(is_covariance.item()),
        prepared=prepared,
        header=None if header is None else header.astype(np.float64),
        header_names=_name_fields(header, fields),
        weights=None if weights is None else weights.astype(np.float64),
    )
    return _drop_missing(data, settled) if settled.notes else data


def _is_finite(array: np.ndarray) -> bool:
    return array.dtype.kind in "iuf" and bool(np.isfinite(array).all())


def _name_fields(header: np.ndarray | None, names: np.ndarray | None) -> tuple[str, ...]:
    if header is None:
        return ()
    if names is None:
        return tuple(numbered("header field", header.shape[1]))
    return tuple(name.replace("_", " ") for name in names.tolist())


def _are_texts(raw: np.ndarray, ends: np.ndarray) -> bool:
    """Tell whether an array is UTF-8 bytes of texts that end at the positions `ends`."""
    is_bytes = raw.ndim == 1 and raw.dtype == np.uint8 and raw.size <= MOST_TEXT
    return bool(is_bytes and (np.diff(ends, prepend=0) >= 0).all() and ends[-1] == raw.size)


def _unpack(raw: bytes, places: list[int]) -> tuple[str, ...]:
    return tuple(raw[start:end].decode(errors="replace") for start, end in pairwise(places))


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


def _read_array(source: Source, options: ReadOptions, report: Report) -> Dataset:
    reader = NpyReader(source, options)
    (block,) = reader.blocks()
    X = plain_numbers(block.X, source.given_bytes)
    return from_array(X, source.title, options, reader.findings)


FORMAT = Format(
    "an NPZ file",
    lambda source: bool(source.names) and all(name.endswith(".npy") for name in source.names),
    read=read,
    reader=NpzReader,
)
NPY = Format(
    "an NPY file", lambda source: source.first().startswith(b"\x93NUMPY"), read=_read_array, reader=NpyReader
)
