"""Plotly figures on a page: always with a description for people who do not see them."""

from typing import Any

import plotly.graph_objects as go
import streamlit as st

from nspca.dashboard.shell import state
from nspca.plots import alt_text

# The camera saves in the browser; nothing is sent anywhere.
CONFIG = {"displaylogo": False, "showSendToCloud": False, "toImageButtonOptions": {"format": "svg"}}


LARGER = 1.35  # type before a room, as on the rest of the page


def scale() -> float:
    """How much larger than on a desk the type of a figure is."""
    return LARGER if state.get("present") else 1.0


def sized(figure: go.Figure) -> go.Figure:
    """The figure as it is, or for a room."""
    if scale() == 1:
        return figure
    larger = go.Figure(figure).update_layout(font_size=14 * LARGER, hoverlabel_font_size=14 * LARGER)
    for axes in (larger.update_xaxes, larger.update_yaxes):
        axes(title_font_size=14 * LARGER, tickfont_size=13 * LARGER)
    return larger


def draw(figure: go.Figure, key: str, **options: Any) -> Any:
    """A finished figure."""
    return st.plotly_chart(sized(figure), key=key, alt=alt_text(figure), config=CONFIG, **options)
