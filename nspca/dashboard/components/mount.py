"""Make the components of this folder, each from NAME.js, and from NAME.css and NAME.html if there are any."""

from importlib.resources import files
from typing import Any

import streamlit as st

from nspca.dashboard.app.plotly import LOADER

_FOLDER = files("nspca.dashboard.components")


def read(name: str) -> str:
    """Return the text of a file of this folder; empty where there is none."""
    file = _FOLDER.joinpath(name)
    return file.read_text("utf-8") if file.is_file() else ""


def styles(name: str, **colours: str) -> str:
    """Return NAME.css with colours in place of its variables: `chosen` in that of ``var(--chosen)``."""
    css = read(f"{name}.css")
    for variable, colour in colours.items():
        css = css.replace(f"var(--{variable})", colour)
    return css


def mount(name: str, html: str = "", css: str = "", has_plotly: bool = False, is_alone: bool = True) -> Any:
    """Return a component of the browser.

    One with Plotly, and one that is not alone, has no shadow root, which would hide the page from it. Plotly
    measures text, and puts its styles into the document.
    """
    script = f"{LOADER}\n{read(f'{name}.js')}" if has_plotly else read(f"{name}.js")
    html = html or read(f"{name}.html") or "<span hidden></span>"
    how: dict[str, Any] = {"html": html, "css": css or styles(name) or None, "js": script}
    return st.components.v2.component(f"nspca_{name}", isolate_styles=is_alone and not has_plotly, **how)
