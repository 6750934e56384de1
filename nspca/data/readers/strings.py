"""Tables of which every cell stays a text: tables of documents, and annotations of samples."""

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from nspca.data import limits
from nspca.data.layout import as_utf8, is_number
from nspca.data.readers.base import GZIP
from nspca.data.readers.excel import is_cut_workbook, is_workbook, sheet_as_csv
from nspca.errors import InvalidData, shown
from nspca.validation.archive import open_zip

HEAD = 2**18
"""Bytes from the beginning that tell the delimiter and the header."""
ROWS = 200
"""Rows that are looked at."""
DELIMITERS = "\t;,|"


@dataclass(frozen=True)
class Strings:
    """A table of texts.

    Parameters
    ----------
    header : tuple of str
    columns : list of lists of str
    notes : tuple of str
    """

    header: tuple[str, ...]
    columns: list[list[str]]
    notes: tuple[str, ...] = ()

    def position(self, wanted: str | int, role: str) -> int:
        """Return the number of a column that is given by name or by number from 0."""
        if isinstance(wanted, str) and wanted in self.header:
            return self.header.index(wanted)
        is_whole = isinstance(wanted, int) and not isinstance(wanted, bool)
        if is_whole and 0 <= wanted < len(self.header):  # type: ignore[operator]
            return int(wanted)
        known = ", ".join(f'"{printable(name)[:40]}"' for name in self.header[:8])
        raise InvalidData(f"The {role} column must be one of {known}, got {shown(wanted)}.")


def sheet_or_text(raw: bytes, most: int) -> tuple[bytes, tuple[str, ...]]:
    """Return the text of a CSV file, or the first sheet of a workbook as CSV, as UTF-8, and notes.

    Either may have at most `most` bytes, unpacked.
    """
    packed = len(raw)
    raw = limits.plain_bytes(raw, limit=most) if raw.startswith(GZIP) else raw
    if raw.startswith(b"PK\x03\x04") or is_cut_workbook(raw):
        if not is_cut_workbook(raw) and not is_workbook(open_zip(raw)[1]):
            raise InvalidData(
                "A table as CSV or Excel is needed, got a ZIP of other files: give the table itself."
            )
        return sheet_as_csv(raw, packed=packed, least=1, limit=most)
    return as_utf8(raw)


def first_rows(raw: bytes) -> tuple[str | None, list[list[str]]]:
    """Return the delimiter of a table in UTF-8 and its first rows; None and no rows when a text is no table.

    The delimiter divides all rows into the same number of cells, two at least. Commas and semicolons of
    prose hardly ever come as often in every line.
    """
    text = raw[:HEAD].decode("utf-8", errors="ignore")
    best: tuple[str | None, list[list[str]]] = (None, [])
    for sign in DELIMITERS:
        rows = split_rows(text, sign)
        widths = {len(row) for row in rows}
        if len(rows) > 1 and len(widths) == 1 and len(rows[0]) > max(1, len(best[1][0]) if best[1] else 1):
            best = sign, rows
    return best


def split_rows(text: str, sign: str) -> list[list[str]]:
    """Return the first rows of a text as cells, without the last one where the text may end in its middle."""
    rows: list[list[str]] = []
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=sign):
            if row:
                rows.append(row)
            if len(rows) > ROWS:
                return rows[:-1]
    except csv.Error:  # a cell of more than 128 KiB: the rows before it tell enough
        return rows
    return rows[:-1] if len(text) >= HEAD // 4 and len(rows) > 2 else rows


def has_header(rows: Sequence[Sequence[str]], column: int, names: Sequence[object] = ()) -> bool:
    """Tell whether the first row names the columns: short texts, above a column of longer ones or of numbers.

    Parameters
    ----------
    rows : the first rows
    column : int
        The column whose cells are compared with the first row.
    names : sequence
        Names of columns that are asked for; one of them in the first row makes it a header.
    """
    first, body = rows[0], rows[1:]
    if any(isinstance(name, str) and name in first for name in names):
        return True
    if not body or any(len(cell) > 40 or is_number(cell, ".") for cell in first):
        return False
    usual = sum(len(row[column]) for row in body) / len(body)
    return len(first[column]) < usual / 2


def read_strings(raw: bytes, delimiter: str, header: bool) -> Strings:
    """Return all cells of a table in UTF-8 as texts."""
    import pandas as pd

    try:
        table = pd.read_csv(
            io.BytesIO(raw), sep=delimiter, header=None, dtype=str, keep_default_na=False, na_filter=False,
            skip_blank_lines=True, engine="c",
        )  # fmt: skip
    except (ValueError, pd.errors.ParserError) as error:
        raise InvalidData(
            f"The table cannot be split into cells ({' '.join(str(error).split())[:120]}): look for a "
            "quotation mark that is never closed."
        ) from None
    columns = [table[i].tolist() for i in range(table.shape[1])]
    if not header:
        return Strings(tuple(f"column {i + 1}" for i in range(len(columns))), columns)
    names = tuple(printable(column[0]) or f"column {i}" for i, column in enumerate(columns, 1))
    return Strings(names, [column[1:] for column in columns])


def is_hidden(label: str) -> bool:
    """Tell whether a file in an archive or folder is one that a system hides."""
    parts = PurePosixPath(label.replace("\\", "/")).parts
    return any(part.startswith((".", "__MACOSX")) and part not in (".", "..") for part in parts) or parts[
        -1:
    ] == ("Thumbs.db",)


def natural_order(label: str) -> list[tuple[int, int, str]]:
    """Return a sort key in which image10 follows image9. Digits are compared as text, so any length is
    allowed.
    """
    parts = ((part, part.lstrip("0")) for part in re.split(r"(\d+)", label))
    return [(0, len(digits), digits) if part.isdecimal() else (1, 0, part) for part, digits in parts]


def printable(name: str) -> str:
    """Return a name in one line, without control characters."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in name).split())
