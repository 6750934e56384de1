"""Draw the first screen of the data page: a sentence about the data, a picture, and links."""

from collections.abc import Callable

import numpy as np
import streamlit as st

from nspca.dashboard import open_data
from nspca.dashboard.app import frame, state, wording
from nspca.dashboard.data import original, preview
from nspca.dashboard.open_data import Chosen, whole_folder
from nspca.data import Dataset

SWEEP, COMPONENTS = "pages/sweep.py", "pages/components.py"
PICTURES = 8
"""Number of images in a line of the picture, which has one line."""
LINES_PRESENTED = 3
"""Lines of images on a slide, which they fill."""
NO_GROUP = ""


def show(of: Chosen, offers: Callable[[Chosen], object]) -> None:
    """Draw the chosen data, what reading found by `offers`, and links to the pages that analyse them."""
    obstacle = open_data.obstacle(of)
    with frame.picture():
        preview.title(whole_folder(of), f"{summary(whole_folder(of))} {obstacle}".rstrip())
        lines = LINES_PRESENTED if state.get("present") else 1
        preview.picture(of.dataset, PICTURES * lines, lines)
    offers(of)
    if obstacle:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        frame.way_on(SWEEP, f"Sweep: how many {_nouns(of.dataset)} are enough?")
        frame.way_on(COMPONENTS, next_question(of))
        original.offer(of)


def summary(of: Chosen) -> str:
    """Return one Markdown sentence on the kind and the size of the data."""
    data, (m, n) = of.dataset, of.shape
    if data.is_covariance:
        said = f"This is the covariance of {wording.things(n, 'feature')}, so there are no samples to look at"
    elif data.image_shape is not None:
        rows, columns = data.image_shape
        said = f"These are {wording.things(m, 'image')} of {rows} × {columns} pixels"
    elif data.kind == "words":
        said = f"These are {wording.things(m, 'text')} and how often each of {n:,} words occurs in them"
        said = said.replace("how often", "how much") if "tf-idf" in " ".join(data.notes) else said
    elif data.kind == "spectrum":
        said = f"These are {wording.things(m, 'spectrum', 'spectra')} of {wording.things(n, 'band')} each"
    else:
        said = f"This table has {wording.things(m, 'sample')} and {wording.things(n, wording.noun(data))}"
    return f"{said}{_groups(data)}."


def _groups(data: Dataset) -> str:
    if data.labels is None:
        return ""
    count = np.unique(data.labels).size
    by = f" by “{wording.plain(data.label_name)}”" if data.label_name else ""
    return f", in {wording.things(count, 'group')}{by}"


def _nouns(data: Dataset) -> str:
    return f"{wording.noun(data)}s"


def next_question(of: Chosen) -> str:
    """Return the label of the link to the page Components, which follows the kind of the data."""
    if of.dataset.image_shape is not None and not of.dataset.is_covariance:
        return "Components: which parts are the images made of?"
    if of.dataset.kind == "words" and not of.dataset.is_covariance:
        return "Components: which topics are the texts about?"
    return f"Components: which {_nouns(of.dataset)} go together?"


def groups(of: Chosen) -> None:
    """Draw the choice of the label column that groups the samples, when the data have label columns."""
    data = of.dataset
    names = [*data.label_columns]
    if not names or data.is_covariance or of.reference.folder is not None:
        return
    here = data.label_name if data.label_name in names else NO_GROUP
    st.selectbox(
        "Groups of the samples",
        [NO_GROUP, *names] if here == NO_GROUP else names,
        format_func=lambda name: name or "none",
        help="Samples are coloured by their group wherever they are drawn.",
        **state.bind("label", here),
    )
