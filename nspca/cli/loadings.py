"""Read components of the user, as weights by the names of features, from CSV or JSON, for `certify`.

CSV is read in two ways. With columns ``feature`` and ``weight`` in the heading, each row is one weight, of
the component named by a column ``component``, ``part`` or ``topic`` if there is one. ``solve --csv`` and the
tables of the dashboard have this form. Otherwise the first column has the names, and every other column is a
component. Any separator and decimal sign of spreadsheets is accepted.
"""

import csv
import io
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from nspca.cli.arguments import meant
from nspca.errors import InvalidData

if TYPE_CHECKING:
    from nspca.covariance.linalg import Array

Weights: TypeAlias = dict[str, float]
COMPONENT = ("component", "part", "topic")
"""Names of the column that says which component a weight is of; tables of the dashboard have the last two."""
LARGEST_BYTES = 100_000_000
"""Maximum bytes of a file of weights: room for millions of weights."""


def read_loadings(path: str, names: Sequence[str]) -> "Array":
    """Return components of length 1 (n, r) over the features `names`, read from a file.

    Raises
    ------
    InvalidData
        For a file that is not weights, a name that is no feature, and a component without a weight.
    """
    import numpy as np

    if Path(path).stat().st_size > LARGEST_BYTES:
        raise InvalidData(f"weights by name in at most {LARGEST_BYTES // 10**6} MB are required, got {path}")
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidData(f"weights by name as UTF-8 text, CSV or JSON, are required, got {path}") from error
    place = {name: j for j, name in enumerate(names)}
    found = _of_json(text) if text.lstrip()[:1] in ("{", "[") else _of_csv(text, place)
    X = np.zeros((len(names), len(found)))
    for number, weights in enumerate(found):
        for name, weight in weights.items():
            X[_feature(name, place), number] = weight
    largest = np.abs(X).max(axis=0, initial=0.0)  # first, so that no square is too large or too small
    if not found or not largest.all():
        raise InvalidData(f"components with a weight that is not 0 are required, got one without in {path}")
    X /= largest
    return X / np.linalg.norm(X, axis=0)


def _feature(name: str, place: dict[str, int]) -> int:
    """Return the number of the feature with this name, with or without the guard of a spreadsheet.

    `place` has the numbers of all features by name.
    """
    for one in _spelt(name):
        if one in place:
            return place[one]
    raise InvalidData(f"weights are given by the names of features, got {name!r}{meant(name, place)}")


def _spelt(name: str) -> tuple[str, str]:
    """Return the name as given, and without a spreadsheet's guard (see `nspca.data.neutralise`)."""
    return name, name.removeprefix("'")


def _weight(name: str, given: Any, weights: Weights) -> None:
    """Add one checked weight to `weights`."""
    try:
        weight = math.nan if isinstance(given, bool) else float(given)
    except (TypeError, ValueError, OverflowError):
        weight = math.nan
    if not math.isfinite(weight):
        raise InvalidData(f"a weight must be a finite number, got {str(given)[:40]!r} for {name}")
    if name in weights:
        raise InvalidData(f"a feature has one weight in a component, got two for {name}: leave one out")
    weights[name] = weight


def _of_csv(text: str, place: dict[str, int]) -> list[Weights]:
    """Return the weights by name of each component in a CSV text."""
    rows = _table(text, place)
    if not rows or len(rows[0]) < 2:
        raise InvalidData("a column with the names of features and one with weights are required, got none")
    uneven = next((row for row in rows if len(row) != len(rows[0])), None)
    if uneven is not None:
        raise InvalidData(
            f"rows of {len(rows[0])} columns, as the first has, are required, got one of {len(uneven)}"
        )
    heading = [cell.strip().lower() for cell in rows[0]]
    if {"feature", "weight"} <= set(heading):
        return _long(rows[1:], heading)
    body = rows if _is_number(rows[0][1]) else rows[1:]
    found: list[Weights] = [{} for _ in rows[0][1:]]
    for name, *cells in body:
        for cell, weights in zip(cells, found, strict=True):
            _weight(name, cell.strip() or 0, weights)
    return found


def _table(text: str, place: dict[str, int]) -> list[list[str]]:
    """Return the rows by the separator that yields most names of features, with points as decimal signs."""
    from nspca.data.numerals import DECIMAL

    def known(rows: list[list[str]]) -> int:
        return sum(any(one in place for one in _spelt(cell)) for row in rows for cell in row)

    tables, wrong = [], None
    for delimiter in ",;\t":
        try:
            read = csv.reader(io.StringIO(text), strict=True, delimiter=delimiter)
            tables.append([row for row in read if any(cell.strip() for cell in row)])
        except csv.Error as error:
            wrong = wrong or error
    rows = max(tables, key=known, default=[])
    if wrong and not known(rows):
        raise InvalidData(f"weights by name as CSV or JSON are required, got {wrong}") from wrong
    return [
        [
            cell.replace(",", ".") if DECIMAL[","].fullmatch(cell) and cell not in place else cell
            for cell in row
        ]
        for row in rows
    ]


def _long(rows: list[list[str]], heading: list[str]) -> list[Weights]:
    """Return the components of a table with one weight per row."""
    feature, weight = heading.index("feature"), heading.index("weight")
    which = next((heading.index(name) for name in COMPONENT if name in heading), None)
    found: dict[str, Weights] = {}
    for row in rows:
        component = "" if which is None else row[which]
        _weight(row[feature], row[weight], found.setdefault(component, {}))
    return list(found.values())


def _of_json(text: str) -> list[Weights]:
    """Return the weights by name of each component in a JSON text.

    The text holds one component, a list of components, or what ``solve --json`` printed.
    """
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidData(f"weights by name as JSON are required, got {error}") from error
    if isinstance(given, dict) and isinstance(given.get("components", given.get("features")), list):
        given = given["components"] if "components" in given else [given["features"]]
    many = given if isinstance(given, list) else [given]
    if many and all(isinstance(one, dict) and {"name", "weight"} <= set(one) for one in many):
        many = [many]
    return [_component(one) for one in many]


def _component(one: Any) -> Weights:
    """Return the weights of ``{"name": weight, ...}``, or of a list of ``{"name": ..., "weight": ...}``."""
    pairs: list[tuple[Any, Any]]
    if isinstance(one, dict):
        pairs = list(one.items())
    elif isinstance(one, list) and all(
        isinstance(part, dict) and {"name", "weight"} <= set(part) for part in one
    ):
        pairs = [(part["name"], part["weight"]) for part in one]
    else:
        raise InvalidData(
            f"a component in JSON is weights by name, got {json.dumps(one)[:60]}: write "
            '{"name": weight, ...} or a list of those'
        )
    weights: Weights = {}
    for name, weight in pairs:
        _weight(str(name), weight, weights)
    return weights


def _is_number(text: str) -> bool:
    """Tell whether a text is a number, and so no heading."""
    try:
        float(text)
    except ValueError:
        return False
    return True
