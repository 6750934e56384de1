"""Whole numbers that are no floats: of times in nanoseconds rounding leaves nothing that varies."""

import re
from decimal import Decimal

import numpy as np

WHOLE = 2**53
"""Up to this size every whole number is a float."""
WRITTEN = re.compile(rb"(?<![\d.])-?\d{16,308}(?![\d.eE])")
"""Those beyond it in a text, and others as long; a float has no more digits."""


def is_rounded(whole: int) -> bool:
    """Whether float64 holds another number instead."""
    return int(float(whole)) != int(whole)


def is_lost(whole: int) -> bool:
    """The same of one written in decimal digits: those that a float is printed with are that float."""
    return is_rounded(whole) and Decimal(repr(float(whole))) != whole


def first_rounded(X: object) -> int | None:
    """Where the first such number is among the entries of an array, counted row by row; None where none is,
    or no array.
    """
    if not isinstance(X, np.ndarray) or X.dtype.kind not in "iu" or X.dtype.itemsize < 8 or not X.size:
        return None
    if X.max() <= WHOLE and X.min() >= -WHOLE:
        return None
    largest = np.nextafter(2.0**63 if X.dtype.kind == "i" else 2.0**64, 0.0)
    rounded = np.minimum(X.astype(np.float64), largest).astype(X.dtype) != X
    return int(np.argmax(rounded)) if rounded.any() else None


def got(whole: int) -> str:
    """What a sentence says of it."""
    return f"{whole}, which it rounds to {int(float(whole))}"
