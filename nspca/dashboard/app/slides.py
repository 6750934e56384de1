"""Lessons: a list of pages that a teacher collects, and steps through in present mode.

Present mode shows a page in large type and without a menu. The frame of every page calls `remember`, and
draws `menu` or, in present mode, `bar`. The list is kept in the browser's storage. A list from there is
checked like an address: it may name only pages of this app, with valid values.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from pathlib import PurePath
from urllib.parse import parse_qsl, urlencode

import streamlit as st

from nspca.dashboard.app import browser_storage, buttons, state, styles

SLIDES = "slides"
"""Session key and name in the browser's storage: the addresses of the lesson, in order."""
MOST = 40
"""Maximum pages in a lesson, more than an hour has room for."""
LONGEST = 4000
"""Maximum characters of an address. The longest addresses list many features."""
PERSONAL = ("w", "present", "slide", state.ANEW)
"""Values that addresses of a lesson leave out, since they belong to the visitor."""
LESSON = "The pages of a lesson, one after the other. This browser remembers them."
_FIT = st.components.v2.component(
    "nspca_present",
    html="<span hidden></span>",
    js=files("nspca.dashboard.app").joinpath("present.js").read_text("utf-8"),
)


@dataclass(frozen=True)
class Slide:
    """One page of a lesson: the path of its script, its name in the menu, and the query of its address."""

    path: str
    label: str
    query: tuple[tuple[str, str], ...]

    def address(self) -> str:
        """Return the address below the root of the app, for example ``sweep?sample=digits&k=8``."""
        return f"{PurePath(self.path).stem}?{urlencode(self.query)}"

    def title(self) -> str:
        """Return the name of the page with its screen, or with its data and k."""
        said = dict(self.query)
        more = [said[name] for name in ("screen", "sample", "paper", "view") if name in said]
        more += [f"k = {said['k']}"] if "k" in said else []
        return ", ".join([self.label, *more])


def read_slide(address: str, pages: Mapping[str, tuple[str, str]]) -> Slide:
    """Return the page that an address of a lesson names.

    Parameters
    ----------
    address : str
        As `Slide.address` returns it.
    pages : mapping
        Name of a page -> path of its script, and its name in the menu.

    Raises
    ------
    ValueError
        If the address is no page of this app, or carries a value that the page cannot read.
    """
    page, _, text = address.partition("?")
    if len(address) > LONGEST or page not in pages:
        raise ValueError(address[:80])
    query = parse_qsl(text, keep_blank_values=True, strict_parsing=bool(text), max_num_fields=100)
    for name, value in query:
        if name not in state.VALUES or name in PERSONAL:
            raise ValueError(name)
        state.VALUES[name].read(value)
    path, label = pages[page]
    return Slide(path, label, tuple(query))


def read_lesson(text: str | None, pages: Mapping[str, tuple[str, str]]) -> list[Slide]:
    """Return the pages of a stored lesson, without those that are not valid."""
    try:
        said = json.loads(text or "[]")
    except (ValueError, RecursionError):
        return []
    slides = []
    for address in said[:MOST] if isinstance(said, list) else []:
        try:
            slides.append(read_slide(address, pages))
        except (AttributeError, TypeError, ValueError, KeyError):
            continue
    return slides


def remember(pages: Mapping[str, tuple[str, str]]) -> list[Slide]:
    """Exchange the lesson with the browser, and return its pages."""
    text = browser_storage.mirror("lesson", st.session_state.get(SLIDES))
    slides = read_lesson(text, pages)
    if text is not None:
        st.session_state[SLIDES] = _write(slides)
    return slides


def menu(slides: list[Slide], pages: Mapping[str, tuple[str, str]]) -> None:
    """Show the lesson: a button that adds the open page, the pages, and the start."""
    with st.expander(
        f"Pages to present ({len(slides)})" if slides else "Pages to present",
        icon=":material/list:",
        key="lesson",
    ):
        buttons.button(
            "Add this page",
            "slide_add",
            lambda: _keep([*slides, _here(pages)]),
            icon=":material/add:",
            help=LESSON,
            disabled=len(slides) >= MOST or st.session_state[state.OPEN] not in pages,
        )
        for number, slide in enumerate(slides):
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.caption(f"{number + 1}. {slide.title()}", width="stretch")
                buttons.button(
                    "",
                    f"slide_out_{number}",
                    partial(_keep, slides[:number] + slides[number + 1 :]),
                    icon=":material/close:",
                    type="tertiary",
                    help="Take this page out of the lesson.",
                )
        if slides:
            _step("Start the lesson", "slide_start", slides, 0, ":material/co_present:")


def bar(slides: list[Slide]) -> None:
    """Show the buttons for the previous and next page of the lesson, and for leaving present mode."""
    at = state.get("slide")
    with st.container(key=styles.BAR, horizontal=True, vertical_alignment="center", gap="small"):
        if slides and at is not None:
            at = min(max(1, at), len(slides)) - 1
            _step("Page before", "slide_back", slides, at - 1, ":material/arrow_back:", "PageUp")
            st.markdown(f"{at + 1} of {len(slides)}", width="content")
            _step("Next page", "slide_on", slides, at + 1, ":material/arrow_forward:", "PageDown")
        buttons.button(
            "Leave",
            "leave",
            lambda: state.put(present=None, slide=None),
            icon=":material/close_fullscreen:",
            type="tertiary",
            shortcut="Esc",
        )
    _FIT(key="present_fit", data={})


def _step(label: str, key: str, slides: list[Slide], to: int, icon: str, shortcut: str | None = None) -> None:
    """Show a button that opens the page at place `to` of the lesson, from 0, in present mode.

    It is disabled when the lesson has no such page.
    """
    possible = 0 <= to < len(slides)
    if buttons.pressed(label, key, icon=icon, shortcut=shortcut, disabled=not possible) and possible:
        buttons.take(key)  # the next page never returns here
        query = state.opening(dict(slides[to].query)) | {"present": "1", "slide": str(to + 1)}
        st.switch_page(slides[to].path, query_params=query)


def _here(pages: Mapping[str, tuple[str, str]]) -> Slide:
    """Return the open page as a page of a lesson."""
    path, label = pages[st.session_state[state.OPEN]]
    return Slide(
        path, label, tuple((name, value) for name, value in state.link().items() if name not in PERSONAL)
    )


def _keep(slides: list[Slide]) -> None:
    """Make these pages the lesson; the browser stores them at the next `remember`."""
    st.session_state[SLIDES] = _write(slides)


def _write(slides: list[Slide]) -> str:
    """Return a lesson as it is stored; the empty text makes the browser forget it."""
    return json.dumps([slide.address() for slide in slides]) if slides else ""
