"""Draw one topic as LDAvis shows it: the weight of each word in the topic over the word's overall
frequency. The page Components draws it.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from nspca.plots.theme import add_bars, largest_weights, name_rows, new_figure, plain
from nspca.presentation.colours import CONTEXT, NEGATIVE, POSITIVE, fade

MOST = 20
"""Maximum number of words drawn."""


def topic_figure(x: ArrayLike, names: Sequence[str], overall: ArrayLike, *, what: str) -> go.Figure:
    """Draw the weights of a topic as bars, largest first, over the overall frequency of each word.

    Weights and frequencies have an axis each.

    Parameters
    ----------
    x : (n,) weights
    names : n words
    overall : (n,) overall frequency of each word
    what : what `overall` counts, for the upper axis
    """
    x, overall = np.asarray(x, float), np.asarray(overall, float)
    order = largest_weights(x, MOST)
    rows = np.arange(order.size)
    labels = [plain(names[i], 28) for i in order]
    says = ", ".join(f"{label} {x[i]:.2f}" for label, i in zip(labels[:5], order[:5], strict=True))
    figure = new_figure(
        f"Words of a topic by weight, over their overall frequency: {says}.",
        height=max(260, 154 + 24 * order.size),
    )
    common: dict[str, Any] = {"orientation": "h", "customdata": labels}
    grey, hover = fade(CONTEXT, 0.35), f"%{{customdata}}: %{{x:,.5g}} {what}"
    add_bars(figure, overall[order], rows, grey, what, hover, xaxis="x2", width=0.86, **common)
    colours, hover = [NEGATIVE if x[i] < 0 else POSITIVE for i in order], "%{customdata}: weight %{x:.3f}"
    add_bars(figure, np.abs(x[order]), rows, colours, "weight in the topic", hover, width=0.46, **common)
    name_rows(figure, labels, zeroline=False, fixedrange=True)
    top = float(overall[order].max(initial=0.0)) or 1.0
    figure.update_layout(
        barmode="overlay", showlegend=True, margin={"t": 70, "b": 84},
        xaxis={"title": {"text": "weight in the topic"}, "rangemode": "tozero", "fixedrange": True},
        xaxis2={"title": {"text": what}, "overlaying": "x", "side": "top", "range": [0, 1.05 * top],
        "showgrid": False, "fixedrange": True},
        legend={"yref": "container", "y": 0, "yanchor": "bottom"},
    )  # fmt: skip
    return figure
