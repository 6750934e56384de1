"""The slider of k under a curve: while it is dragged, all that is known at that k is shown at once."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace

import streamlit as st

from nspca.dashboard.app import state
from nspca.dashboard.components.mount import mount

ANSWER = "answer"  # key of the container with the headline and its bar
MOST_BYTES = 600_000
"""Maximum size of all pictures. Those farthest from the present k come only after the drag."""

_SLIDER = mount("k_slider", has_plotly=True)


@dataclass(frozen=True)
class Frame:
    """The answer at one k: headline, HTML of the bar, line of the proof, and picture as JSON of Plotly."""

    said: str
    bar: str
    proof: str
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
