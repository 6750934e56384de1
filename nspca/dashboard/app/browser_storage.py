"""Storage in the browser: the workspace, which a bare address finds again, and its history of actions.

An address that names a workspace wins.
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
    """Keep a text in the browser's storage, and return it, or what the browser has kept from before.

    Parameters
    ----------
    name : str
        Name in the storage.
    value : str or None
        The text of this session. None asks the browser, and an empty text makes it forget.

    Returns
    -------
    str or None
        What the browser returns has to be checked like an address: anybody may have written it.
    """
    key = f"mirror_{name}"
    result = _MIRROR(
        key=key, data={"name": name, "value": value}, default={"value": None}, on_value_change=lambda: None
    )
    return result.get("value") if value is None else value


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
        st.session_state[state.SURE] = state.get("w")
    except (TypeError, ValueError):  # not a name that was ever given: it is forgotten
        st.session_state[state.FRESH] = True


def remember() -> None:
    """Hand the workspace to the browser, or ask for it; last on a page, which does not wait for the
    answer.
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
    """A link into a workspace says so, to a browser that has not used it before."""
    here = state.get("w")
    if here is None or here == st.session_state.get(state.SURE):
        return
    if st.session_state.get(KEY, {}).get("other") != here:
        return
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="whose"):
        st.markdown(f":material/group: {WHOSE}", width="content")
        buttons.button("Stay in it", "stay", _stay)
        buttons.button("Leave it for my own", "leave_workspace", state.leave)


def _stay() -> None:
    st.session_state[state.SURE] = state.get("w")
