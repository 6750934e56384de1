"""The button Share at the top right of a page: a link, its QR code, everything in one ZIP, and a slide.

`title` draws it beside the title, and `fill` puts into it what can be taken from the answer of the page. A
link never leads into the workspace: a run, and with it data of one's own, is opened alone.
"""

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from nspca.dashboard.app import buttons, links, state, wording
from nspca.dashboard.export import Export
from nspca.dashboard.history.descriptions import DescribedRun, describe_runs
from nspca.dashboard.runs import start
from nspca.dashboard.runs.answer import Answer
from nspca.dashboard.runs.tasks import engine
from nspca.errors import JobError
from nspca.jobs import Run
from nspca.jobs.runs import NO_SHARE

KEY = "share"
SHARED = "Whoever has the link sees this answer and what it shows of the data, and nothing else of yours."
OPENS = "It opens this page with its data and settings."
ALONE = "Only on this machine: nobody else can open this address."
FILES = "For others, take a file, which needs no server:"
ELSEWHERE = "These data are yours alone: only an answer about them can be shared, as on Sweep and Components."


def title(text: str, fills: bool = False) -> None:
    """Draw the title of a page, and beside it the button; `fills` tells that the page calls `fill` later."""
    with st.container(horizontal=True, vertical_alignment="center", key="head"):
        st.title(text, width="stretch")
        st.session_state[state.SHARE] = None
        if not state.get("present"):
            icon = ":material/share:"
            st.session_state[state.SHARE] = st.popover("Share", icon=icon, key=KEY, on_change="rerun")
    if not fills:
        fill()


def fill(
    run: Answer | None = None, key: str = "run", taken: Callable[[], Export | None] = lambda: None
) -> None:
    """Draw the link to a run, or to the open page, and the downloads of its answer, in the open box."""
    box = st.session_state.get(state.SHARE)
    if box is None or not box.open:
        return
    export = None if run is None else taken()
    is_alone = links.is_alone(links.address(""))
    with box:
        if export is not None and is_alone:
            st.caption(FILES)
            export.show()
        own = run is not None and run.own and (not run.is_default or "upload" in state.link())
        if run is not None and own and run.sweep:
            _link_of_run(run, key)
        elif run is not None and not run.own:
            draw(links.address(f"shared?share={state.get('share')}"), SHARED)
        else:
            _link_of_page()
        if export is not None and not is_alone:
            export.show()


def _link_of_run(run: Answer, key: str) -> None:
    """Draw the link to a shared run, or the button that makes it; a first answer becomes a run by it."""
    workspace = state.workspace()
    share = engine().store.shares(workspace).get(run.id) if not run.is_default else None

    def make() -> None:
        name = _adopted(run, key, workspace) if run.is_default else run.id
        engine().store.share_run(workspace, name)
        if run.is_default:
            state.put(**{key: name})

    if share is None:
        buttons.button("Make a link", "share_run", make, icon=":material/link:", help=SHARED)
    else:
        draw(links.address(f"shared?share={share}"), SHARED)


def _adopted(run: Answer, key: str, workspace: str) -> str:
    """Add a finished first answer to the runs of a workspace, with its result, and return its id there."""
    default = engine().store.find_run(run.id)
    assert default is not None  # the answer to an upload is a run, and none that ships with the samples
    parameters = json.dumps(json.loads(default.parameters) | {"spec": run.asked.to_plain()})
    page = f"{start.open_page(run.asked)}&{key}="
    asked = default.key, run.asked.describe().title, default.function, parameters, page
    return engine().store.add_run(workspace, *asked)[0]


def _link_of_page() -> None:
    query = {key: value for key, value in state.link().items() if key not in links.OWN}
    if "upload" in query:
        st.caption(ELSEWHERE)
        return
    name = st.session_state[state.OPEN]
    path = "" if name == "app" else name
    draw(links.address(f"{path}?{urlencode(query)}" if query else path), OPENS)


def draw(full: str, said: str) -> None:
    """Draw a full address as text and as a QR code, with a sentence about who can open it."""
    if links.is_alone(full):
        st.caption(ALONE)
    st.code(full, language=None, wrap_lines=True)
    if not links.is_alone(full):
        links.draw(full, width="content")
        st.caption(said)


def opened() -> tuple[Run, DescribedRun]:
    """Return the run of a link, after drawing an introduction and a link to the visitor's own work."""
    run = engine().store.shared_run(state.get("share") or "")
    one = describe_runs([run])[0]
    if not isinstance(one, DescribedRun):
        raise JobError(NO_SHARE)
    st.markdown(f"## {wording.plain(one.name)}")
    with st.container(horizontal=True, vertical_alignment="center"):
        if {"sample", "folder"} & one.query.keys():
            own = {name: text for name, text in one.query.items() if name not in state.OF_RUNS}
            way: dict[str, Any] = {
                "page": one.page or "app.py",
                "label": "Go on with it in a workspace of your own",
                "query_params": state.opening(own),
            }
        else:
            st.caption("These data were uploaded by whoever shared the run, and stay there.", width="content")
            way = {
                "page": "pages/data.py",
                "label": "Bring a table of your own",
                "query_params": state.opening({"source": "upload"}),
            }
        st.page_link(icon=":material/arrow_forward:", **way)
    return run, one
