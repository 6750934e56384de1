"""Sweep: variance against k, with the certified region."""

import streamlit as st

from nspca.dashboard.chosen import chosen
from nspca.dashboard.data import preview, standin
from nspca.dashboard.shell import frame
from nspca.dashboard.sweep import form
from nspca.dashboard.sweep import page as sweeping

with frame.page("Sweep"):
    st.title("How many features are enough?")
    data = chosen()
    preview.line(data)
    standin.offer(data)
    with frame.guard(), st.container(border=True):
        form.run_button(data, form.asked(data))
    sweeping.show()
