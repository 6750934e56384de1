"""Find the layout of a text table from its first lines: delimiter, decimal sign, header, text columns.

Readers of text tables parse by the layout, and the page Data shows its columns to choose from.
"""

import codecs
import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

from nspca.data.limits import check_lines, check_text_columns
from nspca.data.names import numbered, unique_names
from nspca.errors import InvalidData

ENOUGH_ROWS = 50
"""Maximum rows that the layout is found from. Reading the whole file later finds exceptions further down."""
_ENOUGH_LINES, _ENOUGH_CHARACTERS = 8, 500_000
"""Lines and characters that suffice together. A line of 12 582 genes has 80 000 characters."""
SPACES = " "
"""The delimiter that stands for any run of blanks."""
_COMMENT = ("#", "%", "!", "//")
DECIMAL = {mark: re.compile(rf"\s*[+-]?\d*[{mark}]\d+([eE][+-]?\d+)?\s*") for mark in ",."}
"""Patterns of numbers with a decimal comma and with a decimal point."""
_DELIMITERS = ("\t", ";", ",", "|", SPACES)
MISSING = {"", "na", "n/a", "nan", "nat", "null", "none", "?", "-", ".", "#n/a"}
"""Cells that are missing values, in lower case."""
_CORNER = {
    "",
    "id",
    "name",
    "names",
    "sample",
    "samples",
    "gene",
    "genes",
    "probe",
    "probes",
    "feature",
    "features",
    "index",
    "row",
    "label",
    "class",
}
"""First cells, in lower case, of a header above a column of names."""
_FORMATS = "give CSV, TSV, Excel, Parquet, Matrix Market, NPY, NPZ, docword or a ZIP of images"
_BARE, _TAIL = b',;\t |"\r\n', 2**16
"""Characters of the empty lines that spreadsheets write below a table. Number of bytes at the end of a text
that are searched for such lines.
"""
_DECODED = 2**20
"""Number of bytes decoded at a time when a text is checked for UTF-8."""
FEW_LABELS = 30
"""Maximum number of different labels. Each label gets its own colour in a plot."""


@dataclass(frozen=True)
class Layout:
    """Layout of a text table, found from its first lines.

    Parameters
    ----------
    delimiter : str
        One character; a space stands for any run of blanks.
    decimal : "." or ","
    header : bool
    columns : tuple of str
        Names as in the file, made unique, or numbered.
    text_columns, empty_columns : tuples of int
        Columns whose first cells are not numbers, or are all empty.
    id_column : int or None
        The first column, if its values are distinct and it holds texts or has no name in the header.
    label_columns : tuple of int
        Text columns with few, repeated values.
    label_rows : tuple of int
        Text rows below the header, which can hold labels when features are in rows.
    rows : tuple of tuples of str
        The first lines, header included.
    notes : tuple of str
    """

    delimiter: str
    decimal: str
    header: bool
    columns: tuple[str, ...]
    text_columns: tuple[int, ...]
    empty_columns: tuple[int, ...]
    id_column: int | None
    label_columns: tuple[int, ...]
    label_rows: tuple[int, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


def as_utf8(raw: bytes) -> tuple[bytes, tuple[str, ...]]:
    """Return text as UTF-8 without byte order mark, and a note when its encoding was guessed.

    Raises
    ------
    InvalidData
        When the bytes are not text.
    """
    notes: tuple[str, ...] = ()
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            raw = raw.decode("utf-16").encode()
        except UnicodeDecodeError:
            raise InvalidData(
                "The file starts like UTF-16 text but is not: save the table as UTF-8 CSV."
            ) from None
    raw = raw.removeprefix(b"\xef\xbb\xbf")
    if b"\0" in raw[:65536]:
        raise InvalidData(
            f"The file is not text (it holds zero bytes) and no format that is read here: {_FORMATS}."
        )
    if not _is_utf8(raw):
        if _is_garbage(raw):
            raise InvalidData(f"The file is not text and no format that is read here: {_FORMATS}.")
        raw, notes = (
            raw.decode("cp1252", errors="replace").encode(),
            ("The text is not UTF-8, it was read as Western European (cp1252).",),
        )
    return raw, notes


def stripped(raw: bytes) -> bytes:
    """Return text without the blank lines around it, and without lines of bare delimiters below it.

    Raises
    ------
    InvalidData
        When the text has no other lines.
    """
    raw = raw.strip(b"\r\n")
    # Spreadsheets write lines of bare delimiters below the table: the last line is the one with the last cell
    # that is not empty.
    filled = len(raw.rstrip(_BARE))
    ends = [end for end in (raw.find(b"\n", filled), raw.find(b"\r", filled)) if end >= 0]
    raw = raw[: min(ends, default=len(raw))]
    if not raw.strip():
        raise InvalidData(
            "The file holds no table, only blank lines: at least two rows and two columns are needed."
        )
    return raw


def trimmed(raw: bytes) -> bytes:
    """Return `stripped` text, or `raw` itself without a copy when only line ends follow the table."""
    end = raw[-_TAIL:]
    below = end[len(end.rstrip(_BARE)) :]
    is_plain = not raw.startswith((b"\n", b"\r")) and len(below) < len(end) and not below.strip(b"\r\n")
    return raw if is_plain else stripped(raw)


def _is_utf8(raw: bytes) -> bool:
    """Return whether bytes are UTF-8. They are decoded in pieces, so that no copy of the text is held."""
    if raw.isascii():
        return True
    decoder, view = codecs.getincrementaldecoder("utf-8")(), memoryview(raw)
    try:
        for start in range(0, len(raw), _DECODED):
            decoder.decode(view[start : start + _DECODED])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _is_garbage(raw: bytes) -> bool:
    """Return whether more than one byte in a hundred is a control character."""
    head = raw[:65536]
    control = sum(head.count(bytes([code])) for code in range(32) if code not in b"\t\n\r\f")
    return control > len(head) / 100


def find_layout(
    raw: bytes, *, header: "str | bool" = "auto", delimiter: str | None = None, decimal: str | None = None
) -> Layout:
    """Return the layout of a table in UTF-8, found from its first lines. Given arguments are not guessed."""
    check_lines(raw)
    lines = _first_lines(raw)
    delimiter = _check_delimiter(delimiter) if delimiter else _find_delimiter(lines, decimal)
    rows = [row for row in split(lines, delimiter) if row]
    _check_comments(rows)
    check_text_columns(max(map(len, rows)))
    widths = [len(row) for row in rows[1:]] or [len(rows[0])]
    width = max(dict.fromkeys(widths), key=widths.count)
    decimal = decimal or _find_decimal(rows, delimiter)
    if len(rows) > 1 and len(rows[0]) == width - 1:
        # R writes row names this way: the header has no name for the first column.
        rows[0] = ["", *rows[0]]
    body = rows[1:] if len(rows) > 1 else rows
    kinds = [_column_kind([row[i] for row in body if i < len(row)], decimal) for i in range(width)]
    has_header = _find_header(rows, kinds, decimal) if header == "auto" else bool(header)
    if has_header and len(rows) == 1:
        raise InvalidData(
            "The file holds a header and no rows below it: at least two rows of numbers are needed."
        )
    if not has_header:
        kinds = [_column_kind([row[i] for row in rows if i < len(row)], decimal) for i in range(width)]
    body = rows[1:] if has_header else rows
    layout = Layout(delimiter, decimal, has_header, (), (), (), None, (), (), tuple(map(tuple, rows)))
    return _name_columns(layout, kinds, body, width)


def _name_columns(layout: Layout, kinds: Sequence[str], body: list[list[str]], width: int) -> Layout:
    """Return the layout with names, roles and notes of its columns, from their kinds and the rows `body`."""
    columns = tuple(numbered("feature", width))
    notes: tuple[str, ...] = ()
    if layout.header:
        names = list(layout.rows[0]) + [""] * (width - len(layout.rows[0]))
        columns, notes = unique_names(names, "column")
    text = tuple(i for i, kind in enumerate(kinds) if kind == "text")
    label_columns = tuple(i for i in text if are_labels([row[i] for row in body if i < len(row)]))
    first = [row[0] for row in body]
    unnamed = layout.header and not layout.rows[0][0].strip()
    id_column = 0 if (0 in text or unnamed) and len(set(first)) == len(first) else None
    label_rows = tuple(r for r, row in enumerate(body) if _column_kind(row[1:], layout.decimal) == "text")
    named = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar", SPACES: "blank"}.get(
        layout.delimiter, repr(layout.delimiter)
    )
    if layout.delimiter != "," or layout.decimal == ",":
        notes += (
            f"Columns are separated by a {named}"
            + (" and decimals written with a comma." if layout.decimal == "," else "."),
        )
    empty = tuple(i for i, kind in enumerate(kinds) if kind == "empty")
    return replace(
        layout,
        columns=columns,
        text_columns=text,
        empty_columns=empty,
        id_column=id_column,
        label_columns=tuple(i for i in label_columns if i != id_column),
        label_rows=label_rows,
        notes=notes,
    )


def _first_lines(raw: bytes) -> list[str]:
    """Return the first lines of a text: `ENOUGH_ROWS` and a header, or fewer when lines are long."""
    stream = io.TextIOWrapper(io.BytesIO(raw), encoding="utf-8", newline="")
    lines: list[str] = []
    characters = 0
    while (
        len(lines) <= ENOUGH_ROWS
        and (len(lines) < _ENOUGH_LINES or characters < _ENOUGH_CHARACTERS)
        and (line := stream.readline())
    ):
        lines.append(line)
        characters += len(line)
    return lines


def split(lines: Iterable[str], delimiter: str) -> Iterator[list[str]]:
    """Yield each line as a list of cells. A delimiter between quotation marks does not divide cells."""
    if delimiter == SPACES:
        yield from (line.split() for line in lines)
        return
    try:
        yield from csv.reader(lines, delimiter=delimiter)
    except csv.Error as error:
        if "field larger" in str(error):
            raise InvalidData(
                f"A cell may have at most {csv.field_size_limit()} characters, and one has more: leave its "
                "column out, or close the quotation mark that is left open."
            ) from None
        raise InvalidData(
            f"The table cannot be split into cells ({error}): look for a quotation mark that is never closed."
        ) from None


def _check_comments(rows: Sequence[Sequence[str]]) -> None:
    """Refuse a table that begins with comment lines.

    A line that begins like a comment, but has the usual number of cells, counts as a header or a row.
    """
    marked = list(takewhile(is_comment, rows))
    widths = [len(row) for row in rows[len(marked) :] or rows]
    usual = max(dict.fromkeys(widths), key=widths.count)
    odd = [row for row in marked if len(row) != usual or usual == 1]
    named = len(marked) == 1 and 1 < len(marked[0]) == usual - 1  # R names all columns but the first
    if odd and not named:
        line = short(" ".join(odd[0]))
        raise InvalidData(
            f'A table begins with its header or its first row, this one with a comment ("{line}"): remove '
            "what stands above the table."
        )


def is_comment(row: Sequence[str]) -> bool:
    """Return whether a row begins with a comment mark: ``#``, ``%``, ``!`` or ``//``."""
    return row[0].lstrip().startswith(_COMMENT)


def _check_delimiter(delimiter: str) -> str:
    """Return a delimiter that the user gave, or refuse one that cannot divide cells."""
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise InvalidData(f"A delimiter is one character such as , ; or a tab, got {delimiter!r}.")
    return delimiter


def _find_delimiter(lines: Sequence[str], sign: str | None) -> str:
    """Return the delimiter that gives rows of equal width with the most cells that are numbers."""
    best, best_score = ",", (0.0, 0)
    body = lines[1:] if len(lines) > 1 else lines
    for delimiter in _DELIMITERS:
        if delimiter != SPACES and not any(delimiter in line for line in lines):
            continue
        rows = [row for row in split(body, delimiter) if row]
        widths = [len(row) for row in rows]
        common = max(set(widths), key=widths.count, default=0)
        if common < 2:
            continue
        decimal = sign or _find_decimal(rows, delimiter)
        cells = [cell for row in rows for cell in row[:200]]
        numbers = sum(is_number(cell, decimal) or cell.strip().lower() in MISSING for cell in cells) / len(
            cells
        )
        score = (numbers * widths.count(common) / len(widths), common)
        if score[0] > best_score[0] + 1e-9:
            best, best_score = delimiter, score
    return best


def _find_decimal(rows: Sequence[Sequence[str]], delimiter: str) -> str:
    """Return the decimal sign, comma or point, that more cells have; a point when commas divide cells."""
    if delimiter == ",":
        return "."
    cells = [cell for row in rows for cell in row[:200]]
    commas, points = (sum(bool(DECIMAL[mark].fullmatch(cell)) for cell in cells) for mark in ",.")
    return "," if commas > points else "."


def is_number(cell: str, decimal: str) -> bool:
    """Return whether a cell is a number. Infinities count as numbers, words for missing values do not."""
    try:
        float(cell.replace(",", ".") if decimal == "," else cell)
    except ValueError:
        return False
    return "_" not in cell and cell.strip().lower() not in MISSING


def _column_kind(cells: Sequence[str], decimal: str) -> str:
    """Return the kind of a column: "text", "number" or "empty". Missing values are ignored."""
    filled = [cell for cell in cells if cell.strip().lower() not in MISSING]
    if not filled:
        return "empty" if not any(cell.strip() for cell in cells) else "number"
    numbers = sum(is_number(cell, decimal) for cell in filled)
    return "number" if 2 * numbers >= len(filled) else "text"


def are_labels(cells: Sequence[Any]) -> bool:
    """Return whether cells have few different values, at most half as many as cells."""
    return are_few(len(set(cells)), len(cells))


def are_few(different: int, count: int) -> bool:
    """Return whether `different` values among `count` cells are few enough for labels."""
    return different <= FEW_LABELS and different <= max(1, count // 2)


def _find_header(rows: Sequence[Sequence[str]], kinds: Sequence[str], decimal: str) -> bool:
    """Return whether the first row is a header.

    Signs of a header are text above numbers, a row without numbers, an empty first cell, and a first cell
    such as "id" above texts.
    """
    first = rows[0]
    if any(
        kind == "number" and cell.strip() and not is_number(cell, decimal)
        for cell, kind in zip(first, kinds, strict=False)
    ):
        return len(rows) > 1 or not any(is_number(cell, decimal) for cell in first)
    if not any(is_number(cell, decimal) for cell in first):
        return True
    if (
        not first[0].strip()
        and all(cell.strip() for cell in first[1:])
        and any(row[0].strip() for row in rows[1:])
    ):
        return True
    return kinds[0] in ("text", "empty") and first[0].strip().lower() in _CORNER


def printable(name: str) -> str:
    """Return a name on one line, with control characters replaced by blanks."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in name).split())


def short(text: str) -> str:
    """Return a text on one line and of at most 40 characters, for use in a message."""
    text = printable(text)
    return text if len(text) <= 40 else text[:37] + "..."


def quoted(layout: Layout, column: int) -> str:
    """Return a column for a message, after a space: its name in quotes, or its number without a header."""
    return f' "{short(layout.columns[column])}"' if layout.header else f" {column + 1}"
