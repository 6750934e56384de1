"""Read the Matrix Market format, in coordinate form (one entry per line) or array form (column by column).

The header is a banner, comments, and a line with the sizes.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np

from nspca.data.formats.base import Block, Format, Size
from nspca.data.formats.entries import Entries, EntryReader
from nspca.errors import InvalidData

_LONGEST = 200
"""Maximum bytes of the banner and of the line of sizes."""
_COMMENTS = 2**20
"""Maximum bytes of comments and empty lines above the line of sizes."""
_FIELDS = ("real", "double", "integer", "unsigned-integer", "pattern")
_SYMMETRIES = ("general", "symmetric", "skew-symmetric")
DENSE = 2000
"""Maximum rows of a sparse symmetric matrix that is converted to a dense one (32 MiB)."""
_WAY_OUT = "save it again, for example with scipy.io.mmwrite"


def is_matrix_market(first: bytes) -> bool:
    """Tell whether a file begins with the banner of a Matrix Market file."""
    return first[:14].lower() == b"%%matrixmarket"


class MatrixMarketReader(EntryReader):
    """Reader of a real matrix, dense (array form) or sparse (coordinate form).

    SciPy's reader is four times as quick, but some damaged files make it crash the process.
    """

    comment = b"%"

    def _read_header(self) -> None:
        with self.source.unpacking(), self.source.open() as handle:
            self._read_banner(handle.readline(_LONGEST))
            sizes = self._read_sizes(handle)
            self.header_bytes = handle.tell()
        rows, columns = self.sides = sizes[0], sizes[1]
        if self.is_symmetric and rows != columns:
            raise InvalidData(
                f"A {self.symmetry} matrix is square, with as many rows as columns, {self.source.called} "
                f"says {rows} and {columns}: {_WAY_OUT}."
            )
        self.held = sizes[-1]
        if self.is_dense:
            half = {"symmetric": rows * (rows + 1) // 2, "skew-symmetric": rows * (rows - 1) // 2}
            self.held = half.get(self.symmetry, rows * columns)

    def _read_banner(self, line: bytes) -> None:
        words = line.decode("ascii", errors="replace").lower().split()
        if len(words) != 5 or words[1] != "matrix" or words[2] not in ("coordinate", "array"):
            raise InvalidData(
                "The first line of a Matrix Market file names a matrix in coordinate or array form, that of "
                f"{self.source.called} does not: {_WAY_OUT}."
            )
        if words[3] not in _FIELDS or words[4] not in _SYMMETRIES:
            raise InvalidData(
                f'A matrix of real numbers is needed, {self.source.called} is "{words[3]} {words[4]}": '
                "convert it before saving."
            )
        self.is_dense, self.symmetry = words[2] == "array", words[4]
        self.cells = 1 if self.is_dense else 2 if words[3] == "pattern" else 3

    def _read_sizes(self, handle: BinaryIO) -> list[int]:
        what = ("rows", "columns") if self.is_dense else ("rows", "columns", "entries")
        while handle.tell() < _COMMENTS and (line := handle.readline(_COMMENTS)):
            if line.startswith(b"%") or not line.strip():
                continue
            parts = line.split()
            if len(line) > _LONGEST or len(parts) != len(what) or not all(part.isdigit() for part in parts):
                break
            return [int(part) for part in parts]
        raise InvalidData(
            f"Below its comments, a Matrix Market file has a size line of {len(what)} whole numbers, "
            f"{', '.join(what[:-1])} and {what[-1]}, {self.source.called} has none: {_WAY_OUT}."
        )

    @property
    def is_symmetric(self) -> bool:
        """Tell whether the matrix is symmetric or skew-symmetric, so that the file holds one triangle."""
        return self.symmetry != "general"

    @property
    def shape(self) -> Size:
        entries = self.sides[0] * self.sides[1] if self.is_dense else self.held * (1 + self.is_symmetric)
        return Size(*self.sides, entries, sparse=not self.is_dense, text=self.source.usual_bytes)

    def blocks(self, rows: int | None = None, spill: Path | None = None) -> Iterator[Block]:
        if self.is_dense and self.on_disk:
            raise InvalidData(
                f"{self.source.called} must hold a matrix in coordinate form, got one in array form, column "
                "after column: convert it before saving."
            )
        if self.is_dense:
            yield Block(self._dense())
        elif self.is_symmetric and not self.on_disk and self.sides[0] <= DENSE:
            (block,) = super().blocks()
            yield Block(block.X.toarray())  # it may be a covariance
        else:
            yield from super().blocks(rows, spill)

    def misfits(self, table: np.ndarray) -> Iterator[tuple[np.ndarray, str]]:
        if not self.is_dense:
            for column, what in enumerate(("rows", "columns")):
                at = table[:, column]
                outside = ~((at >= 1) & (at <= self.sides[column]) & (at == np.floor(at)))
                yield outside, f"{what} are counted from 1 to {self.sides[column]}"

    def entries(self) -> Iterator[Entries]:
        for table in self.tables():
            at, to = (table[:, column].astype(np.int64) - 1 for column in (0, 1))
            values = table[:, 2] if table.shape[1] == 3 else np.ones(len(table))
            if self.is_symmetric:
                off, sign = at != to, 1.0 if self.symmetry == "symmetric" else -1.0
                at, to = np.concatenate((at, to[off])), np.concatenate((to, at[off]))
                values = np.concatenate((values, sign * values[off]))
            yield at, to, values

    def _dense(self) -> np.ndarray:
        """Return the matrix of a file in array form.

        The file lists whole columns, for a symmetric matrix from the diagonal down, and for a skew-symmetric
        one from below the diagonal.
        """
        rows, columns = self.sides
        values = np.concatenate([np.empty(0), *(table[:, 0] for table in self.tables())])
        if not self.is_symmetric:
            return np.ascontiguousarray(values.reshape(columns, rows).T)
        X = np.zeros((rows, rows))
        X.T[np.triu_indices(rows, k=int(self.symmetry != "symmetric"))] = values
        sign = 1.0 if self.symmetry == "symmetric" else -1.0
        X += sign * np.tril(X, -1).T
        return X


FORMAT = Format(
    "a Matrix Market file", lambda source: is_matrix_market(source.first()), reader=MatrixMarketReader
)
