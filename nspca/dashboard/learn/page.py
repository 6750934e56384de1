"""The page Learn: one screen of the lesson at a time, with buttons to the previous and the next screen."""

import streamlit as st

from nspca.dashboard import share
from nspca.dashboard.app import buttons, frame, state
from nspca.dashboard.app.form import choose_one
from nspca.dashboard.components.mount import mount
from nspca.dashboard.learn import classroom
from nspca.dashboard.learn.lesson import lesson
from nspca.dashboard.learn.rooms import QUESTIONS, ROOMS
from nspca.dashboard.learn.screens import SCREENS

_TOP = mount("top")
"""Component that scrolls to the top of the page when the number of the screen changes."""


def show() -> None:
    """Draw the open screen, or its question for a class while a room is open, and the navigation below."""
    last = len(SCREENS)
    number = min(max(1, state.get("screen")), last)
    screen = SCREENS[number - 1]
    share.title(screen.title)
    room = classroom.current()
    with frame.guard():
        if room is not None:
            ROOMS.turn(room, number)
        if room is not None and number in QUESTIONS:
            classroom.question(room, number, lesson())
        else:
            screen.show(lesson())
    with st.container(horizontal=True, vertical_alignment="center"):
        _turn("Previous", number - 1, last, "left")
        choose_one("Screen", "screen", range(1, last + 1), number, width="content")
        _turn("Next", number + 1, last, "right")
        if not state.get("present"):
            frame.present("present_tour")
    with st.expander("For the teacher", icon=":material/co_present:", type="compact"):
        st.markdown(screen.note)
    with frame.guard():
        classroom.panel(room, number)
    st.caption("Handwritten digits: 8 × 8 pixels, from scikit-learn.")
    _TOP(key="top", data={"screen": number}, height="content")


def _turn(label: str, to: int, last: int, key: str) -> None:
    """Draw a button to screen `to`, which the arrow key `key` presses too; disabled outside 1 to `last`."""
    possible = 1 <= to <= last
    buttons.button(label, f"turn_{key}", lambda: state.put(screen=to), disabled=not possible, shortcut=key)
