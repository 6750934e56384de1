"""Lists of words on the page Components: they can be pressed, and words can be left out of them."""

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
