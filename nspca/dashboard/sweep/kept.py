"""What a sweep has handed in: all of it at its end, or what was ready when it was cancelled."""

from dataclasses import replace

import streamlit as st

import nspca
from nspca.dashboard.chosen import Chosen
from nspca.dashboard.runs import found, start
from nspca.dashboard.runs.found import Watched
from nspca.dashboard.runs.request import SWEEP, Request, in_words
from nspca.dashboard.runs.tasks import engine
from nspca.dashboard.shell import state


def kept(run: Watched) -> nspca.Sweep | None:
    """The results of a run that is done or cancelled; None when there are none."""
    if run.now.state == "done":
        return found.opened(run.id, run.now.finished, nspca.Sweep.from_bytes)
    if run.now.state != "cancelled":
        return None
    key = engine().store.find_run(run.id).key
    return _handed_in(key, run.now.finished) if engine().store.has_result(key) else None


@st.cache_resource(max_entries=16, show_spinner=False)
def _handed_in(key: str, finished: float | None) -> nspca.Sweep:
    return nspca.Sweep.from_bytes(engine().store.result(key))


def begin(of: Chosen, asked: Request) -> None:
    """Start a sweep, or join one; a cancelled one that handed in a part is no answer, and is followed by another attempt."""
    start.of_page(SWEEP, of, asked, in_words(asked.ks))
    sweep = kept(found.named(SWEEP, state.get(SWEEP.key)))
    if sweep is not None and len(sweep) < asked.total:
        begin(of, replace(asked, attempt=asked.attempt + 1))
