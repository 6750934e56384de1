"""Draw the rank-2 picture of why a sparse problem has few candidate supports: n curves over one angle.

With ``c = (sin phi, cos phi)`` the entries of ``Vc`` are n sinusoids. For one angle the best support is the
set of the k highest curves, so supports change only where two curves cross (Asteris et al. 2014, section 3).

The pages Spannogram and Learn compute `spans`, `curves` and `top_set`, which the browser draws. As a Plotly
figure, for a notebook, the slow part `spannogram_base` does not depend on the selected angle, and
`spannogram_at` adds the fast part. Angles are in radians, from -pi/2 to pi/2.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from nspca.plots.theme import light, new_figure, plain
from nspca.plots.top_curves import highest
from nspca.presentation.colours import CONTEXT, CURVES, FAINT, MAIN, SECOND, STAR, STRETCHES, fade

MOST_LINES = 1000
_SIGN_WORDS = ("c", "−c")


def angles(count: int = 181) -> np.ndarray:
    """Return evenly spaced angles over the half circle, both ends included although they are one line."""
    return np.linspace(-np.pi / 2, np.pi / 2, count)


def curves(V: ArrayLike, phi: ArrayLike) -> np.ndarray:
    """Return the values ``v_i(phi) = V_i1 sin(phi) + V_i2 cos(phi)``: (n, 2) and (p,) -> (n, p)."""
    phi = np.asarray(phi, float)
    return np.asarray(V, float) @ np.stack([np.sin(phi), np.cos(phi)])


def top_set(values: ArrayLike, k: int, nonneg: bool = True) -> np.ndarray:
    """Return the sorted indices of the k largest positive values (signed: largest in size). Ties go to the
    lowest index.

    Zeros never belong.
    """
    values = np.asarray(values, float) if nonneg else np.abs(values)
    order = np.argsort(-values, kind="stable")[:k]
    return np.sort(order[values[order] > 0])


@dataclass(frozen=True, eq=False)
class Spans:
    """Objective over a grid of angles, and the intervals of angles between changes of the k highest curves.

    There is one row for c and, in nonnegative problems, one for -c. On a grid an interval narrower than one
    step can be missed, so this is for drawing, not for proofs.

    Attributes
    ----------
    phi : (p,) angles
    objective : (s, p) value of the best support at each angle, for each sign
    edges : for each sign, the ends of its intervals, one more than intervals
    sets : for each sign, the features of the highest curves on each interval
    """

    phi: np.ndarray
    objective: np.ndarray
    edges: tuple[np.ndarray, ...]
    sets: tuple[list[np.ndarray], ...]

    @property
    def best(self) -> tuple[int, int]:
        """Return the place of the largest objective: 0 for c or 1 for -c, and the number of the angle."""
        sign, at = np.unravel_index(int(np.argmax(self.objective)), self.objective.shape)
        return int(sign), int(at)


def spans(V: ArrayLike, k: int, nonneg: bool = True, count: int = 721) -> Spans:
    """Compute the objective and the support intervals over the half circle, for c and (nonnegative problems)
    -c.

    Parameters
    ----------
    V : (n, 2)
    k : int
    nonneg : bool
        Signed problems have one row: c and -c give the same support.
    count : int
        Angles on the grid.
    """
    V = np.asarray(V, float)
    phi = angles(count)
    directions = np.stack([np.sin(phi), np.cos(phi)], axis=1)
    objective, edges, sets = [], [], []
    for sign in (1, -1) if nonneg else (1,):
        top = highest(V, sign * directions, k, nonneg)
        objective.append((top**2).sum(axis=1))
        # A curve never rises above its own amplitude, so one below the lowest k-th value is never lit.
        kept = np.flatnonzero(np.hypot(V[:, 0], V[:, 1]) >= top.min())
        at = [kept[top_set(sign * column, k, nonneg)] for column in curves(V[kept], phi).T]
        new = [0, *(i for i in range(1, count) if not np.array_equal(at[i], at[i - 1]))]
        edges.append(np.array([phi[0], *((phi[i] + phi[i - 1]) / 2 for i in new[1:]), phi[-1]]))
        sets.append([at[i] for i in new])
    return Spans(phi, np.array(objective), tuple(edges), tuple(sets))


def joined(values: np.ndarray, phi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return curves (n, p) as one line with NaN between them, so that one trace draws all n."""
    gap = np.full((len(values), 1), np.nan)
    return np.tile(np.append(phi, np.nan), len(values)), np.hstack([values, gap]).ravel()


def spannogram_base(
    V: ArrayLike,
    k: int,
    *,
    nonneg: bool = True,
    unit: float = 1.0,
    unit_name: str = "the units of the data",
    spans_: Spans | None = None,
    optimum: tuple[float, int] | None = None,
) -> go.Figure:
    """Draw the parts of a spannogram that do not depend on the angle: curves, support intervals, objective
    and optimum.

    Parameters
    ----------
    V : (n, 2) ; k : int ; nonneg : bool
    unit, unit_name : what the objective is divided by, shown as "% of ..." unless it is 1
    spans_ : Spans, optional
        From `spans`, when the caller keeps it.
    optimum : (phi, sign), optional
        The exact optimum (sign +1 or -1); the best angle of the grid otherwise.
    """
    V = np.asarray(V, float)
    found = spans_ or spans(V, k, nonneg)
    changes = sum(len(s) for s in found.sets)
    alt = f"Spannogram of {len(V)} features: {changes} different top sets of {k} over the half circle" + (
        ", both signs." if nonneg else "."
    )
    figure = new_figure(alt, height=620, hovermode="closest")
    figure.update_layout(
        yaxis={"domain": [0.4, 1], "title": {"text": "curves vᵢ(φ)"}},
        yaxis2={"domain": [0.33, 0.375], "anchor": "x", "visible": False},
        yaxis3={
            "domain": [0, 0.29],
            "anchor": "x",
            "title": {"text": "objective" if unit == 1 else f"% of {unit_name}"},
            "rangemode": "tozero",
        },
        xaxis={"title": {"text": "angle φ in degrees"}, "range": [-90, 90], "dtick": 30, "anchor": "y3"},
    )
    _add_curves(figure, V, found)
    _add_band(figure, found)
    factor = 1 if unit == 1 else 100 / unit
    for sign, (row, colour) in enumerate(zip(found.objective, (MAIN, SECOND), strict=False)):
        figure.add_scatter(
            x=light(np.degrees(found.phi)),
            y=light(factor * row),
            mode="lines",
            line={"color": colour, "width": 2.2},
            yaxis="y3",
            name=f"objective for {_SIGN_WORDS[sign]}" if nonneg else "objective",
            hovertemplate="At %{x:.1f}° the best support reaches %{y:.4g}.<extra></extra>",
        )
    sign, at = found.best
    phi, height = found.phi[at], found.objective[sign, at]
    if optimum is not None:
        phi = optimum[0]
        lit = top_set(np.sign(optimum[1]) * curves(V, [phi])[:, 0], k, nonneg)
        height = float((curves(V, [phi])[lit, 0] ** 2).sum())
    figure.add_scatter(
        x=[np.degrees(phi)],
        y=[factor * height],
        mode="markers",
        yaxis="y3",
        name="optimum",
        marker={"symbol": "star", "size": 15, "color": STAR},
        hovertemplate="The optimum: %{x:.2f}°, %{y:.5g}.<extra></extra>",
    )
    return figure


def _add_curves(figure: go.Figure, V: np.ndarray, found: Spans) -> None:
    """Draw all curves up to `MOST_LINES`; otherwise draw bands of quantiles and the curves that are in most
    top sets.
    """
    # 91 angles suffice for a sinusoid, and keep 1000 curves near a megabyte.
    phi = angles(91)
    hint = "At %{x:.0f}° this curve has height %{y:.3g}.<extra></extra>"
    shown = np.arange(len(V))
    if len(V) > MOST_LINES:
        levels = np.quantile(curves(V, phi), [0, 0.05, 0.25, 0.75, 0.95, 1], axis=1)
        for low, high, name in ((0, 5, "all curves"), (1, 4, "90 % of them"), (2, 3, "half of them")):
            figure.add_scatter(
                x=light(np.degrees(np.concatenate([phi, phi[::-1]]))),
                y=light(np.concatenate([levels[low], levels[high][::-1]])),
                fill="toself",
                mode="lines",
                line={"width": 0},
                fillcolor=FAINT,
                name=name,
                hoverinfo="skip",
            )
        lit = np.bincount(np.concatenate([s for sets in found.sets for s in sets]), minlength=len(V))
        shown = np.argsort(-lit, kind="stable")[:200]
        shown = shown[lit[shown] > 0]
    x, y = joined(curves(V[shown], phi), np.degrees(phi))
    figure.add_scatter(
        x=light(x),
        y=light(y),
        mode="lines",
        line={"color": fade(CURVES, 0.45), "width": 1},
        hovertemplate=hint,
        name="curves" if len(shown) == len(V) else f"the {len(shown)} curves lit most often",
        connectgaps=False,
    )


def _add_band(figure: go.Figure, found: Spans) -> None:
    """Draw one strip of support intervals per sign; each change of colour is a new top set."""
    for sign, (edges, sets) in enumerate(zip(found.edges, found.sets, strict=True)):
        figure.add_heatmap(
            x=np.degrees(edges),
            y=[-sign - 0.45, -sign + 0.45],
            z=[np.arange(len(sets)) % len(STRETCHES)],
            yaxis="y2",
            zmin=0,
            zmax=len(STRETCHES) - 1,
            colorscale=[[(i + j) / len(STRETCHES), c] for i, c in enumerate(STRETCHES) for j in (0, 1)],
            showscale=False,
            customdata=[[[i + 1, len(sets), len(s)] for i, s in enumerate(sets)]],
            hovertemplate=f"Support interval %{{customdata[0]}} of %{{customdata[1]}} for "
            f"{_SIGN_WORDS[sign]}:"
            "<br>here the same %{customdata[2]} curves are on top.<extra></extra>",
        )


def spannogram_at(
    base: go.Figure,
    V: ArrayLike,
    k: int,
    phi: float,
    *,
    nonneg: bool = True,
    names: Sequence[str] | None = None,
) -> go.Figure:
    """Return a copy of the base figure with the top set at one angle highlighted, and a line at
    that angle.

    The other arguments are those with which `spannogram_base` made `base`; `names` are those of the features.
    """
    V = np.asarray(V, float)
    figure = go.Figure(base)
    at = curves(V, [phi])[:, 0]
    grid = angles(91)
    for sign, colour in ((1, MAIN), (-1, SECOND))[: 2 if nonneg else 1]:
        lit = top_set(sign * at, k, nonneg)
        x, y = joined(curves(V[lit], grid), np.degrees(grid))
        figure.add_scatter(
            x=light(x),
            y=light(y),
            mode="lines",
            line={"color": fade(colour, 0.8), "width": 1.6},
            hoverinfo="skip",
            name=f"{len(lit)} on top for {_SIGN_WORDS[sign < 0]}",
            connectgaps=False,
        )
        figure.add_scatter(
            x=np.full(len(lit), np.degrees(phi)),
            y=light(at[lit]),
            mode="markers",
            marker={"color": colour, "size": 6},
            showlegend=False,
            customdata=[plain(names[j]) if names is not None and len(names) else f"feature {j}" for j in lit],
            hovertemplate="%{customdata}: %{y:.3g}<extra></extra>",
        )
    return figure.add_vline(x=float(np.degrees(phi)), line={"color": CONTEXT, "width": 1.5})
