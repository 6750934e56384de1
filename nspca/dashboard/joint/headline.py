"""State the answer of the pages Parts, Topics and Components: the explained variance and the proved limit."""

import math

import streamlit as st

import nspca
from nspca.dashboard.app import wording
from nspca.dashboard.components import figures
from nspca.dashboard.joint.outcome import Outcome
from nspca.dashboard.joint.subject import Subject
from nspca.plots.joint import climb_figure
from nspca.presentation.numerals import OPTIMAL_GAP, format_value, percent_down, percent_up, ratio_at_most
from nspca.result import Result
from nspca.specs.rows import Climbed

LEAST_DIGITS = 1
"""Digits after the point of a percentage on the page. The headline takes more digits when value and limit
would otherwise look equal.
"""


def show(outcome: Outcome) -> None:
    """Draw the two sentences of the answer as a headline and a line below."""
    first, second = sentences(outcome)
    st.markdown(f"#### {first}")
    st.markdown(second)


def sentences(outcome: Outcome) -> tuple[str, str]:
    """Return a sentence on what the components explain, and one on the proved limit of any other choice.

    Both state shares of the total variance with an equal number of digits.
    """
    best, certificate = outcome.results[outcome.best], outcome.certificate
    explain = "explains" if outcome.asked.r == 1 else "explain"
    found = best.value / outcome.total
    limit = math.inf if certificate is None else ratio_at_most(certificate.upper, outcome.total)
    reached, possible = shares(found, limit)
    so_far = " so far" if outcome.live else ""
    first = f"{outcome.sizes} {explain} {reached} of the variance{so_far}."
    if certificate is None:
        return first, "" if outcome.live else "How much better another choice could be is not proved yet."
    if 1 - certificate.ratio(best.value) <= OPTIMAL_GAP:
        return (
            first,
            f":material/verified: No other {outcome.sizes}{_terms(outcome)} {explain} more. This is proved.",
        )
    return first, (
        f":material/verified: No {outcome.sizes}{_terms(outcome)} {explain} more than {possible}. This is "
        "proved."
    )


def _terms(outcome: Outcome) -> str:
    """Return the conditions under which the proof holds, between commas; empty without conditions."""
    terms = ["with nonnegative weights"] if outcome.problem.nonneg else []
    if outcome.asked.r > 1:
        terms.append(f"without a {outcome.about.feature} in common")
    return f", {' and '.join(terms)}," if terms else ""


def shares(reached: float, possible: float) -> tuple[str, str]:
    """Return the reached and the possible share of the total variance as percentages.

    Both have one digit after the point, or as many as make the two differ. The reached share is rounded down
    and the possible share is rounded up. An infinite `possible` gives an empty text.
    """
    if not math.isfinite(possible):
        return percent_down(reached, LEAST_DIGITS), ""
    gap = 100 * (possible - reached)
    digits = next((d for d in range(wording.MOST_DIGITS) if gap >= 10.0**-d), wording.MOST_DIGITS)
    digits = max(digits, LEAST_DIGITS)
    return percent_down(reached, digits), percent_up(possible, digits)


def share(value: float, outcome: Outcome) -> str:
    """Return the variance of one component as a percentage of the total variance, rounded down."""
    return percent_down(value / outcome.total, LEAST_DIGITS)


def is_unfinished(result: Result) -> bool:
    """Tell whether the method of a result is still at work or was cancelled."""
    return result.status is nspca.Status.CANCELLED


def climb(rows: list[Climbed], at_work: bool, about: Subject, run_id: str) -> None:
    """Draw the gain of the method that looks for all components at once, from its first answer on.

    Before there is an answer, one line says when that method runs.
    """
    if rows:
        gained = 100 * (rows[-1].value / rows[0].value - 1)
        better = f", **{gained:.2f} % more** than its first answer" if len(rows) > 1 else ""
        st.markdown(
            f"**{wording.plain(rows[-1].method)}** {'looks' if at_work else 'has looked'} for all "
            f"{about.one}s at once: {format_value(rows[-1].value)}{' so far' * at_work}{better}."
        )
        figure = climb_figure([row.seconds for row in rows], [row.value for row in rows])
        figures.draw(figure, f"{about.key}_climb", same=run_id)
    else:
        st.caption(f"The search for all {about.one}s at once comes last. The quicker methods run first.")
