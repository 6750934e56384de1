"""Shared: one run, by a link that opens nothing else; it is in no menu."""

import streamlit as st

from nspca.dashboard.app import frame
from nspca.dashboard.history import shared
from nspca.dashboard.sweep import page as sweeping

with frame.page("Shared"):
    st.title("Shared with you")
    sweeping.shared(shared.opened())
