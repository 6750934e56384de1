"""Draw the samples as cards, each with a picture of its data; a click chooses the sample.

The picker of the data page calls `show`.
"""

from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import streamlit as st

from nspca.dashboard import open_data
from nspca.dashboard.app import buttons, state, wording
from nspca.data import (
    SAMPLES,
    Sample,
    absent_original,
    is_installed,
    load_sample,
    present_samples,
    shown_name,
)
from nspca.plots.data_preview import HEIGHT, WIDTH, thumbnail
from nspca.presentation.colours import CONTEXT

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
EMPTY = (
    f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
    f'height="{HEIGHT}"><rect width="{WIDTH}" height="{HEIGHT}" rx="6" fill="{CONTEXT}" fill-opacity=".15"/>'
    "</svg>"
)
"""Stands in the place of a picture until it is drawn."""


def show() -> None:
    """Draw all samples; their pictures are made in the background, and each appears when it is ready."""
    st.html(WHOLE)
    drawn = {name: _drawing(name, open_data.version(name)) for name in present_samples()}
    awaited = [drawing for drawing in drawn.values() if not drawing.done()]
    with st.grid(4, min_column_width=150):
        for name in present_samples():
            _card(name, SAMPLES[name], _ready(drawn[name]))
    if lacking := [SAMPLES[name].title for name in SAMPLES if not is_installed(name)]:
        st.caption(f"{wording.listed(lacking)} come with `pip install 'nspca[samples]'`.")
    with st.expander("Sources and licences", icon=":material/copyright:"):
        st.markdown("\n".join(_source(SAMPLES[name]) for name in present_samples()))
    with st.container():  # it stays, so what is below keeps its place, and a popover there stays open
        if awaited:
            st.fragment(_look_again, run_every=0.5)(awaited)


def _source(sample: Sample) -> str:
    source = f" [Source]({sample.source_url})." if sample.source_url else ""
    return f"- **{wording.plain(sample.title)}**: {wording.plain(sample.licence)}.{source}"


def _look_again(awaited: list[Future[Any]]) -> None:
    """Draw the page again once a picture is ready; a fragment calls this."""
    if any(drawing.done() for drawing in awaited):
        st.rerun()


def _card(name: str, sample: Sample, picture: tuple[str, str]) -> None:
    taken = (
        state.get("upload") is None
        and state.get("folder") is None
        and shown_name(state.get("sample")) == name
    )
    with st.container(key=f"card_{name}", gap="xsmall"):
        style = f"width:100%;height:{HEIGHT}px;object-fit:contain;display:block;border-radius:.4rem"
        svg, size = picture
        said = f"Some samples of {sample.title}, {size}" if size else ""  # nothing is drawn yet
        st.html(wording.drawing(svg, style, said))
        buttons.button(
            sample.title,
            f"choose_{name}",
            lambda: take(name),
            type="primary" if taken else "secondary",
            icon=":material/check:" if taken else ICONS[sample.kind],
            width="stretch",
        )
        about = sample.summary
        if original := absent_original(name):
            about += f". In the place of {SAMPLES[original].title}, which are not on this machine"
        st.caption(f"{wording.plain(about)}.")


def take(name: str) -> None:
    """Choose a sample, and reset all values about other data."""
    state.forget((*state.ABOUT_DATA, *state.ABOUT_FILE, "upload", "folder"))
    state.put(sample=name)


@st.cache_resource(show_spinner=False)
def _pencil() -> ThreadPoolExecutor:
    """Return the one thread of this server that draws the pictures of samples."""
    return ThreadPoolExecutor(1, thread_name_prefix="thumbnails")


@st.cache_resource(show_spinner=False)
def _drawing(name: str, version: str) -> Future[Any]:
    """Return the future of a sample's picture, drawn once per server and `version` of the sample."""
    return _pencil().submit(_draw, name)


def _draw(name: str) -> tuple[str, str]:
    data = load_sample(name)
    svg = thumbnail(
        data.X, kind=data.kind, image_shape=data.image_shape, axis=data.axis, feature_names=data.feature_names
    )
    return svg, f"{data.X.shape[0]:,} × {data.X.shape[1]:,}"


def _ready(drawing: Future[Any]) -> tuple[str, str]:
    """Return a finished drawing; an empty picture if it is not ready or has failed."""
    if not drawing.done() or drawing.exception():
        return EMPTY, ""
    svg, size = drawing.result()
    return svg, size
