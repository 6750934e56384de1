"""Component with a small image on which a visitor chooses pixels by touching them.

The pages Learn and Join use it to let a visitor guess a component.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files

import numpy as np
import streamlit as st

from nspca.presentation.colours import CHOSEN

MOST_DIGITS = 7
"""Numbers of pixels with so many digits or more are refused before they are converted."""
_HTML = """
<div class="nspca-paint">
  <div class="grid" role="group" aria-label="pixels to choose from"></div>
  <div class="say"></div>
</div>
"""
_CSS = """
.nspca-paint { color: var(--st-text-color); font-family: var(--st-font);
  max-width: calc(22rem * var(--nspca-room, 1)); }
.nspca-paint .grid { display: grid; gap: 2px; touch-action: pan-y; }
.nspca-paint button {
  aspect-ratio: 1; padding: 0; cursor: pointer; border: 1px solid var(--st-border-color); border-radius: 3px;
  background: color-mix(in srgb, #fff calc(100% * var(--shade)), #777);
}
.nspca-paint button:focus-visible { outline: 2px solid var(--st-primary-color); }
.nspca-paint button[aria-pressed="true"] { background: var(--chosen); border-color: var(--chosen); }
.nspca-paint .say { margin-top: 0.4rem; }
""".replace("var(--chosen)", CHOSEN)
_JS = files("nspca.dashboard.components").joinpath("painter.js").read_text("utf-8")
_PAINTER = st.components.v2.component("nspca_painter", html=_HTML, css=_CSS, js=_JS)


@dataclass(frozen=True, eq=False)
class Image:
    """Image to paint on.

    Attributes
    ----------
    shade : (n,) brightness of the pixels, from 0 to 1, row by row
    columns : number of pixels in a row
    most : maximum number of pixels that a visitor may choose
    """

    shade: np.ndarray
    columns: int
    most: int


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
