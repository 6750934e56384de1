"""Small SVG drawings that summarise a run, each a string that can be used alone.

The list of runs and the sketch on the home page use them.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.colors import sample_colorscale

from nspca.plots.theme import svg
from nspca.presentation.colours import CHOSEN, COLOURS, FOUND, PROVED, fade

WIDTH, HEIGHT, EDGE = 132, 60, 4  # pixels
SIZE = f'width="{WIDTH}" height="{HEIGHT}"'


def sparkline(
    x: Sequence[float], lines: Mapping[str, Sequence[float]], upper: Sequence[float | None] = ()
) -> str:
    """Draw one line for each name over increasing x, and the band from the first line up to `upper`, which is
    None where nothing is proved.
    """
    known = [value for line in (*lines.values(), upper) for value in line if value is not None]
    across, up = _scale(x, EDGE, WIDTH - EDGE), _scale([0.0, *known], HEIGHT - EDGE, EDGE)
    parts = []
    first = next(iter(lines.values()))
    bounds = zip(x, first, upper or [None] * len(x), strict=True)
    if band := [(at, low, high) for at, low, high in bounds if high is not None]:
        edge = [(at, high) for at, _, high in band] + [(at, low) for at, low, _ in reversed(band)]
        points = " ".join(f"{across(at):.1f},{up(height):.1f}" for at, height in edge)
        parts.append(f'<polygon points="{points}" fill="{fade(PROVED, 0.4)}"/>')
    for line, colour in zip(lines.values(), COLOURS * len(lines), strict=False):
        points = " ".join(f"{across(at):.1f},{up(value):.1f}" for at, value in zip(x, line, strict=True))
        stroke = f'stroke="{colour}" stroke-width="2" vector-effect="non-scaling-stroke"'
        parts.append(f'<polyline points="{points}" fill="none" {stroke}/>')
        if len(x) == 1:
            parts.append(f'<circle cx="{across(x[0]):.1f}" cy="{up(line[0]):.1f}" r="3" fill="{FOUND}"/>')
    return svg(WIDTH, HEIGHT, "".join(parts), SIZE)


def patches(parts: Sequence[Sequence[int]], n: int, columns: int) -> str:
    """Draw the features of each component as cells of a grid of n, with so many `columns`, in its colour."""
    rows = -(-n // columns)
    side = min((WIDTH - 2 * EDGE) / columns, (HEIGHT - 2 * EDGE) / rows)
    high = max(side, (HEIGHT - 2 * EDGE) / 2 if rows == 1 else side)
    left, top = (WIDTH - side * columns) / 2, (HEIGHT - high * rows) / 2
    frame = (
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{side * columns:.1f}" height="{high * rows:.1f}" '
        'fill="rgba(128,128,128,0.13)"/>'
    )
    wide = max(side, 1.0)  # with thousands of features, narrower cells could not be seen
    cells = [
        f'<rect x="{left + side * (j % columns):.1f}" y="{top + high * (j // columns):.1f}" '
        f'width="{wide:.1f}" '
        f'height="{high:.1f}" fill="{COLOURS[index % len(COLOURS)]}"/>'
        for index, part in enumerate(parts)
        for j in part
    ]
    return svg(WIDTH, HEIGHT, frame + "".join(cells), SIZE)


def heatmaps(figure: go.Figure) -> str:
    """Draw the heat maps of a figure, one over the other, each cell in its colour there."""
    cells = []
    rows, columns = np.shape(figure.data[0].z)
    for trace in figure.data:
        z, scale = np.array(trace.z, float), [[*stop] for stop in trace.colorscale]
        low, high = np.nanmin(z) if trace.zmin is None else trace.zmin, np.nanmax(z)
        for (i, j), value in np.ndenumerate(z):
            if np.isfinite(value):
                (colour,) = sample_colorscale(scale, (value - low) / ((high - low) or 1))
                look = f'fill="{colour}" fill-opacity="{trace.opacity or 1}"'
                cells.append(f'<rect x="{j}" y="{i}" width="1" height="1" {look}/>')
    look = f'shape-rendering="crispEdges" width="{40 * columns}" height="{40 * rows}"'
    return svg(columns, rows, "".join(cells), look)


def curve(x: Sequence[float], y: Sequence[float], chosen: float) -> str:
    """Draw a proved curve on the axes of `sweep_figure`, with a line at the chosen place."""
    top, wide = 1.06 * max(y), 'fill="none" vector-effect="non-scaling-stroke" stroke-width='
    points = " ".join(f"{at:.3f},{1 - value / top:.4f}" for at, value in zip(x, y, strict=True))
    line = f'<line x1="{chosen}" x2="{chosen}" y1="0" y2="1" {wide}"2" stroke="{CHOSEN}"/>'
    proved = f'<polyline points="{points}" {wide}"4" stroke="{PROVED}"/>'
    view = f'viewBox="0.73 0 {max(x) - 0.2:.2f} 1" preserveAspectRatio="none" width="500" height="300"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {view}>{line}{proved}</svg>'


def _scale(values: Sequence[float], first: float, last: float) -> Callable[[float], float]:
    low, high = min(values), max(values)
    return lambda value: first + (last - first) * ((value - low) / (high - low) if high > low else 0.5)
