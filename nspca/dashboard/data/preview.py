"""The data in force, looked at: what the file became, what it looks like, and how its variance is spread."""

import numpy as np
import pandas as pd
import scipy.sparse as sp
import streamlit as st

from nspca.dashboard.browser import figures
from nspca.dashboard.chosen import Chosen, chosen, columns, heavy, problem
from nspca.dashboard.shell import presses, state, words
from nspca.data import SAMPLES, Dataset, features_in_rows_suggestion, read
from nspca.data.dataset import numbered
from nspca.errors import InvalidData, NSPCAError
from nspca.jobs import engine
from nspca.plots import images_figure, sparsity_figure, spectrum_figure

ROWS, COLUMNS, EIGENVALUES = 8, 12, 20
BADGES = {"real": ":green-badge[original data]", "stand-in": ":orange-badge[stand-in, made up]", "user": ":blue-badge[your data]"}


def opened() -> Chosen:
    """The data in force; a logarithm that cannot be taken is said, and left out."""
    try:
        return chosen()
    except InvalidData as error:
        if not state.get("log"):
            raise
        state.put(log=None)
        found = chosen()
        st.error(words.plain(error), icon=":material/error:")
        return found


def title(of: Chosen) -> None:
    """Name, where it is from, and whether it is the real thing."""
    st.subheader(words.plain(_name(of)))
    st.markdown(f"{BADGES[of.dataset.source]} :small[:gray[{words.plain(of.dataset.provenance)}]]")


def line(of: Chosen) -> None:
    """The same in one line, for the other pages, with the way back to the choice."""
    data = of.dataset
    m, n = data.X.shape
    shape = f"{n} × {n} covariance" if data.is_covariance else f"{words.things(m, 'sample')} × {words.things(n, 'feature')}"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{words.plain(_name(of))}** {BADGES[data.source]} :small[:gray[{shape}]]", width="content")
        st.page_link("pages/data.py", label="other data", icon=":material/swap_horiz:", query_params=state.link())


def _name(of: Chosen) -> str:
    return SAMPLES[of.reference["sample"]].title if "sample" in of.reference else of.dataset.name


def reading() -> None:
    """How an uploaded table is read: names, labels, orientation."""
    if state.get("upload") is None:
        return
    look = columns(state.get("w") or "", state.get("upload"))
    with st.container(border=True):
        st.markdown("**How the file is read**")
        if look is not None:
            left, right = st.columns(2)
            names = [None, *look.columns] if not state.get("rows") else [None, *look.columns[:1]]
            automatic = "found automatically" if look.id_column is None else f"found automatically ({look.columns[look.id_column]})"
            left.selectbox(
                "Column with names",
                names,
                format_func=lambda name: automatic if name is None else name,
                **state.bind("id", _among("id", names)),
            )
            labels = [None, *(_label_rows(look) if state.get("rows") else look.columns)]
            right.selectbox(
                "Row with labels" if state.get("rows") else "Column with labels",
                labels,
                format_func=lambda name: "none" if name is None else name,
                **state.bind("label", _among("label", labels)),
            )
        with st.container(horizontal=True):
            st.toggle(
                "Features are in rows", help="Gene tables often come this way: one row for each gene.", **state.bind("rows", then=_turned)
            )
            st.toggle(
                "The table is a covariance matrix",
                help="Square and symmetric: it is then taken as it is.",
                **state.bind("cov", then=_turned),
            )


def vocabulary(of: Chosen) -> None:
    """Word counts that came without their words: the place to give them."""
    data, digest = of.dataset, state.get("upload")
    if digest is None or data.kind != "words" or data.feature_names != numbered("word", len(data.feature_names)):
        return
    given = st.file_uploader(
        "The vocabulary of these word counts: a text file with one word in each line", key=f"words_{digest[:8]}", type=["txt"]
    )
    if given is not None:
        read(engine().store.get_upload(state.workspace(), digest)[0], vocabulary=given.getvalue())
        about = {"file": given.name[-120:], "name": "vocabulary", "words": True}
        state.put(vocab=engine().store.put_upload(state.workspace(), given.getvalue(), about), run=None, k=None)
        st.rerun()


def _turned() -> None:
    state.forget((*state.ABOUT_DATA, "id", "label"))


def _label_rows(look) -> list[str]:
    body = look.rows[1:] if look.header else look.rows
    return [body[row][look.id_column or 0] for row in look.label_rows]


def _among(name: str, options: list) -> str | None:
    return state.get(name) if state.get(name) in options else None


def notes(of: Chosen) -> None:
    """What reading changed, and what it suggests."""
    data = of.dataset
    if data.source == "user" and not state.get("rows"):
        suggested, sentence = features_in_rows_suggestion(data.X, data.sample_names, data.feature_names)
        if suggested:
            st.info(words.plain(sentence), icon=":material/swap_vert:")
    if data.notes:
        heading = "What the file became" if data.source == "user" else "About these data"
        st.markdown("\n".join([f"**{heading}**", *(f"- {words.plain(note)}" for note in data.notes)]))


def facts(data: Dataset) -> None:
    """Shape, sparsity, memory."""
    m, n = data.X.shape
    filled = data.X.nnz if sp.issparse(data.X) else np.count_nonzero(data.X)
    size = data.X.data.nbytes + data.X.indices.nbytes + data.X.indptr.nbytes if sp.issparse(data.X) else data.X.nbytes
    groups = 0 if data.labels is None else len(np.unique(data.labels))
    with st.grid(5, min_column_width=130):
        st.metric("Samples", "none" if data.is_covariance else f"{m:,}", border=True)
        st.metric("Features", f"{n:,}", border=True)
        st.metric("Zeros", f"{100 * (1 - filled / (m * n)):.1f} %", border=True)
        st.metric("Memory", words.size(size), border=True)
        st.metric("Labels", str(groups or "none"), border=True)


def picture(data: Dataset) -> None:
    """The first samples as what they are."""
    if data.image_shape is not None:
        figures.draw(images_figure(data.X[:24], data.image_shape), "preview_images")
    elif sp.issparse(data.X):
        figures.draw(sparsity_figure(data.X), "preview_sparsity")
    else:
        _table(data)


def _table(data: Dataset) -> None:
    m, n = data.X.shape
    part = pd.DataFrame(
        np.asarray(data.X[:ROWS, :COLUMNS]), columns=list(data.feature_names[:COLUMNS]), index=list(data.sample_names[:ROWS])
    )
    if data.labels is not None:
        part.insert(0, "label ", [str(label) for label in data.labels[:ROWS]])
    label = {"label ": st.column_config.TextColumn("label", width="small")}
    st.dataframe(part, alt=f"The first rows and columns of {data.name}", height=320, column_config=label)
    if m > ROWS or n > COLUMNS:
        st.caption(f"The first {min(ROWS, m)} of {words.things(m, 'row')} and the first {min(COLUMNS, n)} of {words.things(n, 'column')}.")


def preparation(of: Chosen) -> None:
    """Centre and scale, and what the covariance is like then."""
    if of.dataset.is_covariance:
        st.caption("A covariance matrix is taken as it is: there is nothing to centre or to scale.")
    else:
        with st.container(horizontal=True):
            st.toggle("Centre", help="Subtract each feature's mean, as PCA does.", **state.bind("center", then=_changed))
            st.toggle(
                "Standardise",
                help="Divide each feature by its standard deviation: all then count alike.",
                **state.bind("scale", then=_changed),
            )
            st.toggle(
                "log2(x + 1)", help="For counts and intensities that span many sizes; before centring.", **state.bind("log", then=_changed)
            )
            if state.get("scale") or state.get("drop"):
                help_drop = "A feature that takes one value only cannot be standardised."
                st.toggle("Leave out constant features", help=help_drop, **state.bind("drop", then=_changed))
    try:
        _spectrum(of)
    except NSPCAError as error:
        st.error(words.plain(error), icon=":material/error:")


def _changed() -> None:
    state.forget(("run", "k", "shown"))


def _spectrum(of: Chosen) -> None:
    matrix = problem(of, True, state.get("center"), state.get("scale"))
    if heavy(of.dataset) and not presses.pressed(
        "Show how the variance is spread", "spread", icon=":material/bar_chart:", help="Takes some seconds for a table of this size."
    ):
        return
    with st.spinner("Computing the leading eigenvalues …"):
        values = matrix.covariance.leading(min(EIGENVALUES, matrix.n))[0] * matrix.covariance.unit
    if matrix.total_variance > 0:
        figures.draw(spectrum_figure(values, matrix.total_variance), "spectrum")
    else:
        st.info("Every feature is constant: there is no variance to explain.")
