"""The roles of the columns of a table: features, sample names, labels and other texts.

The readers of tables (CSV, Excel, Parquet) find the roles here, in memory and for folders of shards.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nspca.data.layout import MISSING, Layout, are_few, is_number, quoted, short
from nspca.data.read_options import ReadOptions
from nspca.errors import InvalidData, NotNumbers, shown
from nspca.validation.options import is_whole

_MONTH = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DAY = (
    r"\d{4}(?P<a>[-/.])\d{1,2}(?P=a)\d{1,2}|\d{1,2}(?P<b>[-/.] ?)\d{1,2}(?P=b)(\d{4}|\d{2})"
    r"|\d{4}[-/](0?[1-9]|1[0-2])|(0?[1-9]|1[0-2])[-/]\d{4}|\d{4}-?Q[1-4]|Q[1-4][- ]\d{4}"
    rf"|(\d{{1,2}}\.?[- ])?{_MONTH}[- ](\d{{1,2}},? )?(\d{{4}}|\d{{2}})"
)
_TIME = r"\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?( ?[AP]M)?(Z|[+-]\d{2}:?\d{2})?"
_DATE = re.compile(rf"({_DAY})([ T]{_TIME})?|{_TIME}", re.IGNORECASE)
"""Pattern of a date such as 2024-01-31, 1/31/24, 31 Jan 2024, 2024-01 or 2024Q1, or of a time, or of both."""


@dataclass(frozen=True)
class Columns:
    """The roles of the columns of a table, as column numbers from 0.

    Parameters
    ----------
    features : tuple of int
    ids, labels : int or None
        Column of the sample names, and column of the labels.
    excluded : tuple of int
        All columns that are not features.
    """

    features: tuple[int, ...]
    ids: int | None
    labels: int | None
    excluded: tuple[int, ...]

    @property
    def others(self) -> tuple[int, ...]:
        """Columns without a role: empty ones are left out, those of text are left out or refused."""
        return tuple(i for i in self.excluded if i not in (self.ids, self.labels))

    def describe_excluded(self, layout: Layout) -> str:
        """Return a phrase such as `` (not counted: "name" as sample names)``; empty if all are features."""
        texts = dict.fromkeys(self.others, "text") | dict.fromkeys(layout.empty_columns, "empty")
        kinds = texts | {self.ids: "sample names", self.labels: "labels"}
        phrases = [f"column{quoted(layout, i)} as {kinds[i]}" for i in self.excluded]
        return f" (not counted: {', '.join(phrases[:8])}{', ...' * (len(phrases) > 8)})" if phrases else ""


def find_columns(layout: Layout, options: ReadOptions) -> Columns:
    """Return the roles of the columns of a table with samples in rows."""
    ids = (
        layout.id_column
        if options.id_column is None
        else find_column(layout.columns, options.id_column, "id")
    )
    wanted = options.label_column
    labels = None if wanted is None else find_column(layout.columns, wanted, "label")
    aside = {*layout.text_columns, *layout.empty_columns, *(i for i in (ids, labels) if i is not None)}
    features = tuple(i for i in range(len(layout.columns)) if i not in aside)
    return Columns(features, ids, labels, tuple(sorted(aside)))


def taken_as_names(layout: Layout, chosen: Columns, options: ReadOptions) -> tuple[str, ...]:
    """Return a note if the first column was taken as sample names without a request; no note otherwise."""
    if chosen.ids is None or options.id_column is not None:
        return ()
    what = "The first column" if chosen.ids == 0 else "Column"
    return (f"{what}{quoted(layout, chosen.ids)} holds distinct names and was taken as sample names.",)


def find_column(names: Sequence[str], wanted: "str | int", role: str) -> int:
    """Return the number of a column given by name or by number from 0.

    Raises
    ------
    InvalidData
        When there is no such column. The message calls it the `role` column.
    """
    if isinstance(wanted, str):
        if wanted in names:
            return names.index(wanted)
        some = ", ".join(f'"{short(name)}"' for name in names[:8]) + ", ..." * (len(names) > 8)
        raise InvalidData(
            f'There is no column "{short(wanted)}" to take as the {role} column: the columns are {some}.'
        )
    if not is_whole(wanted) or not 0 <= wanted < len(names):
        last = len(names) - 1
        raise InvalidData(f"The {role} column must be a name or between 0 and {last}, got {shown(wanted)}.")
    return int(wanted)


def describe_left_out(layout: Layout, i: int, texts: Mapping[str, int], count: int) -> tuple[str, bool]:
    """Return the note about a column that was left out, and whether the column may be the labels.

    Parameters
    ----------
    layout : Layout
    i : int
        Number of the column.
    texts : mapping of str to int
        The different texts in the column, each with the first row (from 1) that has it.
    count : int
        Number of rows.

    Raises
    ------
    NotNumbers
        For a column of many different texts that are no dates, whose role is unknown.
    """
    held = sorted((row, text) for text, row in texts.items() if text.strip())
    if i in layout.empty_columns or not held:
        return f"Column{quoted(layout, i)} is empty and was left out.", False
    if are_few(len(texts), count):
        different = len(distinct_texts(texts))
        return (
            f"Column{quoted(layout, i)} holds {different} different text{'s' * (different != 1)} and was "
            "left out; it can be named as the label column."
        ), True
    filled = distinct_texts(texts)
    if filled and all(map(_DATE.fullmatch, filled)):
        return f"Column{quoted(layout, i)} holds dates and was left out.", False
    words = [(row, text) for row, text in held if not is_number(text, layout.decimal)]
    row, text = (words or held)[0]
    what, instead = ("text", "") if words else ("numbers stored as text", "save them as numbers, or ")
    raise NotNumbers(
        f"Every column must hold numbers, but column{quoted(layout, i)} holds {what} "
        f'("{short(text)}" in row {row}): {instead}name it as the id or label column, or remove it.',
        i,
    )


def distinct_texts(cells: Sequence[str] | Mapping[str, int]) -> set[str]:
    """Return the set of texts in the cells, without words for missing values."""
    return {cell.strip() for cell in cells if cell.strip().lower() not in MISSING}
