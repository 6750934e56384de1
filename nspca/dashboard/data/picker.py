"""Choose the data: a sample of the catalogue, an upload, or a folder of the server.

The data page calls `choose`.
"""

from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from nspca.dashboard import open_data
from nspca.dashboard.app import buttons, state, wording
from nspca.dashboard.app.form import choose_one
from nspca.dashboard.data import cards
from nspca.dashboard.open_data import reference
from nspca.data import Dataset, example_file
from nspca.data.formats.images import CONVERT
from nspca.data.missing import MOST_LOST
from nspca.data.roles import NO_LABEL
from nspca.data.samples import EXAMPLES, Example
from nspca.data.sandbox import open_file
from nspca.errors import MissingValues, NotPrepared, NSPCAError
from nspca.jobs import engine
from nspca.shards.served import opened, served
from nspca.specs.data import title_of

SOURCES = {
    "sample": ":material/category: Pick a sample",
    "upload": ":material/upload_file: Use your own file",
    "shards": ":material/database: Use a folder on the server",
}
FORMATS = (
    "A table (CSV, TSV, Excel, Parquet, NPY, NPZ, Matrix Market), texts (a ZIP of .txt files, a table with a "
    "column of texts, a text with a document in each line), images (a ZIP of JPEG, PNG, WebP or PGM) or word "
    "counts (UCI docword)."
)
"""Help text on the accepted files, also for the table of other samples on the page Sweep."""
BEFORE = "before"  # session key: the values with which the data were read before the last choice
SHOWN = 3  # files that are listed; the others are folded, so that the options of reading stay near
MOST_NAMED = 0.5
"""Share of the samples of the table in use that a file has to name to be taken as their groups."""
LONGEST_PASTED = 1_000_000  # characters that may be pasted; a browser is slow with more


def choose() -> None:
    """Draw the choice between samples, uploads and folders."""
    offered = {name: said for name, said in SOURCES.items() if name != "shards" or served()}
    st.markdown("### Choose other data")
    source = choose_one("Where the data comes from", "source", offered)
    if source == "upload":
        _uploads()
    elif source == "shards":
        _folders()
    else:
        cards.show()


def _uploads() -> None:
    count = st.session_state.setdefault(state.UPLOADER, 0)
    label = "A table, texts or images; then a table of groups, or both at once. Nothing leaves this server."
    how: dict[str, Any] = {"key": f"{state.UPLOADER}_{count}", "max_upload_size": 200, "help": FORMATS}
    # Every type is taken: the readers say why a file cannot be used, Streamlit only in a hover text.
    given = st.file_uploader(label, accept_multiple_files=True, **how)
    if given and _take([(one.name, one.getvalue()) for one in given]):
        st.rerun()
    _paste()
    kept = engine().store.list_uploads(state.get("w")) if state.get("w") else []
    files = {upload["digest"]: upload for upload in kept if not upload["meta"].get("words")}
    if not files:
        _example()
    in_order = sorted(files, key=lambda digest: digest != state.get("upload"))
    for digest in in_order[:SHOWN]:
        _row(digest, files[digest])
    if others := in_order[SHOWN:]:
        with st.expander(wording.things(len(others), "more file"), icon=":material/folder:", type="compact"):
            for digest in others:
                _row(digest, files[digest])


def _paste() -> None:
    """Draw a field for pasted texts, one per line or paragraph."""
    with st.expander("Or paste texts", icon=":material/content_paste:", type="compact"):
        text = st.text_area(
            "One text in each line, or in each paragraph between blank lines",
            key=f"pasted_{st.session_state[state.UPLOADER]}",
            max_chars=LONGEST_PASTED,
            height=140,
        )
        if buttons.pressed("Count their words", "count_pasted", type="primary", disabled=not text.strip()):
            buttons.take("count_pasted")
            found = open_file(text.encode(), "pasted texts", as_texts=True)
            if isinstance(found.data, NSPCAError):
                st.error(wording.plain(found.data), icon=":material/error:")
            else:
                _put("pasted texts.txt", text.encode())
                state.put(words=True)
                st.rerun()


def _example() -> None:
    """Offer two example files: a table, and genes with a table about the samples."""

    def offer(label: str, key: str, example: Example, icon: str) -> None:
        """Draw the button of an example file, with what the file is beside it."""
        with st.container(horizontal=True, vertical_alignment="center"):
            buttons.button(label, key, partial(_try, example), icon=icon)
            about = wording.plain(example.about)
            st.caption(f"{about[0].upper()}{about[1:]}.", width="content")

    wine, genes = map(_example_file, EXAMPLES)
    offer("Try an example file", "example", wine, ":material/science:")
    offer("Try a gene table", "example_genes", genes, ":material/genetics:")


@st.cache_resource(show_spinner=False)
def _example_file(name: str) -> Example:
    return example_file(name)


def _try(example: Example) -> None:
    """Store an example file and the table about its samples as uploads, and choose them."""
    _put(example.file, example.content)
    if example.annotation is not None:
        add_annotation("samples.csv", example.annotation)
        state.put(rows=example.features_in_rows)
    st.rerun()


def _row(digest: str, upload: dict[str, Any]) -> None:
    taken = state.get("upload") == digest
    opens = taken and _opens()
    with st.container(horizontal=True, vertical_alignment="center", key=f"upload_{digest[:8]}"):
        st.button(
            "Choose" if not taken else "In use" if opens else "Cannot be used yet",
            key=f"choose_{digest[:8]}",
            on_click=_take_upload,
            args=(digest,),
            disabled=taken,
            icon=None if not taken else ":material/check:" if opens else ":material/warning:",
        )
        st.markdown(
            f"{wording.plain(upload['meta']['file'])} :small[:gray[{wording.size(upload['size'])}]]",
            width="content",
        )
        buttons.button(
            "Delete",
            f"delete_{digest[:8]}",
            partial(_delete, digest),
            icon=":material/delete:",
            type="tertiary",
        )


def _opens() -> bool:
    try:
        open_data.chosen()
    except NotPrepared:
        return True  # read it was
    except NSPCAError:
        return False
    return True


def _take(files: list[tuple[str, bytes]]) -> bool:
    """Store files and choose one; one of two, or one alone, may group samples. Tell if any is usable."""
    if len(files) == 1 and _is_about_the_table(files[0][1]):
        state.forget(("label",))
        add_annotation(*files[0])
        st.session_state[state.UPLOADER] += 1
        return True
    if len(files) == 2:
        table, about = sorted(files, key=lambda file: -len(file[1]))
        if _usable(table[1], title_of(table[0]), silent=True):
            _put(*table)
            found = open_file(table[1], title_of(table[0]), annotation=about[1], **reference().reading())
            if isinstance(found.data, Dataset):
                add_annotation(*about)
                return True
    usable = [file for file in files if _usable(file[1], title_of(file[0]))]
    for file in reversed(usable):
        _put(*file)
    return bool(usable)


def _is_about_the_table(content: bytes) -> bool:
    """Tell whether a file is smaller than the table in use, and has groups for most of its samples."""
    if state.get("upload") is None:
        return False
    try:
        raw, about = engine().store.get_upload(state.workspace(), state.get("upload"))
    except NSPCAError:  # the page says that it is gone
        return False
    if len(content) > len(raw) / 2:
        return False
    where = reference().but_for("label_column", "annotation")
    alone = open_data.open_upload(state.workspace(), where).data
    how = {**where.reading(), "as_texts": where.words}
    joined = open_file(raw, about["name"], annotation=content, **how).data
    if not (isinstance(alone, Dataset) and isinstance(joined, Dataset)):
        return False
    added = [joined.label_columns[name] for name in joined.label_columns.keys() - alone.label_columns]
    return any(np.mean(groups != NO_LABEL) >= MOST_NAMED for groups in added)


def open_annotation_alone() -> None:
    """Choose the table about the samples as data of its own."""
    values = values_of_reading()
    content, meta = engine().store.get_upload(state.workspace(), state.get("about"))
    _put(meta["file"], content)
    st.session_state[BEFORE] = values


def values_of_reading() -> dict[str, Any]:
    """Return all values of the address about the upload: which, how read, and what is done to it."""
    return {name: state.get(name) for name in ("upload", *state.ABOUT_FILE, *state.ABOUT_DATA)}


def read_as_before() -> None:
    """Undo the last choice about reading."""
    state.put(**st.session_state.pop(BEFORE, {}))


def add_annotation(file: str, content: bytes) -> None:
    """Store a table about the samples, and use it in the address."""
    meta = {"file": file[-120:], "name": "about the samples", "words": True}
    state.put(about=engine().store.put_upload(state.workspace(), content, meta), run=None, k=None)


def _usable(content: bytes, name: str, silent: bool = False) -> bool:
    """Tell whether a file can be read, possibly with other options; if not, draw the error."""
    found = open_data.read_as(content, name)
    if isinstance(found.data, NSPCAError) and not found.is_mendable:
        if not silent:
            st.error(wording.plain(found.data), icon=":material/error:")
        return False
    return True


def _put(file: str, content: bytes) -> None:
    """Store a file and choose it; empty the uploader, which would return the file at every rerun."""
    digest = engine().store.put_upload(
        state.workspace(), content, {"file": file[-120:], "name": title_of(file)}
    )
    _take_upload(digest)
    st.session_state[state.UPLOADER] = st.session_state.get(state.UPLOADER, 0) + 1


def _take_upload(digest: str) -> None:
    """Choose an upload, and how it is read: words are counted, gaps left out, images shrunk."""
    state.forget((*state.ABOUT_DATA, *state.ABOUT_FILE, "sample", "folder"))
    state.put(upload=digest)
    st.session_state.pop(BEFORE, None)
    raw, about = engine().store.get_upload(state.workspace(), digest)
    found = open_data.read_as(raw, about["name"])
    if isinstance(found.data, NSPCAError) and found.texts:
        state.put(words=True)
    elif isinstance(found.data, MissingValues):
        state.put(gaps=_least_loss(raw, about["name"]))
    elif isinstance(found.data, NSPCAError) and found.data.ways and found.data.ways[0].option == "image_size":
        state.put(pixels=found.data.ways[0].value)
    elif isinstance(found.data, Dataset) and open_data.has_many_pixels(found.data):
        state.put(pixels=CONVERT[0].value)
    st.session_state[state.UNSEEN] = digest


def _least_loss(raw: bytes, name: str) -> str:
    """Return how a table with missing values keeps the most; "mean" where leaving out loses much."""
    kept = {}
    for how in ("features", "samples", "mean"):
        found = open_data.read_as(raw, name, missing=how).data
        if isinstance(found, Dataset):
            kept[how] = found.X.shape[0] * found.X.shape[1]
    whole = kept.pop("mean", 0)
    best = max(kept, key=kept.__getitem__, default="mean")
    return best if kept.get(best, 0) >= (1 - MOST_LOST) * whole else "mean"


def _delete(digest: str) -> None:
    engine().store.delete_upload(state.workspace(), digest)
    if state.get("upload") == digest:
        state.forget((*state.ABOUT_DATA, *state.ABOUT_FILE, "upload"))


def _folders() -> None:
    """Draw a line for each folder, with a button that chooses it."""
    st.caption(
        "Tables that need not fit into memory. Sweep and Topics work on all their rows, in passes over the "
        "files; the other pages show a sample of them."
    )
    for number, name in enumerate(served()):
        _folder(number, name)


def _folder(number: int, name: str) -> None:
    try:
        table = opened(name)
    except NSPCAError as error:
        st.error(wording.plain(f"{name}: {error}"), icon=":material/error:")
        return
    m, n = table.shape
    taken = state.get("upload") is None and state.get("folder") == name
    with st.container(horizontal=True, vertical_alignment="center", key=f"folder_{number}"):
        buttons.button(
            "In use" if taken else "Choose",
            f"folder_take_{number}",
            partial(_take_folder, name),
            icon=":material/check:" if taken else ":material/table_rows:",
            disabled=taken,
        )
        size = f"{wording.things(m, 'row')} × {wording.things(n, 'feature')}, {table.nonzeros:,} nonzeros"
        st.markdown(f"{wording.plain(name)} :small[:gray[{size}]]", width="content")


def _take_folder(name: str) -> None:
    """Choose a folder, and reset all values about other data."""
    state.forget((*state.ABOUT_DATA, *state.ABOUT_FILE, "sample", "upload"))
    state.put(folder=name)
