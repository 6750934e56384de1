"""Search for the optimum on a page: start, watch, cancel and resume the search.

The pages Home and Sweep draw `show` below a component. In this module `mine` has the searches for a better
component than that of one method at one k, newest first.
"""

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import plotly.graph_objects as go
import streamlit as st

import nspca
from nspca.dashboard.app import wording
from nspca.dashboard.components import figures
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.proof import attempts as proofs
from nspca.dashboard.proof.attempts import Attempt
from nspca.dashboard.runs import progress, start
from nspca.data import Dataset
from nspca.jobs import JobState
from nspca.plots import fixing_figure
from nspca.presentation.numerals import (
    OPTIMAL_GAP,
    format_guarantee,
    format_value,
    percent_down,
    proved_ratio,
)
from nspca.specs import OptimumSpec, ProblemSpec
from nspca.specs.optimum import SECONDS, Standing

HELP = (
    "Searches in the background until it is proved that nothing better exists. That can take seconds or "
    f"hours; a search ends after {SECONDS // 60} minutes, and can go on from there. You can cancel it, and "
    "what is proved by then is kept."
)
PROVED = "Proved optimal: nothing better exists."
ENDED = {
    "done": "The time of this search is over. What it proved is kept: press Go on to search further.",
    "cancelled": "Cancelled. What was proved by then is kept: press Go on to search further.",
    "interrupted": "The server was restarted during this search: press Go on to search again.",
}


def show(
    about: Chosen,
    asked: ProblemSpec,
    k: int,
    result: nspca.Result,
    tried: Sequence[Attempt],
    own: bool = True,
) -> None:
    """Draw whether a component is proved optimal; if not, draw the search or the button that starts it.

    Nothing is drawn for a component without a certificate.

    Parameters
    ----------
    about, asked : data and question of the page
    result : the component, found by one method at k
    tried : attempts at this problem, newest first
    own : False for a shared run, which a visitor cannot search further
    """
    proof = proofs.best(result, tried, k)
    if proof is None:
        return
    ratio = proof.certificate.ratio(result.value)
    mine = [
        one
        for one in tried
        if one.k == k and isinstance(one.spec, OptimumSpec) and one.spec.method == result.method
    ]
    working = next((attempt for attempt in mine if not attempt.now.ended), None)
    if own and working is not None:
        _watch(working, about.dataset, result, mine)
        return
    if 1 - ratio <= OPTIMAL_GAP:
        st.success(f"**{PROVED}**", icon=":material/verified:")
    else:
        st.markdown(
            f"**Is it the best?** The component is at least {format_guarantee(ratio)} of the best possible. "
            "A search can prove the rest, or find a better one."
        )
    _say_replaced(result)
    if own and 1 - ratio > OPTIMAL_GAP:
        _say_ended(mine)
        last = _last(mine)
        start.button(
            "Go on" if mine else "Is it the best?",
            lambda: proofs.search(about, asked, k, result, last),
            "best",
            icon=":material/query_stats:",
            type="secondary",
            help=HELP,
        )
    if mine:
        _picture(about.dataset, result, mine, done=1 - ratio <= OPTIMAL_GAP)


def _last(mine: Sequence[Attempt]) -> nspca.Certificate | None:
    """Return the certificate to continue: the one whose tree has the most nodes."""
    proved = [one.certificate for one in mine if one.certificate is not None]
    return max(proved, key=lambda one: len((one.tree or {}).get("branch", ())), default=None)


def _say_replaced(result: nspca.Result) -> None:
    """Draw the message that the shown component is a better one, found by the search."""
    before = result.info.get("before")
    if before is not None:
        more = percent_down(result.value / before - 1, 4)
        st.info(
            f"The search found a better component, and it has taken the place of the first one. It explains "
            f"{more} more: {format_value(result.value)} instead of {format_value(before)}.",
            icon=":material/upgrade:",
        )


def _say_ended(mine: Sequence[Attempt]) -> None:
    """Draw why the last search ended; nothing if there was none."""
    if not mine:
        return
    now = mine[0].now
    if now.state == "failed":
        st.error(wording.plain(now.error), icon=":material/error:")
    else:
        st.caption(ENDED[now.state])


def _watch(attempt: Attempt, data: Dataset, result: nspca.Result, mine: Sequence[Attempt]) -> None:
    """Draw a running search, with the button that cancels it."""

    def draw(now: JobState) -> None:
        standing = _standing(now, result, mine)
        if standing is not None:
            figures.draw(_drawn(data, result, standing), "fixing", same=f"fixing {attempt.k}")

    progress.live(
        attempt.id,
        progress_words,
        lambda now: _share(now, len(result.components)),
        draw,
        key="cancel_best",
        stop=lambda: progress.stop(attempt.id),
    )


def progress_words(now: JobState) -> str:
    """Return one line about a search: open parts, proved share, seconds."""
    if waits := progress.waiting(now):
        return waits
    event = now.event
    seconds = "" if now.started is None else f", {max(0.0, time.time() - now.started):.0f} s"
    if event is None or event.upper is None or event.lower is None:
        return f"Searching{seconds}"
    share = format_guarantee(proved_ratio(event.lower, event.upper))
    said = f"At least {share} of the best possible"
    if event.payload.get("nodes"):
        said += (
            f"; {wording.things(event.payload['open'], 'open part')}, {event.payload['nodes']:,} looked at"
        )
    return said + seconds


def _share(now: JobState, n: int) -> float:
    """Return the progress of a search: the share of features that are certain or impossible."""
    standing = Standing.of(now.event, n)
    return 0.0 if standing is None else 1 - float(np.mean(standing.possible & ~standing.certain))


def _standing(now: JobState, result: nspca.Result, mine: Sequence[Attempt]) -> Standing | None:
    """Return which features are certain or possible, as a search last said, or else one of `mine` before it.

    None if no search has said so yet.
    """
    n = len(result.components)
    for state in (now, *(attempt.now for attempt in mine)):
        found = Standing.of(state.event, n)
        if found is not None:
            return found
    return None


def _picture(data: Dataset, result: nspca.Result, mine: Sequence[Attempt], done: bool) -> None:
    """Draw which features are certain, possible or ruled out after the last search.

    With `done` the component is proved optimal, so no feature is left undecided.
    """
    standing = _standing(mine[0].now, result, mine)
    if standing is None:
        return
    if done:
        standing = replace(Standing.none(len(result.components)), nodes=standing.nodes)
    elif standing.nodes:
        st.caption(f"Parts of the search: {standing.nodes:,} looked at, {standing.open:,} open.")
    figures.draw(_drawn(data, result, standing), "fixing", same=f"fixing {result.method}")


def _drawn(data: Dataset, result: nspca.Result, standing: Standing) -> go.Figure:
    """Return the figure of the features that are certain, possible or ruled out."""
    pixels = data.kind == "image" and data.image_shape is not None and not data.is_covariance
    return fixing_figure(
        result.components[:, 0],
        standing.certain,
        standing.possible,
        image_shape=data.image_shape if pixels else None,
        names=data.feature_names,
    )
