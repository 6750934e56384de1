"""CSV and TSV: once their form is known the numbers are read in one pass by pandas.

When that pass refuses the body, a slow one walks it cell by cell to say where the trouble is.
"""

import io
from collections.abc import Sequence

import numpy as np
import pandas as pd

from nspca.data.dataset import Dataset, numbered, unique_names
from nspca.data.limits import check_dense
from nspca.data.look import MISSING, SPACES, Look, is_number, look, short, split, to_utf8
from nspca.errors import InvalidData


def read_table(
    raw: bytes,
    name: str,
    *,
    header: "str | bool" = "auto",
    delimiter: str | None = None,
    id_column: "str | int | None" = None,
    label_column: "str | int | None" = None,
    features_in_rows: bool = False,
) -> Dataset:
    """CSV or TSV bytes as a Dataset; see `nspca.data.read` for the parameters."""
    raw, notes = to_utf8(raw)
    found = look(raw, header=header, delimiter=delimiter)
    width = len(found.columns)
    check_dense(raw.count(b"\n") + 1, width)
    if width < 2:
        raise InvalidData("Only one column was found: at least two columns are needed, separated by comma, semicolon, tab, bar or blank.")
    named = _find_column(found, id_column, "id") if id_column is not None else None
    if features_in_rows:
        return _read_features_in_rows(raw, name, found, 0 if named is None else named, label_column, notes)
    ids = found.id_column if named is None else named
    labels = _find_column(found, label_column, "label") if label_column is not None else None
    keep_out, more = _columns_kept_out(found, ids, labels)
    values, texts = _read_body(raw, found, sorted({*keep_out, *(i for i in (ids, labels) if i is not None)}))
    sample_names, renamed = _sample_names(texts[ids] if ids is not None else None, len(values))
    columns = [column for i, column in enumerate(found.columns) if i not in texts]
    if ids is not None and id_column is None:
        more += (f"The first column{_quoted(found, ids)} holds distinct names and was taken as sample names.",)
    return Dataset(
        name=name,
        X=values,
        feature_names=tuple(columns),
        sample_names=sample_names,
        labels=to_labels(texts[labels]) if labels is not None else None,
        notes=(*notes, *found.notes, *more, *renamed),
    )


def _read_features_in_rows(raw: bytes, name: str, found: Look, ids: int, label_row: "str | int | None", notes: tuple[str, ...]) -> Dataset:
    body = found.rows[1:] if found.header else found.rows
    label = None if label_row is None else _find_row(body, ids, label_row)
    skipped = tuple(sorted({*found.label_rows, *(() if label is None else (label,))}))
    left_out = [i for i in (*found.text_columns, *found.empty_columns) if i != ids]
    values, texts = _read_body(raw, found, sorted({ids, *left_out}), skipped)
    feature_names, renamed = unique_names(texts[ids], "feature")
    samples = [i for i in range(len(found.columns)) if i not in texts]
    sample_names = tuple(found.columns[i] for i in samples) if found.header else numbered("sample", len(samples))
    notes = (*notes, *found.notes, "Features were in rows; the table was transposed.", *renamed)
    if left_out:
        notes += (f"{len(left_out)} column(s) without numbers were left out, the first is{_quoted(found, left_out[0])}.",)
    for r in skipped:
        if r != label:
            notes += (f'Row "{body[r][ids]}" holds texts and was left out; it can be named as the label row.',)
    labels = None if label is None else to_labels([body[label][i] for i in samples])
    return Dataset(
        name=name, X=np.ascontiguousarray(values.T), feature_names=feature_names, sample_names=sample_names, labels=labels, notes=notes
    )


def _find_column(found: Look, wanted: "str | int", role: str) -> int:
    if isinstance(wanted, str):
        if wanted in found.columns:
            return found.columns.index(wanted)
        raise InvalidData(f'There is no column "{wanted}" to take as the {role} column: the columns are {_some(found.columns)}.')
    if not 0 <= wanted < len(found.columns):
        raise InvalidData(f"The {role} column must be between 0 and {len(found.columns) - 1}, got {wanted}.")
    return int(wanted)


def _find_row(body: Sequence[Sequence[str]], ids: int, wanted: "str | int") -> int:
    names = [row[ids] if ids < len(row) else "" for row in body]
    if isinstance(wanted, str) and wanted in names:
        return names.index(wanted)
    if isinstance(wanted, int) and 0 <= wanted < len(names):
        return wanted
    raise InvalidData(
        f"There is no row {wanted!r} among the first {len(names)} to take as labels: put the label row directly below the header."
    )


def _columns_kept_out(found: Look, ids: int | None, labels: int | None) -> tuple[list[int], tuple[str, ...]]:
    """Text columns that are not features, or the sentence that asks what they are."""
    out: list[int] = []
    notes: tuple[str, ...] = ()
    for i in (*found.text_columns, *found.empty_columns):
        if i in (ids, labels):
            continue
        out.append(i)
        if i in found.empty_columns:
            notes += (f"Column{_quoted(found, i)} is empty and was left out.",)
        elif i in found.label_columns:
            values = {row[i] for row in found.rows[found.header :] if i < len(row)}
            notes += (
                f"Column{_quoted(found, i)} holds {len(values)} different texts and was left out; it can be named as the label column.",
            )
        else:
            row, cell = next((r, row[i]) for r, row in enumerate(found.rows[found.header :], 1) if i < len(row) and row[i].strip())
            raise InvalidData(
                f'Every column must hold numbers, but column{_quoted(found, i)} holds text ("{short(cell)}" in row {row}): '
                "name it as the id or label column, or remove it."
            )
    return out, notes


def _read_body(raw: bytes, found: Look, text: Sequence[int], skipped: Sequence[int] = ()) -> tuple[np.ndarray, dict[int, list[str]]]:
    """The numbers (rows, columns without `text`) and the texts of the columns in `text`."""
    width = len(found.columns)
    types = {i: (str if i in set(text) else np.float64) for i in range(width)}
    separator = r"\s+" if found.delimiter == SPACES else found.delimiter
    # The C parser would open files named in a buffer; it gets the bytes alone.
    options = {
        "header": None,
        "dtype": types,
        "sep": separator,
        "decimal": found.decimal,
        "na_filter": False,
        "engine": "c",
        "encoding": "utf-8",
    }
    lines = [r + found.header for r in skipped]
    try:
        frame = pd.read_csv(io.BytesIO(raw), skiprows=[*([0] if found.header else []), *lines], **options)
        if frame.shape[1] != width:
            raise ValueError("width")
        values = np.ascontiguousarray(
            frame[[i for i in range(width) if i not in types or types[i] is np.float64]].to_numpy(dtype=np.float64)
        )
        fine = bool(np.isfinite(values).all())
    except (ValueError, pd.errors.EmptyDataError, pd.errors.ParserError, MemoryError, OverflowError) as error:
        fine, reason = False, str(error)
    else:
        reason = "a value is not finite"
    if not fine:
        explain(raw, found, text, skipped)
        way_out = (
            "close the quotation mark that is left open" if "inside string" in reason else "save it again as plain comma-separated text"
        )
        raise InvalidData(f"The table cannot be split into rows and numbers: {way_out}.")
    if values.shape[1] == 0:
        raise InvalidData("The table has no column of numbers: at least two are needed.")
    return values, {i: frame[i].astype(str).tolist() for i in text}


def explain(raw: bytes, found: Look, text: Sequence[int], skipped: Sequence[int] = ()) -> None:
    """Walk the table cell by cell and raise the sentence about the first cell or row that is wrong."""
    width, drop, skip = len(found.columns), set(text), set(skipped)
    stream = io.TextIOWrapper(io.BytesIO(raw), encoding="utf-8", newline="")
    rows = (row for row in split(stream, found.delimiter) if row)
    if found.header:
        next(rows)
    for r, row in enumerate(rows):
        if r in skip:
            continue
        if len(row) != width:
            raise InvalidData(
                f"Every row must have {width} cells like the first ones, but row {r + 1} has {len(row)}: add or remove cells there."
            )
        for i, cell in enumerate(row):
            if i not in drop and not (is_number(cell, found.decimal) and np.isfinite(float(cell.replace(",", ".")))):
                raise InvalidData(_cell_sentence(found, r + 1, i, cell))


def _cell_sentence(found: Look, row: int, column: int, cell: str) -> str:
    where = f"row {row}, column{_quoted(found, column)}"
    if not cell.strip():
        return f"Every cell must hold a number, but {where} is empty: fill it in, or remove the row or the column."
    if cell.strip().lower() in MISSING or is_number(cell, found.decimal):
        return f'Every cell must hold a finite number, but {where} holds "{short(cell)}": fill it in, or remove the row or the column.'
    return (
        f'Every cell must hold a number, but {where} holds the text "{short(cell)}": correct it, or name the column as id or label column.'
    )


def _sample_names(ids: Sequence[str] | None, count: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return (numbered("sample", count), ()) if ids is None else unique_names(ids, "sample")


def to_labels(texts: Sequence[str]) -> np.ndarray:
    """Labels as integers where all of them are, otherwise as text."""
    try:
        return np.array([int(text) for text in texts], dtype=np.int64)
    except (ValueError, OverflowError):
        return np.array([text.strip() for text in texts], dtype=np.str_)


def _quoted(found: Look, column: int) -> str:
    return f' "{short(found.columns[column])}"' if found.header else f" {column + 1}"


def _some(names: Sequence[str]) -> str:
    return ", ".join(f'"{short(name)}"' for name in names[:8]) + (", ..." if len(names) > 8 else "")
