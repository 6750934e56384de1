"""Draw the rank-3 picture: the sphere of directions coloured by the objective, with the cones of a search.

The replay of a cone search, on the pages Spannogram and Learn, samples a `globe` once and draws both figures
for each step.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from nspca.plots.spannogram import highest
from nspca.plots.theme import add_curve, add_pixels, colorbar, light, new_figure
from nspca.presentation.colours import (
    BEST,
    CONTEXT,
    DISCARDED_CONE,
    DISCARDED_FILL,
    FIELD,
    OPEN_CONE,
    OPEN_FILL,
    PROVED,
    PROVED_CONE,
    fade,
)
from nspca.presentation.numerals import format_bound

STATUS = {
    "open": (OPEN_CONE, 2.5, "still open"),
    "leaf": (PROVED_CONE, 1.5, "proved"),
    "discarded": (DISCARDED_CONE, 1.0, "set aside: its bound is below the best found"),
    "split": (CONTEXT, 0.8, "split"),
}
FILLS = {"open": fade(OPEN_FILL, 0.35), "leaf": fade(PROVED, 0.12), "discarded": fade(DISCARDED_FILL, 0.5)}
MOST_CONES = 3000


def field(V: ArrayLike, k: int, directions: ArrayLike, nonneg: bool = True) -> np.ndarray:
    """Return the objective ``f(c) = topk(((Vc)+)^2)`` (signed: ``topk((Vc)^2)``) at many directions.

    Parameters
    ----------
    V : (n, 3) ; directions : (..., 3)

    Returns
    -------
    f : (...) float64
    """
    directions = np.asarray(directions, float)
    top = highest(V, directions.reshape(-1, directions.shape[-1]), k, nonneg)
    return (top**2).sum(axis=1).reshape(directions.shape[:-1])


def hammer(points: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Map unit vectors (..., 3) to the equal-area Hammer map: x in [-2√2, 2√2], y in [-√2, √2].

    Longitude is ``atan2(c2, c1)``.
    """
    points = np.asarray(points, float)
    longitude, sine = np.arctan2(points[..., 1], points[..., 0]), np.clip(points[..., 2], -1, 1)
    cosine = np.sqrt(1 - sine**2)
    scale = np.sqrt(1 + cosine * np.cos(longitude / 2))
    return 2 * np.sqrt(2) * cosine * np.sin(longitude / 2) / scale, np.sqrt(2) * sine / scale


def from_hammer(x: ArrayLike, y: ArrayLike) -> np.ndarray:
    """Return the unit vectors (..., 3) of points of the Hammer map, the inverse of `hammer`; NaN outside the
    map.
    """
    x, y = np.asarray(x, float), np.asarray(y, float)
    with np.errstate(invalid="ignore"):
        z = np.sqrt(np.where(x**2 / 8 + y**2 / 2 <= 1, 1 - (x / 4) ** 2 - (y / 2) ** 2, np.nan))
        longitude = 2 * np.arctan2(z * x, 2 * (2 * z**2 - 1))
        sine = z * y
        cosine = np.sqrt(np.maximum(1 - sine**2, 0))
    return np.stack([cosine * np.cos(longitude), cosine * np.sin(longitude), sine], axis=-1)


def _unit(points: ArrayLike) -> np.ndarray:
    """Return vectors (..., 3) with length 1."""
    points = np.asarray(points, float)
    return points / np.linalg.norm(points, axis=-1, keepdims=True)


@dataclass(frozen=True, eq=False)
class Globe:
    """Objective sampled on the grid of the sphere (points, values) and on the grid of the map (x, y, flat),
    without cones.

    Attributes
    ----------
    points : (latitudes, longitudes, 3) unit vectors
    values : (latitudes, longitudes) objective at each point
    x, y : (a,) and (b,) coordinates of the Hammer map
    flat : (b, a) objective on the map, NaN outside
    """

    points: np.ndarray
    values: np.ndarray
    x: np.ndarray
    y: np.ndarray
    flat: np.ndarray


def globe(V: ArrayLike, k: int, nonneg: bool = True, resolution: int = 60) -> Globe:
    """Sample the objective of the factor V (n, 3) on both grids, with `resolution` steps of latitude.

    This is the slow part, so callers keep the result while a search runs.
    """
    latitude, longitude = (
        np.linspace(-np.pi / 2, np.pi / 2, resolution + 1),
        np.linspace(-np.pi, np.pi, 2 * resolution + 1),
    )
    points = np.stack(
        [
            np.outer(np.cos(latitude), np.cos(longitude)),
            np.outer(np.cos(latitude), np.sin(longitude)),
            np.outer(np.sin(latitude), np.ones(len(longitude))),
        ],
        axis=-1,
    )
    x, y = (
        np.linspace(-2 * np.sqrt(2), 2 * np.sqrt(2), 4 * resolution),
        np.linspace(-np.sqrt(2), np.sqrt(2), 2 * resolution),
    )
    directions = from_hammer(*np.meshgrid(x, y))
    on_map = np.isfinite(directions[..., 0])
    flat = np.full(on_map.shape, np.nan)
    flat[on_map] = field(V, k, directions[on_map], nonneg)
    return Globe(points, field(V, k, points, nonneg), x, y, flat)


def _edges(cones: np.ndarray, status: Sequence[str]) -> dict[str, np.ndarray]:
    """Return the distinct edges per status, (e, 2, 3) unit vectors. A shared edge gets the status that comes
    first in `STATUS`.
    """
    owner: dict[tuple[Any, ...], str] = {}
    rank = {name: i for i, name in enumerate(STATUS)}
    corners = np.round(_unit(cones), 12) + 0.0
    for cone, state in zip(corners, status, strict=True):
        for a, b in ((0, 1), (1, 2), (0, 2)):
            key = tuple(sorted((tuple(cone[a]), tuple(cone[b]))))
            if key not in owner or rank[state] < rank[owner[key]]:
                owner[key] = state
    return {
        name: np.array([key for key, state in owner.items() if state == name]).reshape(-1, 2, 3)
        for name in STATUS
    }


def arcs(edges: ArrayLike, steps: int = 9) -> np.ndarray:
    """Return great-circle arcs between pairs of points: (e, 2, 3) end points -> (e, steps, 3) unit
    vectors.
    """
    edges = np.asarray(edges, float)
    t = np.linspace(0, 1, steps)[None, :, None]
    return _unit((1 - t) * edges[:, :1] + t * edges[:, 1:])


def _shown(cones: Any, status: Any, bounds: Any) -> tuple[np.ndarray, list[str], np.ndarray]:
    """Return the cones to draw with their status and bounds: all up to `MOST_CONES`, otherwise the open ones
    first and then the latest others.
    """
    cones = np.asarray(cones, float).reshape(-1, 3, 3)
    status = [str(s) for s in status]
    bounds = np.full(len(cones), np.nan) if bounds is None else np.asarray(bounds, float)
    if len(cones) > MOST_CONES:
        first = sorted(range(len(cones)), key=lambda i: (status[i] != "open", -i))[:MOST_CONES]
        keep = np.sort(first)
        cones, status, bounds = cones[keep], [status[i] for i in keep], bounds[keep]
    return cones, status, bounds


def _alt(status: Sequence[str], view: str) -> str:
    """Return the description of a figure: its view, and the number of cones of each status."""
    counts = ", ".join(f"{status.count(name)} {name}" for name in STATUS if name in status)
    return f"{view} of directions coloured by the objective; cones: {counts or 'none yet'}."


def _coordinates(points: np.ndarray) -> dict[str, np.ndarray]:
    """Return points (..., 3) as Plotly takes them."""
    return {name: light(points[..., axis]) for axis, name in enumerate("xyz")}


def _camera(front: np.ndarray) -> dict[str, Any]:
    """Return the camera that looks at a direction, a little from the side."""
    eye = 1.45 * _unit(front + 0.35 * np.cross(front, [0, 0, 1]) + [0, 0, 0.25])
    return {"eye": dict(zip("xyz", eye.tolist(), strict=True))}


def _sentence(state: str, bound: float) -> str:
    """Return the hover text of a cone with a status, a key of `STATUS`, and its bound."""
    limit = f"<br>nothing in it exceeds {format_bound(bound, 5)}" if np.isfinite(bound) else ""
    return f"cone, {STATUS[state][2]}{limit}"


def sphere_figure(
    world: Globe,
    cones: Any = (),
    status: Iterable[object] = (),
    bounds: ArrayLike | None = None,
    points: Any = None,
) -> go.Figure:
    """Draw the sphere in three dimensions. The browser needs WebGL; `flat_map_figure` shows equal content
    without it.

    Parameters
    ----------
    world : Globe, from `globe`
    cones : (t, 3, 3), generators as rows, any length
    status : (t,) of "open" | "leaf" | "discarded" | "split"
    bounds : (t,), optional, proved upper bound of each cone
    points : (p, 3), optional, directions to mark: the best found so far
    """
    cones, status, bounds = _shown(cones, status, bounds)
    best = _unit([] if points is None else points).reshape(-1, 3)
    figure = new_figure(_alt(status, "The sphere"), height=560)
    figure.add_surface(
        **_coordinates(world.points),
        surfacecolor=light(world.values),
        colorscale=FIELD,
        colorbar=colorbar("objective"),
        lighting={"ambient": 0.85, "diffuse": 0.25, "specular": 0.02},
        hovertemplate="c = (%{x:.2f}, %{y:.2f}, %{z:.2f})<br>the best support here reaches "
        "%{surfacecolor:.4g}<extra></extra>",
    )
    for name, edges in _edges(cones, status).items():
        if len(edges):
            colour, width, words = STATUS[name]
            line = np.concatenate([1.006 * arcs(edges), np.full((len(edges), 1, 3), np.nan)], axis=1)
            figure.add_scatter3d(
                **_coordinates(line.reshape(-1, 3)),
                mode="lines",
                line={"color": colour, "width": 2 * width},
                name=words,
                hoverinfo="skip",
                connectgaps=False,
            )
    if len(best):
        figure.add_scatter3d(
            **_coordinates(1.02 * best),
            mode="markers",
            marker={"size": 7, "color": BEST, "symbol": "diamond", "line": {"color": "white", "width": 1}},
            name="best found",
            hovertemplate="the best direction found so far<extra></extra>",
        )
    axis = {"visible": False, "range": [-1.04, 1.04]}
    # A camera that somebody has turned stays as it is.
    camera = _camera(best[0] if len(best) else np.array([0.6, 0.6, 0.5]))
    scene = {"xaxis": axis, "yaxis": axis, "zaxis": axis, "aspectmode": "cube", "camera": camera}
    return figure.update_layout(scene=scene, margin={"l": 0, "r": 0, "b": 0})


def _flat_lines(paths: np.ndarray, inside: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the x and y of paths (e, s, 3) on the map as lines with NaN between them.

    The map is cut at the longitude of 180 degrees. Points on the cut go to the side of `inside` (e, 3), a
    point within the cone of each path.
    """
    paths = paths.copy()
    seam = (np.abs(paths[..., 1]) < 1e-12) & (paths[..., 0] < 0)
    paths[..., 1] = np.where(seam, np.where(inside[:, None, 1] < 0, -1e-12, 1e-12), paths[..., 1])
    x, y = hammer(paths)
    gap = np.full((len(paths), 1), np.nan)
    return np.hstack([x, gap]).ravel(), np.hstack([y, gap]).ravel()


def _add_cones(figure: go.Figure, name: str, cones: np.ndarray, bounds: np.ndarray) -> None:
    """Draw cones of one status on the map, filled and with their bounds unless they are split."""
    around = arcs(cones[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2, 3)).reshape(len(cones), -1, 3)
    centre = _unit(cones.sum(axis=1))
    colour, width, words = STATUS[name]
    fill = {"fill": "toself", "fillcolor": FILLS[name]} if name in FILLS else {}
    x, y = map(light, _flat_lines(around, centre))
    add_curve(figure, x, y, words, line={"color": colour, "width": width}, connectgaps=False, **fill)
    if name in FILLS:
        x, y = map(light, hammer(centre))
        hover = [_sentence(name, bound) for bound in bounds]
        add_curve(figure, x, y, hover=hover, marker={"size": 9, "opacity": 0})


def flat_map_figure(
    world: Globe,
    cones: Any = (),
    status: Iterable[object] = (),
    bounds: ArrayLike | None = None,
    points: Any = None,
) -> go.Figure:
    """Draw the sphere on an equal-area map (Hammer), every cone as a filled patch with its bound at the
    centre.

    Parameters are those of `sphere_figure`.
    """
    cones, status, bounds = _shown(cones, status, bounds)
    figure = new_figure(_alt(status, "Equal-area map"), height=430)
    grid: dict[str, Any] = {"x": light(world.x), "y": light(world.y), "zsmooth": "best"}
    add_pixels(figure, world.flat, FIELD, (), "the best support here reaches %{z:.4g}", "objective", **grid)
    for name in ("split", "discarded", "leaf", "open"):
        rows = np.flatnonzero([s == name for s in status])
        if rows.size:
            _add_cones(figure, name, _unit(cones[rows]), bounds[rows])
    if points is not None and len(points):
        star = {"size": 14, "color": BEST, "symbol": "star", "line": {"color": "white", "width": 1.5}}
        add_curve(
            figure, *hammer(_unit(points)), "best found", "the best direction found so far", marker=star
        )
    rim = np.linspace(0, 2 * np.pi, 121)
    x, y = 2 * np.sqrt(2) * np.cos(rim), np.sqrt(2) * np.sin(rim)
    add_curve(figure, x, y, line={"color": CONTEXT, "width": 3})
    figure.update_xaxes(visible=False, constrain="domain")
    return figure.update_yaxes(visible=False, scaleanchor="x", constrain="domain")
