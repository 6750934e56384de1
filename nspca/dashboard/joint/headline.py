"""State the answer of the page Components: the explained variance and the proved limit.

`JointPage` calls `show`, `follow` and `draw_climb`. The lists and pictures of components take their
percentages from `each`.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import streamlit as st

import nspca
from nspca.dashboard.app import wording
from nspca.dashboard.components import figures
from nspca.dashboard.proof.answer import Answer
from nspca.dashboard.runs import progress
from nspca.dashboard.runs.tasks import engine
from nspca.dashboard.views import statement
from nspca.plots.joint import climb_figure
from nspca.presentation.numerals import (
    OPTIMAL_GAP,
    format_change,
    format_guarantee,
    percent_down,
    percent_up,
    proved_ratio,
    ratio_at_most,
)
from nspca.result import Result
from nspca.specs.rows import Climbed

LEAST_DIGITS = 1
"""Digits after the point of a percentage on the page. All of them take more digits when value and limit
would otherwise look equal, or their quotient would not be the stated share of the best possible.
"""


def show(answer: Answer) -> None:
    """Draw the answer as a headline, a bar of what was found and the proved limit, and a line below."""
    first, second = sentences(answer)
    st.markdown(f"## {first}")
    found, limit = _found(answer)
    reached, possible = shares(found, limit)
    is_best = _is_best(answer)
    everything = f"the variance of all {answer.nouns.features(answer.problem.n)}, added up"
    most = None if not possible or is_best else min(1.0, limit)
    said = statement.Statement(
        first, second, found, most, reached, "" if most is None else possible, everything
    )
    st.html(statement.bar(said if is_best or most is not None else replace(said, limit="")))
    if second:
        st.markdown(second)


def follow(answer: Answer) -> None:
    """Draw the answer, and while a search or a proof of it is at work, draw its limit anew every second."""
    at_work = [one.id for one in answer.tried if one.k == answer.asked.sizes and not one.now.ended]
    if answer.now is not None and not answer.now.ended:
        at_work = [answer.id]
    if not at_work:
        show(answer)
        return

    def look() -> None:
        event = engine().status(at_work[0]).event
        upper = math.inf if event is None or event.upper is None else event.upper
        show(replace(answer, upper=upper))

    progress.repeat(look)


def sentences(answer: Answer) -> tuple[str, str]:
    """Return a sentence on what the components explain, and one on the proved limit of any other choice.

    Both state shares of the total variance with an equal number of digits.
    """
    value = answer.shown.value
    capture = "captures" if answer.asked.r == 1 else "capture"
    reached, possible = shares(*_found(answer))
    so_far = " so far" if answer.is_partial else ""
    sized = answer.nouns.sized(answer.k)
    comma = "," * (", each of " in sized)
    everything = answer.nouns.features(answer.problem.n)
    first = f"{sized}{comma} {capture} {reached} of the variance of all {everything}{so_far}."
    if math.isinf(answer.limit):
        unknown = "How much better another choice could be is not proved yet."
        return first, "" if answer.is_partial else unknown
    count, _, each_of = sized.partition(", each of ")
    such = count.replace(" ", " such ", 1) if each_of else sized.removeprefix("1 ")
    terms = _terms(answer)
    if _is_best(answer):
        return first, f":material/verified: No other {such}{terms} {capture} more. This is proved."
    these = "It is" if answer.asked.r == 1 else "These are"
    least = format_guarantee(proved_ratio(value, answer.limit))
    kept = " so far" if answer.certificate is None or answer.upper < answer.certificate.upper else ""
    limit = f"Proved{kept}: no {such}{terms} {capture} more than {possible}."
    return first, f":material/verified: {limit} {these} at least {least} of the best possible."


def _found(answer: Answer) -> tuple[float, float]:
    """Return the explained share of the total variance, and its proved limit, infinite without a proof."""
    limit = math.inf if math.isinf(answer.limit) else ratio_at_most(answer.limit, answer.total)
    return answer.shown.value / answer.total, limit


def _is_best(answer: Answer) -> bool:
    """Return whether the components of an ended run are proved to be the best possible, up to rounding."""
    certificate = answer.certificate
    value = answer.shown.value
    return not answer.is_partial and certificate is not None and 1 - certificate.ratio(value) <= OPTIMAL_GAP


def _terms(answer: Answer) -> str:
    """Return the conditions under which the proof holds, between commas; empty without conditions."""
    terms = ["with nonnegative weights"] if answer.problem.nonneg else []
    if answer.asked.r > 1:
        terms.append(f"without a {answer.nouns.feature} in common")
    return f", {' and '.join(terms)}," if terms else ""


def shares(reached: float, possible: float) -> tuple[str, str]:
    """Return the reached and the possible share of the total variance as percentages.

    Both have one digit after the point, or as many as `wording.digits_apart` asks for. The reached share is
    rounded down and the possible share is rounded up. An infinite `possible` gives an empty text.
    """
    digits = _digits(reached, possible)
    return percent_down(reached, digits), percent_up(possible, digits) if math.isfinite(possible) else ""


def _digits(reached: float, possible: float) -> int:
    if not math.isfinite(possible):
        return LEAST_DIGITS
    return max(LEAST_DIGITS, wording.digits_apart(reached, possible))


def share(value: float, answer: Answer) -> str:
    """Return the variance of all components as a percentage of the total variance, rounded down."""
    return percent_down(value / answer.total, _digits(*_found(answer)))


def each(result: Result, answer: Answer) -> list[str]:
    """Return the share of every component of a result in per cent, in the order of its values.

    The shares add up to `share` of the whole result.
    """
    digits = _digits(*_found(answer))
    return divided(result.values.tolist(), result.value, answer.total, digits)


def divided(values: Sequence[float], whole: float, total: float, digits: int) -> list[str]:
    """Return values in per cent of `total`, rounded so that they add up to `whole`, rounded down.

    Each is rounded down, and the units that are then missing go to those with the largest remainders. So each
    differs from its exact share by less than one unit of the last digit. Values that do not add up to `whole`
    are rounded down.
    """
    unit = 10 ** (digits + 2)
    exact = [unit * Fraction(value) / Fraction(total) for value in values]
    units = [math.floor(one) for one in exact]
    missing = int(Decimal(percent_down(whole / total, digits).removesuffix(" %")).scaleb(digits)) - sum(units)
    order = sorted(range(len(units)), key=lambda j: units[j] - exact[j])
    if 0 <= missing <= len(units):
        for j in order[:missing]:
            units[j] += 1
    elif missing == -1 and max(units, default=0) > 0:
        # The sum of floats may lie just below a sum that is exact.
        units[next(j for j in reversed(order) if units[j] > 0)] -= 1
    return [f"{Decimal(one).scaleb(-digits):f} %" for one in units]


def is_unfinished(result: Result) -> bool:
    """Tell whether the method of a result is still at work or was cancelled, for headings and downloads."""
    return result.status is nspca.Status.CANCELLED


def draw_climb(rows: list[Climbed], at_work: bool, many: str, run_id: str) -> None:
    """Draw the gain of the method that looks for all components at once, from its first answer on."""
    if not rows:
        return
    gained = format_change(rows[-1].value / rows[0].value - 1)
    better = f": **{gained} more** than its first answer{' so far' * at_work}" * (len(rows) > 1)
    st.markdown(
        f"**{wording.plain(rows[-1].method)}** {'looks' if at_work else 'has looked'} for all "
        f"{many} at once{better}."
    )
    figure = climb_figure([row.seconds for row in rows], [row.value for row in rows])
    figures.draw(figure, "components_climb", same=run_id)


def heading(answer: Answer, result: Result) -> str:
    """Return the heading of the components of a method."""
    so_far = ", so far" if is_unfinished(result) else ""
    how = "all at once" if nspca.METHODS[result.method].joint else "one after another"
    return (
        f"**{wording.plain(result.method)}** :small[:gray[{how}{so_far}, "
        f"{share(result.value, answer)} of the variance]]"
    )
