"""What the browser keeps: the workspace, so that a bare address finds it again, and one entry of its history
for each thing done.

An address that names a workspace wins.
"""

from importlib.resources import files

import streamlit as st

from nspca.dashboard.shell import state

KEY = "memory"
_SCRIPTS = [
    files("nspca.dashboard.shell").joinpath(name).read_text("utf-8") for name in ("entries.js", "memory.js")
]
_MEMORY = st.components.v2.component("nspca_memory", html="<span hidden></span>", js="\n".join(_SCRIPTS))


def recall() -> None:
    """Take over what the browser has said since the page was painted; it is read as strictly as an
    address.
    """
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
    """Hand the workspace to the browser, or ask for it; last on a page, which does not wait for the
    answer.
    """
    data = {"workspace": state.get("w"), "forget": bool(st.session_state.get(state.FRESH))}
    _MEMORY(key=KEY, data=data, default={"workspace": None}, on_workspace_change=lambda: None)
