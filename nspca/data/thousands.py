"""Numbers in groups of three, as people write them for people: 1,243 is not read as 1.243."""

import re
from collections.abc import Sequence

from nspca.data.columns import find_column
from nspca.data.how import How
from nspca.data.look import DECIMAL, MISSING, Look, quoted, short
from nspca.errors import InvalidData

# 1.234,5 and 1,234.5 and 1'234.5; without a decimal sign it may be a name.
_GROUPED = re.compile(r"[+-]?\d{1,3}((\.\d{3})+,|(,\d{3})+\.|(['\u00a0\u202f ]\d{3})+[.,])\d+")
# 1,234 and 1.234, of which a column alone does not tell whether it is a thousand; 0,123 is none.
_THOUSANDS = {mark: re.compile(rf"[+-]?[1-9]\d{{0,2}}([{mark}]\d{{3}})+") for mark in ",."}
_NAMES = {",": "comma", ".": "point"}
_BELOW_THOUSAND = re.compile(r"[+-]?\d{1,3}")


def check_written(found: Look, how: How) -> None:
    """Refuse numbers in groups of three, as people write them for people, in the first rows; a decimal sign
    that somebody named is none between thousands, and a column named as ids or labels is no number.
    """
    labels = None if how.features_in_rows else how.label_column  # which name a row there
    roles = ((how.id_column, "id"), (labels, "label"))
    named = {find_column(found, column, role) for column, role in roles if column is not None}
    rows = found.rows[1:] if found.header else found.rows
    body = [["" if i in named else cell for i, cell in enumerate(row)] for row in rows]
    marks = _may_group(found, body, how.decimal)
    for i in range(len(found.columns)) if marks else found.text_columns:
        cells = [row[i].strip() for row in body if i < len(row) and row[i].strip().lower() not in MISSING]
        grouped = [cell for cell in cells if _GROUPED.fullmatch(cell)] if i in found.text_columns else []
        if 2 * len(grouped) > len(cells):
            raise InvalidData(
                f"Numbers must be written without marks between thousands, but column{quoted(found, i)} "
                f'holds "{short(grouped[0])}": save them without.'
            )
        for mark, alone in marks.items():
            if thousands := _thousands(cells, mark, alone and not (mark == "." and i in found.text_columns)):
                sign = "" if how.decimal else f", or name the decimal sign (decimal: {mark})"
                raise InvalidData(
                    f"Numbers must be written without marks between thousands, but the {_NAMES[mark]} in "
                    f'"{short(thousands[0])}" of column{quoted(found, i)} may be one: save them without, or '
                    f"decimals with a point and columns separated by commas{sign}."
                )


def _may_group(found: Look, body: Sequence[Sequence[str]], decimal: str | None) -> dict[str, bool]:
    """The marks that may stand between thousands, and whether a column without any whole numbers below a
    thousand is enough to say so.

    A decimal sign does not: 3,14 and 0,123 show it. Between semicolons the comma is one, and elsewhere the
    point, unless the other is.
    """
    cells = [cell.strip() for row in body for cell in row]
    grouped = {
        mark for mark in ",." if any(_THOUSANDS[mark].fullmatch(cell) for cell in cells if mark in cell)
    }
    if decimal:
        return dict.fromkeys(grouped - {decimal}, True)
    semicolons = found.delimiter == ";"
    comma = _is_shown(",", cells) or (semicolons and "," in grouped)
    point = _is_shown(".", cells) or not (comma or semicolons) or found.delimiter == ","
    marks = {} if comma else {",": True}
    marks |= {} if point else {".": comma}
    return {mark: alone for mark, alone in marks.items() if mark in grouped}


def _is_shown(mark: str, cells: Sequence[str]) -> bool:
    """Whether some cell has a mark where only a decimal sign can be."""
    return any(
        DECIMAL[mark].fullmatch(cell) and not _THOUSANDS[mark].fullmatch(cell)
        for cell in cells
        if mark in cell
    )


def _thousands(cells: Sequence[str], mark: str, alone: bool) -> list[str]:
    """The cells of a column that may have a mark between thousands: whole numbers below a thousand beside
    them say so, where they do not `alone`.
    """
    grouped = [cell for cell in cells if _THOUSANDS[mark].fullmatch(cell)]
    if not all(_THOUSANDS[mark].fullmatch(cell) or _BELOW_THOUSAND.fullmatch(cell) for cell in cells):
        return []
    return grouped if alone or len(grouped) < len(cells) else []
