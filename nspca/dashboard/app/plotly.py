"""plotly.js of the installed plotly package, served by this server itself: 5 MB that need no copy and no
network.
"""

from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

import streamlit as st

from nspca.dashboard.app import internals

_ASSETS = "nspca_vendor"
_VERSION = version("plotly")  # asking looks through every folder that packages may be in
_SHELL = files("nspca.dashboard.app")
LOADER = "\n".join(_SHELL.joinpath(name).read_text("utf-8") for name in ("plotly.js", "touch.js"))
"""The start of every script that draws with Plotly: it loads plotly.js, and adapts figures to phones."""
_SAVING = st.components.v2.component(
    "nspca_saving",
    html="<span hidden></span>",
    js="\n".join((LOADER, _SHELL.joinpath("saving.js").read_text("utf-8"))),
)


def serve_plotly(**options: Any) -> None:
    """Let the server hand out plotly.js."""
    if internals.hand_out(_ASSETS, "plotly", Path(str(files("plotly"))), "package_data", **options):
        internals.keep(_ASSETS)


def plotly_url() -> str:
    """Path on this server of plotly.js."""
    base = st.get_option("server.baseUrlPath").strip("/")
    name = f"{_ASSETS}.plotly/plotly.min.js?v={_VERSION}"
    return f"{'/' + base if base else ''}/_stcore/bidi-components/{name}"


def png_too() -> None:
    """A second button above every figure of the page: Plotly's own saves in one format, which is SVG."""
    serve_plotly()
    _SAVING(key="saving", data={"plotly": plotly_url()})
