"""Numbers as people write them: decimal commas, marks between thousands, percent signs, units."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nspca.data.options import mark_name
from nspca.errors import InvalidData, Way

MISSING = {"", "na", "n/a", "nan", "nat", "null", "none", "?", "-", ".", "#n/a"}
"""Cells that are missing values, in lower case."""
CENSORED = re.compile(
    r"\s*(<|>|≤|≥|&lt;|&gt;)=?\s*[+-]?[\d.,]+\s*|(n\.?d\.?|lod|loq|bdl|bql|< ?lod|< ?loq)", re.IGNORECASE
)
"""A value beyond a limit of detection, such as <0.1, or the words for one."""
BLANKS = "\u00a0\u202f\u2009\u2007"
"""Blanks that do not break a line, some of which stand between thousands."""
_BLANK = str.maketrans(dict.fromkeys(BLANKS, " ") | {"−": "-", "’": "'"})
_CORE = r"(?P<core>[+-]?(?:\d[\d.,' ]*\d|\d|[.,]\d+)(?:[eE][+-]?\d+)?)"
_MONEY = r"[$€£¥₹₩₽]|US\$|USD|EUR|GBP|CHF|JPY"
SECOND = "(...)"
"""The sign of a second number behind the first, such as the deviation in 1.2 (0.3) and 1.2 ± 0.3."""
_SECOND = r"%?\s*[(\[][^()\[\]A-Za-z]*\d[^()\[\]A-Za-z]*[)\]]|(±|\+/-)\s*[\d.,]+"
_MARKED = re.compile(
    rf"(?P<sign>[+-]?)(?P<before>{_MONEY})?\s*{_CORE}\s*(?P<after>%|‰|{_MONEY}|[A-Za-zµμ°Ω][A-Za-z/²³µμ°·^-]{{0,11}}[23]?|{_SECOND})?"
)
_LAKHS = r"[+-]?[1-9]\d?(?:,\d\d)+,\d{3}"
_GROUPS = {mark: re.compile(rf"[+-]?[1-9]\d{{0,2}}(?:[{mark}]\d{{3}})+") for mark in ".' "}
_GROUPS[","] = re.compile(rf"[+-]?[1-9]\d{{0,2}}(?:,\d{{3}})+|{_LAKHS}")
"""Whole numbers with a mark between thousands, by the mark. 0,123 is none. India writes 1,23,456."""
_MIXED = {
    ".": re.compile(rf"([+-]?\d{{1,3}}(?:,\d{{3}})+|{_LAKHS})\.\d+"),
    ",": re.compile(r"[+-]?\d{1,3}(?:\.\d{3})+,\d+"),
}
"""Numbers with a mark between thousands and a decimal sign, by the decimal sign."""
DECIMAL = {mark: re.compile(rf"\s*[+-]?\d*[{mark}]\d+([eE][+-]?\d+)?\s*") for mark in ",."}
"""Patterns of numbers with a decimal comma and with a decimal point."""
_IN_BRACKETS = re.compile(rf"((?:{_MONEY})?)\s*(?:\(([^()+-]*\d[^()]*)\)|(\d[\d.,' ]*)-)\s*(%?)")
"""A number in brackets or with a minus behind, as accountants write negative numbers."""
FLAGS = (
    ("true", "false"),
    ("yes", "no"),
    ("y", "n"),
    ("t", "f"),
    ("ja", "nein"),
    ("wahr", "falsch"),
    ("oui", "non"),
    ("vrai", "faux"),
    ("si", "no"),
    ("sí", "no"),
    ("checked", "unchecked"),
    ("present", "absent"),
)
"""Words for 1 and 0."""
_GROUPED = re.compile(r"(?<=\d)[ '](?=\d{3})")
"""A blank or quote between thousands."""
_DIGITS = re.compile(r"[+-]?[\d.,' ]+(?:[eE][+-]?\d+)?")
_SMALL = re.compile(r"[+-]?\d{1,3}")
_LIKE = re.compile(r"(?=.*\d)[+-]?(\d+|[1-9]\d{0,2}([.,' ])\d{3}(\2\d{3})*)?([.,]\d*)?([eE][+-]?\d+)?")
CERTAIN = 8
"""Numbers such as 1,936 beside whole numbers below a thousand, from which the comma surely divides thousands:
one decimal number in ten ends in a zero that programs leave out.
"""


@dataclass(frozen=True)
class Numerals:
    """How the numbers of a table are written.

    A blank as mark between `thousands` stands for blanks of all kinds. `missing` are further words for a
    missing value, in lower case; one that ends in * stands for all that begin so, and one that begins with *
    for all that end so. Numbers in brackets or before a minus may be negative, and decimals mixed of those
    with comma and with point.
    """

    decimal: str = "."
    thousands: str = ""
    missing: frozenset[str] = frozenset()
    has_brackets: bool = False
    is_mixed: bool = False

    @property
    def is_plain(self) -> bool:
        """Tell whether pandas reads such numbers."""
        return not (self.thousands or self.has_brackets or self.is_mixed)

    def tidy(self, cell: str) -> str:
        """Return a cell with plain blanks and none around it, with a minus before it for brackets."""
        text = cell.translate(_BLANK).strip()
        found = _IN_BRACKETS.fullmatch(text) if self.has_brackets else None
        return "-" + "".join(filter(None, found.groups())) if found else text

    def is_missing(self, cell: str) -> bool:
        """Tell whether a cell is a missing value."""
        word = (cell if cell.isascii() else cell.translate(_BLANK)).strip().lower()
        if word in MISSING or not self.missing:
            return word in MISSING
        parts = [code for code in self.missing if len(code) > 1 and "*" in (code[0], code[-1])]
        beginnings, ends = ([code.strip("*") for code in parts if code[at] == "*"] for at in (-1, 0))
        return word in self.missing or word.startswith(tuple(beginnings)) or word.endswith(tuple(ends))

    def is_number(self, cell: str) -> bool:
        """Tell whether a cell is a number without signs and units. Infinities count as numbers."""
        return self.plain(cell) is not None and not self.is_missing(cell)

    def plain(self, cell: str) -> float | None:
        """Return the number in a cell without signs or units; None for any other text."""
        text = self.tidy(cell)
        if self.thousands and self.thousands in text:
            digits, sign, rest = text.partition(self.decimal)
            if not _GROUPS[self.thousands].fullmatch(digits):
                return None
            text = digits.replace(self.thousands, "") + sign + rest
        if "_" in text or (self.decimal == "," and "." in text and not self.is_mixed):
            return None
        try:
            return float(text.replace(",", ".") if self.decimal == "," else text)
        except ValueError:
            return None

    def marks(self, cell: str) -> tuple[str, str] | None:
        """Return the signs before and after the number in a cell, such as ("", "%"); None without any."""
        found = _MARKED.fullmatch(self.tidy(cell))
        if found is None or not (found["before"] or found["after"]):
            return None
        core = found["sign"] + found["core"]
        after = found["after"] or ""
        after = SECOND if re.fullmatch(_SECOND, after) else after
        return None if self.plain(core) is None else (found["before"] or "", after)

    def number(self, cell: str) -> float | None:
        """Return the number in a cell with or without signs and units; None for any other text."""
        plain = self.plain(cell)
        if plain is not None:
            return plain
        found = _MARKED.fullmatch(self.tidy(cell))
        return None if found is None else self.plain(found["sign"] + found["core"])


def flag(cell: str, words: tuple[str, str]) -> float | None:
    """Return 1 and 0 for the two words of a column of yes and no; None for any other text."""
    word = cell.strip().lower()
    return float(word == words[0]) if word in words else None


def find_flags(cells: Sequence[str]) -> tuple[str, str] | None:
    """Return the words for 1 and 0 of which the filled cells of a column consist; None for other columns."""
    held = {cell.strip().lower() for cell in cells}
    if len(held) > 2 or (len(held) == 1 and len(min(held)) == 1):
        return None
    return next((pair for pair in FLAGS if held <= {*pair}), None)


def are_bracketed(cells: Sequence[str]) -> bool:
    """Tell whether some numbers of a column, but not all, stand in brackets, and none has a minus."""
    inside = sum(bool(_IN_BRACKETS.fullmatch(cell)) for cell in cells)
    others = [cell for cell in cells if _DIGITS.fullmatch(_core(cell))] if inside else []
    return bool(others) and not any("-" in cell for cell in others) and inside + len(others) > len(cells) / 2


def is_number(cell: str, decimal: str = ".") -> bool:
    """Tell whether a cell is a number with this decimal sign and without other marks."""
    return Numerals(decimal).is_number(cell)


def is_like_number(cell: str) -> bool:
    """Tell whether a cell is a number in some notation, or a missing value."""
    return Numerals().is_missing(cell) or bool(_LIKE.fullmatch(_core(cell.strip().strip("()"))))


def find_decimal(cells: Iterable[str], delimiter: str) -> str:
    """Return the decimal sign, comma or point, that more cells have; a point when commas divide cells."""
    cells = [_GROUPED.sub("", _core(cell)) for cell in cells]
    commas, points = (
        sum(bool(DECIMAL[mark].fullmatch(cell) or _MIXED[mark].fullmatch(cell)) for cell in cells)
        for mark in ",."
    )
    if delimiter == "," and not any(_MIXED[","].fullmatch(cell) or _is_decimal(cell, ",") for cell in cells):
        return "."
    return "," if commas > points else "."


def _core(cell: str) -> str:
    """Return the number in a cell without signs and units, with plain blanks."""
    text = cell.translate(_BLANK).strip()
    found = _MARKED.fullmatch(text)
    return found["sign"] + found["core"] if found else text


def find_thousands(
    columns: Sequence[Sequence[str]], called: Sequence[str], decimal: str | None, delimiter: str
) -> tuple[str, str]:
    """Return the decimal sign and the mark between thousands of a table; "" for no such mark.

    `columns` are the filled cells of each column that may hold numbers, `called` its name in errors,
    `decimal` the sign that the user gave. A mark that may be either is refused, with the options that settle
    it.
    """
    cores = [(name, [*map(_core, cells)]) for name, cells in zip(called, columns, strict=True)]
    cores = [one for one in cores if 2 * sum(bool(_DIGITS.fullmatch(cell)) for cell in one[1]) > len(one[1])]
    cells = [cell for _, column in cores for cell in column]
    sign = decimal or find_decimal(cells, delimiter)
    for mark in "' ":
        if any(mark in cell and _GROUPS[mark].fullmatch(cell.partition(sign)[0]) for cell in cells):
            return sign, mark
    grouped = {mark: {cell for cell in cells if _GROUPS[mark].fullmatch(cell)} for mark in ",."}
    for one, other in ((".", ","), (",", ".")):
        twice = any(cell.count(other) > 1 for cell in grouped[other])
        if decimal in (None, one) and (twice or any(map(_MIXED[one].fullmatch, cells))):
            return one, other
    shown = {mark: any(_is_decimal(cell, mark) for cell in cells) for mark in ",."}
    usual = "," if delimiter == ";" else "" if shown[","] and delimiter != "," else "."
    for mark, other in ((",", "."), (".", ",")):
        if mark == decimal or (decimal is None and (shown[mark] or mark == usual)):
            continue
        is_proved = shown[other] or decimal is not None
        is_whole = all(_SMALL.fullmatch(cell) or cell in grouped[mark] for cell in cells)
        is_sure = is_whole and sum(cell in grouped[mark] for cell in cells) >= CERTAIN
        for name, column in cores:
            first = next((cell for cell in column if cell in grouped[mark]), "")
            small = any(map(_SMALL.fullmatch, column))
            if not first or not all(_SMALL.fullmatch(cell) or cell in grouped[mark] for cell in column):
                continue
            if mark == "." and not (small or shown[","] or grouped[","]):
                continue
            if (is_proved and (small or mark == ",")) or (is_sure and small):
                return other, mark
            ways = [Way("thousands", mark, f"{first} is {first.replace(mark, '')}")]
            if not small:
                ways.append(Way("decimal", mark, f"{first} is a decimal number"))
            raise InvalidData(
                f"Numbers must be written without marks between thousands, but the {mark_name(mark)} in "
                f'"{first[:40]}" of column{name} may be one: save them without.',
                ways,
            )
    return sign, ""


def are_mixed(columns: Sequence[Sequence[str]]) -> bool:
    """Tell whether some decimals are surely written with a comma and others with a point."""
    cells = [_core(cell) for cells in columns for cell in cells]
    if any(_MIXED[mark].fullmatch(cell) or cell.count(mark) > 1 for mark in ",." for cell in cells):
        return False
    if not all(any(_is_decimal(cell, mark) for cell in cells) for mark in ",."):
        return False
    unclear = next((cell for cell in cells if any(_GROUPS[mark].fullmatch(cell) for mark in ",.")), "")
    if unclear:
        raise InvalidData(
            "Decimals must be written with a comma or with a point, but this table has both, "
            f'and "{unclear}" may be either a decimal number or thousands: write all of them alike.'
        )
    return True


def _is_decimal(cell: str, mark: str) -> bool:
    """Tell whether a cell proves that `mark` is the decimal sign, such as 3,14 and 0,123 of the comma."""
    is_code = mark == "," and re.match(r"[+-]?0\d\d", cell)  # +0100,1 of a weather station
    return bool(DECIMAL[mark].fullmatch(cell)) and not (is_code or _GROUPS[mark].fullmatch(cell))
