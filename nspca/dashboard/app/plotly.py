"""Serve plotly.js to browsers from the installed plotly package, without a copy or a content network.

Every component in `nspca.dashboard.components` that draws with Plotly hands `url` to its script.
"""

from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import streamlit as st

_VERSION = version("plotly")  # read once, since `version` searches every package folder
_SHELL = files("nspca.dashboard.app")
LOADER = "\n".join(
    _SHELL.joinpath(name).read_text("utf-8") for name in ("plotly.js", "touch.js", "themed.js")
)
"""First part of every script that draws with Plotly: loads it, and adapts figures to screens and themes."""
_SAVING = st.components.v2.component(
    "nspca_saving",
    html="<span hidden></span>",
    js="\n".join((LOADER, _SHELL.joinpath("saving.js").read_text("utf-8"))),
)


def file() -> Path:
    """Return the file that `server` sends to browsers."""
    return Path(str(files("plotly").joinpath("package_data", "plotly.min.js")))


def url() -> str:
    """Return the path of plotly.js on the server, with its version to renew browser caches."""
    base = st.get_option("server.baseUrlPath").strip("/")
    return f"{'/' + base if base else ''}/vendor/plotly.min.js?v={_VERSION}"


def png_too() -> None:
    """Add a button that saves PNG to every figure of the page, since Plotly's own button saves SVG only.

    The frame calls this at the end of every page.
    """
    _SAVING(key="saving", data={"plotly": url()})
