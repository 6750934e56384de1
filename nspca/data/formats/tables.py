"""Common base of the readers of tables with named columns: CSV and Parquet."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from copy import copy
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

import numpy as np

from nspca.data.columns import Columns, find_columns
from nspca.data.formats.base import Block, Reader, Size
from nspca.data.layout import Layout

Piece: TypeAlias = tuple[np.ndarray, dict[int, list[str]]]
"""Consecutive rows of a table: numbers (rows, numeric columns), and the texts by number of their column."""


class TableReader(Reader):
    """Base class of the readers of tables with named columns, some of which hold names or labels.

    `layout` is the layout found from the first rows, and `columns` the role of each column.
    """

    layout: Layout

    @cached_property
    def columns(self) -> Columns:
        """Roles of the columns, for a table with samples in rows."""
        return find_columns(self.layout, self.options)

    @property
    @abstractmethod
    def most_rows(self) -> int:
        """Upper bound on the number of rows, for allocating memory."""

    @abstractmethod
    def pieces(self, texts: Sequence[int], skipped: Sequence[int] = ()) -> Iterator[Piece]:
        """Yield the rows in order, as pieces of consecutive rows.

        Parameters
        ----------
        texts : sequence of int
            Numbers of the columns that are read as text.
        skipped : sequence of int
            Rows below the header, from 0, that are left out.
        """

    @property
    def shape(self) -> Size:
        """Shape of the data: the number of rows, and of the columns that are features."""
        rows, count = self.rows, len(self.columns.features)
        not_counted = self.columns.describe_excluded(self.layout).removeprefix(" (").removesuffix(")")
        return Size(
            rows,
            count,
            rows * count,
            sparse=False,
            exact=self.is_exact,
            text=self.text_bytes,
            not_counted=not_counted,
        )

    is_exact = True
    """Whether `rows` is an exact count rather than an estimate."""
    text_bytes = 0
    """Bytes of text to be parsed; 0 for binary formats."""

    @property
    @abstractmethod
    def rows(self) -> int:
        """Number of rows, an estimate when `is_exact` is False."""

    def with_layout(self, layout: Layout) -> "TableReader":
        """Return a reader of this file with another layout of its columns."""
        other = copy(self)
        vars(other).pop("columns", None)
        other.layout = layout
        return other

    def blocks(self, rows: int | None = None, spill: Path | None = None) -> Iterator[Block]:
        """Yield the rows as blocks of data. The file format decides the size of a block, not `rows`."""
        chosen = self.columns
        for X, texts in self.pieces(chosen.excluded):
            yield Block(
                X,
                None if chosen.ids is None else texts[chosen.ids],
                None if chosen.labels is None else texts[chosen.labels],
                {i: texts[i] for i in chosen.others},
            )

    def read_whole(self, texts: Sequence[int], skipped: Sequence[int] = ()) -> Piece:
        """Return all rows as one piece, with the arguments of `pieces`."""
        X = np.empty((self.most_rows, len(self.layout.columns) - len(set(texts))))
        held = 0
        whole: dict[int, list[str]] = {i: [] for i in texts}
        for values, found in self.pieces(texts, skipped):
            if values.size:
                X[held : held + len(values)] = values
                held += len(values)
            for i, cells in found.items():
                whole[i] += cells
        # Free the memory of rows that the bound `most_rows` overestimated.
        X.resize((held, X.shape[1]), refcheck=False)
        return X, whole
