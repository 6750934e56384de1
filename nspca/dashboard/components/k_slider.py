"""The slider of k under a curve: while it is dragged, everything known at that k is shown without the server.

Home and Sweep draw it below their curve. It finds the curve and the picture by their keys on the page, and
the answer in the container `ANSWER`.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace

import streamlit as st

from nspca.dashboard.app import state
from nspca.dashboard.components.figures import plotly_script

ANSWER = "answer"
"""Key of the container with the headline and its bar."""
MOST_BYTES = 600_000
"""Maximum size of all pictures. Those farthest from the present k come only after the drag."""

_SLIDER = st.components.v2.component(
    "nspca_k_slider",
    html='<div class="nspca-k"><input type="range" min="0" max="1" step="any">'
    '<label><span></span> <input type="number" step="1"></label></div>',
    css="""
    .nspca-k { color: var(--st-text-color); font-size: 0.9rem; margin-top: -0.8rem; }
    .nspca-k [type=range] { width: calc(100% + 1rem); margin: 0 -0.5rem;
      accent-color: var(--st-primary-color); }
    .nspca-k label { position: relative; white-space: nowrap; }
    .nspca-k [type=number] { width: 4.5rem; font: inherit; font-weight: 600; color: inherit; background: none;
      border: 1px solid rgba(128, 128, 128, 0.4); border-radius: 0.3rem; padding: 0.1rem 0.3rem; }
    .nspca-live { display: contents; }
    .st-key-answer:has(> .nspca-live) > :not(.nspca-live) { display: none; }
    """,
    js=plotly_script("k_slider.js"),
    isolate_styles=False,
)


@dataclass(frozen=True)
class Frame:
    """The answer at one k: headline, HTML of the bar, line of the proof, and picture as JSON of Plotly.

    `best` tells that the line says that nothing better exists.
    """

    said: str
    bar: str
    proof: str
    best: bool
    figure: str | None


def k_slider(
    frames: dict[int, Frame],
    k: int,
    label: str,
    ends: tuple[int, int],
    curve: str,
    picture: str,
    on_choose: Callable[[int], None],
) -> None:
    """Draw the slider of the values of k in `frames`, with the present one as a number at its thumb."""
    key = f"slider_{curve}"

    def chosen() -> None:
        value = st.session_state[key].get("k")
        if isinstance(value, int) and ends[0] <= value <= ends[1]:
            on_choose(int(value))

    data = {
        "ks": sorted(frames),
        "k": k,
        "label": label,
        "least": ends[0],
        "most": ends[1],
        "curve": curve,
        "picture": picture,
        "frames": {size: asdict(frame) for size, frame in _near(frames, k).items()},
        "present": bool(state.get("present")),
    }
    _SLIDER(key=key, data=data, height="content", on_k_change=chosen)


def _near(frames: dict[int, Frame], k: int) -> dict[int, Frame]:
    """Return the frames without the pictures that are too many bytes, those far from k first."""
    ks: Sequence[int] = sorted(frames)
    room, kept = MOST_BYTES, {}
    for size in sorted(ks, key=lambda one: abs(ks.index(one) - ks.index(k))):
        frame = frames[size]
        room -= len(frame.figure or "")
        kept[size] = frame if room >= 0 else replace(frame, figure=None)
    return kept
