"""Label columns from outside a table: from an annotation joined by sample names, or from the names alone.

`nspca.read` and `nspca.read_text` call `read_annotation` and `split_label` before they read the table, and
`group_by_prefix` and `annotate` after it.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import numpy as np

from nspca.data import limits
from nspca.data.dataset import Dataset
from nspca.data.dialect import FEW_LABELS, SPACES, are_few
from nspca.data.findings import Finding, as_findings
from nspca.data.formats.base import Strings
from nspca.data.formats.documents import open_texts
from nspca.data.formats.strings import find_table, has_header, read_strings
from nspca.data.names import Numbered, printable, quote_names
from nspca.data.roles import LONGEST_LABEL, NO_LABEL, distinct_texts, to_labels
from nspca.errors import InvalidData
from nspca.validation.archive import mib

MOST_BYTES = 16 * 2**20
"""Maximum bytes of an annotation, enough for a hundred columns of a hundred thousand samples."""
PREFIX = "beginning of the names"
"""Name of the label column that is made from sample names such as ALL_1 and AML_2."""
_NUMBER = re.compile(r"[\s_.:#-]*\(?\d+\)?$")
"""The number at the end of a name, with its separator."""


_FILE = re.compile(r"^.*[/\\]|\.(png|jpe?g|tiff?|bmp|gif|webp|p[bgpn]m|txt|text|md)$", re.IGNORECASE)
"""Folder and ending of the name of an image or text."""


class NoAnnotation(InvalidData):
    """A table is no annotation: it has no columns of groups, or names no sample of the data."""


def read_annotation(source: str | Path | bytes | BinaryIO) -> Strings:
    """Read an annotation (CSV or Excel, two columns at least) with every cell as text."""
    files, raw, notes = open_texts(limits.bounded_bytes(source), limit=MOST_BYTES)
    if files is not None:
        raise InvalidData("A table as CSV or Excel is needed, got a ZIP of other files: give the table.")
    if len(raw) > MOST_BYTES:
        raise InvalidData(
            f"An annotation may have at most {mib(MOST_BYTES)}, and this has {mib(len(raw))}: keep fewer "
            "columns."
        )
    layout = find_table(raw) or find_table(raw, SPACES)
    if layout is None or len(layout.columns) < 2:
        raise NoAnnotation(
            "An annotation is a table with a column of sample names and one column of groups at least, and "
            "this has rows of different length: give CSV or Excel."
        )
    below = {cell for row in layout.rows[1:] for cell in row}
    header = has_header(layout.rows, 0) or not below & set(layout.rows[0])
    table = read_strings(raw, layout, header)
    return replace(table, notes=(*notes, *table.notes))


def split_label(wanted: str | int | None, table: Strings | None) -> tuple[str | None, str | int | None]:
    """Split a requested label column into (column of the annotation or `PREFIX`, column of the file).

    One of the two is None. A name that both tables have means the annotation.
    """
    if isinstance(wanted, str) and (wanted == PREFIX or (table is not None and wanted in table.header)):
        return wanted, None
    return None, wanted


def annotate(data: Dataset, table: Strings | None, label: str | None = None) -> Dataset:
    """Return a data set with the columns of an annotation as further `label_columns`.

    The annotation is joined by the column that contains the most sample names. Names are compared exactly
    and then without regard to case and punctuation. A note reports the samples without a match.

    Parameters
    ----------
    data : Dataset
    table : Strings or None
        What `read_annotation` returned, with a row for each sample; None for no table.
    label : str, optional
        The column that becomes the labels; by default the first one, if the data have no labels.

    Raises
    ------
    InvalidData
        When the annotation has no sample of the data, or no column `label`.
    """
    if table is None:
        if label is not None and label not in data.label_columns:
            raise InvalidData(f'The sample names form no groups that "{PREFIX}" could name: name a column.')
        return data if label is None else (data.labelled(label) or data)
    if data.is_covariance:
        raise InvalidData("A covariance has no samples that an annotation could be about: leave it out.")
    names = [*data.sample_names]
    key, places = _match(names, table.columns)
    if not (places >= 0).any():
        raise _no_match(data, table)
    added: dict[str, np.ndarray] = {}
    left = []
    for name, column in [(table.header[i], table.columns[i]) for i in range(len(table.columns)) if i != key]:
        cells = [printable(column[at])[:LONGEST_LABEL] if at >= 0 else "" for at in places]
        if name != label and not are_few(len(distinct_texts(cells)) or FEW_LABELS + 1, len(cells)):
            left.append(name)
            continue
        is_taken = name in data.feature_names and (name in data.label_columns or name in added)
        added[f"{name} (annotation)" if is_taken else name] = to_labels([cell or NO_LABEL for cell in cells])
    missing = [name for name, at in zip(names, places, strict=True) if at < 0]
    unused = len(table.columns[key]) - np.unique(places[places >= 0]).size
    there = f"{len(names) - len(missing)} of the" if missing else "all"
    said = f"The annotation has {there} {len(names)} samples"
    said += f", and not {quote_names(missing)}" if missing else ""
    said += f"; {unused} of its rows name no sample." if unused else "."
    findings: tuple[Finding | str, ...] = (*data.findings, *table.notes, said)
    if left:
        verb, each = ("is", "it") if len(left) == 1 else ("are", "each")
        findings += (
            f"{quote_names(left)} of the annotation {verb} no groups: {each} has "
            f"more than {FEW_LABELS} values, or a value for each sample or two.",
        )
    groups = {**data.label_columns, **added}
    data = replace(data, label_columns=groups, findings=as_findings(findings))
    if label is not None and label not in groups:
        raise InvalidData(
            f'There is no column "{printable(label)[:40]}" of groups: there are '
            f"{quote_names(list(groups)) or 'none'}."
        )
    first = label if label is not None or data.labels is not None else next(iter(added), None)
    return (data.labelled(first) or data) if first is not None else data


def _match(names: Sequence[str], columns: Sequence[Sequence[str]]) -> tuple[int, np.ndarray]:
    """Return the number of the column with the most sample names, and the row of each sample (-1 for none).

    Names are compared exactly, then without regard to case, blanks and punctuation, which R changes.
    """
    best = 0, np.full(len(names), -1)
    for key, column in enumerate(columns):
        for normalise in (str.strip, _normalise):
            places = _find_rows(names, column, normalise)
            if (places >= 0).sum() > (best[1] >= 0).sum():
                best = key, places
    return best


def _find_rows(names: Sequence[str], column: Sequence[str], normalise: Callable[[str], str]) -> np.ndarray:
    """Return the row of each name in a column, after both are changed by `normalise`.

    A name that no row has gets -1. All get -1 when two names become equal.
    """
    row: dict[str, int] = {}
    for at, cell in enumerate(column):
        row.setdefault(normalise(cell), at)
    keys = [normalise(name) for name in names]
    if len(set(keys)) < len(keys):
        return np.full(len(names), -1)
    return np.array([row.get(key, -1) if key else -1 for key in keys])


def _normalise(name: str) -> str:
    """Return a name without differences that programs make.

    These are case and punctuation, an X that R puts before a number, and folder and ending of a file.
    """
    name = _FILE.sub("", name.strip())
    plain = re.sub(r"[\W_]+", ".", name.strip().casefold()).strip(".")
    return plain.removeprefix("x") if re.match(r"x\d", plain) else plain


def _no_match(data: Dataset, table: Strings) -> InvalidData:
    _, places = _match([*data.feature_names][:20_000], table.columns)
    first = printable(table.columns[0][0])[:40] if table.columns[0] else ""
    if (places >= 0).any():
        return NoAnnotation(
            f"The annotation names the columns of the table, {(places >= 0).sum()} of them: take its rows as "
            "features."
        )
    return NoAnnotation(
        f"No sample of the table is in the annotation: the table has samples such as "
        f'"{printable(data.sample_names[0])[:40]}", the annotation rows such as "{first}".'
    )


def group_by_prefix(data: Dataset) -> Dataset:
    """Return a data set with the beginnings of its sample names as a label column, where they form groups."""
    groups = name_groups(data.sample_names)
    if groups is None or data.is_covariance or PREFIX in data.label_columns:
        return data
    return replace(data, label_columns={**data.label_columns, PREFIX: groups})


def name_groups(names: Sequence[str]) -> np.ndarray | None:
    """Return the beginnings of names such as ALL_1, ALL_2, AML_1 as labels, or None.

    The labels must form 2 to 30 groups of at least two names each.
    """
    if isinstance(names, Numbered) or not 4 <= len(names) <= limits.MAX_ROWS:
        return None
    beginnings = [_NUMBER.sub("", name)[:LONGEST_LABEL] for name in names]
    values, counts = np.unique(np.array(beginnings, dtype=np.str_), return_counts=True)
    if (
        not 2 <= values.size <= FEW_LABELS
        or counts.min() < 2
        or not all(any(map(str.isalpha, value)) for value in values)
    ):
        return None
    return np.array(beginnings, dtype=np.str_)
