"""Look after the files of an engine: delete old results and arguments, find damage, and say so in the log.

`Engine` calls `Upkeep.look_at_store` once, and `Upkeep.tidy` again and again.
"""

import logging
import math
import time

from nspca.errors import JobError
from nspca.jobs import packing
from nspca.jobs.job import Limits
from nspca.jobs.store import Store

TIDY_SECONDS = 600.0  # between deletions of old results and arguments
COMPLAIN_SECONDS = 600.0  # between log entries of one kind

_log = logging.getLogger(__name__)


class Upkeep:
    """The care of the store of an engine and of the folder of its arrays.

    `damage` is a sentence about damage that was found in the store; empty for none.
    """

    def __init__(self, store: Store, arrays: packing.ArrayFolder, limits: Limits) -> None:
        self._store, self._arrays, self._limits = store, arrays, limits
        self.damage = ""
        self._tidied_at = -math.inf
        self._complained: dict[str, float] = {}

    @property
    def notice(self) -> str:
        """Message for the operator of the server; empty for none."""
        spared = self._store.spared
        if not spared:
            return ""
        return (
            f"{spared} results on this server are older than the {self._limits.result_age / 86400:.0f} days "
            "that results are kept. At most a quarter of all is deleted in a day, since the clock of this "
            "computer may be wrong: whoever runs the server should look."
        )

    def look_at_store(self) -> None:
        """Check once, in a thread of its own, that the whole file of the store can be read."""
        try:
            self.damage = self._store.damage()
        except JobError as error:
            self.damage = str(error)
        if self.damage:
            self.complain(self.damage)

    def complain(self, text: str, trace: bool = False) -> None:
        """Log a text, at most one of a kind in `COMPLAIN_SECONDS`, since the log may be on a full disk."""
        kind = text.partition(":")[0]
        if time.monotonic() - self._complained.get(kind, -math.inf) > COMPLAIN_SECONDS:
            self._complained[kind] = time.monotonic()
            _log.error("%s", text, exc_info=trace)

    def tidy(self) -> None:
        """Delete old results and the arguments of ended runs now and then."""
        if time.monotonic() - self._tidied_at > TIDY_SECONDS:
            self._tidied_at = time.monotonic()
            needed = {
                digest
                for text in self._store.unfinished_parameters()
                for _, digest in packing.references(text)
            }
            limits = self._limits
            gone = self._store.make_room(limits.result_bytes, limits.workspace_bytes, limits.result_age)
            if self._store.spared:
                _log.warning("%d results were deleted for age or room. %s", gone, self.notice)
            self._arrays.tidy(needed, self._limits.array_bytes, self._limits.array_age)
