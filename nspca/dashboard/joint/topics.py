"""Topics of texts: ranked words of each topic, and one topic with its highest-scoring documents.

The page Components draws word counts by `VIEW`.
"""

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import scipy.sparse as sp
import streamlit as st

import nspca
from nspca.dashboard.app import buttons, state, tables
from nspca.dashboard.components import figures
from nspca.dashboard.joint import documents, lists, search, stability
from nspca.dashboard.joint import matching as matching_view
from nspca.dashboard.joint.outcome import Outcome, Section, View
from nspca.dashboard.open_data import scored_problem
from nspca.dashboard.views.component import csv_of, used_names
from nspca.data import Dataset
from nspca.plots.components import topic_figure
from nspca.problem import Problem

DOCUMENTS, WORDS = 12, 5
"""Number of rows in the table of documents, which is drawn when the data set has no texts to quote, and of
the words that are named in each row.
"""


def picture(outcome: Outcome) -> None:
    """Draw the control that selects one topic, and the topics of the best method."""
    lists.show(outcome, lists.one)


def after(outcome: Outcome) -> str:
    """Return the sentence about the picture and the next step."""
    if outcome.asked.r == 1:
        return "A bar is the weight of a word. The documents that are most about these words are below."
    said = "Each list is a topic, with the share that it captures. A bar is the weight of a word."
    if state.get("present"):
        return f"{said} Press a list to see more of it."
    return f"{said} Press a list: its documents are shown below."


def look(outcome: Outcome) -> None:
    """Draw the selected topic: its documents, and folded its name and its words with how common each is."""
    data, names, method = outcome.of.dataset, outcome.of.dataset.feature_names, lists.method_of(outcome)
    number, x = lists.looked_at(outcome, method)
    show_documents(outcome, x, number)
    fold = f"The words of topic {number}: name it, copy them, see how common they are"
    with st.expander(fold, icon=":material/list:", key="fold_words"):
        left, right = st.columns([1, 2], gap="medium")
        with left:
            lists.choose_method(outcome)
            lists.name_it(outcome, method, number, lists.suggested_name(x, names))
            lists.copy(x, names, f"The {outcome.about.feature}s of topic {number}")
        with right:
            overall, what = common(data, outcome.of.table is not None)
            figures.draw(topic_figure(x, names, overall, what=what), f"topic_{outcome.run_id}")


def taken(outcome: Outcome) -> dict[str, go.Figure]:
    """Return the figures for export: one for each topic of the best method, keyed by file name."""
    names, best = outcome.of.dataset.feature_names, outcome.best
    overall, what = common(outcome.of.dataset, outcome.of.table is not None)
    X = outcome.shown.components
    return {
        f"topic-{j:02}-by-{best}": topic_figure(x, names, overall, what=what) for j, x in enumerate(X.T, 1)
    }


def common(data: Dataset, sampled: bool = False) -> tuple[np.ndarray, str]:
    """Return the frequency of each feature as an (n,) array, and the label of that measure.

    The measure is the number of occurrences for words, and the variance for other features.

    Parameters
    ----------
    data : Dataset
    sampled : whether `data` holds only some of the rows of the whole table
    """
    X: Any = data.X
    if data.is_covariance:
        return np.diag(X), "variance"
    if data.kind == "words":
        return np.asarray(X.sum(axis=0)).ravel(), f"times in {'some' if sampled else 'all'} documents"
    mean = np.asarray(X.mean(axis=0)).ravel()
    squares = X.multiply(X) if sp.issparse(X) else np.square(X.astype(float))
    variances = np.maximum(np.asarray(squares.mean(axis=0)).ravel() - mean**2, 0.0)
    return variances, f"variance{' in some rows' * sampled}"


def show_documents(outcome: Outcome, x: np.ndarray, number: int) -> None:
    """Draw the documents with the largest scores along x (n,).

    Texts are shown with the words of the topic marked. Data without texts get a table.
    """
    data = outcome.of.dataset
    try:
        problem = scored_problem(outcome.of, outcome.problem)
    except nspca.InvalidProblem:
        st.caption("The documents are left out: some words occur equally often in all rows that are drawn.")
        return
    st.markdown(f"### The documents that are most about topic {number}")
    if outcome.of.table is not None:
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
        documents.show(data, problem.scores(x), data.texts, words)
    buttons.download(
        "All documents with their scores, CSV",
        lambda: csv_of(loading_most(data, problem, x, len(data.sample_names)), data),
        f"{outcome.of.stem}-topic-{number}-documents.csv",
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


def rows(outcome: Outcome) -> None:
    """Draw the topics of every method, and after the run how words are matched to topics."""
    lists.rows(outcome)
    if not outcome.live:
        matching_view.show()


VIEW = View(
    picture,
    rows,
    after,
    Section("one", lambda about: "One topic", look),
    lambda outcome: stability.show(outcome, lists.recurring),
    taken,
    search.list_fates,
)
