"""Spannogram: why low-rank problems have exact answers."""

import streamlit as st

from nspca.dashboard.chosen import opened
from nspca.dashboard.data import preview, standin
from nspca.dashboard.shell import frame
from nspca.dashboard.spannogram import ranks as ranks_view
from nspca.dashboard.spannogram import support as support_view
from nspca.dashboard.spannogram import views as spannogram_views

with frame.page("Spannogram"):
    st.title("Why the answer is exact")
    data = opened()
    preview.line(data)
    standin.offer(data)
    of = spannogram_views.controls(data)
    if of is not None:
        view, beside = spannogram_views.view()
        show = {
            "curves": spannogram_views.curves,
            "sphere": spannogram_views.sphere,
            "support": support_view.show,
            "ranks": ranks_view.show,
        }[view]
        with frame.guard():
            show(of, beside)
