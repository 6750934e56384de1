"""Accept a table only when its entries are real, complete, and held exactly by float64; hash its content.

Whole numbers beyond 2**53, decimals and long floats would lose digits, and with large offsets all their
variation. The checker implements this rule independently (`nspca.checker.numbers`). `inputs` passes every
table through `table` or `sparse_table`; other rooms check arrays of the user with `real_numbers`.
"""

import hashlib
from collections.abc import Iterable
from datetime import date, timedelta
from typing import Any

import numpy as np
import scipy.sparse as sp

from nspca.covariance.linalg import Array
from nspca.errors import InvalidProblem, shown
from nspca.validation.integers import describe_rounding, find_inexact, is_inexact

HASHED = 2**16
"""Number of entries of a table that are hashed at a time."""
CONVERT, FILL = "remove or convert those columns", "fill them or leave their rows out"
"""Advice in errors about columns that are no real numbers, and about masked entries."""
NO_NUMBERS = str | bytes | date | timedelta | np.datetime64 | np.timedelta64 | complex | np.complexfloating
"""Types that are not numbers although `float` converts them."""


def table(X: Any, what: str) -> Array:
    """Return X as a C-contiguous table (m, n) of finite `real_numbers`; errors call it `what`."""
    X = real_numbers(X, what)
    if X.ndim != 2 or 0 in X.shape:
        raise InvalidProblem(f"{what} must be a table with rows and columns, got shape {X.shape}")
    if not np.all(np.isfinite(X)):
        i, j = np.argwhere(~np.isfinite(X))[0]
        raise InvalidProblem(
            f"{what} must be finite numbers, got {X[i, j]} at row {i + 1}, column {j + 1}; remove or fill it"
        )
    return X


def sparse_table(X: Any, what: str) -> sp.csr_array:
    """Return sparse X (m, n) in canonical form, after checking that it is a table of finite real numbers."""
    if X.ndim != 2 or 0 in X.shape:
        raise InvalidProblem(f"{what} must be a table with rows and columns, got shape {X.shape}")
    refuse_kind(X.dtype, what)
    _refuse_masked(getattr(X, "data", None), what)
    try:
        X = sp.csr_array(X)
        X.check_format(full_check=True)
        X = summed(X)
    except (ValueError, IndexError) as error:
        raise InvalidProblem(
            f"{what} must be a sparse matrix in order, got one whose parts disagree ({error}); build it again"
        ) from None
    refuse_rounded(X.data, what)
    X = X.astype(np.float64)
    X.sort_indices()
    if not np.all(np.isfinite(X.data)):
        raise InvalidProblem(
            f"{what} must be finite numbers, got NaN or infinity; remove or fill those entries"
        )
    return X


def canonical(X: sp.spmatrix) -> sp.csr_array:
    """Return X as a `summed` float64 CSR copy with sorted indices: equal data have equal hashes."""
    X = summed(X).astype(np.float64)
    X.sort_indices()
    return X


def summed(X: sp.spmatrix) -> sp.csr_array:
    """Return X as a CSR copy with duplicates summed and zeros removed.

    Duplicates are summed in their own type, as `toarray` does. So the result is equal whether or not the
    caller has summed them.
    """
    X = sp.csr_array(X, copy=True)
    X.sum_duplicates()
    X.eliminate_zeros()
    return X


def dense_digest(X: Array) -> str:
    """Return the content hash of a dense array; certificates and specs name their data by it."""
    m, n = X.shape
    digest, rows = hashlib.sha256(f"dense {m} {n}".encode()), max(1, HASHED // max(n, 1))
    for start in range(0, m, rows):
        # Adding 0 leaves no negative zero.
        digest.update((np.ascontiguousarray(X[start : start + rows], dtype="<f8") + 0.0).data)
    return digest.hexdigest()


def sparse_digest(X: sp.csr_array) -> str:
    """Return the content hash of a canonical CSR array; certificates and specs name their data by it."""
    m, n = X.shape
    parts = (X.indptr.astype("<i8"), X.indices.astype("<i8"), X.data.astype("<f8"))
    return hashlib.sha256(f"sparse {m} {n}".encode() + b"".join(part.tobytes() for part in parts)).hexdigest()


def real_numbers(X: Any, what: str, convert: str = CONVERT, fill: str = FILL) -> Array:
    """Return X as C-contiguous float64 numbers; entries that are no numbers or would be rounded are refused.

    Parameters
    ----------
    X : array, data frame, list or number
    what : str
        What X is called in the error.
    convert, fill : str
        The way out for what is no real number, and for what is masked.

    Raises
    ------
    InvalidProblem
    """
    try:
        if isinstance(X, list | tuple):
            _refuse_rounded_in(X, what)
            X = _joined(X, what)
        _refuse_masked(X, what, fill)
        for name, column in _columns(X):  # while each column still has its own type
            column, where = np.asarray(column), f", in column {shown(name)}"
            if column.dtype.kind != "O":
                refuse_kind(column.dtype, what, convert, where)
            refuse_rounded(column, what, where)
        X = np.asarray(X)
        if X.dtype.kind == "O":
            X = np.array([_number(entry, what) for entry in X.ravel()], dtype=np.float64).reshape(X.shape)
        refuse_kind(X.dtype, what, convert)
        refuse_rounded(X, what)
        return np.asarray(X, dtype=np.float64, order="C")
    except (InvalidProblem, MemoryError):
        raise
    except OverflowError:
        raise InvalidProblem(
            f"{what} must be numbers that fit float64, got a number beyond 1.8e308; divide all by a constant"
        ) from None
    except Exception as error:  # conversion methods of the caller's classes may raise anything
        raise InvalidProblem(f"{what} must be numbers that fit float64, got {error}; {convert}") from None


def refuse_kind(dtype: np.dtype[Any], what: str, convert: str = CONVERT, where: str = "") -> None:
    """Refuse arrays of a type whose entries are no real numbers."""
    kinds = {"c": "complex numbers", "M": "dates", "m": "durations", "U": "text", "S": "bytes", "T": "text"}
    if dtype.kind not in "biuf":
        raise InvalidProblem(
            f"{what} must be real numbers, got {kinds.get(dtype.kind, dtype)}{where}; {convert}"
        )


def refuse_rounded(X: Any, what: str, where: str = "") -> None:
    """Refuse an array with numbers that float64 rounds: large whole ones, and long floats."""
    at = find_inexact(X)
    if at is not None:
        raise _rounding_error(describe_rounding(int(X.flat[at])), what, where)
    if isinstance(X, np.ndarray) and X.dtype.kind == "f" and X.dtype.itemsize > 8:
        with np.errstate(over="ignore"):  # overflow changes the number, so it is refused too
            wrong = np.flatnonzero((X.astype(np.float64) != X) & ~np.isnan(X))
        if wrong.size:
            raise _rounding_error(_describe_float_rounding(X.flat[wrong[0]]), what, where)


def _columns(X: Any) -> Iterable[tuple[Any, Any]]:
    """Return names and columns of a data frame whose columns have several types, or of an Arrow table."""
    if hasattr(X, "columns") and hasattr(X, "items"):
        return X.items() if len(set(X.dtypes)) > 1 else ()
    for names, columns in (("column_names", "itercolumns"), ("columns", "iter_columns")):  # Arrow, polars
        if hasattr(X, names) and hasattr(X, columns):
            return zip(getattr(X, names), getattr(X, columns)(), strict=True)
    return ()


def _refuse_rounded_in(entries: Any, what: str) -> None:
    """Refuse rounded numbers in nested lists, before NumPy converts them to a common type."""
    for entry in entries:
        if isinstance(entry, list | tuple):
            _refuse_rounded_in(entry, what)
        elif hasattr(entry, "__len__") and not isinstance(entry, str | bytes):
            refuse_rounded(np.asarray(entry), what)
        elif isinstance(entry, int | np.integer) and is_inexact(int(entry)):
            raise _rounding_error(describe_rounding(int(entry)), what)


def _joined(rows: Any, what: str) -> Any:
    """Return nested lists as one array that keeps masks; rows of different lengths are refused."""
    lengths = [len(row) if isinstance(row, list | tuple) or np.ndim(row) else 1 for row in rows]
    at = next((i for i, length in enumerate(lengths) if length != lengths[0]), None)
    if at is not None:
        raise InvalidProblem(
            f"{what} must have rows of one length, got {lengths[0]} and {lengths[at]} entries in rows 1 and "
            f"{at + 1}; fill or cut them"
        )
    try:
        return np.ma.asarray(rows)
    except ValueError:  # some entries are lists
        return np.array(rows, dtype=object)


def _refuse_masked(X: Any, what: str, fill: str = FILL) -> None:
    if np.ma.is_masked(X):
        raise InvalidProblem(f"{what} must be complete, got {np.ma.count_masked(X)} masked entries; {fill}")


def _rounding_error(found: str, what: str, where: str = "") -> InvalidProblem:
    return InvalidProblem(
        f"{what} must be numbers that fit float64, got {found}{where}; subtract what they have in common, "
        "or convert them to floats"
    )


def _describe_float_rounding(one: Any) -> str:
    return f"{one!s}, which it rounds to {float(one)!r}"  # an f-string without !s would round a long float


def _number(entry: Any, what: str) -> float:
    """Return an entry of a table of mixed types, such as a data frame, as a float; NaN for a missing one."""
    if isinstance(entry, NO_NUMBERS):
        raise TypeError(f"{shown(entry)}, which is {type(entry).__name__}")
    if isinstance(entry, int | np.integer) and is_inexact(int(entry)):
        raise _rounding_error(describe_rounding(int(entry)), what)
    if entry is None or type(entry).__name__ == "NAType":
        return float("nan")
    try:
        number = float(entry)
    except (TypeError, ValueError):
        raise TypeError(f"{shown(entry)}, which is {type(entry).__name__}") from None
    if number == number and not entry == number:
        raise _rounding_error(_describe_float_rounding(entry), what)
    return number
