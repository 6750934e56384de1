"""Accept only numbers that are real, complete, and held exactly by float64.

Whole numbers beyond 2^53, decimals and long floats that would be rounded are refused. So proofs are about the
numbers that were given. The code that makes certificates implements this rule independently. `matrix` and
`blocks` pass all data through here.
"""

import sys
from typing import Any

import numpy as np
from numpy import ndarray as Array

from nspca.checker.refusal import require

ROUNDED = "the data must be numbers that float64 holds exactly, got some that it rounds"
"""Sentence of the refusal of numbers that would be rounded."""


def numbers_of(data: Any) -> Array:
    """Return a dense table as an array; masked entries, and mixed types whose conversion would round, are
    refused.
    """
    try:
        held = np.ma.asarray(data) if isinstance(data, list | tuple) else data  # keeps the masks of rows
    except ValueError:
        require(False, "the data must be a table of numbers, got lists of different lengths")
    not_masked(held)
    if isinstance(data, list | tuple):
        require(all(is_exact(entry) for entry in data), ROUNDED)
    elif hasattr(type(data), "items") and hasattr(data, "columns"):  # a data frame
        require(all(is_exact(np.asarray(column)) for _, column in data.items()), ROUNDED)
    for columns in ("itercolumns", "iter_columns"):  # of Arrow, and of polars
        if hasattr(type(data), columns):
            require(all(is_exact(np.asarray(column)) for column in getattr(data, columns)()), ROUNDED)
    return np.asarray(data)


def not_masked(held: Any) -> None:
    """Refuse masked entries."""
    require(not np.ma.is_masked(held), "the data must be real numbers, none masked, got masked ones")


def floats(X: Array) -> Array:
    """Return the numbers of an array X as float64, in their places.

    In an array of objects every entry is checked, because float64 would read texts and durations as numbers
    and drop imaginary parts.
    """
    if X.dtype.kind == "O":
        return np.array([number(entry) for entry in X.ravel()], "<f8").reshape(X.shape)
    require(X.dtype.kind in "biuf", f"the data must be real numbers, none masked, got {X.dtype}")
    require(is_exact(X), ROUNDED)
    return np.array(X, "<f8", order="C")


def number(entry: Any) -> float:
    """Return an entry of an array of objects as float64; missing entries are NaN."""
    alone = np.asarray(entry)
    right = alone.dtype.kind in "biufO"
    require(right, f"the data must be real numbers, none masked, got {type(entry).__name__}")
    if entry is None or type(entry).__name__ == "NAType":
        return np.nan
    value = float(entry)
    require(is_exact(alone) and (value != value or value == entry), ROUNDED)
    return value


def is_exact(entries: Any) -> bool:
    """Tell whether float64 holds every whole number and long float among `entries`, nested lists
    or arrays.
    """
    if isinstance(entries, list | tuple):
        return all(is_exact(entry) for entry in entries)
    if isinstance(entries, int):
        return abs(entries) <= sys.float_info.max and entries == float(entries)
    X = np.asarray(entries)
    if X.dtype.kind in "iu" and X.dtype.itemsize == 8:
        upper = (X >> 32).astype(float) * 2.0**32  # exact, as are the low half and the difference below
        return bool((X.astype(float) - upper == (X & 0xFFFFFFFF).astype(float)).all())
    if X.dtype.kind == "f" and X.dtype.itemsize > 8:
        return bool(((X.astype(float) == X) | np.isnan(X)).all())
    return True
