"""Draw several components of spectra in one figure, in a colour for each, for the page Components."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from nspca.plots.theme import add_curve, new_figure, plain
from nspca.presentation.colours import COLOURS, CONTEXT


def profiles_figure(
    X: ArrayLike,
    axis: Any,
    axis_name: str = "",
    *,
    mean: ArrayLike | None = None,
    names: Sequence[str] | None = None,
) -> go.Figure:
    """Draw each component as stems over the axis, with the mean of the data behind them.

    Parameters
    ----------
    X : (n, r) float64
        Weights.
    axis : (n,) float64
        The place of each feature, such as a wavelength.
    axis_name : str
    mean : (n,) float64, optional
    names : r names, for legend and hover
    """
    X, axis = np.asarray(X, float), np.asarray(axis, float)
    names = names or [f"component {j + 1}" for j in range(X.shape[1])]
    used = int(np.count_nonzero(X.any(axis=1)))
    figure = new_figure(
        f"{X.shape[1]} components over {plain(axis_name) or 'the axis'}: {used} of {X.shape[0]} features are "
        "in one of them.",
        height=400,
        showlegend=True,
    )
    if mean is not None:
        order = np.argsort(axis, kind="stable")
        add_curve(
            figure,
            axis[order],
            np.asarray(mean, float)[order],
            "mean of the data",
            yaxis="y2",
            line={"color": CONTEXT, "width": 1},
        )
    for j, x in enumerate(X.T):
        at = np.flatnonzero(x)
        stems = np.column_stack([np.zeros(at.size), x[at], np.full(at.size, np.nan)]).ravel()
        add_curve(
            figure,
            np.repeat(axis[at], 3),
            stems,
            plain(names[j]),
            f"{plain(names[j])}<br>%{{x:.4g}}: weight %{{y:.3f}}",
            line={"color": COLOURS[j % len(COLOURS)], "width": 2.5},
            marker={"size": 5},
        )
    top, low = 1.15 * X.max(initial=0.0) or 1.0, 1.1 * X.min(initial=0.0)
    figure.update_xaxes(title_text=plain(axis_name))
    figure.update_layout(legend={"y": -0.2, "yanchor": "top"}, margin={"t": 16, "b": 80})
    weights = {"title": {"text": "weight"}, "range": [low, top]}
    if mean is None:
        return figure.update_layout(yaxis=weights)
    behind = {"side": "right", "title": {"text": "mean"}, "showgrid": False, "rangemode": "tozero"}
    # The weights lie on the first axis, so the second one is put beneath them.
    return figure.update_layout(yaxis=weights | {"overlaying": "y2", "side": "left"}, yaxis2=behind)
