"""Buttons whose clicks are never lost.

`st.button` returns True in one run of the script only. If that run is superseded before it reaches the
button, for example by another change on the page, the click is lost. Here a callback records each click
before the script runs, and it is kept until its action is done. A click is dropped when a page was drawn to
its end without the button. Pages draw buttons with `button` or `pressed`; the frame of every page calls
`begin` and `end`. A `download` needs none of this, since the browser fetches the file by itself.
"""

from collections.abc import Callable
from typing import Any

import streamlit as st

from nspca.dashboard.app.state import PRESSED

CSV, PLAIN, BYTES = "text/csv", "text/plain", "application/octet-stream"  # media types of downloads
PAGE = "page"  # session key: the page they are on


def begin(page: str) -> frozenset[str]:
    """Return the waiting clicks at the start of a page; clicks on another page are dropped."""
    if st.session_state.get(PAGE) != page:
        st.session_state[PAGE], st.session_state[PRESSED] = page, set()
    return frozenset(_waiting())


def end(begun: frozenset[str]) -> None:
    """Drop the clicks of `begin` whose button was not drawn, at the end of a page; later clicks stay."""
    _waiting().difference_update(begun)


def pressed(label: str, key: str, **options: Any) -> bool:
    """Draw a button, and return whether a click on it waits; `take` removes the click."""
    waiting = _waiting()
    # The callback gets the set itself, since Streamlit may stop a script that accesses the session.
    st.button(label, key=key, on_click=waiting.add, args=(key,), **options)
    return key in waiting and not options.get("disabled")


def take(key: str) -> None:
    """Remove a waiting click, after its action was done."""
    _waiting().discard(key)


def button(label: str, key: str, do: Callable[[], Any], **options: Any) -> None:
    """Draw a button that calls `do` on a click, and then draws the page again.

    It is called again when the run is superseded half way, so a second call must be harmless.
    """
    if not pressed(label, key, **options):
        return
    try:
        do()
    except Exception:  # shown beside the button; the action is not repeated
        take(key)
        raise
    take(key)
    st.rerun()


def download(
    label: str, make: Callable[[], bytes | str], name: str, mime: str | None = CSV, **options: Any
) -> None:
    """Draw a button that downloads a file; the page is not drawn again.

    `make` returns its content at the click, and runs where the address is not known.
    """
    st.download_button(label, make, name, mime, icon=":material/download:", on_click="ignore", **options)


def _waiting() -> set[str]:
    return st.session_state.setdefault(PRESSED, set())
