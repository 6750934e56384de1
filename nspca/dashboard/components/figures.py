"""Draw Plotly figures on all pages, update them in place, and describe them for screen readers.

`st.plotly_chart` mounts a new figure at every change of its data, and ships a separate plotly.js. This
component calls ``Plotly.react`` on the mounted figure, so zoom and camera survive each update of a running
job. Its plotly.js is that of the installed plotly package, served by the Streamlit server.
"""

import hashlib
import pickle
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import plotly.graph_objects as go
import plotly.io as pio
import streamlit as st

from nspca.dashboard.app import cache, plotly, state
from nspca.dashboard.components.mount import mount
from nspca.plots.theme import alt_text

LARGER = 1.35  # factor for the font size of figures in present mode (a projector in a room)
HEIGHT = 450  # pixels, for a figure whose layout has no height


_FIGURE = mount("figures", '<div class="nspca-figure"></div>', has_plotly=True)


def scale() -> float:
    """Return the factor for the font size of figures: `LARGER` in present mode, otherwise 1."""
    return LARGER if state.get("present") else 1.0


@dataclass(frozen=True)
class Thumbnails:
    """Images of samples on one sheet, shown while the pointer is over a sample."""

    url: str  # the sheet, as a data URL
    columns: int  # columns, rows: images in a line and lines of the sheet
    rows: int
    width: int  # width, height: pixels of an image on the sheet
    height: int
    every: int = 1  # the sheet has the images of the samples 0, `every`, 2 `every` and so on


def draw(
    figure: go.Figure,
    key: str,
    same: object = None,
    on_select: Callable[[list[Any]], None] | None = None,
    thumbnails: Thumbnails | None = None,
) -> None:
    """Show a figure, or update the figure already shown under this key.

    Parameters
    ----------
    figure : Figure
        From `nspca.plots`: its description becomes the label for screen readers.
    key : str
        Identity of the figure on the page.
    same : optional
        Identity of the subject, turned into text. Zoom, camera and hidden traces are kept while this text is
        unchanged, even when data are added. By default it is the description of the figure.
    on_select : callable, optional
        Called with the ``customdata`` of the points in a lasso or box; with an empty list when it is removed.
    thumbnails : Thumbnails, optional
        The first entry of a point's ``customdata`` is the number of its image.
    """
    put(prepared(figure, key, same), key, on_select=on_select, thumbnails=thumbnails)


def draw_plot(
    plot: partial[go.Figure],
    key: str,
    height: int | None = None,
    on_click: Callable[[Any], None] | None = None,
    same: object = None,
) -> None:
    """Show the figure that `plot` returns. All sessions share it, so that it is made once."""
    same = None if same is None else f"{same}"
    put(_made(hash_plot(plot), key, height, same, plot), key, on_click)


def hash_plot(plot: partial[go.Figure]) -> str:
    """Return a hash of a function and all of its arguments."""
    return hashlib.blake2b(pickle.dumps(plot)).hexdigest()


@cache.keep()
def _made(
    content: str, key: str, height: int | None, same: str | None, _plot: partial[go.Figure]
) -> dict[str, Any]:
    """Return the prepared figure of a plot, cached; `content` is the hash of the plot."""
    figure = _plot()
    return prepared(figure if height is None else figure.update_layout(height=height), key, same)


def prepared(figure: go.Figure, key: str, same: object = None) -> dict[str, Any]:
    """Return the data that `put` sends to the browser. Several sessions may share one result."""
    # A dict, since a copy that is a figure would be validated once more, at ten times the cost.
    shown = figure.to_dict()
    layout = shown["layout"]
    height = layout["height"] = int(layout.get("height") or HEIGHT)
    alt = alt_text(figure)
    _keep_view(shown, f"{_safe_key(key)} {alt if same is None else same}")
    return {
        "figure": pio.to_json(shown, validate=False, remove_uids=False),
        "height": height,
        "plotly": plotly.url(),
        "alt": alt,
    }


def _safe_key(key: str) -> str:
    """Return a key without double underscores: Streamlit cuts names there, and a run's key may have some."""
    return re.sub("_(?=_)", "_.", key)


def put(
    made: dict[str, Any],
    key: str,
    on_click: Callable[[Any], None] | None = None,
    on_select: Callable[[list[Any]], None] | None = None,
    thumbnails: Thumbnails | None = None,
) -> None:
    """Show a figure made by `prepared`; the other arguments are as for `draw` and `draw_plot`."""
    key = _safe_key(key)

    def heard(name: str, do: Callable[[Any], None] | None) -> None:
        value = st.session_state[key].get(name)
        if do is not None and value is not None:
            do(value["customdata"])

    # Without a callback the browser sends nothing, so a click does not rerun the page.
    data = {
        **made,
        "clickable": on_click is not None,
        "selectable": on_select is not None,
        "thumbnails": None if thumbnails is None else asdict(thumbnails),
        "present": bool(state.get("present")),
    }
    _FIGURE(
        key=key,
        data=data,
        height="content",
        on_click_change=lambda: heard("click", on_click),
        on_select_change=lambda: heard("select", on_select),
    )


def _keep_view(figure: dict[str, Any], revision: str) -> None:
    """Make the browser keep zoom, camera and hidden traces, known by name, until `revision` changes."""
    figure["layout"]["uirevision"] = revision
    for name, axis in figure["layout"].items():
        if name.startswith(("xaxis", "yaxis")) and axis.get("uirevision") is not None:  # one of its own
            axis["uirevision"] = f"{revision} {axis['uirevision']}"
    seen: Counter[str] = Counter()
    for trace in figure["data"]:
        name = trace.get("name") or trace["type"]
        # Plotly builds CSS class names from the uid, so it may hold letters and digits only.
        trace["uid"] = f"t{hashlib.sha256(f'{name} {seen[name]}'.encode()).hexdigest()[:12]}"
        seen[name] += 1
