"""Full addresses to give out: of a page for others, of a shared run, and of the room of a class."""

from io import BytesIO
from typing import Literal
from urllib.parse import urlsplit

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
