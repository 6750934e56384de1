"""Compare: methods side by side on one problem."""

import streamlit as st

from nspca.dashboard.app import frame, state
from nspca.dashboard.compare import form as compare_form
from nspca.dashboard.compare import page as compare
from nspca.dashboard.data import preview, standin
from nspca.dashboard.open_data import opened

with frame.page("Compare"):
    if state.get("judged") == "uses":  # of a link from before
        state.put(judged=None, paper="uses")
        st.switch_page("pages/papers.py", query_params=state.link("pages/papers.py"))
    st.title("Which method does best?")
    data = opened()
    preview.line(data)
    standin.offer(data)
    with frame.guard(), frame.form():
        compare_form.show(data)
    compare.show(data)
