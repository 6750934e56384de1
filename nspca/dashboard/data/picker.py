"""Choosing the data: a sample from the catalogue, or a file of one's own."""

from functools import partial

import streamlit as st

from nspca.dashboard import chosen
from nspca.dashboard.shell import presses, state, words
from nspca.data import SAMPLES, Sample, look_at, read
from nspca.errors import InvalidData, NSPCAError
from nspca.jobs import engine

ICONS = {"image": ":material/image:", "spectrum": ":material/ssid_chart:", "words": ":material/notes:", "table": ":material/table_chart:"}
SOURCES = {"sample": ":material/category: Pick a sample", "upload": ":material/upload_file: Use your own file"}
TYPES = ["csv", "tsv", "txt", "npz", "npy", "zip", "gz"]
FORMATS = "CSV or TSV, NPZ or NPY, UCI docword (also gzipped), a ZIP of PGM or PNG images of one size"


def choose() -> None:
    """A sample, or an upload."""
    source = st.segmented_control(
        "Where the data comes from",
        list(SOURCES),
        required=True,
        label_visibility="collapsed",
        format_func=SOURCES.get,
        **state.bind("source", state.get("source") if state.get("source") in SOURCES else "sample"),
    )
    if source == "upload":
        _uploads()
    else:
        _samples()


def _samples() -> None:
    with st.grid(4, min_column_width=185):
        for name, sample in SAMPLES.items():
            _card(name, sample)


def _card(name: str, sample: Sample) -> None:
    taken = state.get("upload") is None and state.get("sample") == name
    badge = ":orange-badge[stand-in] " if chosen.is_stand_in(name) else ""
    with st.container(key=f"card_{name}", gap="xsmall"):
        st.button(
            sample.title,
            key=f"choose_{name}",
            on_click=_take_sample,
            args=(name,),
            type="primary" if taken else "secondary",
            icon=":material/check:" if taken else ICONS[sample.kind],
            width="stretch",
        )
        st.caption(f"{badge}{words.plain(sample.summary)}")


def _take_sample(name: str) -> None:
    state.forget((*state.ABOUT_DATA, *state.ABOUT_FILE, "upload"))
    state.put(sample=name)


def _uploads() -> None:
    count = st.session_state.setdefault(state.UPLOADER, 0)
    label = f"{FORMATS}. Nothing leaves the machine that runs nspca."
    given = st.file_uploader(label, type=TYPES, key=f"{state.UPLOADER}_{count}", max_upload_size=200)
    if given is not None and _readable(given.getvalue()):
        _keep(given.name, given.getvalue())
    kept = engine().store.list_uploads(state.get("w")) if state.get("w") else []
    files = {upload["digest"]: upload for upload in kept if not upload["meta"].get("words")}
    if not files:
        st.caption(
            "No file yet. A table has samples in rows and features in columns, or the other way round; names are found by themselves."
        )
        return
    for digest, upload in files.items():
        _row(digest, upload)


def _row(digest: str, upload: dict) -> None:
    taken = state.get("upload") == digest
    with st.container(horizontal=True, vertical_alignment="center", key=f"upload_{digest[:8]}"):
        st.button(
            "In use" if taken else "Choose",
            key=f"choose_{digest[:8]}",
            on_click=_take_upload,
            args=(digest,),
            disabled=taken,
            icon=":material/check:" if taken else None,
        )
        st.markdown(f"{words.plain(upload['meta']['file'])} :small[:gray[{words.size(upload['size'])}]]", width="content")
        presses.button("Delete", f"delete_{digest[:8]}", partial(_delete, digest), icon=":material/delete:", type="tertiary")


def _readable(content: bytes) -> bool:
    """Whether the file is data, or a table that becomes data once its columns are named; if not, one sentence says why."""
    try:
        try:
            read(content)
        except InvalidData:
            if look_at(content) is None:
                raise
    except NSPCAError as error:
        st.error(words.plain(error), icon=":material/error:")
        return False
    return True


def _keep(file: str, content: bytes) -> None:
    """Keep the bytes as they came, and start with them; then empty the uploader, which would offer them again at every rerun."""
    digest = engine().store.put_upload(state.workspace(), content, {"file": file[-120:], "name": chosen.title_of(file)})
    _take_upload(digest)
    st.session_state[state.UPLOADER] += 1
    st.rerun()


def _take_upload(digest: str) -> None:
    state.forget((*state.ABOUT_DATA, *state.ABOUT_FILE, "sample"))
    state.put(upload=digest)


def _delete(digest: str) -> None:
    engine().store.delete_upload(state.workspace(), digest)
    if state.get("upload") == digest:
        state.forget((*state.ABOUT_DATA, *state.ABOUT_FILE, "upload"))
