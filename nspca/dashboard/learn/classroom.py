"""Both views of a room. The teacher sees its code, the guesses of all phones in one figure, and the answer.

A student enters the code on the page Join, sees the open question, and sends a guess.
"""

import os
import secrets
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from nspca.dashboard.app import browser_storage, buttons, frame, links, state, wording
from nspca.dashboard.app.wording import plain
from nspca.dashboard.components import figures, spannogram_explorer
from nspca.dashboard.components.painter import painter, painting, turner
from nspca.dashboard.learn import questions
from nspca.dashboard.learn.lesson import K, Lesson, lesson, pair
from nspca.dashboard.learn.rooms import QUESTIONS, ROOMS, Asked, NoRoom, View, read_code, write_code
from nspca.dashboard.learn.screens import image_of
from nspca.dashboard.runs import progress

SECRET = "class_secret"  # session key: the secret of the room, empty when there is none
ENDED = "class_ended"  # session key: a summary of the room that was closed last, and the screen there
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
    is_over = view.is_revealed
    st.markdown(
        questions.verdict(screen, view.guesses, of)
        if is_over
        else f"On your phone: {questions.TASKS[screen]}"
    )
    left, right = st.columns([4, 1], gap="medium", vertical_alignment="center")
    with left:
        if is_over:
            _draw(view, of)
        else:
            progress.repeat(lambda: _draw(ROOMS.view(secret), of))
    with right:
        _code(view.code)
    _warn(view.code)
    label, icon = ("Ask again", "replay") if is_over else ("Show the answer", "visibility")
    turn = partial(ROOMS.reveal, secret, is_revealed=not is_over)
    look = {"icon": f":material/{icon}:", "type": "secondary" if is_over else "primary"}
    buttons.button(label, "class_reveal", turn, **look)


def panel(secret: str | None, screen: int) -> None:
    """Draw the box for opening and closing a room, folded on screens that already show the code.

    It stays open on the screen where a room was closed, as it then says what the class did.
    """
    said, closed_on = st.session_state.get(ENDED, (INTRODUCTION, None))
    is_wide = screen == closed_on if secret is None else screen not in QUESTIONS
    with st.expander("With a class", icon=":material/groups:", expanded=is_wide, type="compact"):
        if secret is None:
            st.markdown(said)
            begin = lambda: st.session_state.update({SECRET: ROOMS.open(), ENDED: (INTRODUCTION, None)})  # noqa: E731
            buttons.button("Open a room", "class_open", begin, icon=":material/qr_code:")
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


def _close(secret: str, screen: int) -> None:
    phones, guesses = ROOMS.end(secret)
    said = ", ".join(f"{count} for screen {at}" for at, count in guesses.items()) or "none"
    answered = wording.things(phones, "phone")
    summary = f"The room is closed. {answered} answered. Guesses: {said}. Nothing else was kept."
    st.session_state[ENDED], st.session_state[SECRET] = (summary, screen), ""


def _draw(view: View, of: Lesson) -> None:
    about = view.screen, view.guesses, view.is_revealed, of
    beside = questions.beside(*about)
    left, right = st.columns([3, 2], gap="small") if beside is not None else (st.container(), None)
    if right is not None:
        with right:
            figures.draw(beside, "class_beside", same=view.screen)
    with left:
        figures.draw(questions.figure(*about), "class_guesses", same=f"{view.screen} {view.is_revealed}")
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


PHONE, SENT, JOINED, PIXELS = "phone", "phone_sent", "phone_joined", "phone_pixels"
"""Session keys: the name of this phone, its guesses by screen, its room, and what is painted."""
FORM_WIDTH = 480  # pixels, on a screen that is wider than a phone
BEAT = 2.0  # seconds between two looks at what is asked
FORM = (
    "A teacher asks the class three questions about handwritten digits. You answer each with a guess on this "
    "page. Type the code that is on the projector."
)
NO_CODE = "**No code?** It belongs to a lesson in a class. Without one, go through the lesson on your own."
SEND = "Send my guess"
WAITING = "You are in the room. The next question appears here: look at the projector."
OVER = "The answer is on the projector."


def join() -> None:
    """Draw the form for a code, or the open question of the room."""
    # The name is kept in the browser, so that a reload does not count twice.
    kept = browser_storage.mirror("phone", st.session_state.get(PHONE))
    if isinstance(kept, str) and 0 < len(kept) <= 64:  # from a browser, which may say anything
        phone = st.session_state[PHONE] = kept
    else:
        phone = st.session_state.setdefault("phone_new", secrets.token_urlsafe(12))
    code = read_code(state.get("room") or "")
    if not code:
        _form()
        return
    try:
        asked = ROOMS.ask(code, phone)
    except NoRoom as error:
        if st.session_state.get(JOINED) == code:
            st.markdown("The room is closed. Thank you for your guesses.")
        else:
            st.error(plain(error), icon=":material/error:")
        other = partial(state.put, room=None)
        buttons.button("Enter another code", "other_code", other, icon=":material/dialpad:")
        return
    st.session_state[JOINED] = code
    _question(code, phone, asked)

    def step() -> None:
        try:
            if ROOMS.ask(code, phone) == asked:
                return
        except NoRoom:
            pass
        st.rerun()

    progress.repeat(step, BEAT)


def _form() -> None:
    st.markdown(FORM)
    with st.form("join", border=False, width=FORM_WIDTH):
        typed = st.text_input(
            "Code of the room, in capital or small letters",
            max_chars=12,
            placeholder="ABC-DEF",
            key="typed_code",
        )
        if st.form_submit_button("Join", type="primary", width="stretch"):
            if read_code(typed):
                state.put(room=read_code(typed))
                st.rerun()
            st.error("A code has six letters and digits, such as K7M-2XQ.")
    st.markdown(NO_CODE)
    st.page_link("pages/learn.py", label="Learn: the lesson alone", icon=":material/school:")
    st.page_link("app.py", label="Home: what this is", icon=":material/home:")


def _question(code: str, phone: str, asked: Asked) -> None:
    screen = asked.screen
    if screen not in QUESTIONS:
        st.info(WAITING, icon=":material/hourglass_empty:")
        return
    sent = st.session_state.get(SENT, {}).get((code, screen))
    if asked.is_revealed:
        mine = "" if sent is None else f" {questions.how_it_did(screen, sent)}"
        st.info(f"{OVER}{mine}", icon=":material/visibility:")
        return
    st.markdown(questions.TASKS[screen])

    def send(guess: object) -> None:
        if guess is None:
            return
        with frame.guard():
            given = ROOMS.answer(code, phone, screen, guess)
            st.session_state.setdefault(SENT, {})[code, screen] = given
            st.session_state[PHONE] = phone

    of = lesson()
    if screen == questions.DIRECTION:
        turner(of.X[:, list(pair(of)[0])], "phone_direction", SEND, sent, send)
    elif screen == questions.SPANNOGRAM:
        data = spannogram_explorer.sending(questions.spannogram_of(of)[0], K, SEND, sent)
        turned = lambda phi: send(None if phi is None else float(np.degrees(phi)))  # noqa: E731
        spannogram_explorer.guess(data, "phone_angle", turned)
    else:
        pixels = painting(st.session_state.get(PIXELS, []), of.problem.n, K)
        painter(image_of(of), "phone_painter", pixels, lambda told: st.session_state.update({PIXELS: told}))
        label, few = "Change my guess" if sent else SEND, len(pixels) < K
        look: dict[str, Any] = {"type": "primary", "disabled": few, "width": "stretch"}
        buttons.button(label, "phone_send", lambda: send(pixels), **look)
        if sent:
            st.markdown("**Your guess was sent.** You may change it until the answer is shown.")
