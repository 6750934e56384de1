"""The data page: the chosen data on the first screen, other data below, and folded details.

Who is about to give a file sees the field for it first.
"""

import streamlit as st

from nspca.dashboard.app import frame, state, wording
from nspca.dashboard.data import first, picker, preview, reading
from nspca.dashboard.open_data import Chosen, opened, whole_folder
from nspca.dashboard.runs import cost_estimate
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
            first.show(data, reading.offers)
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
        can_be_mended = bool(getattr(error, "ways", ())) or reading.can_be_counted()
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
            preview.notes(data)
        if state.get("upload") is None:
            first.groups(data)
        preview.first_rows(data.dataset)
