"""Numbers in groups of three, as people write them for people: 1,243 is not read as 1.243."""

import re
from collections.abc import Sequence

from nspca.data.look import DECIMAL, MISSING, Look, quoted, short
from nspca.errors import InvalidData

# 1.234,5 and 1,234.5 and 1'234.5; without a decimal sign it may be a name.
_GROUPED = re.compile(r"[+-]?\d{1,3}((\.\d{3})+,|(,\d{3})+\.|(['\u00a0\u202f ]\d{3})+[.,])\d+")
# 1,234 and 1.234, of which a column alone does not tell whether it is a thousand; 0,123 is none.
_THOUSANDS = {mark: re.compile(rf"[+-]?[1-9]\d{{0,2}}([{mark}]\d{{3}})+") for mark in ",."}
_BELOW_THOUSAND = re.compile(r"[+-]?\d{1,3}")


def check_written(found: Look) -> None:
    """Refuse numbers in groups of three, as people write them for people."""
    body = found.rows[1:] if found.header else found.rows
    marks = [mark for mark in ",." if _may_group(found, body, mark)]
    for i in range(len(found.columns)) if marks else found.text_columns:
        cells = [row[i].strip() for row in body if i < len(row) and row[i].strip().lower() not in MISSING]
        grouped = [cell for cell in cells if _GROUPED.fullmatch(cell)] if i in found.text_columns else []
        if 2 * len(grouped) > len(cells):
            raise InvalidData(f"{_no_marks(found, i, grouped[0])}: save them without.")
        for mark in marks:
            if thousands := _thousands(found, i, cells, mark):
                raise InvalidData(
                    f"{_no_marks(found, i, thousands[0])}: save them without, or decimals with a point and "
                    "columns separated by commas."
                )


def _no_marks(found: Look, i: int, cell: str) -> str:
    return (
        f"Numbers must be written without marks between thousands, but column{quoted(found, i)} holds "
        f'"{short(cell)}"'
    )


def _may_group(found: Look, body: Sequence[Sequence[str]], mark: str) -> bool:
    """Whether a mark may stand between thousands: some cell has it, and none as the decimal sign, as 3,14 and
    0,123 do.
    """
    if mark == "." and found.delimiter == ",":
        return False
    cells = [cell.strip() for row in body for cell in row if mark in cell]
    return any(map(_THOUSANDS[mark].fullmatch, cells)) and not any(
        DECIMAL[mark].fullmatch(cell) and not _THOUSANDS[mark].fullmatch(cell) for cell in cells
    )


def _thousands(found: Look, i: int, cells: Sequence[str], mark: str) -> list[str]:
    """The cells of a column that have a mark between thousands, where that is what it is.

    Whole numbers below a thousand beside them say so. Without any, points are three decimals everywhere but
    between semicolons, where commas are the decimal sign; and what has several may be a name.
    """
    grouped = [cell for cell in cells if _THOUSANDS[mark].fullmatch(cell)]
    if not all(_THOUSANDS[mark].fullmatch(cell) or _BELOW_THOUSAND.fullmatch(cell) for cell in cells):
        return []
    certain = mark == "," or (found.delimiter == ";" and i not in found.text_columns)
    return grouped if certain or len(grouped) < len(cells) else []
