"""What a worker has measured of a folder of shards: the total variance and the leading eigenvalue, once for
everybody, since each takes passes over all rows.
"""

import json
import time
from typing import Any

import streamlit as st

import nspca
from nspca.dashboard.chosen import Chosen
from nspca.dashboard.folder import Outline
from nspca.dashboard.runs.everybody import EVERYBODY
from nspca.dashboard.runs.tasks import engine
from nspca.errors import JobError

TASK = "table"
AGAIN = 60.0  # seconds after which what failed is tried again


def measured(of: Chosen, problem: nspca.Problem, leading: bool = True) -> nspca.Problem | None:
    """The same problem of a folder with what was measured; None while it is being measured.

    Raises
    ------
    JobError
        When it could not be.
    """
    A = problem.covariance
    run = _begun(of.content, A.center, A.scale, leading, of.given)
    now = engine().status(run)
    if not now.ended:
        return None
    late = now.state == "failed" and time.time() - (now.finished or 0.0) > AGAIN
    if late or now.state in ("cancelled", "interrupted"):  # by a restart, say: nobody has a button for it
        engine().again(run, viewer=f"{TASK} of {of.content}")
        return None
    if now.state != "done":
        raise JobError(now.error)
    found = _opened(run, now.finished)
    known = Outline(of.table, A.center, A.scale, **found)
    return nspca.Problem(known, problem.k, problem.nonneg, problem.forced)


@st.cache_resource(max_entries=64, show_spinner=False)
def _begun(content: str, center: bool, scale: bool, leading: bool, _given: Any) -> str:
    arguments = {"X": _given, "center": center, "scale": scale, "leading": leading}
    viewer = f"{TASK} of {content}"
    return engine().submit(TASK, arguments, viewer=viewer, workspace=EVERYBODY, title=TASK)


@st.cache_resource(max_entries=64, show_spinner=False)
def _opened(run: str, finished: float | None) -> dict[str, float | None]:
    return json.loads(engine().result(run))
