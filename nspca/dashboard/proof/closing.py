"""Improve the bound of a component: the button, the progress, and the outcome.

`panel` draws them for one component, and `joint.proof` for several. `unit` is as in `Aim`.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

import nspca
from nspca.dashboard.app import wording
from nspca.dashboard.components import figures
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.proof import attempts as proofs
from nspca.dashboard.proof.attempts import Attempt
from nspca.dashboard.runs import progress, start
from nspca.jobs import JobState
from nspca.plots import gap_figure
from nspca.presentation.numerals import OPTIMAL_GAP, format_bound, format_guarantee, proved_ratio
from nspca.specs import ProblemSpec
from nspca.specs.rows import Closer, unpack

MORE_HELP = (
    "Works on a tighter bound in the background, up to thorough effort: a minute or more, for several "
    "components up to ten, and you can stop it."
)
NOTHING_LEFT = {
    "closed": "The gap is closed: nothing is left to prove.",
    "tried": "This is what thorough effort can prove.",
}


@dataclass(frozen=True, eq=False)
class Aim:
    """The component whose bound is to be improved.

    Parameters
    ----------
    about, asked : data and question of the component
    k : number of features of the component, or a tuple for several components
    result : the answer with its certificate
    made : the effort of that certificate, if completed
    tried : attempts at this problem, newest first
    unit : the variance that is 100 % in figures, and its name
    """

    about: Chosen
    asked: ProblemSpec
    k: int | tuple[int, ...]
    result: nspca.Result
    made: str | None
    tried: Sequence[Attempt]
    unit: tuple[float, str]

    @property
    def mine(self) -> list[Attempt]:
        """The attempts to improve this bound, newest first."""
        return [attempt for attempt in self.tried if attempt.k == self.k and not attempt.is_search]

    @property
    def working(self) -> Attempt | None:
        """The attempt that is waiting or running; None without one."""
        return next((attempt for attempt in self.mine if not attempt.now.ended), None)


def button(aim: Aim) -> None:
    """Draw the button that starts a further proof, unless one is running."""
    if aim.working is not None:
        return
    reason, proof = None, proofs.best(aim.result, aim.tried, aim.k)
    if proof is not None and 1 - proof.certificate.ratio(aim.result.value) <= OPTIMAL_GAP:
        reason = NOTHING_LEFT["closed"]
    elif any(attempt.now.state == "done" for attempt in aim.mine) or not proofs.left(aim.made):
        reason = NOTHING_LEFT["tried"]
    look: dict[str, Any] = {
        "icon": ":material/compress:",
        "disabled": reason is not None,
        "help": reason or MORE_HELP,
    }
    known, efforts = proofs.known_components(aim.k, aim.result), proofs.left(aim.made)
    start.button(
        "Prove more",
        lambda: proofs.more(aim.about, aim.asked, aim.k, known, efforts),
        "more",
        type="secondary",
        **look,
    )


def watched(aim: Aim) -> None:
    """Draw the running attempt, or the outcome of the last one."""
    if aim.working is not None:
        _watch(aim.working, aim.unit)
    elif aim.mine:
        _draw_outcome(aim.result, aim.mine[0], aim.unit)


def _watch(attempt: Attempt, unit: tuple[float, str]) -> None:
    """Draw a running attempt, with its bounds and the button that stops it."""

    def share(now: JobState) -> float:
        return now.event.done / now.event.total if now.event and now.event.total else 0.0

    def gap(now: JobState) -> None:
        draw(closers(now), unit, attempt.id, time.time() - now.started if now.started else None)

    def says(now: JobState) -> str:
        return progress_words(now.state, closers(now))

    progress.live(
        attempt.id, says, share, gap, label="Stop", key="stop", stop=lambda: progress.stop(attempt.id)
    )


def closers(now: JobState) -> list[Closer]:
    """Return the rows about its bound that a run has reported so far, in order."""
    return [row for row in unpack(now.rows) if isinstance(row, Closer)]


def progress_words(state: str, rows: Sequence[Closer]) -> str:
    """Return one line about a proof in progress: the bound so far, or before there is one the state."""
    if not rows:
        return {"starting": "Starting workers …", "queued": "Waiting for a free worker …"}.get(
            state, "Proving …"
        )
    last = rows[-1]
    share = format_guarantee(proved_ratio(last.lower, last.upper))
    return (
        f"Proving with {last.effort} effort: nothing above {format_bound(last.upper)}, at least {share} "
        "of the best possible"
    )


def draw(
    rows: Sequence[Closer], unit: tuple[float, str], same: str, until: float | None = None, key: str = "gap"
) -> None:
    """Draw value and bound against seconds, up to `until`; nothing without rows.

    The browser resets a zoom when the text `same` changes.
    """
    if not rows:
        return
    seen = pd.DataFrame(rows)
    if until is not None and until > seen["seconds"].iloc[-1]:
        seen = pd.concat([seen, seen.tail(1).assign(seconds=until)])
    columns = (seen[name].to_numpy() for name in ("lower", "upper", "seconds"))
    drawn = gap_figure(*columns, unit=unit[0], unit_name=unit[1], steps_name="seconds")
    figures.draw(drawn.update_layout(height=280), key, same=same)


def closed(rows: Sequence[Closer], unit: tuple[float, str], same: str) -> None:
    """Draw the folded history of the bounds of an ended proof; the arguments are those of `draw`."""
    if rows:
        with st.expander("How the gap closed", icon=":material/compress:"):
            draw(rows, unit, same)


def _draw_outcome(result: nspca.Result, attempt: Attempt, unit: tuple[float, str]) -> None:
    """Draw the outcome of an ended attempt: why it ended, and what it gained for the proof of `result`."""
    now, before = attempt.now, result.certificate
    if now.state == "failed":
        st.error(wording.plain(now.error), icon=":material/error:")
        return
    ended = {
        "done": f"Worked on for {attempt.seconds or 0:.1f} s.",
        "cancelled": "Stopped; the best that was proved by then is kept.",
        "interrupted": "The server was restarted while this was being proved: press Prove more to go on.",
    }[now.state]
    if attempt.certificate is not None and before is not None:
        first, last = before.ratio(result.value), attempt.certificate.ratio(result.value)
        ended += (
            f" From {format_guarantee(first)} to {format_guarantee(last)}."
            if last > first
            else " The bound of before was not beaten."
        )
    st.caption(ended)
    closed(closers(now), unit, attempt.id)
