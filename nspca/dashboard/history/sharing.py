"""The link to one run for others, as text to copy and as a picture that a class takes from the screen."""

from functools import partial
from io import BytesIO
from urllib.parse import urlsplit

import segno
import streamlit as st

from nspca.dashboard.app import buttons
from nspca.dashboard.runs.tasks import engine
from nspca.jobs import Run

SHARED = (
    "Whoever has the link sees this run with what its figures show of the data, and nothing else of this "
    "workspace. It ends when the run is deleted."
)
ALONE = (
    "This address works on this machine alone. For others, start the dashboard with "
    "`make app ADDRESS=0.0.0.0` and open it by the address that is printed then."
)
LOOPBACK = ("localhost", "127.0.0.1", "::1")


def offer(run: Run) -> None:
    """A link, made when it is asked for."""
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
    """The link and its picture, with the address that this browser uses."""
    address = f"{(st.context.url or '').split('?')[0].rpartition('/')[0]}/shared?share={share}"
    st.code(address, language=None, wrap_lines=True)
    st.image(picture(address), alt="The link as a QR code")
    if urlsplit(address).hostname in LOOPBACK:
        st.caption(ALONE)


def picture(address: str) -> str:
    """A QR code as SVG; black on white in every theme, as cameras want it."""
    drawn = BytesIO()
    segno.make(address, micro=False).save(drawn, kind="svg", xmldecl=False, scale=5, border=3, light="#fff")
    return drawn.getvalue().decode()
