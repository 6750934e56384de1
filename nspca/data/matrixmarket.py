"""Matrix Market, dense and sparse: the size line is believed only as far as the file is long."""

import io
import re

import numpy as np
import pandas as pd
import scipy.sparse as sp

from nspca.data.limits import check_dense, check_sparse, check_text_float64
from nspca.errors import InvalidData

MAGIC = b"%%MatrixMarket"
# A symmetric matrix up to this side is a table of numbers rather than a graph: 32 MiB.
_DENSE = 2000
# Of comments and empty lines before the numbers, and of a line of them.
_COMMENTS, _LONGEST = 2**20, 1000
FIELDS = ("real", "double", "integer", "unsigned-integer", "pattern")
SYMMETRIES = ("general", "symmetric", "skew-symmetric")
_WAY_OUT = "save it again, for example with scipy.io.mmwrite"
_MISFIT = f"The body of the Matrix Market file does not fit its header: {_WAY_OUT}."


def is_matrix_market(raw: bytes) -> bool:
    return raw[: len(MAGIC)].lower() == MAGIC.lower()


def read_matrix_market(raw: bytes) -> np.ndarray | sp.csr_array:
    """The matrix; missing values are NaN.

    Raises
    ------
    InvalidData
        For complex numbers, sizes beyond `nspca.data.limits` or beyond the file, and damaged bodies.
    """
    layout, field, symmetry = _banner(raw)
    sizes, body = _sizes(raw, 3 if layout == "coordinate" else 2)
    rows, columns = sizes[:2]
    whole = symmetry == "general"
    if not whole and rows != columns:
        raise InvalidData(
            f"A {symmetry} matrix has as many rows as columns, this one says {rows} and {columns}: "
            f"{_WAY_OUT}."
        )
    if layout == "coordinate":
        check_sparse(rows, columns, sizes[2] * (1 if whole else 2))
        held, least = sizes[2], 4 if field == "pattern" else 6  # "1 1\n", "1 1 1\n"
    else:
        check_dense(rows, columns)
        half = rows * (rows - 1 if symmetry == "skew-symmetric" else rows + 1) // 2
        held, least = rows * columns if whole else half, 2
    if len(raw) - body + 1 < held * least:
        raise InvalidData(
            f"The matrix says it has {held} entries and the file is too short for them: it is cut short, "
            f"{_WAY_OUT}."
        )
    cells = 2 + (field != "pattern") if layout == "coordinate" else 1
    numbers = _numbers(raw[body:], held, cells)
    if layout == "array":
        return _dense(numbers[:, 0], rows, columns, symmetry)
    X = _sparse(numbers, rows, columns, symmetry)
    return X.toarray() if not whole and rows <= _DENSE else X


def _numbers(body: bytes, lines: int, cells: int) -> np.ndarray:
    """The body, (lines, cells). SciPy has a reader of its own, which some damaged files crash."""
    if not lines and not body.strip():
        return np.empty((0, cells))
    if not _fits(body, cells):
        raise InvalidData(_MISFIT)
    try:
        options = {
            "na_values": ["nan", "NaN", "NAN"],
            "keep_default_na": False,
            "comment": "%",
            "engine": "c",
        }
        table = pd.read_csv(io.BytesIO(body), sep=r"\s+", header=None, dtype=np.float64, **options).to_numpy()
    except (ValueError, OverflowError, pd.errors.ParserError, MemoryError):
        raise InvalidData(_MISFIT) from None
    if table.shape != (lines, cells):
        raise InvalidData(_MISFIT)
    check_text_float64(table, body, "the matrix")
    return table


def _fits(body: bytes, cells: int) -> bool:
    """Whether the first line of numbers has as many as it should: pandas would make a column of each."""
    lines = io.BytesIO(body[:_COMMENTS])
    while line := lines.readline(_LONGEST):
        if numbers := line.split(b"%")[0].split():
            return len(numbers) == cells and len(line) < _LONGEST
    return False


def _dense(values: np.ndarray, rows: int, columns: int, symmetry: str) -> np.ndarray:
    """Column after column; of a symmetric one what is on and below the diagonal, of a skew one what is
    below.
    """
    if symmetry == "general":
        return np.ascontiguousarray(values.reshape(columns, rows).T)
    X = np.zeros((rows, rows))
    X.T[np.triu_indices(rows, k=int(symmetry != "symmetric"))] = values
    sign = 1.0 if symmetry == "symmetric" else -1.0
    return X + sign * np.tril(X, -1).T


def _sparse(entries: np.ndarray, rows: int, columns: int, symmetry: str) -> sp.csr_array:
    i, j = entries[:, 0], entries[:, 1]
    inside = (i >= 1) & (i <= rows) & (j >= 1) & (j <= columns) & (i == np.floor(i)) & (j == np.floor(j))
    if not inside.all():
        raise InvalidData(_MISFIT)
    at, to = i.astype(np.int64) - 1, j.astype(np.int64) - 1
    values = entries[:, 2] if entries.shape[1] == 3 else np.ones(len(entries))
    X = sp.csr_array((values, (at, to)), shape=(rows, columns))
    if symmetry != "general":
        off = at != to
        mirrored = sp.csr_array((values[off], (to[off], at[off])), shape=(rows, columns))
        X = sp.csr_array(X + mirrored if symmetry == "symmetric" else X - mirrored)
    X.sum_duplicates()
    return X


def _banner(raw: bytes) -> tuple[str, str, str]:
    form = "a matrix in coordinate or array form"
    words = raw[:200].split(b"\n", 1)[0].decode("ascii", errors="replace").lower().split()
    if len(words) != 5 or words[1] != "matrix" or words[2] not in ("coordinate", "array"):
        raise InvalidData(
            f"The first line of a Matrix Market file names {form}, this one does not: {_WAY_OUT}."
        )
    if words[3] not in FIELDS or words[4] not in SYMMETRIES:
        raise InvalidData(
            f'A matrix of real numbers is needed, this one is "{words[3]} {words[4]}": convert it before '
            "saving."
        )
    return words[2], words[3], words[4]


def _sizes(raw: bytes, count: int) -> tuple[list[int], int]:
    """The numbers of the size line, and where the body begins."""
    for line in re.finditer(rb"[^\n]*\n?", raw[:_COMMENTS]):
        text = line.group().strip()
        if text.startswith(b"%") or (not text and line.group()):
            continue
        parts = text.split()
        if len(text) > 100 or len(parts) != count or not all(part.isdigit() for part in parts):
            break
        return [int(part) for part in parts], line.end()
    raise InvalidData(
        f"The size line of the Matrix Market file does not hold {count} whole numbers: {_WAY_OUT}."
    )
