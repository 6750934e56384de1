"""Preview of a sweep: one cheap pass that a worker makes once per server, before a visitor asks.

`SweepPage` calls `look` for its first answer.
"""

from dataclasses import replace

import pandas as pd

from nspca.dashboard import open_data
from nspca.dashboard.app import state
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.proof import attempts as proofs
from nspca.dashboard.runs import defaults, progress
from nspca.dashboard.runs.lookup import Watched
from nspca.dashboard.runs.sweeps import SWEEP, usual
from nspca.dashboard.runs.tasks import engine
from nspca.dashboard.sweep import whatif
from nspca.errors import NSPCAError
from nspca.specs import SweepSpec

PATIENCE = 1.2  # maximum seconds that the page waits for the preview


def look(of: Chosen, asked: SweepSpec) -> Watched | None:
    """Return the run of the preview of a sweep, starting it if necessary, and wait shortly for it.

    Its question is the sweep at the values of k of the preview. Without a last k in the address these go up
    to all features, since how far the curve rises decides how far the sweep goes. Returns None when the data
    are too large for a preview or give no valid problem, and when it failed.
    """
    if not defaults.small_enough(of):
        return None
    last = asked.ks[-1] if state.get("to") is not None else of.dataset.X.shape[1]
    quick = SweepSpec(**asked.about_problem(), ks=usual(asked.ks[0], last), seed=asked.seed, draft=True)
    try:
        problem = open_data.problem_of(of, quick)
        run = defaults.answer(of, quick).id
        open_data.with_leading(problem)  # computed meanwhile, since the worker takes as long
        now = progress.wait_shortly(run, PATIENCE if state.get(SWEEP.key) is None or whatif.waits() else 0.0)
    except NSPCAError:
        return None
    if now.ended and now.state != "done":
        return None
    return Watched(run, of, asked.but(ks=quick.ks, methods=("auto",), effort="fast"), now, own=False)


def again(run: Watched) -> Watched | None:
    """Return a preview with its present state, None when it is no longer there."""
    try:
        return replace(run, now=engine().status(run.id))
    except NSPCAError:
        return None


def table(run: Watched | None) -> pd.DataFrame | None:
    """Return the table of a preview, like that of a finished sweep; None until the preview is finished."""
    return None if run is None or run.results is None else proofs.table(run.results, [])
