"""Find the dialect of a text table from its first lines: delimiter, numerals and header.

`find_layout` returns the `Layout` by which readers of text tables parse, and which the page Data shows.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any

import numpy as np

from nspca.data.findings import Finding, suspicion
from nspca.data.limits import check_lines, check_text_columns
from nspca.data.names import Names, numbered, short, unique_names, were
from nspca.data.numerals import (
    CENSORED,
    FLAGS,
    SECOND,
    Numerals,
    are_bracketed,
    are_mixed,
    find_flags,
    find_thousands,
    flag,
    is_like_number,
)
from nspca.data.options import ReadOptions, mark_name
from nspca.errors import InvalidData, Way

ENOUGH_ROWS = 50
"""Maximum rows that the layout is found from. Reading the whole file later finds exceptions further down."""
_ENOUGH_LINES, _ENOUGH_CHARACTERS = 8, 500_000
"""Lines and characters that suffice together. A line of 12 582 genes has 80 000 characters."""
SPACES = " "
"""The delimiter that stands for any run of blanks."""
COMMENTS = ("#", "%", "!", "//")
"""Marks with which lines begin that are no rows."""
_DELIMITERS = ("\t", ";", ",", "|", SPACES)
_SEP = re.compile(r'"?sep=(.)"?[;,\t]*\s*', re.IGNORECASE)
"""The first line by which Excel is told the delimiter."""
_IN_QUOTES = re.compile(rb"(?<![^,;\t| \r\n])'[^'\r\n]*'(?![^,;\t| \r\n])")
_QUOTE = re.compile(rb"(?<![^,;\t| \r\n])'|'(?![^,;\t| \r\n])")
"""A cell in single quotes, and a single quote at an end of a cell."""
_ONLY_POINTS = re.compile(r"(?:[\w+-]*(?:\.[\w+-]*)?(?:\n|$))*")
"""Cells without other marks than one point each."""
_BRACKETED = re.compile(r"\s*\(\d+[.,]\d+\)\s*")
"""A decimal number in brackets, which is no name."""
_RULE = re.compile(r"\s*(?=.*--)[-+|:=;,\t ]+\s*")
"""A line between the header and the rows, as in Markdown."""
_WORD = re.compile(r"\s*[\[(]?([^\W\d]|[%‰°€${]|10\^)")
"""The beginning of a word or of a unit."""
ANSWER = re.compile(r"\s*\d+(\s+[-–:]\s*|[-–:.)]\s+|\s*=\s*)[^\W\d]")
"""The beginning of an answer such as 1 - Strongly disagree."""
_LOGGER = re.compile(r'"?TOA5"?,')
"""The line above the names in files of Campbell loggers."""
_BLANK_CELLS = re.compile(r'"([^"]*)"|(\S+)')
"""Cells between blanks, some of them in quotation marks."""
_BARE, _TAIL = b',;\t |"\r\n', 2**16
"""Characters of the empty lines that spreadsheets write below a table. Number of bytes at the end of a text
that are searched for such lines.
"""
_ANY = Numerals(",", is_mixed=True)
"""Numbers with a decimal comma or point, before it is known which of them the table has."""
FEW_LABELS = 30
"""Maximum number of different labels. Each label gets its own colour in a plot."""
PREAMBLE = 30
"""Maximum lines above a table that are left out."""
RARE = 0.1
"""Maximum share of rows that rise from column to column, for a rising first row to be a header."""
SURELY = 7
"""Columns from which a rising first row is a header by itself: by chance one row in 2520 rises or falls."""
FAR = 3.0
"""A first row is of another scale when most of its numbers are this many ranges away from their columns."""


@dataclass(frozen=True)
class Layout:
    """Layout of a text table, found from its first lines, of which `rows` are the cells, header included.

    A space as `delimiter` stands for any run of blanks. With a `header`, the first of the rows holds names;
    `columns` are these, made unique, or numbered. Of `text_columns` the first cells are no numbers, of
    `empty_columns` all are empty. `marks` are the signs before and after the numbers of a column, such as a
    unit, or its words for 1 and 0. `id_column` is the first column if it is distinct and holds texts or has
    no name. `label_rows` are rows of texts below the header, labels of columns perhaps. Above the first row
    of numbers stand `above` lines and `body` bytes. Lines that begin with `comment`, and those of `left_out`
    (a header that is repeated, a rule), are no rows. `raw` are the first lines of the file as they are.
    """

    delimiter: str
    numerals: Numerals
    header: bool
    columns: tuple[str, ...] = ()
    text_columns: tuple[int, ...] = ()
    empty_columns: tuple[int, ...] = ()
    marks: dict[int, tuple[str, str]] = field(default_factory=dict)
    id_column: int | None = None
    label_rows: tuple[int, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    above: int = 0
    body: int = 0
    comment: str = ""
    left_out: tuple[str, ...] = ()
    raw: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()

    @property
    def body_rows(self) -> tuple[tuple[str, ...], ...]:
        """The first rows below the header."""
        return self.rows[1:] if self.header else self.rows

    def column(self, i: int) -> list[str]:
        """Return the cells of a column in the first rows, without rows of texts and blanks around cells."""
        rows = (row for r, row in enumerate(self.body_rows) if r not in self.label_rows)
        return [row[i].strip() for row in rows if i < len(row)]

    @property
    def is_marked(self) -> bool:
        """Tell whether numbers have signs, units or marks between thousands, which pandas does not read."""
        return not (self.numerals.is_plain and all(signs in FLAGS for signs in self.marks.values()))


def filled_end(text: bytes) -> int:
    """Return the offset of the end of the last line with a cell; spreadsheets write bare delimiters below."""
    tail = text[-_TAIL:]
    tail = tail if tail.strip(_BARE) else text
    filled = len(text) - len(tail) + len(tail.rstrip(_BARE))
    ends = [end for end in (text.find(b"\n", filled), text.find(b"\r", filled)) if end >= 0]
    return min(ends, default=len(text))


def requoted(raw: bytes) -> tuple[bytes, tuple[Finding, ...]]:
    """Return text with double quotes around cells in place of single ones, and the finding about them."""
    first = [line for line in raw[:_TAIL].split(b"\n")[:20] if line.strip()]
    if b'"' in raw or 2 * sum(bool(_IN_QUOTES.search(line)) for line in first) <= len(first):
        return raw, ()
    return _QUOTE.sub(b'"', raw), (Finding("Single quotes around cells were left out."),)


def find_layout(raw: bytes, options: ReadOptions | None = None) -> Layout:
    """Return the layout of a table in UTF-8, found from its first lines. Given options are not guessed."""
    options = options or ReadOptions()
    raw = raw[: filled_end(raw)]
    check_lines(raw)
    lines = _first_lines(raw, options)
    if options.header == "auto" and any(map(_LOGGER.match, lines[:1])):
        options = options.but(header=2)
    told = _SEP.fullmatch(lines[0]) if len(lines) > 1 else None
    held = ["\n", *lines[1:]] if told else lines
    comment, skipped, delimiter = _find_comments(held, options, options.delimiter or (told and told[1]))
    kept = ("\n" if i in skipped else line for i, line in enumerate(held))
    places = [one for one in numbered_rows(kept, delimiter) if any(map(str.strip, one[1]))]
    if not places:
        raise InvalidData("The file holds no table, only blank lines: give two rows and columns at least.")
    check_text_columns(max(len(row) for _, row in places))
    widths = [len(row) for _, row in places[1:]] or [len(places[0][1])]
    width = max(dict.fromkeys(widths), key=widths.count)
    top = _find_top(places, width, options)
    above = [held[line].strip() for line in sorted(skipped)]
    above += [" ".join(row).strip() for _, row in places[:top]]
    places = places[top:]
    header = places[0][1]
    if any(cell.strip() and _ANY.number(cell) is None for cell in header):
        places[1:] = [one for one in places[1:] if one[1] != header]  # headers that are repeated below
    rule = held[places[1][0]].strip() if places[1:] and _RULE.fullmatch(held[places[1][0]]) else ""
    if rule:
        del places[1]
    rows = _with_corner([row for _, row in places], width, comment or "#")
    count = len(places)
    while options.header == "auto" and _are_groups(rows, width, options):
        above.append(" ".join(rows[0]).strip())
        group, names, below = "", rows[1], rows[2]
        is_last = not (_has_names(below) and len(set(below)) == width)
        for i in range(1, width) if is_last and len(set(names)) < width == len(names) else ():
            group = rows[0][i].strip() or group
            names[i] = f"{group} {names[i].strip()}"  # x and y of each group
        rows, places = rows[1:], places[1:]
    levels = _count_levels(rows, is_grouped=len(places) < count) if options.header == "auto" else 0
    if levels:
        above += [" ".join(row).strip() for row in rows[: levels - 1]]
        names = [" ".join(filter(None, map(str.strip, cells))) for cells in zip(*rows[:levels], strict=True)]
        names = [name.strip() or of_all for name, of_all in zip(rows[levels], names, strict=True)]
        rows = [names, *rows[levels + 1 :]]
        places = places[levels - 1 : levels] + places[levels + 1 :]
    numerals = _find_numerals(rows[1:] or rows, width, options, delimiter, rows[0])
    has_header, why, is_open = _find_header(rows, width, numerals, options)
    body = rows[1:] if has_header else rows
    if not has_header:
        numerals = _find_numerals(rows, width, options, delimiter, rows[0])
    if not body:
        raise InvalidData("The file holds a header and no rows below it: at least two rows are needed.")
    where = f"line {places[0][0] + 1}"
    findings: list[Finding] = []
    if above:
        said = f'{were(len(above), "line")} left out above the table ("{short(above[0])}").'
        findings.append(Finding(said, where))
    first = f'The first row ("{short(", ".join(rows[0][has_header:4]))}", ...)'
    if has_header and why:
        ways = (Way("header", False, "It is a sample"),)
        findings.append(Finding(f"{first} was taken as the names of the columns", where, why, ways))
    elif is_open and not has_header:
        what, way = f"{first} may be names of the columns", Way("header", True, "It is the header")
        findings.append(suspicion(what, way, where=where, why="its numbers rise from column to column"))
    begin = places[has_header][0]
    layout = Layout(
        delimiter,
        numerals,
        has_header,
        rows=tuple(map(tuple, rows)),
        above=begin,
        body=sum(len(line.encode()) for line in lines[:begin]),
        comment=comment,
        left_out=tuple(filter(None, [rule, lines[places[0][0]].strip() if has_header and not why else ""])),
        raw=tuple(line.rstrip("\r\n") for line in lines[:12]),
        findings=(*findings, *_said_of_numerals(delimiter, numerals, options, body)),
    )
    return _with_columns(layout, body, width)


def _find_comments(
    lines: Sequence[str], options: ReadOptions, delimiter: str | None
) -> tuple[str, list[int], str]:
    """Return the mark of comments, the numbers of the comment lines above the table, and the delimiter.

    A marked line with as many cells as the rows is the header or a row, unless several stand above names.
    """
    filled = [(i, line) for i, line in enumerate(lines) if line.strip()]
    signs = (options.comment,) if options.comment else COMMENTS
    marked = [*takewhile(lambda one: one[1].lstrip(' "').startswith(signs), filled)]
    others = [line for _, line in filled[len(marked) :]]
    found = delimiter or _find_delimiter(others or [line for _, line in filled], options)
    if not marked or not others:
        return options.comment or "", [], found
    below = [row for row in split(others, found) if row]
    widths = [len(row) for row in below]
    rows = [next(iter(split([line], found)), [""]) for _, line in marked]
    last = rows[-1]
    is_bare = last[0].strip() in signs  # the mark is a cell, the corner or none of the table
    fits = len(last), len(last) - 1 if is_bare else len(last) + 1
    is_row = len(last) > 1 and 1 < max(dict.fromkeys(widths), key=widths.count) in fits
    if not options.comment and is_row and not (len(rows) > 1 and _has_names(below[0])):
        if all(len(row) == len(last) for row in rows) and (len(rows) > 1 or not last[0].startswith("#")):
            return "", [], found  # rows or a header that begin with the mark
        marked = marked[:-1]
    mark = next((sign for sign in signs if marked and marked[0][1].lstrip(' "').startswith(sign)), "")
    return mark, [i for i, _ in marked], found


def _has_names(row: Sequence[str]) -> bool:
    """Tell whether most filled cells of a row are no numbers."""
    filled = [cell for cell in row if cell.strip()]
    return len(row) > 1 and 2 * sum(_ANY.number(cell) is None for cell in filled) > len(filled)


def _find_top(places: Sequence[tuple[int, list[str]]], width: int, options: ReadOptions) -> int:
    """Return how many rows stand above the header, or above the first row where there is no header."""
    if isinstance(options.header, int) and not isinstance(options.header, bool):
        at = next((i for i, (line, _) in enumerate(places) if line + 1 >= options.header), None)
        if at is None:
            raise InvalidData(f"Line {options.header} must hold the names, but the table ends above it.")
        return at
    if options.header != "auto":
        return 0
    rows = [row for _, row in places]
    about = sum(1 for _ in takewhile(lambda row: len(row) > 3 and not any(map(str.strip, row[:2])), rows))
    names = {*filter(str.strip, rows[about])} if 0 < about < min(PREAMBLE, len(rows) - 2) else set()
    if len(names) == width and not any(map(_ANY.is_number, names)):
        return about  # lines about the samples, beside nothing about the rows
    full = next((i for i, row in enumerate(rows) if len(row) >= width - 1 and sum(map(bool, row)) > 2), 0)
    for top in range(min(PREAMBLE, len(rows) - 2)):
        row, following = rows[top], rows[top + 1]
        has_number = any(_ANY.number(cell) is not None for cell in row)
        is_word = bool(row[0].strip()) and _ANY.number(row[0]) is None
        is_short = len(row) < width - 1 or _has_names(rows[full])
        is_pair = top < full and is_short and is_word and not any(row[2:])  # a key and its value
        is_alone = sum(bool(cell.strip()) for cell in row) == 1 and width > 2 and bool(row[0].strip())
        is_apart = places[top + 1][0] - places[top][0] > 1  # an empty line follows
        is_sizes = [row[0].isdecimal(), *row[1:2]] == [True, str(width - 1)]  # of scikit-learn, with classes
        is_followed = _has_names(following)
        is_odd = is_followed or len(row) < width == len(following)
        is_unlike = is_alone or len(row) not in (width, width - 1) or (is_apart and is_odd)
        is_title = is_followed and width == len(following) != len(row)
        is_title |= not has_number and (is_alone or is_followed)
        is_above = all(map(_ANY.is_number, following[2 : len(row)]))  # the classes stand above numbers
        is_sizes = is_sizes and len(row) > 2 and is_above and not any(map(_ANY.is_number, row[2:]))
        if not (is_pair or is_sizes or (is_unlike and (is_apart or is_title))):
            return top
    return max(0, min(PREAMBLE, len(rows) - 2))


def _are_groups(rows: Sequence[Sequence[str]], width: int, options: ReadOptions) -> bool:
    """Tell whether the first row holds groups or numbers of the columns, above the names."""
    below = {*filter(str.strip, rows[1])} if len(rows) > 3 and not _has_names(rows[0]) else set()
    are_numbers = any(
        _ANY.is_number(one) or _BRACKETED.fullmatch(one) or CENSORED.fullmatch(one) for one in below
    )
    if len(below) == width > 2 and not are_numbers and not _has_names(rows[2]):
        return True
    names = {cell for cell in rows[0][1:] if cell.strip()}
    if width < 3 or len(rows) < 4 or not names or 2 * len(names) > width:
        return False
    are_words = not any(map(_ANY.is_number, names)) or _has_names(rows[1])
    return are_words and _find_header(rows[1:], width, _ANY, options)[0]


def _count_levels(rows: Sequence[Sequence[str]], is_grouped: bool) -> int:
    """Return how many rows of names stand above a row that names the first columns alone, as of pandas.

    Above one row of names there are groups, and several have no name for the first column.
    """
    levels = [*takewhile(lambda row: len(row) == len(rows[0]) > 2 and row[-1].strip(), rows[:5])]
    count = len(levels)
    if count + 2 > len(rows) or not rows[count][0].strip() or not all(map(_has_names, levels)):
        return 0
    named = len([*takewhile(str.strip, rows[count])])
    if 2 * named > len(rows[0]) or any(map(str.strip, rows[count][named:])):
        return 0
    return count if is_grouped or (count > 1 and not any(row[0].strip() for row in levels)) else 0


def _with_corner(rows: list[list[str]], width: int, comment: str) -> list[list[str]]:
    """Return the rows with a header of as many cells as the rows have."""
    if len(rows) < 2:
        return rows
    first = [cell.strip() for cell in rows[0]]
    if first[0] == comment and len(first) == width + 1:
        first = first[1:]
    elif first[0].startswith((f"{comment} ", f"{comment}\t")):
        first[0] = first[0].removeprefix(comment).strip()
    if len(first) == width - 1:
        # R writes row names this way: the header has no name for the first column.
        last_empty = all(len(row) < width or not row[width - 1].strip() for row in rows[1:])
        first = [*first, ""] if last_empty else ["", *first]
    if len(first) == width + 1 and not first[-1]:
        first = first[:-1]
    if len(first) != width and all(len(row) == width for row in rows[1:3]):
        way_out = "add or remove names there, or name the line that has them."
        if width in (2 * len(first), 2 * len(first) - 1):  # the first column may have no decimals
            way_out = "decimal commas need another delimiter, so save the table with semicolons between."
        raise InvalidData(
            f"The first row must have as many cells as the others, but it has {len(first)} "
            f'("{short(", ".join(first))}") and they have {width}: {way_out}'
        )
    return [first, *rows[1:]]


def _find_numerals(
    body: Sequence[Sequence[str]], width: int, options: ReadOptions, delimiter: str, first: Sequence[str]
) -> Numerals:
    """Return how the numbers of the first rows are written."""
    words = frozenset(code.strip().lower() for code in options.missing_codes if isinstance(code, str))
    blank = Numerals(options.decimal or ".", options.thousands or "", words)
    text = "\n".join(cell for row in body for cell in row)
    is_usual = delimiter != ";" and not options.thousands and options.decimal in (None, ".")
    if is_usual and _ONLY_POINTS.fullmatch(text) and "-\n" not in f"{text}\n":  # 12.5- is negative
        return blank
    named = {options.id_column, None if options.features_in_rows else options.label_column}
    columns, called = [], []
    for i in range(width):
        name = first[i].strip() if i < len(first) else ""
        if named & {i, name} - {None}:
            continue
        columns.append([row[i].strip() for row in body if i < len(row) and not blank.is_missing(row[i])])
        called.append(f' "{short(name)}"' if name and blank.number(name) is None else f" {i + 1}")
    if any(map(are_bracketed, columns)):
        blank = replace(blank, has_brackets=True)
        columns = [[*map(blank.tidy, cells)] for cells in columns]
    if options.thousands and options.decimal:
        return blank
    if options.thousands in (",", "."):
        return replace(blank, decimal="," if options.thousands == "." else ".")
    if options.decimal is None and not options.thousands and are_mixed(columns[1:]):
        return replace(blank, decimal=",", is_mixed=True)
    decimal, thousands = find_thousands(columns, called, options.decimal, delimiter)
    return replace(blank, decimal=decimal, thousands=options.thousands or thousands)


def _said_of_numerals(
    delimiter: str, numerals: Numerals, options: ReadOptions, body: Sequence[Sequence[str]]
) -> list[Finding]:
    """Return findings about the delimiter and the decimal sign, unless they are the usual ones."""
    said, sign = [], numerals.thousands
    usual = replace(numerals, has_brackets=False)
    negative = [cell.strip() for row in body for cell in row if numerals.tidy(cell) != usual.tidy(cell)]
    for code, where in {"(*": "in brackets", "*-": "before a minus"}.items():
        first = next((cell for cell in negative if ("(" in cell) == ("(" in code)), "")
        if first:
            way = Way("missing_codes", (code,), "They are missing values")
            what = f'Numbers {where}, such as "{short(first)}", were read as negative'
            said.append(Finding(what, ways=(way,)))
    if numerals.is_mixed:
        said.append(Finding("Some decimals have a comma and others a point; both were read"))
    elif (delimiter != "," or numerals.decimal == ",") and options.delimiter is None:
        comma = " and decimals written with a comma" if numerals.decimal == "," else ""
        bar = "vertical bar" if delimiter == "|" else mark_name(delimiter)
        said.append(Finding(f"Columns are separated by a {bar}{comma}."))
    if delimiter == ";" and numerals.is_plain and numerals.decimal == "." and options.decimal is None:
        cells = [cell.strip() for row in body for cell in row if "." in cell and numerals.is_number(cell)]
        if cells and all(map(Numerals(",", ".").is_number, cells)):
            way = Way("thousands", ".", f"{cells[0]} is {cells[0].replace('.', '')}")
            said.append(suspicion(f"The point in {cells[0]} was read as the decimal sign", way))
    if sign and options.thousands is None:
        marked = [cell for row in body for cell in row if sign in cell and numerals.number(cell) is not None]
        is_unclear = sign in ",." and all(Numerals(sign).number(cell) is not None for cell in marked)
        ways = (Way("decimal", sign, f"The {mark_name(sign)} is the decimal sign"),) if is_unclear else ()
        said.append(Finding(f"A {mark_name(sign)} stands between thousands.", ways=ways))
    return said


def _with_columns(layout: Layout, body: Sequence[Sequence[str]], width: int) -> Layout:
    """Return the layout with names and kinds of its columns, from the rows `body`."""
    columns: Names = numbered("feature", width)
    findings = layout.findings
    label_rows: tuple[int, ...] = ()
    for _ in range(2):  # without the rows of texts that the first round finds
        rows = [row for r, row in enumerate(body) if r not in label_rows]
        cells = [[row[i] for row in rows if i < len(row)] for i in range(width)]
        found = [_column_kind(column, layout.numerals, i > 0) for i, column in enumerate(cells)]
        kinds = [kind for kind, _ in found]
        numbers = [i for i, kind in enumerate(kinds) if kind == "number" and i > 0]
        label_rows = tuple(
            r for r, row in enumerate(body) if _is_text_row(row, numbers, layout.numerals, r < 2)
        )
        if not label_rows:
            break
    if layout.header:
        below = body[0] if label_rows[:1] == (0,) and any(layout.rows[0][1:]) else [""] * width
        names = [name.strip() or text.strip() for name, text in zip(layout.rows[0], below, strict=False)]
        columns, renamed = unique_names(names, "column")
        findings += tuple(map(Finding, renamed))
    marks = {i: signs for i, (_, signs) in enumerate(found) if signs is not None}
    said: dict[str, list[int]] = {}
    for i, (before, after) in marks.items():
        said.setdefault(before or after, []).append(i)
    for sign, those in said.items():
        pair = marks[those[0]]
        first = quoted(replace(layout, columns=tuple(columns)), those[0])
        more = f" and {len(those) - 1} more" if len(those) > 1 else ""
        what = f'The sign "{sign}" of the numbers in column{first}{more} was left out'
        ways = [Way("drop_columns", tuple(columns[i] for i in those), "Leave these columns out")]
        ways = ways if 2 * len(those) < width else []
        if sign == SECOND:
            cell = next(cell for cell in cells[those[0]] if layout.numerals.marks(cell) == pair)
            where = f'such as "{short(cell)}" in column{first}{more}'
            what = f"Of two numbers in a cell, {where}, the first was read"
        if pair in FLAGS:
            what = f'"{sign}" in column{first}{more} was read as 1, "{pair[1]}" as 0'
            ways = [Way("label_column", columns[those[0]], "Use as labels"), *ways] if ways else []
        findings += (Finding(what, f"column{first}", ways=tuple(ways)),)
    text = tuple(i for i, kind in enumerate(kinds) if kind == "text")
    names = [cell.strip() for cell in cells[0]]
    is_unnamed = layout.header and not layout.rows[0][0].strip() and len(set(names)) == len(names)
    is_repeated = are_labels(names) or (len({*names}) < len(names) and all(map(ANSWER.match, names)))
    id_column = 0 if (0 in text and not is_repeated) or is_unnamed else None
    return replace(
        layout,
        columns=tuple(columns),
        text_columns=text,
        empty_columns=tuple(i for i, kind in enumerate(kinds) if kind == "empty"),
        marks=marks,
        id_column=id_column,
        label_rows=label_rows,
        findings=findings,
    )


def _is_text_row(row: Sequence[str], numbers: Sequence[int], numerals: Numerals, is_first: bool) -> bool:
    """Tell whether a row has words and no number in the columns of numbers.

    Most of these columns must hold a word, but directly below the header, where units stand, one is enough.
    """
    filled = [row[i] for i in numbers if i < len(row) and not numerals.is_missing(row[i])]
    words = sum(bool(_WORD.match(cell)) for cell in filled)
    if not words or (2 * words <= len(numbers) and not is_first):
        return False
    return not any(
        numerals.number(cell) is not None or CENSORED.fullmatch(cell) or find_flags([cell]) for cell in filled
    )


def _column_kind(cells: Sequence[str], numerals: Numerals, units: bool) -> tuple[str, tuple[str, str] | None]:
    """Return the kind of a column ("text", "number" or "empty"), and the signs of its numbers, if any.

    Missing values are ignored. Without `units`, letters after a number are no unit.
    """
    if numerals.is_plain and numerals.decimal == "." and not any("_" in cell for cell in cells):
        with suppress(ValueError):  # a short cut for tables with thousands of columns
            return ("number", None) if [*map(float, cells)] else ("empty", None)
    filled = [cell for cell in cells if not numerals.is_missing(cell)]
    if not filled:
        return ("empty" if not any(cell.strip() for cell in cells) else "number"), None
    numbers = sum(numerals.plain(cell) is not None for cell in filled)
    censored = sum(bool(CENSORED.fullmatch(cell)) for cell in filled)
    if 2 * numbers >= len(filled) or (numbers and censored + numbers > 0.9 * len(filled)):
        return "number", None
    words = find_flags(filled)
    if words is not None:
        return "number", words
    signs = {numerals.marks(cell) for cell in filled if numerals.plain(cell) != 0}  # 0 among 12 %
    if (
        len(signs) == 1
        and (sign := signs.pop()) is not None
        and (units or not (sign[1][:1].isalpha() or sign[1] == SECOND))
    ):
        return "number", sign
    return "text", None


def _find_header(
    rows: Sequence[Sequence[str]], width: int, numerals: Numerals, options: ReadOptions
) -> tuple[bool, str, bool]:
    """Return whether the first row is a header, the evidence if it holds numbers, and whether it may be one.

    Text above numbers, and a row without numbers, are a header. A row of numbers is told by what stands
    below: order, scale, and whether the first cell resembles the cells below.
    """
    if options.header != "auto":
        return options.header is not False, "", False
    first, body = rows[0], rows[1:]
    if not body:
        return not any(numerals.is_number(cell) for cell in first), "", False
    found = [_column_kind([row[i] for row in body if i < len(row)], numerals, i > 0) for i in range(width)]
    flags = [(cell, signs) for (_, signs), cell in zip(found, first, strict=False) if signs in FLAGS]
    if any(flag(cell, signs) is not None for cell, signs in flags if signs is not None):
        return False, "", False  # a row of yes and no
    signed = [cell for (_, signs), cell in zip(found, first, strict=False) if signs and signs not in FLAGS]
    if signed and all(map(numerals.is_number, signed)):
        return True, "its numbers have no sign, and those below have one", False
    kinds = [kind for kind, _ in found]
    numbers = [i for i, kind in enumerate(kinds) if kind == "number" and i < len(first)]
    above = [first[i] for i in numbers if first[i].strip()]
    missing = [cell for cell in above if numerals.is_missing(cell)]
    beyond = [cell for cell in above if CENSORED.fullmatch(cell) or _BRACKETED.fullmatch(cell)]
    if any(numerals.number(cell) is None for cell in above if cell not in (*missing, *beyond)):
        return True, "", False
    if not any(numerals.number(cell) is not None for cell in first):
        # A row of missing values above numbers is data, a row of texts above texts are names.
        return not missing, "", False
    if (
        not first[0].strip()
        and all(cell.strip() for cell in first[1:])
        and any(row[0].strip() for row in body)
    ):
        return True, "", False
    return _compare_with_body(rows, numbers, kinds, numerals)


def _compare_with_body(
    rows: Sequence[Sequence[str]], numbers: Sequence[int], kinds: Sequence[str], numerals: Numerals
) -> tuple[bool, str, bool]:
    """Return whether a first row of numbers is a header, the evidence, and whether it may be one.

    The row is compared with the rows below. Each way in which it differs is one point, and two points make a
    header: its order, whole numbers above decimals, even steps, another scale, another kind of first cell.
    """
    first, body = rows[0], rows[1:]
    at = len(kinds) - 1 if kinds[0] != "text" == kinds[-1] and len(first) == len(kinds) else 0
    named = [row[at].strip() for row in body if at < len(row) and row[at].strip()]
    shapes = [*map(shape, named)]
    if kinds[at] == "text" and (shape(first[at]) in shapes or first[at].strip() in named):
        return False, "", False
    v = np.array([_value(first[i], numerals) for i in numbers])
    B = np.array([[_value(row[i], numerals) if i < len(row) else np.nan for i in numbers] for row in body])
    distinct = np.unique(v).size
    if np.isnan(v).any() or len(B) < 2 or v.size < 2:
        return False, "", False
    if distinct == v.size >= 3 and (np.sort(B, axis=1) == np.sort(v)).all():
        return False, "", True  # every row ranks the same things
    steps, whole = np.diff(v), bool((v == np.round(v)).all())
    if v.size == 2:
        are_years = whole and 1800 <= v[0] < v[1] <= 2100 and not ((B >= 1800) & (B <= 2100)).any()
        return bool(are_years and len(B) >= 3), "its numbers are years, and those below are not", False
    with np.errstate(invalid="ignore", over="ignore"):
        below = np.diff(B, axis=1)
        others = float(np.mean((below >= 0).all(axis=1) | (below <= 0).all(axis=1)))
        low, high = np.nanmin(B, axis=0, initial=np.inf), np.nanmax(B, axis=0, initial=-np.inf)
        margin = FAR * np.maximum(high - low, 0) + 1e-12 * np.abs(B[np.isfinite(B)]).max(initial=0.0)
        is_far = bool((((v > high + margin) | (v < low - margin)) & np.isfinite(high - low)).mean() > 0.9)
    fractions = np.isfinite(B) & (np.round(B) != B)
    rises = bool((steps > 0).all() or (steps < 0).all())
    steady = bool((steps >= 0).all() or (steps <= 0).all()) and distinct >= 2
    stands_out = kinds[at] == "text" and max(map(shapes.count, set(shapes)), default=0) > 0.8 * len(named)
    if kinds[at] == "text" and not stands_out and len(named) >= 3:  # "city" above names of cities
        stands_out = first[at].strip()[:1].islower() and not any(cell[:1].islower() for cell in named)
    evidence = {
        "its numbers rise or fall from column to column, and those below do not": (
            (steady and others <= RARE) + (rises and others <= RARE and v.size >= SURELY)
        ),
        "its numbers are whole, and those below are not": (
            whole and bool(fractions.any(axis=0).mean() > 0.9 and fractions.mean() > 0.5)
        ),
        "its numbers are evenly spaced": rises and bool(np.allclose(steps, steps[0], rtol=1e-6)),
        "its numbers are far from those below": is_far + (is_far and (steady or whole)),
        "its first cell is unlike those below": stands_out,
    }
    points, why = sum(evidence.values()), next((words for words, point in evidence.items() if point), "")
    is_unlike = whole and rises and bool(fractions.any(axis=0).all()) and bool(fractions.mean() > 0.5)
    is_open = v.size >= 4 and bool((steps > 0).all()) and float((below > 0).all(axis=1).mean()) < 0.5
    is_open |= v.size >= 4 and is_unlike
    return bool(points >= 2), why, is_open


def _value(cell: str, numerals: Numerals) -> float:
    """Return the number in a cell; NaN for anything else."""
    value = None if numerals.is_missing(cell) else numerals.number(cell)
    return np.nan if value is None else value


def shape(cell: str) -> str:
    """Return a cell with a 0 for every run of digits, so that leaf_1 and leaf_22 are equal."""
    return re.sub(r"\d+", "0", cell.strip())


def _find_delimiter(lines: Sequence[str], options: ReadOptions) -> str:
    """Return the delimiter that gives rows of equal width with the most cells that are numbers."""
    best, best_score, is_even, is_named = ",", 0.0, False, False
    for delimiter in _DELIMITERS:
        if delimiter != SPACES and not any(delimiter in line for line in lines):
            continue
        if delimiter == SPACES and (is_named or (best == "\t" and is_even and best_score > 0.02)):
            break  # blanks stand within cells
        try:
            rows = [row for row in split(lines[1:] or lines, delimiter) if any(map(str.strip, row))]
        except InvalidData:
            continue
        widths = [len(row) for row in rows]
        common = max(set(widths), key=widths.count, default=0)
        if common < 2:
            continue
        cells = [cell for row in rows for cell in row[:200]]
        # 5 215 is one number between semicolons, and more often two numbers between blanks.
        numbers = sum(is_like_number(cell) / (1 + (" " in cell.strip())) for cell in cells) / len(cells)
        score = (numbers + 0.02) * widths.count(common) / len(widths)
        if score > best_score + 1e-9:
            best, best_score, is_even = delimiter, score, len(set(widths)) == 1
            header = next(iter(split(lines[:1], delimiter)), [])
            is_named = is_even and len(header) == common
            is_named &= not any(cell.strip()[:1].isdigit() for cell in header)
    return best


def _first_lines(raw: bytes, options: ReadOptions) -> list[str]:
    """Return the first lines of a text: `ENOUGH_ROWS` and a header, or fewer when lines are long."""
    above = 0 if isinstance(options.header, str) else int(options.header)
    lines: list[str] = []
    characters = 0
    for line in lines_of(raw):
        lines.append(line)
        characters += len(line)
        if len(lines) > above + ENOUGH_ROWS or (
            len(lines) >= above + _ENOUGH_LINES and characters >= _ENOUGH_CHARACTERS
        ):
            break
    return lines


def split(lines: Iterable[str], delimiter: str) -> Iterator[list[str]]:
    """Yield each line as a list of cells. A delimiter between quotation marks does not divide cells."""
    if delimiter == SPACES:
        yield from (
            [quoted or plain for quoted, plain in _BLANK_CELLS.findall(line)] if '"' in line else line.split()
            for line in lines
        )
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


def numbered_rows(lines: Iterable[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of its first line (from 0) and the cells of each row that is not empty."""
    begin = read = 0

    def counted() -> Iterator[str]:
        nonlocal read
        for line in lines:
            read += 1
            yield line

    for row in split(counted(), delimiter):
        if row:
            yield begin, row
        begin = read


def lines_of(raw: bytes) -> Iterable[str]:
    """Return the lines of a text in UTF-8 with their ends."""
    return io.TextIOWrapper(io.BytesIO(raw), encoding="utf-8", newline="")


def are_labels(cells: Sequence[Any]) -> bool:
    """Return whether cells have few different values, at most half as many as cells."""
    return are_few(len(set(cells)), len(cells))


def are_few(different: int, count: int) -> bool:
    """Return whether `different` values among `count` cells are few enough for labels."""
    return different <= FEW_LABELS and different <= max(1, count // 2)


def quoted(layout: Layout, column: int) -> str:
    """Return a column for a message, after a space: its name in quotes, or its number without a header."""
    return f' "{short(layout.columns[column])}"' if layout.header else f" {column + 1}"
