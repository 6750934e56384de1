"""The map of samples: scores along two components, with labels, a search, and a lasso to ask again."""

import base64
import io
import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import scipy.sparse as sp
import streamlit as st

import nspca
from nspca.dashboard.app import buttons, cache, state, wording
from nspca.dashboard.components import figures
from nspca.dashboard.components.figures import Thumbnails
from nspca.dashboard.joint import form
from nspca.dashboard.open_data import Chosen, scored_problem
from nspca.dashboard.runs.answer import Answer
from nspca.dashboard.views.component import csv_of, used_names
from nspca.data import Dataset
from nspca.data.roles import NO_LABEL
from nspca.plots.data_preview import strip
from nspca.plots.samplemap import Arrows, chosen_samples, sample_map
from nspca.plots.samples import MOST_POINTS, drawn_samples, score_figure
from nspca.presentation.phrases import short

SHOWN = 24  # maximum selected samples that the page names or draws. The CSV file has all.
STYLE = "max-width:100%;max-height:64px"  # style of the images of the selected samples
MOST_LABELS = 6  # maximum labels that are counted by name among selected samples
SIDE = 24  # maximum pixels of a thumbnail, in width and height
ARROWS = {"across": "→", "up": "↑"}  # signs of the axes in the choice of their components
NO_GROUPS = "none"  # value in the address for no label
CHOSEN = "samples_chosen"
"""Session key: id of an answer, and the numbers of the samples in the lasso on its map."""
TOGETHER = 0.8
"""Correlation of two components, in size, from which a map along them shows little more than one of them."""
MOST_FOUND = 5  # maximum features and samples that a search names
MOST_OUTLIERS, OUTLYING, ENOUGH = 3, (0.8, 0.5), 12
"""Maximum samples that are called outliers, the shares of a component from which they are (those that make
nearly all of it first), and the number of samples from which outliers are sought."""
FAR = 10
"""Least distance of an outlier from the median, in units of the median of all distances: of few samples, some
three make most of a component by chance.
"""


@st.fragment
def show(answer: Answer) -> None:
    """Draw the map of samples for the best method, its controls, and the samples in the lasso."""
    scores = scores_of(answer)
    if scores is None:
        st.caption("The samples are left out: some features take one value in the rows that are drawn.")
        return
    data, place = answer.of.dataset, st.container()
    columns, r = label_columns(data), scores.shape[1]
    with st.container(horizontal=True, key="map_controls"):
        label = _choose_label(columns)
        along = _along(r)
        if r > 2:
            _choose_axis(answer, "across", along[0])
            _choose_axis(answer, "up", along[1])
            along = _along(r)
    with place:
        figure = _figure(answer, scores, label, along)
        if r == 1:
            figures.draw(figure, f"strip_{answer.id}")
            return
        key = f"map_{answer.id}_{along}_{label}"
        keep = lambda points: st.session_state.update({CHOSEN: (answer.id, points)})  # noqa: E731
        figures.draw(figure, key, same=key, on_select=keep, thumbnails=thumbnails(answer.of))
    points = len(drawn_samples(len(scores)))
    if points < len(scores) or answer.of.table is not None:
        st.caption(f"Drawn are {points:,} of {answer.of.shape[0]:,} samples, at most {MOST_POINTS:,}.")
    if said := alike(scores, along, answer.nouns.one):
        st.caption(said)
    which, rows = st.session_state.get(CHOSEN, ("", []))
    _chosen(answer, scores, label, chosen_samples(rows, len(scores)) if which == answer.id else [])


def alike(scores: np.ndarray, along: tuple[int, int], one: str) -> str:
    """Return that two components (numbers from 1) go together where two others do not; else nothing."""
    R, varies = correlations(scores, scores), np.ptp(scores, axis=0) > 0
    pairs = itertools.combinations(np.flatnonzero(varies).tolist(), 2)
    first, second = min(pairs, key=lambda pair: abs(R[pair]), default=(0, 0))
    together = R[along[0] - 1, along[1] - 1]
    if along[0] == along[1] or abs(together) < TOGETHER or abs(R[first, second]) >= TOGETHER:
        return ""
    return (
        f"Along {one}s {along[0]} and {along[1]} the samples go together (correlation "
        f"{f'{together:.2f}'.replace('-', '−')}): {one}s {first + 1} and {second + 1} show more."
    )


def drawn(answer: Answer) -> go.Figure | None:
    """Return the figure of the samples as `show` draws it, for export; None without samples."""
    scores = None if answer.of.dataset.is_covariance else scores_of(answer)
    if scores is None:
        return None
    return _figure(answer, scores, label_of(label_columns(answer.of.dataset)), _along(scores.shape[1]))


def _figure(answer: Answer, scores: np.ndarray, label: str, along: tuple[int, int]) -> go.Figure:
    """Return the map of the samples along two components (numbers from 1); of one component, a strip."""
    data, one = answer.of.dataset, answer.nouns.one
    labels = label_columns(data).get(label)
    if scores.shape[1] == 1:
        return score_figure(scores, labels, data.sample_names)
    axes = [number - 1 for number in along]
    far = outliers(scores)
    return sample_map(
        scores[:, axes],
        labels,
        data.sample_names,
        axes=[f"{one} {number}" for number in along],
        label=label,
        arrows=_arrows(answer, scores, axes),
        found=_matches(data.sample_names, state.get("where")),
        far=far[1] if far else (),
    )


def scores_of(answer: Answer) -> np.ndarray | None:
    """Return the scores (m, r) of the samples along the components of the best method."""
    try:
        problem = scored_problem(answer.of, answer.problem)
    except nspca.InvalidProblem:
        return None
    return problem.scores(answer.displayed.components)


def label_columns(data: Dataset) -> dict[str, Any]:
    """Return the label columns by name, the labels in force first.

    Others that are empty for most samples, as comments are, are left out.
    """
    found: dict[str, Any] = {}
    if data.labels is not None:
        found[data.label_name or "label"] = data.labels
    return found | {
        name: labels
        for name, labels in data.label_columns.items()
        if name not in found and np.mean(labels == NO_LABEL) <= 0.5
    }


def _choose_label(columns: Mapping[str, Any]) -> str:
    if not columns:
        return ""
    wanted = label_of(columns) or NO_GROUPS
    chosen = st.selectbox(
        "Colour by",
        [*columns, NO_GROUPS],
        format_func=lambda one: f"colour: {one}",
        label_visibility="collapsed",
        width=150,
        **state.bind("group", wanted),
    )
    return "" if chosen == NO_GROUPS else chosen


def _choose_axis(answer: Answer, name: str, number: int) -> None:
    st.selectbox(
        name.capitalize(),
        list(range(1, answer.asked.r + 1)),
        format_func=lambda one: f"{ARROWS[name]} {answer.nouns.one} {one}",
        label_visibility="collapsed",
        width=155,
        **state.bind(name, number),
    )


def label_of(columns: Mapping[str, Any]) -> str:
    """Return the label column that the address names, or the first; empty for none."""
    wanted = state.get("group")
    return "" if wanted == NO_GROUPS else wanted if wanted in columns else next(iter(columns), "")


def _along(r: int) -> tuple[int, int]:
    across, up = (min(max(1, state.get(name)), r) for name in ("across", "up"))
    return across, up


def _arrows(answer: Answer, scores: np.ndarray, axes: list[int]) -> Arrows | None:
    """Return the features of two components as arrows for the map; None for a folder and for pixels."""
    if answer.of.table is not None or answer.nouns.kind == "image":
        return None
    X, names = answer.displayed.components[:, axes], answer.of.dataset.feature_names
    found = found_features(answer)
    used = [*found, *(j for j in np.flatnonzero(X.any(axis=1)).tolist() if j not in found)]
    R = correlations(answer.of.dataset.X[:, used], scores[:, axes])
    return Arrows([names[j] for j in used], R, range(len(found)))


def correlations(features: Any, scores: np.ndarray) -> np.ndarray:
    """Return the correlations (a, r) of features (m, a) with scores (m, r); 0 for constant columns."""
    Z = np.asarray(features.todense() if hasattr(features, "todense") else features, float)
    largest = np.abs(Z).max(axis=0, initial=0.0)
    Z = Z / np.where(largest > 0, largest, 1.0)  # squares of extreme numbers would not fit float64
    Z, S = Z - Z.mean(axis=0), scores - scores.mean(axis=0)
    sizes = np.outer(np.linalg.norm(Z, axis=0), np.linalg.norm(S, axis=0))
    return np.clip(np.divide(Z.T @ S, sizes, out=np.zeros_like(sizes), where=sizes > 0), -1, 1)


def thumbnails(of: Chosen) -> Thumbnails | None:
    """Return the images of the drawn samples on one sheet; None for data that are no images."""
    return None if of.dataset.image_shape is None else _sheet(of.content, of.dataset)


@cache.keep()
def _sheet(content: str, _data: Dataset) -> Thumbnails:
    # Pillow is installed with the dashboard, but slow to import.
    from PIL import Image

    assert _data.image_shape is not None
    drawn, (height, width) = drawn_samples(_data.X.shape[0]), _data.image_shape
    m, every = len(drawn), int(drawn[1]) if len(drawn) > 1 else 1
    step = -(-max(height, width) // SIDE)
    X = _data.X[drawn].toarray() if sp.issparse(_data.X) else np.asarray(_data.X[drawn], float)
    images = X.reshape(m, height, width)[:, ::step, ::step]
    low, high = float(images.min()), float(images.max())
    grey = (255 * (images - low) / ((high - low) or 1.0)).astype(np.uint8)
    columns = int(np.ceil(np.sqrt(m)))
    rows, (height, width) = -(-m // columns), grey.shape[1:]
    sheet = np.zeros((rows * columns, height, width), np.uint8)
    sheet[:m] = grey
    sheet = sheet.reshape(rows, columns, height, width).swapaxes(1, 2).reshape(rows * height, columns * width)
    file = io.BytesIO()
    Image.fromarray(sheet).save(file, "JPEG", quality=80)
    url = f"data:image/jpeg;base64,{base64.b64encode(file.getvalue()).decode()}"
    return Thumbnails(url, columns, rows, width, height, every)


def _chosen(answer: Answer, scores: np.ndarray, label: str, rows: list[int]) -> None:
    if not rows:
        st.caption("Draw a lasso around samples to compute again without them, or with no others.")
        return
    data = answer.of.dataset
    counts = f": {counted(label_columns(data)[label], rows)}" if label else ""
    st.markdown(f"**{wording.things(len(rows), 'sample')} chosen**{counts}")
    if data.image_shape is not None:
        alt = f"The first {wording.things(min(SHOWN, len(rows)), 'chosen image')}"
        st.html(wording.drawing(strip(data.X[rows[:SHOWN]], data.image_shape), STYLE, alt))
    else:
        names = ", ".join(data.sample_names[i] for i in rows[:SHOWN])
        st.caption(wording.plain(names + ", …" * (len(rows) > SHOWN)))
    with st.container(horizontal=True):
        if answer.own and answer.of.table is None:
            for key, text, is_left_out in (("only", "Only these", False), ("without", "Without these", True)):
                do = lambda is_left_out=is_left_out: form.with_samples(answer, rows, is_left_out)  # noqa: E731
                buttons.button(text, f"samples_{key}", do, type="tertiary", icon=":material/replay:")
        buttons.download(
            "Chosen samples, CSV",
            lambda: csv_of(score_table(answer, scores).iloc[rows], data),
            f"{answer.of.stem}-chosen-samples.csv",
            key="chosen_samples",
            type="tertiary",
        )


def counted(labels: Any, rows: list[int]) -> str:
    """Return the counts of labels among some samples, most frequent first: ``12 ALL, 3 AML``."""
    names, counts = np.unique([str(labels[i]) for i in rows], return_counts=True)
    order = np.argsort(-counts, kind="stable")
    said = [f"{counts[i]} {wording.plain(names[i])}" for i in order[:MOST_LABELS]]
    return ", ".join(
        [*said, *([f"{len(order) - MOST_LABELS} other labels"] if len(order) > MOST_LABELS else [])]
    )


def score_table(answer: Answer, scores: np.ndarray) -> pd.DataFrame:
    """Return a table with name, labels and scores of each sample."""
    data, one = answer.of.dataset, answer.nouns.one
    frame = pd.DataFrame({"sample": list(data.sample_names)})
    for name, labels in label_columns(data).items():
        frame[name if name not in frame else f"label {name}"] = [str(one) for one in labels]
    for j in range(scores.shape[1]):
        frame[f"{one} {j + 1}"] = scores[:, j]
    return frame


# --- search and outliers -------------------------------------------------------------------------------


def search(answer: Answer) -> None:
    """Draw the input that finds features and samples by their name, and what it finds."""
    nouns, data = answer.nouns, answer.of.dataset
    has_names = nouns.kind != "image"
    example = used_names(data.feature_names, answer.displayed.components[:, 0])[:1] if has_names else []
    example = example or list(data.sample_names[:1])
    wanted = st.text_input(
        "Search",
        placeholder=f"Where is “{short(example[0])}”?" if example else "Where is it?",
        label_visibility="collapsed",
        icon=":material/search:",
        **state.bind("where"),
    )
    if not (wanted or "").strip():
        return
    features = found_features(answer) if has_names else []
    found = [_said(answer, j) for j in features]
    if not data.is_covariance:
        names = [f"**{wording.plain(data.sample_names[i])}**" for i in _matches(data.sample_names, wanted)]
        found += [f"{wording.listed(names)}: with a ring on the map."] if names else []
    st.markdown("  \n".join(found) or f"No name here has “{wording.plain(wanted)}” in it.")


def found_features(answer: Answer) -> list[int]:
    """Return the numbers of the features that the search finds."""
    return _matches(answer.of.dataset.feature_names, state.get("where"))


def _matches(names: Any, wanted: str) -> list[int]:
    """Return the numbers of the names with a text in them, whole names first, at most `MOST_FOUND`."""
    text = (wanted or "").strip().casefold()
    if not text:
        return []
    found = [i for i, name in enumerate(names) if text in str(name).casefold()]
    return sorted(found, key=lambda i: (str(names[i]).casefold() != text, i))[:MOST_FOUND]


def _said(answer: Answer, feature: int) -> str:
    X, data, one = answer.displayed.components, answer.of.dataset, answer.nouns.one
    name = f"**{wording.plain(short(data.feature_names[feature]))}**"
    if X[feature].any():
        j = int(np.argmax(np.abs(X[feature])))
        size = np.abs(X[:, j])
        place = 1 + int(np.sum(size > size[feature]))
        return f"{name} is in {one} {j + 1}, number {place} of {np.count_nonzero(size)} by weight."
    scores = None if data.is_covariance else scores_of(answer)
    if scores is None:
        return f"{name} is in no {one}."
    r = correlations(data.X[:, [feature]], scores)[0]
    j = int(np.argmax(np.abs(r)))
    return f"{name} is in no {one}. It goes most with {one} {j + 1}: correlation {r[j]:.2f}."


def outliers(scores: np.ndarray) -> tuple[int, list[int], float] | None:
    """Return the component, the samples and their share of it, where a few samples make most of a component.

    The share is that of the variance of the scores (m, r). None where no component depends on so few that are
    `FAR` from all others. One of several outliers alone is not named: without it, another would make the
    component.
    """
    if len(scores) < ENOUGH:
        return None
    apart = np.abs(scores - np.median(scores, axis=0))
    is_far = apart > FAR * np.median(apart, axis=0)
    spread = np.square(scores - scores.mean(axis=0))
    spread = spread / np.where(spread.any(axis=0), spread.sum(axis=0), 1)
    for least, count in itertools.product(OUTLYING, range(1, MOST_OUTLIERS + 1)):
        rows = np.argsort(-spread, axis=0, kind="stable")[:count]
        shares = np.take_along_axis(np.where(is_far, spread, 0.0), rows, axis=0).sum(axis=0)
        j = int(np.argmax(shares))
        if shares[j] >= least:
            return j, rows[:, j].tolist(), float(shares[j])
    return None


def say_outliers(answer: Answer) -> None:
    """Draw which samples make most of a component, with a button that asks again without them."""
    scores = scores_of(answer)
    # The scores of a folder are those of some rows, which say nothing about the others.
    found = None if scores is None or answer.of.table is not None else outliers(scores)
    if found is None:
        return
    j, rows, share = found
    names = wording.listed([wording.plain(short(answer.of.dataset.sample_names[i])) for i in rows])
    make = "makes" if len(rows) == 1 else "make"
    with st.container(horizontal=True, vertical_alignment="center"):
        said = f"{names} {make} {wording.down(share)} of {answer.nouns.one} {j + 1}."
        st.markdown(said, width="content")
        if answer.own:
            do = lambda: form.with_samples(answer, rows, True)  # noqa: E731
            label = f"Without {'it' if len(rows) == 1 else 'them'}"
            buttons.button(label, "without_outliers", do, icon=":material/replay:", type="tertiary")
