"""The second visit: the browser remembers the workspace, and a bare address finds it again. An address that names one wins."""

from importlib.resources import files

import streamlit as st

from nspca.dashboard.shell import state

KEY = "memory"
_MEMORY = st.components.v2.component(
    "nspca_memory", html="<span hidden></span>", js=files("nspca.dashboard.shell").joinpath("memory.js").read_text("utf-8")
)


def recall() -> None:
    """Take over what the browser has said since the page was painted; it is read as strictly as an address."""
    if state.get("w") is not None or st.session_state.get(state.FRESH):
        return
    said = st.session_state.get(KEY, {}).get("workspace")
    if said is None:
        return
    try:
        state.put(w=state.VALUES["w"].read(said))
    except (TypeError, ValueError):  # not a name that was ever given: it is forgotten
        st.session_state[state.FRESH] = True


def remember() -> None:
    """Hand the workspace to the browser, or ask for it; last on a page, which does not wait for the answer."""
    data = {"workspace": state.get("w"), "forget": bool(st.session_state.get(state.FRESH))}
    _MEMORY(key=KEY, data=data, default={"workspace": None}, on_workspace_change=lambda: None)
