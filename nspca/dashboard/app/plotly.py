"""Serve plotly.js to browsers from the installed plotly package, without a copy or a content network.

Every component in `nspca.dashboard.components` that draws with Plotly calls `serve_plotly` and hands
`plotly_url` to its script.
"""

from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

import streamlit as st

from nspca.dashboard.app import internals

_ASSETS = "nspca_vendor"
_VERSION = version("plotly")  # read once, since `version` searches every package folder
_SHELL = files("nspca.dashboard.app")
LOADER = "\n".join(_SHELL.joinpath(name).read_text("utf-8") for name in ("plotly.js", "touch.js"))
"""First part of every script that draws with Plotly: loads plotly.js, and adapts figures to touch screens."""
_SAVING = st.components.v2.component(
    "nspca_saving",
    html="<span hidden></span>",
    js="\n".join((LOADER, _SHELL.joinpath("saving.js").read_text("utf-8"))),
)


def serve_plotly(**options: Any) -> None:
    """Make the Streamlit server serve plotly.js at `plotly_url`; `options` go to `internals.hand_out`."""
    if internals.hand_out(_ASSETS, "plotly", _folder(), "package_data", **options):
        internals.keep(_ASSETS)


@cache
def _folder() -> Path:
    """Return the folder of the plotly package, looked up once because every figure asks for it."""
    return Path(str(files("plotly")))


def plotly_url() -> str:
    """Return the path of plotly.js on the Streamlit server, with its version to renew browser caches."""
    base = st.get_option("server.baseUrlPath").strip("/")
    name = f"{_ASSETS}.plotly/plotly.min.js?v={_VERSION}"
    return f"{'/' + base if base else ''}/_stcore/bidi-components/{name}"


def png_too() -> None:
    """Add a button that saves PNG to every figure of the page, since Plotly's own button saves SVG only.

    The frame calls this at the end of every page.
    """
    serve_plotly()
    _SAVING(key="saving", data={"plotly": plotly_url()})
