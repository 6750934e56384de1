"""Share a run: its link as text to copy, and as a QR code for the phones of a class.

The page Runs and the sweep page offer a link.
"""

from functools import partial

import streamlit as st

from nspca.dashboard.app import buttons, links
from nspca.dashboard.runs.tasks import engine
from nspca.jobs import Run

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
