"""Refuse tables with thousands separators, as in 1,243, which could be read as 1.243.

The reader of text tables calls `check_written` once it knows the layout.
"""

import re
from collections.abc import Sequence
from functools import partial

from nspca.data.columns import find_column
from nspca.data.layout import DECIMAL, MISSING, Layout, quoted, short
from nspca.data.read_options import ReadOptions
from nspca.errors import InvalidData, UnclearDecimals

_GROUPED = re.compile(r"[+-]?\d{1,3}((\.\d{3})+,|(,\d{3})+\.|(['\u00a0\u202f ]\d{3})+[.,])\d+")
"""Numbers such as 1.234,5 and 1,234.5 and 1'234.5, with both a separator and a decimal sign."""
_THOUSANDS = {mark: re.compile(rf"[+-]?[1-9]\d{{0,2}}([{mark}]\d{{3}})+") for mark in ",."}
"""Numbers such as 1,234 and 1.234, by the mark that may be a thousands separator; 0,123 is not one."""
_NAMES = {",": "comma", ".": "point"}
_BELOW_THOUSAND = re.compile(r"[+-]?\d{1,3}")


def check_written(layout: Layout, options: ReadOptions) -> None:
    """Refuse a table whose first rows have thousands separators.

    A decimal sign that the user gave is never taken for a separator. Columns that the user
    named as ids or labels are skipped; a column that is taken for ids automatically is not.
    """
    labels = None if options.features_in_rows else options.label_column  # else label_column names a row
    roles = ((options.id_column, "id"), (labels, "label"))
    named = {find_column(layout.columns, column, role) for column, role in roles if column is not None}
    rows = layout.rows[1:] if layout.header else layout.rows
    body = [["" if i in named else cell for i, cell in enumerate(row)] for row in rows]
    marks = _may_group(layout, body, options.decimal)
    for i in range(len(layout.columns)) if marks else layout.text_columns:
        cells = [row[i].strip() for row in body if i < len(row) and row[i].strip().lower() not in MISSING]
        grouped = [cell for cell in cells if _GROUPED.fullmatch(cell)] if i in layout.text_columns else []
        if 2 * len(grouped) > len(cells):
            raise InvalidData(
                f"Numbers must be written without marks between thousands, but column{quoted(layout, i)} "
                f'holds "{short(grouped[0])}": save them without.'
            )
        for mark, alone in marks.items():
            if thousands := _thousands(cells, mark, alone and not (mark == "." and i in layout.text_columns)):
                sign = "" if options.decimal else f", or {UnclearDecimals.WAY.format(mark)}"
                kind = InvalidData if options.decimal else partial(UnclearDecimals, mark=mark)
                raise kind(
                    f"Numbers must be written without marks between thousands, but the {_NAMES[mark]} in "
                    f'"{short(thousands[0])}" of column{quoted(layout, i)} may be one: save them without, or '
                    f"decimals with a point and columns separated by commas{sign}."
                )


def _may_group(layout: Layout, body: Sequence[Sequence[str]], decimal: str | None) -> dict[str, bool]:
    """Return the marks that may be thousands separators, each with a flag.

    The flag tells whether one column of such numbers is enough evidence on its own. The decimal sign is not
    a separator. Cells such as 3,14 and 0,123 prove that the comma is the decimal sign. Without proof, the
    comma is taken for it where semicolons divide the columns, and the point elsewhere.
    """
    cells = [cell.strip() for row in body for cell in row]
    grouped = {
        mark for mark in ",." if any(_THOUSANDS[mark].fullmatch(cell) for cell in cells if mark in cell)
    }
    if decimal:
        return dict.fromkeys(grouped - {decimal}, True)
    semicolons = layout.delimiter == ";"
    comma = _is_shown(",", cells) or (semicolons and "," in grouped)
    point = _is_shown(".", cells) or not (comma or semicolons) or layout.delimiter == ","
    marks = {} if comma else {",": True}
    marks |= {} if point else {".": comma}
    return {mark: alone for mark, alone in marks.items() if mark in grouped}


def _is_shown(mark: str, cells: Sequence[str]) -> bool:
    """Tell whether some cell proves that `mark` is the decimal sign."""
    return any(
        DECIMAL[mark].fullmatch(cell) and not _THOUSANDS[mark].fullmatch(cell)
        for cell in cells
        if mark in cell
    )


def _thousands(cells: Sequence[str], mark: str, alone: bool) -> list[str]:
    """Return the cells of a column that may have a thousands separator.

    Unless the mark is evidence `alone`, the column must also have integers below a thousand.
    """
    grouped = [cell for cell in cells if _THOUSANDS[mark].fullmatch(cell)]
    if not all(_THOUSANDS[mark].fullmatch(cell) or _BELOW_THOUSAND.fullmatch(cell) for cell in cells):
        return []
    return grouped if alone or len(grouped) < len(cells) else []
