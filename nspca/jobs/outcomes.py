"""Store the outcomes of runs, for the engine.

Outcomes wait in memory while the store cannot be written, for example on a full disk.
"""

import logging
import math
import time
from dataclasses import dataclass, field, replace

from nspca.errors import JobError
from nspca.jobs.job import Job
from nspca.jobs.state import JobState
from nspca.jobs.store import Store

RETRY_SECONDS = 5.0  # between attempts of a patient caller
HELD_BYTES = 1_000_000_000  # maximum bytes of results waiting in memory; beyond, a run ends without a result

_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Outcome:
    """Outcome of a job for some of its runs.

    Parameters
    ----------
    job, runs : the job that ended, and the ids of its runs
    state, error, result : as in `Finished`
    finished : end, in seconds since the epoch
    """

    job: Job
    runs: tuple[str, ...]
    state: str
    error: str = ""
    result: bytes = b""
    finished: float = field(default_factory=time.time)

    def as_state(self, run_id: str) -> JobState:
        """Return the state of one of the runs, for a page."""
        return self.job.as_state(run_id, self.state, error=self.error, finished=self.finished)


class HeldOutcomes:
    """Outcomes that are not stored yet. Writers hold the engine's lock; readers see whole values."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._held: tuple[Outcome, ...] = ()
        self._why = ""
        self._tried = -math.inf

    @property
    def trouble(self) -> str:
        """Message about outcomes that cannot be stored, with the reason; empty if all are stored."""
        count = sum(len(end.runs) for end in self._held)
        if not count:
            return ""
        what = "1 run that has ended is" if count == 1 else f"{count} runs that have ended are"
        return (
            f"{what} not kept yet, only held in memory, and lost when the server ends; it is tried again "
            f"every few seconds. {self._why}"
        )

    def keep(self, end: Outcome) -> None:
        """Store an outcome in one transaction, or hold it in memory for another attempt."""
        trouble = self._store_outcome(end)
        if not trouble:
            return
        _log.error("the end of a run could not be kept, it is held in memory: %s", trouble)
        if end.result and sum(len(other.result) for other in self._held) + len(end.result) > HELD_BYTES:
            end = Outcome(end.job, end.runs, "failed", trouble)
        self._held += (end,)
        self._why = trouble

    def retry(self, patient: bool = False) -> None:
        """Try to store held outcomes, the oldest first; a `patient` caller tries only every few seconds."""
        if patient and time.monotonic() - self._tried < RETRY_SECONDS:
            return
        self._tried = time.monotonic()
        while self._held:
            self._why = self._store_outcome(self._held[0])
            if self._why:
                return
            self._held = self._held[1:]
            if not self._held:
                _log.warning("the ends of all runs are kept again")

    def answers(self, key: str) -> bool:
        """Tell whether the result for a key is held in memory."""
        return any(end.state == "done" and end.job.key == key for end in self._held)

    def enter(self, run_id: str, key: str) -> None:
        """Let a run that was just submitted use a held result for its key, and forget its older outcomes."""
        others = (replace(end, runs=tuple(run for run in end.runs if run != run_id)) for end in self._held)
        self._held = tuple(
            replace(end, runs=(*end.runs, run_id)) if end.state == "done" and end.job.key == key else end
            for end in others
            if end.runs or end.state == "done"
        )

    def find(self, run_id: str) -> Outcome | None:
        """Return the outcome of a run that is not in the store yet, None if there is none."""
        return next((end for end in reversed(self._held) if run_id in end.runs), None)

    def _store_outcome(self, end: Outcome) -> str:
        """Store an outcome, and return the error message, or an empty text if it was stored."""
        kept = (end.job.key, end.result) if end.state == "done" else None
        try:
            self._store.finish_runs(
                end.runs, end.state, error=end.error, result=kept, finished=end.finished, **end.job.progress()
            )
        except JobError as trouble:
            return str(trouble)
        return ""
