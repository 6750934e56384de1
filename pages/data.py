"""Data: pick a sample or upload, and look at it."""

import streamlit as st

from nspca.dashboard.data import page
from nspca.dashboard.shell import frame

with frame.page("Data"):
    st.title("Which data?")
    page.show()
