"""Draw the rank-3 picture: the sphere of directions coloured by the objective, with room for cones.

The replay of a cone search, on the pages Spannogram and Learn, draws both figures once. Its script puts the
cones of each step into the traces that stand here for every status.
"""

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

STATUS = {
    "open": (OPEN_CONE, 2.5, "still open"),
    "leaf": (PROVED_CONE, 1.5, "proved"),
    "discarded": (DISCARDED_CONE, 1.0, "set aside: its bound is below the best found"),
}
"""Colour, width of the line and words for each status of a cone; the map draws the first one on top."""
FILLS = {"open": fade(OPEN_FILL, 0.35), "leaf": fade(PROVED, 0.12), "discarded": fade(DISCARDED_FILL, 0.5)}
SCALE = colorbar("kept, %") | {"x": 1.0, "len": 0.7}
NO_MARGIN = dict.fromkeys("lrtb", 0)
BEST_FOUND = "best found"
EMPTY = np.full((1, 3), np.nan)
"""The line of a trace before the browser puts cones into it."""


def field(V: ArrayLike, k: int, directions: ArrayLike, nonneg: bool = True) -> np.ndarray:
    """Return the objective ``f(c) = topk(((Vc)+)^2)`` (signed: ``topk((Vc)^2)``) of V (n, 3) at directions
    (..., 3).
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
    points = np.asarray(points, float)
    return points / np.linalg.norm(points, axis=-1, keepdims=True)


@dataclass(frozen=True, eq=False)
class Globe:
    """Objective sampled on a grid of the sphere, and on one of the map, without cones."""

    points: np.ndarray  # (latitudes, longitudes, 3) unit vectors
    values: np.ndarray  # (latitudes, longitudes) objective at each point
    x: np.ndarray  # (a,) coordinates of the Hammer map
    y: np.ndarray  # (b,)
    flat: np.ndarray  # (b, a) objective on the map, NaN outside


def globe(V: ArrayLike, k: int, nonneg: bool = True, resolution: int = 60) -> Globe:
    """Sample the objective of the factor V (n, 3) on both grids, with `resolution` steps of latitude.

    This is the slow part, so callers keep the result while a search runs.
    """
    latitude = np.linspace(-np.pi / 2, np.pi / 2, resolution + 1)
    longitude = np.linspace(-np.pi, np.pi, 2 * resolution + 1)
    up, around = np.meshgrid(latitude, longitude, indexing="ij")
    points = np.stack([np.cos(up) * np.cos(around), np.cos(up) * np.sin(around), np.sin(up)], axis=-1)
    x = np.linspace(-2 * np.sqrt(2), 2 * np.sqrt(2), 4 * resolution)
    y = np.linspace(-np.sqrt(2), np.sqrt(2), 2 * resolution)
    directions = from_hammer(*np.meshgrid(x, y))
    on_map = np.isfinite(directions[..., 0])
    flat = np.full(on_map.shape, np.nan)
    flat[on_map] = field(V, k, directions[on_map], nonneg)
    return Globe(points, field(V, k, points, nonneg), x, y, flat)


def _coordinates(points: np.ndarray) -> dict[str, np.ndarray]:
    return {name: light(points[..., axis]) for axis, name in enumerate("xyz")}


def sphere_figure(world: Globe, best: ArrayLike) -> go.Figure:
    """Draw the sphere in three dimensions with the `best` direction (3,). The browser needs WebGL;
    `flat_map_figure` shows equal content without it.
    """
    best = _unit(best)
    figure = new_figure("The sphere of directions coloured by the objective.", height=560, showlegend=False)
    figure.add_surface(
        **_coordinates(world.points),
        surfacecolor=light(world.values),
        colorscale=FIELD,
        colorbar=SCALE,
        lighting={"ambient": 0.85, "diffuse": 0.25, "specular": 0.02},
        hovertemplate="c = (%{x:.2f}, %{y:.2f}, %{z:.2f})<br>the best support here reaches "
        "%{surfacecolor:.4g}<extra></extra>",
    )
    for colour, width, words in STATUS.values():
        line = {"color": colour, "width": 2 * width}
        figure.add_scatter3d(**_coordinates(EMPTY), mode="lines", line=line, name=words, hoverinfo="skip")
    figure.add_scatter3d(
        **_coordinates(1.02 * best[None]),
        mode="markers",
        marker={"size": 7, "color": BEST, "symbol": "diamond", "line": {"color": "white", "width": 1}},
        name=BEST_FOUND,
        hovertemplate="the best direction found so far<extra></extra>",
    )
    eye = 1.305 * _unit(best + 0.35 * np.cross(best, [0, 0, 1]) + [0, 0, 0.25])
    camera = {"eye": dict(zip("xyz", eye.tolist(), strict=True))}  # one that somebody has turned stays
    axes = {name: {"visible": False, "range": [-1.04, 1.04]} for name in ("xaxis", "yaxis", "zaxis")}
    return figure.update_layout(scene=axes | {"aspectmode": "cube", "camera": camera}, margin=NO_MARGIN)


def flat_map_figure(world: Globe, best: ArrayLike) -> go.Figure:
    """Draw the sphere on an equal-area map (Hammer), with a filled patch for cones and their bound at the
    centre.
    """
    figure = new_figure("Equal-area map of directions coloured by the objective.", showlegend=False)
    grid: dict[str, Any] = {"x": light(world.x), "y": light(world.y), "zsmooth": "best", "colorbar": SCALE}
    hover = "the best support here reaches %{z:.4g}"
    add_pixels(figure, world.flat, FIELD, (), hover, **grid, showscale=True)
    for name, (colour, width, words) in reversed(STATUS.items()):
        line = {"color": colour, "width": width}
        add_curve(figure, [None], [None], words, line=line, fill="toself", fillcolor=FILLS[name])
        add_curve(figure, [None], [None], hover=[""], marker={"size": 9, "opacity": 0})
    star = {"size": 14, "color": BEST, "symbol": "star", "line": {"color": "white", "width": 1.5}}
    at = hammer(_unit(best)[None])
    add_curve(figure, *at, BEST_FOUND, "the best direction found so far", marker=star)
    rim = np.linspace(0, 2 * np.pi, 121)
    x, y = 2 * np.sqrt(2) * np.cos(rim), np.sqrt(2) * np.sin(rim)
    add_curve(figure, x, y, line={"color": CONTEXT, "width": 3})
    figure.update_xaxes(visible=False, constrain="domain")
    figure.update_yaxes(visible=False, scaleanchor="x", constrain="domain")
    return figure.update_layout(margin=NO_MARGIN)
