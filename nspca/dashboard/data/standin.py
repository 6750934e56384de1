"""Replace a stand-in by the real data: by a download on request, or by a copy that the visitor has.

Every page that shows a stand-in calls `offer`.
"""

import os
from collections.abc import Callable
from urllib.parse import urlsplit

import streamlit as st

from nspca.dashboard.app import buttons, state, wording
from nspca.dashboard.open_data import Chosen
from nspca.data import SAMPLES, adopt_copy, fetch_sample
from nspca.errors import NSPCAError
from nspca.progress import Event

LOOPBACK = {"localhost", "127.0.0.1", "::1"}
PASSED_ON = ("X-Forwarded-For", "X-Real-IP", "Forwarded", "Via")  # what a proxy adds


def offer(of: Chosen) -> None:
    """Draw the buttons that replace a stand-in by the real data; nothing for other data."""
    if of.dataset.source != "stand-in":
        return
    name = of.reference.sample
    assert name is not None  # only samples have stand-ins
    sample = SAMPLES[name]
    with st.popover("Get the real data", icon=":material/download:"):
        st.markdown(
            f"**{wording.plain(sample.title)}**: {wording.plain(sample.summary)}\n\n"
            f"- Source: <{sample.source_url}>\n- Size: {wording.plain(sample.size)}\n- Licence: "
            f"{wording.plain(sample.licence)}"
        )
        if sample.downloadable and buttons.pressed(
            "Download", "fetch", icon=":material/cloud_download:", type="primary"
        ):
            buttons.take("fetch")  # any other click cancels the download, and it does not begin again
            _fetch(name)
        st.markdown(f"**Or give a local copy.** {wording.plain(sample.how)}.")
        if not _alone():
            st.markdown(
                "Give it as your own file, and it is yours alone. Whoever runs this server takes it for "
                f"everybody: `python -m nspca fetch {name} --copy FILE`"
            )
            own = {**state.link("pages/data.py"), "source": "upload"}
            st.page_link(
                "pages/data.py", label="Use your own file", icon=":material/upload_file:", query_params=own
            )
            return
        copy = st.file_uploader(
            "Local copy", key=f"copy_{name}", label_visibility="collapsed", max_upload_size=200
        )
        if copy is not None and _worked(lambda: adopt_copy(name, copy.getvalue())):
            _changed()


def _alone() -> bool:
    """Tell whether the visitor uses the server's own computer, without a proxy.

    Only then may the visitor give a copy of a sample, since all visitors would see that copy.
    """
    headers = st.context.headers
    host = urlsplit(f"//{headers.get('Host', '')}").hostname
    here = {st.get_option("server.address"), host, *st.get_option("server.allowedHosts")} <= LOOPBACK
    others = os.environ.get("NSPCA_PASSWORD") or st.get_option("server.corsAllowedOrigins")
    return here and not others and not any(name in headers for name in PASSED_ON)


def _fetch(name: str) -> None:
    """Download the real data of a sample, with a progress bar."""
    bar = st.progress(0.0, text="Asking …")

    def report(event: Event) -> None:
        # Every call is a point where Streamlit may stop this run: any other click cancels the download.
        share = event.done / event.total if event.total else 0.0
        bar.progress(min(1.0, share), text=f"{event.stage}: {wording.size(event.done)}")

    if _worked(lambda: fetch_sample(name, report)):
        _changed()


def _worked(work: Callable[[], object]) -> bool:
    """Call `work`, show an error beside the button, and tell whether there was none."""
    try:
        work()
    except NSPCAError as error:
        st.error(wording.plain(error), icon=":material/error:")
        return False
    return True


def _changed() -> None:
    """Reset all values about data and rerun the page, after the real data have replaced a stand-in."""
    state.forget(state.ABOUT_DATA)
    st.rerun()
