"""Columns that are no features, while a table is written as shards: left out with a note, or refused."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from nspca.data.columns import Columns, describe_left_out
from nspca.data.layout import FEW_LABELS, MISSING, Layout, is_number, quoted, short
from nspca.errors import InvalidData


class OtherColumns:
    """The different texts of each column that is no feature, collected block by block.

    A column of few texts that repeat is left out, and a note says so; any other is refused. Reading the table
    into memory does the same.

    Parameters
    ----------
    layout : Layout
    columns : Columns
    """

    def __init__(self, layout: Layout, columns: Columns) -> None:
        self.layout = layout
        self.rows = 0
        self._first_rows: dict[int, dict[str, int]] = {i: {} for i in columns.others}

    def add(self, texts: Mapping[int, Sequence[str]], rows: int) -> None:
        """Add the cells of the next rows; refuse a column as soon as it has held too many texts."""
        for i, first in self._first_rows.items():
            for text in set(texts[i]).difference(first):
                first[text] = self.rows + texts[i].index(text) + 1
            if len(first) > FEW_LABELS:
                self._describe(i)
        self.rows += rows

    def notes(self) -> tuple[str, ...]:
        """Return a sentence about each column, after the last row."""
        return tuple(self._describe(i) for i in self._first_rows)

    def _describe(self, i: int) -> str:
        """Return the sentence about a column that is left out, or refuse the column."""
        first, layout = self._first_rows[i], self.layout
        if i in layout.empty_columns:
            held = sorted((row, text) for text, row in first.items() if text.strip().lower() not in MISSING)
            if held and all(is_number(text, layout.decimal) for _, text in held):
                row, text = held[0]
                raise InvalidData(
                    f"Every cell must hold a number, but column{quoted(layout, i)} is empty in its first "
                    f'rows and holds "{short(text)}" in row {row}: fill it in, or remove it.'
                )
            if held:
                layout = replace(layout, empty_columns=())
        return describe_left_out(layout, i, first, self.rows)[0]
