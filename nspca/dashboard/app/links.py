"""Full addresses to give out: of a page for others, of a shared run, and of the room of a class."""

from collections.abc import Mapping
from pathlib import PurePath
from urllib.parse import urlencode, urlsplit

import streamlit as st

from nspca.dashboard.app import state
from nspca.dashboard.app.hosts import LOOPBACK

ALONE = (
    "This address works on this machine alone. For others, start the dashboard with "
    "`make app ADDRESS=0.0.0.0` and open it by the address that is printed then."
)
RUNS = ("run", "before", "parts", "topics", "components", "compare", "pin")
"""Values that name runs, which nobody finds without the workspace."""
OWN = ("w", "present", "slide", "source", state.ANEW, *RUNS)
"""Values that a link for others leaves out, since they belong to the visitor."""
ELSEWHERE = "These data are in your workspace alone. To show a result to others, open Runs, More, Share."


def address(page: str) -> str:
    """Return the full address of a page such as ``join?room=ABCDEF``, with the host of this browser."""
    return f"{(st.context.url or '').split('?')[0].rpartition('/')[0]}/{page}"


def is_alone(full: str) -> bool:
    """Tell whether a full address works on this machine only."""
    return urlsplit(full).hostname in LOOPBACK


def give(pages: Mapping[str, tuple[str, str]]) -> None:
    """Draw the address of the open page for others: with its data and settings, without the workspace.

    Parameters
    ----------
    pages : mapping
        Name of a page -> path of its script, and its name in the menu.
    """
    name = st.session_state[state.OPEN]
    if name not in pages or name == "runs":
        return
    query = {key: value for key, value in state.link().items() if key not in OWN}
    with st.expander("Link for others", icon=":material/link:", key="give"):
        if "upload" in query:
            st.caption(ELSEWHERE)
            return
        path = "" if pages[name][0] == "app.py" else PurePath(pages[name][0]).stem
        full = address(f"{path}?{urlencode(query)}" if query else path)
        st.code(full, language=None, wrap_lines=True)
        st.caption(ALONE if is_alone(full) else "It opens this page for others, in workspaces of their own.")
