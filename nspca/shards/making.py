"""Where and how a folder of shards is made."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nspca.data.how import How
from nspca.progress import Report
from nspca.shards.writer import Writer

MEGABYTES = 32
"""Of a shard: three million entries, which take three times that in memory while they are sorted."""
PER_ENTRY = 12
"""Bytes of an entry: four for its column, eight for its value."""


@dataclass
class Made:
    """Where and how a folder is made."""

    source: Path
    folder: Path
    rows: int | None
    megabytes: float
    report: Report
    vocabulary: Path | None
    how: How
    notes: tuple[str, ...] = ()
    """What is left out, once the file is read."""

    def per_block(self, rows: int, entries: int) -> int:
        """Rows of a shard of a table with so many rows and entries."""
        if self.rows is not None:
            return self.rows
        each = PER_ENTRY * entries / max(rows, 1) + 8
        return int(np.clip(self.megabytes * 2**20 / each, 1, max(rows, 1)))

    def writer(self, columns: int, features: Sequence[str] | None = None) -> Writer:
        """The folder in the making."""
        name = self.source.name.removesuffix(".gz")
        return Writer(self.folder, columns, name.rsplit(".", 1)[0] or name, features, self.report)
