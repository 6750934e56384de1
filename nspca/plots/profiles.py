"""Draw several components of spectra in one figure, in a colour for each, for the page Components."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from nspca.plots.components import stems, with_weights
from nspca.plots.theme import add_curve, new_figure, plain
from nspca.presentation.colours import COLOURS, CONTEXT


def profiles_figure(
    X: ArrayLike, axis: Any, axis_name: str, *, mean: ArrayLike, names: Sequence[str]
) -> go.Figure:
    """Draw each component as stems over the axis, with the mean of the data behind them.

    Parameters
    ----------
    X : (n, r) float64
        Weights.
    axis : (n,) float64
        The place of each feature, such as a wavelength.
    axis_name : str
    mean : (n,) float64
    names : r names, for legend and hover
    """
    X, axis = np.asarray(X, float), np.asarray(axis, float)
    used = int(np.count_nonzero(X.any(axis=1)))
    figure = new_figure(
        f"{X.shape[1]} components over {plain(axis_name) or 'the axis'}: {used} of {X.shape[0]} features are "
        "in one of them.",
        height=400,
        showlegend=True,
    )
    order = np.argsort(axis, kind="stable")
    middle, line = np.asarray(mean, float)[order], {"color": CONTEXT, "width": 1}
    add_curve(figure, axis[order], middle, "mean of the data", yaxis="y2", line=line)
    for j, x in enumerate(X.T):
        name, line = plain(names[j]), {"color": COLOURS[j % len(COLOURS)], "width": 2.5}
        hover = f"{name}<br>%{{x:.4g}}: weight %{{y:.3f}}"
        add_curve(figure, *stems(axis, x), name, hover, line=line, marker={"size": 5})
    figure.update_xaxes(title_text=plain(axis_name))
    figure.update_layout(legend={"y": -0.2, "yanchor": "top"}, margin={"t": 16, "b": 80})
    return with_weights(figure, X, "mean")
