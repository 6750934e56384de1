"""Search for the optimum on a page, from what is proved: start, watch, cancel and resume the search.

The pages Home and Sweep draw `show` below a component, and Components below several. In
this module `mine` has the searches for a better answer than the shown one, newest first.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import streamlit as st

import nspca
from nspca.dashboard.app import wording
from nspca.dashboard.components import figures
from nspca.dashboard.proof import attempts as proofs
from nspca.dashboard.proof.answer import Answer
from nspca.dashboard.proof.attempts import Attempt, Proof
from nspca.dashboard.runs import progress, start
from nspca.jobs import JobState
from nspca.plots import fixing_figure
from nspca.presentation.numerals import (
    OPTIMAL_GAP,
    format_guarantee,
    format_value,
    percent_down,
    proved_ratio,
)
from nspca.specs.optimum import SECONDS, Standing

LABEL = "Go on until proved optimal"
HELP = (
    "Searches in the background for something better, until it is proved that nothing is. That can take "
    "seconds or hours. It begins with what is proved, and what it proves is kept, even if you cancel it."
)
LIMITS = {60: "for at most 1 minute", 600: "for at most 10 minutes", SECONDS: "for at most 1 hour"}
"""Time limits of a search in seconds, and their words; the last one is the default."""
THOROUGH = "thorough"
PROVED = "Proved optimal: nothing better exists."
ENDED = {
    "done": "The time was over before the proof was complete{left}. What it proved is kept.",
    "cancelled": "Cancelled. What was proved by then is kept{left}.",
    "interrupted": "The server was restarted during this search.",
}
NOTHING_KEPT = "Cancelled before it proved anything that could be kept."
EXHAUSTED = (
    "The search ended before its proof was complete{left}: it can split nothing further, or its proof has "
    "reached the largest size of a file. What it proved is kept."
)


Draw = Callable[[nspca.Result, Standing], None]
"""Draws which features of a result are certain, possible or ruled out."""


def _figure(answer: Answer) -> Draw:
    def draw(result: nspca.Result, standing: Standing) -> None:
        data = answer.of.dataset
        pixels = data.kind == "image" and data.image_shape is not None and not data.is_covariance
        drawn = fixing_figure(
            result.components[:, 0],
            standing.certain[:, 0],
            standing.possible[:, 0],
            image_shape=data.image_shape if pixels else None,
            names=data.feature_names,
        )
        figures.draw(drawn, "fixing", same=f"fixing {result.method} {answer.k}")

    return draw


def show(answer: Answer, draw: Draw | None = None) -> None:
    """Draw in a box the search that can prove an answer optimal, or the button that starts it.

    Nothing is drawn for an answer that was proved optimal without a search: its statement says so. `draw`
    shows the fate of features, by default in a figure of one component.
    """
    proof = answer.proof
    ratio = 0.0 if proof is None else proof.certificate.ratio(answer.shown.value)
    if answer.mine or 1 - ratio > OPTIMAL_GAP:
        with st.container(border=True):
            _show(answer, proof, ratio, draw or _figure(answer))


def _show(answer: Answer, proof: Proof | None, ratio: float, draw: Draw) -> None:
    """Draw the content of the box; `ratio` is what is proved of the answer."""
    mine = answer.mine
    if answer.own and answer.working is not None:
        _watch(answer, answer.working, ratio, draw)
        return
    done = 1 - ratio <= OPTIMAL_GAP
    if done:
        st.success(f"**{PROVED}**", icon=":material/verified:")
    else:
        st.markdown(_question(answer, None if proof is None else ratio))
    _say_replaced(answer)
    if answer.own and not done:
        _say_ended(answer)
        if not (mine and mine[0].is_exhausted):
            _offer(answer, _known(proof, mine))
    if mine:
        _picture(answer, done, draw)


def _question(answer: Answer, ratio: float | None) -> str:
    """Return the question whether an answer is the best; `ratio` is what is proved of it, or None.

    Only the owner of a run is told of a search, because only the owner has the button that starts one.
    """
    subject, verb, pronoun, better = f"the {answer.noun}", "is", "it", "a better one"
    if answer.many:
        subject, verb, pronoun, better = f"these {answer.noun}s", "are", "they", "better ones"
    known = f"Nothing is proved about {subject} yet."
    if ratio is not None:
        known = f"{subject.capitalize()} {verb} at least {format_guarantee(ratio)} of the best possible."
    ask = f"**{verb.capitalize()} {pronoun} the best?**"
    search = f" A search can prove that nothing is better, or find {better}." if answer.own else ""
    return f"{ask} {known}{search}"


def _offer(answer: Answer, known: nspca.Certificate | None) -> None:
    """Draw the button that starts a search, or goes on with the last one, and its time limit.

    The first search for several components begins with a thorough proof, unless there is one.
    """
    has_one = bool(answer.mine) or getattr(answer.asked, "effort", None) == THOROUGH
    effort = THOROUGH if answer.many and not has_one else None
    with st.container(horizontal=True, vertical_alignment="center"):
        place = st.container(width="content")
        seconds = st.selectbox(
            "Time limit",
            list(LIMITS),
            index=len(LIMITS) - 1,
            format_func=LIMITS.__getitem__,
            label_visibility="collapsed",
            key="best_limit",
            width=210,
        )
        with place:
            start.button(
                LABEL,
                lambda: proofs.search(
                    answer.of, answer.asked, answer.k, answer.shown, known, seconds, effort
                ),
                "best",
                icon=":material/query_stats:",
                type="secondary",
                help=HELP,
            )


def _known(proof: Proof | None, mine: Sequence[Attempt]) -> nspca.Certificate | None:
    """Return the certificate that a search goes on from: the one with the smallest bound, and a tree in it.

    The tree is that of the earlier search in `mine` with the smallest bound, and of those with equal bounds
    the tree with the most nodes.
    """
    proved = [one.certificate for one in mine if one.certificate is not None]
    nodes = {id(one): len((one.tree or {}).get("branch", ())) for one in proved}
    last = min(proved, key=lambda one: (one.upper, -nodes[id(one)]), default=None)
    best = None if proof is None else proof.certificate
    if last is None or best is None or last.upper <= best.upper:
        return last or best
    return best.with_unfinished(last.tree)


def _say_replaced(answer: Answer) -> None:
    """Draw the message that the shown answer is a better one, found by the search."""
    result, before = answer.shown, answer.shown.info.get("before")
    if before is None:
        return
    found = f"a better {answer.noun}, and it has taken the place of the first one. It explains"
    if answer.many:
        found = f"better {answer.noun}s, and they have taken the place of the first ones. They explain"
    more = percent_down(result.value / before - 1, 4)
    st.info(
        f"The search found {found} {more} more: {format_value(result.value)} instead of "
        f"{format_value(before)}.",
        icon=":material/upgrade:",
    )


def _say_ended(answer: Answer) -> None:
    """Draw why the last search ended, and what it left open; nothing if there was none."""
    if not answer.mine:
        return
    last = answer.mine[0]
    if last.now.state == "failed":
        st.error(wording.plain(last.now.error), icon=":material/error:")
        return
    standing = answer.standing()
    left = ""
    if standing is not None and standing.open:
        left = f", with {wording.things(standing.open, 'case')} open and {answer.looked_at:,} looked at"
    said = EXHAUSTED if last.is_exhausted else ENDED[last.now.state]
    if last.now.state == "cancelled" and last.certificate is None:
        said = NOTHING_KEPT
    st.caption(said.format(left=left))


def _watch(answer: Answer, attempt: Attempt, ratio: float, draw: Draw) -> None:
    """Draw a running search, with the button that cancels it; `ratio` is what was proved before it."""
    shape = answer.shown.components.shape

    def fates(now: JobState) -> None:
        standing = answer.standing(now)
        if standing is not None:
            draw(answer.shown, standing)

    progress.live(
        attempt.id,
        lambda now: progress_words(now, ratio, answer.looked_at),
        lambda now: _share(now, shape, ratio),
        fates,
        key="cancel_best",
        stop=lambda: progress.stop(attempt.id),
    )


def progress_words(now: JobState, known: float = 0.0, looked_at: int = 0) -> str:
    """Return one line about a search: proved share, open cases, seconds.

    `known` is the share that was proved before, since a search may begin with less. `looked_at` is the number
    of cases that the searches before settled, from which this one goes on.
    """
    if waits := progress.waiting(now):
        return waits
    event = now.event
    seconds = "" if now.started is None else f", {max(0.0, time.time() - now.started):.0f} s"
    ratio, payload = known, {} if event is None else event.payload
    if event is not None and event.upper is not None and event.lower is not None:
        ratio = max(known, proved_ratio(event.lower, event.upper))
    if not ratio:
        return f"Searching{seconds}"
    said = f"At least {format_guarantee(ratio)} of the best possible"
    nodes, open_ = payload.get("nodes"), payload.get("open")
    if nodes is not None and open_ is not None and looked_at + nodes:
        said += f"; {wording.things(open_, 'open case')}, {looked_at + nodes:,} looked at"
    return said + seconds


def _share(now: JobState, shape: tuple[int, ...], ratio: float) -> float:
    """Return the progress of a search, from 0 to 1.

    This is the share of features that are certain or impossible, or of the gap before that is closed, if
    that is larger.
    """
    event, standing = now.event, Standing.of(now.event, *shape)
    settled = 0.0 if standing is None else 1 - float(np.mean(standing.possible & ~standing.certain))
    if event is None or event.lower is None or event.upper is None or ratio >= 1:
        return settled
    return max(settled, 1 - (1 - proved_ratio(event.lower, event.upper)) / (1 - ratio))


def _picture(answer: Answer, done: bool, draw: Draw) -> None:
    """Draw which features are certain, possible or ruled out after the last search.

    With `done` the answer is proved optimal, so no feature is left undecided.
    """
    standing = answer.standing()
    if standing is None:
        return
    if done:
        standing = replace(Standing.none(*standing.possible.shape), nodes=standing.nodes)
    draw(answer.shown, standing)
