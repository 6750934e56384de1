"""Compare: methods side by side on one problem, and what the papers use them for."""

import streamlit as st

from nspca.dashboard.compare import form as compare_form
from nspca.dashboard.compare import page as compare
from nspca.dashboard.compare import uses as compare_uses
from nspca.dashboard.data import preview, standin
from nspca.dashboard.shell import frame, state

VIEWS = {"methods": "Methods on one problem", "uses": "Uses in the papers"}

with frame.page("Compare"):
    st.title("Which method does best?")
    judged = state.get("judged") if state.get("judged") in VIEWS else "methods"
    view = st.segmented_control(
        "View",
        list(VIEWS),
        format_func=VIEWS.get,
        required=True,
        label_visibility="collapsed",
        **state.bind("judged", judged),
    )
    if view == "uses":
        compare_uses.show()
    else:
        data = preview.opened()
        preview.line(data)
        standin.offer(data)
        with frame.guard(), frame.form():
            compare_form.show(data)
        compare.show(data)
