"""Draw samples on a map: the scores along one component against those along another, coloured by a label.

The pages about several components draw `sample_map`, and `chosen_samples` reads what a visitor selects there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from nspca.plots.samples import MOST_GROUPS, SYMBOLS, drawn_samples, groups_of, names_of
from nspca.plots.theme import add_curve, colorbar, light, new_figure, plain
from nspca.presentation.colours import CHOSEN, CONTEXT, FIELD, HUES, fade
from nspca.presentation.phrases import symbol

MOST_ARROWS = 6
"""Maximum number of arrows: more of them would hide the samples and each other."""
DEVIATIONS = 2.0
"""Half the length of an ellipse around a group, in standard deviations: it holds most of the group."""
APART = 0.8, 0.17
"""Minimum difference of two arrows, across or up, in correlations: their names would hide each other."""
MOST_MARKS = 48
"""Maximum groups of a colour and a mark of their own."""
IN_ELLIPSE = 4
"""Minimum samples of a group that gets an ellipse."""
HALO = ", ".join(["0 0 3px var(--st-background-color, white)"] * 3)
"""Shadow of the names of arrows, in the colour of the page, so that they can be read on points."""
EDGE = 0.08
"""Distance of an outlier from the range of all others, as a part of this range."""
REACH = 0.8
"""Length of an arrow of correlation 1, in units of the largest score on its axis."""


@dataclass(frozen=True)
class Arrows:
    """Features as arrows on a map of samples, by their correlations (a, 2) with the scores on both axes.

    The `marked` ones, by their places, are drawn in any case and in a colour of their own.
    """

    names: Sequence[str]
    correlations: ArrayLike
    marked: Sequence[int] = ()


def sample_map(
    scores: ArrayLike,
    labels: Any = None,
    sample_names: Sequence[str] | None = None,
    *,
    axes: Sequence[str] = ("component 1", "component 2"),
    label: str = "",
    arrows: Arrows | None = None,
    found: Sequence[int] = (),
    far: Sequence[int] = (),
) -> go.Figure:
    """Draw samples by their scores (m, 2), with names on hover and an ellipse for each group.

    Each point carries the number of its sample as the first entry of its ``customdata``. Labels that are
    numbers of many values become a colour scale, others become groups of their own colour and symbol. Of more
    than `MOST_POINTS` samples, evenly spaced ones are drawn, and the figure says so.

    `MOST_ARROWS` arrows are drawn, those marked and the longest others. An arrow of correlation 1 has the
    length `REACH` times the largest score. Samples that were `found` have a ring and their name. Outliers
    `far` outside of the range of all others stand at its edge with their names; then there are no arrows.
    """
    S = np.asarray(scores, float)
    drawn = drawn_samples(len(S))
    S, far = _at_edge(S, list(far))
    drawn = drawn[~np.isin(drawn, far)]
    count = f"{len(drawn):,} of {len(S):,} samples" if len(drawn) < len(S) else f"{len(S):,} samples"
    names = names_of(sample_names, drawn, "sample")
    given = None if labels is None else np.asarray(labels)[drawn]
    groups_said = [""] * len(drawn) if given is None else [plain(one) for one in given]
    data = [[int(i), *said] for i, *said in zip(drawn, names, groups_said, strict=True)]
    marker = {"size": 8 if len(drawn) < 1000 else 5, "opacity": 0.75}
    figure = new_figure("", height=400)
    named = False
    if given is not None and given.dtype.kind in "iuf" and len(np.unique(given)) > MOST_GROUPS:
        said = f"coloured by {plain(label) or 'label'}"
        scale = {"color": light(given), "colorscale": FIELD, "colorbar": colorbar(plain(label))}
        _points(figure, S[drawn], data, np.arange(len(drawn)), plain(label), marker | scale)
    else:
        groups = groups_of(given, len(drawn), MOST_MARKS)
        is_many = len(groups) > MOST_GROUPS  # colours repeat with other marks, and names stand in the hover
        named = given is not None and not is_many
        said = "" if given is None else f"{len(groups)} groups" if len(groups) > 1 else "1 group"
        for index, (group, rows) in enumerate(groups):
            turn, place = divmod(index, MOST_GROUPS)
            look = {"color": HUES[place], "symbol": SYMBOLS[(place + turn) % MOST_GROUPS]}
            if given is not None and len(rows) >= IN_ELLIPSE and not is_many:
                _ellipse(figure, S[drawn[rows]], HUES[index], group)
            _points(figure, S[drawn], data, rows, group, marker | look)
    figure.update_layout(showlegend=named, dragmode="lasso")
    figure.update_layout(margin={"t": 36, "b": 46, "l": 46, "r": 12})
    figure.update_xaxes(title_text=f"along {plain(axes[0])}")
    figure.update_yaxes(title_text=f"along {plain(axes[1])}")
    if found:
        ring = {"size": 18, "symbol": "circle-open", "color": CHOSEN, "line": {"width": 3}}
        names = names_of(sample_names, np.asarray(found), "sample")
        _named(figure, S[list(found)], names, "top center", marker=ring, hoverinfo="skip")
    if far:
        names = names_of(sample_names, np.asarray(far), "sample")
        _draw_far(figure, S[far], np.asarray(scores, float)[far], far, names)
    arrows = None if far else arrows  # the correlations are those of the outliers
    if arrows is not None:
        _draw_arrows(figure, S, arrows)
    features = "" if arrows is None else "the strongest features as arrows"
    parts = [f"{count} along {axes[0]} and {axes[1]}", said, features]
    figure.layout.meta = {"alt": f"Map of samples: {', '.join(filter(None, parts))}."}
    return figure


def chosen_samples(selection: Any, count: int) -> list[int]:
    """Return the numbers of the samples that a viewer put a box or a lasso around, in increasing order.

    The `selection` has the ``customdata`` of each point. It comes from a browser, so whatever is none of
    `count` samples is left out.
    """
    found = set()
    for data in selection if isinstance(selection, list) else []:
        first = data[0] if isinstance(data, list | tuple) and data else None
        if isinstance(first, int) and not isinstance(first, bool) and 0 <= first < count:
            found.add(first)
    return sorted(found)


def _points(
    figure: go.Figure, S: np.ndarray, data: list[list[Any]], rows: Any, name: str, marker: dict[str, Any]
) -> None:
    x, y = light(S[rows].T)
    hover = "<b>%{customdata[1]}</b><br>%{customdata[2]}<br>%{x:.4g}, %{y:.4g}"
    own = [data[i] for i in rows]
    add_curve(figure, x, y, name, hover, marker=marker, legendgroup=name, customdata=own)


def _at_edge(S: np.ndarray, far: list[int]) -> tuple[np.ndarray, list[int]]:
    """Return scores (m, 2) with outliers at the edge of the range of all others, and those that moved."""
    rest, moved = np.delete(S, far, axis=0), S.copy()
    room = EDGE * np.ptp(rest, axis=0)
    moved[far] = np.clip(S[far], rest.min(axis=0) - room, rest.max(axis=0) + room)
    return moved, [i for i in far if (moved[i] != S[i]).any()]


def _draw_far(figure: go.Figure, S: np.ndarray, true: np.ndarray, far: list[int], names: list[str]) -> None:
    """Draw outliers at the edge `S` (a, 2) as triangles towards their `true` scores."""
    x, y = np.sign(true - S).T
    ways = np.select([x > 0, x < 0, y > 0], ["right", "left", "up"], "down")
    _named(
        figure,
        S,
        names,
        ["middle left" if way == "right" else "middle right" for way in ways],
        marker={"size": 13, "color": CHOSEN, "symbol": [f"triangle-{way}" for way in ways]},
        customdata=[[i, name, *at] for i, name, at in zip(far, names, true.tolist(), strict=True)],
        hovertemplate="<b>%{customdata[1]}</b><br>%{customdata[2]:.4g}, %{customdata[3]:.4g}<extra></extra>",
    )


def _named(figure: go.Figure, S: np.ndarray, names: list[str], where: Any, **look: Any) -> None:
    look = {"mode": "markers+text", "showlegend": False, "textfont": {"size": 12, "shadow": HALO}} | look
    figure.add_scatter(x=S[:, 0], y=S[:, 1], text=names, textposition=where, **look)


def _ellipse(figure: go.Figure, S: np.ndarray, colour: str, group: str) -> None:
    lengths, axes = np.linalg.eigh(np.cov(S.T))
    angles = np.linspace(0, 2 * np.pi, 60)
    around = np.stack([np.cos(angles), np.sin(angles)]) * np.sqrt(np.maximum(lengths, 0))[:, None]
    x, y = S.mean(axis=0)[:, None] + DEVIATIONS * axes @ around
    look: dict[str, Any] = {"fill": "toself", "fillcolor": fade(colour, 0.07), "legendgroup": group}
    add_curve(figure, light(x), light(y), line={"color": fade(colour, 0.7), "width": 1.5}, **look)


def _apart(W: np.ndarray, kept: list[int]) -> list[int]:
    """Return the arrows W (a, 2) to draw, those in `kept` first and then the longest.

    An arrow that ends close to an earlier one is left out.
    """
    for i in np.argsort(-np.square(W).sum(axis=1), kind="stable").tolist():
        if len(kept) < MOST_ARROWS and all((np.abs(W[i] - W[j]) > APART).any() for j in kept):
            kept.append(i)
    return kept


def _draw_arrows(figure: go.Figure, S: np.ndarray, arrows: Arrows) -> None:
    """Draw features as arrows from the origin, as long as `sample_map` says; `S` (m, 2) are all scores."""
    W = np.asarray(arrows.correlations, float)
    kept, marked = _apart(W, list(arrows.marked)), len(arrows.marked)
    W, names = W[kept], [arrows.names[i] for i in kept]
    ends = W * REACH * np.abs(S).max(axis=0, initial=0.0)
    for part, colour, width in ((slice(marked, None), CONTEXT, 1.5), (slice(marked), CHOSEN, 3)):
        count = len(ends[part])
        if not count:
            continue
        lines = np.zeros((count, 3, 2))
        lines[:, 1], lines[:, 2] = ends[part], np.nan
        add_curve(figure, *lines.reshape(-1, 2).T, line={"color": colour, "width": width})
        _named(
            figure,
            ends[part],
            [plain(symbol(name), 14) for name in names[part]],
            ["middle right" if a >= 0 else "middle left" for a, _ in W[part]],
            marker={"size": 6, "color": colour, "symbol": "diamond"},
            hovertext=[
                f"{plain(name)}: correlation {a:.2f} across and {b:.2f} up"
                for name, (a, b) in zip(names[part], W[part], strict=True)
            ],
            hoverinfo="text",
            cliponaxis=False,
        )
