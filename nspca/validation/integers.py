"""Detect integers that float64 cannot represent, such as nanosecond timestamps, which would lose digits."""

import re
from decimal import Decimal

import numpy as np

LARGEST_EXACT = 2**53
"""Largest integer up to which float64 represents every integer."""
LONG_INTEGER = re.compile(rb"(?<![\d.])-?\d{16,308}(?![\d.eE])")
"""Integers in a text that are long enough to exceed `LARGEST_EXACT`; a float has at most 308 digits."""


def is_inexact(whole: int) -> bool:
    """Tell whether float64 changes a whole number."""
    return int(float(whole)) != int(whole)


def loses_digits(whole: int) -> bool:
    """Tell whether float64 changes a whole number that is written in decimal digits.

    The digits with which Python prints a float lose nothing, even where the exact float has others.
    """
    return is_inexact(whole) and Decimal(repr(float(whole))) != whole


def find_inexact(X: object) -> int | None:
    """Return the index, row by row, of the first integer of an array that float64 changes, or None."""
    if not isinstance(X, np.ndarray) or X.dtype.kind not in "iu" or X.dtype.itemsize < 8 or not X.size:
        return None
    if X.max() <= LARGEST_EXACT and X.min() >= -LARGEST_EXACT:
        return None
    largest = np.nextafter(2.0**63 if X.dtype.kind == "i" else 2.0**64, 0.0)
    rounded = np.minimum(X.astype(np.float64), largest).astype(X.dtype) != X
    return int(np.argmax(rounded)) if rounded.any() else None


def describe_rounding(whole: int) -> str:
    """Return a whole number and the float it becomes, as a phrase for an error."""
    return f"{whole}, which it rounds to {int(float(whole))}"
