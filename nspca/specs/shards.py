"""Folders of shards as the data of a run, read by many workers, or block by block with progress events.

The command ``run --workers`` makes `ShardsOnWorkers`. Other runs on a folder read `ReportingShards`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from nspca.progress import Event, Report, silent
from nspca.shards import Shards
from nspca.shards.on_disk import OnDisk


@dataclass(frozen=True)
class ShardsOnWorkers(OnDisk):
    """A folder of shards that the workers of a Dask client read together.

    Parameters
    ----------
    client : distributed.Client
    report : callable
        Gets an `Event` for every block, or branch of blocks, of a pass.
    """

    client: Any = None
    report: Report = silent


class ReportingShards:
    """A folder of shards that calls `report` at each block, for progress and cancelling."""

    def __init__(self, table: Shards, report: Report = silent) -> None:
        self.shape, self.digest, self.largest = table.shape, table.digest, table.largest
        self._table, self._report, self._last = table, report, Event("reading the rows")

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self._table.feature_names

    def tell(self, event: Event) -> None:
        """Pass an event on, and remember its stage."""
        self._last = event
        self._report(event)

    def blocks(self) -> Iterator[Any]:
        """Yield the rows block by block; see `Shards.blocks`."""
        last, total = self._last, len(self._table.manifest.shards)
        said = {name: value for name, value in last.payload.items() if name != "row"}  # report a result once
        for done, block in enumerate(self._table.blocks()):
            stage = f"{last.stage} (block {done + 1} of {total})"
            self._report(replace(last, stage=stage, payload=said))
            yield block
