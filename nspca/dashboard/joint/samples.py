"""The map of samples: scores along two components, coloured by a label, with a lasso to select samples.

The sections call `show`. The downloads use `scores_of`, `score_table` and `correlations`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

import nspca
from nspca.dashboard.app import buttons, state, tables, wording
from nspca.dashboard.components import figures
from nspca.dashboard.joint import groups
from nspca.dashboard.joint.outcome import Outcome
from nspca.dashboard.open_data import scored_problem
from nspca.dashboard.views.component import csv_of
from nspca.data import Dataset
from nspca.plots import alt_text, score_figure
from nspca.plots.samplemap import MOST_ARROWS, Arrows, chosen_samples, sample_map
from nspca.plots.samples import MOST_POINTS, drawn_samples

SHOWN = 200
"""Maximum selected samples that the page lists. The CSV file has all."""
NO_GROUPS = "none"
"""Value in the address for no label."""
TOUCH = """<style>@media (pointer: coarse) {
.st-key-sample_map .js-plotly-plot .draglayer { pointer-events: none; touch-action: auto; }
}</style>"""
"""On a touch screen a finger on the map scrolls the page; the map has no lasso there."""


def show(outcome: Outcome) -> None:
    """Draw the map of samples for the best method, and the effect sizes for labelled groups."""
    data = outcome.of.dataset
    if data.is_covariance:
        st.caption("These data are a covariance matrix, which has no samples to draw.")
        return
    scores = scores_of(outcome)
    if scores is None:
        st.caption("The samples are left out: some features take one value in the rows that are drawn.")
        return
    columns = label_columns(data)
    places = st.columns([2, 1, 1, 2])
    with places[0]:
        label = _choose_label(columns)
    along = _axes(outcome, scores.shape[1], places[1:3])
    if outcome.of.table is not None:
        st.caption(f"Drawn are {len(scores):,} rows of the folder, chosen at random.")
    figure = _figure(outcome, scores, label, along)
    if scores.shape[1] == 1:
        figures.draw(figure, f"strip_{outcome.run_id}")
    else:
        _map(outcome, scores, figure, label, along)
    buttons.download(
        "Scores of all samples, CSV",
        lambda: csv_of(score_table(outcome, scores), data),
        f"{outcome.of.stem}-scores.csv",
        key="scores",
    )
    groups.show(outcome, scores, columns, label)


def drawn(outcome: Outcome) -> go.Figure | None:
    """Return the figure of the samples as `show` draws it, for export; None without samples."""
    scores = None if outcome.of.dataset.is_covariance else scores_of(outcome)
    if scores is None:
        return None
    return _figure(outcome, scores, _label(label_columns(outcome.of.dataset)), _along(scores.shape[1]))


def _figure(outcome: Outcome, scores: np.ndarray, label: str, along: tuple[int, int]) -> go.Figure:
    """Return the map of the samples along two components (numbers from 1); of one component, a strip."""
    data, one = outcome.of.dataset, outcome.about.one
    labels = label_columns(data).get(label)
    if scores.shape[1] == 1:
        return score_figure(scores, labels, data.sample_names)
    axes = [number - 1 for number in along]
    return sample_map(
        scores[:, axes],
        labels,
        data.sample_names,
        axes=[f"{one} {number}" for number in along],
        label=label,
        arrows=_arrows(outcome, scores, axes),
    )


def scores_of(outcome: Outcome) -> np.ndarray | None:
    """Return the scores (m, r) of the samples along the components of the best method.

    For a folder, only a sample of its rows is used; None if that sample cannot be prepared in the same way.
    """
    try:
        problem = scored_problem(outcome.of, outcome.problem)
    except nspca.InvalidProblem:
        return None
    return problem.scores(outcome.shown.components)


def label_columns(data: Dataset) -> dict[str, Any]:
    """Return the label columns by name, the labels in force first."""
    found: dict[str, Any] = {}
    if data.labels is not None:
        found[data.label_name or "label"] = data.labels
    return found | {name: labels for name, labels in data.label_columns.items() if name not in found}


def _choose_label(columns: Mapping[str, Any]) -> str:
    """Draw the choice of a label column, and return its name; empty for none."""
    if not columns:
        st.caption("These data have no labels. The page Data adds them from a file of sample annotations.")
        return ""
    wanted = _label(columns) or NO_GROUPS
    chosen = st.selectbox("Colour by", [*columns, NO_GROUPS], **state.bind("group", wanted))
    return "" if chosen == NO_GROUPS else chosen


def _label(columns: Mapping[str, Any]) -> str:
    """Return the label column that the address names, or the first; empty for none."""
    wanted = state.get("group")
    return "" if wanted == NO_GROUPS else wanted if wanted in columns else next(iter(columns), "")


@st.fragment
def _map(outcome: Outcome, scores: np.ndarray, figure: go.Figure, label: str, along: tuple[int, int]) -> None:
    """Draw the map along two components (numbers from 1), and the selected samples."""
    across, up = along
    st.html(TOUCH)
    with st.container(key="sample_map"):
        event = st.plotly_chart(
            figure,
            key=f"map_{outcome.run_id}_{across}_{up}_{label}",
            on_select="rerun",
            selection_mode=("box", "lasso"),
            config={"displaylogo": False},
            alt=alt_text(figure),
        )
    points = len(drawn_samples(len(scores)))
    if points < len(scores):
        st.caption(
            f"Drawn are {points:,} of {len(scores):,} samples, at most {MOST_POINTS:,}. The CSV has all."
        )
    _chosen(outcome, scores, label, chosen_samples(event.get("selection"), len(scores)))


def _axes(outcome: Outcome, r: int, places: Sequence[DeltaGenerator]) -> tuple[int, int]:
    """Draw the choice of two of r components in the columns `places`, and return their numbers from 1.

    There is nothing to choose, and nothing is drawn, up to r = 2.
    """
    across, up = _along(r)
    if r > 2:
        one, numbers = outcome.about.one.capitalize(), list(range(1, r + 1))
        across = places[0].selectbox(f"{one} across", numbers, **state.bind("across", across))
        up = places[1].selectbox(f"{one} up", numbers, **state.bind("up", up))
    return across, up


def _along(r: int) -> tuple[int, int]:
    """Return the numbers of the two components that the address names, each from 1 to r."""
    across, up = (min(max(1, state.get(name)), r) for name in ("across", "up"))
    return across, up


def _arrows(outcome: Outcome, scores: np.ndarray, axes: list[int]) -> Arrows | None:
    """Return the features of two components as arrows for the map; None for a folder and for too many."""
    X = outcome.shown.components[:, axes]
    used = np.flatnonzero(X.any(axis=1))
    if len(used) > MOST_ARROWS or outcome.of.table is not None:
        return None
    names = outcome.of.dataset.feature_names
    return Arrows([names[int(j)] for j in used], correlations(outcome.of.dataset.X[:, used], scores[:, axes]))


def correlations(features: Any, scores: np.ndarray) -> np.ndarray:
    """Return the correlations (a, r) of features (m, a) with scores (m, r); 0 for constant columns."""
    Z = np.asarray(features.todense() if hasattr(features, "todense") else features, float)
    largest = np.abs(Z).max(axis=0, initial=0.0)
    Z = Z / np.where(largest > 0, largest, 1.0)  # squares of extreme numbers would not fit float64
    Z, S = Z - Z.mean(axis=0), scores - scores.mean(axis=0)
    sizes = np.outer(np.linalg.norm(Z, axis=0), np.linalg.norm(S, axis=0))
    return np.clip(np.divide(Z.T @ S, sizes, out=np.zeros_like(sizes), where=sizes > 0), -1, 1)


def _chosen(outcome: Outcome, scores: np.ndarray, label: str, rows: list[int]) -> None:
    if not rows:
        st.caption("Draw a lasso or a box around samples to list them. Point at a sample to see its name.")
        return
    data = outcome.of.dataset
    table = score_table(outcome, scores).iloc[rows]
    of = f": {counted(label_columns(data)[label], rows)}" if label else ""
    st.markdown(f"**{wording.things(len(rows), 'sample')} chosen**{of}")
    tables.show(table.head(SHOWN), height=min(300, 38 + 35 * len(rows)), alt="The chosen samples")
    buttons.download(
        "Chosen samples, CSV",
        lambda: csv_of(table, data),
        f"{outcome.of.stem}-chosen-samples.csv",
        key="chosen_samples",
    )


def counted(labels: Any, rows: list[int], most: int = 6) -> str:
    """Return the counts of labels among some samples, most frequent first: ``12 ALL, 3 AML``."""
    names, counts = np.unique([str(labels[i]) for i in rows], return_counts=True)
    order = np.argsort(-counts, kind="stable")
    said = [f"{counts[i]} {wording.plain(names[i])}" for i in order[:most]]
    return ", ".join([*said, *([f"{len(order) - most} other labels"] if len(order) > most else [])])


def score_table(outcome: Outcome, scores: np.ndarray) -> pd.DataFrame:
    """Return a table with name, labels and scores of each sample."""
    data, one = outcome.of.dataset, outcome.about.one
    frame = pd.DataFrame({"sample": list(data.sample_names)})
    for name, labels in label_columns(data).items():
        frame[name if name not in frame else f"label {name}"] = [str(one) for one in labels]
    for j in range(scores.shape[1]):
        frame[f"{one} {j + 1}"] = scores[:, j]
    return frame
