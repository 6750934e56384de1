"""A sweep as a background run: started, found again by its id, watched, cancelled, opened."""

import json
from dataclasses import dataclass

import streamlit as st

import nspca
from nspca.dashboard import state
from nspca.dashboard.chosen import Chosen, problem
from nspca.dashboard.request import Request
from nspca.errors import JobError
from nspca.jobs import JobState, engine

FUNCTION = "nspca.tasks:run_sweep"


@dataclass(frozen=True)
class Watched:
    """A run as the page sees it."""

    id: str
    asked: Request
    now: JobState


def start(chosen: Chosen, asked: Request) -> None:
    """Start a sweep, or join one that asks the same; the address then names it."""
    problem(chosen, asked.nonneg, asked.center, asked.scale)  # what cannot be a problem is said here, not by a worker
    data, workspace = chosen.dataset, state.workspace()
    arguments = {"X": data.X, "covariance": data.is_covariance, "request": asked.to_dict()}
    title = f"{data.name}, k = {asked.first} to {asked.last}"
    state.put(run=engine().submit(FUNCTION, arguments, viewer=workspace, title=title), k=None, shown=None)


def find() -> Watched | None:
    """The run that the address names.

    Raises
    ------
    JobError
        When it is not a run of this workspace.
    """
    run_id = state.get("run")
    return None if run_id is None else named(run_id)


def named(run_id: str) -> Watched:
    """A sweep of this workspace.

    Raises
    ------
    JobError
        When it is not there, or is no sweep.
    """
    run = engine().store.open_run(state.get("w") or "", run_id)
    parameters = json.loads(run.parameters)
    if "request" not in parameters or run.function != FUNCTION:
        raise JobError("This address names a run that is no sweep: choose the values of k and press Run.")
    asked = Request.from_dict(parameters["request"])
    return Watched(run_id, asked, engine().status(run_id))


def look(run_id: str) -> JobState:
    """Where the run is now; cheap enough for every second."""
    return engine().status(run_id)


def cancel(run_id: str) -> None:
    """What this person asked for stops; a run that others wait for goes on for them."""
    engine().cancel(run_id, state.workspace())


def again(run_id: str) -> None:
    """Once more what failed, was cancelled or was interrupted by a restart."""
    engine().again(run_id, viewer=state.workspace())


@st.cache_resource(max_entries=16, show_spinner="Opening the run …")
def opened(run_id: str, finished: float | None) -> nspca.Sweep:
    """The results of a finished run."""
    return nspca.Sweep.from_bytes(engine().result(run_id))
