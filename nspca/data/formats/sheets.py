"""The sheets of a spreadsheet as CSV: choose the sheet that holds the table, and write its cells.

Values are written, not their display: all digits, ISO dates, 1 and 0 for true and false.
"""

import csv
import io
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from typing import Any, TypeAlias

from nspca.data import limits
from nspca.errors import InvalidData, shown
from nspca.validation.archive import mib

ROWS, COLUMNS = 2**20, 2**14
"""Maximum rows and columns of a sheet: Excel's own limits."""
Cells: TypeAlias = Sequence[Any]
"""The values of a row; None or "" for an empty cell."""
_README = re.compile(
    r"\W*(read.?me|info(rmation)?|about|notes?|cover|contents?|legend|description|instructions?|metadata"
    r"|dictionary|codebook|lies.?mich|hinweise?)\b.*",
    re.IGNORECASE,
)
"""Names of sheets that tell about the others."""
_NUMBER = re.compile(r"\s*[-+]?[\d.,]*\d[\d.,]*(e[-+]?\d+)?\s*%?", re.IGNORECASE)
_SEEN = 100
"""Rows from which a sheet is found to be a table."""
_CELL = 60
"""Bytes that a cell takes beside its characters."""
_COMPUTE = "open the file once in a spreadsheet program, which computes them, and save it"


@dataclass
class Sheet:
    """A visible sheet of a workbook.

    Parameters
    ----------
    name : str
    rows : callable
        Returns number (from 0) and cells of the rows, from the top. Empty rows may be left out. Reading them
        may fill the attributes below.
    merged : list of (row, column, last row)
        Cells that are merged downwards.
    wide : list of (row, column, last column)
        Cells that are merged across columns.
    hidden, hidden_columns : set of int
        Numbers of the hidden rows and columns.
    formulas : dict of int to int
        Columns with formulas without a stored value, each with the first row that has one.
    """

    name: str
    rows: Callable[[], Iterable[tuple[int, Cells]]]
    merged: list[tuple[int, int, int]] = field(default_factory=list)
    wide: list[tuple[int, int, int]] = field(default_factory=list)
    hidden: set[int] = field(default_factory=set)
    hidden_columns: set[int] = field(default_factory=set)
    formulas: dict[int, int] = field(default_factory=dict)


@dataclass
class Table:
    """The cells of a sheet as text, without its empty rows; `places` are the numbers of the rows."""

    sheet: Sheet
    rows: list[list[str]] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    held: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def width(self) -> int:
        return max(map(len, self.rows), default=0)

    @property
    def is_table(self) -> bool:
        """Tell whether half of the first rows have numbers in a quarter of their cells."""
        seen = self.rows[:_SEEN]
        tabular = [row for row in seen if len(row) > 1 and 4 * sum(map(_is_number, row)) >= len(row)]
        return len(seen) > 2 and 2 * len(tabular) >= len(seen)


def read_sheet(sheet: Sheet, most: int | None, decimal: str, packed: int, limit: int) -> Table:
    """Return the first `most` rows of a sheet; refuse more than `limit` characters.

    `packed` is the size of the file as it was given.
    """
    found, count = Table(sheet), 0
    for row, cells in sheet.rows():
        texts = [_text(value, decimal) for value in cells]
        while texts and not texts[-1]:
            texts.pop()
        if row >= ROWS or len(texts) > COLUMNS:
            raise too_wide()
        if not texts:
            continue
        found.rows.append(texts)
        found.places.append(row)
        found.held += sum(map(len, texts))
        count += len(texts)
        if found.held > limit:
            raise InvalidData(
                f"The sheet is more than {mib(limit)} of text: keep fewer columns or save it as NPZ."
            )
        limits.check_growth(found.held + _CELL * count, packed, "Excel", "save the sheet as CSV")
        if len(found.rows) == most:
            break
    return found


def choose_sheet(
    sheets: Sequence[Sheet], wanted: str | int | None, least: int, read: Callable[[Sheet], Table]
) -> Table:
    """Return the wanted sheet, or else the first table, read by `read`.

    Where no sheet has numbers, the first that is no README is taken. Texts (`least` 1) have few numbers:
    for them, small sheets beside a large one are left aside too.
    """
    if wanted is not None:
        named = [one for number, one in enumerate(sheets) if wanted in (one.name, number, str(number))]
        if not named:
            names = _list_names(one.name for one in sheets)
            raise InvalidData(f"There is no sheet {shown(wanted)}: the visible sheets are {names}.")
        sheets = named
    kept: list[Table] = []
    for one in sheets:
        kept += [found] if (found := read(one)).rows else []
        if found.is_table and least > 1:
            break
    if not kept:
        raise InvalidData(
            "The spreadsheet has no sheet with anything in it: at least two rows and two columns are needed."
        )
    most = max(one.held for one in kept) / 10
    data = [one for one in kept if not _README.fullmatch(one.sheet.name) and (least > 1 or one.held >= most)]
    tables = [one for one in kept if one.is_table and least > 1]
    chosen = (tables or data or kept)[0]
    if chosen.width < least:
        raise InvalidData("The sheet has only one column with anything in it: at least two are needed.")
    if len(sheets) > 1:
        others = _list_names(one.name for one in sheets if one is not chosen.sheet)
        chosen.notes.append(
            f"The workbook has {len(sheets)} sheets; “{chosen.sheet.name}” was read, not {others} (option "
            "sheet)."
        )
    return chosen


def as_csv(table: Table) -> bytes:
    """Return a table as CSV with its merged cells resolved; `notes` get what was decided."""
    _fill_groups(table)
    _say_hidden(table)
    _join_headers(table)
    _drop_formulas(table)
    width, stream = table.width, io.StringIO()
    rows = (row + [""] * (width - len(row)) for row in table.rows)
    csv.writer(stream, lineterminator="\n").writerows(rows)
    return stream.getvalue().removesuffix("\n").encode()


def _fill_groups(table: Table) -> None:
    """Write the value of a cell that is merged downwards in each of its rows.

    Groups that stand first are moved behind the column of names next to them.
    """
    merged: dict[int, int] = {}
    for first, column, last in table.sheet.merged:
        start, end = bisect_left(table.places, first), bisect_right(table.places, last)
        if 0 < start < end and table.places[start] == first and _cell(table.rows[start], column):
            merged[column] = merged.get(column, 0) + 1
            for row in table.rows[start + 1 : end]:
                row += [""] * (column + 1 - len(row))
                row[column] = table.rows[start][column]
    if not merged:
        return
    groups = sum(merged.values())
    table.notes.append(f"Merged cells: each row has the value of its group ({groups} groups).")
    at = next(i for i in range(COLUMNS + 1) if i not in merged)
    names = [row[at] for row in table.rows[1:] if len(row) > at]
    if at and names and not any(map(_is_number, names)) and len(set(names)) == len(names):
        for row in table.rows:
            if len(row) > at:
                row.insert(0, row.pop(at))


def _say_hidden(table: Table) -> None:
    sheet, first = table.sheet, table.rows[0]
    if hidden := len(sheet.hidden.intersection(table.places)):
        table.notes.append(f"Hidden rows of the sheet were read too: {hidden}.")
    if left := [i for i in sorted(sheet.hidden_columns) if i < table.width]:
        names = _list_names(_cell(first, i) or _letters(i) for i in left)
        table.notes.append(f"Hidden columns of the sheet were read too: {names} (option drop_columns).")


def _join_headers(table: Table) -> None:
    """Make one header of two rows, the upper of which has cells merged across columns.

    The names of the lower row are taken, with those above them where they would not be distinct.
    """
    across = [(left, right) for row, left, right in table.sheet.wide if row == table.places[0]]
    rows = table.rows
    if len(rows) < 3 or not across or any(map(_is_number, rows[1])):
        return
    if (0, len(rows[1]) - 1) in across:  # a title above the table
        return
    width = max(len(rows[0]), len(rows[1]))
    upper, lower = ([*row, *[""] * (width - len(row))] for row in rows[:2])
    for left, right in across:
        upper[left : right + 1] = [upper[left]] * (min(right, width - 1) + 1 - left)
    names = [below or above for above, below in zip(upper, lower, strict=True)]
    joined = len(set(names)) < len(names)
    if joined:
        names = [" ".join(dict.fromkeys(filter(None, pair))) for pair in zip(upper, lower, strict=True)]
    rows[:2] = [names]
    words = _list_names(dict.fromkeys(upper[left] for left, _ in across))
    done = "joined to the names below it" if joined else "left out"
    table.notes.append(f"The upper of two header rows, with merged cells, was {done}: {words}.")


def _drop_formulas(table: Table) -> None:
    """Leave out the columns of formulas without values; refuse one that also has values."""
    formulas = table.sheet.formulas
    if not formulas:
        return
    for i, first in formulas.items():
        if any(_cell(row, i) for row in table.rows[1:]):
            raise InvalidData(
                f"Cell {_letters(i)}{first + 1} holds a formula whose value is not stored in the file, and "
                f"so do perhaps others: {_COMPUTE}."
            )
    columns = ", ".join(map(_letters, sorted(formulas)[:5]))
    more = f" and {len(formulas) - 5} more" if len(formulas) > 5 else ""
    named = f"Column{'s' * (len(formulas) > 1)} {columns}{more}"
    table.rows = [[cell for i, cell in enumerate(row) if i not in formulas] for row in table.rows]
    if table.width < 2:
        raise InvalidData(
            f"{named} of the sheet “{table.sheet.name[:60]}” only hold formulas whose values are not stored "
            f"in the file, and no other numbers are there: {_COMPUTE}."
        )
    table.notes.append(
        f"{named}: formulas whose values are not stored in the file were left out: {_COMPUTE}."
    )


def too_wide() -> InvalidData:
    """Return the error for a sheet with a cell beyond the limits."""
    return InvalidData(
        f"A sheet has at most {ROWS} rows and {COLUMNS} columns, this one says more: save it as CSV."
    )


def _list_names(names: Iterable[str]) -> str:
    listed = [f"“{name[:60]}”" for name in names]
    return ", ".join(listed[:5]) + (f" and {len(listed) - 5} more" if len(listed) > 5 else "")


def _cell(row: Sequence[str], column: int) -> str:
    return row[column] if column < len(row) else ""


def _is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None


def _letters(number: int) -> str:
    return (_letters(number // 26 - 1) if number >= 26 else "") + chr(65 + number % 26)


def _text(value: Any, decimal: str) -> str:
    if isinstance(value, str):
        return " ".join(value.split("\n")).replace("\r", " ")
    if value is None:
        return ""
    if isinstance(value, (datetime, date, time)):
        return value.isoformat().removesuffix("T00:00:00")
    if isinstance(value, timedelta):  # Excel holds a duration as a number of days
        value = value / timedelta(days=1)
    if float(value).is_integer() and abs(value) < 2**53:
        return str(int(value))
    return repr(value).replace(".", decimal)
