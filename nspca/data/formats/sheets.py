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
from typing import Any

from nspca.data.findings import Finding, suspicion
from nspca.data.limits import check_growth
from nspca.data.names import quote_names, unique_names
from nspca.errors import InvalidData, Way, shown
from nspca.validation.archive import mib

ROWS, COLUMNS = 2**20, 2**14
"""Maximum rows and columns of a sheet: Excel's own limits."""
_README = re.compile(
    r"\W*(read.?me|info(rmation)?|about|notes?|cover|contents?|legend|description|instructions?|metadata"
    r"|dictionary|codebook|lies.?mich|hinweise?)\b.*",
    re.IGNORECASE,
)
"""Names of sheets that tell about the others."""
_NUMBER = re.compile(r"\s*[-+]?[\d.,]*\d[\d.,]*(e[-+]?\d+)?\s*%?", re.IGNORECASE)
_TITLES = 5
"""First rows among which the header is, below titles."""
_SEEN = 100
"""Rows from which a sheet is found to be a table."""
_CELL = 60
"""Bytes that a cell takes beside its characters."""
_COMPUTE = "open the file once in a spreadsheet program, which computes them, and save it"


@dataclass
class Sheet:
    """A visible sheet of a workbook.

    `load` yields number (from 0) and cells of the rows, from the top, and may fill the attributes below.
    Empty rows may be left out; an empty cell is None or "". `merged` holds (row, column, last row) of cells
    merged downwards, `wide` (row, column, last column) of those merged across. `formulas` are the columns
    with formulas without a stored value, each with the first row that has one. `rows` are the rows that were
    read, as text, without empty ones; `places` are their numbers and `held` counts their characters.
    """

    name: str
    load: Callable[["Sheet"], Iterable[tuple[int, Sequence[Any]]]]
    merged: list[tuple[int, int, int]] = field(default_factory=list)
    wide: list[tuple[int, int, int]] = field(default_factory=list)
    hidden: set[int] = field(default_factory=set)
    hidden_columns: set[int] = field(default_factory=set)
    formulas: dict[int, int] = field(default_factory=dict)
    rows: list[list[str]] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    held: int = 0
    notes: list[Finding | str] = field(default_factory=list)

    @property
    def width(self) -> int:
        return max(map(len, self.rows), default=0)

    @property
    def is_table(self) -> bool:
        """Tell whether half of the first rows have numbers in a quarter of their cells."""
        seen = self.rows[:_SEEN]
        tabular = [row for row in seen if len(row) > 1 and 4 * sum(map(_is_number, row)) >= len(row)]
        return len(seen) > 2 and 2 * len(tabular) >= len(seen)

    def read(self, most: int | None, decimal: str, packed: int, limit: int) -> None:
        """Read the first `most` rows; refuse more than `limit` characters.

        `packed` is the size of the file as it was given.
        """
        count = 0
        for row, cells in self.load(self):
            texts = [_text(value, decimal) for value in cells]
            while texts and not texts[-1]:
                texts.pop()
            if row >= ROWS or len(texts) > COLUMNS:
                raise too_wide()
            if texts:
                self.rows.append(texts)
                self.places.append(row)
                self.held += sum(map(len, texts))
                count += len(texts)
                check_growth(self.held + _CELL * count, packed, "Excel", "save the sheet as CSV")
            if self.held > limit:
                raise InvalidData(f"The sheet is more than {mib(limit)} of text: keep fewer columns.")
            if len(self.rows) == most:
                break


def choose_sheet(
    sheets: Sequence[Sheet], wanted: str | int | None, least: int, read: Callable[[Sheet], None]
) -> Sheet:
    """Return the wanted sheet, or else the first with a table; sheets are read by `read`.

    Where no sheet has numbers, the first that is no README is taken. Texts (`least` 1) have few numbers:
    for them, small sheets beside a large one are left aside too.
    """
    if wanted is not None:
        named = [one for number, one in enumerate(sheets) if wanted in (one.name, number, str(number))]
        if not named:
            names = quote_names(one.name for one in sheets)
            raise InvalidData(f"There is no sheet {shown(wanted)}: the visible sheets are {names}.")
        sheets = named
    kept: list[Sheet] = []
    for one in sheets:
        read(one)
        kept += [one] if one.rows else []
        if one.is_table and least > 1:
            break
    if not kept:
        raise InvalidData(
            "The spreadsheet has no sheet with anything in it: at least two rows and two columns are needed."
        )
    most = max(one.held for one in kept) / 10
    data = [one for one in kept if not _README.fullmatch(one.name) and (least > 1 or one.held >= most)]
    tables = [one for one in kept if one.is_table and least > 1]
    chosen = (tables or data or kept)[0]
    if chosen.width < least:
        raise InvalidData("The sheet has only one column with anything in it: at least two are needed.")
    if len(sheets) > 1:
        others = quote_names(one.name for one in sheets if one is not chosen)
        chosen.notes.append(
            f'The workbook has {len(sheets)} sheets; "{chosen.name[:60]}" was read, not {others} (option '
            "sheet)."
        )
    return chosen


def as_csv(sheet: Sheet) -> bytes:
    """Return a sheet as CSV with its merged cells resolved; `notes` get what was decided."""
    _fill_groups(sheet)
    _say_blank(sheet)
    _say_gap(sheet)
    _say_hidden(sheet)
    _join_headers(sheet)
    _drop_formulas(sheet)
    width, stream = sheet.width, io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(row + [""] * (width - len(row)) for row in sheet.rows)
    return stream.getvalue().removesuffix("\n").encode()


def _fill_groups(sheet: Sheet) -> None:
    """Write the value of a cell that is merged downwards in each of its rows.

    Groups that stand first are moved behind the column of names next to them.
    """
    merged: dict[int, int] = {}
    for first, column, last in sheet.merged:
        start, end = bisect_left(sheet.places, first), bisect_right(sheet.places, last)
        if 0 < start < end and sheet.places[start] == first and _cell(sheet.rows[start], column):
            merged[column] = merged.get(column, 0) + 1
            for row in sheet.rows[start + 1 : end]:
                row += [""] * (column + 1 - len(row))
                row[column] = sheet.rows[start][column]
    if not merged:
        return
    groups = sum(merged.values())
    sheet.notes.append(f"Merged cells: each row has the value of its group ({groups} groups).")
    at = next(i for i in range(COLUMNS + 1) if i not in merged)
    names = [row[at] for row in sheet.rows[1:] if len(row) > at]
    if at and names and not any(map(_is_number, names)) and len(set(names)) == len(names):
        for row in sheet.rows:
            if len(row) > at:
                row.insert(0, row.pop(at))


def _say_blank(sheet: Sheet) -> None:
    """Say how many blank rows stand between those of the table, below a title and its blank rows."""
    begin = next((i for i, row in enumerate(sheet.rows) if 2 * sum(map(bool, row)) > max(2, sheet.width)), 0)
    inside = sheet.places[begin:]
    blank = inside[-1] - inside[0] + 1 - len(inside) if inside else 0
    if blank:
        were = (
            "1 blank row inside the table was" if blank == 1 else f"{blank} blank rows inside the table were"
        )
        sheet.notes.append(f"{were} left out.")


def _say_gap(sheet: Sheet) -> None:
    """Say that columns behind an empty one, which begin with names of their own, may be another table."""
    gap = next((i for i in range(1, sheet.width) if not any(_cell(row, i) for row in sheet.rows)), 0)
    begin = next((i for i in range(gap, sheet.width) if any(_cell(row, i) for row in sheet.rows)), 0)
    names = [_cell(row, begin) for row in sheet.rows[1:] if _cell(row, begin)]
    if gap and names and not any(map(_is_number, names)) and len(set(names)) == len(names):
        filled = [sum(map(bool, row)) for row in sheet.rows[:_TITLES]]
        header = sheet.rows[next(i for i, count in enumerate(filled) if 2 * count > max(filled))]
        behind = unique_names(header, "column")[0][begin:]
        what = f"Behind an empty column, {quote_names(behind)} may be another table"
        sheet.notes.append(suspicion(what, Way("drop_columns", behind, "Leave it out")))


def _say_hidden(sheet: Sheet) -> None:
    if hidden := len(sheet.hidden.intersection(sheet.places)):
        sheet.notes.append(f"Hidden rows of the sheet were read too: {hidden}.")
    if left := [i for i in sorted(sheet.hidden_columns) if i < sheet.width]:
        names = quote_names(_cell(sheet.rows[0], i) or _letters(i) for i in left)
        sheet.notes.append(f"Hidden columns of the sheet were read too: {names} (option drop_columns).")


def _join_headers(sheet: Sheet) -> None:
    """Make one header of two rows, the upper of which has cells merged across columns.

    The names of the lower row are taken, with those above them where they would not be distinct.
    """
    across = [(left, right) for row, left, right in sheet.wide if row == sheet.places[0]]
    rows = sheet.rows
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
    words = quote_names(dict.fromkeys(upper[left] for left, _ in across))
    done = "joined to the names below it" if joined else "left out"
    sheet.notes.append(f"The upper of two header rows, with merged cells, was {done}: {words}.")


def _drop_formulas(sheet: Sheet) -> None:
    """Leave out the columns of formulas without values; refuse one that also has values."""
    formulas = sheet.formulas
    if not formulas:
        return
    for i, first in formulas.items():
        if any(_cell(row, i) for row in sheet.rows[1:]):
            raise InvalidData(
                f"Cell {_letters(i)}{first + 1} holds a formula whose value is not stored in the file, and "
                f"so do perhaps others: {_COMPUTE}."
            )
    named = "Columns of formulas " + quote_names(map(_letters, sorted(formulas)))
    sheet.rows = [[cell for i, cell in enumerate(row) if i not in formulas] for row in sheet.rows]
    if sheet.width < 2:
        raise InvalidData(
            f"{named} of the sheet have no values stored in the file, and no other numbers are there: "
            f"{_COMPUTE}."
        )
    sheet.notes.append(f"{named} were left out, since their values are not stored in the file: {_COMPUTE}.")


def too_wide() -> InvalidData:
    """Return the error for a sheet with a cell beyond the limits."""
    return InvalidData(
        f"A sheet has at most {ROWS} rows and {COLUMNS} columns, this one says more: save it as CSV."
    )


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
    if isinstance(value, datetime | date | time):
        return value.isoformat().removesuffix("T00:00:00")
    if isinstance(value, timedelta):  # Excel holds a duration as a number of days
        value = value / timedelta(days=1)
    if float(value).is_integer() and abs(value) < 2**53:
        return str(int(value))
    return repr(value).replace(".", decimal)
