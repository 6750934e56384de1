"""The button for everything: the browser draws the figures, the ZIP is made of them and downloaded."""

import hashlib
from collections.abc import Callable, Mapping

import plotly.graph_objects as go
import streamlit as st

from nspca.dashboard.app import buttons
from nspca.dashboard.components import pictures
from nspca.dashboard.components.pictures import Picture

Figures = Mapping[str, go.Figure]
Pictures = Mapping[str, Picture]
ASKED, DRAWN = (
    "everything_asked",
    "everything_drawn",
)  # session keys: what the ZIP is of; the same with its pictures
WHAT = (
    "Figures as SVG and PNG, tables, certificates, a report, the Python that computes it again, and "
    "what to cite, in one ZIP file."
)
WITHOUT = (
    "This browser could not draw the figures as files: the ZIP has everything else. The camera above "
    "each figure saves one alone."
)


def everything(
    name: str, of: str, figures: Callable[[], Figures], make: Callable[[Figures, Pictures], bytes]
) -> None:
    """The way to the ZIP: asked for, drawn, taken home.

    Parameters
    ----------
    name : str
        Of the file.
    of : str
        All that the ZIP depends on; when it changes, the figures have to be drawn again.
    figures : callable
        All of them by name, plain ASCII.
    make : callable
        The ZIP from the figures and their pictures. It is called when somebody downloads it, where nothing is
        known of the page's state.
    """
    of = hashlib.sha256(of.encode()).hexdigest()
    ready = st.session_state.get(DRAWN)
    if ready is not None and ready[0] == of:
        if ready[1] is None:
            st.warning(WITHOUT)
        drawn, files = figures(), ready[1] or {}
        look = {"icon": ":material/folder_zip:", "type": "primary", "on_click": "ignore"}
        st.download_button(
            "Download everything, ZIP", lambda: make(drawn, files), name, "application/zip", help=WHAT, **look
        )
    elif st.session_state.get(ASKED) == of:
        pictures.draw(
            figures(), "everything", of, lambda drawn: st.session_state.update({DRAWN: (of, drawn)})
        )
    else:
        ask = lambda: st.session_state.update({ASKED: of})  # noqa: E731
        buttons.button(
            "Everything of this, ZIP", "ask_everything", ask, icon=":material/folder_zip:", help=WHAT
        )
