"""Files for other programs: CSV in which no cell runs as a formula, and lists of features.

Enrichment tools read the lists: one name per line, sets of features (GMT), and ranked lists (RNK).
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from nspca.errors import InvalidData

# The ASCII signs that start a formula, their full-width forms (East Asian spreadsheets), tab and return
# (skipped before a formula).
_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
_SKIPPED = " \t\r\n"
BREAKS = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]+")
"""Characters that end a cell or a line of a tab-separated text, and other control characters."""


def neutralise(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula: ``= + - @`` get an apostrophe in front.

    Plain numbers written as text (``-5``, ``+1e3``) stay as they are.
    """
    if not text.lstrip(_SKIPPED).startswith(_FORMULA) and not text.startswith(("\t", "\r")):
        return text
    try:
        float(text)
    except ValueError:
        return "'" + text
    return text


def frame_to_csv(frame: pd.DataFrame) -> bytes:
    """Return a table as UTF-8 CSV in which texts and column names are neutralised.

    A byte order mark lets spreadsheets read signs such as "µ".
    """
    safe = frame.copy()
    for i, dtype in enumerate(frame.dtypes):
        if not pd.api.types.is_numeric_dtype(dtype):
            safe.isetitem(
                i,
                frame.iloc[:, i]
                .astype(object)
                .map(lambda cell: neutralise(cell) if isinstance(cell, str) else cell),
            )
    safe.columns = [neutralise(str(column)) for column in frame.columns]
    text: str = safe.to_csv(index=False)
    return text.encode("utf-8-sig")


def clean_name(name: object) -> str:
    """Return a name that fits one cell of a tab-separated text: tabs and line breaks become a blank."""
    return BREAKS.sub(" ", str(name)).strip()


def name_list(names: Iterable[object]) -> str:
    """Return a text with one name per line, in the given order, without repetitions."""
    return "".join(f"{name}\n" for name in _distinct(names))


def to_gmt(sets: Iterable[tuple[object, object, Iterable[object]]]) -> bytes:
    """Return sets of features as a GMT file: one line per set, with its name, a description and its features.

    A feature that is named twice in a set is written once. A set without features is left out, since a line
    needs one, and two sets of one name are refused.
    """
    lines, known = [], set()
    for name, description, features in sets:
        title, members = clean_name(name), _distinct(features)
        if title in known:
            raise InvalidData(f"sets of a GMT file need names of their own, got {title!r} twice; rename one")
        known.add(title)
        if members:
            lines.append("\t".join([title or "set", clean_name(description) or "na", *members]))
    return "".join(f"{line}\n" for line in lines).encode()


def to_rnk(names: Sequence[object], weights: Any) -> bytes:
    """Return the features with nonzero weight as a ranked list (RNK file), the largest weight first.

    Of several features with the same name only the first is written, since the tools refuse repeated names.
    """
    numbers = np.asarray(weights, dtype=float)
    rows: dict[str, float] = {}
    for j in np.flatnonzero(numbers):
        name = clean_name(names[int(j)])
        if name:
            rows.setdefault(name, float(numbers[j]))
    ordered = sorted(rows.items(), key=lambda row: -row[1])
    return "".join(f"{name}\t{weight!r}\n" for name, weight in ordered).encode()


def _distinct(names: Iterable[object]) -> list[str]:
    return list(dict.fromkeys(filter(None, map(clean_name, names))))
