"""Lists that a visitor can press, on the pages Topics and Components."""

from collections.abc import Callable
from importlib.resources import files

import streamlit as st

_PRESSING = st.components.v2.component(
    "nspca_pressing",
    html="",
    js=files("nspca.dashboard.components").joinpath("pressing.js").read_text("utf-8"),
)
_STYLE = """<style>
.st-key-{lists} section:nth-of-type({chosen}) h3 {{ border-bottom: 3px solid currentColor;
  margin-bottom: 0.075rem; }}
.st-key-{lists}[data-pressable] section {{ cursor: pointer; border-radius: 0.3rem; }}
.st-key-{lists}[data-pressable] section:hover {{ background: rgba(128, 128, 128, 0.12); }}
</style>"""


def listen(lists: str, count: int, chosen: int, choose: Callable[[int], None], follow: str = "") -> None:
    """Mark the chosen list, and call `choose` with the number, from 1, of each list that the visitor presses.

    The keyboard does not reach the lists, so the page also has a control that makes the same choice.

    Parameters
    ----------
    lists : key of the container whose ``section`` elements are the lists
    count, chosen : number of lists, and the number of the chosen one, from 1
    choose : called before the page is drawn again
    follow : key of the container that a press scrolls into view, empty for none
    """
    key = f"press_{lists}"

    def take() -> None:
        pressed = st.session_state[key].get("pressed")
        if isinstance(pressed, int) and 1 <= pressed <= count:
            choose(pressed)

    st.html(_STYLE.format(lists=lists, chosen=chosen))
    _PRESSING(key=key, data={"lists": lists, "follow": follow}, on_pressed_change=take)
