"""The `Dataset` of a table with named columns, by the roles of its columns."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from nspca.data.dataset import Dataset, check_enough
from nspca.data.dialect import Layout, are_labels, quoted
from nspca.data.findings import Finding, as_findings
from nspca.data.formats.base import Strings
from nspca.data.missing import Settled, settle
from nspca.data.names import counted, frozen, numbered, quote_names, short, unique_names
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
    chosen = find_columns(layout, options, reader.rows, known)
    if chosen.is_turned:
        return _features_in_rows(reader, chosen, name, findings)
    features, ids, labels = chosen.features, chosen.ids, chosen.labels
    values, texts = reader.read_whole(chosen.excluded, chosen.skipped)
    if (again := _correct_empty_columns(layout, texts)) != layout:
        reader.layout = again
        return read_table(reader, name, findings, annotation)
    guessed = ids is not None and ids not in layout.text_columns and options.id_column is None
    if guessed and ids is not None and layout.id_column is None:
        different, count = len(set(texts[ids])), len(texts[ids])
        if 2 * different <= count or (different < count and not ID.search(layout.columns[ids])):
            # The first rows were all different, the others are not: a feature after all.
            reader.options = options.but(id_column=NO_NAMES)
            return read_table(reader, name, findings, annotation)
    if values.shape[1] == 0:
        aside = chosen.describe_excluded(layout)
        raise InvalidData(f"The table has no column of numbers{aside}: at least two are needed.")
    called = [cell.strip() for cell in texts[ids]] if ids is not None else numbered("sample", len(values))
    out = match_items(called, options.drop_rows, "row")
    if out:
        findings = (*findings, f"Rows left out on request: {quote_names(called[r] for r in out)}.")
    if NO_NAMES not in options.drop_rows and len(values) - 1 not in out and _ends_with_total(values, called):
        way = Way("drop_rows", (*options.drop_rows, NO_NAMES), "Keep it")
        said = f"The last row, “{short(called[-1])}”, is the sum of the others and was left out"
        findings = (*findings, Finding(said, "rows below", ways=(way,)))
        out.append(len(values) - 1)
    if out:
        kept = np.setdiff1d(np.arange(len(values)), out)
        values, texts = values[kept], {i: [cells[r] for r in kept] for i, cells in texts.items()}
        called = [called[r] for r in kept]
    settled = settle(values, options.missing, called=[quoted(layout, i) for i in features])
    others, groups = _describe_others(layout, texts, settled, chosen.others, ids is not None)
    if labels is not None:
        groups[layout.columns[labels]] = to_labels(settled.of_rows(texts[labels]))
    check_enough(settled.rows.size, settled.columns.size, chosen.describe_excluded(layout))
    sample_names, renamed = (
        (numbered("sample", len(values)), ()) if ids is None else unique_names(called, "sample")
    )
    return Dataset(
        name=name,
        X=settled.X,
        feature_names=tuple(settled.of_columns([layout.columns[i] for i in features])),
        sample_names=frozen(settled.of_rows(sample_names)),
        labels=None if labels is None else groups[layout.columns[labels]],
        findings=as_findings(
            (*findings, *reader.findings, *others, *chosen.findings, *renamed, *settled.notes)
        ),
        label_columns=groups,
        label_name="" if labels is None else layout.columns[labels],
    )


def _ends_with_total(values: np.ndarray, called: Sequence[str]) -> bool:
    """Tell whether the last row is called a total and is the sum of the others."""
    if len(values) < 4 or not TOTAL.fullmatch(called[-1]):
        return False
    with np.errstate(all="ignore"):  # numbers near the largest float64
        return summary_of(values[-1], values.sum(axis=0), len(values)) == "sum"


def _features_in_rows(reader: Any, chosen: Columns, name: str, findings: Sequence[Finding | str]) -> Dataset:
    """Return a table with features in rows as a Dataset."""
    layout, options, ids = reader.layout, reader.options, chosen.ids
    assert ids is not None
    body = layout.body_rows
    label = None if options.label_column is None else _find_row(body, ids, options.label_column)
    cells_of = {r: [body[r][i] for i in chosen.features] for r in chosen.skipped}
    groups_of = [r for r, cells in cells_of.items() if are_labels(cells) and len(set(cells)) > 1]
    if label is None and len(groups_of) == 1:
        label = groups_of[0]
    skipped = tuple(sorted({*chosen.skipped, *(() if label is None else (label,))}))
    values, texts = reader.read_whole(chosen.excluded, skipped)
    samples = list(chosen.features)
    names = [cell.strip() for cell in texts[ids]]
    if out := match_items(names, options.drop_rows, "row"):
        findings = (*findings, f"Rows left out on request: {quote_names(names[r] for r in out)}.")
        kept = np.setdiff1d(np.arange(len(values)), out)
        values, names = values[kept], [names[r] for r in kept]
    settled = settle(
        values, options.missing, features_in_rows=True, called=[quoted(layout, i) for i in samples]
    )
    features, renamed = unique_names(names, "feature")
    sample_names = [layout.columns[i] for i in samples] if layout.header else numbered("sample", len(samples))
    known = any(one.option == "features_in_rows" for one in as_findings(findings))
    turned = [one for one in chosen.findings if not (known and one.where == "rows")]
    said: list[Finding | str] = [*findings, *reader.findings, *turned, *renamed]
    groups: dict[str, np.ndarray] = {}
    for r in skipped:
        cells = settled.of_columns([body[r][i] for i in samples])
        if r == label or are_labels(cells):
            groups[body[r][ids]] = to_labels(cells)
        said.append(_describe_text_row(body[r][ids], cells, r == label))
    return Dataset(
        name=name,
        X=np.ascontiguousarray(settled.X.T),
        feature_names=tuple(settled.of_rows(features)),
        sample_names=frozen(settled.of_columns(sample_names)),
        labels=None if label is None else groups[body[label][ids]],
        findings=as_findings((*said, *settled.notes)),
        label_columns=groups,
        label_name="" if label is None else body[label][ids],
    )


def _describe_text_row(name: str, cells: Sequence[str], taken: bool) -> Finding:
    if taken:
        return Finding(f'Row "{short(name)}" holds the labels of the samples.')
    said = (
        f'Row "{short(name)}" holds {counted(len(distinct_texts(cells)), "different text")} and was left out'
    )
    way = (Way("label_column", name, "Use as labels"),)
    return Finding(f"{said}; it can be named as the label row.", ways=way)


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
    if unclear:
        raise _unclear(layout, unclear)
    return said, groups


def _unclear(layout: Layout, unclear: Mapping[int, InvalidData]) -> InvalidData:
    """Return the error for columns of many different texts, with the options that settle all of them."""
    error = next(iter(unclear.values()))
    names = tuple(layout.columns[i] for i in unclear)
    aside = "Leave the column out" if len(names) == 1 else f"Leave {len(names)} columns of text out"
    ways = [Way("drop_columns", names, aside)]
    if len(names) == 1:
        ways = [
            Way("id_column", names[0], f"Use “{short(names[0])}” as names"),
            Way("label_column", names[0], f"Use “{short(names[0])}” as labels"),
            *ways,
        ]
    return InvalidData(error.message, ways)
