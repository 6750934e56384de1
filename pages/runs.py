"""Runs: what this workspace has asked for."""

import streamlit as st

from nspca.dashboard.history import page as history
from nspca.dashboard.shell import frame

with frame.page("Runs"):
    st.title("What was asked here")
    history.show()
