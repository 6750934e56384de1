"""Results of runs: complete, partial after a cancel, or an answer that ships with the samples.

Pages whose result is a sweep call `kept`.
"""

import nspca
from nspca.dashboard.app import cache
from nspca.dashboard.runs import lookup
from nspca.dashboard.runs.lookup import Watched
from nspca.dashboard.runs.tasks import engine


def kept(run: Watched) -> nspca.Sweep | None:
    """Return the sweep of a run that is stored, done, or cancelled with some rows; None for any other run."""
    if run.stored is not None:
        return run.stored
    if run.now.state == "done":
        return lookup.opened(run.id, run.now.finished, nspca.Sweep.from_bytes)
    ready = run.now.state == "cancelled" and engine().store.has_result(run.id)
    return _handed_in(run.id, run.now.finished) if ready else None


@cache.keep()
def _handed_in(run_id: str, finished: float | None) -> nspca.Sweep:
    """Return the partial sweep of a cancelled run, cached by its id and the time when it ended."""
    content = engine().store.result(run_id)
    assert content is not None  # the caller has checked that it is stored
    return nspca.Sweep.from_bytes(content)
