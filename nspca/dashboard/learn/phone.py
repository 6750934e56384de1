"""The student's view of a room, the page Join: enter a code, see the open question, send a guess."""

import secrets
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from nspca.dashboard.app import browser_storage, buttons, frame, state
from nspca.dashboard.app.wording import plain
from nspca.dashboard.components import spannogram_explorer
from nspca.dashboard.components.painter import painter, painting
from nspca.dashboard.components.turner import turner
from nspca.dashboard.learn import questions
from nspca.dashboard.learn.lesson import K, lesson, pair
from nspca.dashboard.learn.painting import image_of
from nspca.dashboard.learn.rooms import QUESTIONS, ROOMS, Asked, NoRoom, read_code
from nspca.dashboard.runs import progress

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


def show() -> None:
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
