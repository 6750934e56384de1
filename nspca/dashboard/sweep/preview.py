"""Preview of a sweep: one cheap pass that a worker makes once per server, before a visitor asks.

`SweepPage` calls `look` for its first answer.
"""

from dataclasses import dataclass, replace

import pandas as pd

import nspca
from nspca.dashboard import open_data
from nspca.dashboard.app import state
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.proof import attempts as proofs
from nspca.dashboard.runs import defaults, lookup, progress
from nspca.dashboard.runs.sweeps import SWEEP, usual
from nspca.dashboard.runs.tasks import engine
from nspca.dashboard.sweep import whatif
from nspca.errors import NSPCAError
from nspca.jobs import JobState
from nspca.specs import PreviewSpec, SweepSpec

PATIENCE = 1.2  # maximum seconds that the page waits for the preview


@dataclass(frozen=True, eq=False)
class Preview:
    """A finished or running preview, as a page shows it.

    Attributes
    ----------
    of : the data
    asked : the question as a sweep, at the values of k of the preview
    id, now : id and state of its run
    """

    of: Chosen
    asked: SweepSpec
    id: str
    now: JobState

    @property
    def problem(self) -> nspca.Problem:
        """The problem that the preview is about."""
        return open_data.problem_of(self.of, self.asked)

    @property
    def sweep(self) -> nspca.Sweep | None:
        """The sweep of the preview; None until the preview is finished."""
        return (
            lookup.opened(self.id, self.now.finished, nspca.Sweep.from_bytes)
            if self.now.state == "done"
            else None
        )

    def again(self) -> "Preview | None":
        """Return the preview with its present state, None when it is no longer there."""
        try:
            return replace(self, now=engine().status(self.id))
        except NSPCAError:
            return None

    @property
    def table(self) -> pd.DataFrame | None:
        """Table of the preview, like that of a finished sweep; None until the preview is finished."""
        return None if self.sweep is None else proofs.table(self.sweep, [])


def look(of: Chosen, asked: SweepSpec) -> Preview | None:
    """Return the preview of a sweep, starting it if necessary, and wait shortly for it.

    Returns None when the data are too large for a preview or give no valid problem, and when it failed.
    """
    if not defaults.small_enough(of):
        return None
    quick = PreviewSpec(**asked.about_problem(), ks=usual(asked.ks[0], asked.ks[-1]), seed=asked.seed)
    try:
        problem = open_data.problem_of(of, quick)
        run = defaults.answer(of, quick).id
        open_data.with_leading(problem)  # computed meanwhile, since the worker takes as long
        now = progress.wait_shortly(run, PATIENCE if state.get(SWEEP.key) is None or whatif.waits() else 0.0)
    except NSPCAError:
        return None
    return (
        None
        if now.ended and now.state != "done"
        else Preview(of, asked.but(ks=quick.ks, methods=("auto",), effort="fast"), run, now)
    )
