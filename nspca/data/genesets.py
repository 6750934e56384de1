"""Lists of features as text files that enrichment tools read: one name a line, GMT, and ranked lists."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from nspca.errors import InvalidData

BREAKS = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]+")
"""Characters that end a cell or a line of a tab-separated text, and other control characters."""


def clean_name(name: object) -> str:
    """Return a name as one cell of a tab-separated text: tabs and line breaks become a blank.

    Everything else stays, so that the names are those of the data.
    """
    return BREAKS.sub(" ", str(name)).strip()


def name_list(names: Iterable[object]) -> str:
    """Return names as a text with one of them on each line, in their order, each once."""
    return "".join(f"{name}\n" for name in _distinct(names))


def to_gmt(sets: Iterable[tuple[object, object, Iterable[object]]]) -> bytes:
    """Return sets of features as a GMT file: a line for each set, with its name, a description, and names.

    Parameters
    ----------
    sets : iterable of (name, description, features)
        A feature that is named twice in a set is written once. A set without features is left out, since a
        GMT line needs one.

    Raises
    ------
    InvalidData
        When two sets have one name.
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
    """Return features in use as a ranked list: name and weight on each line, the largest weight first.

    Parameters
    ----------
    names, weights : (n,)
        Features whose weight is zero are left out. Of features with one name the first in the data stays,
        since the tools refuse a name that stands twice.
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
    """Return cleaned names in their order, each once, without empty ones."""
    return list(dict.fromkeys(filter(None, map(clean_name, names))))
