"""Full addresses to give out: of a page for others, of a shared run, and of the room of a class."""

from collections.abc import Sequence
from io import BytesIO
from pathlib import PurePath
from typing import Literal
from urllib.parse import urlencode, urlsplit

import segno
import streamlit as st

from nspca.dashboard.app import state

ALONE = (
    "This address works on this machine alone. For others, start the dashboard with "
    "`make app ADDRESS=0.0.0.0` and open it by the address that is printed then."
)
GUESSES = ("guess", "painted", "judge")
"""Answers of a visitor to the questions of the page Learn. With them a link would open the solution."""
OWN = ("w", "present", "source", state.ANEW, *state.OF_RUNS, *GUESSES)
"""Values that a link for others leaves out: they belong to the visitor, and runs need the workspace."""
SHARE = "To show a finished sweep to others, open Runs, press More, then Make a link for others."
ELSEWHERE = f"These data are in your workspace alone. {SHARE}"
OPENS = "It opens this page with its data and settings, but without your runs."


def address(page: str) -> str:
    """Return the full address of a page such as ``join?room=ABCDEF``, with the host of this browser."""
    return f"{(st.context.url or '').split('?')[0].rpartition('/')[0]}/{page}"


def is_alone(full: str) -> bool:
    """Tell whether a full address works on this machine only."""
    return urlsplit(full).hostname in ("localhost", "127.0.0.1", "::1")


def draw(full: str, what: str = "The link", width: Literal["content", "stretch"] = "stretch") -> None:
    """Draw a full address as a QR code, for phones; `what` names the address to those who do not see it."""
    st.image(picture(full), alt=f"{what} as a QR code", width=width)


def picture(full: str) -> str:
    """Return a QR code of a full address as SVG. It is black on white in every theme, as cameras need it."""
    drawn = BytesIO()
    segno.make(full, micro=False).save(drawn, kind="svg", xmldecl=False, scale=5, border=3, light="#fff")
    return drawn.getvalue().decode()


def give(pages: Sequence[str]) -> None:
    """Draw the address of the open page for others: with its data and settings, without the workspace.

    For an upload it draws why there is no such address. Nothing is made while the box is closed, as a QR
    code takes as long as all of a small update.

    Parameters
    ----------
    pages : paths of the scripts of all pages in the menu
    """
    name = st.session_state[state.OPEN]
    if name == "runs" or name not in (PurePath(path).stem for path in pages):
        return
    box = st.expander("Link for others", icon=":material/link:", key="give", on_change="rerun")
    if not box.open:
        return
    query = {key: value for key, value in state.link().items() if key not in OWN}
    with box:
        if "upload" in query:
            st.caption(ELSEWHERE)
            return
        path = "" if name == "app" else name
        full = address(f"{path}?{urlencode(query)}" if query else path)
        st.code(full, language=None, wrap_lines=True)
        if not is_alone(full):
            draw(full)
        said = [OPENS, SHARE * ("run" in state.link()), ALONE * is_alone(full)]
        st.caption(" ".join(filter(None, said)))
