"""Runs of nobody: what a page wants before anybody has asked is made by a worker like any run, and once for
all who come by.
"""

import time
from collections.abc import Callable
from typing import Any

import streamlit as st

from nspca.dashboard.chosen import Chosen
from nspca.dashboard.runs.asked import Asked
from nspca.dashboard.runs.tasks import engine
from nspca.jobs import JobState

EVERYBODY = "the previews of everybody"  # no address can name this workspace: the runs in it are nobody's own
AGAIN = 60.0  # seconds after which what failed is tried again
LARGEST = 40_000_000  # entries of a table; beyond, a person has to ask


def small_enough(of: Chosen, most: int | None = None) -> bool:
    """Whether a table is small enough for a run that nobody asked for: of at most `LARGEST` entries, or
    `most`.
    """
    return of.table is None and getattr(of.dataset.X, "nnz", of.dataset.X.size) <= (
        LARGEST if most is None else most
    )


def numbers_only(asked: Asked) -> dict[str, Any]:
    """A request without the name of the data: it serves everybody who has the same numbers."""
    return {name: value for name, value in asked.to_dict().items() if name not in ("data", "content")}


def answer(task: str, of: Chosen, request: dict[str, Any], patient: bool = False) -> JobState:
    """How the run of everybody is that answers a request about these data, see `look`."""
    covariance = of.dataset.is_covariance
    arguments = lambda: {"X": of.dataset.X, "covariance": covariance, "request": request}  # noqa: E731
    return look(task, of.content, (covariance, request), arguments, patient)


def look(
    task: str, content: str, which: Any, arguments: Callable[[], dict[str, Any]], patient: bool = False
) -> JobState:
    """How the run of everybody is that answers a question, begun if need be; and once more where it was
    dropped, or failed a while ago, as nobody has a button for it.

    Parameters
    ----------
    content, which : what it is about, and what tells the questions about that apart
    arguments : makes what the task is given
    patient : lets others pass
    """
    question = (task, content, which, arguments, patient)
    now = engine().status(_begun(*question))
    late = now.state == "failed" and time.time() - (now.finished or 0.0) > AGAIN
    if late or now.state in ("cancelled", "interrupted"):  # by a restart, say
        _begun.clear(*question)
        now = engine().status(_begun(*question))
    return now


@st.cache_resource(max_entries=1024, show_spinner=False)
def _begun(
    task: str, content: str, which: Any, _arguments: Callable[[], dict[str, Any]], patient: bool
) -> str:
    viewer = f"{task} of {content}"
    return engine().submit(
        task, _arguments(), viewer=viewer, workspace=EVERYBODY, title=task, patient=patient
    )
