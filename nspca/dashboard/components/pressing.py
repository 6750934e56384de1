"""Lists of words: they can be pressed, words can be left out of them, and a button copies them."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from nspca.dashboard.components.mount import mount

_PRESSING = mount("pressing")


def listen(
    lists: str, choose: Callable[[int], None] | None, leave_out: Callable[[int], None], follow: str = ""
) -> None:
    """Listen to the lists of a container, whose words then light up wherever they stand on the page."""
    key = f"press_{lists}"

    def take(name: str, do: Callable[[int], None] | None) -> None:
        value = st.session_state[key].get(name)
        if do is not None and isinstance(value, int):
            do(value)

    data: dict[str, Any] = {"lists": lists, "follow": follow, "pressable": choose is not None}
    _PRESSING(
        key=key,
        data=data,
        on_pressed_change=lambda: take("pressed", choose),
        on_out_change=lambda: take("out", leave_out),
    )


_COPY = mount("copying", '<button type="button" class="nspca-copy"></button>')


def copy_button(label: str, text: str, key: str) -> None:
    """Draw a button that copies `text`; afterwards it says "Copied", or that the browser refused."""
    _COPY(key=key, data={"label": label, "text": text}, height="content", width="content")
