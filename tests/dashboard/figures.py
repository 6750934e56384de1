"""Read the figures and the slider of k that a page sends to the browser."""

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


def slider(page: AppTest) -> dict:
    """Return what the slider of k under the curve knows."""
    parts = (json.loads(part.proto.json) for part in page.get("bidi_component"))
    return next(sent for sent in parts if "frames" in sent)


def at_k(page: AppTest, k: int, name: str = "k") -> AppTest:
    """Open a page at another k of its slider, whose `name` is in the address."""
    assert k in slider(page)["ks"]
    page.query_params[name] = str(k)
    return page.run()
