"""The view of texts: the words of each topic, how often they occur, and the documents of the chosen topic."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
import scipy.sparse as sp
import streamlit as st

import nspca
from nspca.dashboard.app.wording import plain, things
from nspca.dashboard.joint import lists, samples
from nspca.dashboard.open_data import scored_problem
from nspca.dashboard.runs.answer import Answer
from nspca.dashboard.views import component
from nspca.dashboard.views.component import used_names
from nspca.data import Dataset
from nspca.plots.joint import hue
from nspca.plots.theme import largest_weights
from nspca.presentation.colours import channels
from nspca.presentation.markup import Markup, render

TEXTS = 5  # documents of a topic that are drawn
WORDS = 15  # words of a topic whose frequency is drawn, and words of a document that has no text
SHORT, LONGEST = 320, 6000  # characters of a document that are drawn, folded and open
BEFORE = 80  # characters before the first marked word where the beginning is left out
so_far, recurring, fates = lists.so_far, lists.recurring, lists.fates


def picture(answer: Answer) -> None:
    """Draw the topics with all of their words."""
    lists.draw(answer, lists.SECTION)


def look(answer: Answer) -> None:
    """Draw the chosen topic: how often its words occur in its documents and elsewhere, and the documents."""
    try:
        problem = scored_problem(answer.of, answer.problem)
    except nspca.InvalidProblem:
        st.caption("The documents are left out: some words occur equally often in all rows that are drawn.")
        return
    data, (number, x) = answer.of.dataset, lists.chosen(answer)
    scores = problem.scores(answer.displayed.components)
    name = lists.names_of(answer.method).get(number, "")
    st.markdown(f"### Topic {number}{': ' * bool(name)}{plain(name)}")
    if answer.of.table is not None:
        st.caption(f"Among {len(data.sample_names):,} documents chosen at random.")
    left, right = st.columns([2, 3], gap="large")
    with left:
        st.html(usage(data, x, belonging(scores, number - 1), number))
        lists.name_and_copy(answer)
        samples.search(answer)
    with right:
        st.html(documents(data, x, scores[:, number - 1], number))


def drawn(answer: Answer) -> dict[str, go.Figure]:
    """Return the figures for export: one for each topic of the best method, keyed by file name."""
    data, X = answer.of.dataset, answer.displayed.components
    return {f"topic-{j:02}-by-{answer.method}": component.plot(data, x)() for j, x in enumerate(X.T, 1)}


def belonging(scores: np.ndarray, topic: int) -> np.ndarray:
    """Return which documents (m,) are most about a topic, counted from 0; scores are (m, r)."""
    return (np.argmax(scores, axis=1) == topic) & (scores[:, topic] > 0)


def usage(data: Dataset, x: np.ndarray, is_here: np.ndarray, number: int) -> Markup:
    """Return HTML of how often words of a topic x (n,) occur in 1,000 words of its and of other documents."""
    order = largest_weights(x, WORDS)
    groups = np.flatnonzero(is_here), np.flatnonzero(~is_here)
    counts = [np.asarray(data.X[rows].sum(axis=0), float).ravel() for rows in groups]
    rates = [1000 * one[order] / (one.sum() or 1.0) for one in counts]
    rows = [(data.feature_names[i], [a, b]) for i, a, b in zip(order, *rates, strict=True)]
    here = int(is_here.sum())
    whose = f"in the {things(here, 'document')} of" if here else "no document is most about"
    heads = [f"{whose} topic {number}", "elsewhere"]
    largest = float(np.max(rates, initial=0.0)) or 1.0
    # What is not whole is no count, but a weight such as tf-idf.
    unit = "Of a weight of 1,000" if np.mod(counts, 1).any() else "In 1,000 words"
    look = {"largest": largest, "hue": channels(hue(number - 1))}
    return render("usage", unit=unit, heads=heads, rows=rows, **look)


def documents(data: Dataset, x: np.ndarray, scores: np.ndarray, number: int) -> Markup:
    """Return HTML of the documents with the largest scores on a topic x (n,), with its words marked."""
    words, shown = used_names(data.feature_names, x), []
    for i in np.argsort(-scores, kind="stable")[:TEXTS]:
        label = "" if data.labels is None else f" · {data.labels[i]}"
        title = f"{data.sample_names[i]}{label}"
        if data.texts is None:
            shown.append((title, render("marked", parts=_counts(data, int(i), x)), ""))
        else:
            text = data.texts[i]
            more = marked(text, words, LONGEST) if len(text) > SHORT else ""
            shown.append((title, marked(text, words), more))
    return render("documents", documents=shown, hue=channels(hue(number - 1)))


def _counts(data: Dataset, row: int, x: np.ndarray) -> list[tuple[str, bool]]:
    X: Any = data.X
    counts = np.asarray(X[[row]].toarray() if sp.issparse(X) else X[[row]], float).ravel()
    found = [i for i in np.argsort(-counts, kind="stable") if x[i] and counts[i]][:WORDS]
    return [part for i in found for part in ((data.feature_names[i], True), (f" {counts[i]:g}  ", False))]


def marked(text: str, words: Sequence[str], most: int = SHORT) -> Markup:
    """Return HTML of a text with words marked; of a long text, the part around the first marked word."""
    pattern = _pattern(words)
    first = pattern.search(text) if pattern else None
    start = 0 if first is None or first.end() < most else first.start() - BEFORE
    shown = text[start : start + most]
    parts, end = [("… " * (start > 0), False)], 0
    for found in pattern.finditer(shown) if pattern else ():
        parts += [(shown[end : found.start()], False), (found[0], True)]
        end = found.end()
    parts += [(shown[end:], False), (" …" * (start + most < len(text)), False)]
    return render("marked", parts=parts)


def _pattern(words: Sequence[str]) -> re.Pattern[str] | None:
    each = [r"\s+".join(map(re.escape, word.split())) for word in sorted(words, key=len, reverse=True)]
    each = [one for one in each if one]
    return re.compile(rf"(?<!\w)(?:{'|'.join(each)})(?!\w)", re.IGNORECASE) if each else None
