"""Draw documents as text, with the words of a topic marked."""

import re
from collections.abc import Sequence
from html import escape

import numpy as np
import streamlit as st

from nspca.dashboard.app.wording import plain
from nspca.data import Dataset

SHOWN = 5
"""Number of documents that are drawn; the first is open."""
LONGEST = 900
"""Maximum characters of a document that are drawn."""
BEFORE = 120
"""Characters before the first marked word, if the beginning of a document is left out."""
STYLE = """<style>.nspca-document { font-size: 0.95rem; line-height: 1.55; white-space: pre-wrap;
  overflow-wrap: anywhere; max-width: 46rem; }
.nspca-document mark { background: rgba(42,133,199,0.25); color: inherit; border-radius: 3px;
  padding: 0 2px; }
</style>"""


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
            st.html(f'{STYLE}<div class="nspca-document">{marked(texts[i], words)}</div>')


def marked(text: str, words: Sequence[str], longest: int = LONGEST) -> str:
    """Return HTML of a text with words marked; of a long text, the part around the first marked word.

    Only whole words are marked, in upper or lower case. A pair of words may have any white space between.

    Parameters
    ----------
    text : str
        Untrusted text, which is escaped.
    words : sequence of str
    longest : int
        Maximum characters of the text.
    """
    pattern = _pattern(words)
    first = pattern.search(text) if pattern else None
    start = 0 if first is None or first.start() < longest - BEFORE else first.start() - BEFORE
    shown = text[start : start + longest]
    parts, end = [], 0
    for found in pattern.finditer(shown) if pattern else ():
        parts += [escape(shown[end : found.start()]), f"<mark>{escape(found[0])}</mark>"]
        end = found.end()
    before, after = "… " * (start > 0), " …" * (start + longest < len(text))
    return before + "".join(parts) + escape(shown[end:]) + after


def _pattern(words: Sequence[str]) -> re.Pattern[str] | None:
    """Return a pattern that matches any of the words as whole words, longest first; None without words."""
    each = [r"\s+".join(map(re.escape, word.split())) for word in sorted(words, key=len, reverse=True)]
    each = [one for one in each if one]
    return re.compile(rf"(?<!\w)(?:{'|'.join(each)})(?!\w)", re.IGNORECASE) if each else None
