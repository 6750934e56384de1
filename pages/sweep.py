"""Sweep: variance against k, with the certified region."""

import streamlit as st

from nspca.dashboard.app import frame
from nspca.dashboard.data import preview as data_line
from nspca.dashboard.data import standin
from nspca.dashboard.open_data import opened, some, whole
from nspca.dashboard.sweep import form, preview, whatif
from nspca.dashboard.sweep import page as sweeping

with frame.page("Sweep"):
    st.title("How many features are enough?")
    data = whole(opened())
    data_line.line(data)
    data_line.rows(data)
    whatif.all_again(data)
    standin.offer(data)
    seen = None
    with frame.guard(), frame.form():
        asked = form.asked(data)
        seen = preview.look(some(data), asked)
        form.run_button(data, form.around(asked, seen))
    sweeping.show(seen)
