"""The sheets of a spreadsheet as CSV: choose the sheet that holds the table, and write its cells.

Values are written, not their display: all digits, ISO dates, 1 and 0 for true and false.
"""

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from typing import Any, TypeAlias

from nspca.data import limits
from nspca.errors import InvalidData, shown
from nspca.validation.archive import MAX_BYTES, mib

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
_SEEN = 100
"""Rows from which a sheet is found to be a table."""
_LINE = 100
"""Bytes that a line of CSV takes beside its characters."""
_COMPUTE = "open the file once in a spreadsheet program, which computes them, and save it"


@dataclass
class Sheet:
    """A visible sheet of a workbook.

    Parameters
    ----------
    name : str
    rows : callable
        Returns number (from 0) and cells of the rows, from the top. Empty rows may be left out.
    merged : list of (row, column, last row)
        Cells that are merged downwards, in the order of their rows. `rows` may add some before their row.
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
class Written:
    """A sheet as lines of CSV, each with its number of cells; `held` counts the characters."""

    lines: list[tuple[int, str]] = field(default_factory=list)
    held: int = 0
    is_table: bool = False
    notes: tuple[str, ...] = ()

    @property
    def width(self) -> int:
        return max((cells for cells, _ in self.lines), default=0)


def choose_sheet(
    sheets: Sequence[Sheet], wanted: str | int | None, least: int, write: Callable[[Sheet], Written]
) -> Written:
    """Return the wanted sheet, or else the first table, written by `write`.

    Where no sheet has numbers, the first that is no README is taken. Texts (`least` 1) have few numbers:
    for them, small sheets beside a large one are left aside too.
    """
    if wanted is not None:
        sheets = [_find_sheet(sheets, wanted)]
    kept: list[tuple[Sheet, Written]] = []
    for one in sheets:
        text = write(one)
        kept += [(one, text)] if text.lines else []
        if text.is_table and least > 1:
            break
    if not kept:
        raise InvalidData(
            "The spreadsheet has no sheet with anything in it: at least two rows and two columns are needed."
        )
    most = max(text.held for _, text in kept) / 10
    data = [one for one in kept if not _README.fullmatch(one[0].name) and (least > 1 or one[1].held >= most)]
    tables = [one for one in kept if one[1].is_table and least > 1]
    chosen, text = (tables or data or kept)[0]
    if text.width < least:
        raise InvalidData("The sheet has only one column with anything in it: at least two are needed.")
    if len(sheets) > 1:
        others = _list_names(one.name for one in sheets if one is not chosen)
        said = (
            f"The workbook has {len(sheets)} sheets; “{chosen.name}” was read, not {others} (option sheet)."
        )
        text.notes = (said, *text.notes)
    return text


def _list_names(names: Iterable[str]) -> str:
    listed = [f"“{name[:60]}”" for name in names]
    return ", ".join(listed[:5]) + (f" and {len(listed) - 5} more" if len(listed) > 5 else "")


def _find_sheet(sheets: Sequence[Sheet], wanted: str | int) -> Sheet:
    for number, one in enumerate(sheets):
        if wanted in (one.name, number, str(number)):
            return one
    names = _list_names(one.name for one in sheets)
    raise InvalidData(f"There is no sheet {shown(wanted)}: the visible sheets are {names}.")


def write_sheet(sheet: Sheet, most: int | None, decimal: str, packed: int, limit: int | None) -> Written:
    """Return a sheet as CSV without its empty rows.

    `most` limits the rows and `limit` the characters. `packed` is the size of the file as it was given.
    """
    found, limit = Written(), MAX_BYTES if limit is None else limit
    tabular, hidden, top = 0, 0, -1
    computed: set[int] = set()
    for row, cells in _fill_merged(sheet):
        texts = [
            _text(value).replace(".", decimal) if isinstance(value, float | timedelta) else _text(value)
            for value in cells
        ]
        while texts and not texts[-1]:
            texts.pop()
        if row >= ROWS or len(texts) > COLUMNS:
            raise too_wide()
        if not texts:
            continue
        if found.lines:
            computed |= {i for i in sheet.formulas if i < len(texts) and texts[i]}
        top = row if top < 0 else top
        found.lines.append((len(texts), _line(texts)))
        found.held += len(found.lines[-1][1])
        if found.held > limit:
            raise InvalidData(
                f"The sheet is more than {mib(limit)} of text: keep fewer columns or save it as NPZ."
            )
        limits.check_growth(found.held + _LINE * len(found.lines), packed, "Excel", "save the sheet as CSV")
        hidden += row in sheet.hidden
        if len(found.lines) <= _SEEN:
            tabular += len(texts) > 1 and 4 * sum(map(_is_number, texts)) >= len(texts)
        if most is not None and len(found.lines) >= most:
            break
    seen = min(len(found.lines), _SEEN)
    found.is_table = seen > 2 and 2 * tabular >= seen
    if hidden:
        found.notes += (f"Hidden rows of the sheet were read too: {hidden}.",)
    rows = [*_split(found.lines[:1])]
    if left := [i for i in sorted(sheet.hidden_columns) if i < found.width]:
        names = _list_names(rows[0][i] if i < len(rows[0]) and rows[0][i] else _letters(i) for i in left)
        found.notes += (f"Hidden columns of the sheet were read too: {names} (option drop_columns).",)
    groups = [one for one in sheet.merged if one[0] > top]
    if groups:
        found.notes += (f"Merged cells: each row has the value of its group ({len(groups)} groups).",)
    across = [(left, right) for row, left, right in sheet.wide if row == top]
    if sheet.formulas or across or groups:
        rows = [*_split(found.lines)]
        found.notes += _join_headers(rows, across)
        _move_groups(rows, {column for _, column, _ in groups})
        if sheet.formulas:
            found.notes += (_drop_formulas(rows, sheet, computed),)
        found.lines = [(len(row), _line(row)) for row in rows]
    return found


def _join_headers(rows: list[list[str]], across: Sequence[tuple[int, int]]) -> tuple[str, ...]:
    """Make one header of two rows, the upper of which has cells merged `across` columns; return a note.

    The names of the lower row are taken, with those above them where they would not be distinct.
    """
    if len(rows) < 3 or not across or any(map(_is_number, rows[1])):
        return ()
    if any((left, right) == (0, len(rows[1]) - 1) for left, right in across):  # a title above the table
        return ()
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
    return (f"The upper of two header rows, with merged cells, was {done}: {words}.",)


def _move_groups(rows: list[list[str]], merged: set[int]) -> None:
    """Move merged columns that stand first behind the column of names next to them."""
    at = next(i for i in range(COLUMNS + 1) if i not in merged)
    names = [row[at] for row in rows[1:] if len(row) > at]
    if not at or not names or any(map(_is_number, names)) or len(set(names)) < len(names):
        return
    for row in rows:
        if len(row) > at:
            row.insert(0, row.pop(at))


def _drop_formulas(rows: list[list[str]], sheet: Sheet, computed: set[int]) -> str:
    """Leave out the columns of formulas without values, and return a note; refuse what also has values."""
    for i, first in sheet.formulas.items():
        if i in computed:
            raise InvalidData(
                f"Cell {_letters(i)}{first + 1} holds a formula whose value is not stored in the file, and "
                f"so do perhaps others: {_COMPUTE}."
            )
    columns = ", ".join(map(_letters, sorted(sheet.formulas)[:5]))
    more = f" and {len(sheet.formulas) - 5} more" if len(sheet.formulas) > 5 else ""
    named = f"Column{'s' * (len(sheet.formulas) > 1)} {columns}{more}"
    for row in rows:
        row[:] = [cell for i, cell in enumerate(row) if i not in sheet.formulas]
    if max(map(len, rows)) < 2:
        raise InvalidData(
            f"{named} of the sheet “{sheet.name[:60]}” only hold formulas whose values are not stored in the "
            f"file, and no other numbers are there: {_COMPUTE}."
        )
    return f"{named}: formulas whose values are not stored in the file were left out: {_COMPUTE}."


def _split(lines: Iterable[tuple[int, str]]) -> Iterator[list[str]]:
    return csv.reader(line for _, line in lines)


def _line(texts: Sequence[str]) -> str:
    stream = io.StringIO()
    csv.writer(stream, lineterminator="").writerow(texts)
    return stream.getvalue()


def _fill_merged(sheet: Sheet) -> Iterator[tuple[int, list[Any]]]:
    """Yield the rows of a sheet, with the value of a cell that is merged downwards in each of its rows."""
    seen = 0
    active: dict[int, tuple[int, Any]] = {}
    for row, given in sheet.rows():
        cells = [*given]
        for column, (last, value) in [*active.items()]:
            if row > last:
                del active[column]
            elif any(cell not in (None, "") for cell in cells):
                cells += [None] * (column + 1 - len(cells))
                cells[column] = value
        while seen < len(sheet.merged) and sheet.merged[seen][0] <= row:
            first, column, last = sheet.merged[seen]
            if first == row and column < len(cells) and cells[column] not in (None, ""):
                active[column] = last, cells[column]
            seen += 1
        yield row, cells


def too_wide() -> InvalidData:
    """Return the error for a sheet with a cell beyond the limits."""
    return InvalidData(
        f"A sheet has at most {ROWS} rows and {COLUMNS} columns, this one says more: save it as CSV."
    )


def _is_number(text: str) -> bool:
    return bool(re.fullmatch(r"\s*[-+]?[\d.,]*\d[\d.,]*(e[-+]?\d+)?\s*%?", text, re.IGNORECASE))


def _letters(number: int) -> str:
    return (_letters(number // 26 - 1) if number >= 26 else "") + chr(65 + number % 26)


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, (datetime, date, time)):
        return value.isoformat().removesuffix("T00:00:00")
    if isinstance(value, timedelta):  # Excel holds a duration as a number of days
        return repr(value / timedelta(days=1))
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return " ".join(value.split("\n")).replace("\r", " ") if isinstance(value, str) else repr(value)
