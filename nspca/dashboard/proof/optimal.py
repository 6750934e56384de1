"""The proof of an answer in one line: proved to be the best, or so much of it, which a search still raises.

A page begins a short search by itself; what any search finds and proves is kept when the page is left.
"""

import math
import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial

import pandas as pd
import streamlit as st

import nspca
from nspca.dashboard.app import buttons, frame, state, wording
from nspca.dashboard.components import figures
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.proof import attempts as proofs
from nspca.dashboard.runs import defaults, progress
from nspca.dashboard.runs.answer import Answer, Attempt
from nspca.dashboard.runs.tasks import engine
from nspca.dashboard.views import statement
from nspca.data.arrays import to_npz
from nspca.jobs import JobState
from nspca.plots.fixing import fixing_figure
from nspca.plots.gaps import gap_figure
from nspca.plots.sweeps import kind_words
from nspca.presentation.numerals import (
    OPTIMAL_GAP,
    format_bound_share,
    format_guarantee,
    percent_down,
    proved_ratio,
)
from nspca.problem import Problem
from nspca.specs import ProblemSpec
from nspca.specs.data import CHANGES
from nspca.specs.optimum import Standing
from nspca.specs.rows import Closer, unpack

LABEL, STOP = "search on", "stop"
HELP = (
    "Searches in the background for something better, until it is proved that nothing is, for at most an "
    "hour. It begins with what is proved, and what it proves is kept, also if you stop it."
)
NEAR = 0.9  # proved share of the best from which the line says within how much of the best an answer is
THOROUGH = "thorough"
CANNOT = "The search can do no more: its cases cannot be split, or its proof is as large as a file may be."
LINE = "proof_line"  # key of the container of the line

Draw = Callable[[nspca.Result, Standing], None]
"""Draws which features of a result are certain, possible or ruled out."""


def show(answer: Answer, bar: Callable[[float], str] | None = None) -> None:
    """Draw the line about an answer, below the HTML of its `bar` for the bound of a search at work."""
    ratio = answer.ratio
    if answer.working is None and _searches_by_itself(answer, ratio):
        answer = replace(answer, tried=[proofs.search_shortly(answer), *answer.tried])
    working = answer.working
    if working is not None and answer.own and working.id not in _stopped():
        _watch(working, ratio, bar)
        return
    if bar is not None:
        st.html(bar(math.inf))
    with st.container(key=LINE):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            said = "" if answer.many else chip(ratio)  # the headline about several components says it
            if said:
                st.markdown(f":gray-badge[:material/verified: {said}]", width="content")
            if answer.own and 1 - ratio > OPTIMAL_GAP and not state.get("present"):
                _offer(answer)
        _say_ended(answer)


def chip(ratio: float) -> str:
    """Return in a few words what is proved of an answer; empty for nothing, and for the best: a headline."""
    if 1 - ratio <= OPTIMAL_GAP:
        return ""
    share = format_guarantee(ratio)
    if ratio < NEAR:
        return f"at least {share} of the best: proved" if ratio > 0 else ""
    return f"the best within {100 - Decimal(share.removesuffix(' %')):f} %: proved"


def _stopped() -> set[str]:
    """Return the ids of the automatic searches that the visitor does not wait for."""
    return st.session_state.setdefault(state.STOPPED, set())


def _searches_by_itself(answer: Answer, ratio: float) -> bool:
    """Tell whether the page begins a search: for one component in memory, unless one has ended before."""
    if not answer.own or answer.is_partial or not isinstance(answer.k, int) or 1 - ratio <= OPTIMAL_GAP:
        return False
    ended = any(not one.is_automatic or one.now.state != "cancelled" for one in answer.mine)
    return not ended and defaults.small_enough(answer.of)


def _offer(answer: Answer) -> None:
    """Draw the link that starts a search, or goes on with the last one."""
    mine = answer.mine
    if mine and mine[0].is_exhausted and not mine[0].is_automatic:
        st.caption(CANNOT, width="content")
        return
    has_one = bool(mine) or getattr(answer.asked, "effort", None) == THOROUGH
    effort = THOROUGH if answer.many and not has_one else None
    known = _known(answer.certificate, mine)
    begin = partial(proofs.search, answer, known, effort)
    buttons.button(LABEL, "best", begin, type="tertiary", help=HELP)


def _known(best: nspca.Certificate | None, mine: Sequence[Attempt]) -> nspca.Certificate | None:
    """Return the best certificate, with the tree of the earlier search that has the smallest bound."""
    proved = [one.certificate for one in mine if one.certificate is not None]
    nodes = {id(one): len((one.tree or {}).get("branch", ())) for one in proved}
    last = min(proved, key=lambda one: (one.upper, -nodes[id(one)]), default=None)
    if last is None or best is None or last.upper <= best.upper:
        return last or best
    return best.with_unfinished(last.tree)


def _say_ended(answer: Answer) -> None:
    before = answer.shown.info.get("before")
    if before is not None:
        more = percent_down(answer.shown.value / before - 1, 4)
        these = f"these better {answer.noun}s" if answer.many else f"this better {answer.noun}"
        st.caption(f"A search found {these}: {more} more.")
    last = answer.mine[0].now if answer.mine else None
    if last is not None and last.state in ("failed", "interrupted"):
        st.caption(wording.plain(last.error) if last.error else "The server was restarted in this search.")


def _watch(attempt: Attempt, ratio: float, bar: Callable[[float], str] | None) -> None:
    """Draw bar and line of a running search every second; `ratio` is what was proved before it."""

    def stop() -> None:
        if attempt.is_automatic:
            _stopped().add(attempt.id)
        else:
            progress.stop(attempt.id)

    def look() -> None:
        now = engine().status(attempt.id)
        if now.ended:
            st.rerun()
        if bar is not None:
            event = now.event
            st.html(bar(math.inf if event is None or event.upper is None else event.upper))
        line = st.container(key=LINE)
        with line.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(progress_words(now, ratio), width="content")
            if not state.get("present"):
                buttons.button(STOP, "cancel_best", stop, type="tertiary")

    progress.repeat(look)


def progress_words(now: JobState, known: float = 0.0) -> str:
    """Return the line about a search at work; `known` is the share of the best that was proved before."""
    if waits := progress.waiting(now):
        return f"at least {format_guarantee(known)} of the best" if known else waits
    event, ratio = now.event, known
    if event is not None and event.upper is not None and event.lower is not None:
        ratio = max(known, proved_ratio(event.lower, event.upper))
    return f"at least {format_guarantee(ratio)} of the best, still rising" if ratio else "searching"


def fates(answer: Answer, draw: Draw | None = None, now: JobState | None = None) -> None:
    """Draw which features are certain, possible or ruled out, in a search at `now` or after the last one.

    A figure of one component is drawn only where some feature is settled.
    """
    standing = answer.standing(now)
    if standing is None or (draw is None and standing.possible.all() and not standing.certain.any()):
        return
    if 1 - answer.ratio <= OPTIMAL_GAP:
        standing = replace(Standing.none(*standing.possible.shape), nodes=standing.nodes)
    if draw is not None:
        draw(answer.shown, standing)
        return
    data = answer.of.dataset
    pixels = data.kind == "image" and data.image_shape is not None and not data.is_covariance
    drawn = fixing_figure(
        answer.shown.components[:, 0],
        standing.certain[:, 0],
        standing.possible[:, 0],
        image_shape=data.image_shape if pixels else None,
        names=data.feature_names,
    )
    figures.draw(drawn, "fixing", same=f"fixing {answer.shown.method} {answer.k}")


INDEPENDENT = (
    "The checker shares no code with what made the certificate. It computes everything it needs from the "
    "data again, and trusts nothing else."
)


def fold_proof(answer: Answer) -> None:
    """Draw the folded section: the best certificate, to check, to take home, and how its gap closed."""
    frame.fold(
        "The proof: check it, take it home", "fold_proof", ":material/verified:", partial(_draw_proof, answer)
    )


def _draw_proof(answer: Answer) -> None:
    certificate, result, k = answer.certificate, answer.shown, answer.k
    st.markdown(statement.numbers(answer.problem, result, k))
    closer = answer.bounding
    if closer is not None and closer is not certificate:
        st.markdown(f"The limit for {closer.k:,} {answer.nouns.feature}s is lower, and holds for fewer, too.")
    fates(answer)
    if certificate is None:
        st.markdown("Nothing is proved about this component yet.")
        return
    searched = next((one.seconds for one in answer.tried if one.certificate is certificate), None)
    st.markdown(_origin(result, certificate, searched))
    with st.container(horizontal=True):
        verify_button(answer.of, answer.problem.with_k(k), certificate)
        _take_home(answer, certificate)
    unit = answer.problem.leading_eigenvalue or 1.0, "the leading eigenvalue"
    verified(result, certificate, unit)
    if (last := proofs.last_closed(answer.tried, k)) is not None:
        gap_closed(closers(last.now), unit, last.id)
    _elsewhere(answer)


def _origin(result: nspca.Result, certificate: nspca.Certificate, searched: float | None) -> str:
    """Return where a bound comes from; `searched` are the seconds of a search that proved it."""
    seconds = result.seconds if searched is None else searched
    what = "Component and proof took" if searched is None else "The proof took"
    took = f"{what} {f'{seconds:.2g}' if seconds < 10 else f'{seconds:.0f}'} s"
    size = f", and {wording.size(certificate.nbytes)} prove it again" if certificate.nbytes else ""
    return f"The limit comes from {wording.plain(kind_words(certificate.kind, code=False))}. {took}{size}."


# --- verify ---------------------------------------------------------------------------------------


def verify_button(of: Chosen, problem: Problem, certificate: nspca.Certificate) -> None:
    """Draw the button that runs the independent checker on a certificate."""

    def check() -> None:
        with st.spinner("Checking …"):
            proofs.check(of, problem, certificate)

    why = f"Proves the bound again from the data. {INDEPENDENT}"
    buttons.button("Verify now", "verify", check, icon=":material/fact_check:", help=why)


def verified(result: nspca.Result, certificate: nspca.Certificate, unit: tuple[float, str]) -> None:
    """Draw the outcome of the check, or its progress. `unit` is what is 100 %, and its name."""
    answer = proofs.checked(certificate)
    if answer is None:
        return
    if "run" in answer:
        said = "The check is running in the background: this proof is large."
        progress.redraw_once(
            lambda: "run" not in (proofs.checked(certificate) or {}),
            lambda: st.info(said, icon=":material/hourglass_top:"),
        )
    elif answer["refusal"]:
        st.error(f"Refused: {wording.plain(answer['refusal'])}.", icon=":material/gpp_bad:")
    else:
        upper, seconds = answer["upper"], answer["seconds"]
        share = format_guarantee(proved_ratio(result.value, upper))
        limit = f"{format_bound_share(upper, unit[0])} of {unit[1]}"
        proved = f"{certificate.statement.rpartition(' ')[0]} {limit}"
        st.success(
            f"Checked in {seconds:.2g} s, recomputed from the data: {wording.plain(proved)}. So what is "
            f"shown is at least {share} of the best possible. {INDEPENDENT}",
            icon=":material/verified:",
        )


# --- how the gap closed ---------------------------------------------------------------------------


def closers(now: JobState) -> list[Closer]:
    """Return the rows about its bound that a run has reported so far, in order."""
    return [row for row in unpack(now.rows) if isinstance(row, Closer)]


def draw_gap(
    rows: Sequence[Closer], unit: tuple[float, str], same: str, until: float | None = None, key: str = "gap"
) -> None:
    """Draw value and bound against seconds, up to `until`; nothing without rows."""
    if not rows:
        return
    seen = pd.DataFrame(rows)
    if until is not None and until > seen["seconds"].iloc[-1]:
        seen = pd.concat([seen, seen.tail(1).assign(seconds=until)])
    columns = (seen[name].to_numpy() for name in ("lower", "upper", "seconds"))
    drawn = gap_figure(*columns, unit=unit[0], unit_name=unit[1], steps_name="seconds")
    figures.draw(drawn.update_layout(height=280), key, same=same)


def gap_closed(rows: Sequence[Closer], unit: tuple[float, str], same: str) -> None:
    """Draw the folded history of the bounds of an ended proof; the arguments are those of `draw_gap`."""
    if rows:
        draw = partial(draw_gap, rows, unit, same)
        frame.fold("How the gap closed", "fold_gap", ":material/compress:", draw)


# --- take home ------------------------------------------------------------------------------------


def _plain_source(asked: ProblemSpec) -> bool:
    """Tell whether anybody can get the numbers from a sample's name and the preparations in a certificate."""
    where = asked.data
    return where.sample is not None and not any(
        getattr(where, name) for name in CHANGES if name != "prepared"
    )


def _take_home(answer: Answer, certificate: nspca.Certificate) -> None:
    of, name = answer.of, answer.of.stem
    buttons.download(
        "Certificate, NPZ",
        certificate.of_prepared(of.dataset.prepared).to_bytes,
        f"{name}-k{answer.k}-certificate.npz",
        buttons.BYTES,
    )
    if answer.own and of.table is None and not _plain_source(answer.asked):
        dataset = of.dataset
        buttons.download(
            "Data, NPZ",
            lambda: to_npz(dataset),
            f"{name}.npz",
            buttons.BYTES,
            help="The numbers that the certificate is about, as they are after reading.",
        )


def _elsewhere(answer: Answer) -> None:
    of, asked, name = answer.of, answer.asked, answer.of.stem
    data = asked.data.sample if _plain_source(asked) else f"{name}.npz"
    if of.table is not None and asked.data.folder is not None:
        data = shlex.quote(asked.data.folder)
    st.caption("To check the downloaded file on any machine that has nspca:")
    st.code(f"python -m nspca verify {data} {name}-k{answer.k}-certificate.npz", language="bash")
