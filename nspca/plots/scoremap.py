"""Draw the features of components in all samples as a heat map.

Pages draw `score_map` and state the `separation` of labelled groups beside the samples of one component.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import plotly.graph_objects as go
import scipy.sparse as sp
from numpy.typing import ArrayLike

from nspca.plots.joint import hue
from nspca.plots.samples import groups_of, names_of
from nspca.plots.theme import add_pixels, add_swatch, largest_weights, name_rows, new_figure, plain
from nspca.presentation.colours import DIVERGING, HUES
from nspca.presentation.phrases import symbol

TOP, MOST = 40, 400  # features of one component and samples that are drawn at most
MOST_ROWS, MOST_NAMED = 120, 24  # features of several components that are drawn, and that are named
_ROW, _AROUND = 19, 150  # pixels of a row of the map, and of all that is not the map
_SEVERAL = 400  # pixels of the map of several components
_STRIP, _BETWEEN = 20, 6
MARKED = "#000000"  # of a row that was searched: the map has every other colour


def score_map(
    X: Any,
    x: ArrayLike,
    scores: ArrayLike,
    *,
    labels: Any = None,
    feature_names: Sequence[str] | None = None,
    sample_names: Sequence[str] | None = None,
    marked: Sequence[int] = (),
) -> go.Figure:
    """Draw each feature of components in standard deviations from its mean, with a column for each sample.

    The components x are (n,) or (n, r). The samples of one component are in increasing order of score. Those
    of several are in the order of their labels, or else of the component along which they score highest. At
    most `MOST` samples are drawn, evenly chosen by rank, and of each component the features of the largest
    weights. Labels are a strip of colours above the map, and rows of `marked` features have a frame.
    """
    W, S = (np.asarray(one, float) for one in (x, scores))
    W, S = W.reshape(len(W), -1), S.reshape(len(S), -1)
    r = W.shape[1]
    each = TOP if r == 1 else max(3, MOST_ROWS // r)
    blocks = [largest_weights(w, each) for w in W.T]
    used = np.concatenate(blocks)
    order = _sample_order(S, labels)
    part = X[:, used]
    part = part.toarray().astype(float) if sp.issparse(part) else np.asarray(part, float)
    spread = part.std(axis=0)
    z = ((part - part.mean(axis=0)) / np.where(spread > 0, spread, 1))[order].T
    features = names_of(feature_names, used, "feature")
    samples = names_of(sample_names, order, "sample")
    many = _counted(len(order), len(S), "samples")
    all_features = _counted(len(used), int(np.count_nonzero(W)), "features")
    what, how = ("component", "sorted by score") if r == 1 else (f"{r} components", "side by side")
    height = _AROUND + _ROW * len(used) if r == 1 else _SEVERAL
    figure = new_figure(f"Heat map of the {what}: {all_features}, {many} {how}.", height=height)
    said = samples
    if r == 1:
        said = [f"{sample}, score {S[i, 0]:.4g}" for i, sample in zip(order, samples, strict=True)]
    add_pixels(
        figure,
        z,
        DIVERGING,
        (-3, 3),
        "%{text}<br>%{customdata}<br>%{z:.2f} standard deviations from the mean",
        "standard<br>deviations",
        x=np.arange(len(order)),
        y=np.arange(len(used)),
        customdata=[said] * len(used),
        text=[[feature] * len(order) for feature in features],
    )
    title = f"{many}, smallest score to the largest" if r == 1 else many
    figure.update_xaxes(title_text=title, showticklabels=False, ticks="")
    if r > 1:
        figure.update_layout(margin={"t": 12, "b": 46, "r": 12})
    _name_features(figure, blocks, features, marked, len(order))
    return figure if labels is None else _with_strip(figure, np.asarray(labels), order, has_legend=r == 1)


def _sample_order(S: np.ndarray, labels: Any) -> np.ndarray:
    if S.shape[1] == 1:
        order = np.argsort(S[:, 0], kind="stable")
    else:
        spread = S.std(axis=0)
        high = (S - S.mean(axis=0)) / np.where(spread > 0, spread, 1)
        group = np.argmax(high, axis=1)
        if labels is not None:
            for index, (_, rows) in enumerate(groups_of(labels, len(S))):
                group[rows] = index
        order = np.lexsort((-high.max(axis=1), group))
    return order[np.unique(np.linspace(0, len(order) - 1, min(len(order), MOST)).astype(int))]


def _name_features(
    figure: go.Figure,
    blocks: Sequence[np.ndarray],
    names: Sequence[str],
    marked: Sequence[int],
    columns: int,
) -> None:
    """Name the rows of a map and frame the `marked` ones. A low map of many rows has the first three names of
    each component.
    """
    name_rows(figure, names, tickfont={"size": 12})
    if figure.layout.height == _SEVERAL and len(names) > MOST_NAMED:
        ends = np.cumsum([0, *map(len, blocks)])
        texts = []
        for j, (start, end) in enumerate(pairwise(ends)):
            first = "<br>".join(plain(symbol(name), 14) for name in names[start : min(start + 3, end)])
            texts.append(f'<span style="color:{hue(j)}"><b>{j + 1}</b></span> {first}')
        figure.update_yaxes(tickvals=(ends[:-1] + ends[1:] - 1) / 2, ticktext=texts, tickfont={"size": 11})
        for end in ends[1:-1]:
            figure.add_hline(y=end - 0.5, line={"color": "rgba(128,128,128,0.9)", "width": 2})
    for row in np.flatnonzero(np.isin(np.concatenate(blocks), np.asarray(marked, int))).tolist():
        frame = {"x0": -0.5, "x1": columns - 0.5, "y0": row - 0.5, "y1": row + 0.5}
        figure.add_shape(type="rect", line={"color": MARKED, "width": 2}, **frame)
        look = {"bgcolor": MARKED, "font": {"size": 12, "color": "white"}, "showarrow": False}
        text = plain(symbol(names[row]), 24)
        figure.add_annotation(x=columns - 0.5, y=row, xanchor="right", text=text, **look)


def _with_strip(figure: go.Figure, labels: np.ndarray, order: np.ndarray, has_legend: bool) -> go.Figure:
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
        if has_legend:
            add_swatch(figure, name, colour)
    inside = figure.layout.height - 94  # the margins of the template
    strip = {"domain": [1 - _STRIP / inside, 1], "visible": False, "anchor": "x"}
    return figure.update_layout(
        yaxis={"domain": [0, 1 - (_STRIP + _BETWEEN) / inside]}, yaxis2=strip, showlegend=has_legend
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


def alike_map(
    A: np.ndarray, X: ArrayLike, *, feature_names: Sequence[str] | None = None, marked: Sequence[int] = ()
) -> go.Figure:
    """Draw the correlations of the features that components (n, r) use, from their covariance A (n, n).

    The rows of `marked` features get a frame and their name.
    """
    W = np.asarray(X, float)
    each = max(3, MOST_ROWS // W.shape[1])
    blocks = [largest_weights(w, each) for w in W.T]
    used = np.concatenate(blocks)
    spread = np.sqrt(np.clip(np.diag(A)[used], 0, None))
    spread = np.where(spread > 0, spread, 1)
    R = A[np.ix_(used, used)] / np.outer(spread, spread)
    names = names_of(feature_names, used, "feature")
    figure = new_figure(
        f"Correlations of the {len(used)} features of {W.shape[1]} components.", height=_SEVERAL
    )
    hover = "%{customdata}: correlation %{z:.2f}"
    said = [[f"{one} and {other}" for other in names] for one in names]
    add_pixels(figure, R, DIVERGING, (-1, 1), hover, "correlation", customdata=said)
    figure.update_xaxes(showticklabels=False, ticks="")
    figure.update_layout(margin={"t": 12, "b": 20, "r": 12})
    _name_features(figure, blocks, names, marked, len(used))
    return figure
