"""Join: the phone of a student in the room of a class; it is in no menu."""

import streamlit as st

from nspca.dashboard.app import frame
from nspca.dashboard.learn import classroom

with frame.page("Join", has_menu=False):
    st.title("Your guess")
    classroom.join()
