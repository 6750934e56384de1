"""Component with a small image on which a visitor chooses pixels by touching them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

from nspca.dashboard.components.mount import mount, styles
from nspca.presentation.colours import CHOSEN

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
