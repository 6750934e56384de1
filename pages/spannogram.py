"""Spannogram: why few sets of features need to be checked."""

import streamlit as st

from nspca.dashboard.app import frame
from nspca.dashboard.data import preview, standin
from nspca.dashboard.open_data import opened
from nspca.dashboard.spannogram import ranks as ranks_view
from nspca.dashboard.spannogram import support as support_view
from nspca.dashboard.spannogram import views as spannogram_views
from nspca.dashboard.spannogram.lessons import SENTENCES

with frame.page("Spannogram"):
    st.title("Why few sets need to be checked")
    data = opened()
    top = st.container()
    with frame.form(border=False):
        preview.line(data)
        standin.offer(data)
        of = spannogram_views.controls(data)
        if of is not None:
            view, beside = spannogram_views.view()
    if of is not None:
        top.markdown(spannogram_views.answer(of) if view == "curves" else SENTENCES.get(view, ""))
        show = {
            "curves": spannogram_views.curves,
            "sphere": spannogram_views.sphere,
            "support": support_view.show,
            "ranks": ranks_view.show,
        }[view]
        with frame.picture(), frame.guard():
            show(of, beside)
