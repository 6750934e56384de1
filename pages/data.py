"""Data: pick a sample or upload, and look at it."""

import streamlit as st

from nspca.dashboard.data import picker, preview, standin
from nspca.dashboard.shell import frame

with frame.page("Data"):
    st.title("Data")
    picker.choose()
    with frame.guard():
        preview.reading()
        data = preview.opened()
        preview.title(data)
        with st.container(horizontal=True, vertical_alignment="center"):
            standin.offer(data)
            frame.way_on("pages/sweep.py", "Sweep k on these data")
        preview.notes(data)
        with frame.guard():
            preview.vocabulary(data)
        preview.facts(data.dataset)
        left, right = st.columns([3, 2], gap="medium")
        with left:
            preview.picture(data.dataset)
        with right:
            preview.preparation(data)
