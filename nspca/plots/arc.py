"""Draw the rank-2 problem on one support, as in Figure 2 of the 2014 paper: the arc of feasible directions
and the leading eigenvector.

The spannogram page draws `pd_view_figure` for one set of features.
"""

from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from nspca.plots.theme import add_curve, new_figure, plain
from nspca.presentation.colours import BEST, CONTEXT, LIMIT, MAIN, SECOND, fade

AXIS: dict[str, Any] = {"range": [-1.25, 1.25], "constrain": "domain", "zeroline": True, "showgrid": False}


def feasible_arcs(R: ArrayLike) -> list[tuple[float, float]]:
    """Return the arcs (start, end in radians, start <= end) of the unit circle on which ``Rc >= 0``. A single
    point is an arc of length 0.

    Parameters
    ----------
    R : (k, 2); zero rows do not constrain
    """
    rows = np.asarray(R, float)
    rows = rows[np.hypot(rows[:, 0], rows[:, 1]) > 0]
    if not len(rows):
        return [(-np.pi, np.pi)]
    rows = rows / np.hypot(rows[:, 0], rows[:, 1])[:, None]
    direction = np.arctan2(rows[:, 1], rows[:, 0])
    ends = np.unique(
        np.round(np.mod(np.concatenate([direction - np.pi / 2, direction + np.pi / 2]), 2 * np.pi), 14)
    )

    def feasible(angle: float) -> bool:
        return bool((rows @ [np.cos(angle), np.sin(angle)] >= -1e-12).all())

    arcs: list[tuple[float, float]] = []
    for start, end in zip(ends, np.append(ends[1:], ends[0] + 2 * np.pi), strict=True):
        if feasible((start + end) / 2):
            arcs = (
                [*arcs[:-1], (arcs[-1][0], end)] if arcs and arcs[-1][1] == start else [*arcs, (start, end)]
            )
    return arcs or [(a, a) for a in ends if feasible(a)]


def pd_view_figure(
    R: ArrayLike, top: np.ndarray, best: np.ndarray | None, active: int | None = None, name: str = ""
) -> go.Figure:
    """Draw the circle of directions c with the feasible arc ``Rc >= 0``, the leading eigenvector of R'R and
    the active constraint.

    Parameters
    ----------
    R : (k, 2) rows of V on one support
    top : (2,) leading eigenvector of R'R
    best : (2,) best feasible direction, None where none is feasible
    active, name : the row of R that stops `best`, and the name of its feature; None when `top` is feasible
    """
    R = np.asarray(R, float)
    arcs = feasible_arcs(R)
    words = "outside, and no direction is feasible"
    if best is not None:
        words = "inside: it is the answer"
        if active is not None:
            words = "outside, so the answer lies at an end of the arc"
    wide = sum(b - a for a, b in arcs)
    figure = new_figure(
        f"The circle of directions with its feasible arc of {np.degrees(wide):.0f}° for {len(R)} features. "
        f"The leading eigenvector is {words}.",
        height=440,
    )
    around = np.linspace(0, 2 * np.pi, 181)
    add_curve(figure, np.cos(around), np.sin(around), line={"color": CONTEXT, "width": 1})
    for index, (start, end) in enumerate(arcs):
        _add_arc(figure, np.linspace(start, end, 91), showlegend=index == 0)
    for sign in (1, -1):
        add_curve(
            figure,
            [0, sign * top[0]],
            [0, sign * top[1]],
            "leading eigenvector",
            f"The leading eigenvector is {words}.",
            line={"color": SECOND, "width": 2, "dash": "dash"},
            legendgroup="top",
            marker={"size": [0, 10], "color": SECOND},
            showlegend=sign == 1,
        )
    if active is not None:
        x, y = 1.2 * np.array([-R[active, 1], R[active, 0]]) / np.hypot(*R[active])
        line = {"color": LIMIT, "width": 1.5, "dash": "dot"}
        title = f"active constraint: weight of {plain(name)} = 0"
        add_curve(figure, [-x, x], [-y, y], title, "On this line that weight is 0.", line=line)
    if best is not None:
        value = float(np.sum((R @ best) ** 2))
        hover = f"The best feasible direction reaches |Rc|² = {value:.5g}."
        star = {"symbol": "star", "size": 18, "color": BEST}
        add_curve(figure, [best[0]], [best[1]], "answer", hover, marker=star)
    figure.update_xaxes(title_text="c<sub>1</sub>", **AXIS)
    return figure.update_yaxes(title_text="c<sub>2</sub>", scaleanchor="x", **AXIS)


def _add_arc(figure: go.Figure, angles: np.ndarray, showlegend: bool) -> None:
    """Draw a sector of feasible directions, for the `angles` along its arc."""
    x, y = [0, *np.cos(angles), 0], [0, *np.sin(angles), 0]
    look: dict[str, Any] = {"fill": "toself", "fillcolor": fade(MAIN, 0.15), "legendgroup": "arc"}
    line = {"color": MAIN, "width": 4}
    add_curve(figure, x, y, "feasible: Rc ≥ 0", line=line, showlegend=showlegend, **look)
