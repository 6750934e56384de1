"""Read tables in JSON: lines of objects, and the forms in which pandas and others write a table."""

import csv
import io
import json
import re
from collections.abc import Iterable
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from nspca.data.findings import Finding
from nspca.data.formats.base import Converted, Format, Source
from nspca.data.limits import check_dense
from nspca.data.names import numbered, printable, quote_names
from nspca.data.options import ReadOptions
from nspca.errors import InvalidData, Way
from nspca.validation.archive import mib

_MOST = 64 * 2**20
"""Maximum bytes of JSON, which takes some ten times as much memory."""

_BIOM = (
    "A BIOM table: its rows are the features, its columns the samples; what it says of them was set aside."
)


def is_json(first: bytes) -> bool:
    """Tell whether a text begins like JSON: an object, or a list of objects, lists of values, or texts."""
    return bool(re.match(rb'\s*(\{\s*"|\[\s*\{|\[\s*"|\[\s*\[\s*["\d\-ntf])', first))


def convert_json(raw: bytes) -> Converted:
    """Return a table in JSON as CSV: a line or an object is a row, a key a column."""
    if len(raw) > _MOST:
        raise InvalidData(f"A JSON file may have at most {mib(_MOST)}: save the table as CSV.")
    try:
        text = raw.decode("utf-8-sig")
        try:
            found = json.loads(text)
        except ValueError:
            found = [*map(json.loads, filter(str.strip, text.split("\n")))]
    except (ValueError, RecursionError):
        raise InvalidData(
            "A JSON file is read when each line is one object, or when it is one list of objects; this is "
            "other JSON: save the table as CSV."
        ) from None
    try:
        frame, note = _find_table(found)
    except InvalidData:
        raise
    except (ValueError, TypeError, AttributeError, LookupError, RecursionError):
        raise InvalidData("The rows of the JSON file do not fit its columns: save it as CSV.") from None
    check_dense(*frame.shape)
    notes: tuple[Finding | str, ...] = (note,)
    nested = frame.map(lambda one: isinstance(one, dict | list)).any()
    if nested.any():
        left = quote_names(map(str, frame.columns[nested]))
        notes += (f"Keys with lists or objects were left out: {left}.",)
        frame = frame.loc[:, ~nested]
    if not frame.shape[1]:
        raise InvalidData("The JSON file has no columns of numbers or texts: save the table as CSV.")
    frame = frame.map(lambda one: int(one) if isinstance(one, bool) else one)
    # Texts in a column of their own are told from the lines of a text by their quotation marks.
    quoting = csv.QUOTE_ALL if frame.shape[1] == 1 else csv.QUOTE_MINIMAL
    has_names = [*frame.index] != [*range(len(frame))]
    text = frame.to_csv(index=has_names, lineterminator="\n", quoting=quoting)
    turned = {"features_in_rows": True, "id_column": 0} if note == _BIOM else {}
    return Converted(text.encode(), options={"header": True, **turned}, findings=notes)


def _find_table(found: Any) -> tuple[pd.DataFrame, Finding | str]:
    """Return the table in a JSON value, and a note about the form in which it is written."""
    note = "Each object of the JSON file is a row, its keys are the columns."
    if isinstance(found, dict):
        if {"matrix_type", "rows", "columns", "data"} <= found.keys():
            things, samples = ([str(one["id"]) for one in found[key]] for key in ("rows", "columns"))
            check_dense(len(things), len(samples))
            X = np.array(found["data"], dtype=np.float64)
            if found["matrix_type"] != "dense":
                entries, X = X.reshape(-1, 3), np.zeros((len(things), len(samples)))
                X[*entries[:, :2].astype(np.intp).T] = entries[:, 2]
            return pd.DataFrame(X, things, samples).rename_axis("id"), _BIOM
        if isinstance(found.get("columns"), list) and isinstance(found.get("data"), list):
            frame = pd.DataFrame(found["data"], found.get("index"), found["columns"], dtype=object)
            return frame, "A JSON file of columns, data and perhaps an index, as pandas writes it."
        if len(found) > 1 and all(isinstance(one, dict) for one in found.values()):
            frame = pd.DataFrame(found, dtype=object)
            if _are_numbers(frame.columns) and not _are_numbers(frame.index):
                return frame.T.reset_index(drop=True), note
            if all(_is_mixed(one) for one in found.values()):
                return frame.T, note
            frame = frame.reset_index(drop=True) if _are_numbers(frame.index) else frame
            turn = Way("features_in_rows", True, "Each object is a row")
            return frame, Finding(
                "Each object of the JSON file is a column, its keys are the rows", ways=(turn,)
            )
        lists = {key: value for key, value in found.items() if isinstance(value, list)}
        if len(lists) == len(found) > 1:
            return pd.DataFrame(found, dtype=object), "Each list of the JSON file is a column."
        if len(lists) == 1:
            ((key, found),) = lists.items()
            note = f'Read is the list "{printable(str(key))[:40]}" of the JSON file. {note}'
        else:
            found = [found]
    if found and isinstance(found, list) and all(isinstance(one, str) for one in found):
        return pd.DataFrame({"text": found}), "Each text of the JSON file is a row."
    if len(found) > 1 and all(isinstance(row, list) for row in found):
        names = found[0] if all(isinstance(name, str) for name in found[0]) else None
        first = "The first list of the JSON file holds the names of the columns."
        rows = found if names is None else found[1:]
        columns = names or numbered("feature", len(found[0]))
        return pd.DataFrame(rows, columns=columns, dtype=object), first if names else "Each list is a row."
    objects = [one if isinstance(one, dict) else {} for one in found]
    rows = [_flat(one) for one in objects]
    inner = sorted({*chain(*rows)} - {*chain(*objects)})
    more = f" Objects inside others became columns: {quote_names(inner)}." if inner else ""
    return pd.DataFrame(rows, dtype=object), note + more


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """Return an object with the keys of objects inside it as "outer.inner"."""
    found: dict[str, Any] = {}
    for key, value in row.items():
        own = {key: value}
        if isinstance(value, dict):
            own = {f"{key}.{inner}": one for inner, one in _flat(value).items()}
        if twice := found.keys() & own.keys():
            raise InvalidData(f"Two values of a JSON object are called {quote_names(twice)}: rename one.")
        found |= own
    return found


def _is_mixed(row: dict[str, Any]) -> bool:
    """Tell whether an object holds texts beside numbers, as a row does and a column does not."""
    return len({isinstance(value, str) for value in row.values() if value is not None}) > 1


def _are_numbers(names: Iterable[Any]) -> bool:
    return all(str(name).isdigit() for name in names)


def _convert(source: Source, options: ReadOptions) -> Converted:
    """Return a JSON file with two keys at least as CSV; one of texts alone is for `nspca.read_text`."""
    converted = convert_json(source.raw)
    if len(next(csv.reader(io.StringIO(converted.text.decode())), [])) < 2:
        raise InvalidData(
            "One key of this JSON file holds numbers or texts, and lists are no columns: a table needs two "
            "at least, and texts are counted by nspca.read_text."
        )
    return converted


FORMAT = Format("a JSON file", lambda source: is_json(source.first()), convert=_convert)
