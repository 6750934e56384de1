"""Read tables whose cells all stay texts: tables of documents, and annotations of samples."""

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import PurePosixPath

import pandas as pd

from nspca.data.dialect import ENOUGH_ROWS, SPACES, Layout, find_layout
from nspca.data.formats.base import Strings
from nspca.data.limits import Files, check_dense
from nspca.data.names import printable
from nspca.data.numerals import is_number
from nspca.data.options import ReadOptions
from nspca.errors import InvalidData

HEAD = 2**18
"""Number of bytes at the start of a file from which the delimiter and the header are found."""
DELIMITERS = "\t;,|"
MOST_TITLE = 5
"""Maximum lines above a table of texts, such as a title."""
_ASIDE = re.compile(
    r".*(read.?me|licen[cs]e|copying|changelog|citation|about|notes?|codebook|dictionary|description|manifest"
    r"|checksums?|md5sums?|sha\d+sums?)[^/]*|index(\.txt)?|.*\.(md|rst|pdf|html?|docx?|rtf|odt|pptx?|log|sh|py|r|rmd|ipynb|m|bib"
    r"|names|tex|ya?ml|xml|toml|ini|md5|sha\d+|png|jpe?g|gif|svg|tiff?|bmp|webp)",
    re.IGNORECASE,
)
"""Names of files that are beside a table and hold none."""


def find_table(raw: bytes, delimiters: str = DELIMITERS) -> Layout | None:
    """Return the layout of a table in UTF-8, or None for other text.

    The delimiter must divide every row into an equal number of cells, at least two. Prose is not taken for a
    table, since its lines hardly ever have equally many commas or semicolons. One column is a table where its
    cells are in quotation marks.
    """
    head = raw[:HEAD].decode("utf-8", errors="ignore").encode()
    found = [layout for sign in delimiters if (layout := _even_layout(head, sign)) is not None]
    best = max(found, key=lambda layout: len(layout.columns), default=None)
    if best is not None and len(best.columns) < 2:
        quoted = len(re.findall(rb'(?:^|\n)"', head))
        return best if 2 * quoted >= len(best.rows) else None
    return best


def _even_layout(head: bytes, delimiter: str) -> Layout | None:
    """Return the layout of a text whose first rows have equally many cells, below few lines of a title."""
    try:
        layout = find_layout(head, ReadOptions(delimiter=delimiter))
    except InvalidData:
        return None
    is_cut = len(layout.rows) > 2 and (head.count(b"\n") > ENOUGH_ROWS or 4 * len(head) >= HEAD)
    rows = layout.rows[:-1] if is_cut else layout.rows
    is_even = {len(row) for row in rows} == {len(layout.columns)}
    return (
        replace(layout, rows=rows) if is_even and len(rows) > 1 and layout.above <= MOST_TITLE + 1 else None
    )


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


def read_frame(raw: bytes, delimiter: str, width: int | None = None) -> pd.DataFrame:
    """Return the cells of a table in UTF-8 as texts, with its header as the first row.

    Rows that are shorter than `width`, by default that of the first two, end with empty cells. A longer row
    is refused.
    """
    try:
        if width is None:
            lines = io.TextIOWrapper(io.BytesIO(raw), encoding="utf-8", newline="")
            first = islice(filter(None, csv.reader(lines, delimiter=delimiter)), 2)
            width = max(map(len, first), default=0)
        check_dense(raw.count(b"\n"), width)
        return pd.read_csv(
            io.BytesIO(raw), sep=r"\s+" if delimiter == SPACES else delimiter, names=range(width), dtype=str,
            keep_default_na=False, na_filter=False, skip_blank_lines=True, engine="c",
        )  # fmt: skip
    except InvalidData:
        raise
    except (ValueError, csv.Error) as error:
        raise InvalidData(
            f"The table cannot be split into cells ({' '.join(str(error).split())[:120]}): look for a "
            "quotation mark that is never closed."
        ) from None


def read_strings(raw: bytes, layout: Layout, header: bool) -> Strings:
    """Return a table in UTF-8 as `Strings`. Columns are numbered from 1 when there is no header."""
    first, width = layout.rows[0], len(layout.columns)
    table = read_frame(raw[layout.body :], layout.delimiter, width)
    columns = [table[i].tolist() for i in range(width)]
    if layout.header and not header:  # the header of the layout is a row
        columns = [[first[i], *cells] for i, cells in enumerate(columns)]
    elif header and not layout.header:
        columns = [cells[1:] for cells in columns]
    names = [printable(first[i]) if header else "" for i in range(width)]
    notes = tuple(str(one) for one in layout.findings if "above the table" in one.what)
    return Strings(tuple(name or f"column {i}" for i, name in enumerate(names, 1)), columns, notes)


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


def is_aside(name: str) -> bool:
    """Tell by its name whether a file holds no table."""
    return _ASIDE.fullmatch(PurePosixPath(name).name) is not None
