"""Turn a parsed table into a `Dataset`: find names, labels and features, with samples or features in rows.

`nspca.read` calls `read_text_table` for CSV and Excel, and `read_table` for Parquet.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from nspca.data.columns import describe_left_out, distinct_texts, find_column, taken_as_names
from nspca.data.dataset import Candidate, Dataset, check_enough
from nspca.data.formats.base import Source
from nspca.data.formats.delimited import DelimitedReader
from nspca.data.formats.tables import TableReader
from nspca.data.layout import MISSING, Layout, are_labels, as_utf8, is_number, quoted, short, stripped
from nspca.data.limits import check_dense, check_growth, check_lines, check_room
from nspca.data.missing import Settled, settle
from nspca.data.names import frozen, numbered, unique_names
from nspca.data.read_options import ReadOptions
from nspca.errors import InvalidData, shown
from nspca.validation.options import is_whole

# A column of whole numbers counts as a measurement, unless its name is one of these words for classes.
_LABEL_WORDS = r"class(es)?|labels?|target|groups?|diagnosis|type|y|species|category|cluster"
# Bytes that a cell and a column of text cost while they are parsed. Measured: 60 million cells in 300 columns
# took 24 bytes each, and 200 000 columns took another 3000 bytes each.
_CELL, _COLUMN = 24, 3000
LONGEST_LABEL = 80
"""Maximum characters of a label. NumPy stores every label of a data set at the length of the longest."""
NO_LABEL = "(none)"
"""Label given to samples whose label cell is empty."""


def read_text_table(
    raw: bytes, name: str, options: ReadOptions, notes: tuple[str, ...] = (), packed: int | None = None
) -> Dataset:
    """Return CSV or TSV bytes as a Dataset.

    `packed` is the size in bytes of the compressed file that held the text, None when it was not compressed.
    """
    raw, more = as_utf8(raw)
    raw = stripped(raw) if raw.startswith((b"\r", b"\n")) else raw
    check_lines(raw)
    reader = DelimitedReader(Source(raw=raw, packed=packed or 0), options)
    rows, columns = reader.most_rows, len(reader.layout.columns)
    check_dense(rows, columns)
    check_growth(8 * rows * columns, reader.source.given_bytes, "packed")
    check_room(_CELL * rows * columns + _COLUMN * columns)
    if columns < 2:
        raise InvalidData(
            "Only one column was found: at least two columns are needed, separated by comma, semicolon, "
            "tab, bar or blank."
        )
    return read_table(reader, name, (*notes, *more))


def read_table(reader: TableReader, name: str, notes: tuple[str, ...] = ()) -> Dataset:
    """Return the table of a reader as a Dataset, by the options of the reader (see `nspca.data.read`).

    `notes` are sentences about the file. The Dataset lists them before its notes about the table.
    """
    layout, options = reader.layout, reader.options
    if options.features_in_rows:
        named = None if options.id_column is None else find_column(layout.columns, options.id_column, "id")
        return _features_in_rows(reader, name, notes, named if named is not None else layout.id_column or 0)
    chosen = reader.columns
    features, ids, labels = chosen.features, chosen.ids, chosen.labels
    values, texts = reader.read_whole(chosen.excluded)
    if (again := _correct_empty_columns(layout, texts)) != layout:
        return read_table(reader.with_layout(again), name, notes)
    if values.shape[1] == 0:
        aside = chosen.describe_excluded(layout)
        raise InvalidData(f"The table has no column of numbers{aside}: at least two are needed.")
    settled = settle(values, options.missing, called=[quoted(layout, i) for i in features])
    others, candidates, groups = _describe_others(layout, texts, settled, chosen.others)
    if labels is not None:
        groups[layout.columns[labels]] = to_labels(settled.of_rows(texts[labels]))
    check_enough(settled.rows.size, settled.columns.size, chosen.describe_excluded(layout))
    candidates += _numbered_classes(layout, settled, features)
    sample_names, renamed = (
        (numbered("sample", len(values)), ()) if ids is None else unique_names(texts[ids], "sample")
    )
    return Dataset(
        name=name,
        X=settled.X,
        feature_names=tuple(settled.of_columns([layout.columns[i] for i in features])),
        sample_names=frozen(settled.of_rows(sample_names)),
        labels=None if labels is None else groups[layout.columns[labels]],
        notes=(
            *notes,
            *reader.notes,
            *others,
            *taken_as_names(layout, chosen, options),
            *renamed,
            *settled.notes,
        ),
        label_candidates=candidates,
        label_columns=groups,
        label_name="" if labels is None else layout.columns[labels],
    )


def _features_in_rows(reader: TableReader, name: str, notes: tuple[str, ...], ids: int) -> Dataset:
    """Return a table with features in rows as a Dataset; `ids` is the column of their names."""
    layout, options = reader.layout, reader.options
    body = layout.rows[1:] if layout.header else layout.rows
    label = None if options.label_column is None else _find_row(body, ids, options.label_column)
    skipped = tuple(sorted({*layout.label_rows, *(() if label is None else (label,))}))
    left_out = [i for i in (*layout.text_columns, *layout.empty_columns) if i != ids]
    values, texts = reader.read_whole(sorted({ids, *left_out}), skipped)
    samples = [i for i in range(len(layout.columns)) if i not in texts]
    settled = settle(
        values, options.missing, features_in_rows=True, called=[quoted(layout, i) for i in samples]
    )
    features, renamed = unique_names(texts[ids], "feature")
    sample_names = [layout.columns[i] for i in samples] if layout.header else numbered("sample", len(samples))
    notes = (*notes, *reader.notes, "Features were in rows; the table was transposed.", *renamed)
    if left_out:
        notes += (
            f"{len(left_out)} column(s) without numbers were left out, the first "
            f"is{quoted(layout, left_out[0])}.",
        )
    candidates: tuple[Candidate, ...] = ()
    groups: dict[str, np.ndarray] = {}
    for r in skipped:
        cells = settled.of_columns([body[r][i] for i in samples])
        if r == label or are_labels(cells):
            groups[body[r][ids]] = to_labels(cells)
        if r != label:
            other = _describe_text_row(body[r][ids], cells)
            notes += (other.note,)
            candidates += (other,) if are_labels(cells) else ()
    return Dataset(
        name=name,
        X=np.ascontiguousarray(settled.X.T),
        feature_names=tuple(settled.of_rows(features)),
        sample_names=frozen(settled.of_columns(sample_names)),
        labels=None if label is None else groups[body[label][ids]],
        notes=(*notes, *settled.notes),
        label_candidates=candidates,
        label_columns=groups,
        label_name="" if label is None else body[label][ids],
    )


def _describe_text_row(name: str, cells: Sequence[str]) -> Candidate:
    """Return a row of texts that was left out as a candidate for the labels, with the note about it."""
    count = len(distinct_texts(cells))
    said = f'Row "{short(name)}" holds {count} different texts and was left out'
    return Candidate(name, count, f"{said}; it can be named as the label row.")


def _find_row(body: Sequence[Sequence[str]], ids: int, wanted: "str | int") -> int:
    """Return the number of the label row in `body`, wanted by its name in column `ids` or by its number."""
    names = [row[ids] if ids < len(row) else "" for row in body]
    if isinstance(wanted, str) and wanted in names:
        return names.index(wanted)
    if not isinstance(wanted, str) and is_whole(wanted) and 0 <= wanted < len(names):
        return int(wanted)
    raise InvalidData(
        f"There is no row {shown(wanted)} among the first {len(names)} to take as labels: put the label row "
        "directly below the header."
    )


def _correct_empty_columns(layout: Layout, texts: dict[int, list[str]]) -> Layout:
    """Return the layout without empty columns that hold something below the first lines.

    Such a column becomes a text column, or a feature when all its filled cells are numbers.
    """
    filled = {
        i: [cell for cell in texts[i] if cell.strip().lower() not in MISSING] for i in layout.empty_columns
    }
    texts_after_all = [
        i
        for i, cells in filled.items()
        if cells and not all(is_number(cell, layout.decimal) for cell in cells)
    ]
    return replace(
        layout,
        empty_columns=tuple(i for i in layout.empty_columns if not filled[i]),
        text_columns=tuple(sorted({*layout.text_columns, *texts_after_all})),
    )


def _describe_others(
    layout: Layout, texts: dict[int, list[str]], settled: Settled, others: Sequence[int]
) -> tuple[tuple[str, ...], tuple[Candidate, ...], dict[str, np.ndarray]]:
    """Return notes about the columns left out, candidates for labels, and the labels by column name.

    Raises
    ------
    InvalidData
        When `describe_left_out` refuses a column, because its role is unclear.
    """
    notes: tuple[str, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    groups: dict[str, np.ndarray] = {}
    for i in others:
        cells = settled.of_rows(texts[i])
        first = {cell: int(row) + 1 for cell, row in zip(cells[::-1], settled.rows[::-1], strict=True)}
        note, may_be_labels = describe_left_out(layout, i, first, len(cells))
        notes += (note,)
        if may_be_labels:
            candidates += (Candidate(layout.columns[i], len(distinct_texts(first)), note),)
            groups[layout.columns[i]] = to_labels(cells)
    return notes, candidates, groups


def _numbered_classes(layout: Layout, settled: Settled, features: Sequence[int]) -> tuple[Candidate, ...]:
    """Return candidates for labels among the features: few whole numbers under a name such as "class".

    A candidate stays a feature until the user names its column as the labels.
    """
    out: tuple[Candidate, ...] = ()
    for position, i in enumerate(settled.of_columns(features)):
        if layout.header and re.fullmatch(_LABEL_WORDS, layout.columns[i].strip().lower()):
            column = settled.X[:, position]
            if (column == np.round(column)).all() and are_labels(column.tolist()):
                out += (Candidate(layout.columns[i], np.unique(column).size),)
    return out


def to_labels(texts: Sequence[str]) -> np.ndarray:
    """Return labels as an integer array when every text is an integer, otherwise as an array of texts."""
    try:
        return np.array([int(text) for text in texts], dtype=np.int64)
    except (ValueError, OverflowError):
        return np.array([text.strip()[:LONGEST_LABEL] or NO_LABEL for text in texts], dtype=np.str_)
