"""Draw one component: its picture, the samples along it, and its weights.

Most pages use parts of this. In each function `x` (n,) has the weights, zero outside the support, and `found`
is the membership of the features, None where it is not known.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

import nspca
from nspca.covariance.moments import moments
from nspca.dashboard.app import tables, wording
from nspca.dashboard.components import figures
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.views import membership
from nspca.data import SAMPLES, Dataset
from nspca.data.export import frame_to_csv
from nspca.plots.components import component_figure
from nspca.plots.samples import score_figure
from nspca.plots.scoremap import score_map, separation
from nspca.plots.theme import largest_weights
from nspca.problem import Problem
from nspca.selection.membership import Membership

COSTS = (
    "A share of the variance of the best possible component. It is at least what is proved, and at most what "
    "a known exchange loses."
)
MOST_BARS = 40  # maximum weights drawn as bars or words
MOST_GROUPS = 12  # maximum different labels that count as groups


def weights(dataset: Dataset, x: np.ndarray, found: Membership | None = None) -> pd.DataFrame:
    """Return a table of the used features with weights and shares, largest first, and their membership."""
    order = largest_weights(x)
    rows = pd.DataFrame(
        {"feature": [dataset.feature_names[j] for j in order], "weight": x[order], "share": x[order] ** 2}
    )
    return rows if found is None else rows.join(membership.columns(dataset, order, found))


def used_names(names: Sequence[str], x: np.ndarray) -> list[str]:
    """Return the names of the features that a component uses, largest weight first."""
    return [str(names[j]) for j in largest_weights(x)]


def explained_names(of: Chosen) -> Sequence[str]:
    """Return the names of the features, each with what it measures where the sample says that."""
    names, sample = of.dataset.feature_names, of.reference.sample
    meanings = SAMPLES[sample].meanings if sample in SAMPLES else {}
    return [f"{name}: {meanings[name]}" if name in meanings else name for name in names]


def all_weights(dataset: Dataset, sweep: nspca.Sweep) -> pd.DataFrame:
    """Return the tables of `weights` of all components of a sweep in one, with their methods and k."""
    parts = [
        weights(dataset, result.components[:, 0]).assign(method=method, k=k)
        for (method, k), result in sweep.results.items()
    ]
    return pd.concat(parts)[["method", "k", "feature", "weight", "share"]]


def grid(dataset: Dataset) -> tuple[int, int]:
    """Return height and width of the images that the rows of a data set are."""
    assert dataset.image_shape is not None  # pages ask for it for images only
    return dataset.image_shape


def plot(
    dataset: Dataset, x: np.ndarray, found: Membership | None = None, top: int = MOST_BARS
) -> partial[go.Figure]:
    """Return the plot of the component, for `figures.draw_plot`."""
    has_mean = dataset.kind in ("image", "spectrum") and not dataset.is_covariance
    mean, spread = moments(dataset.X) if has_mean else (None, None)
    return partial(
        component_figure,
        x,
        kind=dataset.kind,
        image_shape=dataset.image_shape,
        axis=dataset.axis,
        axis_name=dataset.axis_name,
        feature_names=dataset.feature_names,
        mean=mean,
        spread=spread,
        top=top,
        sure=membership.sure(found),
    )


def picture(
    dataset: Dataset,
    x: np.ndarray,
    key: str,
    found: Membership | None = None,
    top: int = MOST_BARS,
    height: int | None = None,
) -> None:
    """Draw the figure of the component, see `plot`."""
    figures.draw_plot(plot(dataset, x, found, top), key, height, same=f"{dataset.name} {dataset.X.shape}")


def along(dataset: Dataset, problem: Problem, x: np.ndarray) -> partial[go.Figure]:
    """Return the plot of the samples by their score along the component."""
    return partial(score_figure, problem.scores(x), dataset.labels, dataset.sample_names)


def samples(dataset: Dataset, problem: Problem, x: np.ndarray, key: str) -> None:
    """Draw the samples along the component, and name the labelled group that its scores set apart most."""
    if dataset.is_covariance:
        st.caption("This data set is a covariance matrix: there are no samples to show along the component.")
        return
    figures.draw_plot(along(dataset, problem, x), key)
    few = dataset.labels is not None and len(np.unique(dataset.labels)) <= MOST_GROUPS
    labels = dataset.labels
    apart = None if not few or labels is None else separation(problem.scores(x), labels)
    if apart is not None:
        name, share = apart
        much = (
            f"{'higher' if share >= 0.5 else 'lower'} than one of another group in "
            f"{wording.down(max(share, 1 - share))} of all pairs"
        )
        st.caption(
            f"A sample of “{wording.plain(name)}” scores {much}. The labels took no part in finding the "
            "component."
        )


def mapped(dataset: Dataset, problem: Problem, x: np.ndarray) -> partial[go.Figure] | None:
    """Return the plot of the used features in all samples, sorted by score; None for other kinds of data."""
    if dataset.is_covariance or dataset.kind != "table" or not x.any():
        return None
    return partial(
        score_map,
        dataset.X,
        x,
        problem.scores(x),
        labels=dataset.labels,
        feature_names=dataset.feature_names,
        sample_names=dataset.sample_names,
    )


def table(
    dataset: Dataset, x: np.ndarray, key: str | None = None, found: Membership | None = None
) -> tuple[list[int], list[str]]:
    """Draw the table of weights, with the membership of each feature and the cost of leaving it out."""
    rows = weights(dataset, x, found)
    if found is not None:
        costs = zip(rows.pop("costs_at_least"), rows.pop("costs_at_most"), strict=True)
        rows["costs"] = [membership.cost_words(*cost) for cost in costs]
        rows = rows.drop(columns="instead")
    choice: dict[str, Any] = {"key": key, "on_select": "rerun", "selection_mode": "multi-row"} if key else {}
    shown = tables.show(
        rows,
        **choice,
        alt="Features of the component with their weights, largest first",
        column_config={
            "feature": st.column_config.TextColumn("Feature"),
            "weight": st.column_config.NumberColumn("Weight", format="%.4f"),
            "share": st.column_config.ProgressColumn(
                "Share of the component",
                format="percent",
                min_value=0,
                max_value=float(rows["share"].max()) if len(rows) else 1.0,
            ),
            "place": st.column_config.TextColumn("Needed, proved", help=membership.HELP),
            "costs": st.column_config.TextColumn("Without it, the best answer loses", help=COSTS),
        },
    )
    return (list(shown.selection.rows) if key else []), list(rows["feature"])


def csv_of(frame: pd.DataFrame, dataset: Dataset) -> bytes:
    """Return a table as CSV, with two further columns, the name and the source of the data."""
    return frame_to_csv(frame.assign(data=dataset.name, source=wording.SOURCES[dataset.source]))
