"""Figures have the colours that sentences and legends name, and the same meaning has the same colour."""

import colorsys
import re
from pathlib import Path

import numpy as np
import pandas as pd

import nspca
from nspca.plots import sphere
from nspca.plots.compare import cumulative_figure, styles, values_figure
from nspca.plots.gaps import gap_figure
from nspca.plots.sweeps import IN_HERE, NOTHING_ABOVE, OPTIMAL, sweep_figure
from nspca.plots.thumbnail import sparkline
from nspca.presentation import colours, drawing

ROOT = Path(__file__).resolve().parents[2]
HUES = {"orange": (30, 45), "yellow": (45, 60), "green": (140, 175), "blue": (195, 215), "purple": (290, 330)}
"""Degrees on the circle of hues, written down here and nowhere in the package."""
PALE = 0.13
"""Saturation below which a colour is grey."""


def channels(colour: str) -> tuple[float, ...]:
    """Return red, green and blue of ``#rrggbb`` or ``rgba(...)``, from 0 to 1."""
    if colour.startswith("#"):
        return tuple(int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return tuple(int(part) / 255 for part in re.findall(r"\d+", colour)[:3])


def name_of(colour: str) -> str:
    """Return what a person calls a colour."""
    hue, _, saturation = colorsys.rgb_to_hls(*channels(colour))
    if saturation < PALE:
        return "grey"
    return next((name for name, (low, high) in HUES.items() if low <= 360 * hue < high), "other")


def sweep(bounds: str = "both"):
    ks = [2, 4, 8]
    frame = pd.DataFrame({"method": "auto", "k": ks, "value": [1.0, 2, 3], "upper": [1.1, 2.3, 3.2]})
    frame = frame.assign(ratio=frame["value"] / frame["upper"], kind="B4", seconds=0.1)
    frame = frame.assign(upper_rank3=[1.3, 2.4, 3.3], upper_epsnet=[1.4, 2.6, 3.5], epsnet_probability=0.99)
    return sweep_figure(frame, unit=4.0, ceiling=4.0, bounds=bounds)


def trace(figure, start: str):
    return next(one for one in figure.data if (one.name or "").startswith(start))


def compared():
    rows = [{"method": "auto", "k": k, "value": k, "upper": k + 1.0, "kind": "B4"} for k in (1, 2)]
    return values_figure(rows, unit=4.0, unit_name="all", ks=[1, 2], style=styles(["auto"]))


def test_the_curve_is_green_where_its_values_are_proved_optimal():
    frame = pd.DataFrame({"method": "auto", "k": [2, 4], "value": [1.0, 2], "upper": [1.0, 2], "kind": "B8"})
    assert name_of(trace(sweep_figure(frame.assign(ratio=1.0), unit=4.0), OPTIMAL).line.color) == "green"


def test_where_the_optimum_is_proved_to_lie_is_green_in_every_figure():
    gap = gap_figure([1.0, 2.0], [4.0, 3.0], [0, 1], steps_name="seconds", unit=5.0, unit_name="the total")
    curve = sparkline([1, 2], {"auto": [1.0, 2.0]}, [1.5, 2.5])
    small = re.search(r'<polygon[^>]*fill="([^"]+)"', curve)[1]
    gauge = re.findall(r'fill="(#[^"]+)"', drawing.gauge(0.9))[1]
    regions = {
        "sweep": trace(sweep(), IN_HERE).fillcolor,
        "gap": trace(gap, "best found").fillcolor,
        "compare": trace(compared(), IN_HERE).fillcolor,
        "thumbnail": small,
        "notebook": gauge,
        "cone": next(t for t in flat().data if t.name == "proved").fillcolor,
    }
    assert {what: name_of(colour) for what, colour in regions.items()} == dict.fromkeys(regions, "green")
    assert len({channels(colour) for colour in regions.values()}) == 1


def flat():
    world = sphere.globe(np.random.default_rng(1).standard_normal((6, 3)), 2, resolution=6)
    return sphere.flat_map_figure(world, np.ones(3))


def test_bounds_are_grey_and_what_was_found_is_blue_in_every_figure():
    gap = gap_figure([1.0, 2.0], [4.0, 3.0], [0, 1], steps_name="seconds", unit=5.0, unit_name="the total")
    joint = cumulative_figure({"joint": [1.0, 2.0]}, total=4.0, style=styles(["joint"]), upper=3.0)
    bounds = {
        "sweep": trace(sweep("ours"), NOTHING_ABOVE).line.color,
        "gap": trace(gap, "bound").line.color,
        "compare": trace(compared(), NOTHING_ABOVE).line.color,
        "joint": trace(joint, NOTHING_ABOVE).line.color,
        "notebook": notebook("at most"),
    }
    assert {what: name_of(colour) for what, colour in bounds.items()} == dict.fromkeys(bounds, "grey")
    found = {
        "sweep": trace(sweep(), "best found").line.color,
        "gap": trace(gap, "best found").line.color,
        "joint": joint.data[0].line.color,
        "notebook": notebook("auto"),
    }
    assert {what: name_of(colour) for what, colour in found.items()} == dict.fromkeys(found, "blue")


def notebook(name: str) -> str:
    """Return the colour of a line of a sweep in a notebook, by the name that stands beside it."""
    swept = nspca.sweep(nspca.Problem.from_covariance(np.diag([3.0, 2, 1]), 1), [1, 2])
    return re.search(rf'fill="(#[0-9a-f]+)">{name}</text>', swept._repr_html_())[1]


def test_the_explorer_in_the_browser_has_the_same_colours():
    script = (ROOT / "nspca/dashboard/components/spannogram_explorer.js").read_text(encoding="utf-8")
    written = dict(re.findall(r'(\w+) = "(#[0-9a-f]{6})"', script))
    named = {"LIT": colours.MAIN, "STAR": colours.STAR, "GREY": colours.CURVES}
    assert written == named
    band = re.search(r"BAND = \[([^\]]*)\]", script)[1]
    assert tuple(re.findall(r'"([^"]+)"', band)) == colours.STRETCHES
