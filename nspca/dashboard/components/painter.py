"""Components to guess with: a small image whose pixels are chosen by touch, and a line that is turned."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

from nspca.covariance.linalg import Array
from nspca.dashboard.components.mount import mount, styles
from nspca.presentation.colours import CHOSEN, CONTEXT, MAIN

MOST_DIGITS = 7  # numbers of pixels with so many digits or more are refused before they are converted
_PAINTER = mount("painter", css=styles("painter", chosen=CHOSEN))


@dataclass(frozen=True, eq=False)
class Image:
    """Image to paint on."""

    shade: np.ndarray  # (n,) brightness of the pixels, from 0 to 1, row by row
    columns: int  # number of pixels in a row
    most: int  # maximum number of pixels that a visitor may choose


def painter(image: Image, key: str, chosen: Sequence[int], on_change: Callable[[list[int]], None]) -> None:
    """Draw the image with the chosen pixels."""

    def take() -> None:
        said = st.session_state[key].get("chosen")
        on_change(
            painting(said.get("pixels") if isinstance(said, dict) else None, len(image.shade), image.most)
        )

    last = st.session_state.get(key, {}).get("chosen")
    turn = last.get("turn") if isinstance(last, dict) else 0
    data = {
        "shade": np.round(image.shade, 3).tolist(),
        "columns": image.columns,
        "most": image.most,
        "chosen": list(chosen),
        "turn": turn if isinstance(turn, int) else 0,
    }
    _PAINTER(key=key, data=data, on_chosen_change=take)


def painting(given: object, n: int, most: int) -> list[int]:
    """Return numbers of pixels from an untrusted value of a browser or address.

    They are distinct and in increasing order, at most `most` of the n pixels of the image.
    """
    said = [str(pixel) for pixel in given] if isinstance(given, list | tuple) else []
    pixels = {int(pixel) for pixel in said if pixel.isdecimal() and len(pixel) < MOST_DIGITS}
    return sorted(pixel for pixel in pixels if pixel < n)[:most]


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
