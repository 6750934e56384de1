"""Parse the cells of a text table by pandas in one pass.

When pandas refuses the text, a slower parser goes through it cell by cell. The slower parser names the wrong
cell, or reads the table after all. The reader of text tables (`formats.delimited`) uses `Cells`.
"""

import io
import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from nspca.data.dialect import COMMENTS, SPACES, Layout, quoted, split
from nspca.data.names import short
from nspca.data.numerals import CENSORED, FLAGS, MISSING, flag
from nspca.errors import InvalidData, Way
from nspca.validation.integers import LARGEST_EXACT, LONG_INTEGER, describe_rounding, loses_digits

FLOATS = None if tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1) else "round_trip"
"""Way to parse floats: before 3.1 the usual one of pandas read some of them slightly wrong."""
NOTHING = sorted(
    {write(word) for word in MISSING for write in (str.lower, str.upper, str.capitalize)}
    | {"NaN", "NaT", "n/A"}
)
"""Words for a missing value, in the usual spellings of upper and lower case."""
_YES, _NO = (
    [write(pair[i]) for pair in FLAGS for write in (str.lower, str.upper, str.capitalize)] for i in (0, 1)
)
"""Words for 1 and for 0, in the usual spellings."""
_LONG = re.compile(r"\s*[+-]?\d{16,400}\s*")
"""An integer with so many digits that float64 may not represent it."""
_PLAIN = re.compile("[0-9.,+eE-]*")
"""Characters of a plain number."""
_SHORT = 15
"""Maximum characters of a number whose digits float64 always represents."""


@dataclass(frozen=True)
class Cells:
    """The rows of a text table, or of a piece of one, as bytes.

    Parameters
    ----------
    raw : bytes, UTF-8
        Without the header and the lines above.
    layout : Layout
    missing_allowed : bool
        Whether a missing value is read as NaN, not refused.
    codes : tuple of float
        Numbers that stand for a missing value.
    line : int, optional
        Number of lines of the file above `raw`. When given, errors name the line instead of the row, and
        missing values are refused at once.
    before : int
        Number of rows of the table above `raw`, for errors that name the row.
    """

    raw: bytes
    layout: Layout
    missing_allowed: bool = False
    codes: tuple[float, ...] = ()
    line: int | None = None
    before: int = 0

    def read(
        self, text: Sequence[int], skipped: Sequence[int] = ()
    ) -> tuple[np.ndarray, dict[int, list[str]], str]:
        """Return the numbers, the texts, and a phrase about the first missing value.

        Parameters
        ----------
        text : sequence of int
            Numbers of the columns that are read as text.
        skipped : sequence of int
            Rows below the header, from 0, that are left out.

        Returns
        -------
        values : (rows, columns without `text`) float64
        texts : dict of int to list of str
            The cells of each column of `text`.
        gap : str
            Place of the first missing value when those are not allowed; empty when there is none.
        """
        try:
            if self.layout.is_marked or self._has_short_columns():
                raise ValueError("numbers with signs, or few in a column")
            return *self._parse_at_once(text, skipped), ""
        except (
            ValueError,
            pd.errors.EmptyDataError,
            pd.errors.ParserError,
            MemoryError,
            OverflowError,
        ) as error:
            if isinstance(error, MemoryError) or "out of memory" in str(error):
                # Parsing cell by cell would take minutes and also run out of memory.
                raise InvalidData(
                    "Reading the table takes more memory than there is: keep fewer columns, or save it as "
                    "compressed NPZ."
                ) from None
            values, texts, gap = self._parse_by_cell(text, skipped)
            if self.missing_allowed or gap or self.layout.is_marked or "inside string" not in str(error):
                return values, texts, "" if self.missing_allowed else gap
            way_out = (
                "close the quotation mark that is left open"
                if "inside string" in str(error)
                else "save it again as plain CSV"
            )
            raise InvalidData(f"The table cannot be split into rows and numbers: {way_out}.") from None

    def _has_short_columns(self) -> bool:
        """Tell whether columns are many and short: pandas takes 60 microseconds for each of them."""
        return len(self.layout.columns) > 1000 and self.raw.count(b"\n") < 64

    def _parse_at_once(
        self, text: Sequence[int], skipped: Sequence[int]
    ) -> tuple[np.ndarray, dict[int, list[str]]]:
        """Return numbers and texts by one call of pandas; raise ValueError when cells need a closer look."""
        layout, width, kept_out = self.layout, len(self.layout.columns), set(text)
        numbers = [i for i in range(width) if i not in kept_out]
        how: dict[str, Any] = {
            "header": None,
            "skiprows": [*skipped],
            "dtype": dict.fromkeys(range(width), np.float64)
            | {i: bool for i, words in layout.marks.items() if words in FLAGS}
            | dict.fromkeys(kept_out, str),
            "true_values": _YES,
            "false_values": _NO,
            "sep": r"\s+" if layout.delimiter == SPACES else layout.delimiter,
            "decimal": layout.numerals.decimal,
            "keep_default_na": False,
            "engine": "c",
            # In pieces, pandas makes an array for each column of each 256 KiB: a wide table then takes 100
            # bytes a cell.
            "low_memory": False,
            "encoding": "utf-8",
            "float_precision": FLOATS,
        }
        # The C parser would open files named in a buffer; it gets the bytes alone.
        words = [*NOTHING, *layout.numerals.missing]
        nothing = {"na_filter": True, "na_values": words} if self.missing_allowed else {"na_filter": False}
        frame = texts = pd.read_csv(io.BytesIO(self.raw), **how, **nothing)
        if frame.shape[1] != width:
            raise ValueError("width")
        values = np.ascontiguousarray(frame[numbers].to_numpy(dtype=np.float64))
        if self.missing_allowed and numbers and np.isnan(values).all(axis=1).any():
            raise ValueError("a row is empty")
        for code in self.codes:
            values[values == code] = np.nan
        if np.isinf(values).any() or (not self.missing_allowed and np.isnan(values).any()):
            raise ValueError("a value is not finite")
        large = np.flatnonzero(((values >= LARGEST_EXACT) | (values <= -LARGEST_EXACT)).any(axis=0))
        if large.size and LONG_INTEGER.search(self.raw):
            suspects = {numbers[j] for j in large}
            _, cells = self._parse_at_once(sorted(kept_out | suspects), skipped)
            if any(_is_rounded(cell) for i in suspects for cell in cells[i]):
                raise ValueError("a whole number is rounded")
        if text and self.missing_allowed:
            # In columns of text, words such as "NA" stay texts. They are read again, since missing values by
            # column take 20 KB for each column.
            texts = pd.read_csv(io.BytesIO(self.raw), **how, na_filter=False, usecols=[*text])
        return values, {i: texts[i].tolist() for i in text}

    def _with_all_columns(self, error: InvalidData, text: Sequence[int]) -> InvalidData:
        """Return the error about a cell with a way that leaves out all columns with such cells."""
        layout, kept_out = self.layout, set(text)
        wrong: set[int] = set()
        for _, row in rows_of(self.raw, layout.delimiter):
            if len(row) == len(layout.columns) and _plain_numbers(row, layout.numerals.decimal) is None:
                suspects = (i for i in range(len(row)) if i not in kept_out and i not in wrong)
                wrong |= {i for i in suspects if _has_wrong_cell(layout, i, row[i])}
        ways = [way for way in error.ways if way.option != "drop_columns"]
        if len(ways) < len(error.ways) and len(layout.columns) - len(kept_out) - len(wrong) >= 2:
            names = tuple(layout.columns[i] if layout.header else i for i in sorted(wrong))
            words = "Leave the column out" if len(names) == 1 else f"Leave {len(names)} columns out"
            ways.append(Way("drop_columns", names, words))
        return InvalidData(error.message, ways)

    def _parse_by_cell(
        self, text: Sequence[int], skipped: Sequence[int]
    ) -> tuple[np.ndarray, dict[int, list[str]], str]:
        """Return numbers, texts and gap, parsed cell by cell; raise an error about the first wrong cell."""
        layout, width, skip = self.layout, len(self.layout.columns), set(skipped)
        texts: dict[int, list[str]] = {i: [] for i in text}
        numeric = [i for i in range(width) if i not in texts]
        numbers, gap = array("d"), ""
        rows = rows_of(self.raw, layout.delimiter)
        for r, (line, row) in enumerate(rows):
            if r in skip or not any(map(str.strip, row)):
                continue
            place = f"row {self.before + r + 1}" if self.line is None else f"line {self.line + line}"
            if len(row) != width:
                raise _wrong_width(row, width, place)
            plain = None
            if not self.codes and not layout.marks and layout.numerals.is_plain:
                plain = _plain_numbers([row[i] for i in numeric] if texts else row, layout.numerals.decimal)
            if plain is not None:
                numbers.extend(plain)
                for i in texts:
                    texts[i].append(row[i])
                continue
            for i, cell in enumerate(row):
                if i in texts:
                    texts[i].append(cell)
                    continue
                try:
                    value = _parse_number(layout, place, i, cell)
                except InvalidData as error:
                    raise self._with_all_columns(error, text) from None
                numbers.append(np.nan if value in self.codes else value)
                if numbers[-1] != numbers[-1]:
                    gap = gap or f"{place}, column{quoted(layout, i)} {_describe_gap(cell)}"
        if gap and self.line is not None:
            raise InvalidData(f"Every cell must hold a number, but {gap}: fill it in, or remove its row.")
        values = (
            np.frombuffer(numbers, dtype=np.float64).reshape(-1, width - len(texts))
            if numbers
            else np.empty((0, 0))
        )
        return values, texts, gap


def _has_wrong_cell(layout: Layout, i: int, cell: str) -> bool:
    try:
        _parse_number(layout, "", i, cell)
    except InvalidData:
        return True
    return False


def _wrong_width(row: list[str], width: int, place: str) -> InvalidData:
    """Return the error for a row at `place` that does not have `width` cells."""
    sign = next((sign for sign in COMMENTS if row[0].lstrip().startswith(sign)), "")
    if sign:
        ways = (Way("comment", sign, f"Lines with {sign} are comments"),)
        comment = f'{place.capitalize()} is a comment ("{short(row[0])}")'
        return InvalidData(f"{comment}, not a row of the table: remove it.", ways)
    return InvalidData(
        f"Every row must have {width} cells like the first ones, but {place} has {len(row)}: add or remove "
        "cells there."
    )


def rows_of(raw: bytes, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of its first line (from 1) and the cells of each row that is not empty."""
    begin = read = 1

    def lines() -> Iterator[str]:
        """Yield the lines, and count in `read` the number of the next one."""
        nonlocal read
        for line in io.TextIOWrapper(io.BytesIO(raw), encoding="utf-8", newline=""):
            read += 1
            yield line

    for row in split(lines(), delimiter):
        if row:
            yield begin, row
        begin = read


def _plain_numbers(row: Sequence[str], decimal: str) -> list[float] | None:
    """Return the numbers of a row of short plain numbers; None for any other row.

    This makes parsing cell by cell ten times as fast for rows of plain numbers.
    """
    text = "".join(row)
    if (
        max(map(len, row), default=0) > _SHORT
        or not _PLAIN.fullmatch(text)
        or (decimal == "," and "." in text)
    ):
        return None
    try:
        values = [float(cell.replace(",", ".")) for cell in row] if decimal == "," else [*map(float, row)]
    except ValueError:
        return None
    return values if np.isfinite(sum(values)) else None


def _is_rounded(cell: str) -> bool:
    """Tell whether a cell holds an integer that float64 cannot represent."""
    return _LONG.fullmatch(cell) is not None and loses_digits(int(cell))


def _describe_gap(cell: str) -> str:
    """Return the end of a phrase about a missing value: `holds "NA"` or `is empty`."""
    return f'holds "{short(cell)}"' if cell.strip() else "is empty"


def _parse_number(layout: Layout, where: str, column: int, cell: str) -> float:
    """Return the number in a cell, NaN for a missing value; `where` is the row or line for the error.

    Raises
    ------
    InvalidData
        For text, an infinite number, or an integer that float64 cannot represent, with the options that help.
    """
    numerals = layout.numerals
    if numerals.is_missing(cell):
        return np.nan
    value = numerals.plain(cell)
    signs = layout.marks.get(column)
    if value is None and signs in FLAGS:
        value = flag(cell, signs)
    elif value is None and signs is not None and numerals.marks(cell) == signs:
        value = numerals.number(cell)
    place = f"{where}, column{quoted(layout, column)} holds"
    name = layout.columns[column] if layout.header else column
    aside: tuple[Way, ...] = (Way("drop_columns", (name,), "Leave the column out"),)
    if value is None:
        if column == 0 and layout.header:
            aside = (Way("id_column", name, "Use as names"), *aside)
        raise _no_number(layout, where, place, cell, aside)
    if not np.isfinite(value):
        raise InvalidData(
            f'Every cell must hold a finite number, but {place} "{short(cell)}": correct it, or '
            f"remove the row or "
            "the column.",
            aside,
        )
    if _is_rounded(cell):
        raise InvalidData(
            f"Every cell must hold a number that fits float64, but {place} "
            f"{describe_rounding(int(cell))}: subtract "
            "what the column has in common, save it as decimals, or name it as id or label column.",
            (Way("id_column", name, "Use as names"), *aside),
        )
    return value


WORDS_OF_MISSING = {
    "missing", "unknown", "absent", "blank", "empty", "refused", "filtered", "overflow", "ovrflw",
    "saturated", "fehlt", "fehlend", "unbekannt", "verweigert",
}  # fmt: skip
"""Words of letters alone that are offered as missing values; others are more often names of groups."""


def _no_number(layout: Layout, where: str, place: str, cell: str, aside: tuple[Way, ...]) -> InvalidData:
    """Return the error for a cell of text in a column of numbers."""
    numerals = layout.numerals
    if CENSORED.fullmatch(cell):
        sign = cell.strip()[:1]
        code = f"{sign}*" if sign in "<>≤≥" else cell.strip().lower()
        return InvalidData(
            f'Every cell must hold a number, but {place} "{short(cell)}", a value beyond a limit: '
            f"write the number "
            "that it stands for.",
            (Way("missing_codes", (code,), "It is a missing value"), *aside),
        )
    marks = numerals.marks(cell)
    if marks is not None:
        sign = marks[0] or marks[1]
        return InvalidData(
            f'Every cell must hold a number, but {place} "{short(cell)}" with the sign "{sign}", '
            f"which other cells "
            "of the column do not have: write all of them alike.",
            aside,
        )
    for mark in ",.' ":
        other = type(numerals)({",": ".", ".": ","}.get(mark, numerals.decimal), mark)
        if mark in cell.replace("\u00a0", " ").replace("\u202f", " ") and other.plain(cell) is not None:
            return InvalidData(
                f'Every cell must hold a number, but {place} "{short(cell)}", whose '
                f"{ {',': 'comma', '.': 'point', ' ': 'blank'}.get(mark, 'quote') } may stand between "
                f"thousands: "
                "write it without.",
                (Way("thousands", mark, "It stands between thousands"),),
            )
    way_out = ""
    if where.endswith("row 1"):
        way_out = "remove the row if it is a second header, "
        if layout.id_column == 0 and 0 in layout.label_rows:
            aside = (Way("features_in_rows", True, "Take the rows as features"),)
    code = cell.strip()
    is_code = not (code.isalpha() or code[0].isdigit()) or code.lower() in WORDS_OF_MISSING
    missing = () if not is_code else (Way("missing_codes", (code,), "It is a missing value"),)
    return InvalidData(
        f'Every cell must hold a number, but {place} the text "{short(cell)}": correct it, '
        f"{way_out}or name the "
        "column as names or labels.",
        (*aside, *missing) if aside[0].option == "features_in_rows" else (*missing, *aside),
    )
