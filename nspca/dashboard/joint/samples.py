"""The section with the map of samples: scores along two components, with labels and a lasso.

Below the map it says how far the components separate the groups of a label. The downloads use `scores_of`,
`score_table` and `correlations`.
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
from nspca.dashboard.open_data import scored_problem
from nspca.dashboard.proof.answer import Answer
from nspca.dashboard.runs import cost_estimate
from nspca.dashboard.views.component import MOST_GROUPS, csv_of
from nspca.dashboard.views.section import Section
from nspca.data import Dataset
from nspca.errors import InvalidProblem
from nspca.plots import alt_text, score_figure
from nspca.plots.samplemap import MOST_ARROWS, Arrows, chosen_samples, sample_map
from nspca.plots.samples import MOST_POINTS, drawn_samples
from nspca.selection import GroupEffects, group_effects
from nspca.selection.groups import COHEN, coded, halves
from nspca.solvers import METHODS
from nspca.specs import GroupsSpec

SHOWN = 200
"""Maximum selected samples that the page lists. The CSV file has all."""
NO_GROUPS = "none"
"""Value in the address for no label."""
TOUCH = """<style>@media (pointer: coarse) {
.st-key-sample_map .js-plotly-plot .draglayer { pointer-events: none; touch-action: auto; }
}</style>"""
"""On a touch screen a finger on the map scrolls the page; the map has no lasso there."""


def show(answer: Answer) -> None:
    """Draw the map of samples for the best method, and the effect sizes for labelled groups."""
    data = answer.of.dataset
    if data.is_covariance:
        st.caption("These data are a covariance matrix, which has no samples to draw.")
        return
    scores = scores_of(answer)
    if scores is None:
        st.caption("The samples are left out: some features take one value in the rows that are drawn.")
        return
    columns = label_columns(data)
    places = st.columns([2, 1, 1, 2])
    with places[0]:
        label = _choose_label(columns)
    along = _axes(answer, scores.shape[1], places[1:3])
    if answer.of.table is not None:
        st.caption(f"Drawn are {len(scores):,} rows of the folder, chosen at random.")
    figure = _figure(answer, scores, label, along)
    if scores.shape[1] == 1:
        figures.draw(figure, f"strip_{answer.id}")
    else:
        _map(answer, scores, figure, label, along)
    buttons.download(
        "Scores of all samples, CSV",
        lambda: csv_of(score_table(answer, scores), data),
        f"{answer.of.stem}-scores.csv",
        key="scores",
    )
    _groups(answer, scores, columns, label)


def drawn(answer: Answer) -> go.Figure | None:
    """Return the figure of the samples as `show` draws it, for export; None without samples."""
    scores = None if answer.of.dataset.is_covariance else scores_of(answer)
    if scores is None:
        return None
    return _figure(answer, scores, _label(label_columns(answer.of.dataset)), _along(scores.shape[1]))


def _figure(answer: Answer, scores: np.ndarray, label: str, along: tuple[int, int]) -> go.Figure:
    """Return the map of the samples along two components (numbers from 1); of one component, a strip."""
    data, one = answer.of.dataset, answer.nouns.one
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
        arrows=_arrows(answer, scores, axes),
    )


def scores_of(answer: Answer) -> np.ndarray | None:
    """Return the scores (m, r) of the samples along the components of the best method.

    For a folder, only a sample of its rows is used; None if that sample cannot be prepared in the same way.
    """
    try:
        problem = scored_problem(answer.of, answer.problem)
    except nspca.InvalidProblem:
        return None
    return problem.scores(answer.displayed.components)


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
def _map(answer: Answer, scores: np.ndarray, figure: go.Figure, label: str, along: tuple[int, int]) -> None:
    """Draw the map along two components (numbers from 1), and the selected samples."""
    across, up = along
    st.html(TOUCH)
    with st.container(key="sample_map"):
        event = st.plotly_chart(
            figure,
            key=f"map_{answer.id}_{across}_{up}_{label}",
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
    _chosen(answer, scores, label, chosen_samples(event.get("selection"), len(scores)))


def _axes(answer: Answer, r: int, places: Sequence[DeltaGenerator]) -> tuple[int, int]:
    """Draw the choice of two of r components in the columns `places`, and return their numbers from 1.

    There is nothing to choose, and nothing is drawn, up to r = 2.
    """
    across, up = _along(r)
    if r > 2:
        one, numbers = answer.nouns.one.capitalize(), list(range(1, r + 1))
        across = places[0].selectbox(f"{one} across", numbers, **state.bind("across", across))
        up = places[1].selectbox(f"{one} up", numbers, **state.bind("up", up))
    return across, up


def _along(r: int) -> tuple[int, int]:
    """Return the numbers of the two components that the address names, each from 1 to r."""
    across, up = (min(max(1, state.get(name)), r) for name in ("across", "up"))
    return across, up


def _arrows(answer: Answer, scores: np.ndarray, axes: list[int]) -> Arrows | None:
    """Return the features of two components as arrows for the map; None for a folder and for too many."""
    X = answer.displayed.components[:, axes]
    used = np.flatnonzero(X.any(axis=1))
    if len(used) > MOST_ARROWS or answer.of.table is not None:
        return None
    names = answer.of.dataset.feature_names
    return Arrows([names[int(j)] for j in used], correlations(answer.of.dataset.X[:, used], scores[:, axes]))


def correlations(features: Any, scores: np.ndarray) -> np.ndarray:
    """Return the correlations (a, r) of features (m, a) with scores (m, r); 0 for constant columns."""
    Z = np.asarray(features.todense() if hasattr(features, "todense") else features, float)
    largest = np.abs(Z).max(axis=0, initial=0.0)
    Z = Z / np.where(largest > 0, largest, 1.0)  # squares of extreme numbers would not fit float64
    Z, S = Z - Z.mean(axis=0), scores - scores.mean(axis=0)
    sizes = np.outer(np.linalg.norm(Z, axis=0), np.linalg.norm(S, axis=0))
    return np.clip(np.divide(Z.T @ S, sizes, out=np.zeros_like(sizes), where=sizes > 0), -1, 1)


def _chosen(answer: Answer, scores: np.ndarray, label: str, rows: list[int]) -> None:
    if not rows:
        st.caption("Draw a lasso or a box around samples to list them. Point at a sample to see its name.")
        return
    data = answer.of.dataset
    table = score_table(answer, scores).iloc[rows]
    of = f": {counted(label_columns(data)[label], rows)}" if label else ""
    st.markdown(f"**{wording.things(len(rows), 'sample')} chosen**{of}")
    tables.show(table.head(SHOWN), height=min(300, 38 + 35 * len(rows)), alt="The chosen samples")
    buttons.download(
        "Chosen samples, CSV",
        lambda: csv_of(table, data),
        f"{answer.of.stem}-chosen-samples.csv",
        key="chosen_samples",
    )


def counted(labels: Any, rows: list[int], most: int = 6) -> str:
    """Return the counts of labels among some samples, most frequent first: ``12 ALL, 3 AML``."""
    names, counts = np.unique([str(labels[i]) for i in rows], return_counts=True)
    order = np.argsort(-counts, kind="stable")
    said = [f"{counts[i]} {wording.plain(names[i])}" for i in order[:most]]
    return ", ".join([*said, *([f"{len(order) - most} other labels"] if len(order) > most else [])])


def score_table(answer: Answer, scores: np.ndarray) -> pd.DataFrame:
    """Return a table with name, labels and scores of each sample."""
    data, one = answer.of.dataset, answer.nouns.one
    frame = pd.DataFrame({"sample": list(data.sample_names)})
    for name, labels in label_columns(data).items():
        frame[name if name not in frame else f"label {name}"] = [str(one) for one in labels]
    for j in range(scores.shape[1]):
        frame[f"{one} {j + 1}"] = scores[:, j]
    return frame


MEASURES = {
    COHEN: "the difference of the group means over their pooled standard deviation. Cohen called 0.2 small, "
    "0.5 medium and 0.8 large",
    "eta squared": "the share of the variance of the scores that lies between the groups, from 0 to 1",
}
SMALL_P = 0.05
"""Maximum p-value that is called small."""


def _groups(answer: Answer, scores: np.ndarray, columns: Mapping[str, Any], label: str) -> None:
    """Draw the effect size of each component for the groups of a label column, if there is one."""
    if not label:
        return
    labels = [str(one) for one in columns[label]]
    try:
        found = group_effects(scores, labels)
    except InvalidProblem as error:
        st.caption(f"No groups are compared: {wording.plain(str(error))}.")
        return
    if len(found.groups) > MOST_GROUPS:
        st.caption(
            f"No groups are compared: the label has {len(found.groups)} values, at most {MOST_GROUPS} are "
            "groups."
        )
        return
    st.markdown(f"### How far do the {answer.nouns.many} separate the groups?")
    st.markdown(sentence(found, answer.nouns.one))
    held = _held_out(answer, labels, label)
    _effects(answer, found, held)
    st.caption(f"{found.measure[0].upper()}{found.measure[1:]} is {MEASURES[found.measure]}.")


def sentence(found: GroupEffects, one: str) -> str:
    """Return a sentence about the component that separates the groups most, and its effect size."""
    known = np.abs(np.nan_to_num(found.effect))
    best = int(np.argmax(known))
    groups = wording.listed([wording.plain(name) for name in found.groups])
    if not known[best]:
        return f"No {one} separates {groups}: the scores of their samples do not differ."
    left_out = f" {wording.things(found.unlabelled, 'sample')} without a label are left out."
    return (
        f"**{one.capitalize()} {best + 1}** separates {groups} most: {found.measure} "
        f"{found.effect[best]:.2f}." + left_out * (found.unlabelled > 0)
    )


def _effects(answer: Answer, found: GroupEffects, held: GroupEffects | None) -> None:
    one, number = answer.nouns.one, st.column_config.NumberColumn
    columns: dict[str, Any] = {one: np.arange(1, len(found.effect) + 1), "effect": found.effect}
    if held is not None:
        columns |= {"held_out": held.effect, "p": held.p}
    tables.show(
        pd.DataFrame(columns),
        height="content",
        width=520,
        alt=f"How far each {one} separates the groups",
        column_config={
            one: number(one.capitalize()),
            "effect": number(f"{found.measure}, all samples", format="%.2f"),
            "held_out": number(f"{found.measure}, held-out half", format="%.2f"),
            "p": number("p, held-out half", format="%.3f", help=f"Corrected for looking at all {one}s."),
        },
    )


def _held_out(answer: Answer, labels: list[str], label: str) -> GroupEffects | None:
    """Draw the check on a held-out half: its button, or its outcome, which is returned."""
    if answer.of.table is not None:
        return None
    try:
        halves(coded(labels, len(labels))[1], 0)
    except InvalidProblem as error:
        st.caption(f"No check on a held-out half: {wording.plain(str(error))}.")
        return None
    spec = question(answer, label)
    seconds = answer.shown.seconds
    return Section(
        "groups",
        spec,
        lambda: f"Check on a held-out half: {cost_estimate.took(seconds)}",
        lambda rows: None,
        lambda held, rows: st.markdown(held_out_sentence(held, answer.nouns.one)),
        icon=":material/vertical_split:",
        help=f"Finds {answer.nouns.many} on one half of the samples and measures the other half, where a "
        "p-value means something.",
    ).show(answer.of, labels=labels)


def question(answer: Answer, label: str) -> GroupsSpec:
    """Return the spec of the check on a held-out half, for the method whose components explain most.

    For components of different sizes, a method that finds them together is used.
    """
    asked, best = answer.asked, answer.method
    together = METHODS[best].joint or len(set(asked.sizes)) == 1
    method = best if together else "joint"
    in_force = answer.of.dataset.label_name or "label"
    return GroupsSpec(
        **asked.about_problem(),
        sizes=asked.sizes,
        label="" if label == in_force else label,
        method=method,
        options=asked.options_of([method]),
        seed=asked.seed,
    )


def held_out_sentence(held: GroupEffects, one: str) -> str:
    """Return a sentence about the component that separates the groups most on the held-out half."""
    assert held.p is not None  # computed on every held-out half

    if np.isnan(held.p).all():
        return "On the held-out half no scores differ."
    best = int(np.nanargmin(held.p))
    small = held.p[best] <= SMALL_P
    verdict = f"**{one.capitalize()} {best + 1} separates the groups of samples that it was not found on.**"
    if not small:
        verdict = "**On samples that were held out, the groups may as well be apart by chance.**"
    return (
        f"{verdict} {held.measure} {held.effect[best]:.2f} on {sum(held.counts)} samples, p = "
        f"{held.p[best]:.2g} after a correction for {wording.things(len(held.p), one)}. The {one}s of one "
        "half may differ from those above."
    )
