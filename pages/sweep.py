"""Sweep: variance against k, with the certified region."""

import streamlit as st

from nspca.dashboard import form, frame, preview, standin, sweeping
from nspca.dashboard.chosen import chosen

with frame.page("Sweep"):
    st.title("How many features are enough?")
    data = chosen()
    preview.line(data)
    standin.offer(data)
    with frame.guard(), st.container(border=True):
        form.run_button(data, form.asked(data))
    sweeping.show(data)
