"""Compare: methods side by side on one problem."""

import streamlit as st

from nspca.dashboard import answer_page
from nspca.dashboard.app import frame, state
from nspca.dashboard.compare.page import ComparePage
from nspca.dashboard.open_data import opened

with frame.page("Compare"):
    if state.get("judged") == "uses":  # a link made before the page Papers had the uses
        state.put(judged=None, paper="uses")
        st.switch_page("pages/papers.py", query_params=state.link("pages/papers.py"))
    data = answer_page.open_page("Which method does best?", opened)
    answer_page.show(ComparePage(), data)
