"""Draw the samples as cards, each with a picture of its data; a click chooses the sample.

The picker of the data page calls `show`.
"""

from contextlib import suppress

import streamlit as st

from nspca.dashboard import open_data
from nspca.dashboard.app import buttons, state, wording
from nspca.data import (
    SAMPLES,
    Sample,
    is_installed,
    load_sample,
    present_samples,
    shown_name,
)
from nspca.errors import NSPCAError
from nspca.plots.data_preview import HEIGHT, thumbnail

ICONS = {
    "image": ":material/image:",
    "spectrum": ":material/ssid_chart:",
    "words": ":material/notes:",
    "table": ":material/table_chart:",
}
# The button of a card reaches over all of it: a click on the picture chooses too.
WHOLE = """<style>
[class*="st-key-card_"] { position: relative; border-radius: .6rem; }
[class*="st-key-card_"]:hover { background: rgba(128,128,128,.10); }
[class*="st-key-card_"] [class*="st-key-choose_"], [class*="st-key-card_"] .stButton,
[class*="st-key-card_"] .stTooltipIcon, [class*="st-key-card_"] button { position: static; }
[class*="st-key-card_"] button::after { content: ""; position: absolute; inset: 0; z-index: 1; }
</style>"""


def show() -> None:
    """Draw all samples, each with a picture that is drawn once per server."""
    st.html(WHOLE)
    with st.grid(4, min_column_width=150):
        for name in present_samples():
            _card(name, SAMPLES[name])
    if lacking := [SAMPLES[name].title for name in SAMPLES if not is_installed(name)]:
        st.caption(f"{wording.listed(lacking)} come with `pip install 'nspca[samples]'`.")
    with st.expander("Sources and licences", icon=":material/copyright:", type="compact"):
        st.markdown("\n".join(_source(SAMPLES[name]) for name in present_samples()))


def _source(sample: Sample) -> str:
    source = f" [Source]({sample.source_url})." if sample.source_url else ""
    return f"- **{wording.plain(sample.title)}**: {wording.plain(sample.licence)}.{source}"


def _card(name: str, sample: Sample) -> None:
    taken = (
        state.get("upload") is None
        and state.get("folder") is None
        and shown_name(state.get("sample")) == name
    )
    with st.container(key=f"card_{name}", gap="xsmall"):
        style = f"width:100%;height:{HEIGHT}px;object-fit:contain;display:block;border-radius:.4rem"
        with suppress(NSPCAError):  # why it cannot be read is said where it is chosen
            svg, size = drawing(name, open_data.version(name))
            st.html(wording.drawing(svg, style, f"Some samples of {sample.title}, {size}"))
        buttons.button(
            sample.title,
            f"choose_{name}",
            lambda: take(name),
            type="primary" if taken else "secondary",
            icon=":material/check:" if taken else ICONS[sample.kind],
            width="stretch",
        )
        st.caption(f"{wording.plain(sample.summary)}.")


def take(name: str) -> None:
    """Choose a sample, and reset all values about other data."""
    state.forget((*state.ABOUT_DATA, *state.ABOUT_FILE, "upload", "folder"))
    state.put(sample=name)


@st.cache_resource(show_spinner=False)
def drawing(name: str, version: str) -> tuple[str, str]:
    """Return the picture of a sample as SVG, and its size, made once per server and `version`."""
    data = load_sample(name)
    svg = thumbnail(
        data.X, kind=data.kind, image_shape=data.image_shape, axis=data.axis, feature_names=data.feature_names
    )
    return svg, f"{data.X.shape[0]:,} × {data.X.shape[1]:,}"
