"""The frame of every page: title, menu, error messages, and work to start after the first page.

app.py and every script in pages/ draw their content inside ``with frame.page(...)``.
"""

import gc
import logging
import secrets
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib.resources import files
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from nspca.dashboard.app import browser_storage, buttons, memory, plotly, state, styles
from nspca.dashboard.app.wording import plain
from nspca.data import is_installed
from nspca.errors import InvalidData, NSPCAError
from nspca.jobs import engine

PAGES = (
    ("app.py", "Home", ":material/home:"),
    ("pages/data.py", "Data", ":material/table_view:"),
    ("pages/sweep.py", "Sweep", ":material/area_chart:"),
    ("pages/components.py", "Components", ":material/hub:"),
    ("pages/spannogram.py", "Spannogram", ":material/airwave:"),
    ("pages/papers.py", "Papers", ":material/menu_book:"),
    ("pages/learn.py", "Learn", ":material/school:"),
    ("pages/runs.py", "Runs", ":material/history:"),
)
HOME = PAGES[0]
COMPONENTS = "pages/components.py"
WAYS = (
    ("Parts of faces", ":material/face:", "orl-faces", "digits"),
    ("Topics of texts", ":material/format_list_numbered:", "state-of-the-union", "python-docs"),
)
"""Ways into the page Components: label, icon, sample, and its replacement if its package is not installed."""
# An SVG of our own, since the browser would fetch a named icon from another host.
MARK = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<rect width="32" height="32" rx="7" fill="#0b6e8a"/>
<path d="M5 25C9 10 15 8 27 7V13C16 14 11 16 5 25Z" fill="#7fd6bb"/>
<path d="M5 25C11 16 16 14 27 13" fill="none" stroke="#fff" stroke-width="2.6"/></svg>"""
# The grey of its text is readable in the light and in the dark theme.
LOGO = MARK.replace('viewBox="0 0 32 32"', 'viewBox="0 0 116 32"').replace(
    "</svg>",
    '<text x="41" y="23" font-family="sans-serif" font-size="23" font-weight="700" '
    'fill="#2a94b0">nspca</text></svg>',
)
ROOM = "Show the picture and its sentence alone, in large type. Esc leads back."
MENU = 220  # pixels: Streamlit's own 300 are a third of a small screen
READY_SECONDS = 60.0  # that workers have to start
log = logging.getLogger("nspca.dashboard")
_FIT = st.components.v2.component(
    "nspca_present",
    html="<span hidden></span>",
    js=files("nspca.dashboard.app").joinpath("present.js").read_text("utf-8"),
)
"""Component that makes figures as high as the screen allows."""


@contextmanager
def page(title: str, *, has_menu: bool = True) -> Iterator[None]:
    """Draw everything around the content of a page: ``with frame.page("Sweep"): ...``

    The page of a class on its phones has no menu.
    """
    # Streamlit makes the page the main module, whose file every new worker process would run.
    vars(sys.modules["__main__"]).pop("__file__", None)
    st.set_page_config(
        page_title=f"{title} · nspca", page_icon=MARK, layout="wide", initial_sidebar_state=MENU
    )
    state.begin("app" if title == HOME[1] else title.lower())
    present = state.get("present")
    st.html(styles.style(present))
    browser_storage.recall()
    waiting = buttons.begin(title)
    if not present and has_menu:
        _menu()
    _trouble()
    browser_storage.say_whose()
    with guard(leads_to_data=title != "Data"):
        yield
    if present:
        _leave()
    buttons.end(waiting)
    browser_storage.remember()
    plotly.png_too()
    _warm()


@contextmanager
def guard(leads_to_data: bool = False) -> Iterator[None]:
    """Show an error inside the block as one sentence; the choices of the visitor are kept.

    With `leads_to_data`, a link to the page Data follows the error of data that cannot be read.
    Streamlit's signals to stop and to rerun are not subclasses of `Exception` and pass through.
    """
    try:
        yield
    except NSPCAError as error:
        st.error(plain(error), icon=":material/error:")
        if leads_to_data and isinstance(error, InvalidData):
            way_on("pages/data.py", "Data: mend how the file is read, or choose other data")
    except Exception:  # visitors must never see a traceback
        reference = secrets.token_hex(3)
        log.exception("page failed, reference %s", reference)
        st.error(
            f"This page ran into an error of its own (reference {reference} in the server's log); nothing "
            "that was finished is lost. Reload the page, or start again from Home.",
            icon=":material/error:",
        )
        st.page_link("app.py", label="Home", icon=":material/home:")
    finally:
        memory.note()


def way_on(path: str, label: str) -> None:
    """Draw a link to another page, with the visitor's choices in its address."""
    st.page_link(path, label=label, icon=":material/arrow_forward:", query_params=state.link(path))


def ways_to_components() -> None:
    """Draw links to the page Components with pictures and with texts."""
    for label, icon, sample, otherwise in WAYS:
        query = state.opening({"sample": sample if is_installed(sample) else otherwise})
        st.page_link(COMPONENTS, label=label, icon=icon, query_params=query)


def fold(title: str, key: str, icon: str, draw: Callable[[], object], *, is_open: bool = False) -> None:
    """Draw a folded part of a page, whose content `draw` makes only while it is open."""
    box = st.expander(title, expanded=is_open, icon=icon, key=key, type="compact", on_change="rerun")
    if box.open:
        with box:
            draw()


def form() -> DeltaGenerator:
    """Return the container of a form; hidden in present mode, and below the picture on a phone."""
    return st.container(key=styles.FORM)


def picture() -> DeltaGenerator:
    """Return the container of a page's main picture.

    On a phone it comes before the form. In present mode everything after it is hidden.
    """
    return st.container(key=styles.PICTURE)


def present(key: str = "present", **options: Any) -> None:
    """Draw the button that starts present mode (for a projector)."""
    buttons.button(
        "Present this page",
        key,
        lambda: state.put(present=True),
        icon=":material/co_present:",
        help=ROOM,
        **options,
    )


def _trouble() -> None:
    """Show a warning on every page when the store of runs does not work."""
    try:
        said = engine().trouble
    except NSPCAError as error:  # the store cannot be opened
        said = f"Nothing can be computed or kept just now. {error}"
    if said:
        st.error(plain(said), icon=":material/hard_drive:")


def _leave() -> None:
    with st.container(key=styles.BAR):
        leave = partial(state.put, present=None)
        icon = ":material/close_fullscreen:"
        buttons.button("Leave", "leave", leave, icon=icon, type="tertiary", shortcut="Esc")
    _FIT(key="present_fit", data={})


def _menu() -> None:
    st.logo(LOGO, size="large")
    with st.sidebar:
        st.caption("Sparse PCA with proof")
        for path, label, icon in PAGES:
            st.page_link(path, label=label, icon=icon, query_params=state.link(path))
            if path == COMPONENTS:
                with st.container(key=styles.WAYS, gap=None):
                    ways_to_components()
        present(type="tertiary")


@st.cache_resource(show_spinner=False)
def _warm() -> threading.Thread:
    """Start the thread that prepares the server after its first page was drawn, once per server."""
    thread = threading.Thread(target=_warm_up, name="warm-up", daemon=True)
    thread.start()
    return thread


def _warm_up() -> None:
    """Start the workers, wait until they are ready, and then collect garbage in a loop."""
    memory.freeze()  # now, since a whole class may arrive while the workers start
    try:
        engine().start(warm=("nspca.specs.job",))
        give_up = time.monotonic() + READY_SECONDS
        while not engine().wait_ready(1.0) and time.monotonic() < give_up:
            gc.freeze()  # and again, for the modules that the workers need
    except NSPCAError as error:  # every page shows this error
        log.error("no workers: %s", error)
    # Dask hooks into the collector while it is imported, so the collector starts afterwards.
    memory.freeze()
    memory.work()
