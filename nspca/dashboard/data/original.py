"""Get the original of a data set of the papers, in whose place a relative is shown.

By a download on request, or by a copy that the visitor has. Every page with data calls `offer`.
"""

import os
from collections.abc import Callable
from urllib.parse import urlsplit

import streamlit as st

from nspca.dashboard.app import buttons, state, wording
from nspca.dashboard.open_data import Chosen
from nspca.data import SAMPLES, absent_original, adopt_copy, fetch_sample
from nspca.errors import NSPCAError
from nspca.progress import Event

LOOPBACK = {"localhost", "127.0.0.1", "::1"}
PASSED_ON = ("X-Forwarded-For", "X-Real-IP", "Forwarded", "Via")  # what a proxy adds


def offer(of: Chosen, asked: bool = False) -> None:
    """Draw the buttons that get the absent original of the data; nothing for other data.

    With `asked`, only where the address names the original.
    """
    name = absent_original(of.reference.sample)
    if name is None or (asked and name != state.get("sample")):
        return
    sample = SAMPLES[name]
    with st.popover(f"In the place of {sample.title}: get them", icon=":material/download:"):
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
            _changed(name)


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
    bar = st.progress(0.0, text="Asking …")

    def report(event: Event) -> None:
        # Every call is a point where Streamlit may stop this run: any other click cancels the download.
        share = event.done / event.total if event.total else 0.0
        bar.progress(min(1.0, share), text=f"{event.stage}: {wording.size(event.done)}")

    if _worked(lambda: fetch_sample(name, report)):
        _changed(name)


def _worked(work: Callable[[], object]) -> bool:
    """Call `work`, show an error beside the button, and tell whether there was none."""
    try:
        work()
    except NSPCAError as error:
        st.error(wording.plain(error), icon=":material/error:")
        return False
    return True


def _changed(name: str) -> None:
    """Reset all values about data and rerun the page, after an original has arrived."""
    state.forget(state.ABOUT_DATA)
    state.put(sample=name)
    st.rerun()
