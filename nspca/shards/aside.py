"""Columns that are no features, as they go by: what is done about them is what reading the table does."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from nspca.data.columns import Columns, left_out
from nspca.data.look import FEW_LABELS, MISSING, Look, is_number, quoted, short
from nspca.errors import InvalidData


class Aside:
    """Few texts that repeat are left out, and a note says so; any others are refused.

    Parameters
    ----------
    found : Look
    chosen : Columns
    """

    def __init__(self, found: Look, chosen: Columns):
        self.found = found
        self.rows = 0
        self._first: dict[int, dict[str, int]] = {i: {} for i in chosen.others}

    def add(self, texts: Mapping[int, Sequence[str]], rows: int) -> None:
        """The next rows; who has held too many texts by now need not be read to the end."""
        for i, first in self._first.items():
            for text in set(texts[i]).difference(first):
                first[text] = self.rows + texts[i].index(text) + 1
            if len(first) > FEW_LABELS:
                self._said(i)
        self.rows += rows

    def notes(self) -> tuple[str, ...]:
        """What is said of them after the last row."""
        return tuple(self._said(i) for i in self._first)

    def _said(self, i: int) -> str:
        first, found = self._first[i], self.found
        if i in found.empty_columns:
            held = sorted((row, text) for text, row in first.items() if text.strip().lower() not in MISSING)
            if held and all(is_number(text, found.decimal) for _, text in held):
                row, text = held[0]
                raise InvalidData(
                    f"Every cell must hold a number, but column{quoted(found, i)} is empty in its first rows "
                    f'and holds "{short(text)}" in row {row}: fill it in, or remove it.'
                )
            if held:
                found = replace(found, empty_columns=())
        return left_out(found, i, first, self.rows)[0]
