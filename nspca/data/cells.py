"""Parse the cells of a text table by pandas in one pass.

When pandas refuses the text, a slower parser goes through it cell by cell. The slower parser names the wrong
cell, or reads the table after all. The reader of text tables (`formats.delimited`) uses `Cells`.
"""

import io
import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from nspca.data.dialect import COMMENTS, SPACES, Layout, lines_of, numbered_rows, quoted
from nspca.data.names import short
from nspca.data.numerals import CENSORED, FLAGS, MISSING, Numerals, flag
from nspca.data.options import mark_name
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


class Parsed(NamedTuple):
    """The cells of some rows of a table: the numbers, with NaN for missing values, and the columns of texts.

    `empty` are the numbers of rows without any filled cell, which are left out.
    """

    values: np.ndarray
    texts: dict[int, list[str]]
    empty: Sequence[int] = ()


@dataclass(frozen=True)
class Cells:
    """The rows of a text table, or of a piece of one, as UTF-8 without the header.

    A missing value is NaN, as are the numbers `codes`. `has_gaps` tells that there probably are some. Errors
    name the row, of which `before` stand above `raw`. With `line`, the number of lines of the file above
    `raw`, they name the line, and missing values are refused.
    """

    raw: bytes
    layout: Layout
    has_gaps: bool = False
    codes: tuple[float, ...] = ()
    line: int | None = None
    before: int = 0

    def read(self, text: Sequence[int], skipped: Sequence[int] = ()) -> Parsed:
        """Return the numbers and the texts; `text` are the columns of texts, `skipped` rows to leave out."""
        # pandas takes 60 microseconds for each column, so it is not used for many short ones.
        if self.layout.is_marked or (len(self.layout.columns) > 1000 and self.raw.count(b"\n") < 64):
            return self._parse_by_cell(text, skipped)
        is_open = False
        # Looking for missing values takes a fifth longer.
        for looks_for_gaps in (False, True)[self.has_gaps : 1 + (self.line is None)]:
            try:
                return Parsed(*self._parse_at_once(text, skipped, looks_for_gaps))
            except (ValueError, MemoryError, OverflowError) as error:  # those of pandas are ValueErrors
                if isinstance(error, MemoryError) or "out of memory" in str(error):
                    # Parsing cell by cell would take minutes and also run out of memory.
                    raise InvalidData(
                        "Reading the table takes more memory than there is: keep fewer columns, or save it "
                        "as compressed NPZ."
                    ) from None
                is_open = "inside string" in str(error)
        parsed = self._parse_by_cell(text, skipped)
        if is_open:
            raise InvalidData(
                "The table cannot be split into rows and numbers: close the quotation mark that is left open."
            )
        return parsed

    def _parse_at_once(
        self, text: Sequence[int], skipped: Sequence[int], looks_for_gaps: bool
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
        nothing = {"na_filter": True, "na_values": words} if looks_for_gaps else {"na_filter": False}
        frame = texts = pd.read_csv(io.BytesIO(self.raw), **how, **nothing)
        if frame.shape[1] != width:
            raise ValueError("width")
        if looks_for_gaps and frame[width - 1].isna().any() and not self._are_rows_whole(len(frame), skipped):
            raise ValueError("a row is short")  # pandas fills it
        values = np.ascontiguousarray(frame[numbers].to_numpy(dtype=np.float64))
        if looks_for_gaps and numbers and np.isnan(values).all(axis=1).any():
            raise ValueError("a row is empty")
        for code in self.codes:
            values[values == code] = np.nan
        if np.isinf(values).any() or (not looks_for_gaps and np.isnan(values).any()):
            raise ValueError("a value is not finite")
        large = np.flatnonzero(((values >= LARGEST_EXACT) | (values <= -LARGEST_EXACT)).any(axis=0))
        if large.size and LONG_INTEGER.search(self.raw):
            suspects = {numbers[j] for j in large}
            _, cells = self._parse_at_once(sorted(kept_out | suspects), skipped, looks_for_gaps)
            if any(_is_rounded(cell) for i in suspects for cell in cells[i]):
                raise ValueError("a whole number is rounded")
        if text and looks_for_gaps:
            # In columns of text, words such as "NA" stay texts. They are read again, since missing values by
            # column take 20 KB for each column.
            texts = pd.read_csv(io.BytesIO(self.raw), **how, na_filter=False, usecols=[*text])
        return values, {i: texts[i].tolist() for i in text}

    def _are_rows_whole(self, rows: int, skipped: Sequence[int]) -> bool:
        """Tell whether the number of delimiters proves that no row is short."""
        delimiter = self.layout.delimiter.encode()
        is_exact = delimiter != SPACES.encode() and b'"' not in self.raw
        every = (len(self.layout.columns) - 1) * (rows + len(skipped))
        return is_exact and self.raw.count(delimiter) == every

    def _parse_by_cell(self, text: Sequence[int], skipped: Sequence[int]) -> Parsed:
        """Return the cells, parsed one by one; raise the error about all columns with wrong cells."""
        layout, width, skip = self.layout, len(self.layout.columns), set(skipped)
        texts: dict[int, list[str]] = {i: [] for i in text}
        numeric = [i for i in range(width) if i not in texts]
        numbers, empty = array("d"), array("q")
        wrong: dict[int, InvalidData] = {}
        is_plain = not self.codes and not layout.marks and layout.numerals.is_plain
        for r, (line, row) in enumerate(numbered_rows(lines_of(self.raw), layout.delimiter)):
            if r in skip:
                continue
            if not any(map(str.strip, row)):
                empty.append(self.before + r)
                continue
            place = f"row {self.before + r + 1}" if self.line is None else f"line {self.line + line + 1}"
            if len(row) != width:
                wrong.setdefault(-1, _wrong_width(row, width, place))
                break
            for i in texts:
                texts[i].append(row[i])
            cells = [row[i] for i in numeric] if texts else row
            plain = _plain_numbers(cells, layout.numerals.decimal) if is_plain else None
            if plain is not None:
                numbers.extend(plain)
                continue
            for i, cell in zip(numeric, cells, strict=True):
                value = np.nan
                if i not in wrong:
                    try:
                        value = _parse_number(layout, place, i, cell)
                    except InvalidData as error:
                        wrong[i] = error
                numbers.append(np.nan if value in self.codes else value)
                if np.isnan(numbers[-1]) and self.line is not None and not wrong:
                    raise InvalidData(
                        f"Every cell must hold a number, but {place}, column{quoted(layout, i)} holds none: "
                        "fill it in, or remove its row."
                    )
        if wrong:
            raise self._with_all_columns(wrong, len(numeric))
        values = np.frombuffer(numbers).reshape(-1, len(numeric)) if numbers else np.empty((0, 0))
        return Parsed(values, texts, empty)

    def _with_all_columns(self, wrong: dict[int, InvalidData], count: int) -> InvalidData:
        """Return the first error, with a way that leaves out all of the wrong columns, of `count`."""
        error, layout = next(iter(wrong.values())), self.layout
        ways = [way for way in error.ways if way.option != "drop_columns"]
        names = tuple(layout.columns[i] if layout.header else i for i in sorted(wrong) if i >= 0)
        if len(ways) < len(error.ways) and count - len(names) >= 2:
            words = "Leave the column out" if len(names) == 1 else f"Leave {len(names)} columns out"
            ways.append(Way("drop_columns", names, words))
        return InvalidData(error.message, ways)


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


def _plain_numbers(row: Sequence[str], decimal: str) -> list[float] | None:
    """Return the numbers of a row of short plain numbers, ten times as fast; None for any other row."""
    text = "".join(row)
    is_long = max(map(len, row), default=0) > _SHORT
    if is_long or not _PLAIN.fullmatch(text) or (decimal == "," and "." in text):
        return None
    try:
        values = [float(cell.replace(",", ".")) for cell in row] if decimal == "," else [*map(float, row)]
    except ValueError:
        return None
    return values if np.isfinite(sum(values)) else None


def _is_rounded(cell: str) -> bool:
    """Tell whether a cell holds an integer that float64 cannot represent."""
    return _LONG.fullmatch(cell) is not None and loses_digits(int(cell))


def _parse_number(layout: Layout, where: str, column: int, cell: str) -> float:
    """Return the number in a cell, NaN for a missing value; `where` is the row or line for the error."""
    numerals, signs = layout.numerals, layout.marks.get(column)
    if numerals.is_missing(cell):
        return np.nan
    value = numerals.plain(cell)
    if value is None and signs in FLAGS:
        value = flag(cell, signs)
    elif value is None and signs is not None and numerals.marks(cell) == signs:
        value = numerals.number(cell)
    if value is not None and np.isfinite(value) and not _is_rounded(cell):
        return value
    name = layout.columns[column] if layout.header else column
    aside = Way("drop_columns", (name,), "Leave the column out")
    names = Way("id_column", name, "Use as names")
    kind, found = "number", f'"{short(cell)}"'
    if value is None:
        what, ways = _describe_text(
            layout, where, cell, aside, names if column == 0 and layout.header else None
        )
        found = what.format(found)
    elif not np.isfinite(value):
        kind, ways = "finite number", (aside,)
        found += ": correct it, or remove the row or the column."
    else:
        kind, ways = "number that fits float64", (names, aside)
        found = f"{describe_rounding(int(cell))}: subtract what the column has in common, save it as floats, "
        found += "or name it as id or label column."
    place = f"{where}, column{quoted(layout, column)} holds"
    raise InvalidData(f"Every cell must hold a {kind}, but {place} {found}", ways)


WORDS_OF_MISSING = {
    "missing", "unknown", "absent", "blank", "empty", "refused", "filtered", "overflow", "ovrflw",
    "saturated", "undetermined", "fehlt", "fehlend", "unbekannt", "verweigert",
}  # fmt: skip
"""Words of letters alone that are offered as missing values; others are more often names of groups."""


def _describe_text(
    layout: Layout, where: str, cell: str, aside: Way, names: Way | None
) -> tuple[str, tuple[Way, ...]]:
    """Return what an error says about a text among numbers, with {} for the text, and the ways out."""
    numerals, code = layout.numerals, cell.strip()
    if CENSORED.fullmatch(cell):
        code = f"{code[0]}*" if code[0] in "<>≤≥" else code.lower()
        way = Way("missing_codes", (code,), "It is a missing value")
        return "{}, a value beyond a limit: write the number that it stands for.", (way, aside)
    if marks := numerals.marks(cell):
        sign = (marks[0] or marks[1]).replace("{", "{{").replace("}", "}}")
        others = "which other cells of the column do not have: write all of them alike."
        return f'{{}} with the sign "{sign}", {others}', (aside,)
    for mark in ",.' ":
        other = Numerals({",": ".", ".": ","}.get(mark, numerals.decimal), mark)
        if mark in other.tidy(cell) and other.plain(cell) is not None:
            way = Way("thousands", mark, "It stands between thousands")
            return f"{{}}, whose {mark_name(mark)} may stand between thousands: write it without.", (way,)
    ways = (aside,) if names is None else (names, aside)
    first = layout.body_rows[0] if where.endswith("row 1") else ()
    is_header = 2 * sum(numerals.number(one) is None for one in first) > len(layout.columns)
    is_code = not (code.isalpha() or code[0].isdigit()) or code.lower() in WORDS_OF_MISSING
    if is_code and not is_header:
        ways = (Way("missing_codes", (code,), "It is a missing value"), *ways)
    way_out = "correct it, "
    if where.endswith("row 1"):
        way_out += "remove the row if it is a second header, "
        if layout.id_column == 0 and 0 in layout.label_rows:
            ways = (Way("features_in_rows", True, "Take the rows as features"), *ways)
    return f"the text {{}}: {way_out}or name the column as names or labels.", ways
