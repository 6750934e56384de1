"""The data page: a sentence, a picture and links for the chosen data, other data below, and folded details.

Who is about to give a file sees the field for it first.
"""

from collections.abc import Callable

import numpy as np
import streamlit as st

from nspca.dashboard import open_data
from nspca.dashboard.app import frame, state, wording
from nspca.dashboard.data import original, picker, preview, reading
from nspca.dashboard.open_data import Chosen, opened, whole_folder
from nspca.dashboard.runs import cost_estimate
from nspca.data import Dataset
from nspca.errors import NSPCAError


def show() -> None:
    """Draw everything below the title."""
    reading.forget_stale()
    asks = state.get("source") == "upload" and state.get("upload") is None and not state.get("present")
    top, data = None if asks else st.container(), None
    if not state.get("present"):
        picker.choose()  # before the data are drawn, since other data may be chosen here
    with top or st.container(), frame.guard():
        data = _opened()
        if data:
            reading.settle(data)
            show_first(data, reading.offers)
            preview.offer_to_drop(data)
    with frame.guard():
        if state.get("upload") is not None:
            groups = ", and groups of the samples" if data and not data.dataset.is_covariance else ""
            with st.expander(
                f"How it was read{groups}", expanded=data is None, icon=":material/tune:", type="compact"
            ):
                if data:
                    reading.as_read(data)
                reading.choices(data)
                if data:
                    reading.vocabulary(data)
                    reading.annotation(data)
        if data:
            _details(data)


def _opened() -> Chosen | None:
    """Return the chosen data; for an unreadable file, draw error and remedies, and return None."""
    try:
        return opened()
    except NSPCAError as error:
        has_ways = bool(getattr(error, "ways", ()))
        can_be_mended = has_ways or reading.can_be_counted() or reading.can_be_undone()
        (st.warning if can_be_mended else st.error)(wording.plain(error, "choose one of these ways"))
        reading.mend(error)
        return None


def _details(data: Chosen) -> None:
    with st.expander(
        "Centre, standardise and other preparations", icon=":material/function:", type="compact"
    ):
        preview.preparation(data)
    with st.expander("Sizes and notes", icon=":material/info:", type="compact"):
        preview.facts(whole_folder(data))
        cost_estimate.line(whole_folder(data))
        if data.dataset.source != "user":
            preview.notes(data, data.dataset.findings)
        if state.get("upload") is None:
            reading.groups(data)
        preview.first_rows(data.dataset)


SWEEP, COMPONENTS = "pages/sweep.py", "pages/components.py"
PICTURES = 8  # number of images in a line of the picture
LINES_PRESENTED = 3  # lines of images on a slide, which they fill; elsewhere one


def show_first(of: Chosen, offers: Callable[[Chosen], object]) -> None:
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
