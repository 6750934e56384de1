"""Keep the name of the workspace and other texts in the browser's storage.

An address without a workspace uses the stored one. A workspace in the address wins. The frame of every page
calls `recall`, `say_whose` and `remember`. Rooms store their texts with `mirror`.
"""

from importlib.resources import files

import streamlit as st

from nspca.dashboard.app import buttons, state

KEY = "memory"
WHOSE = (
    "This link leads into a workspace that this browser has not used before: whoever has the link sees the "
    "runs and files in it, and what you add."
)
_SCRIPTS = [
    files("nspca.dashboard.app").joinpath(name).read_text("utf-8")
    for name in ("entries.js", "browser_storage.js")
]
_MEMORY = st.components.v2.component("nspca_memory", html="<span hidden></span>", js="\n".join(_SCRIPTS))
_MIRROR = st.components.v2.component(
    "nspca_mirror",
    html="<span hidden></span>",
    js=files("nspca.dashboard.app").joinpath("mirror.js").read_text("utf-8"),
)


def mirror(name: str, value: str | None) -> str | None:
    """Store the text of this session under a name in the browser, and return it.

    An empty text deletes the stored one, and None reads it. What comes from the browser is untrusted and must
    be checked like an address.
    """
    key = f"mirror_{name}"
    result = _MIRROR(
        key=key, data={"name": name, "value": value}, default={"value": None}, on_value_change=lambda: None
    )
    return result.get("value") if value is None else value


def recall() -> None:
    """Take over the workspace that the browser has stored; its name is checked like an address."""
    if state.get("w") is not None or st.session_state.get(state.FRESH):
        return
    said = st.session_state.get(KEY, {}).get("workspace")
    if said is None:
        return
    try:
        state.put(w=state.VALUES["w"].read(said))
        st.session_state[state.SURE] = state.get("w")
    except (TypeError, ValueError):  # no workspace of this server: it is deleted from the storage
        st.session_state[state.FRESH] = True


def remember() -> None:
    """Store the workspace in the browser, or read it from there.

    This is called at the end of a page, which does not wait for the answer.
    """
    data = {
        "workspace": state.get("w"),
        "sure": st.session_state.get(state.SURE) == state.get("w"),
        "forget": bool(st.session_state.get(state.FRESH)),
    }
    _MEMORY(
        key=KEY,
        data=data,
        default={"workspace": None, "other": None},
        on_workspace_change=lambda: None,
        on_other_change=lambda: None,
    )


def say_whose() -> None:
    """Show a warning when the address leads into a workspace that this browser has not used before."""
    here = state.get("w")
    if here is None or here == st.session_state.get(state.SURE):
        return
    if st.session_state.get(KEY, {}).get("other") != here:
        return
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="whose"):
        st.markdown(f":material/group: {WHOSE}", width="content")
        buttons.button("Stay in it", "stay", lambda: st.session_state.update({state.SURE: here}))
        buttons.button("Leave it for my own", "leave_workspace", state.leave)
