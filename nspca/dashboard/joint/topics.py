"""The view of texts: ranked words of each topic, and the documents that are most about one topic."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import scipy.sparse as sp
import streamlit as st

import nspca
from nspca.dashboard.app import buttons, state, tables
from nspca.dashboard.app.wording import plain
from nspca.dashboard.components import figures
from nspca.dashboard.joint import lists
from nspca.dashboard.open_data import scored_problem
from nspca.dashboard.proof.answer import Answer
from nspca.dashboard.views.component import csv_of, used_names
from nspca.data import Dataset
from nspca.plots.components import topic_figure
from nspca.presentation.markup import Markup, render
from nspca.problem import Problem

DOCUMENTS, WORDS = 12, 5
"""Number of rows in the table of documents, which is drawn when the data set has no texts to quote, and of
the words that are named in each row.
"""
TEXTS = 5
"""Documents whose text is drawn; the first is open."""
LONGEST = 900
"""Characters of a document that are drawn."""
BEFORE = 120
"""Characters before the first marked word where the beginning is left out."""


def picture(answer: Answer) -> None:
    """Draw the control that selects one topic, and the topics of the best method."""
    lists.show(answer, lists.draw_long)


def after(answer: Answer) -> str:
    """Return the sentence about the picture and the next step."""
    if answer.asked.r == 1:
        return "A bar is the weight of a word. The documents that are most about these words are below."
    said = "Each list is a topic, with the share that it captures. A bar is the weight of a word."
    if state.get("present"):
        return f"{said} Press a list to see more of it."
    return f"{said} Press a list: its documents are shown below."


def look(answer: Answer) -> None:
    """Draw the selected topic: its documents, and folded its name and its words with how common each is."""
    names, method = answer.of.dataset.feature_names, lists.chosen_method(answer)
    number, x = lists.chosen_component(answer, method)
    _documents(answer, x, number)
    fold = f"The words of topic {number}: name it, copy them, see how common they are"
    with st.expander(fold, icon=":material/list:", key="fold_words"):
        left, right = st.columns([1, 2], gap="medium")
        with left:
            lists.choose_method(answer)
            lists.name_it(answer, method, number, x)
            lists.copy(x, names, f"The words of topic {number}")
        with right:
            figures.draw(_plot(answer, x), f"topic_{answer.id}")


def drawn(answer: Answer) -> dict[str, go.Figure]:
    """Return the figures for export: one for each topic of the best method, keyed by file name."""
    X = answer.displayed.components
    return {f"topic-{j:02}-by-{answer.method}": _plot(answer, x) for j, x in enumerate(X.T, 1)}


def _plot(answer: Answer, x: np.ndarray) -> go.Figure:
    """Return the figure of a topic x (n,): its words, and how often each occurs in the documents."""
    data, which = answer.of.dataset, "all" if answer.of.table is None else "some"
    counts = np.asarray(data.X.sum(axis=0)).ravel()
    return topic_figure(x, data.feature_names, counts, what=f"times in {which} documents")


def _documents(answer: Answer, x: np.ndarray, number: int) -> None:
    """Draw the documents with the largest scores along x (n,).

    Texts are shown with the words of the topic marked. Data without texts get a table.
    """
    data = answer.of.dataset
    try:
        problem = scored_problem(answer.of, answer.problem)
    except nspca.InvalidProblem:
        st.caption("The documents are left out: some words occur equally often in all rows that are drawn.")
        return
    st.markdown(f"### The documents that are most about topic {number}")
    if answer.of.table is not None:
        st.caption(f"Among {len(data.sample_names):,} documents chosen at random.")
    if data.texts is None:
        tables.show(
            loading_most(data, problem, x, words=WORDS),
            height="content",
            alt=f"The documents with the largest scores on topic {number}",
            column_config={
                "score": st.column_config.NumberColumn(
                    format="%.4g", help="The sum of the counts of its words, times their weights."
                )
            },
        )
    else:
        words = used_names(data.feature_names, x)
        for place, i in enumerate(np.argsort(-problem.scores(x), kind="stable")[:TEXTS]):
            label = "" if data.labels is None else f" · {data.labels[i]}"
            with st.expander(plain(f"{data.sample_names[i]}{label}"), expanded=place == 0):
                st.html(render("document", text=marked(data.texts[i], words)))
    buttons.download(
        "All documents with their scores, CSV",
        lambda: csv_of(loading_most(data, problem, x, len(data.sample_names)), data),
        f"{answer.of.stem}-topic-{number}-documents.csv",
    )


def loading_most(
    data: Dataset, problem: Problem, x: np.ndarray, most: int = DOCUMENTS, words: int | None = None
) -> pd.DataFrame:
    """Return a table of the `most` documents with the largest scores along x (n,), largest first.

    Labels are a column when the data have them. Sparse counts add the words of the topic in each document,
    at most `words` of them.
    """
    scores = problem.scores(x)
    order = np.argsort(-scores, kind="stable")[:most]
    rows: dict[str, Any] = {"document": [data.sample_names[i] for i in order], "score": scores[order]}
    if data.labels is not None:
        rows["label"] = [str(data.labels[i]) for i in order]
    if sp.issparse(data.X):
        rows["words of the topic in it"] = [_contains(data, i, x, words) for i in order]
    return pd.DataFrame(rows)


def _contains(data: Dataset, row: int, x: np.ndarray, most: int | None) -> str:
    """Return the words of the topic x (n,) in one document with counts, such as ``tax 4, vote 2, …``."""
    X: Any = data.X
    one = X[[row]].tocoo()
    found = [(count, data.feature_names[j]) for j, count in zip(one.coords[1], one.data, strict=True) if x[j]]
    words = [f"{name} {count:g}" for count, name in sorted(found, key=lambda pair: -pair[0])]
    return ", ".join(words[:most] + ["…"] * (most is not None and len(words) > most))


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
