"""A table of named columns as a Dataset: which column holds names, which labels, which is left out, and which
way round it is.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from nspca.data.cells import Cells
from nspca.data.columns import columns, different, find_column, left_out, taken_as_names
from nspca.data.dataset import (
    Candidate,
    Dataset,
    Names,
    check_enough,
    frozen,
    is_whole,
    numbered,
    unique_names,
)
from nspca.data.how import How
from nspca.data.limits import check_dense, check_growth, check_room
from nspca.data.look import MISSING, Look, are_labels, is_number, look, quoted, short, to_utf8
from nspca.data.missing import Settled, settle
from nspca.data.thousands import check_written
from nspca.errors import InvalidData, shown

# A column of whole numbers is a measurement unless its name says that it is a class.
_LABEL_WORDS = r"class(es)?|labels?|target|groups?|diagnosis|type|y|species|category|cluster"
# Bytes that a cell and a column of text cost while they are parsed. Measured: 60 million cells in 300 columns
# took 24 bytes each, and 200 000 columns took another 3000 bytes each.
_CELL, _COLUMN = 24, 3000
LONGEST_LABEL = 80
"""Characters of a label; all labels of a data set take the room of the longest."""
NO_LABEL = "(none)"
"""The group of the samples whose label is empty."""
Body = Callable[[Sequence[int], Sequence[int]], tuple[np.ndarray, dict[int, list[str]]]]


@dataclass(frozen=True)
class Table:
    """A table whose form is known and whose body is read when it is known which columns are texts.

    Parameters
    ----------
    name : str
    found : Look
    body : callable
        ``body(text columns, skipped rows)`` gives the numbers of the other columns, and the texts.
    notes : tuple of str
    """

    name: str
    found: Look
    body: Body
    notes: tuple[str, ...] = ()


def read_text_table(
    raw: bytes, name: str, how: How, notes: tuple[str, ...] = (), packed: int | None = None
) -> Dataset:
    """Read CSV or TSV bytes as a Dataset; `packed` counts those of the file that they came in."""
    raw, more = to_utf8(raw)
    found = look(raw, header=how.header, delimiter=how.delimiter, decimal=how.decimal)
    check_written(found, how)
    rows, columns = raw.count(b"\n") + 1, len(found.columns)
    check_dense(rows, columns)
    check_growth(8 * rows * columns, packed or len(raw), "packed")
    check_room(_CELL * rows * columns + _COLUMN * columns)
    if columns < 2:
        raise InvalidData(
            "Only one column was found: at least two columns are needed, separated by comma, semicolon, "
            "tab, bar or blank."
        )
    return read_table(
        Table(name, found, Cells(raw, found, how.missing != "refuse").read, (*notes, *more, *found.notes)),
        how,
    )


def read_table(table: Table, how: How) -> Dataset:
    """The table as a Dataset; see `nspca.data.read` for the choices."""
    found = table.found
    if how.features_in_rows:
        named = None if how.id_column is None else find_column(found, how.id_column, "id")
        return _features_in_rows(table, how, named if named is not None else found.id_column or 0)
    chosen = columns(found, how)
    features, ids, labels = chosen.features, chosen.ids, chosen.labels
    values, texts = table.body(chosen.aside, ())
    if (again := _not_empty(found, texts)) != found:
        return read_table(replace(table, found=again), how)
    if values.shape[1] == 0:
        aside = chosen.set_aside(found)
        raise InvalidData(f"The table has no column of numbers{aside}: at least two are needed.")
    settled = settle(values, how.missing, called=[quoted(found, i) for i in features])
    others, candidates = _others(found, texts, settled, chosen.others)
    check_enough(settled.rows.size, settled.columns.size, chosen.set_aside(found))
    candidates += _numbered_classes(found, settled, features)
    sample_names, renamed = _sample_names(texts[ids] if ids is not None else None, len(values))
    return Dataset(
        name=table.name,
        X=settled.X,
        feature_names=tuple(settled.of_columns([found.columns[i] for i in features])),
        sample_names=frozen(settled.of_rows(sample_names)),
        labels=to_labels(settled.of_rows(texts[labels])) if labels is not None else None,
        notes=(
            *table.notes,
            *others,
            *taken_as_names(found, chosen, how),
            *renamed,
            *settled.notes,
        ),
        label_candidates=candidates,
    )


def _features_in_rows(table: Table, how: How, ids: int) -> Dataset:
    found = table.found
    body = found.rows[1:] if found.header else found.rows
    label = None if how.label_column is None else _find_row(body, ids, how.label_column)
    skipped = tuple(sorted({*found.label_rows, *(() if label is None else (label,))}))
    left_out = [i for i in (*found.text_columns, *found.empty_columns) if i != ids]
    values, texts = table.body(sorted({ids, *left_out}), skipped)
    samples = [i for i in range(len(found.columns)) if i not in texts]
    settled = settle(values, how.missing, features_in_rows=True, called=[quoted(found, i) for i in samples])
    features, renamed = unique_names(texts[ids], "feature")
    sample_names = [found.columns[i] for i in samples] if found.header else numbered("sample", len(samples))
    notes = (*table.notes, "Features were in rows; the table was transposed.", *renamed)
    if left_out:
        notes += (
            f"{len(left_out)} column(s) without numbers were left out, the first "
            f"is{quoted(found, left_out[0])}.",
        )
    candidates: tuple[Candidate, ...] = ()
    for r in skipped:
        if r != label:
            cells = settled.of_columns([body[r][i] for i in samples])
            count = len(different(cells))
            notes += (
                f'Row "{short(body[r][ids])}" holds {count} different texts and was left out; it can be '
                "named as the label row.",
            )
            candidates += (
                (Candidate(body[r][ids], count, to_labels(cells), notes[-1]),) if are_labels(cells) else ()
            )
    return Dataset(
        name=table.name,
        X=np.ascontiguousarray(settled.X.T),
        feature_names=tuple(settled.of_rows(features)),
        sample_names=frozen(settled.of_columns(sample_names)),
        labels=None if label is None else to_labels(settled.of_columns([body[label][i] for i in samples])),
        notes=(*notes, *settled.notes),
        label_candidates=candidates,
    )


def _find_row(body: Sequence[Sequence[str]], ids: int, wanted: "str | int") -> int:
    names = [row[ids] if ids < len(row) else "" for row in body]
    if isinstance(wanted, str) and wanted in names:
        return names.index(wanted)
    if not isinstance(wanted, str) and is_whole(wanted) and 0 <= wanted < len(names):
        return int(wanted)
    raise InvalidData(
        f"There is no row {shown(wanted)} among the first {len(names)} to take as labels: put the label row "
        "directly below the header."
    )


def _not_empty(found: Look, texts: dict[int, list[str]]) -> Look:
    """The same when every column that looked empty in the first lines is; otherwise what it holds further
    down.
    """
    filled = {
        i: [cell for cell in texts[i] if cell.strip().lower() not in MISSING] for i in found.empty_columns
    }
    texts_after_all = [
        i
        for i, cells in filled.items()
        if cells and not all(is_number(cell, found.decimal) for cell in cells)
    ]
    return replace(
        found,
        empty_columns=tuple(i for i in found.empty_columns if not filled[i]),
        text_columns=tuple(sorted({*found.text_columns, *texts_after_all})),
    )


def _others(
    found: Look, texts: dict[int, list[str]], settled: Settled, others: Sequence[int]
) -> tuple[tuple[str, ...], tuple[Candidate, ...]]:
    """What is said of the columns that are left out, and which may be labels; or the sentence that asks what
    they are.
    """
    notes: tuple[str, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    for i in others:
        cells = settled.of_rows(texts[i])
        first = {cell: int(row) + 1 for cell, row in zip(cells[::-1], settled.rows[::-1], strict=True)}
        note, may_be_labels = left_out(found, i, first, len(cells))
        notes += (note,)
        if may_be_labels:
            candidates += (Candidate(found.columns[i], len(different(first)), to_labels(cells), note),)
    return notes, candidates


def _numbered_classes(found: Look, settled: Settled, features: Sequence[int]) -> tuple[Candidate, ...]:
    """Columns of few whole numbers whose names say that they are classes; they stay features until somebody
    says so too.
    """
    out: tuple[Candidate, ...] = ()
    for position, i in enumerate(settled.of_columns(features)):
        if found.header and re.fullmatch(_LABEL_WORDS, found.columns[i].strip().lower()):
            column = settled.X[:, position]
            if (column == np.round(column)).all() and are_labels(column.tolist()):
                out += (Candidate(found.columns[i], np.unique(column).size),)
    return out


def _sample_names(ids: Sequence[str] | None, count: int) -> tuple[Names, tuple[str, ...]]:
    return (numbered("sample", count), ()) if ids is None else unique_names(ids, "sample")


def to_labels(texts: Sequence[str]) -> np.ndarray:
    """Labels as integers where all of them are, otherwise as text."""
    try:
        return np.array([int(text) for text in texts], dtype=np.int64)
    except (ValueError, OverflowError):
        return np.array([text.strip()[:LONGEST_LABEL] or NO_LABEL for text in texts], dtype=np.str_)
