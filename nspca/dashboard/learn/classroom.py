"""The teacher's view of a room: its code, the guesses of all phones in one figure, and the answer."""

import os
from functools import partial

import streamlit as st

from nspca.dashboard.app import browser_storage, buttons, links, wording
from nspca.dashboard.components import figures
from nspca.dashboard.learn import questions
from nspca.dashboard.learn.lesson import Lesson
from nspca.dashboard.learn.rooms import QUESTIONS, ROOMS, NoRoom, View, write_code
from nspca.dashboard.runs import progress

SECRET = "class_secret"
"""Session key: the secret of the room, empty when there is none."""
ENDED = "class_ended"
"""Session key: a summary of the room that was closed last, and the screen on which it was closed."""
INTRODUCTION = (
    "Open a room, and the class answers the questions of screens 1, 3 and 5 on their phones, without an "
    "account. This screen shows all guesses without names. The room keeps nothing but their number."
)
PASSWORD = "This server asks for a password. Students need it too, so tell them before they scan the code."


def current() -> str | None:
    """Return the secret of the open room of this browser, or None."""
    said = browser_storage.mirror("class", st.session_state.get(SECRET))
    if not said:
        return None
    try:
        ROOMS.view(said)
    except NoRoom:  # the room has ended, or belongs to another server
        st.session_state[SECRET] = ""
        return None
    st.session_state[SECRET] = said
    return said


def question(secret: str, screen: int, of: Lesson) -> None:
    """Draw a question for the class: its guesses as they arrive, then the answer."""
    view = ROOMS.view(secret)
    said = (
        questions.verdict(screen, view.guesses, of)
        if view.is_revealed
        else f"On your phone: {questions.TASKS[screen]}"
    )
    st.markdown(said)
    left, right = st.columns([4, 1], gap="medium", vertical_alignment="center")
    with left:
        if view.is_revealed:
            _draw(view, of)
        else:
            progress.repeat(lambda: _draw(ROOMS.view(secret), of))
    with right:
        _code(view.code)
    _warn(view.code)
    buttons.button(
        "Ask again" if view.is_revealed else "Show the answer",
        "class_reveal",
        lambda: ROOMS.reveal(secret, is_revealed=not view.is_revealed),
        icon=":material/replay:" if view.is_revealed else ":material/visibility:",
        type="secondary" if view.is_revealed else "primary",
    )


def panel(secret: str | None, screen: int) -> None:
    """Draw the box for opening and closing a room, folded on screens that already show the code.

    It stays open on the screen where a room was closed, as it then says what the class did.
    """
    said, closed_on = st.session_state.get(ENDED, (INTRODUCTION, None))
    is_wide = screen == closed_on if secret is None else screen not in QUESTIONS
    with st.expander("With a class", icon=":material/groups:", expanded=is_wide, type="compact"):
        if secret is None:
            st.markdown(said)
            buttons.button("Open a room", "class_open", _open, icon=":material/qr_code:")
            _warn()
            return
        view = ROOMS.view(secret)
        left, right = st.columns([1, 2], gap="medium")
        with left:
            _code(view.code)
        with right:
            st.markdown(
                f"Students scan the picture, or open the address and type **{write_code(view.code)}**. "
                f"Screens 1, 3 and 5 ask them. Phones here: {view.here}."
            )
            st.code(_address(view.code), language=None, wrap_lines=True)
            _warn(view.code)
            if os.environ.get("NSPCA_PASSWORD"):
                st.caption(PASSWORD)
            close = partial(_close, secret, screen)
            buttons.button("Close the room", "class_end", close, icon=":material/logout:")


def _open() -> None:
    st.session_state[SECRET] = ROOMS.open()
    st.session_state.pop(ENDED, None)


def _close(secret: str, screen: int) -> None:
    phones, guesses = ROOMS.end(secret)
    said = ", ".join(f"{count} for screen {at}" for at, count in guesses.items()) or "none"
    answered = wording.things(phones, "phone")
    summary = f"The room is closed. {answered} answered. Guesses: {said}. Nothing else was kept."
    st.session_state[ENDED], st.session_state[SECRET] = (summary, screen), ""


def _draw(view: View, of: Lesson) -> None:
    left = st.container()
    beside = questions.beside(view.screen, view.guesses, view.is_revealed, of)
    if beside is not None:
        left, right = st.columns([3, 2], gap="small")
        with right:
            figures.draw(beside, "class_beside", same=view.screen)
    with left:
        drawn = questions.figure(view.screen, view.guesses, view.is_revealed, of)
        figures.draw(drawn, "class_guesses", same=f"{view.screen} {view.is_revealed}")
    here = "" if view.is_revealed else f", phones here: **{view.here}**"
    st.markdown(f"Guesses: **{len(view.guesses)}**{here}")


def _code(code: str) -> None:
    links.draw(_address(code), "The address of the room")
    st.markdown(f"**{wording.plain(_address('').split('://')[-1].partition('?')[0])}**")
    st.markdown(f"## {write_code(code)}")


def _address(code: str) -> str:
    return links.address(f"join?room={code}")


def _warn(code: str = "") -> None:
    if links.is_alone(_address(code)):
        st.caption(f":material/warning: {links.ALONE}")
