"""Shared: one run, by a link that opens nothing else; it is in no menu."""

import streamlit as st

from nspca.dashboard import answer_page
from nspca.dashboard.app import frame
from nspca.dashboard.history import sharing
from nspca.dashboard.sweep.page import SweepPage

with frame.page("Shared"):
    st.title("Shared with you")
    answer_page.show_shared(SweepPage(), sharing.opened())
