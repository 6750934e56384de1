"""Read HDF5 files by h5py, in blocks of rows: a dense table, or the sparse X of an H5AD file.

Uploads are never opened, only files that the user names by a path.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from nspca.data import limits
from nspca.data.arrays import finished, from_array
from nspca.data.dataset import Dataset
from nspca.data.formats.base import Block, Format, Reader, Size, Source
from nspca.data.formats.npz import FEATURE_NAMES, checked_rows, csr_rows
from nspca.data.names import unique_names
from nspca.data.options import ReadOptions
from nspca.errors import InvalidData, Late
from nspca.progress import Report

h5py: Any = Late("h5py", "HDF5 files", "files")
SUFFIXES = (".h5", ".hdf5", ".he5")
MAGIC = b"\x89HDF"
_NAMED = ("X", "data", "table", "matrix")
"""Usual names of a table, tried first."""


class Hdf5Reader(Reader):
    """Reader of an HDF5 file: the dataset X, the only table of numbers, or the sparse group X of H5AD."""

    @staticmethod
    def matches(first: bytes) -> bool:
        return first.startswith(MAGIC)

    def _read_header(self) -> None:
        try:
            self._file = h5py.File(self.source.path, "r")
            members: dict[str, Any] = {}
            self._file.visititems(lambda name, node: _note(members, name, node, h5py))
        except OSError as error:
            found = re.search(r"\(([^,:()]+)", str(error))  # of h5py: "Unable to ... (truncated file: ...)"
            reason = f" ({found[1].strip()})" if found else ""
            raise InvalidData(
                f"{self.source.called} cannot be opened as an HDF5 file{reason}: it may be damaged or cut "
                "short, get it again."
            ) from None
        tables = {name: node for name, node in members.items() if _is_table(node)}
        self.is_sparse = isinstance(self._file.get("X"), h5py.Group)
        if self.is_sparse:
            self._read_sparse_header()
        else:
            name = next((name for name in _NAMED if name in tables), None)
            if (name is None and len(tables) != 1) or (name != "X" and "X" in members):
                others = [_describe(node) for node in members.values() if not _is_table(node)]
                no_tables = f", and it also holds {', '.join(others[:8])}" if others else ""
                raise InvalidData(
                    f"{self.source.called} must hold a table X, or exactly one table of numbers; its tables "
                    f"are {', '.join(sorted(tables)[:8]) or 'none'}{no_tables}: save the table as X."
                )
            self._table = tables[name or next(iter(tables))]
            self._refuse_elsewhere(self._table)
            self._sides = int(self._table.shape[0]), int(self._table.shape[1])
            self._entries = self._sides[0] * self._sides[1]
            if name != "X":
                self.findings = (f'The table "{self._table.name.lstrip("/")}" was taken.',)

    def _read_sparse_header(self) -> None:
        group = self._file["X"]
        shape = group.attrs.get("shape", group.attrs.get("h5sparse_shape"))
        kind = str(group.attrs.get("encoding-type", group.attrs.get("h5sparse_format", "")))
        parts = [name for name in ("data", "indices", "indptr") if name in group]
        if shape is None or len(shape) != 2 or len(parts) < 3 or not kind.startswith("csr"):
            raise InvalidData(
                f"{self.source.called} must hold X as a table or as a sparse matrix by rows (csr_matrix), "
                f"got {kind or 'another group'}: save it so."
            )
        for part in parts:
            self._refuse_elsewhere(group[part])
        self._table, self._sides = group, (int(shape[0]), int(shape[1]))
        self._entries = int(group["data"].shape[0])

    def _refuse_elsewhere(self, node: Any) -> None:
        """Refuse a dataset whose numbers are in other files, which a stranger's file may name."""
        if node.is_virtual or node.external or node.file != self._file:
            raise InvalidData(
                f"{self.source.called} must hold its numbers itself, got {node.name.lstrip('/')}, which is "
                "in another file: save it in one file."
            )

    @property
    def shape(self) -> Size:
        return Size(*self._sides, self._entries, sparse=self.is_sparse)

    def feature_names(self) -> Sequence[str] | None:
        for name in (*FEATURE_NAMES, _var_names(self._file)):
            node = self._file.get(name) if name else None
            if node is not None and getattr(node, "shape", None) == (self._sides[1],):
                self._refuse_elsewhere(node)
                texts = [_text(one) for one in self._read(node, slice(None))]
                return unique_names(texts, "feature")[0]
        return None

    def blocks(self, rows: int | None = None, spill: Path | None = None) -> Iterator[Block]:
        count = self._sides[0]
        step = max(1, rows or count)
        indptr = self._indptr() if self.is_sparse else None
        for start in range(0, max(1, count), step):  # one empty block of a table without rows
            end = min(start + step, count)
            if indptr is None:
                numbers = self._read(self._table, slice(start, end))
                yield Block(checked_rows(numbers, start, self.source))
            else:
                yield Block(self._sparse_rows(indptr[start : end + 1]))

    def _read(self, node: Any, where: slice) -> np.ndarray:
        try:
            return np.asarray(node[where])
        except OSError:
            raise InvalidData(
                f"{self.source.called} is damaged, its {node.name.lstrip('/')} cannot be read: get it again."
            ) from None

    def _indptr(self) -> np.ndarray:
        indptr = self._read(self._table["indptr"], slice(None)).astype(np.int64)
        ends = indptr.size and (int(indptr[0]), int(indptr[-1])) == (0, self._entries)
        if indptr.shape != (self._sides[0] + 1,) or not ends or (np.diff(indptr) < 0).any():
            raise self._misfit()
        return indptr

    def _sparse_rows(self, part: np.ndarray) -> sp.csr_array:
        where = slice(int(part[0]), int(part[-1]))
        data, indices = (self._read(self._table[name], where) for name in ("data", "indices"))
        fits = data.size == indices.size == int(part[-1] - part[0]) and indices.dtype.kind in "iu"
        if not fits or data.dtype.kind not in "biuf":
            raise self._misfit()
        return csr_rows(data, indices, part, self._sides[1], self._misfit())

    def _misfit(self) -> InvalidData:
        return InvalidData(
            f"The parts of the sparse matrix of {self.source.called} do not fit: save it again."
        )


def _note(members: dict[str, Any], name: str, node: Any, h5py: Any) -> None:
    if isinstance(node, h5py.Dataset):
        members[name] = node


def _is_table(node: Any) -> bool:
    """Tell whether a dataset is a 2-D table of numbers; an empty one has no shape."""
    return node.shape is not None and len(node.shape) == 2 and node.dtype.kind in "biuf"


def _describe(node: Any) -> str:
    lengths = " x ".join(map(str, node.shape or ())) or ("empty" if node.shape is None else "one value")
    return f"{node.name.lstrip('/')} ({lengths}, {node.dtype})"


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _var_names(file: Any) -> str:
    var = file.get("var")
    index = None if var is None else var.attrs.get("_index")
    return f"var/{index}" if isinstance(index, str) else ""


def read(source: Source, options: ReadOptions, report: Report) -> Dataset:
    """Return the table of an HDF5 file in memory."""

    reader = Hdf5Reader(source, options)
    shape = reader.shape
    if shape.sparse:
        limits.check_sparse(shape.rows, shape.columns, shape.entries)
    else:
        limits.check_dense(shape.rows, shape.columns)
    (block,) = reader.blocks()
    upright = options.but(features_in_rows=None, columns=(), drop_columns=(), drop_rows=())
    data = from_array(block.X, source.title, upright, reader.findings)
    names = reader.feature_names()
    return finished(data if names is None else replace(data, feature_names=tuple(names)), options)


FORMAT = Format(
    "an HDF5 file",
    lambda source: source.path is not None and Hdf5Reader.matches(source.first()),
    read=read,
    reader=Hdf5Reader,
)
