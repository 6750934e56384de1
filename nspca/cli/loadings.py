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

Weights: TypeAlias = list[tuple[str, Any]]
"""Names of features and weights of one component, as a file has them."""
LARGEST_BYTES = 100_000_000
"""Maximum bytes of a file of weights: room for millions of weights."""


def read_loadings(path: str, names: Sequence[str]) -> "Array":
    """Return components of length 1 (n, r) over the features `names`, read from a file."""
    import numpy as np

    if Path(path).stat().st_size > LARGEST_BYTES:
        raise InvalidData(f"weights by name in at most {LARGEST_BYTES // 10**6} MB are required, got {path}")
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidData(f"weights by name as UTF-8 text, CSV or JSON, are required, got {path}") from error
    place = {name: j for j, name in enumerate(names)}
    found = _read_json(text) if text.lstrip()[:1] in ("{", "[") else _read_csv(text, place)
    X = np.full((len(names), len(found)), np.nan)
    for number, weights in enumerate(found):
        for name, given in weights:
            known = next((one for one in _spelt(name) if one in place), None)
            if known is None:
                raise InvalidData(
                    f"weights are given by the names of features, got {name!r}{meant(name, place)}"
                )
            if not math.isfinite(weight := _number(given)):
                raise InvalidData(f"a weight must be a finite number, got {str(given)[:40]!r} for {name}")
            if not math.isnan(X[place[known], number]):
                raise InvalidData(
                    f"a feature has one weight in a component, got two for {name}: leave one out"
                )
            X[place[known], number] = weight
    X = np.nan_to_num(X)
    largest = np.abs(X).max(axis=0, initial=0.0)  # first, so that no square is too large or too small
    if not found or not largest.all():
        raise InvalidData(f"components with a weight that is not 0 are required, got one without in {path}")
    X /= largest
    return X / np.linalg.norm(X, axis=0)


def _spelt(name: str) -> tuple[str, str]:
    """Return the name as given, and without a spreadsheet's guard (see `nspca.data.neutralise`)."""
    return name, name.removeprefix("'")


def _number(given: Any) -> float:
    try:
        plain = given.replace(",", ".") if isinstance(given, str) else given
        return math.nan if isinstance(given, bool) else float(plain)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _read_csv(text: str, place: dict[str, int]) -> list[Weights]:
    """Return the components in a CSV text, by the separator that yields most names of features."""

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
    if not rows or len(rows[0]) < 2:
        raise InvalidData("a column with the names of features and one with weights are required, got none")
    if uneven := next((row for row in rows if len(row) != len(rows[0])), None):
        raise InvalidData(
            f"rows of {len(rows[0])} columns, as the first has, are required, got one of {len(uneven)}"
        )
    heading = [cell.strip().lower() for cell in rows[0]]
    if not {"feature", "weight"} <= set(heading):
        body = rows[math.isnan(_number(rows[0][1])) :]
        return [[(row[0], row[j].strip() or 0) for row in body] for j in range(1, len(rows[0]))]
    found: dict[str, Weights] = {}
    for row in rows[1:]:
        one = dict(zip(heading, row, strict=True))
        component = next((one[name] for name in ("component", "part", "topic") if name in one), "")
        found.setdefault(component, []).append((one["feature"], one["weight"]))
    return list(found.values())


def _read_json(text: str) -> list[Weights]:
    """Return the components in JSON: objects or rows of weights, or what ``solve --json`` printed."""
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidData(f"weights by name as JSON are required, got {error}") from error
    if isinstance(given, dict) and isinstance(given.get("components", given.get("features")), list):
        given = given["components"] if "components" in given else [given["features"]]
    many = given if isinstance(given, list) else [given]
    if many and _is_rows(many):
        many = [many]
    found: list[Weights] = []
    for one in many:
        if not isinstance(one, dict) and not _is_rows(one):
            raise InvalidData(
                f"a component in JSON is weights by name, got {json.dumps(one)[:60]}: write "
                '{"name": weight, ...} or a list of those'
            )
        pairs = one.items() if isinstance(one, dict) else [(row["name"], row["weight"]) for row in one]
        found.append([(str(name), weight) for name, weight in pairs])
    return found


def _is_rows(one: Any) -> bool:
    return isinstance(one, list) and all(
        isinstance(row, dict) and {"name", "weight"} <= row.keys() for row in one
    )
