"""Read tables whose cells all stay texts: tables of documents, and annotations of samples."""

import csv
import io
import re
from collections.abc import Sequence
from itertools import islice
from pathlib import PurePosixPath

import pandas as pd

from nspca.data.formats.base import Strings
from nspca.data.limits import Files, check_dense
from nspca.data.names import printable
from nspca.data.numerals import is_number
from nspca.errors import InvalidData

HEAD = 2**18
"""Number of bytes at the start of a file from which the delimiter and the header are found."""
ROWS = 200
"""Maximum rows at the start of a file from which the delimiter and the header are found."""
DELIMITERS = "\t;,|"


def first_rows(raw: bytes) -> tuple[str | None, list[list[str]]]:
    """Return the delimiter of a table in UTF-8 and its first rows, or None and no rows for other text.

    The delimiter must divide every row into an equal number of cells, at least two. Prose is not taken for a
    table, since its lines hardly ever have equally many commas or semicolons.
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
    """Return the first rows of a text as lists of cells, divided at `sign`.

    The last row is dropped when the text may be cut in the middle of this row.
    """
    rows: list[list[str]] = []
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=sign):
            if row:
                rows.append(row)
            if len(rows) > ROWS:
                return rows[:-1]
    except csv.Error:  # a cell of more than 128 KiB: the earlier rows suffice to find the layout
        return rows
    return rows[:-1] if len(text) >= HEAD // 4 and len(rows) > 2 else rows


def has_header(rows: Sequence[Sequence[str]], column: int, names: Sequence[object] = ()) -> bool:
    """Return whether the first row is a header: texts above numbers, above repeated or above longer texts.

    It is one if it holds one of `names`, which the user gave. `column` is compared with the first row.
    """
    first, body = rows[0], rows[1:]
    if any(isinstance(name, str) and name in first for name in names):
        return True
    if not body or any(len(cell) > 40 or is_number(cell, ".") for cell in first):
        return False
    columns = [*zip(*body, strict=False)]
    if any(all(is_number(cell, ".") for cell in cells) for cells in columns):
        return True  # no cell of the first row is a number
    if 2 * len(set(columns[column])) < len(body) and first[column] not in columns[column]:
        return True
    usual = sum(map(len, columns[column])) / len(body)
    return len(first[column]) < usual / 2


def read_frame(raw: bytes, delimiter: str) -> pd.DataFrame:
    """Return the cells of a table in UTF-8 as texts, with its header as the first row.

    Rows that are shorter than the first two end with empty cells. A longer row is refused.
    """
    try:
        lines = io.TextIOWrapper(io.BytesIO(raw), encoding="utf-8", newline="")
        first = islice(filter(None, csv.reader(lines, delimiter=delimiter)), 2)
        width = max(map(len, first), default=0)
        check_dense(raw.count(b"\n"), width)
        return pd.read_csv(
            io.BytesIO(raw), sep=delimiter, names=range(width), dtype=str, keep_default_na=False,
            na_filter=False, skip_blank_lines=True, engine="c",
        )  # fmt: skip
    except InvalidData:
        raise
    except (ValueError, csv.Error) as error:
        raise InvalidData(
            f"The table cannot be split into cells ({' '.join(str(error).split())[:120]}): look for a "
            "quotation mark that is never closed."
        ) from None


def read_strings(raw: bytes, delimiter: str, header: bool) -> Strings:
    """Return a table in UTF-8 as `Strings`. Columns are numbered from 1 when there is no header."""
    table = read_frame(raw, delimiter)
    columns = [table[i].tolist() for i in range(table.shape[1])]
    if not header:
        return Strings(tuple(f"column {i + 1}" for i in range(len(columns))), columns)
    names = tuple(printable(column[0]) or f"column {i}" for i, column in enumerate(columns, 1))
    return Strings(names, [column[1:] for column in columns])


def is_hidden(label: str) -> bool:
    """Return whether a path in an archive or folder is hidden or made by the operating system."""
    parts = PurePosixPath(label.replace("\\", "/")).parts
    return any(part.startswith((".", "__MACOSX")) and part not in (".", "..") for part in parts) or parts[
        -1:
    ] == ("Thumbs.db",)


def visible(files: Files | None) -> Files:
    """Return the files of a ZIP or folder in natural order, without hidden ones."""
    shown = (one for one in files or () if not is_hidden(one[0]))
    return sorted(shown, key=lambda one: natural_order(one[0]))


def natural_order(label: str) -> list[tuple[int, int, str]]:
    """Return a sort key for file names that puts image10 after image9.

    Numbers are compared by length and then as text, since `int` refuses very long digit strings.
    """
    parts = ((part, part.lstrip("0")) for part in re.split(r"(\d+)", label))
    return [(0, len(digits), digits) if part.isdecimal() else (1, 0, part) for part, digits in parts]


def short_name(label: str) -> str:
    """Return the last part of a path in an archive or folder, shortened for a message."""
    return printable(PurePosixPath(label.replace("\\", "/")).name)[:60]
