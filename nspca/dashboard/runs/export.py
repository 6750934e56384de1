"""Export of a question as Python and JSON: pages draw `offer` beside every result."""

from typing import Any

import streamlit as st

from nspca.dashboard.open_data import Chosen
from nspca.specs import Spec

JSON_HELP = "The question as a file: `python -m nspca run` answers it on any computer that has the data."


def offer(spec: Spec, of: Chosen | None = None, key: str = "", code: str = "", **shown: Any) -> None:
    """Draw the Python code of a question, and the download of the question as JSON.

    Parameters
    ----------
    spec : the question
    of : the data, whose name is part of the file name
    key : distinguishes the buttons of several results on one page
    code : Python code to show instead of that of the spec
    **shown : the part of the result that the page shows, for `Spec.to_python`
    """
    name = f"{of.stem}-{spec.kind}" if of is not None else spec.kind
    with st.container(horizontal=True):
        with st.popover("Python", icon=":material/code:"):
            st.code(code or spec.to_python(**shown), language="python")
        st.download_button(
            "JSON",
            lambda: spec.to_json().encode(),
            f"{name.replace(' ', '-')}.json",
            "application/json",
            icon=":material/data_object:",
            on_click="ignore",
            key=f"json_{spec.kind}_{key}",
            help=JSON_HELP,
        )
