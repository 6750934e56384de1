"""A button that copies text to the clipboard of the visitor, for lists of features."""

from importlib.resources import files

import streamlit as st

STYLE = """
.nspca-copy { font: inherit; font-size: 0.875rem; color: var(--st-text-color); background: transparent;
  cursor: pointer;
  border: 1px solid var(--st-border-color, rgba(128, 128, 128, 0.4));
  border-radius: var(--st-button-radius, 0.5rem);
  padding: 0.4rem 0.75rem; min-height: 2.5rem; }
.nspca-copy:hover, .nspca-copy:focus-visible { border-color: var(--st-primary-color);
  color: var(--st-primary-color); }
"""
_COPY = st.components.v2.component(
    "nspca_copy",
    html='<button type="button" class="nspca-copy"></button>',
    css=STYLE,
    js=files("nspca.dashboard.components").joinpath("copying.js").read_text("utf-8"),
)


def button(label: str, text: str, key: str) -> None:
    """Draw a button that copies `text`; afterwards it says "Copied", or that the browser refused."""
    _COPY(key=key, data={"label": label, "text": text}, height="content", width="content")
