"""Draw documents as text, with the words of a topic marked, for the view of topics."""

import re
from collections.abc import Sequence

import numpy as np
import streamlit as st

from nspca.dashboard.app.wording import plain
from nspca.data import Dataset
from nspca.presentation.markup import Markup, render

SHOWN = 5
"""Documents that are drawn; the first is open."""
LONGEST = 900
"""Characters of a document that are drawn."""
BEFORE = 120
"""Characters before the first marked word where the beginning is left out."""


def show(data: Dataset, scores: np.ndarray, texts: Sequence[str], words: Sequence[str]) -> None:
    """Draw the documents with the largest scores, each with its name and its text.

    Parameters
    ----------
    data : the data set, for names and labels
    scores : (m,) scores along the topic
    texts : m texts
    words : the words of the topic
    """
    for place, i in enumerate(np.argsort(-scores, kind="stable")[:SHOWN]):
        label = "" if data.labels is None else f" · {data.labels[i]}"
        with st.expander(plain(f"{data.sample_names[i]}{label}"), expanded=place == 0):
            st.html(render("document", text=marked(texts[i], words)))


def marked(text: str, words: Sequence[str]) -> Markup:
    """Return HTML of a text with words marked; of a long text, the part around the first marked word.

    Only whole words are marked, in upper or lower case. A pair of words may have any white space between.

    Parameters
    ----------
    text : str
        Untrusted text, which is escaped.
    words : sequence of str
    """
    pattern = _pattern(words)
    first = pattern.search(text) if pattern else None
    start = 0 if first is None or first.start() < LONGEST - BEFORE else first.start() - BEFORE
    shown = text[start : start + LONGEST]
    parts, end = [("… " * (start > 0), False)], 0
    for found in pattern.finditer(shown) if pattern else ():
        parts += [(shown[end : found.start()], False), (found[0], True)]
        end = found.end()
    parts += [(shown[end:], False), (" …" * (start + LONGEST < len(text)), False)]
    return render("marked", parts=parts)


def _pattern(words: Sequence[str]) -> re.Pattern[str] | None:
    """Return a pattern that matches any of the words as whole words, longest first; None without words."""
    each = [r"\s+".join(map(re.escape, word.split())) for word in sorted(words, key=len, reverse=True)]
    each = [one for one in each if one]
    return re.compile(rf"(?<!\w)(?:{'|'.join(each)})(?!\w)", re.IGNORECASE) if each else None
