"""Draw the chosen data: what reading the file gave, a picture, the preparation, and the spectrum.

The data page calls most functions. `answer_page.open_page` draws `line` and `rows` at the top of other pages.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import scipy.sparse as sp
import streamlit as st

from nspca.dashboard.app import buttons, form, state, wording
from nspca.dashboard.components import figures
from nspca.dashboard.open_data import Chosen, heavy, is_sample, measures, obstacle, problem
from nspca.data import PREPARATIONS, SAMPLES, Dataset, Finding, shown_name
from nspca.errors import NSPCAError
from nspca.plots.data_preview import lines, strip
from nspca.plots.samples import sparsity_figure, spectrum_figure
from nspca.specs import DataSpec, ProblemSpec

FOLDER = ":blue-badge[folder on the server]"
ROWS, COLUMNS, EIGENVALUES = 6, 12, 20
"""Rows and columns in the table of first rows, and eigenvalues in the spectrum."""
LINE = 130
"""Maximum pixels of a line of images in height: not higher than one image on a desk."""
LINES_STYLE = "width:100%;height:calc(170px * var(--nspca-room,1))"
SPECTRA = 10  # rows that are drawn as lines, and features that a row needs for that
REPAIR = (
    "A matrix that was stored in single precision can have eigenvalues slightly below zero. A multiple of "
    "the identity is then added for the search and the proof. Values and bounds are stated for the matrix "
    "as given."
)
TEXTS, SHOWN = 3, 300  # first texts that are shown, and the maximum characters of each
BADGES = {
    "real": ":gray-badge[real data]",
    "copy": ":orange-badge[copy with other values]",
    "relative": ":gray-badge[in the place of the original]",
    "user": ":blue-badge[your data]",
}


def title(of: Chosen, sentences: str) -> None:
    """Draw the name of the data that are open, a badge for their source, and the given sentences."""
    st.markdown(f"## Open now: {wording.plain(_name(of))}")
    st.markdown(f"{_badge(of)} {sentences}")


def line(of: Chosen) -> None:
    """Draw name and size of the data in one line, with a link to the data page, for use on other pages."""
    data = of.dataset
    m, n = of.shape
    shape = (
        _matrix(of) if data.is_covariance else f"{_rows(data, m)} × {wording.things(n, wording.noun(data))}"
    )
    if of.reference.some:
        shape += ", a sample of the rows"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{wording.plain(_name(of))}** {_badge(of)} :small[:gray[{shape}]]", width="content")
        st.page_link(
            "pages/data.py", label="other data", icon=":material/swap_horiz:", query_params=state.link()
        )


def _matrix(of: Chosen) -> str:
    """Return what a covariance is, such as "correlations of 13 measurements on 180 mine props"."""
    if of.reference.sample in SAMPLES:
        return SAMPLES[of.reference.sample].summary.partition(",")[0]
    n = of.shape[1]
    return f"{n} × {n} {'correlations' if np.all(of.dataset.X.diagonal() == 1) else 'covariance'}"


def _rows(data: Dataset, count: int) -> str:
    """Return the number of rows with their noun, such as "1,797 images"."""
    if data.image_shape is not None:
        return wording.things(count, "image")
    if data.kind == "spectrum":
        return wording.things(count, "spectrum", "spectra")
    return wording.things(count, "document" if data.kind == "words" else "sample")


def rows(of: Chosen) -> None:
    """Draw which rows of a folder are used, and the switch to a sample; nothing for other data."""
    if of.reference.folder is None:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        if of.table is not None or is_sample(of):
            st.toggle(
                "Only a sample of the rows",
                **state.bind("some", then=lambda: state.forget(("k", "shown", *state.OF_RUNS))),
            )
        said = f"Worked on are {of.dataset.provenance}"
        if of.table is None and not state.get("some"):
            said += ", as something is done to the features or their numbers"
        st.caption(wording.plain(f"{said}."), width="content")


def _badge(of: Chosen) -> str:
    if of.reference.folder is not None:
        return FOLDER
    return BADGES[of.dataset.source]


def _name(of: Chosen) -> str:
    sample = of.reference.sample
    return of.dataset.name if sample is None else SAMPLES[shown_name(sample)].title


def notes(of: Chosen, findings: Sequence[Finding]) -> None:
    """Draw findings that nothing turns as sentences, and the number of constant features."""
    data, constant = of.dataset, measures(of).constant
    lines = [one.sentence for one in findings]
    # Features constant in a sample of a folder may vary in the other rows.
    is_said = any(one.option == "drop_constant" for one in data.findings)
    if constant.size and not is_said and not data.is_covariance and of.reference.folder is None:
        first = data.feature_names[constant[0]]
        has = "takes" if constant.size == 1 else "take"
        many = wording.things(constant.size, wording.noun(data))
        lines.append(f"{many} {has} one value only, the first is {first}: no variance to explain.")
    if not lines:
        return
    if data.source == "user":
        st.caption(" ".join(wording.plain(note) for note in lines))
    else:
        st.markdown("\n".join(["**About these data**", *(f"- {wording.plain(note)}" for note in lines)]))


def facts(of: Chosen) -> None:
    """Draw where the data come from, their shape, sparsity, memory and number of groups."""
    data, (m, n) = of.dataset, of.shape
    if data.provenance:
        st.caption(wording.plain(data.provenance))
    if of.table is not None:
        filled, size = of.table.nonzeros, of.table.nbytes
    elif sp.issparse(data.X):
        filled, size = measures(of).filled, data.X.data.nbytes + data.X.indices.nbytes + data.X.indptr.nbytes
    else:
        filled, size = measures(of).filled, data.X.nbytes
    groups = 0 if data.labels is None else len(np.unique(data.labels))
    with st.grid(5, min_column_width=130):
        st.metric("Samples", "none" if data.is_covariance else f"{m:,}", border=True)
        st.metric("Features", f"{n:,}", border=True)
        st.metric("Zeros", f"{100 * (1 - filled / (m * n)):.1f} %", border=True)
        st.metric("Memory" if of.table is None else "On disk", wording.size(size), border=True)
        st.metric("Labels", str(groups or "none"), border=True)


def picture(data: Dataset, images: int, lines_of_images: int = 1) -> None:
    """Draw the first samples by their kind: images, texts, a pattern of nonzeros, or rows of numbers.

    Of images there are `images` in all, in `lines_of_images` lines.
    """
    if data.image_shape is not None:
        alt = f"The first {wording.things(min(images, data.X.shape[0]), 'image')} of {data.name}"
        sheet = strip(data.X[:images], data.image_shape, lines_of_images)
        height = f"max-height:calc({LINE * lines_of_images}px * var(--nspca-room,1))"
        st.html(wording.drawing(sheet, f"width:100%;{height};object-fit:contain", alt))
    elif data.texts is not None:
        _texts(data)
    elif data.kind == "spectrum":
        alt = f"{wording.things(min(SPECTRA, data.X.shape[0]), 'row')} of {data.name} as lines"
        st.html(wording.drawing(lines(data.X, data.axis, SPECTRA), LINES_STYLE, alt))
    elif sp.issparse(data.X):
        figures.draw(sparsity_figure(data.X), "preview_sparsity", same=f"{data.name} {data.X.shape}")
    else:
        _table(data)


def _texts(data: Dataset) -> None:
    assert data.texts is not None
    # The first text of each group before further ones.
    first = [] if data.labels is None else sorted(np.unique(data.labels, return_index=True)[1].tolist())
    for i in list(dict.fromkeys([*first, *range(len(data.texts))]))[:TEXTS]:
        text = data.texts[i]
        group = "" if data.labels is None else f" :gray[{wording.plain(str(data.labels[i]))}]"
        more = " …" if len(text) > SHOWN else ""
        said = wording.plain(" ".join(text[:SHOWN].split()))
        st.markdown(f"**{wording.plain(data.sample_names[i])}**{group} {said}{more}")


def first_rows(data: Dataset) -> None:
    """Draw the first rows and columns of numbers, unless `picture` already shows them."""
    if data.image_shape is not None or sp.issparse(data.X):
        _table(data)


def small_table(data: Dataset) -> None:
    """Draw the first rows and columns of a table, dense or sparse, beside its file."""
    st.dataframe(_first(data), alt=f"The first rows of {data.name} as they were understood")


def _first(data: Dataset) -> pd.DataFrame:
    some = data.X[:ROWS, :COLUMNS]
    return pd.DataFrame(
        np.asarray(some.toarray() if sp.issparse(some) else some),
        columns=list(data.feature_names[:COLUMNS]),
        index=list(data.sample_names[:ROWS]),
    )


def _table(data: Dataset) -> None:
    (m, n), part = data.X.shape, _first(data)
    if data.labels is not None:
        part.insert(0, "label ", [str(label) for label in data.labels[:ROWS]])
    label = {"label ": st.column_config.TextColumn("label")}
    st.dataframe(part, alt=f"The first rows and columns of {data.name}", column_config=label)
    sides = ((ROWS, m, "row"), (COLUMNS, n, "column"))
    cut = [f"the first {most} of {wording.things(count, one)}" for most, count, one in sides if count > most]
    if cut:
        st.caption(f"T{' and '.join(cut)[1:]}.")


def preparation(of: Chosen) -> None:
    """Draw the switches for centring, scaling and other preparations, and the resulting spectrum."""
    if of.dataset.is_covariance:
        st.caption("A covariance matrix is taken as it is: there is nothing to centre or to scale.")
        if of.reference.upload is not None:
            form.draw(
                DataSpec, "repair", then=changed, label="Accept rounding to single precision", help=REPAIR
            )
    else:
        with st.container(horizontal=True):
            form.draw(ProblemSpec, "center", st, changed, help="Subtract each feature's mean, as PCA does.")
            scale = "Divide each feature by its standard deviation. Then every feature counts alike."
            form.draw(ProblemSpec, "scale", st, changed, help=scale)
            log = "For counts and intensities that span many sizes; before centring."
            form.draw(DataSpec, "log2", st, changed, help=log)
            if state.get("drop") or measures(of).constant.size:
                drop = "A feature that takes one value only cannot be standardised."
                form.draw(
                    DataSpec, "drop_constant", st, changed, label="Leave out constant features", help=drop
                )
        if measures(of).scales and not state.get("scale"):
            st.caption(wording.plain(measures(of).scales))
        _as_in_the_papers(of)
    try:
        _spectrum(of)
    except NSPCAError as error:
        st.error(wording.plain(error), icon=":material/error:")


def offer_to_drop(of: Chosen) -> bool:
    """Draw that constant features cannot be standardised, and the button that leaves them out.

    Return whether that is so. Folders are not examined: a feature may vary in the rows that are not shown.
    """
    data, constant = of.dataset, measures(of).constant
    some = 0 < constant.size < data.X.shape[1]
    if not (state.get("scale") and some) or data.is_covariance or of.reference.folder is not None:
        return False
    noun, first = wording.noun(data), wording.plain(data.feature_names[constant[0]])
    many = wording.things(constant.size, noun)
    said = f"{many} take one value only, the first is {first}, and cannot be standardised."
    if constant.size == 1:
        said = f"The {noun} {first} takes one value only, and cannot be standardised."
    st.warning(said, icon=":material/warning:")

    def drop() -> None:
        state.put(drop=True)
        changed()

    buttons.button(f"Leave out {many}", "drop_constant", drop, icon=":material/filter_alt:")
    return True


def _as_in_the_papers(of: Chosen) -> None:
    """Draw the choice of the papers' preparations that suit the data; log2 has a switch elsewhere."""
    others = (name for name in PREPARATIONS if name != "log2")
    # Chosen preparations stay on offer, since the prepared data may no longer allow them.
    made = state.get("prep")
    able = [name for name in others if name in made or not PREPARATIONS[name].find_lack(of.dataset)]
    if able:
        st.pills(
            "As in the papers",
            able,
            selection_mode="multi",
            format_func=lambda name: PREPARATIONS[name].title,
            help="Done to the numbers first, in the order in which they are chosen.",
            **state.bind("prep", then=changed),
        )


def changed() -> None:
    """Forget the results of the previous preparation."""
    state.forget(("run", "k", "shown"))


def _spectrum(of: Chosen) -> None:
    """Draw the leading eigenvalues of the prepared data; for a heavy table after a button is pressed."""
    if obstacle(of):
        return
    matrix = problem(of, True, state.get("center"), state.get("scale"))
    if heavy(of.dataset) and not buttons.pressed(
        "Show how the variance is spread",
        "spread",
        icon=":material/bar_chart:",
        help="Takes some seconds for a table of this size.",
    ):
        return
    with st.spinner("Computing the leading eigenvalues …"):
        values = matrix.covariance.leading(min(EIGENVALUES, matrix.n))[0] * matrix.covariance.unit
    if matrix.total_variance > 0:
        same = f"{of.content} {state.get('center')} {state.get('scale')}"
        figures.draw(spectrum_figure(values, matrix.total_variance), "spectrum", same=same)
    else:
        st.info("Every feature is constant: there is no variance to explain.")
