"""The teacher's view of a room: its code, the guesses of all phones in one figure, and the answer.

The page Learn calls `current` at its start, and then `question` or `elsewhere`, and `panel`. Here `secret` is
that of the open room, and `screen` the number of the open screen of the lesson.
"""

import os

import streamlit as st

from nspca.dashboard.app import browser_storage, buttons, links, wording
from nspca.dashboard.components import figures
from nspca.dashboard.learn import questions
from nspca.dashboard.learn.lesson import Lesson
from nspca.dashboard.learn.rooms import PAINTING, QUESTIONS, ROOMS, Counts, NoRoom, View, write_code
from nspca.dashboard.runs import progress

SECRET = "class_secret"
"""Session key: the secret of the room, empty when there is none."""
ENDED = "class_ended"
"""Session key: the counts of the room that was closed last, and the screen on which it was closed."""
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
    ROOMS.turn(secret, screen)
    is_revealed = ROOMS.view(secret).is_revealed
    st.markdown(
        questions.verdict(screen, ROOMS.view(secret).guesses, of) if is_revealed else questions.TASKS[screen]
    )
    left, right = st.columns([4, 1], gap="medium", vertical_alignment="center")
    with left:
        _guesses(secret, screen, of)
    code = ROOMS.view(secret).code
    with right:
        _code(code)
        st.caption(wording.plain(_address(code).partition("://")[2].partition("?")[0]))
    _warn(code)
    buttons.button(
        "Ask again" if is_revealed else "Show the answer",
        "class_reveal",
        lambda: ROOMS.reveal(secret, is_revealed=not is_revealed),
        icon=":material/replay:" if is_revealed else ":material/visibility:",
        type="secondary" if is_revealed else "primary",
    )


def elsewhere(secret: str, screen: int) -> None:
    """Turn the room to a screen without a question, so that the phones wait for the next one."""
    ROOMS.turn(secret, screen)


def panel(secret: str | None, screen: int) -> None:
    """Draw the box for opening and closing a room, folded on screens that already show the code.

    It stays open on the screen where a room was closed, as it then says what the class did.
    """
    ended: Counts | None
    ended, closed_on = st.session_state.get(ENDED, (None, None))
    is_wide = screen == closed_on if secret is None else not is_question(screen)
    with st.expander("With a class", icon=":material/groups:", expanded=is_wide):
        if secret is None:
            st.markdown(_summary(ended) if ended is not None else INTRODUCTION)
            buttons.button("Open a room", "class_open", _open, icon=":material/qr_code:")
            _warn()
            return
        view = ROOMS.view(secret)
        left, right = st.columns([1, 2], gap="medium")
        with left:
            _code(view.code)
        with right:
            address = _address(view.code)
            st.markdown(
                f"Students scan the picture, or open the address and type **{write_code(view.code)}**. "
                f"Screens 1, 3 and 5 ask them. Phones here: {view.here}."
            )
            st.code(address, language=None, wrap_lines=True)
            _warn(view.code)
            if os.environ.get("NSPCA_PASSWORD"):
                st.caption(PASSWORD)
            buttons.button(
                "Close the room", "class_end", lambda: _end(secret, screen), icon=":material/logout:"
            )


def _open() -> None:
    """Open a room for this browser."""
    st.session_state[SECRET] = ROOMS.open()
    st.session_state.pop(ENDED, None)


def _end(secret: str, screen: int) -> None:
    """Close the room, and keep its counts for the summary and the screen on which it was closed."""
    st.session_state[ENDED] = ROOMS.end(secret), screen
    st.session_state[SECRET] = ""


def _summary(counts: Counts) -> str:
    """Return the sentences about a closed room: how many phones answered, and how many guesses they sent."""
    said = ", ".join(f"{count} for screen {screen}" for screen, count in counts.guesses.items()) or "none"
    phones = wording.things(counts.phones, "phone")
    return f"The room is closed. {phones} answered. Guesses: {said}. Nothing else was kept."


def _guesses(secret: str, screen: int, of: Lesson) -> None:
    """Draw the guesses, updated every second until the answer is shown."""
    view = ROOMS.view(secret)
    if view.is_revealed:
        _draw(view, screen, of)
        return

    progress.repeat(lambda: _draw(ROOMS.view(secret), screen, of))


def _draw(view: View, screen: int, of: Lesson) -> None:
    """Draw the figure of the guesses, with the answer if it is revealed."""
    left = st.container()
    if screen == PAINTING and view.is_revealed:
        left, right = st.columns([3, 2], gap="small")
        with right:
            figures.draw(questions.votes(view.guesses, of), "class_votes")
    with left:
        drawn = questions.figure(screen, view.guesses, view.is_revealed, of)
        figures.draw(drawn, "class_guesses", same=f"{screen} {view.is_revealed}")
    here = "" if view.is_revealed else f", phones here: **{view.here}**"
    st.markdown(f"Guesses: **{len(view.guesses)}**{here}")


def _code(code: str) -> None:
    """Draw the QR code of the room's address, and the code to type."""
    links.draw(_address(code), "The address of the room")
    st.markdown(f"## {write_code(code)}")


def _address(code: str) -> str:
    """Return the full address at which phones join the room."""
    return links.address(f"join?room={code}")


def _warn(code: str = "") -> None:
    """Draw a warning where no phone can open the address of a room."""
    if links.is_alone(_address(code)):
        st.caption(f":material/warning: {links.ALONE}")


def is_question(screen: int) -> bool:
    """Tell whether a screen of the lesson has a question for the class."""
    return screen in QUESTIONS
