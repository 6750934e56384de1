"""Search for the optimum on a page, from what is proved: start, watch, cancel and resume the search.

The pages Home and Sweep draw `show` below a component, and Components below several. In
this module `mine` has the searches for a better answer than that of one method at one k, newest first.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import streamlit as st

import nspca
from nspca.dashboard.app import wording
from nspca.dashboard.components import figures
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.proof import attempts as proofs
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
from nspca.specs import ProblemSpec
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


@dataclass(frozen=True, eq=False)
class Candidate:
    """The answer that a search tries to beat.

    Parameters
    ----------
    about, asked : data and question of the page
    k : number of features of the component, or sizes of several
    result : the answer, found by one method at k
    tried : attempts at this problem, newest first
    own : False for a shared run, which a visitor cannot search further
    noun : what one component is called
    draw : callable, optional
        ``draw(result, standing)`` draws which features are certain, possible or ruled out; by default as a
        figure of one component.
    """

    about: Chosen
    asked: ProblemSpec
    k: int | tuple[int, ...]
    result: nspca.Result
    tried: Sequence[Attempt]
    own: bool = True
    noun: str = "component"
    draw: Callable[[nspca.Result, Standing], None] | None = None

    @cached_property
    def mine(self) -> list[Attempt]:
        """The searches that began with an answer of the same method, newest first."""
        return [one for one in self.tried if one.k == self.k and one.spec.method == self.result.method]

    @property
    def working(self) -> Attempt | None:
        """The search that is waiting or running; None without one."""
        return next((attempt for attempt in self.mine if not attempt.now.ended), None)

    @property
    def many(self) -> bool:
        """Tell whether the answer has several components."""
        return len(self.result.values) > 1

    def standing(self, now: JobState | None = None) -> Standing | None:
        """Return the last standing that `now` or one of the searches in `mine` reported; None without one."""
        states = [attempt.now for attempt in self.mine]
        for state in states if now is None else [now, *states]:
            found = Standing.of(state.event, *self.result.components.shape)
            if found is not None:
                return found
        return None

    @property
    def looked_at(self) -> int:
        """Number of nodes that the ended searches settled, as far as what they proved is kept."""
        kept = [one.now.event for one in self.mine if one.now.ended and one.certificate is not None]
        found = [Standing.of(event, *self.result.components.shape) for event in kept]
        return sum(standing.nodes for standing in found if standing is not None)

    def picture(self, standing: Standing) -> None:
        """Draw which features are certain, possible or ruled out."""
        draw = self.draw or self._figure
        draw(self.result, standing)

    def _figure(self, result: nspca.Result, standing: Standing) -> None:
        """Draw the figure of one component."""
        data = self.about.dataset
        pixels = data.kind == "image" and data.image_shape is not None and not data.is_covariance
        drawn = fixing_figure(
            result.components[:, 0],
            standing.certain[:, 0],
            standing.possible[:, 0],
            image_shape=data.image_shape if pixels else None,
            names=data.feature_names,
        )
        figures.draw(drawn, "fixing", same=f"fixing {result.method} {self.k}")


def show(answer: Candidate) -> None:
    """Draw in a box the search that can prove an answer optimal, or the button that starts it.

    Nothing is drawn for an answer that was proved optimal without a search: its statement says so.
    """
    proof = proofs.best(answer.result, answer.tried, answer.k)
    ratio = 0.0 if proof is None else proof.certificate.ratio(answer.result.value)
    if answer.mine or 1 - ratio > OPTIMAL_GAP:
        with st.container(border=True):
            _show(answer, proof, ratio)


def _show(answer: Candidate, proof: Proof | None, ratio: float) -> None:
    """Draw the content of the box; `ratio` is what is proved of the answer."""
    mine = answer.mine
    if answer.own and answer.working is not None:
        _watch(answer, answer.working, ratio)
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
        _picture(answer, done)


def _question(answer: Candidate, ratio: float | None) -> str:
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


def _offer(answer: Candidate, known: nspca.Certificate | None) -> None:
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
                    answer.about, answer.asked, answer.k, answer.result, known, seconds, effort
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


def _say_replaced(answer: Candidate) -> None:
    """Draw the message that the shown answer is a better one, found by the search."""
    result, before = answer.result, answer.result.info.get("before")
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


def _say_ended(answer: Candidate) -> None:
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


def _watch(answer: Candidate, attempt: Attempt, ratio: float) -> None:
    """Draw a running search, with the button that cancels it; `ratio` is what was proved before it."""
    shape = answer.result.components.shape

    def draw(now: JobState) -> None:
        standing = answer.standing(now)
        if standing is not None:
            answer.picture(standing)

    progress.live(
        attempt.id,
        lambda now: progress_words(now, ratio, answer.looked_at),
        lambda now: _share(now, shape, ratio),
        draw,
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


def _picture(answer: Candidate, done: bool) -> None:
    """Draw which features are certain, possible or ruled out after the last search.

    With `done` the answer is proved optimal, so no feature is left undecided.
    """
    standing = answer.standing()
    if standing is None:
        return
    if done:
        standing = replace(Standing.none(*standing.possible.shape), nodes=standing.nodes)
    answer.picture(standing)
