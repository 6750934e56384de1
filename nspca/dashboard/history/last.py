"""Show the last run of a workspace to a visitor who returns, on the home page."""

import streamlit as st

from nspca.dashboard.app import buttons, frame, state, wording
from nspca.dashboard.history import page
from nspca.dashboard.history.descriptions import DAMAGE, DescribedRun, describe_runs
from nspca.dashboard.runs.tasks import engine

NEWEST = 20  # newest runs that are tried until one can be opened
FORGET = (
    "This browser then forgets the workspace. Its runs and uploads stay, and open again with a link "
    "that you have kept: this page's is one."
)


def show() -> None:
    """Draw a box about the last run; nothing in a workspace without runs."""
    with st.container(), frame.guard():
        runs = engine().store.list_runs(state.get("w"), outline=True, most=NEWEST) if state.get("w") else []
        one = next((one for one in describe_runs(runs) if isinstance(one, DescribedRun) and one.page), None)
        if one is not None:
            _box(one)


def _box(one: DescribedRun) -> None:
    try:
        now, address = engine().status(one.run.id), state.opening(one.query)
        said = now.state if now.ended else page.says(one, now)
    except DAMAGE:  # the list of runs shows this error
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**Continue where you were**: {wording.plain(one.name)}; {said}", width="content")
        st.page_link(one.page or "app.py", label="Open", icon=":material/open_in_new:", query_params=address)
        st.page_link(
            "pages/runs.py",
            label="All runs",
            icon=":material/history:",
            query_params=state.link("pages/runs.py"),
        )
        with st.popover("Start fresh", icon=":material/restart_alt:"):
            st.caption(FORGET)
            buttons.button("Forget this workspace", "fresh", state.start_fresh, icon=":material/logout:")
