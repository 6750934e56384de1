"""Runs of nobody: what a page wants before anybody has asked is made by a worker like any run, and once for
all who come by.
"""

from typing import Any

import streamlit as st

from nspca.dashboard.chosen import Chosen
from nspca.dashboard.runs.asked import Asked
from nspca.dashboard.runs.tasks import engine

EVERYBODY = "the previews of everybody"  # no address can name this workspace: the runs in it are nobody's own
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


@st.cache_resource(max_entries=256, show_spinner=False)
def begun(
    task: str, content: str, covariance: bool, request: dict[str, Any], _X: Any, patient: bool = False
) -> str:
    """The run of everybody that answers a request, started if need be; its id. A `patient` one lets others
    pass.
    """
    arguments = {"X": _X, "covariance": covariance, "request": request}
    return engine().submit(
        task, arguments, viewer=f"{task} of {content}", workspace=EVERYBODY, title=task, patient=patient
    )
