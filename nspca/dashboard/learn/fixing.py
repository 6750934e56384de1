"""The sixth screen of the lesson, about proving the optimum.

Pixels become certain or impossible until none is undecided.
"""

import time
from dataclasses import dataclass

import numpy as np
import streamlit as st

import nspca
from nspca.api import prove_optimum
from nspca.dashboard.app import buttons
from nspca.dashboard.components import figures
from nspca.dashboard.learn.lesson import K, Lesson
from nspca.dashboard.runs import progress
from nspca.plots.fixing import fixing_figure
from nspca.presentation.numerals import OPTIMAL_GAP
from nspca.progress import Event
from nspca.specs.optimum import Standing

SENTENCE = (
    f"A pixel turns green once every better component of {K} pixels must use it, and grey once none can. "
    "When no pixel is undecided, nothing better exists."
)
BEAT = 0.8
"""Seconds between two pictures."""
MOST = 12
"""Maximum pictures of the replay, which then takes about ten seconds."""
LIMIT = 20
"""Maximum seconds of the search, which takes about one."""
BEGAN = "learn_fixing_began"
"""Session key: time at which the button was pressed."""


@dataclass(frozen=True, eq=False)
class Search:
    """A search for the optimum of the lesson: its states, step by step, and its result."""

    standings: tuple[Standing, ...]
    result: nspca.Result


@st.cache_resource(max_entries=2, show_spinner="Searching …")
def search(content: str, _of: Lesson) -> Search:
    """Return the search for the optimum of the lesson, which runs once per server."""
    n, seen = _of.problem.n, list[Standing]()

    def watch(event: Event) -> None:
        standing = Standing.of(event, n)
        if standing is not None and (not seen or settled(standing) > settled(seen[-1])):
            seen.append(standing)

    def settled(standing: Standing) -> int:
        return int(np.sum(standing.certain) + np.sum(~standing.possible))

    result = prove_optimum(_of.problem, _of.result, watch, seconds=LIMIT)
    if len(seen) > MOST:
        seen = [seen[i] for i in np.linspace(0, len(seen) - 1, MOST).astype(int)]
    return Search(tuple(seen), result)


def show(of: Lesson) -> None:
    """Draw the picture of the search, and the button that starts its replay."""
    st.markdown(SENTENCE)
    began = st.session_state.get(BEGAN)
    if began is None:
        start = np.zeros(of.problem.n, dtype=bool)
        _draw(of, of.result, Standing(start, ~start, 1, 0))
        buttons.button("Search", "fix_pixels", _begin, type="primary", icon=":material/play_arrow:")
        return
    found = search(of.of.content, of)
    if time.time() - began >= BEAT * len(found.standings):
        _end(of, found)
        return

    def step() -> None:
        at = int((time.time() - began) / BEAT)
        if at >= len(found.standings):
            st.rerun()
        _draw(of, of.result, found.standings[max(0, at)])

    progress.repeat(step, BEAT)


def _begin() -> None:
    st.session_state[BEGAN] = time.time()


def _end(of: Lesson, found: Search) -> None:
    is_optimal = found.result.ratio is not None and 1 - found.result.ratio <= OPTIMAL_GAP
    _draw(of, found.result, Standing.none(of.problem.n) if is_optimal else found.standings[-1])
    if is_optimal:
        st.success(
            "**Proved optimal: nothing better exists.** The green pixels are the best "
            f"{K} of all choices of {K} pixels.",
            icon=":material/verified:",
        )
    buttons.button("Search again", "fix_pixels", _begin, icon=":material/replay:")


def _draw(of: Lesson, result: nspca.Result, standing: Standing) -> None:
    shown = fixing_figure(
        result.components[:, 0],
        standing.certain,
        standing.possible,
        image_shape=of.of.dataset.image_shape,
    )
    figures.draw(shown, "learn_fixing", same="the pixels of the lesson")
