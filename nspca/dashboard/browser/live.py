"""A Plotly figure that is updated in place: zoom and camera survive each tick of a running job.

`st.plotly_chart` mounts a new figure at every change of its data. This component calls ``Plotly.react`` on
the one it has, with the plotly.js of the installed plotly package, served by this server itself.
"""

from collections.abc import Callable
from importlib.resources import files
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from nspca.dashboard.browser import figures
from nspca.dashboard.shell.plotly import LOADER, plotly_url, serve_plotly
from nspca.plots import alt_text


def plotly_script(name: str) -> str:
    """A script of this folder that draws with Plotly, behind what loads it."""
    return "\n".join((LOADER, files("nspca.dashboard.browser").joinpath(name).read_text("utf-8")))


_LIVE = st.components.v2.component(
    "nspca_live_plot",
    html='<div class="nspca-live"></div>',
    css=".nspca-live { width: 100%; }\n.nspca-live-error { color: var(--st-text-color); padding: 1rem; }",
    js=plotly_script("live.js"),
    # Plotly measures text and puts its styles into the document, which a shadow root would hide from it.
    isolate_styles=False,
)


def live_plot(
    figure: go.Figure, key: str, height: int = 450, on_click: Callable[[Any], None] | None = None
) -> Any:
    """Show a figure and update it in place at every rerun.

    Parameters
    ----------
    figure : Figure
        From `nspca.plots`: its description becomes the label for screen readers.
    key : str
        Identity of the figure on the page; also its ``uirevision``, so zoom and camera stay until the key
        changes.
    height : int
        Pixels.
    on_click : callable, optional
        Called before the rerun with the ``customdata`` of the clicked point.

    Returns
    -------
    customdata of the point clicked in this run, else None
    """
    serve_plotly()
    shown = go.Figure(figures.sized(figure)).update_layout(uirevision=key, height=height)

    def clicked() -> None:
        value = st.session_state[key].get("click")
        if on_click is not None and value is not None:
            on_click(value["customdata"])

    data = {"figure": shown.to_json(), "height": height, "plotly": plotly_url(), "alt": alt_text(figure)}
    result = _LIVE(key=key, data=data, height=height, on_click_change=clicked)
    click = result.get("click")
    return None if click is None else click["customdata"]
