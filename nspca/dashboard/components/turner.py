"""Component of the page Join: a student turns a line to guess the direction of largest variance."""

from collections.abc import Callable
from importlib.resources import files

import numpy as np
import streamlit as st

from nspca.covariance.linalg import Array
from nspca.presentation.colours import CONTEXT, MAIN

_HTML = """
<div class="nspca-turner">
  <svg class="cloud" viewBox="0 0 300 300" role="img"></svg>
  <input class="angle" type="range" min="0" max="179" step="1" aria-label="angle of the line in degrees" />
  <div class="bar"><button class="send" type="button"></button> <span class="say" role="status"></span></div>
</div>
"""
_CSS = """
.nspca-turner { color: var(--st-text-color); font-family: var(--st-font); max-width: 24rem; }
.nspca-turner .cloud { display: block; width: 100%; touch-action: pan-y; cursor: grab; }
.nspca-turner circle { fill: CONTEXT; opacity: 0.6; }
.nspca-turner line { stroke: MAIN; stroke-width: 4; }
.nspca-turner .angle { width: 100%; height: 2rem; accent-color: var(--st-primary-color); }
.nspca-turner .bar { display: flex; gap: 0.8rem; align-items: center; flex-wrap: wrap; }
.nspca-turner button { font: inherit; padding: 0.4rem 1.2rem; border: none; cursor: pointer;
  border-radius: var(--st-button-radius);
  background: var(--st-primary-color); color: var(--st-background-color); }
""".replace("CONTEXT", CONTEXT).replace("MAIN", MAIN)
_JS = files("nspca.dashboard.components").joinpath("turner.js").read_text("utf-8")
_TURNER = st.components.v2.component("nspca_turner", html=_HTML, css=_CSS, js=_JS)


def turner(
    points: Array, key: str, send: str, guessed: float | None, on_guess: Callable[[object], None]
) -> None:
    """Show points and a line that a visitor turns, with a button that sends the angle."""
    at, counts = np.unique(points, axis=0, return_counts=True)
    low, size = points.min(), float(np.ptp(points)) or 1.0
    data = {
        "points": np.column_stack([(at - low) / size, counts]).round(3).tolist(),
        "middle": ((points.mean(axis=0) - low) / size).round(4).tolist(),
        "send": send,
        "guessed": guessed,
    }
    take = lambda: on_guess(st.session_state[key].get("guess"))  # noqa: E731
    _TURNER(key=key, data=data, on_guess_change=take)
