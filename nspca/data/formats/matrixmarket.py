"""Read the Matrix Market format, in coordinate form (one entry per line) or array form (column by column).

The header is a banner, comments, and a line with the sizes.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from nspca.data import limits
from nspca.data.arrays import from_array
from nspca.data.dataset import Dataset
from nspca.data.formats.base import Block, Format, Size, Source
from nspca.data.formats.entries import Entries, EntryReader, EntryText
from nspca.data.options import ReadOptions
from nspca.errors import InvalidData
from nspca.progress import Event, Report

MAGIC = b"%%MatrixMarket"
_COMMENTS = 2**20
"""Maximum bytes of comments and empty lines above the line of sizes."""
_FIELDS = ("real", "double", "integer", "unsigned-integer", "pattern")
_SYMMETRIES = ("general", "symmetric", "skew-symmetric")
DENSE = 2000
"""Maximum rows of a sparse symmetric matrix that is converted to a dense one (32 MiB)."""
_WAY_OUT = "save it again, for example with scipy.io.mmwrite"


class MatrixMarketReader(EntryReader):
    """Reader of a real matrix, dense (array form) or sparse (coordinate form).

    SciPy's reader is four times as quick, but some damaged files make it crash the process.
    """

    @staticmethod
    def matches(first: bytes) -> bool:
        return first[: len(MAGIC)].lower() == MAGIC.lower()

    def _read_header(self) -> None:
        text = EntryText(self.source)
        try:
            form, self._field, self.symmetry = self._read_banner(text)
            self.is_dense = form == "array"
            self._sizes = self._read_sizes(text)
            self._header_bytes = text.header_bytes
        finally:
            text.close()
        rows, columns = self._sizes[:2]
        if self.symmetry != "general" and rows != columns:
            raise InvalidData(
                f"A {self.symmetry} matrix is square, with as many rows as columns, {self._called} says "
                f"{rows} and {columns}: {_WAY_OUT}."
            )

    @property
    def _called(self) -> str:
        """Name of the file in errors: its path, or "this one" for bytes."""
        return "this one" if self.source.path is None else str(self.source.path)

    def _read_banner(self, text: EntryText) -> tuple[str, str, str]:
        words = text.read_line()[:200].decode("ascii", errors="replace").lower().split()
        if len(words) != 5 or words[1] != "matrix" or words[2] not in ("coordinate", "array"):
            raise InvalidData(
                "The first line of a Matrix Market file names a matrix in coordinate or array form, that of "
                f"{self.source.called} does not: {_WAY_OUT}."
            )
        if words[3] not in _FIELDS or words[4] not in _SYMMETRIES:
            raise InvalidData(
                f'A matrix of real numbers is needed, {self._called} is "{words[3]} {words[4]}": convert it '
                "before saving."
            )
        return words[2], words[3], words[4]

    def _read_sizes(self, text: EntryText) -> list[int]:
        what = ("rows", "columns") if self.is_dense else ("rows", "columns", "entries")
        while text.header_bytes < _COMMENTS and (line := text.read_line()):
            if line.startswith(b"%") or not line.strip():
                continue
            parts = line.split()
            if len(line) > 100 or len(parts) != len(what) or not all(part.isdigit() for part in parts):
                break
            return [int(part) for part in parts]
        raise InvalidData(
            f"Line {text.line}{self.source.of}, the size line of a Matrix Market file, must hold {len(what)} "
            f"whole numbers, the {', '.join(what[:-1])} and {what[-1]}: {_WAY_OUT}."
        )

    @property
    def is_symmetric(self) -> bool:
        """Tell whether the matrix is symmetric or skew-symmetric, so that the file holds one triangle."""
        return self.symmetry != "general"

    @property
    def _held(self) -> int:
        rows, columns = self._sizes[:2]
        if not self.is_dense:
            return self._sizes[2]
        if self.symmetry == "symmetric":
            return rows * (rows + 1) // 2
        return rows * (rows - 1) // 2 if self.symmetry == "skew-symmetric" else rows * columns

    @property
    def shape(self) -> Size:
        rows, columns = self._sizes[:2]
        entries = rows * columns if self.is_dense else self._held * (1 + self.is_symmetric)
        return Size(rows, columns, entries, sparse=not self.is_dense, text=self.source.usual_bytes)

    def probe(self) -> Size:
        least = 2 if self.is_dense else 4 if self._field == "pattern" else 6  # "1\n", "1 1\n", "1 1 1\n"
        if self.source.most_bytes - self._header_bytes + 1 < self._held * least:
            raise InvalidData(
                f"The matrix{self.source.of} says it has {self._held} entries and the file is too short for "
                f"them: it is cut short, {_WAY_OUT}."
            )
        return self.shape

    def blocks(self, rows: int | None = None, spill: Path | None = None) -> Iterator[Block]:
        if self.is_dense and self.on_disk:
            raise InvalidData(
                f"{self.source.called} must hold a matrix in coordinate form, got one in array form, column "
                "after column: convert it before saving."
            )
        if self.is_dense:
            yield Block(self._dense())
        else:
            yield from super().blocks(rows, spill)

    def entries(self) -> Iterator[Entries]:
        rows, columns = self._sizes[:2]
        for table, text in self._tables(2 if self._field == "pattern" else 3):
            i, j = table[:, 0], table[:, 1]
            outside = (i < 1) | (i > rows) | (j < 1) | (j > columns) | (i != np.floor(i)) | (j != np.floor(j))
            if outside.any():
                number, line = text.line_of(int(np.argmax(outside)))
                raise InvalidData(
                    f"Line {number}{self.source.of} is {line} and does not fit its header: rows are counted "
                    f"to {rows} and columns to {columns}, correct it."
                )
            at, to = i.astype(np.int64) - 1, j.astype(np.int64) - 1
            values = table[:, 2] if table.shape[1] == 3 else np.ones(len(table))
            if self.is_symmetric:
                off, sign = at != to, 1.0 if self.symmetry == "symmetric" else -1.0
                at, to = np.concatenate((at, to[off])), np.concatenate((to, at[off]))
                values = np.concatenate((values, sign * values[off]))
            yield at, to, values

    def _tables(self, cells: int) -> Iterator[tuple[np.ndarray, EntryText]]:
        """Yield the numbers below the header, (lines, cells) at a time, each with the parser.

        The parser can name the line of an entry.
        """

        def refuse(number: int, line: str) -> InvalidData:
            return InvalidData(
                f"Every entry holds {cells} finite number{'s' * (cells > 1)}, but line {number}"
                f"{self.source.of} is {line} and does not fit its header: correct it."
            )

        text = EntryText(self.source, comment=b"%", missing=not self.on_disk)
        try:
            text.skip(self._header_bytes)
            held = 0
            for table in text.tables(cells, refuse):
                text.check_float64(table, f"the matrix{self.source.of}")
                held += len(table)
                self.report(Event("entries", held, self._held))
                yield table, text
            if held != self._held:
                raise InvalidData(
                    f"The header{self.source.of} promises {self._held} entries and the file holds {held}, "
                    f"the last on line {text.line}: the body does not fit its header, get it again or "
                    "correct the header."
                )
        finally:
            text.close()

    def _dense(self) -> np.ndarray:
        """Return the matrix of a file in array form.

        The file lists whole columns, for a symmetric matrix from the diagonal down, and for a skew-symmetric
        one from below the diagonal.
        """
        rows, columns = self._sizes[:2]
        parts = [table[:, 0] for table, _ in self._tables(1)]
        values = np.concatenate(parts) if parts else np.empty(0)
        if not self.is_symmetric:
            return np.ascontiguousarray(values.reshape(columns, rows).T)
        X = np.zeros((rows, rows))
        X.T[np.triu_indices(rows, k=int(self.symmetry != "symmetric"))] = values
        sign = 1.0 if self.symmetry == "symmetric" else -1.0
        X += sign * np.tril(X, -1).T
        return X


def read(source: Source, options: ReadOptions, report: Report) -> Dataset:
    """Return the matrix of a file in memory.

    A small sparse one that is symmetric is returned dense, since it may be a covariance.
    """

    reader = MatrixMarketReader(source, options, report=report)
    shape = reader.shape
    if reader.is_dense:
        limits.check_dense(shape.rows, shape.columns)
    else:
        limits.check_sparse(shape.rows, shape.columns, shape.entries)
    reader.probe()
    (block,) = reader.blocks()
    dense = shape.sparse and reader.is_symmetric and shape.rows <= DENSE
    return from_array(block.X.toarray() if dense else block.X, source.title, options)


FORMAT = Format(
    "a Matrix Market file",
    lambda source: MatrixMarketReader.matches(source.first()),
    read=read,
    reader=MatrixMarketReader,
)
