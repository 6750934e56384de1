"""Draw components of several methods side by side: as images, spectra, word lists, or tables of weights.

The section "Loadings" of the compare page calls `show`, and the section on stability calls `pictures`.
"""

import numpy as np
import streamlit as st

from nspca.dashboard.app import wording
from nspca.dashboard.compare.seen import Seen
from nspca.dashboard.components import figures
from nspca.dashboard.views import component, statement
from nspca.data import Dataset
from nspca.plots.compare import weights_figure
from nspca.plots.components import component_spectrum, component_words
from nspca.plots.joint import parts_figure
from nspca.presentation.numerals import percent_down

LISTED = 12  # maximum words of a list that stands beside others


def show(seen: Seen) -> None:
    """Draw the components of all methods at the shown k."""
    results = seen.of_k.values()
    X = aligned(np.column_stack([result.components[:, 0] for result in results]))
    st.markdown("**Loadings side by side**")
    captions = [
        percent_down(result.value / (seen.problem.leading_eigenvalue or 1.0), statement.DIGITS)
        for result in results
    ]
    picture(seen.data.dataset, X, list(seen.of_k), captions)
    st.caption(
        "In % of the variance of the first principal component."
        + ("" if seen.asked.nonneg else " Of any sign, x and −x are one component: turned alike.")
    )


def aligned(X: np.ndarray) -> np.ndarray:
    """Return X (n, methods) with columns negated where needed, since x and -x are one component.

    The first column gets more positive weight than negative, and no other points away from it.
    """
    first = X[:, 0] * (-1 if X[:, 0].sum() < 0 else 1)
    turn = np.where(X.T @ first < 0, -1.0, 1.0)
    return X * turn


def picture(dataset: Dataset, X: np.ndarray, methods: list[str], captions: list[str]) -> None:
    """Draw the columns of X (n, methods), one for each method, by the kind of the data."""
    titles = [f"{method}: {caption}" for method, caption in zip(methods, captions, strict=True)]
    dense = not dataset.is_covariance and dataset.kind in ("image", "spectrum")
    mean = np.asarray(dataset.X.mean(axis=0)).ravel() if dense else None
    if dataset.kind == "image" and dataset.image_shape is not None and mean is not None:
        pictures(X, dataset, mean, titles, "compare_loadings")
    elif dataset.kind in ("spectrum", "words"):
        _grid(dataset, X, titles, mean)
    else:
        figures.draw(weights_figure(X, dataset.feature_names, titles), "compare_loadings")


def pictures(
    X: np.ndarray,
    dataset: Dataset,
    mean: np.ndarray,
    titles: list[str],
    key: str,
    largest: float | None = None,
) -> None:
    """Draw each column of X (n, r) as an image, in rows that fit the screen.

    All have one colour scale, up to `largest`, which is by default the largest weight.
    """
    largest = largest or float(np.abs(X).max(initial=0.0)) or 1.0
    with st.grid(min(6, len(titles)) if len(titles) != 8 else 4, min_column_width=150):
        for i, title in enumerate(titles):
            figure = parts_figure(
                X[:, [i]], component.grid(dataset), mean=mean, captions=[title], largest=largest, name=title
            )
            figures.draw(figure.update_layout(height=200), f"{key}_{i}")


def _grid(dataset: Dataset, X: np.ndarray, titles: list[str], mean: np.ndarray | None) -> None:
    """Draw the columns of X (n, methods) as spectra or as word lists, a figure for each."""
    spectra = dataset.kind == "spectrum" and dataset.axis is not None
    with st.grid(2 if spectra else 3, min_column_width=300 if spectra else 230):
        for i, title in enumerate(titles):
            with st.container():
                st.markdown(wording.plain(title))
                if spectra:
                    figure = component_spectrum(
                        X[:, i], dataset.axis, dataset.axis_name, mean=mean
                    ).update_layout(height=250, showlegend=False)
                else:
                    figure = component_words(dataset.feature_names, X[:, i], top=LISTED)
                figures.draw(figure, f"compare_loadings_{i}")
