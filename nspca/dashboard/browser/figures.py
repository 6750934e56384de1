"""Plotly figures on a page: always with a description for people who do not see them."""

from typing import Any

import plotly.graph_objects as go
import streamlit as st

from nspca.plots import alt_text

# The camera saves in the browser; nothing is sent anywhere.
CONFIG = {"displaylogo": False, "showSendToCloud": False, "toImageButtonOptions": {"format": "svg"}}


def draw(figure: go.Figure, key: str, **options: Any) -> Any:
    """A finished figure."""
    return st.plotly_chart(figure, key=key, alt=alt_text(figure), config=CONFIG, **options)
