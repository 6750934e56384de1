"""What stands on the page before anybody asks: one cheap pass, made by a worker like any run and kept once
for all who come by.
"""

import time
from dataclasses import dataclass
from typing import Any

import pandas as pd

import nspca
from nspca.dashboard import chosen
from nspca.dashboard.chosen import Chosen
from nspca.dashboard.proof import attempts as proofs
from nspca.dashboard.runs import everybody, found
from nspca.dashboard.runs.request import SWEEP, Request, usual
from nspca.dashboard.runs.tasks import engine
from nspca.dashboard.shell import state
from nspca.dashboard.sweep import whatif
from nspca.errors import NSPCAError
from nspca.jobs import JobState

TASK = "preview"
PATIENCE = 1.2  # seconds that the page waits before it goes on without


@dataclass(frozen=True, eq=False)
class Preview:
    """A preview as a page sees it, made or on its way."""

    of: Chosen
    asked: Request
    id: str
    now: JobState

    @property
    def problem(self) -> nspca.Problem:
        return self.asked.problem(self.of)

    @property
    def sweep(self) -> nspca.Sweep | None:
        """None until it is there."""
        return (
            found.opened(self.id, self.now.finished, nspca.Sweep.from_bytes)
            if self.now.state == "done"
            else None
        )

    @property
    def table(self) -> pd.DataFrame | None:
        """Rows as those of a finished sweep; None until it is there."""
        return None if self.sweep is None else proofs.table(self.sweep, [])


def look(of: Chosen, asked: Request) -> Preview | None:
    """The preview of a sweep, begun if need be, and awaited for a moment while there is no run to look at.

    None when the data are too large for one, or no problem.
    """
    if not everybody.small_enough(of):
        return None
    asked = Request(
        of.reference,
        of.content,
        usual(asked.ks[0], asked.ks[-1]),
        forced=asked.forced,
        keep=asked.keep,
        nonneg=asked.nonneg,
        center=asked.center,
        scale=asked.scale,
    )
    try:
        problem = asked.problem(of)
        run = everybody.answer(TASK, of, _request(asked)).id
        chosen.led(problem)  # the worker needs as long
        now = _waited(run, PATIENCE if state.get(SWEEP.key) is None or whatif.waits() else 0.0)
    except NSPCAError:
        return None
    return None if now.ended and now.state != "done" else Preview(of, asked, run, now)


def _request(asked: Request) -> dict[str, Any]:
    """What a preview depends on, and nothing else: it serves everybody who has the same numbers."""
    return {
        "ks": asked.ks,
        "nonneg": asked.nonneg,
        "center": asked.center,
        "scale": asked.scale,
        "seed": asked.seed,
    } | ({"forced": asked.forced} if asked.forced else {})


def _waited(run: str, patience: float) -> JobState:
    """Its state when it has ended, or when it takes too long: workers that are just starting take seconds."""
    give_up = time.monotonic() + patience
    while not (now := engine().status(run)).ended and now.state != "starting" and time.monotonic() < give_up:
        time.sleep(0.01)
    return now
