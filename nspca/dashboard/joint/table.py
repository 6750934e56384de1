"""The view of tables of neither images nor texts: a map of samples, a heat map, and lists of features."""

from functools import partial

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from nspca.covariance.moments import moments
from nspca.dashboard.components import figures
from nspca.dashboard.joint import annotations, lists, samples
from nspca.dashboard.runs.answer import Answer
from nspca.dashboard.views import component
from nspca.plots.components import profiles_figure
from nspca.plots.scoremap import alike_map, score_map

so_far, recurring, fates = lists.so_far, lists.recurring, lists.fates


def picture(answer: Answer) -> None:
    """Draw the map of samples beside the features of the components in all samples."""
    is_covariance = answer.of.dataset.is_covariance
    left, right = st.columns(2, gap="medium")
    with left:
        if is_covariance:
            lists.draw(answer)
            lists.name_and_copy(answer)
            samples.search(answer)
        else:
            samples.show(answer)
    with right:
        plot = _heat(answer)
        if plot is not None:
            figures.draw_plot(plot, f"heat_{answer.id}", same=answer.id)
        if not is_covariance:
            samples.say_outliers(answer)
            samples.search(answer)


def look(answer: Answer) -> None:
    """Draw the lists of features, and how far the components go with annotations."""
    if answer.of.dataset.is_covariance:
        return  # the picture has it all
    lists.draw(answer)
    left, right = st.columns(2, gap="large")
    with left:
        lists.name_and_copy(answer)
    with right:
        annotations.show(answer, left)


def _heat(answer: Answer) -> "partial[go.Figure] | None":
    data, X = answer.of.dataset, answer.displayed.components
    marked = tuple(samples.found_features(answer))
    if data.is_covariance:
        return partial(alike_map, data.X, X, feature_names=data.feature_names, marked=marked)
    if data.kind == "spectrum" and data.axis is not None:
        named = lists.names_of(answer.method)
        titles = [f"{j} {named.get(j, '')}".strip() for j in range(1, X.shape[1] + 1)]
        return partial(profiles_figure, X, data.axis, data.axis_name, mean=moments(data.X)[0], names=titles)
    scores = samples.scores_of(answer)
    if scores is None:
        return None
    columns = samples.label_columns(data)
    labels = columns.get(samples.label_of(columns))
    if labels is not None and np.asarray(labels).dtype.kind in "iuf":
        labels = None
    names = {"feature_names": data.feature_names, "sample_names": data.sample_names}
    return partial(score_map, data.X, X, scores, labels=labels, marked=marked, **names)


def drawn(answer: Answer) -> dict[str, go.Figure]:
    """Return the figures for export, by file name: the picture, and one for each component."""
    data, best = answer.of.dataset, answer.method
    X = answer.displayed.components
    plot = _heat(answer)
    whole = {} if plot is None else {f"all-components-by-{best}": plot()}
    return whole | {f"component-{j:02}-by-{best}": component.plot(data, x)() for j, x in enumerate(X.T, 1)}
