"""A button that copies text to the clipboard of the visitor, for lists of features."""

from nspca.dashboard.components.mount import mount

_COPY = mount("copying", '<button type="button" class="nspca-copy"></button>')


def button(label: str, text: str, key: str) -> None:
    """Draw a button that copies `text`; afterwards it says "Copied", or that the browser refused."""
    _COPY(key=key, data={"label": label, "text": text}, height="content", width="content")
