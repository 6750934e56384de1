"""Plotly figures on a page, each with a description for people who do not see it, updated in place.

`st.plotly_chart` mounts a new figure at every change of its data, and brings a plotly.js of its own. This
component calls ``Plotly.react`` on the figure it has, so zoom and camera survive each tick of a running job,
with the plotly.js of the installed plotly package, served by this server itself.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Callable
from importlib.resources import files
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from nspca.dashboard.app import state
from nspca.dashboard.app.plotly import LOADER, plotly_url, serve_plotly
from nspca.plots import alt_text

LARGER = 1.35  # type of drawings before a room
HEIGHT = 450  # pixels of a figure that has no height of its own


def plotly_script(name: str) -> str:
    """A script of this folder that draws with Plotly, behind what loads it."""
    return "\n".join((LOADER, files("nspca.dashboard.components").joinpath(name).read_text("utf-8")))


_FIGURE = st.components.v2.component(
    "nspca_figure",
    html='<div class="nspca-figure"></div>',
    css=".nspca-figure { width: 100%; color: var(--st-text-color); }",
    js=plotly_script("figures.js"),
    # Plotly measures text and puts its styles into the document, which a shadow root would hide from it.
    isolate_styles=False,
)


def scale() -> float:
    """Return how much larger than on a desk the type of a drawing is."""
    return LARGER if state.get("present") else 1.0


def draw(
    figure: go.Figure, key: str, on_click: Callable[[Any], None] | None = None, same: object = None
) -> Any:
    """Show a figure, or bring the one that is there up to date.

    Parameters
    ----------
    figure : Figure
        From `nspca.plots`: its description becomes the label for screen readers.
    key : str
        Identity of the figure on the page.
    on_click : callable, optional
        Called before the rerun with the ``customdata`` of the clicked point; without it a click does nothing.
    same : optional
        What the figure is about, as text. Zoom, camera and what is hidden stay as long as it is the same,
        however the figure fills in; by default as long as the traces, their ends and the axes are.

    Returns
    -------
    customdata of the point clicked in this run, else None
    """
    return put(prepared(figure, key, same), key, on_click)


def prepared(figure: go.Figure, key: str, same: object = None) -> dict[str, Any]:
    """Return all that the browser gets of a figure. Sessions may share it."""
    height = int(figure.layout.height or HEIGHT)
    shown = go.Figure(figure).update_layout(height=height)
    _keeps(shown, f"{_named(key)} {_looks(figure) if same is None else same}")
    return {
        "figure": shown.to_json(remove_uids=False),
        "height": height,
        "plotly": plotly_url(),
        "alt": alt_text(figure),
    }


def _named(key: str) -> str:
    return re.sub("_(?=_)", "_.", key)  # Streamlit cuts names at two of them, and a run's may have such


def put(made: dict[str, Any], key: str, on_click: Callable[[Any], None] | None = None) -> Any:
    """Show a figure that is `prepared`, as `draw` does."""
    serve_plotly()
    key = _named(key)

    def clicked() -> None:
        value = st.session_state[key].get("click")
        if on_click is not None and value is not None:
            on_click(value["customdata"])

    # A click that nobody waits for runs no page.
    data = {**made, "clickable": on_click is not None, "present": bool(state.get("present"))}
    result = _FIGURE(key=key, data=data, height="content", on_click_change=clicked)
    click = result.get("click")
    return None if click is None else click["customdata"]


def _keeps(figure: go.Figure, revision: str) -> None:
    """Let the browser keep what somebody did to the figure until `revision` is another; traces are told apart
    by their names, because others may come before them.
    """
    figure.update_layout(uirevision=revision)
    for axis in (*figure.select_xaxes(), *figure.select_yaxes()):
        if axis.uirevision is not None:  # it has reasons of its own to start afresh, beside these
            axis.uirevision = f"{revision} {axis.uirevision}"
    seen: Counter[str] = Counter()
    for trace in figure.data:
        name = trace.name or trace.type
        # Plotly makes names of styles of it: letters and digits alone, whatever the names of traces are.
        trace.uid = f"t{hashlib.sha256(f'{name} {seen[name]}'.encode()).hexdigest()[:12]}"
        seen[name] += 1


def _looks(figure: go.Figure) -> str:
    """Return a digest of the titles of axes, and of kind, name and ends of the traces.

    Figures about different things have different digests.
    """
    axes = (*figure.select_xaxes(), *figure.select_yaxes())
    said = [axis.title.text for axis in axes]
    said += [f"{trace.type} {trace.name} {_ends(trace)}" for trace in figure.data]
    return hashlib.sha256(repr(said).encode()).hexdigest()[:16]


def _ends(trace: Any) -> str:
    """The ends of what is on the x axis, or the size of a picture."""
    for name in ("x", "z"):
        values = getattr(trace, name, None) if name in trace else None
        if values is not None and len(values):
            return f"{np.shape(values)}" if name == "z" else f"{values[0]} {values[-1]}"
    return ""
