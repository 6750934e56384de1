"""List the folders of shards on the server, and choose one of them.

The picker of the data page calls `show`.
"""

from functools import partial

import streamlit as st

from nspca.dashboard.app import buttons, state, wording
from nspca.errors import NSPCAError
from nspca.shards.served import opened, served


def show() -> None:
    """Draw a line for each folder, with a button that chooses it."""
    st.caption(
        "Tables that need not fit into memory. Sweep and Topics work on all their rows, in passes over the "
        "files; the other pages show a sample of them."
    )
    for number, name in enumerate(served()):
        _line(number, name)


def _line(number: int, name: str) -> None:
    try:
        table = opened(name)
    except NSPCAError as error:
        st.error(wording.plain(f"{name}: {error}"), icon=":material/error:")
        return
    m, n = table.shape
    taken = state.get("upload") is None and state.get("folder") == name
    with st.container(horizontal=True, vertical_alignment="center", key=f"folder_{number}"):
        buttons.button(
            "In use" if taken else "Choose",
            f"folder_take_{number}",
            partial(take, name),
            icon=":material/check:" if taken else ":material/table_rows:",
            disabled=taken,
        )
        size = f"{wording.things(m, 'row')} × {wording.things(n, 'feature')}, {table.nonzeros:,} nonzeros"
        st.markdown(f"{wording.plain(name)} :small[:gray[{size}]]", width="content")


def take(name: str) -> None:
    """Choose a folder, and reset all values about other data."""
    state.forget((*state.ABOUT_DATA, *state.ABOUT_FILE, "sample", "upload"))
    state.put(folder=name)
