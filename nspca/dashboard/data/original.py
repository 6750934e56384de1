"""Get the original of a data set of the papers, in whose place a relative is shown.

By a download on request; a copy is taken by the command line. Every page with data calls `offer`.
"""

import streamlit as st

from nspca.dashboard.app import buttons, state, wording
from nspca.dashboard.open_data import Chosen
from nspca.data import SAMPLES, absent_original, fetch_sample
from nspca.errors import NSPCAError
from nspca.progress import Event


def offer(of: Chosen, asked: bool = False) -> None:
    """Draw the buttons that get the absent original of the data; nothing for other data.

    With `asked`, only where the address names the original.
    """
    name = absent_original(of.reference.sample)
    if name is None or (asked and name != state.get("sample")):
        return
    sample = SAMPLES[name]
    with st.popover(f"In the place of {sample.title}: get them", icon=":material/download:"):
        source = f"- Source: <{sample.source_url}>\n" if sample.source_url else ""
        st.markdown(
            f"**{wording.plain(sample.title)}**: {wording.plain(sample.summary)}\n\n"
            f"{source}- Size: {wording.plain(sample.size)}\n- Licence: {wording.plain(sample.licence)}"
        )
        if sample.downloadable and buttons.pressed(
            "Download", "fetch", icon=":material/cloud_download:", type="primary"
        ):
            buttons.take("fetch")  # any other click cancels the download, and it does not begin again
            _fetch(name)
        st.markdown(
            f"**{'Or give a copy' if sample.downloadable else 'Give a copy'}.** {wording.plain(sample.how)}. "
            "Give it as your own file, and it is yours alone. Whoever runs this server takes it for "
            f"everybody: `python -m nspca fetch {name} --copy FILE`"
        )
        own = {**state.link("pages/data.py"), "source": "upload"}
        st.page_link(
            "pages/data.py", label="Use your own file", icon=":material/upload_file:", query_params=own
        )


def _fetch(name: str) -> None:
    bar = st.progress(0.0, text="Asking …")

    def report(event: Event) -> None:
        # Every call is a point where Streamlit may stop this run: any other click cancels the download.
        share = event.done / event.total if event.total else 0.0
        bar.progress(min(1.0, share), text=f"{event.stage}: {wording.size(event.done)}")

    try:
        fetch_sample(name, report)
    except NSPCAError as error:
        st.error(wording.plain(error), icon=":material/error:")
        return
    state.forget(state.ABOUT_DATA)
    state.put(sample=name)
    st.rerun()
