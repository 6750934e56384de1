"""The statement about a component: two sentences and a bar about its variance and the proved bound.

Home and Sweep state a component with it; the page Components uses `bar`.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import streamlit as st

from nspca.dashboard.app import wording
from nspca.data import Dataset
from nspca.presentation.colours import CONTEXT, FOUND, PROVED
from nspca.presentation.markup import Markup, render
from nspca.presentation.numerals import (
    OPTIMAL_GAP,
    format_bound,
    format_value,
    format_value_share,
    percent_down,
    percent_up,
    ratio_at_most,
)
from nspca.problem import Problem
from nspca.result import Result

DIGITS = 1
"""Digits after the point of a percentage without a limit beside it."""


@dataclass(frozen=True)
class Statement:
    """The statement about one component.

    Parameters
    ----------
    found, limit : sentences about the variance of the component, and about the bound on all others; `limit`
        is empty without a proof
    share : share of the component in the variance of the first principal component
    most : proved upper bound of `share` for any component; None without a proof
    share_text, most_text : both in per cent, rounded down and up
    everything : label of the whole bar, which says what is 100 %
    ceiling : proved limit for any number of features, with the signs of the problem; None where unknown
    ceiling_text : name of that limit, with its percentage rounded up
    digits : digits after the point of the percentages
    """

    found: str
    limit: str
    share: float
    most: float | None
    share_text: str
    most_text: str
    everything: str
    ceiling: float | None = None
    ceiling_text: str = ""
    digits: int = DIGITS


def state_result(
    dataset: Dataset,
    problem: Problem,
    result: Result,
    k: int,
    *,
    whose: str = "",
    ceiling: float = math.inf,
) -> Statement:
    """Return the statement about a component that may use k features.

    Parameters
    ----------
    whose : name of the data for the first sentence, such as "the handwritten digits"
    ceiling : proved upper bound on nonnegative components of any number of features, in the units of the data
    """
    one, best = wording.noun(dataset), problem.leading_eigenvalue or 1.0
    used, certificate = int(np.count_nonzero(result.components[:, 0])), result.certificate
    share, most = result.value / best, None
    digits, most_text, optimal = DIGITS, "", False
    if certificate is not None:
        most = ratio_at_most(min(best, certificate.upper), best)
        optimal = 1 - certificate.ratio(result.value) <= OPTIMAL_GAP
        if not optimal:
            digits = wording.digits_apart(share, most)
    share_text = percent_down(share, digits)
    if most is not None and not optimal:
        most_text = percent_up(most, digits)
    few = wording.things(used, one) if used >= k else f"{used:,} of the {k:,} allowed {one}s"
    few += f" of {whose}" if whose else ""
    found = f"{few} capture{'s' * (used == 1)} {share_text} of the variance of the first principal component."
    limit = ""
    if certificate is not None:
        limit = nobody(problem, k, one, most_text)
    signs = ", weights of any sign" * problem.nonneg
    features = f"all {wording.things(problem.n, one)}{signs}"
    everything = f"first principal component, along which the data vary most ({features})"
    said = Statement(found, limit, share, most, share_text, most_text, everything, digits=digits)
    if not problem.nonneg:
        return said
    if not ceiling < best or k >= problem.n:
        return said
    top = max(share, ratio_at_most(ceiling, best))
    text = f"any number of {one}s, nonnegative weights: at most {percent_up(top, digits)}"
    return replace(said, ceiling=top, ceiling_text=text)


def ceiling_of(table: pd.DataFrame, n: int) -> float:
    """Return the least upper bound that a sweep has at k = n, thus for any number of features.

    `table` has the columns ``k, upper``. Returns infinity without such a bound.
    """
    bounds = table.loc[table["k"] == n, "upper"].astype(float)
    return float(bounds.min()) if bounds.notna().any() else math.inf


def nobody(problem: Problem, k: int, one: str, most: str) -> str:
    """Return the sentence about the bound: ``It is proved that no 8 pixels capture more than 64.0 %.``

    `one` is the noun of a feature. An empty `most` leaves out the number, for a component that is optimal.
    """
    kept = len(problem.forced)
    those = f"no single {one}" if k == 1 else f"no {wording.things(k, one)}"
    those += f" that include the {wording.things(kept, one)} you kept" if kept and k > 1 else ""
    if k > 1 and problem.nonneg:
        those += ", with nonnegative weights," if kept else " with nonnegative weights"
    verb = "captures" if k == 1 else "capture"
    return f"It is proved that {those} {verb} more{f' than {most}' * bool(most)}."


def show(said: Statement, before: str = "") -> None:
    """Draw both sentences, with the words `before` in front, and the bar below them."""
    st.markdown(wording.unbroken(f"## {before}{said.found} {said.limit}".rstrip()))
    st.html(bar(said))


def bar(said: Statement) -> Markup:
    """Return HTML of a bar whose length is the variance of all features, with the component and the bound."""
    found = 100 * min(1.0, max(0.0, said.share))
    limit = found if said.most is None or not said.most_text else 100 * min(1.0, max(said.share, said.most))
    parts = [(found, FOUND, 1.0), (limit - found, PROVED, 0.45), (100 - limit, CONTEXT, 0.2)]
    legend = [(FOUND, 1.0, f"found {said.share_text}")]
    if said.most_text:
        legend.append((PROVED, 0.45, f"proved limit {said.most_text}"))
    elif said.limit:
        legend[0] = (FOUND, 1.0, f"found {said.share_text}, which is proved to be the limit")
    legend.append((CONTEXT, 0.2, f"{said.everything}: 100 %"))
    at = None if said.ceiling is None else 100 * min(1.0, said.ceiling)
    return render("bar", parts=parts, legend=legend, tick=at, tick_text=said.ceiling_text)


def numbers(problem: Problem, result: Result, k: int) -> str:
    """Return the statement in the units of the data, for the section about the proof."""
    total, certificate = problem.total_variance or 1.0, result.certificate
    ratio = wording.proof(result.ratio)
    said = (
        f"{ratio[0].upper()}{ratio[1:]}. The component explains a variance of {format_value(result.value)}, "
        f"which is {format_value_share(result.value, total)} of the total variance."
    )
    if certificate is None or not math.isfinite(certificate.upper):
        return said
    sign = "nonnegative " if problem.nonneg else ""
    kept = len(problem.forced)
    those = f", the {kept} kept among them," if kept else ""
    # Rounded up, the bound of an optimal component would seem to leave room above its value.
    is_best = 1 - certificate.ratio(result.value) <= OPTIMAL_GAP
    most = "that, up to rounding" if is_best else format_bound(certificate.upper)
    many = wording.things(k, "feature")
    return f"{said} No {sign}component with at most {many}{those} can explain more than {most}."
