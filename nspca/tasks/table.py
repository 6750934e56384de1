"""A folder of shards as the data of a run: named by a page, opened by the worker, read in passes that say how
far they are.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import nspca
from nspca.errors import InvalidData
from nspca.progress import Event, Report, silent
from nspca.shards import Shards
from nspca.shards.served import opened

CHANGED = "The folder {} has changed since this was asked: start it again, on what the folder holds now."


def known(name: str, digest: str) -> Shards:
    """The folder of that name among those that the operator serves, as long as it holds the same numbers.

    Raises
    ------
    InvalidData
        When it is not there, or holds others.
    """
    table = opened(name)
    if table.digest != digest:
        raise InvalidData(CHANGED.format(name))
    return table


def given(X: Any, report: Report) -> tuple[Any, Report]:
    """What a task works on, and whom it tells: arrays as they came; in place of ``{"folder": name, "digest":
    ...}`` the folder, whose passes are reported as well.
    """
    if not isinstance(X, dict):
        return X, report
    reading = Reading(known(X["folder"], X["digest"]), report)
    return reading, reading.tell


class Reading:
    """A folder that reports at each block: so a pass shows how far it is, and can be cancelled in between."""

    def __init__(self, table: Shards, report: Report = silent):
        self.shape, self.digest, self.largest = table.shape, table.digest, table.largest
        self._table, self._report, self._last = table, report, Event("reading the rows")

    @property
    def feature_names(self):
        return self._table.feature_names

    def tell(self, event: Event) -> None:
        """A `report` hook that remembers what is being done."""
        self._last = event
        self._report(event)

    def blocks(self) -> Iterator[Any]:
        """As `Shards.blocks`."""
        last, total = self._last, len(self._table.manifest.shards)
        said = {name: value for name, value in last.payload.items() if name != "row"}  # which is ready once
        for done, block in enumerate(self._table.blocks()):
            stage = f"{last.stage} (block {done + 1} of {total})"
            self._report(replace(last, stage=stage, payload=said))
            yield block


def run_table(*, X: dict, center: bool, scale: bool, leading: bool, report: Report = silent) -> bytes:
    """What pages say of a folder beside what a run finds, as JSON: its ``total`` variance and, where it is
    wanted, the ``leading`` eigenvalue.
    """
    table, _ = given(X, report)
    problem = nspca.Problem.from_shards(table, 1, center=center, scale=scale)
    found = {"total": problem.total_variance, "leading": problem.leading_eigenvalue if leading else None}
    return json.dumps(found).encode()
