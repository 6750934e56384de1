"""Open a run that another person shared, for the page of its link.

The visitor continues in a workspace of their own.
"""

from typing import Any

import streamlit as st

from nspca.dashboard.app import state, wording
from nspca.dashboard.history import sharing
from nspca.dashboard.history.descriptions import DescribedRun, describe_runs
from nspca.dashboard.runs import lookup
from nspca.dashboard.runs.lookup import Watched
from nspca.dashboard.runs.sweeps import SWEEP
from nspca.dashboard.runs.tasks import engine
from nspca.errors import JobError
from nspca.jobs.runs import NO_SHARE


def opened() -> Watched:
    """Return the run of the link, after drawing an introduction and links to the visitor's own work.

    Raises
    ------
    JobError
        When no run has this link.
    """
    run = engine().store.shared_run(state.get("share") or "")
    one = describe_runs([run])[0]
    if not isinstance(one, DescribedRun):
        raise JobError(NO_SHARE)
    st.markdown(f"## {wording.plain(one.name)}")
    with st.container(horizontal=True, vertical_alignment="center"):
        if {"sample", "folder"} & one.query.keys():
            own = {name: text for name, text in one.query.items() if name != SWEEP.key}
            way: dict[str, Any] = {
                "page": one.page or "app.py",
                "label": "Go on with it in a workspace of your own",
                "query_params": state.opening(own),
            }
        else:
            st.caption("These data were uploaded by whoever shared the run, and stay there.", width="content")
            way = {
                "page": "pages/data.py",
                "label": "Bring a table of your own",
                "query_params": state.opening({"source": "upload"}),
            }
        st.page_link(icon=":material/arrow_forward:", **way)
        with st.popover("Pass it on", icon=":material/qr_code:"):
            sharing.link(state.get("share"))
    return lookup.shared(SWEEP, run)
