"""Buttons whose click is never lost.

`st.button` is true in one run of the script only, and a run that is superseded before it comes to the button
takes the click with it: another change on the page is enough, or the end of the run before, which clears what
the browser sent. So a click is noted before any script runs, and kept until what it asks for is done. A page
that was drawn to its end without showing the button forgets it.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import streamlit as st

from nspca.dashboard.app import internals, state

PRESSED = "pressed"  # session key: keys of the buttons whose click waits
PAGE = "page"  # session key: the page they are on


@cache
def listen() -> None:
    """Note every click as its message arrives, once per server.

    A callback comes too late for a rerun that Streamlit drops because the next message is already there: on a
    busy server one that was sent some tenths of a second later.
    """

    def note(session: Any, clicked: set[str], there: set[str]) -> None:
        if PRESSED in session.session_state:
            session.session_state[PRESSED].update(clicked)
        state.heard(session.session_state, there)

    internals.listen(note)


def begin(page: str) -> frozenset[str]:
    """The clicks that wait while this page is drawn; those made on another page are over."""
    if st.session_state.get(PAGE) != page:
        st.session_state[PAGE], st.session_state[PRESSED] = page, set()
    return frozenset(_waiting())


def end(begun: frozenset[str]) -> None:
    """The page is complete: a click that `begin` saw and that found no button is over, one that has come
    since is not.
    """
    _waiting().difference_update(begun)


def pressed(label: str, key: str, **options: Any) -> bool:
    """A button, and whether its click waits; `take` ends the waiting."""
    waiting = _waiting()
    # The set itself goes to the callback: asking the session for it is a point where Streamlit may stop.
    st.button(label, key=key, on_click=waiting.add, args=(key,), **options)
    return key in waiting and not options.get("disabled")


def take(key: str) -> None:
    """The click was heard."""
    _waiting().discard(key)


def button(label: str, key: str, do: Callable[[], Any], **options: Any) -> None:
    """A button that does something, after which the page is drawn again.

    Parameters
    ----------
    label, key, **options : as for `st.button`
    do : callable
        Done once more when the run is superseded half way, so the second time must be harmless.
    """
    if not pressed(label, key, **options):
        return
    try:
        do()
    except Exception:  # said beside the button, and not tried again by itself
        take(key)
        raise
    take(key)
    st.rerun()


def _waiting() -> set[str]:
    return st.session_state.setdefault(PRESSED, set())
