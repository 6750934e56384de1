"""The data page: choose, see what a file became, mend what is in the way, look at it."""

import streamlit as st

from nspca.dashboard.app import frame, wording
from nspca.dashboard.data import picker, preview, reading, standin
from nspca.dashboard.open_data import Chosen, opened, whole
from nspca.dashboard.runs import cost_estimate
from nspca.errors import NSPCAError


def show() -> None:
    """Everything below the title."""
    reading.forget_stale()
    picker.choose()
    with frame.guard():
        reading.choices()
        if data := _opened():
            _look(data)


def _opened() -> Chosen | None:
    """The data in force; when a file cannot be read, why, and what can be done about it."""
    try:
        return opened()
    except NSPCAError as error:
        st.error(wording.plain(error), icon=":material/error:")
        reading.mend(error)
        return None


def _look(data: Chosen) -> None:
    preview.title(whole(data))
    with st.container(horizontal=True, vertical_alignment="center"):
        standin.offer(data)
        frame.way_on("pages/sweep.py", "Sweep k on these data")
        if data.reference.folder is not None:
            frame.way_on("pages/topics.py", "Find topics in them")
    reading.offers(data)
    preview.notes(data)
    with frame.guard():
        reading.vocabulary(data)
    preview.facts(whole(data))
    cost_estimate.line(whole(data))
    left, right = st.columns([3, 2], gap="medium")
    with left:
        preview.picture(data.dataset)
    with right:
        preview.preparation(data)
