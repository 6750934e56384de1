"""Draw the form for counting words of texts. Its values are fields of a `DataSpec`, kept in the address.

The data page calls `form` for an upload that holds texts.
"""

from typing import get_args

import streamlit as st

from nspca.dashboard.app import state
from nspca.data.options import TextOptions

NAMES = {
    "automatic": "found automatically",
    "none": "none",
    "lines": "a line",
    "paragraphs": "a paragraph",
    "counts": "how often it occurs",
    "tfidf": "tf-idf: rare words weigh more",
}
"""Text on screen for option values. Other values are shown as they are, capitalised."""
SPLITS, STOP_WORDS, WEIGHTS = (
    get_args(TextOptions.model_fields[name].annotation) for name in ("split", "stop_words", "weights")
)
"""Choices of the options."""
MOST = (100, 500, 1000, 2000, 4000, 10_000, 20_000)
"""Choices for the maximum number of words in the vocabulary."""


def form() -> None:
    """Draw the inputs for counting words. Each input is bound to a value of the address."""
    left, middle, right = st.columns(3)
    left.selectbox("Stop words", STOP_WORDS, format_func=_name, **state.bind("stop", then=changed))
    middle.selectbox("A word counts by", WEIGHTS, format_func=_name, **state.bind("weigh", then=changed))
    right.selectbox("A text is", SPLITS, format_func=_name, **state.bind("split", then=changed))
    left, middle, right = st.columns(3)
    left.number_input(
        "In at least so many % of the texts", 0.0, 100.0, step=1.0, **state.bind("low", then=changed)
    )
    middle.number_input(
        "In at most so many % of the texts", 0.0, 100.0, step=5.0, **state.bind("high", then=changed)
    )
    most = sorted({*MOST, state.get("most")})
    right.selectbox("Words at most", most, format_func=lambda n: f"{n:,}", **state.bind("most", then=changed))
    with st.container(horizontal=True):
        st.toggle(
            "Pairs of words count too",
            help="Such as “climate change”. Takes longer, and there are many more features.",
            **state.bind("pairs", then=changed),
        )
        st.toggle("Count the words of these texts", **state.bind("words", then=read_anew))


def _name(value: str) -> str:
    """Return the text on screen for an option value, such as ``a line`` for "lines"."""
    return NAMES.get(value, value.capitalize())


def changed() -> None:
    """Forget the runs and the choices about the old vocabulary, since another one numbers the words anew."""
    state.forget(("run", "before", "k", "shown", "topics", *state.OF_FEATURES))


def read_anew() -> None:
    """Forget every choice about the data set, since switching word counting on or off reads the file anew."""
    state.forget((*state.ABOUT_DATA, "id", "label"))
