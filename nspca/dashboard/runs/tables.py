"""Variances of a folder of shards, computed once per server by a worker, since they need several passes.

`Watched.measured` calls `measured`.
"""

import json

import streamlit as st

import nspca
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.open_folder import Outline
from nspca.dashboard.runs import defaults
from nspca.dashboard.runs.tasks import engine
from nspca.errors import JobError
from nspca.specs import TableSpec


def measured(of: Chosen, problem: nspca.Problem, leading: bool = True) -> nspca.Problem | None:
    """Return the problem of a folder `of` with its total variance and, if `leading`, its leading eigenvalue.

    None while a worker computes them.

    Raises
    ------
    JobError
        When the computation failed.
    """
    assert of.table is not None  # callers pass a folder
    A = problem.covariance
    spec = TableSpec(data=of.reference, center=A.center, scale=A.scale, leading=leading)
    now = defaults.look(spec, of.content)
    if not now.ended:
        return None
    if now.state != "done":
        raise JobError(now.error)
    found = _opened(now.id, now.finished)
    known = Outline(of.table, A.center, A.scale, **found)
    return nspca.Problem(known, problem.k, problem.nonneg, problem.forced)


@st.cache_resource(max_entries=64, show_spinner=False)
def _opened(run: str, finished: float | None) -> dict[str, float | None]:
    """Return the variances that a finished run computed, by name: "leading" and "total"."""
    return json.loads(engine().result(run))
