"""State the answer of the page Components: how many components, what holds them together, and its proof, with
the section about it.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import streamlit as st
from scipy.optimize import linear_sum_assignment

import nspca
from nspca.dashboard.app import wording
from nspca.dashboard.proof import attempts as proofs
from nspca.dashboard.proof import optimal
from nspca.dashboard.proof.optimal import NEAR
from nspca.dashboard.runs import progress
from nspca.dashboard.runs.answer import Answer, display_order, in_order
from nspca.dashboard.runs.tasks import engine
from nspca.jobs import JobState
from nspca.presentation.numerals import (
    OPTIMAL_GAP,
    format_guarantee,
    percent_down,
    percent_up,
    proved_ratio,
    ratio_at_most,
)
from nspca.problem import Problem
from nspca.result import Result
from nspca.specs.optimum import Standing
from nspca.specs.rows import Several, unpack

DIGITS = 1  # digits after the point of a percentage
TOGETHER = {"image": "vary together", "words": "occur together", "table": "move together"}
"""What features of a component do, by kind of table."""


def show(answer: Answer) -> None:
    """Draw the answer as a headline."""
    st.markdown(wording.unbroken(f"## {headline(answer)}"))


def follow(answer: Answer) -> None:
    """Draw the headline, and while the proof of the run is at work, draw its limit anew every second.

    The limit of a later search stands in the line below, and only there.
    """
    if answer.now is None or answer.now.ended:
        searches = answer.own and answer.working is not None
        said = found(answer) if searches else headline(answer)
        st.markdown(wording.unbroken(f"## {said}"))
        return

    def look() -> None:
        event = engine().status(answer.id).event
        upper = math.inf if event is None or event.upper is None else event.upper
        show(replace(answer, upper=upper))

    progress.repeat(look)


def _one(answer: Answer) -> str:
    nouns = answer.nouns
    return "list" if nouns.kind == "table" and answer.of.dataset.kind == "table" else nouns.one


def found(answer: Answer) -> str:
    """Return what the components are, and what their features have in common."""
    nouns, r = answer.nouns, answer.asked.r
    sizes = sorted(set(answer.k))
    each = nouns.features(sizes[0])
    if len(sizes) > 1:
        each = f"{wording.listed(list(map(str, answer.k)))} {nouns.feature}s"
    so_far = " so far" if answer.is_partial else ""
    said = f"{wording.things(r, _one(answer))} of {each}{so_far}."
    if max(sizes) > 1 and answer.of.table is None:
        those = f"In each, the {nouns.feature}s" if r > 1 else f"The {nouns.feature}s"
        said += f" {those} {TOGETHER[nouns.kind]}: they share {_shared(answer)} of their variance."
    return said


def headline(answer: Answer) -> str:
    """Return what the components are, what their features have in common, and the proof about all others."""
    said, one, r = found(answer), _one(answer), answer.asked.r
    if math.isinf(answer.limit):
        return said
    kept = " so far" if answer.certificate is None or answer.upper < answer.certificate.upper else ""
    ratio = proved_ratio(answer.shown.value, answer.limit)
    if ratio < NEAR:
        these = "It is" if r == 1 else "They are"
        return f"{said} {these} at least {format_guarantee(ratio)} of the best possible: proved{kept}."
    others = f"No other {one} explains" if r == 1 else f"No other {wording.things(r, one)} explain"
    gain = (
        ""
        if _is_best(answer)
        else f" {percent_up(ratio_at_most(answer.limit, answer.shown.value) - 1, DIGITS)}"
    )
    return f"{said} {others}{gain} more: proved{kept}."


def _shared(answer: Answer) -> str:
    """Return what share of the variance of its features a component explains, from the least to the most."""
    A, X = answer.problem.covariance, answer.shown.components
    variances = A.diagonal @ (X != 0) * A.unit
    shares = np.minimum(1, answer.shown.values / np.where(variances > 0, variances, np.inf))
    least, most = (percent_down(float(share), 0) for share in (shares.min(), shares.max()))
    return most if least == most else f"{least.removesuffix(' %')} to {most}"


def sentences(answer: Answer) -> tuple[str, str]:
    """Return a sentence on what the components explain, and one on the choices that the proof is about.

    The limit itself stands in the headline. Rounded as a share of the whole variance, it would seem another.
    """
    this, explain = ("It", "explains") if answer.asked.r == 1 else ("They", "explain")
    reached = percent_down(answer.shown.value / answer.total, DIGITS)
    first = f"{this} {explain} {reached} of the variance of all {answer.nouns.features(answer.problem.n)}."
    if math.isinf(answer.limit):
        return first, "How much better another choice could be is not proved yet."
    any_such = answer.nouns.sized(answer.k).replace(", each of ", " of ").removeprefix("1 ")
    return first, f"The proof is about any {any_such}{_terms(answer)}."


def _is_best(answer: Answer) -> bool:
    """Return whether the components of an ended run are proved to be the best possible, up to rounding."""
    certificate = answer.certificate
    value = answer.shown.value
    return not answer.is_partial and certificate is not None and 1 - certificate.ratio(value) <= OPTIMAL_GAP


def _terms(answer: Answer) -> str:
    terms = ["with nonnegative weights"] if answer.problem.nonneg else []
    if answer.asked.r > 1:
        terms.append(f"without a {answer.nouns.feature} in common")
    return f", {' and '.join(terms)}" if terms else ""


def each(result: Result, answer: Answer) -> list[str]:
    """Return the share of every component of a result in the whole variance, in the order of its values."""
    return [f"{100 * float(value) / answer.total:.{DIGITS}f} %" for value in np.asarray(result.values)]


KEEP = 1e-3  # preference for components that keep their numbers, smaller than one feature that they share


def show_section(answer: Answer, fates: Callable[[Answer, nspca.Result, Standing], None]) -> None:
    """Draw what is proved, which features a search has decided, the check, and how the gap closed."""

    def draw(result: nspca.Result, standing: Standing) -> None:
        fates(answer, in_order(result), numbered(standing, result, answer.k))
        if answer.asked.r > 1 and 0 < np.mean(standing.possible & ~standing.certain) < 1:
            st.caption(f"The {answer.noun}s of a better answer can be numbered so that all of this holds.")

    best, now = answer.shown, answer.now
    assert now is not None  # a section is drawn for a run
    st.markdown(" ".join(sentences(answer)))
    if not now.ended:
        progress.repeat(lambda: live(engine().status(answer.id), answer.problem, answer.id))
        return
    if answer.working is None:
        optimal.fates(answer, draw)
    else:
        working = answer.working.id
        progress.repeat(lambda: optimal.fates(answer, draw, engine().status(working)))
    if best.certificate is not None:
        optimal.verify_button(answer.of, answer.problem, best.certificate)
        optimal.verified(best, best.certificate, _unit(answer.problem))
        if answer.working is not None and proofs.checked(best.certificate) is not None:
            st.caption("Checked is the proof of before the search, whose own can be checked when it ends.")
    last = proofs.last_closed(answer.tried, answer.k)
    state, name = (now, answer.id) if last is None else (last.now, last.id)
    optimal.gap_closed(optimal.closers(state), _unit(answer.problem), name)


def live(now: JobState, problem: Problem, run_id: str) -> None:
    """Draw value and bound while a run works on its proof."""
    rows = optimal.closers(now)
    if rows and now.started is not None:
        before = sum(row.seconds for row in unpack(now.rows) if isinstance(row, Several))
        optimal.draw_gap(rows, _unit(problem), run_id, time.time() - now.started - before, key="closing")


def _unit(problem: Problem) -> tuple[float, str]:
    return problem.total_variance or 1.0, "the total variance"


def numbered(standing: Standing, result: nspca.Result, sizes: Sequence[int]) -> Standing:
    """Return a standing whose components have the numbers that the page gives to the most similar ones found.

    A search numbers its components as it goes. Only components of one size can change places.
    """
    X = result.components
    used, size = (X != 0).astype(float), np.asarray(sizes)
    alike = used.T @ (2.0 * standing.certain + standing.possible) + KEEP * np.eye(len(size))
    alike[size[:, None] != size] = -2.0 * X.size - 1
    place = linear_sum_assignment(-alike)[1][display_order(result)]
    return replace(standing, certain=standing.certain[:, place], possible=standing.possible[:, place])
