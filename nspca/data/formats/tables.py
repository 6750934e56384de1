"""The `Dataset` of a table with named columns, by the roles of its columns."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from nspca.data.dataset import Dataset, check_enough
from nspca.data.dialect import Layout, are_labels, quoted
from nspca.data.findings import Finding, as_findings
from nspca.data.formats.base import Strings
from nspca.data.missing import Settled, settle
from nspca.data.names import frozen, numbered, quote_names, short, unique_names
from nspca.data.options import ReadOptions
from nspca.data.roles import (
    NO_NAMES,
    Columns,
    describe_left_out,
    distinct_texts,
    find_columns,
    match_items,
    to_labels,
)
from nspca.data.suspicions import ID, TOTAL, summary_of
from nspca.errors import InvalidData, Way, shown
from nspca.presentation.phrases import things
from nspca.validation.options import is_whole


def read_table(
    reader: Any,
    name: str,
    findings: Sequence[Finding | str] = (),
    annotation: Strings | None = None,
) -> Dataset:
    """Return the table of a `DelimitedReader` as a Dataset, by its options (see `nspca.data.read`).

    `findings` are about the file, and come before those about the table.
    """
    layout, options = reader.layout, reader.options
    cells = [] if annotation is None else annotation.columns
    known = {cell.strip() for column in cells for cell in column}
    roles = find_columns(layout, options, reader.rows, known)
    label_row = _find_label_row(layout, roles, options.label_column) if roles.is_turned else None
    skipped = tuple(sorted({*roles.skipped, *([] if label_row is None else [label_row])}))
    values, texts = reader.read_whole(roles.excluded, skipped)
    if (again := _correct_empty_columns(layout, texts)) != layout:
        reader.layout = again
        return read_table(reader, name, findings, annotation)
    if _are_no_names(layout, roles, options, texts):
        reader.options = options.but(id_column=NO_NAMES)
        return read_table(reader, name, findings, annotation)
    aside = roles.describe_excluded(layout)
    if values.shape[1] == 0:
        raise InvalidData(
            f"The table has no column of numbers{aside}: at least two are needed{_such(layout)}."
        )
    called: Sequence[str] = numbered("sample", len(values))
    if roles.ids is not None:
        called = [cell.strip() for cell in texts[roles.ids]]
        beside = texts.get(roles.ids - 1, called)  # a subtotal of cities may have its name there
        called = [
            name or (cell.strip() if TOTAL.fullmatch(cell.strip()) else "")
            for name, cell in zip(called, beside, strict=True)
        ]
    out, said = _find_rows_left_out(values, called, options)
    count, kept = len(values), np.setdiff1d(np.arange(len(values)), out)
    if out:
        values, texts = values[kept], {i: [cells[r] for r in kept] for i, cells in texts.items()}
        called = [called[r] for r in kept]

    def place(i: int, j: int) -> str:
        above = np.array([*skipped, *reader.empty], dtype=np.intp)
        rows = np.setdiff1d(np.arange(count + above.size), above)  # as they stand in the file
        return f"row {rows[kept[i]] + 1}, column{quoted(layout, roles.features[j])}"

    settled = settle(values, options.missing, roles.is_turned, place)
    renamed: tuple[str, ...] = ()
    if roles.ids is not None:
        called, renamed = unique_names(called, "feature" if roles.is_turned else "sample")
    rows = settled.of_rows(called)
    columns: Sequence[str] = settled.of_columns([layout.columns[i] for i in roles.features])
    about = roles.findings
    if roles.is_turned:
        columns = columns if layout.header else numbered("sample", len(columns))
        others, groups = _describe_label_rows(layout, roles, settled, skipped, label_row)
        known_before = any(one.option == "features_in_rows" for one in as_findings(findings))
        about = tuple(one for one in about if not (known_before and one.where == "rows"))
        label = None if label_row is None else layout.body_rows[label_row][roles.ids]
    else:
        others, groups = _describe_others(layout, texts, settled, roles.others, roles.ids is not None)
        label = None if roles.labels is None else layout.columns[roles.labels]
        if label is not None:
            groups[label] = to_labels(settled.of_rows(texts[roles.labels]))
    features, samples = (rows, columns) if roles.is_turned else (columns, rows)
    if min(len(samples), len(features)) == 1:
        counts = [Counter(cells) for cells in texts.values()]
        if any(len({*count.values()}) == 1 and max(count.values()) > 1 for count in counts):
            aside += (
                "; where each row holds one value of a sample, pivot the table to one row for each sample"
            )
    check_enough(len(samples), len(features), aside)
    return Dataset(
        name=name,
        X=np.ascontiguousarray(settled.X.T) if roles.is_turned else settled.X,
        feature_names=tuple(features),
        sample_names=frozen(samples),
        labels=None if label is None else groups[label],
        findings=as_findings((*findings, *said, *reader.findings, *about, *others, *renamed, *settled.notes)),
        label_columns=groups,
        label_name=label or "",
    )


def _such(layout: Layout) -> str:
    """Return a phrase with the first text that has a digit, which may be a number in an unknown notation."""
    cells = ((i, cell) for row in layout.body_rows for i, cell in enumerate(row) if i != layout.id_column)
    found = next(((i, cell) for i, cell in cells if any(map(str.isdigit, cell))), None)
    return f', and column{quoted(layout, found[0])} holds "{short(found[1].strip())}"' if found else ""


def _find_rows_left_out(
    values: np.ndarray, called: Sequence[str], options: ReadOptions
) -> tuple[list[int], list[Finding | str]]:
    """Return the rows to leave out, those on request and a last row that is the total, and the findings."""
    said: list[Finding | str] = []
    names = unique_names(called, "sample")[0] if options.drop_rows else ()
    out, last = match_items(names, options.drop_rows, "row"), len(values) - 1
    if out:
        said.append(f"Rows left out on request: {quote_names(called[r] for r in out)}.")
    is_total = last >= 3 and last not in out and TOTAL.fullmatch(called[last]) is not None
    if is_total and NO_NAMES not in options.drop_rows:
        with np.errstate(all="ignore"):  # numbers near the largest float64
            is_total = summary_of(values[last], values.sum(axis=0), len(values)) == "sum"
        if is_total:
            way = Way("drop_rows", (*options.drop_rows, NO_NAMES), "Keep it")
            what = f"The last row, “{short(called[last])}”, is the sum of the others and was left out"
            said.append(Finding(what, "rows below", ways=(way,)))
            out.append(last)
    return out, said


def _are_no_names(layout: Layout, roles: Columns, options: ReadOptions, texts: dict[int, list[str]]) -> bool:
    """Tell whether numbers that were taken as names, since the first are distinct, repeat further down."""
    ids = roles.ids
    if roles.is_turned or ids is None or ids in layout.text_columns or options.id_column is not None:
        return False
    different, count = len(set(texts[ids])), len(texts[ids])
    is_repeated = 2 * different <= count or (different < count and not ID.search(layout.columns[ids]))
    return layout.id_column is None and is_repeated


def _find_label_row(layout: Layout, roles: Columns, wanted: str | int | None) -> int | None:
    """Return the row with the labels of a table with features in rows: the wanted one, or the only groups."""
    body, ids = layout.body_rows, roles.ids or 0
    if wanted is None:
        rows = {r: [body[r][i] for i in roles.features] for r in roles.skipped}
        groups = [r for r, cells in rows.items() if are_labels(cells) and len(set(cells)) > 1]
        return groups[0] if len(groups) == 1 else None
    names = [row[ids] if ids < len(row) else "" for row in body]
    if isinstance(wanted, str) and wanted in names:
        return names.index(wanted)
    if is_whole(wanted) and 0 <= int(wanted) < len(names):
        return int(wanted)
    raise InvalidData(
        f"There is no row {shown(wanted)} among the first {len(names)} to take as labels: put the label row "
        "directly below the header."
    )


def _describe_label_rows(
    layout: Layout, roles: Columns, settled: Settled, skipped: Sequence[int], label_row: int | None
) -> tuple[tuple[Finding, ...], dict[str, np.ndarray]]:
    """Return findings about rows of texts among features in rows, and those that may be labels by name."""
    said: tuple[Finding, ...] = ()
    groups: dict[str, np.ndarray] = {}
    for r in skipped:
        row = layout.body_rows[r]
        name = row[roles.ids or 0]
        cells = settled.of_columns([row[i] for i in roles.features])
        if r == label_row or are_labels(cells):
            groups[name] = to_labels(cells)
        if r == label_row:
            said += (Finding(f'Row "{short(name)}" holds the labels of the samples.'),)
            continue
        many = things(len(distinct_texts(cells)), "different text")
        what = f'Row "{short(name)}" holds {many} and was left out; it can be named as the label row.'
        said += (Finding(what, ways=(Way("label_column", name, "Use as labels"),)),)
    return said, groups


def _correct_empty_columns(layout: Layout, texts: dict[int, list[str]]) -> Layout:
    """Return the layout without empty columns that hold texts or numbers below the first lines."""
    numerals = layout.numerals
    filled = {
        i: [cell for cell in texts[i] if not numerals.is_missing(cell)]
        for i in layout.empty_columns
        if i in texts
    }
    texts_after_all = [i for i, cells in filled.items() if cells and not all(map(numerals.is_number, cells))]
    return replace(
        layout,
        empty_columns=tuple(i for i in layout.empty_columns if not filled.get(i)),
        text_columns=tuple(sorted({*layout.text_columns, *texts_after_all})),
    )


def _describe_others(
    layout: Layout, texts: dict[int, list[str]], settled: Settled, others: Sequence[int], named: bool
) -> tuple[tuple[Finding, ...], dict[str, np.ndarray]]:
    """Return findings about the columns left out, and those that may be labels by column name."""
    said: tuple[Finding, ...] = ()
    groups: dict[str, np.ndarray] = {}
    unclear = {}
    for i in others:
        cells = settled.of_rows(texts[i])
        first = {cell: int(row) + 1 for cell, row in zip(cells[::-1], settled.rows[::-1], strict=True)}
        found = describe_left_out(layout, i, first, len(cells), named)
        if isinstance(found, InvalidData):
            unclear[i] = found
            continue
        said += (found,)
        if found.option == "label_column":
            groups[layout.columns[i]] = to_labels(cells)
    if len(unclear) > 1:
        names = tuple(layout.columns[i] for i in unclear)
        way = Way("drop_columns", names, f"Leave {len(names)} columns of text out")
        raise InvalidData(next(iter(unclear.values())).message, (way,))
    for error in unclear.values():
        raise error
    return said, groups
