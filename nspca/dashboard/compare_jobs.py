"""Background runs of the compare page: found again by what they were asked, watched, cancelled, opened."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from nspca.dashboard import figures, frame, state, words
from nspca.dashboard.live import live_plot
from nspca.jobs import JobState, engine

WAITING = {"starting": "Starting workers …", "queued": "Waiting"}
ENDED = {
    "cancelled": "Cancelled. What was ready stays here.",
    "interrupted": "The server was restarted while this was running. What was ready stays here.",
}


def start(function: str, arguments: dict[str, Any], title: str) -> str:
    """Start a run for this person, or join one that asks the same."""
    return engine().submit(function, arguments, viewer=state.workspace(), title=title)


def find(function: str, request: dict) -> JobState | None:
    """The newest run of this workspace that was asked exactly this."""
    wanted = json.loads(json.dumps(request))
    for run in engine().store.list_runs(state.get("w")) if state.get("w") else []:
        if run.function == function and json.loads(run.parameters)["request"] == wanted:
            return engine().status(run.id)
    return None


@st.cache_resource(max_entries=64, show_spinner=False)
def opened(run_id: str, finished: float | None, _read: Callable[[bytes], Any]) -> Any:
    """What a finished run returned, read once."""
    return _read(engine().result(run_id))


def watch(now: JobState, total: int, draw: Callable[[list[dict]], None], key: str, only: Callable[[dict], bool] = bool) -> bool:
    """Show a run until it is done: progress, what is ready, Cancel; how it ended. True when its result can be opened.

    Parameters
    ----------
    total : rows expected
    draw : shows the rows that are ready
    key : tells the buttons of several runs on one page apart
    only : which rows count
    """
    if now.state == "done":
        return True
    if now.ended:
        _ended(now, draw, key)
        return False

    @st.fragment(run_every=timedelta(seconds=1))
    def live() -> None:
        with frame.guard():
            latest = engine().status(now.id)
            if latest.ended:
                st.rerun()
            rows = [row for row in latest.rows if only(row)]
            _progress(latest, len(rows), total, key)
            if rows:
                draw(list(latest.rows))

    live()
    return False


def _progress(now: JobState, ready: int, total: int, key: str) -> None:
    bar, button = st.columns([6, 1], vertical_alignment="center")
    with bar:
        st.progress(min(1.0, ready / total), text=says(now, ready, total))
    with button:
        if st.button("Cancel", key=f"cancel_{key}", icon=":material/stop_circle:", width="stretch"):
            engine().cancel(now.id, state.workspace())
            st.rerun()


def says(now: JobState, ready: int, total: int) -> str:
    """One line: how far, and what is being done."""
    if now.state == "queued" and now.place:
        return f"Waiting: place {now.place} in the queue"
    if now.state in WAITING:
        return WAITING[now.state]
    line = f"{ready} of {total} ready"
    if now.event is None:
        return line
    k = "" if now.event.k is None else f", k = {now.event.k}"
    return f"{line}; {words.plain(now.event.stage)}{k}"


def _ended(now: JobState, draw: Callable[[list[dict]], None], key: str) -> None:
    sentence = ENDED.get(now.state) or words.plain(now.error) or "The run failed."
    (st.error if now.state == "failed" else st.warning)(sentence)
    if st.button("Run again", key=f"again_{key}", icon=":material/replay:"):
        engine().again(now.id, viewer=state.workspace())
        st.rerun()
    if now.rows:
        draw(list(now.rows))


def draw(figure: go.Figure, key: str, live: bool) -> None:
    """A figure of a run: updated in place while it goes on, as it is afterwards."""
    if live:
        live_plot(figure, key=f"{key}_live", height=int(figure.layout.height))
    else:
        figures.draw(figure, key)


def refusals(rows: list[dict]) -> None:
    """Methods that could not solve this problem, each with its sentence."""
    for row in rows:
        if "error" in row:
            st.caption(f":material/block: **{words.plain(row['method'])}** left out: {words.plain(row['error'])}")
