"""The button that exports a result: the browser draws the figures as files, and downloads the ZIP.

`answer_page` draws the button below every answer.
"""

import hashlib
import secrets
from collections.abc import Callable, Mapping
from importlib.resources import files

import plotly.graph_objects as go
import streamlit as st

from nspca.dashboard.app import buttons
from nspca.dashboard.components import pictures
from nspca.dashboard.components.pictures import Picture

Figures = Mapping[str, go.Figure]
Pictures = Mapping[str, Picture]
ASKED, DRAWN = "everything_asked", "everything_drawn"
"""Session keys: identity of the requested ZIP, and that identity with the pictures from the browser."""
LABEL, BUTTON = "Everything of this, ZIP", "download_everything"
WHAT = (
    "Figures as SVG and PNG, tables, certificates, a report, the Python that computes it again, and "
    "what to cite, in one ZIP file."
)
WITHOUT = (
    "This browser could not draw the figures as files: the ZIP has everything else. The camera above "
    "each figure saves one alone."
)
# A download needs a click in the browser, and the ZIP exists only after the figures are drawn.
_CLICK = st.components.v2.component(
    "nspca_click",
    html="<span></span>",
    js=files("nspca.dashboard.components").joinpath("click.js").read_text("utf-8"),
    isolate_styles=False,
)


def everything(
    name: str, of: str, figures: Callable[[], Figures], make: Callable[[Figures, Pictures], bytes]
) -> None:
    """Draw the button for a ZIP; a click converts the figures and downloads the ZIP.

    Parameters
    ----------
    name : str
        File name.
    of : str
        Text that depends on all content of the ZIP; the figures are converted again when it changes.
    figures : callable
        Returns all figures by name, in plain ASCII.
    make : callable
        Returns the ZIP from the figures and their pictures. It is called during the download, without access
        to the state of the session.
    """
    of = hashlib.sha256(of.encode()).hexdigest()
    ready = st.session_state.get(DRAWN)
    if ready is not None and ready[0] == of:
        if ready[1] is None:
            st.warning(WITHOUT)
        drawn, made = figures(), ready[1] or {}
        st.download_button(
            LABEL,
            lambda: make(drawn, made),
            name,
            "application/zip",
            key=BUTTON,
            icon=":material/folder_zip:",
            on_click="ignore",
            help=WHAT,
        )
        _CLICK(
            key="click_everything",
            data={"button": f".st-key-{BUTTON} button", "of": ready[2]},
            width=1,
            height=1,
        )
    elif st.session_state.get(ASKED) == of:
        pictures.draw(figures(), "everything", of, lambda drawn: _keep(of, drawn))
    else:
        ask = lambda: st.session_state.update({ASKED: of})  # noqa: E731
        buttons.button(LABEL, "ask_everything", ask, icon=":material/folder_zip:", help=WHAT)


def _keep(of: str, drawn: dict[str, Picture] | None) -> None:
    """Store the pictures that the browser drew, with a unique token, so that each click downloads once.

    `of` is the identity of the ZIP; `drawn` is None if the browser could not draw.
    """
    st.session_state[DRAWN] = (of, drawn, secrets.token_hex(8))
    st.session_state.pop(ASKED, None)
