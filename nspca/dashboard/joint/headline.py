"""State the answer of the page Components: how many components, what holds them together, and the proof."""

import math
from dataclasses import replace

import numpy as np
import streamlit as st

from nspca.dashboard.app import wording
from nspca.dashboard.proof.optimal import NEAR
from nspca.dashboard.runs import progress
from nspca.dashboard.runs.answer import Answer
from nspca.dashboard.runs.tasks import engine
from nspca.presentation.numerals import (
    OPTIMAL_GAP,
    format_guarantee,
    percent_down,
    percent_up,
    proved_ratio,
    ratio_at_most,
)
from nspca.result import Result

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
