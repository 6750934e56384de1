"""Share a run by a link, as text and as a QR code, and open a run that another person shared.

The page Runs and the sweep page offer a link. Whoever opens it continues in a workspace of their own.
"""

from functools import partial
from typing import Any

import streamlit as st

from nspca.dashboard.app import buttons, links, state, wording
from nspca.dashboard.history.descriptions import DescribedRun, describe_runs
from nspca.dashboard.runs import lookup
from nspca.dashboard.runs.lookup import Watched
from nspca.dashboard.runs.sweeps import SWEEP
from nspca.dashboard.runs.tasks import engine
from nspca.errors import JobError
from nspca.jobs import Run
from nspca.jobs.runs import NO_SHARE

SHARED = (
    "Whoever has the link sees this run with what its figures show of the data, and nothing else of this "
    "workspace. It ends when the run is deleted."
)


def offer(run: Run) -> None:
    """Draw the button that creates a link to a run, or the existing link."""
    share = engine().store.shares(run.workspace).get(run.id)
    if share is None:
        make = partial(engine().store.share_run, run.workspace, run.id)
        buttons.button(
            "Make a link for others", f"share_{run.id}", make, icon=":material/share:", help=SHARED
        )
        return
    st.caption(SHARED)
    link(share)


def link(share: str) -> None:
    """Draw the link and its QR code; `share` is the name under which the run is shared."""
    full = links.address(f"shared?share={share}")
    st.code(full, language=None, wrap_lines=True)
    links.draw(full, width="content")
    if links.is_alone(full):
        st.caption(links.ALONE)


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
            link(state.get("share"))
    return lookup.shared(SWEEP, run)
