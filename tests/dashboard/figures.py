"""Read the figures that a page sends to the browser."""

import json

from streamlit.testing.v1 import AppTest


def drawn(page: AppTest) -> list[dict]:
    """Return ``figure``, ``alt`` and ``height`` of each figure that a page sends."""
    return [sent for part in page.get("bidi_component") if "alt" in (sent := json.loads(part.proto.json))]


def copied(page: AppTest) -> list[str]:
    """The texts that the copy buttons of a page put on the clipboard."""
    parts = [json.loads(part.proto.json) for part in page.get("bidi_component")]
    return [sent["text"] for sent in parts if set(sent) == {"label", "text"}]


def figures(page: AppTest) -> list[dict]:
    """The figures of a page as Plotly has them."""
    return [json.loads(sent["figure"]) for sent in drawn(page)]


def snippet(page):
    """Return the Python that a page shows for its result."""
    return next(code.value for code in page.code if code.language == "python")
