"""Read NPZ and NPY files: a dense table, or a sparse matrix written by ``scipy.sparse.save_npz``.

The size in every header is compared with the length of the file before an array is allocated. Nothing is
unpickled.
"""

import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
import scipy.sparse as sp

from nspca.data import limits
from nspca.data.arrays import SPARSER, unrolled
from nspca.data.findings import Finding
from nspca.data.formats.base import Block, Reader, Size, Source
from nspca.data.formats.entries import EntrySorter
from nspca.data.names import unique_names
from nspca.errors import InvalidData
from nspca.validation.archive import (
    check_array,
    check_type,
    npy_header,
    npy_layout,
    open_zip,
    read_npy,
    unzip_member,
)

SPARSE = ("data", "indices", "indptr", "shape")
"""Members of an archive that form a sparse matrix."""
ANY_SPARSE = ("data", "format", "shape")
"""Members of an archive that ``scipy.sparse.save_npz`` writes for a sparse matrix of any form."""
FEATURE_NAMES = ("feature_names", "features", "columns")
"""Members that may name the features."""
PIECE = 2_000_000
"""Maximum entries read at a time of a table by columns, except for a longer column of a sparse matrix."""
_SMALL = 10_000
"""Maximum bytes of the members "shape" and "format". Each needs less than 200."""
_WAY_OUT = "save it with scipy.sparse.save_npz"
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError)


def is_array(info: zipfile.ZipInfo) -> bool:
    """Tell whether a member of an archive is an array."""
    return info.filename.endswith(".npy")


def list_members(source: Source) -> tuple[zipfile.ZipFile, list[zipfile.ZipInfo]]:
    """Open the archive of a source and list its members; refuse one in memory that unpacks to too much."""
    if source.path is None:
        return open_zip(source.raw)
    try:
        archive = zipfile.ZipFile(source.path)
    except _DAMAGE:
        raise InvalidData(f"{source.path} is damaged or cut short: save it again.") from None
    return archive, [info for info in archive.infolist() if not info.is_dir()]


class NpzReader(Reader):
    """Reader of an archive with an array ``X``, or exactly one table of numbers, or a sparse matrix.

    `files` maps names to members; `read_array` returns one of them.
    """

    @staticmethod
    def matches(first: bytes) -> bool:
        return first.startswith(b"PK\x03\x04")

    def _read_header(self) -> None:
        self._archive, members = list_members(self.source)
        if not self.on_disk:
            limits.check_archive(self.source.given_bytes, members, "NPZ", SPARSER)
        self.files = {info.filename.removesuffix(".npy"): info for info in members if is_array(info)}
        self.is_sparse = all(part in self.files for part in SPARSE)
        self.findings: tuple[Finding | str, ...] = ()
        if self.is_sparse:
            self._read_sparse_header()
        else:
            self._read_dense_header()

    def _read_sparse_header(self) -> None:
        shape = self._read_small("shape")
        layout = self._read_small("format") if "format" in self.files else np.array("csr")
        word = layout.item() if layout.size == 1 else ""
        self._layout = word.decode("ascii", errors="replace") if isinstance(word, bytes) else str(word)
        if shape.shape != (2,) or shape.dtype.kind not in "iu" or self._layout not in ("csr", "csc"):
            raise _other_form()
        self._sides = int(shape[0]), int(shape[1])
        length, _ = self._header("data")
        self._entries = int(np.prod(length, dtype=np.int64))

    def _read_dense_header(self) -> None:
        if "X" in self.files:
            self.key = "X"
        elif all(part in self.files for part in ANY_SPARSE):  # a table "data" would be diagonals
            raise _other_form()
        else:
            tables = [key for key in self.files if self._is_table(key)]
            if len(tables) != 1:
                found = ", ".join(sorted(self.files)[:8]) or "nothing"
                raise InvalidData(
                    f"An NPZ needs an array named X, or exactly one table of numbers; this one holds "
                    f"{found}: save the table as X."
                )
            self.key = tables[0]
            self.findings = (f'The array "{self.key}" was taken as the table.',)
        lengths, dtype = self._header(self.key)
        self._sides = _sides_of(lengths, dtype)
        self._entries = self._sides[0] * self._sides[1]
        self.findings += _images(lengths)

    def _is_table(self, key: str) -> bool:
        """Tell whether a member is a table of real numbers or a stack of images."""
        shape, dtype = self._header(key)
        return len(shape) in (2, 3) and dtype.kind in "biuf"

    @property
    def shape(self) -> Size:
        return Size(*self._sides, self._entries, sparse=self.is_sparse)

    def probe(self) -> Size:
        with self._stream("data" if self.is_sparse else self.key) as stream:
            stream.check()
        return self.shape

    def read_array(self, key: str) -> np.ndarray:
        """Return a member as an array of numbers or text, after checking its header."""
        return read_npy(unzip_member(self._archive, self.files[key]))

    def blocks(self, rows: int | None = None, spill: Path | None = None) -> Iterator[Block]:
        if not self.is_sparse:
            if self.on_disk:
                yield from self._dense_rows(rows, spill)
            else:
                yield Block(self.read_array(self.key))
        elif self._layout == "csc":
            if rows is not None and spill is not None:
                yield from map(Block, self._sorted_rows(rows, spill))
                return
            (columns,) = self._compressed(self._sides[1], self._sides[0])
            yield Block(
                sp.csc_array((columns.data, columns.indices, columns.indptr), shape=self._sides).tocsr()
            )
        else:
            yield from map(Block, self._compressed(*self._sides, rows))

    def _dense_rows(self, step: int | None, spill: Path | None) -> Iterator[Block]:
        """Yield a dense table, `step` rows at a time, decompressing one block after the other.

        A table stored by columns is unpacked into a file in `spill` first.
        """
        count, width = self._sides
        with self._stream(self.key) as stream:
            if stream.by_columns and spill is not None:
                path = spill / "table.npy"
                stream.unpack(path)
                yield from _mapped_rows(path, step or count, self.source)
                path.unlink()
                return
            if stream.by_columns:
                yield Block(checked_rows(unrolled(self.read_array(self.key)), 0, self.source))
                return
            for start in range(0, count, step or count):
                part = min(step or count, count - start)
                numbers = stream.read(part * width).reshape(part, width)
                yield Block(checked_rows(numbers, start, self.source))

    def _sorted_rows(self, rows: int, spill: Path) -> Iterator[sp.csr_array]:
        """Yield a matrix in CSC form in blocks of `rows` rows, sorted through files in `spill`."""
        count, columns = self._sides
        sorter, first = EntrySorter(spill, (count, columns), rows), 0
        for part in self._compressed(columns, count, most=PIECE):
            own = first + np.repeat(np.arange(part.shape[0]), np.diff(part.indptr))
            sorter.add(part.indices, own, part.data)
            first += part.shape[0]
        yield from sorter.blocks()

    def feature_names(self) -> Sequence[str] | None:
        for key in FEATURE_NAMES:
            if key in self.files:
                names = self.read_array(key)
                if names.shape == (self._sides[1],) and names.dtype.kind == "U":
                    return unique_names(names.tolist(), "feature")[0]
        return None

    def _compressed(
        self, major: int, minor: int, step: int | None = None, most: int | None = None
    ) -> Iterator[sp.csr_array]:
        """Yield a matrix of `major` compressed rows of length `minor`, in parts of some whole rows.

        A part has `step` rows, or with `most` the rows that have at most so many entries together, but at
        least one.
        """
        misfit = InvalidData(
            f"The parts of the sparse matrix{self.source.of} do not fit together: {_WAY_OUT}."
        )
        kinds = {part: self._header(part)[1].kind for part in SPARSE}
        if kinds["indices"] not in "iu" or kinds["indptr"] not in "iu" or kinds["data"] not in "biuf":
            raise InvalidData(
                f"The parts of the sparse matrix{self.source.of} have the wrong types: {_WAY_OUT}."
            )
        lengths = {part: self._header(part)[0] for part in SPARSE}
        if (
            not 0 <= minor < 2**31
            or lengths["indptr"] != (major + 1,)
            or lengths["data"] != lengths["indices"]
        ):
            raise misfit
        with self._stream("indptr") as stream:
            indptr = stream.read(major + 1).astype(np.int64)
        if indptr[0] != 0 or (np.diff(indptr) < 0).any() or lengths["data"] != (int(indptr[-1]),):
            raise misfit
        with self._stream("indices") as places, self._stream("data") as values:
            start = 0
            while start < max(1, major):  # one empty part of a matrix without rows
                end = start + (step or major)
                if most is not None:
                    end = int(np.searchsorted(indptr, indptr[start] + most, side="right")) - 1
                end = min(max(end, start + 1), major)
                part = indptr[start : end + 1]
                count = int(part[-1] - part[0])
                yield csr_rows(values.read(count), places.read(count), part, minor, misfit)
                start = max(end, start + 1)

    def _read_small(self, key: str) -> np.ndarray:
        if self.files[key].file_size > _SMALL:
            raise _other_form()
        return self.read_array(key)

    def _header(self, key: str) -> tuple[tuple[int, ...], np.dtype]:
        with self._stream(key) as stream:
            return stream.shape, stream.dtype

    def _stream(self, key: str) -> "_Stream":
        return _Stream(self, key)


class NpyReader(Reader):
    """Reader of an NPY file: a table of numbers, or a stack of images."""

    @staticmethod
    def matches(first: bytes) -> bool:
        return first.startswith(b"\x93NUMPY")

    def _read_header(self) -> None:
        with self.source.open() as handle:
            self._shape, self._dtype = npy_header(handle)
            self._held = self.source.most_bytes - handle.tell()
        self._sides = _sides_of(self._shape, self._dtype)
        self.findings = _images(self._shape)

    @property
    def shape(self) -> Size:
        return Size(*self._sides, self._sides[0] * self._sides[1], sparse=False)

    def probe(self) -> Size:
        if not self.source.is_packed:
            check_array(self._shape, self._dtype, self._held)
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
        yield from _mapped_rows(self.source.path, rows or self._sides[0], self.source)


def _mapped_rows(path: Path, step: int, source: Source) -> Iterator[Block]:
    """Yield a table in an NPY file, `step` rows at a time; errors name `source`."""
    count = len(np.load(path, mmap_mode="r", allow_pickle=False))
    for start in range(0, count, step):
        # Mapped anew for each block, so that the pages of earlier blocks are freed.
        table = np.load(path, mmap_mode="r", allow_pickle=False)
        yield Block(checked_rows(unrolled(table[start : start + step]), start, source))


def _sides_of(lengths: tuple[int, ...], dtype: np.dtype) -> tuple[int, int]:
    check_type(dtype)
    if dtype.kind not in "biuf":
        raise InvalidData(f"The table must hold real numbers, got type {dtype}: convert it before saving.")
    if len(lengths) not in (2, 3):
        raise InvalidData(
            f"The table must have 2 dimensions, samples x features, got {len(lengths)}: reshape it before "
            "saving."
        )
    return int(lengths[0]), int(np.prod(lengths[1:], dtype=np.int64))


def _images(lengths: tuple[int, ...]) -> tuple[str, ...]:
    if len(lengths) == 2:
        return ()
    return (f"A stack of images of {lengths[1]} x {lengths[2]} pixels was unrolled row by row.",)


def _other_form() -> InvalidData:
    return InvalidData("A sparse matrix must be saved in CSR or CSC form with scipy.sparse.save_npz.")


def csr_rows(
    data: np.ndarray, indices: np.ndarray, part: np.ndarray, columns: int, misfit: InvalidData
) -> sp.csr_array:
    """Return some rows of a sparse matrix; `part` has their row pointers, counted from the first row of all.

    Raises `misfit` for a column number that is not below `columns`.
    """
    if indices.size and not (indices.min() >= 0 and indices.max() < columns):
        raise misfit
    limits.check_float64(data, "the sparse matrix")
    entries = data.astype(np.float64), indices.astype(np.int32), part - part[0]
    block = sp.csr_array(entries, shape=(part.size - 1, columns))
    block.sum_duplicates()
    return block


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


class _Stream:
    """An array of an archive that is decompressed from its beginning, some numbers at a time."""

    def __init__(self, reader: NpzReader, key: str):
        self._called = reader.source.named("NPZ file")
        info = reader.files[key]
        try:
            self._handle = cast(BinaryIO, reader._archive.open(info))
            self.shape, self.by_columns, self.dtype = npy_layout(self._handle)
            self._bytes = info.file_size - self._handle.tell()
        except _DAMAGE:
            raise self._damaged() from None

    def __enter__(self) -> "_Stream":
        return self

    def __exit__(self, *error: object) -> None:
        self._handle.close()

    def check(self) -> None:
        check_array(self.shape, self.dtype, self._bytes)

    def read(self, count: int) -> np.ndarray:
        self.check()
        size = count * self.dtype.itemsize
        try:
            raw = self._handle.read(size)
        except _DAMAGE:
            raise self._damaged() from None
        if len(raw) != size:
            raise self._damaged()
        return np.frombuffer(raw, dtype=self.dtype)

    def unpack(self, path: Path) -> None:
        """Write the array to an NPY file. An error in writing is not taken for a damaged archive."""
        descr, left = np.lib.format.dtype_to_descr(self.dtype), int(np.prod(self.shape, dtype=np.int64))
        layout = {"descr": descr, "fortran_order": self.by_columns, "shape": self.shape}
        with path.open("wb") as plain:
            np.lib.format.write_array_header_1_0(plain, layout)
            for start in range(0, left, PIECE):
                plain.write(self.read(min(PIECE, left - start)).data)

    def _damaged(self) -> InvalidData:
        """Return the error for an archive that cannot be decompressed."""
        return InvalidData(f"{self._called} is damaged or cut short: save it again.")
