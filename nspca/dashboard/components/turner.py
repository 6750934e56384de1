"""Component of the page Join: a student turns a line to guess the direction of largest variance."""

from collections.abc import Callable

import numpy as np
import streamlit as st

from nspca.covariance.linalg import Array
from nspca.dashboard.components.mount import mount, styles
from nspca.presentation.colours import CONTEXT, MAIN

_TURNER = mount("turner", css=styles("turner", context=CONTEXT, main=MAIN))


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
