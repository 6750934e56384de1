"""Runs: what this workspace has asked for."""

import streamlit as st

from nspca.dashboard.app import frame
from nspca.dashboard.history import page as history

with frame.page("Runs"):
    st.title("Your runs")
    history.show()
