"""Draw the form for counting words of texts. Its values are fields of a `DataSpec`, kept in the address.

The data page calls `form` for an upload that holds texts.
"""

import streamlit as st

from nspca.dashboard.app import state
from nspca.dashboard.app.form import draw
from nspca.data.options import TextOptions

MOST = (100, 500, 1000, 2000, 4000, 10_000, 20_000)
"""Choices for the maximum number of words in the vocabulary."""


def form() -> None:
    """Draw the inputs for counting words. Each input is bound to a value of the address."""
    for place, name in zip(st.columns(3), ("stop_words", "weights", "split"), strict=True):
        draw(TextOptions, name, place, changed)
    left, middle, right = st.columns(3)
    draw(TextOptions, "lowest_share", left, changed)
    draw(TextOptions, "highest_share", middle, changed, step=5.0)
    most = sorted({*MOST, state.get("most")})
    right.selectbox("Words at most", most, format_func=lambda n: f"{n:,}", **state.bind("most", then=changed))
    with st.container(horizontal=True):
        draw(TextOptions, "pairs", st, changed)
        st.toggle("Count the words of these texts", **state.bind("words", then=read_anew))


def changed() -> None:
    """Forget the runs and the choices about the old vocabulary, since another one numbers the words anew."""
    state.forget(("k", "shown", *state.OF_RUNS, *state.OF_FEATURES))


def read_anew() -> None:
    """Forget every choice about the data set, since switching word counting on or off reads the file anew."""
    state.forget((*state.ABOUT_DATA, "id", "label"))
