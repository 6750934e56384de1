"""Groups of samples from elsewhere: a second table joined by name, or the beginnings of the names."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import numpy as np

from nspca.data import limits
from nspca.data.columns import different
from nspca.data.dataset import Candidate, Dataset, Numbered
from nspca.data.layout import FEW_LABELS, are_few
from nspca.data.readers.strings import Strings, first_rows, has_header, printable, read_strings, sheet_or_text
from nspca.data.table import LONGEST_LABEL, NO_LABEL, to_labels
from nspca.errors import InvalidData
from nspca.validation.archive import mib

MOST_BYTES = 16 * 2**20
"""Bytes of an annotation: a hundred columns for a hundred thousand samples, with room to spare."""
PREFIX = "beginning of the names"
"""Name of the label column that is made from sample names such as ALL_1 and AML_2."""
_LISTED = 5
"""Names that a note lists."""
_NUMBER = re.compile(r"[\s_.:#-]*\(?\d+\)?$")
"""The number at the end of a name, with the sign that divides it from the rest."""


def read_annotation(source: str | Path | bytes | BinaryIO) -> Strings:
    """Return a table about samples, CSV or Excel, with every cell as text.

    Raises
    ------
    InvalidData
        For a table of one column or without rows, and for files of other formats.
    """
    if isinstance(source, str | Path) and Path(source).is_file() and Path(source).stat().st_size > MOST_BYTES:
        raise _too_large(Path(source).stat().st_size)
    raw, notes = sheet_or_text(limits.bounded_bytes(source), MOST_BYTES)
    if len(raw) > MOST_BYTES:
        raise _too_large(len(raw))
    delimiter, rows = first_rows(raw)
    if delimiter is None:
        raise InvalidData(
            "An annotation is a table with a column of sample names and one column of groups at least, and "
            "this has rows of different length: give CSV or Excel."
        )
    header = _names_columns(rows)
    return replace(read_strings(raw, delimiter, header), notes=notes)


def _too_large(size: int) -> InvalidData:
    return InvalidData(
        f"An annotation may have at most {mib(MOST_BYTES)}, and this has {mib(size)}: keep fewer columns."
    )


def _names_columns(rows: Sequence[Sequence[str]]) -> bool:
    """Tell whether the first row is a header: none of its cells comes again below."""
    below = {cell for row in rows[1:] for cell in row}
    return has_header(rows, 0) or not below & set(rows[0])


def split_label(wanted: str | int | None, table: Strings | None) -> tuple[str | None, str | int | None]:
    """Return a requested label column as one of an annotation or of the names, and as one of the file itself.

    One of the two is None: names of the annotation come first.
    """
    if isinstance(wanted, str) and (wanted == PREFIX or (table is not None and wanted in table.header)):
        return wanted, None
    return None, wanted


def annotate(
    data: Dataset, source: "str | Path | bytes | BinaryIO | Strings | None", label: str | None = None
) -> Dataset:
    """Return a data set with the columns of a second table as further `label_columns`.

    The column of the table that has the most sample names is matched with them, first as they are, then
    without regard to case and signs. `notes` says how many matched and which did not.

    Parameters
    ----------
    data : Dataset
    source : path, bytes, open binary file, or None
        A table as CSV or Excel with a row for each sample; None for no table.
    label : str, optional
        The column that becomes the labels; the first one when the data have none so far.

    Raises
    ------
    InvalidData
        When no sample is in the table, or it has no such column.
    """
    if source is None:
        if label is not None and label not in data.label_columns:
            raise InvalidData(f'The sample names form no groups that "{PREFIX}" could name: name a column.')
        return data if label is None else (data.labelled(label) or data)
    if data.is_covariance:
        raise InvalidData("A covariance has no samples that an annotation could be about: leave it out.")
    table = source if isinstance(source, Strings) else read_annotation(source)
    names = [*data.sample_names]
    key, places = _match(names, table.columns)
    if not (places >= 0).any():
        raise _no_match(data, table)
    groups, left = dict(data.label_columns), []
    added: list[str] = []
    for i, (name, column) in enumerate(zip(table.header, table.columns, strict=True)):
        if i == key:
            continue
        cells = [printable(column[at])[:LONGEST_LABEL] if at >= 0 else "" for at in places]
        wanted = name == label
        if wanted or are_few(len(different(cells)) or FEW_LABELS + 1, len(cells)):
            called = name if name not in data.feature_names or name not in groups else f"{name} (annotation)"
            groups[called] = to_labels([cell or NO_LABEL for cell in cells])
            added.append(called)
        else:
            left.append(name)
    notes = (
        *data.notes,
        *table.notes,
        _said(names, places, len(table.columns[key])),
        *_columns_said(added, left),
    )
    data = replace(data, label_columns=groups, notes=notes)
    if label is not None and label not in groups:
        raise InvalidData(
            f'There is no column "{printable(label)[:40]}" of groups: there are '
            f"{_list(list(groups)) or 'none'}."
        )
    first = label if label is not None else added[0] if added and data.labels is None else None
    return (data.labelled(first) or data) if first is not None else data


def _match(names: Sequence[str], columns: Sequence[Sequence[str]]) -> tuple[int, np.ndarray]:
    """Return the column that has the most sample names, and the row of each sample in it (-1 for none).

    Names are compared as they are, then without regard to case, blanks and signs, as R changes them.
    """
    best = 0, np.full(len(names), -1)
    for key, column in enumerate(columns):
        for alike in (str.strip, _alike):
            places = _places(names, column, alike)
            if (places >= 0).sum() > (best[1] >= 0).sum():
                best = key, places
    return best


def _places(names: Sequence[str], column: Sequence[str], alike: Callable[[str], str]) -> np.ndarray:
    """Return the row of each name in a column; -1 where no row has it, or where two names look alike."""
    row: dict[str, int] = {}
    for at, cell in enumerate(column):
        row.setdefault(alike(cell), at)
    keys = [alike(name) for name in names]
    if len(set(keys)) < len(keys):
        return np.full(len(names), -1)
    return np.array([row.get(key, -1) if key else -1 for key in keys])


def _alike(name: str) -> str:
    """Return a name without what R changes in names: case, signs, and the X before a number."""
    plain = re.sub(r"[\W_]+", ".", name.strip().casefold()).strip(".")
    return plain.removeprefix("x") if re.match(r"x\d", plain) else plain


def _no_match(data: Dataset, table: Strings) -> InvalidData:
    """Return the error for an annotation of other samples."""
    _, places = _match([*data.feature_names][:20_000], table.columns)
    first = printable(table.columns[0][0])[:40] if table.columns[0] else ""
    if (places >= 0).any():
        return InvalidData(
            f"The annotation names the columns of the table, {(places >= 0).sum()} of them: take its rows as "
            "features."
        )
    return InvalidData(
        f"No sample of the table is in the annotation: the table has samples such as "
        f'"{printable(data.sample_names[0])[:40]}", the annotation rows such as "{first}".'
    )


def _said(names: Sequence[str], places: np.ndarray, rows: int) -> str:
    """Return the sentence about how many samples matched, and which did not."""
    missing = [name for name, at in zip(names, places, strict=True) if at < 0]
    unused = rows - len({int(at) for at in places if at >= 0})
    said = f"The annotation has {len(names) - len(missing)} of the {len(names)} samples"
    if missing:
        said += f", and not {_list(missing)}"
    if unused:
        said += f"; {unused} of its rows name no sample"
    return said + "."


def _columns_said(added: Sequence[str], left: Sequence[str]) -> tuple[str, ...]:
    if not left:
        return ()
    one = len(left) == 1
    return (
        f"{_list(left)} of the annotation {'is' if one else 'are'} no groups: each has more than "
        f"{FEW_LABELS} values, or a value for each sample or two.",
    )


def _list(names: Sequence[str]) -> str:
    listed = ", ".join(f'"{printable(name)[:40]}"' for name in names[:_LISTED])
    return listed + (f" and {len(names) - _LISTED} more" if len(names) > _LISTED else "")


def group_by_prefix(data: Dataset) -> Dataset:
    """Return a data set with the beginnings of its sample names as a label column, where they form groups."""
    groups = name_groups(data.sample_names)
    if groups is None or data.is_covariance or PREFIX in data.label_columns:
        return data
    count = np.unique(groups).size
    return replace(
        data,
        label_columns={**data.label_columns, PREFIX: groups},
        label_candidates=(*data.label_candidates, Candidate(PREFIX, count)),
    )


def name_groups(names: Sequence[str]) -> np.ndarray | None:
    """Return the beginnings of names such as ALL_1, ALL_2, AML_1 as labels; None when they form no groups.

    Groups are at least two, at most 30, and each has two names or more.
    """
    if isinstance(names, Numbered) or not 4 <= len(names) <= limits.MAX_ROWS:
        return None
    beginnings = [_NUMBER.sub("", name)[:LONGEST_LABEL] for name in names]
    values, counts = np.unique(np.array(beginnings, dtype=np.str_), return_counts=True)
    if not 2 <= values.size <= FEW_LABELS or counts.min() < 2 or not all(map(str.strip, values)):
        return None
    return np.array(beginnings, dtype=np.str_)
