"""Figures about the data: scores of the samples, the spectrum of the covariance, previews.

Pages with samples draw `score_figure`, and the data page draws the others.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from nspca.plots.theme import add_bars, add_curve, add_pixels, light, new_figure, plain
from nspca.presentation.colours import FIELD, HUES, MAIN, TOGETHER

GOLDEN_RATIO = (5**0.5 - 1) / 2
MOST_GROUPS = 12
"""Maximum number of groups. The samples of rarer labels share the last one: more colours look alike."""
MOST_POINTS = 4000
"""Maximum number of samples drawn as points. A browser still answers a lasso around this many at once."""
MOST_EIGENVALUES = 60
"""Maximum number of eigenvalues drawn."""
MOST_BLOCKS = 120, 240
"""Maximum number of blocks of a table, down and across."""


def groups_of(labels: Any, count: int, most: int = MOST_GROUPS) -> list[tuple[str, np.ndarray]]:
    """Return the samples by label, as (name, numbers of the samples), in at most `most` groups.

    Groups come in order of appearance; of more labels the most frequent come first, and the others share the
    last group. Without `labels` all `count` samples are one group.
    """
    if labels is None:
        return [("samples", np.arange(count))]
    text = np.array([str(label) for label in labels])
    names, first, inverse, sizes = np.unique(text, return_index=True, return_inverse=True, return_counts=True)
    few = len(names) <= most
    keep = np.argsort(first) if few else np.argsort(-sizes, kind="stable")[: most - 1]
    groups = [(plain(names[g]), np.flatnonzero(inverse == g)) for g in keep]
    rest = np.flatnonzero(~np.isin(inverse, keep))
    return [*groups, ("other labels", rest)] if rest.size else groups


def drawn_samples(count: int) -> np.ndarray:
    """Return the numbers of the samples to draw: all of `count`, or `MOST_POINTS` at most."""
    return np.arange(0, count, max(1, -(-count // MOST_POINTS)))


def names_of(names: Sequence[str] | None, numbers: np.ndarray, noun: str) -> list[str]:
    """Return names of features or samples as Plotly text; without `names` they are numbered from 1."""
    known = [] if names is None else names
    return [plain(known[i]) if len(known) else f"{noun} {i + 1}" for i in numbers.tolist()]


SYMBOLS = (
    *("circle", "diamond", "square", "triangle-up", "cross", "x"),
    *("star", "triangle-down", "pentagon", "hourglass", "hexagram", "bowtie"),
)
"""A mark for each of `MOST_GROUPS` groups."""


def score_figure(
    scores: ArrayLike, labels: Any = None, sample_names: Sequence[str] | None = None
) -> go.Figure:
    """Draw the samples along one component by their scores, in a strip for each label.

    Of more than `MOST_POINTS` samples, evenly spaced ones are drawn, and the figure says so.
    """
    scores = np.asarray(scores, float).ravel()
    drawn = drawn_samples(len(scores))
    labels = None if labels is None else np.asarray(labels)[drawn]
    groups = groups_of(labels, len(drawn))
    every = f"{len(scores):,} samples"
    count = f"{len(drawn):,} of {every}" if len(drawn) < len(scores) else every
    figure = new_figure(
        f"Scores: {count} along the component, {len(groups)} group{'s' * (len(groups) > 1)}.", height=400
    )
    size = 7 if len(drawn) < 1000 else 4
    for index, (group, rows) in enumerate(groups):
        offsets = np.arange(len(rows)) * GOLDEN_RATIO % 1 - 0.5  # look random, and are the same each time
        add_curve(
            figure,
            light(scores[drawn[rows]]),
            light(-index + 0.7 * offsets),
            group,
            f"%{{customdata}} ({group})<br>score %{{x:.4g}}",
            customdata=names_of(sample_names, drawn[rows], "sample"),
            marker={"size": size, "opacity": 0.7, "color": HUES[index], "symbol": SYMBOLS[index]},
        )
    figure.update_layout(showlegend=False)
    figure.update_xaxes(title_text=f"score along the component ({count})")
    if labels is None:
        return figure.update_yaxes(visible=False, range=[-0.9, 0.9])
    return figure.update_yaxes(
        tickvals=[-i for i in range(len(groups))],
        ticktext=[g for g, _ in groups],
        range=[-len(groups) + 0.4, 0.6],
        showgrid=False,
        zeroline=False,
    )


def spectrum_figure(eigenvalues: ArrayLike, total: float) -> go.Figure:
    """Draw the share of the total variance in each of the leading eigenvalues (bars) and in the first j
    together (line).
    """
    shares = 100 * np.asarray(eigenvalues, float)[:MOST_EIGENVALUES] / total
    together = np.minimum(np.cumsum(shares), 100)
    rank = np.arange(1, len(shares) + 1)
    alt = (
        f"Spectrum: the first eigenvalue carries {shares[0]:.3g} % of the total variance, {len(shares)} "
        f"together {together[-1]:.4g} %."
    )
    figure = new_figure(alt, height=320)
    hover = "Eigenvalue %{x} carries %{y:.3g} % of the total variance."
    add_bars(figure, rank, shares, MAIN, "one eigenvalue", hover)
    hover, look = "The first %{x} together carry %{y:.4g} %.", {"color": TOGETHER}
    add_curve(figure, rank, together, "all up to here", hover, line=look, marker={"size": 4})
    figure.update_xaxes(title_text="eigenvalue, largest first")
    return figure.update_yaxes(title_text="% of total variance", range=[0, 104])


def sparsity_figure(X: Any) -> go.Figure:
    """Draw the share of nonzero entries of X (m, n), sparse or dense, in each block of samples × features."""
    m, n = X.shape
    i, j = X.nonzero()
    rows, columns = min(MOST_BLOCKS[0], m), min(MOST_BLOCKS[1], n)
    counts = np.zeros((rows, columns))
    np.add.at(counts, (i * rows // m, j * columns // n), 1)
    tall = np.bincount(np.arange(m) * rows // m, minlength=rows)
    wide = np.bincount(np.arange(n) * columns // n, minlength=columns)
    share = 100 * counts / np.outer(tall, wide)
    text = f"{len(i)} of {m} × {n} entries are not zero ({100 * len(i) / (m * n):.3g} %)"
    figure = new_figure(f"Sparsity: {text}.", height=380, title={"text": text, "font": {"size": 14}})
    # The square root keeps the thin parts visible beside the few full columns.
    axes: dict[str, Any] = {"x0": n / columns / 2, "dx": n / columns, "y0": m / rows / 2, "dy": m / rows}
    hover = "%{customdata:.2g} % of the entries near sample %{y:.0f},<br>feature %{x:.0f} are not zero."
    add_pixels(figure, np.sqrt(share), FIELD, hover=hover, customdata=light(share), **axes)
    figure.update_xaxes(title_text="features")
    return figure.update_yaxes(title_text="samples", autorange="reversed")
