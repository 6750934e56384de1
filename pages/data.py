"""Data: pick a sample or upload, and look at it."""

import streamlit as st

from nspca.dashboard.app import frame
from nspca.dashboard.data import page

with frame.page("Data"):
    st.title("Which data?")
    page.show()
