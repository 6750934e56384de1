"""Several components as a background run: started, found again by its id, and its results as far as they are known."""

import json
from dataclasses import dataclass

import streamlit as st

import nspca
from nspca.dashboard import chosen, state
from nspca.dashboard.chosen import Chosen
from nspca.dashboard.joint_form import Subject
from nspca.dashboard.joint_request import JointRequest
from nspca.errors import JobError
from nspca.jobs import JobState, engine
from nspca.joint_tasks import result_of

FUNCTION = "nspca.joint_tasks:run_joint"


@dataclass(frozen=True)
class Watched:
    """A run as the page sees it."""

    id: str
    asked: JointRequest
    now: JobState


def start(about: Subject, of: Chosen, asked: JointRequest) -> None:
    """Start a run, or join one that asks the same; the address then names it."""
    problem(of, asked)  # what cannot be a problem is said here, not by a worker
    arguments = {"X": of.dataset.X, "covariance": of.dataset.is_covariance, "request": asked.to_dict()}
    title = f"{of.dataset.name}, {about.count(asked.r)}"
    state.put(**{about.key: engine().submit(FUNCTION, arguments, viewer=state.workspace(), title=title)}, using=None, topic=None)


def find(about: Subject) -> Watched | None:
    """The run that the address names.

    Raises
    ------
    JobError
        When it is not a run of this workspace, or of another kind.
    """
    run_id = state.get(about.key)
    if run_id is None:
        return None
    run = engine().store.open_run(state.get("w") or "", run_id)
    if run.function != FUNCTION:
        raise JobError(f"The run in this address is not about {about.one}s: start one here.")
    return Watched(run_id, JointRequest.from_dict(json.loads(run.parameters)["request"]), engine().status(run_id))


def problem(of: Chosen, asked: JointRequest) -> nspca.Problem:
    """The joint problem of a request."""
    return chosen.problem(of, asked.nonneg, asked.center, asked.scale).with_k(asked.sizes)


def so_far(now: JobState, n: int) -> dict[str, nspca.Result]:
    """The methods that are ready, while the run goes on or after it was stopped."""
    found = {row["method"]: result_of(row, n) for row in now.rows if "error" not in row}
    return {method: result for method, result in found.items() if result is not None}


def failures(now: JobState) -> dict[str, str]:
    """Methods that could not solve the problem, and why."""
    return {row["method"]: row["error"] for row in now.rows if "error" in row}


@st.cache_resource(max_entries=16, show_spinner="Opening the run …")
def opened(run_id: str, finished: float | None) -> dict[str, nspca.Result]:
    """The results of a finished run, by method."""
    sweep = nspca.Sweep.from_bytes(engine().result(run_id))
    return {method: sweep[method, r] for method, r in sweep}
