"""Draw the progress of a run in every state (waiting, running, stopped, failed), with its buttons."""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from nspca.dashboard.app import buttons, frame, wording
from nspca.dashboard.runs.tasks import engine
from nspca.jobs import JobState

PATIENCE = 40.0  # maximum seconds to wait for the result of a stopped run; its worker has fewer
WAITING = {"starting": "Starting workers …", "queued": "Waiting"}
ENDED = {
    "cancelled": "Cancelled. What was ready stays here.",
    "interrupted": "The server was restarted while this was running. What was ready stays here.",
}


def repeat(look: Callable[[], None], every: float = 1.0) -> None:
    """Draw a part of a page by `look`, by default every second, until `look` reruns the page."""

    @st.fragment(run_every=every)
    def again() -> None:
        with frame.guard():
            look()

    again()


def redraw_once(is_over: Callable[[], bool], say: Callable[[], Any] = lambda: None) -> None:
    """Draw the page again once `is_over` is true, which is asked every second; `say` draws until then."""

    def look() -> None:
        if is_over():
            st.rerun()
        say()

    repeat(look)


def waiting(now: JobState) -> str | None:
    """Return the message of a waiting run; None for a run that works."""
    if now.state == "queued" and now.place:
        return f"Waiting: place {now.place} in the queue"
    return WAITING.get(now.state)


def stage_line(now: JobState) -> str:
    """Return the progress line of a run: why it waits, or its present stage."""
    event = now.event
    if event is None:
        return waiting(now) or "Starting …"
    count = f", {event.done} of {event.total}" if event.total and event.stage not in wording.PASSES else ""
    return waiting(now) or f"{wording.stage(event)}{count}"


def stage_status(now: JobState) -> tuple[str, float]:
    """Return `stage_line`, and how far the present stage is, from 0 to 1."""
    return stage_line(now), now.event.done / now.event.total if now.event and now.event.total else 0.0


def show(
    now: JobState,
    draw: Callable[[JobState], Any] = lambda now: None,
    name: str = "",
    status: Callable[[JobState], tuple[str, float]] = stage_status,
    stop: Callable[[], None] | None = None,
) -> bool:
    """Draw the progress of a run, or its end without a result. Return True if its result can be opened.

    Of a state `draw` draws partial results, and `status` returns a line with the progress from 0 to 1. `name`
    distinguishes the buttons of several runs, and `stop` replaces a plain cancel.
    """
    if now.state == "done":
        return True
    if now.ended:
        ended(now, f"again_{name}" if name else "again")
        if now.rows:
            draw(now)
    else:
        live(now.id, draw, status, key=f"cancel_{name}" if name else "cancel", stop=stop)
    return False


def live(
    run_id: str,
    draw: Callable[[JobState], Any] = lambda now: None,
    status: Callable[[JobState], tuple[str, float]] = stage_status,
    *,
    key: str | None = None,
    stop: Callable[[], None] | None = None,
) -> None:
    """Draw the progress of an unfinished run once a second, and the whole page again when the run has ended.

    `key` is that of the button that stops the run; a default run has none, since all visitors share it.
    """

    def look() -> None:
        now = engine().status(run_id)
        if now.ended:
            st.rerun()
        bar, button = (st, None) if key is None else st.columns([6, 1], vertical_alignment="center")
        said, share = status(now)
        bar.progress(min(1.0, max(0.0, share)), text=said)
        if key is not None and button is not None:
            with button:
                end = stop or partial(engine().cancel, run_id)
                buttons.button("Cancel", key, end, icon=":material/stop_circle:", width="stretch")
        draw(now)

    repeat(look)


def wait_shortly(run_id: str, patience: float) -> JobState:
    """Return the state of a run once it has ended, or after `patience` seconds.

    It returns at once while workers start, which takes longer.
    """
    give_up = time.monotonic() + patience
    while (
        not (now := engine().status(run_id)).ended and now.state != "starting" and time.monotonic() < give_up
    ):
        time.sleep(0.01)
    return now


def ended(now: JobState, key: str, goes_on: bool = False) -> None:
    """Draw the message of a run that ended without a result, with a button to run it again."""
    sentence = ENDED.get(now.state) or wording.plain(now.error) or "The run failed."
    (st.error if now.state == "failed" else st.warning)(sentence)
    again = partial(engine().again, now.id, goes_on=goes_on)
    label, icon = ("Go on", "play_arrow") if goes_on else ("Run again", "replay")
    buttons.button(label, key, again, icon=f":material/{icon}:")


def stop(run_id: str) -> None:
    """Cancel a run that stores its partial result, and wait for that result."""
    with st.spinner("Stopping …"):
        engine().cancel(run_id)
        give_up = time.monotonic() + PATIENCE
        while engine().hands_in(run_id) and time.monotonic() < give_up:
            time.sleep(0.05)
