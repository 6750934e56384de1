"""Draw the features of a component in all samples as a heat map whose columns are sorted by score.

Pages draw `score_map` and state the `separation` of labelled groups beside the samples of one component.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
import scipy.sparse as sp
from numpy.typing import ArrayLike

from nspca.plots.samples import groups_of, names_of
from nspca.plots.theme import add_pixels, add_swatch, largest_weights, name_rows, new_figure
from nspca.presentation.colours import DIVERGING, HUES

TOP, MOST = 40, 400  # features and samples that are drawn at most
_ROW, _AROUND = 19, 150  # pixels of a row of the map, and of all that is not the map
_STRIP, _BETWEEN = 20, 6


def score_map(
    X: Any,
    x: ArrayLike,
    scores: Any,
    *,
    labels: Any = None,
    feature_names: Sequence[str] | None = None,
    sample_names: Sequence[str] | None = None,
) -> go.Figure:
    """Draw each feature of the component in standard deviations from its mean, with samples in increasing
    order of score.

    At most `TOP` features are drawn, those of the largest weights, and at most `MOST` samples, evenly chosen
    by rank.

    Parameters
    ----------
    X : (m, n) array or sparse matrix
    x : (n,) weights of the component
    scores : (m,) scores of the samples
    labels : (m,), optional, drawn as a strip of colours above the map
    feature_names, sample_names : (n,) and (m,) names, optional
    """
    used = largest_weights(x, TOP)
    order = np.argsort(scores, kind="stable")
    order = order[np.unique(np.linspace(0, len(order) - 1, min(len(order), MOST)).astype(int))]
    part = X[:, used]
    part = part.toarray().astype(float) if sp.issparse(part) else np.asarray(part, float)
    spread = part.std(axis=0)
    z = ((part - part.mean(axis=0)) / np.where(spread > 0, spread, 1))[order].T
    features = names_of(feature_names, used, "feature")
    samples = names_of(sample_names, order, "sample")
    many = _counted(len(order), len(scores), "samples")
    text = f"{_counted(len(used), int(np.count_nonzero(x)), 'features')}, {many} sorted by score"
    figure = new_figure(f"Heat map of the component: {text}.", height=_AROUND + _ROW * len(used))
    add_pixels(
        figure,
        z,
        DIVERGING,
        (-3, 3),
        "%{text}<br>%{customdata}<br>%{z:.2f} standard deviations from the mean",
        "standard<br>deviations",
        x=np.arange(len(order)),
        y=np.arange(len(used)),
        customdata=[[f"{sample}, score {scores[i]:.4g}" for i, sample in zip(order, samples, strict=True)]]
        * len(used),
        text=[[feature] * len(order) for feature in features],
    )
    figure.update_xaxes(title_text=f"{many}, smallest score to the largest", showticklabels=False)
    name_rows(figure, features, tickfont={"size": 12})
    return figure if labels is None else _with_strip(figure, np.asarray(labels), order)


def _with_strip(figure: go.Figure, labels: np.ndarray, order: np.ndarray) -> go.Figure:
    """Return the figure with a strip of group colours and names above the map. Colours agree with the figure
    of scores.
    """
    groups = groups_of(labels, len(labels))
    code = np.zeros(len(labels))
    for index, (_, rows) in enumerate(groups):
        code[rows] = index
    colours = [HUES[index] for index in range(len(groups))]
    steps = [
        [(index + side) / len(groups), colour] for index, colour in enumerate(colours) for side in (0, 1)
    ]
    code = code[order]
    names = [groups[int(index)][0] for index in code]
    look: dict[str, Any] = {"x": np.arange(len(order)), "customdata": [names], "yaxis": "y2"}
    add_pixels(figure, code[None], steps, (-0.5, len(groups) - 0.5), "%{customdata}", **look)
    for (name, _), colour in zip(groups, colours, strict=True):
        add_swatch(figure, name, colour)
    inside = figure.layout.height - 94  # the margins of the template
    strip = {"domain": [1 - _STRIP / inside, 1], "visible": False, "anchor": "x"}
    return figure.update_layout(
        yaxis={"domain": [0, 1 - (_STRIP + _BETWEEN) / inside]}, yaxis2=strip, showlegend=True
    )


def separation(scores: Any, labels: Iterable[object]) -> tuple[str, float] | None:
    """Return the label whose scores lie furthest from all others, and the share of pairs in which its sample
    scores higher.

    A pair is one sample with the label and one without; equal scores count half. A share below one half
    means that samples with the label score lower. Returns None when there are not at least two groups.
    """
    labels = np.array([str(label) for label in labels])
    # Equal scores share their mean rank. SciPy's rankdata is the same, in a module that is slow to import.
    _, place, count = np.unique(np.asarray(scores), return_inverse=True, return_counts=True)
    ranks = (np.cumsum(count) - (count - 1) / 2)[place]
    found: list[tuple[str, float]] = []
    for name in np.unique(labels):
        inside = labels == name
        size, others = int(inside.sum()), int((~inside).sum())
        if others:
            found.append((str(name), float((ranks[inside].sum() - size * (size + 1) / 2) / (size * others))))
    return max(found, key=lambda one: abs(one[1] - 0.5), default=None)


def _counted(drawn: int, there: int, what: str) -> str:
    return f"{there} {what}" if drawn == there else f"{drawn} of {there} {what}"
