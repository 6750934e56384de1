"""Convert figures to SVG and PNG files in the visitor's browser, so that the server needs no browser."""

import base64
import binascii
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from nspca.dashboard.app import plotly
from nspca.dashboard.components.mount import mount
from nspca.errors import InvalidData

WIDTH = 960  # pixels of an SVG; a PNG has twice as many
# fonts of equal width, so that texts fit wherever the SVG is opened
FONT = "Arial, Helvetica, 'Liberation Sans', sans-serif"
LARGEST = 32 * 2**20
"""Maximum bytes of a picture. A figure with every point of a large table has about a tenth."""
_PNG = b"\x89PNG\r\n\x1a\n"
_FOREIGN = ("<!DOCTYPE", "<!ENTITY", "<script")  # never written by Plotly, so refused

_PICTURES = mount("pictures", '<div class="nspca-pictures" role="status"></div>', has_plotly=True)


@dataclass(frozen=True)
class Picture:
    """A figure as SVG and PNG."""

    svg: bytes
    png: bytes


def draw(
    figures: Mapping[str, go.Figure], key: str, of: str, on_drawn: Callable[[dict[str, Picture] | None], None]
) -> None:
    """Let the browser convert figures, with a line of progress on the page."""
    # Dark on white, independent of the theme of the page.
    paper = {"paper_bgcolor": "#fff", "font": {"color": "#1d2b30", "family": FONT}}
    sent = {name: go.Figure(figure).update_layout(paper).to_json() for name, figure in figures.items()}

    def hear() -> None:
        said = st.session_state[key].get("drawn")
        if isinstance(said, dict) and said.get("of") == of:
            on_drawn(drawn(said.get("pictures"), list(sent)))

    _PICTURES(
        key=key,
        data={"of": of, "figures": sent, "plotly": plotly.url(), "width": WIDTH},
        on_drawn_change=hear,
    )


def drawn(said: Any, names: list[str]) -> dict[str, Picture] | None:
    """Return the pictures from an untrusted value of a browser; None unless each name has a valid one."""
    if not isinstance(said, dict) or set(said) != set(names):
        return None
    try:
        return {name: _picture(said[name]) for name in names}
    except InvalidData:
        return None


def _picture(said: Any) -> Picture:
    """Return a checked picture from an untrusted value of a browser; refuse a bad one."""
    svg, png = (said.get(kind) if isinstance(said, dict) else None for kind in ("svg", "png"))
    if not isinstance(svg, str) or not isinstance(png, str) or max(len(svg), len(png)) > LARGEST:
        raise InvalidData("A picture must be an SVG and a PNG: draw it again.")
    try:
        raw = base64.b64decode(png, validate=True)
    except (binascii.Error, ValueError):
        raise InvalidData("The PNG cannot be read: draw it again.") from None
    if not svg.startswith("<svg") or any(part in svg for part in _FOREIGN) or not raw.startswith(_PNG):
        raise InvalidData("A picture must be an SVG and a PNG as Plotly draws them: draw it again.")
    return Picture(svg.encode(), raw)
