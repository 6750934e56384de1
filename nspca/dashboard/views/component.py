"""One component with everything about it: drawn as what it is, its samples, its weights, its proof, and what can be taken home."""

import numpy as np
import pandas as pd
import streamlit as st

from nspca.dashboard.browser import figures
from nspca.dashboard.chosen import Chosen
from nspca.dashboard.runs import request
from nspca.dashboard.runs.request import Request
from nspca.dashboard.shell import words
from nspca.data import Dataset
from nspca.data.export import frame_to_csv
from nspca.plots import component_figure, kind_words, score_figure
from nspca.problem import Problem
from nspca.result import Result


def weights(dataset: Dataset, x: np.ndarray) -> pd.DataFrame:
    """The features in use with their weights and shares, largest first."""
    order = np.argsort(-np.abs(x), kind="stable")[: np.count_nonzero(x)]
    return pd.DataFrame({"feature": [dataset.feature_names[j] for j in order], "weight": x[order], "share": x[order] ** 2})


def statement(problem: Problem, result: Result, k: int) -> None:
    """What was found, what is proved about it, and by whom."""
    found = result.value / problem.leading_eigenvalue if problem.leading_eigenvalue else 0.0
    certificate = result.certificate
    sentence = words.proof(result.ratio)
    st.markdown(f"#### {sentence[0].upper()}{sentence[1:]}.")
    sign = "nonnegative " if problem.nonneg else ""
    line = f"This component uses {words.things(np.count_nonzero(result.components[:, 0]), 'feature')} of {problem.n:,} "
    line += f"and explains a variance of {words.number(result.value)}, that is {100 * found:.2f} % of the leading eigenvalue"
    line += f" and {100 * result.value / (problem.total_variance or 1.0):.2f} % of the total variance."
    if certificate is not None:
        line += f" No {sign}component with at most {words.things(k, 'feature')} can explain more than {words.bound(certificate.upper)}: "
        line += f"proved by {words.plain(kind_words(certificate.kind))}."
    st.markdown(line)


def picture(dataset: Dataset, x: np.ndarray, key: str) -> None:
    """The component as an image, a spectrum, a word list or ranked bars."""
    dense = dataset.kind in ("image", "spectrum") and not dataset.is_covariance
    figure = component_figure(
        x,
        kind=dataset.kind,
        image_shape=dataset.image_shape,
        axis=dataset.axis,
        axis_name=dataset.axis_name,
        feature_names=dataset.feature_names,
        mean=dataset.X.mean(axis=0) if dense else None,
        spread=dataset.X.std(axis=0) if dense else None,
    )
    figures.draw(figure, key)


def samples(dataset: Dataset, problem: Problem, x: np.ndarray, key: str) -> None:
    """Where the samples lie along the component."""
    if dataset.is_covariance:
        st.caption("This data set is a covariance matrix: there are no samples to show along the component.")
        return
    figures.draw(score_figure(problem.scores(x), dataset.labels, dataset.sample_names, names=("the component", "")), key)


def table(dataset: Dataset, x: np.ndarray) -> None:
    """Weights with names; the share is what a feature's square adds to the component's length of one."""
    rows = weights(dataset, x)
    st.dataframe(
        rows,
        hide_index=True,
        alt="Features of the component with their weights, largest first",
        column_config={
            "feature": st.column_config.TextColumn("Feature"),
            "weight": st.column_config.NumberColumn("Weight", format="%.4f"),
            "share": st.column_config.ProgressColumn(
                "Share of the component", format="percent", min_value=0, max_value=float(rows["share"].max()) if len(rows) else 1.0
            ),
        },
    )


def downloads(about: Chosen, asked: Request, result: Result, k: int, method: str, frame: pd.DataFrame) -> None:
    """The sweep, this component, and the Python that makes them again."""
    dataset, stem = about.dataset, about.stem
    with st.container(horizontal=True):
        st.download_button(
            "Sweep, CSV",
            lambda: frame_to_csv(labelled(frame, dataset)),
            f"{stem}-sweep.csv",
            "text/csv",
            icon=":material/download:",
            on_click="ignore",
        )
        st.download_button(
            "Component, CSV",
            lambda: frame_to_csv(labelled(weights(dataset, result.components[:, 0]), dataset)),
            f"{stem}-k{k}.csv",
            "text/csv",
            icon=":material/download:",
            on_click="ignore",
        )
    with st.expander("Python that reproduces this exactly", icon=":material/code:"):
        st.code(request.snippet(asked, k, method, dataset.is_covariance), language="python")


def labelled(frame: pd.DataFrame, dataset: Dataset) -> pd.DataFrame:
    """A table that still says what it is about when it has left the page."""
    return frame.assign(data=dataset.name, source=words.SOURCES[dataset.source])
