"""Progress of a run: waiting, filling in, stopped or failed, with the buttons of each state."""

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import streamlit as st

from nspca.dashboard.app import buttons, frame, state, wording
from nspca.dashboard.runs.tasks import engine
from nspca.jobs import JobState

SECOND = timedelta(seconds=1)
PATIENCE = 40.0  # seconds after which nobody waits for what a stopped run has; its worker has fewer
WAITING = {"starting": "Starting workers …", "queued": "Waiting"}
ENDED = {
    "cancelled": "Cancelled. What was ready stays here.",
    "interrupted": "The server was restarted while this was running. What was ready stays here.",
}


def show(
    now: JobState,
    says: Callable[[JobState], str],
    share: Callable[[JobState], float],
    draw: Callable[[JobState], Any],
    name: str = "",
    stop: Callable[[], None] | None = None,
) -> bool:
    """Draw a run until it is done, or how it ended otherwise. Return True when its result can be opened.

    Parameters
    ----------
    says, share : one line about how far it is, and how much of the bar is full
    draw : shows what is ready
    name : tells the buttons of several runs on one page apart
    stop : ends it, in place of a plain cancel
    """
    if now.state == "done":
        return True
    if now.ended:
        ended(now, f"again_{name}" if name else "again")
        if now.rows:
            draw(now)
    else:
        live(now.id, says, share, draw, key=f"cancel_{name}" if name else "cancel", stop=stop)
    return False


def live(
    run_id: str,
    says: Callable[[JobState], str],
    share: Callable[[JobState], float],
    draw: Callable[[JobState], Any],
    *,
    label: str = "Cancel",
    key: str,
    stop: Callable[[], None] | None = None,
) -> None:
    """Draw a run that goes on, once a second; `stop` ends it, in place of a plain cancel."""

    def look() -> None:
        now = engine().status(run_id)
        if now.ended:
            st.rerun()
        bar, button = st.columns([6, 1], vertical_alignment="center")
        bar.progress(min(1.0, max(0.0, share(now))), text=says(now))
        with button:
            buttons.button(
                label, key, stop or (lambda: cancel(run_id)), icon=":material/stop_circle:", width="stretch"
            )
        draw(now)

    each_second(look)


def each_second(look: Callable[[], None]) -> None:
    """Draw a part of a page again every second, until that part reruns the page without it."""

    @st.fragment(run_every=SECOND)
    def again() -> None:
        with frame.guard():
            look()

    again()


def waiting(now: JobState) -> str | None:
    """Return a sentence about what a run waits for; None when it runs."""
    if now.state == "queued" and now.place:
        return f"Waiting: place {now.place} in the queue"
    return WAITING.get(now.state)


def ended(now: JobState, key: str) -> None:
    """Draw how a run ended without a result, with a button to run it again."""
    sentence = ENDED.get(now.state) or wording.plain(now.error) or "The run failed."
    (st.error if now.state == "failed" else st.warning)(sentence)
    buttons.button(
        "Run again", key, lambda: engine().again(now.id, viewer=state.workspace()), icon=":material/replay:"
    )


def cancel(run_id: str) -> None:
    """Cancel a run for this visitor; it goes on for others who wait for it."""
    engine().cancel(run_id, state.workspace())


def stop(run_id: str) -> None:
    """Cancel what hands in what it has by then, and wait for that: it takes a moment."""
    with st.spinner("Stopping …"):
        cancel(run_id)
        give_up = time.monotonic() + PATIENCE
        while engine().hands_in(run_id) and time.monotonic() < give_up:
            time.sleep(0.05)
