"""The statement about a component: two sentences and a bar about its variance and the proved bound."""

import math
from dataclasses import dataclass

import numpy as np
import streamlit as st

from nspca.dashboard.app import wording
from nspca.dashboard.views import component
from nspca.data import Dataset
from nspca.presentation.colours import CONTEXT, FOUND, PROVED
from nspca.presentation.markup import Markup, render
from nspca.presentation.numerals import (
    OPTIMAL_GAP,
    format_bound,
    format_value,
    format_value_share,
    ratio_at_most,
)
from nspca.problem import Problem
from nspca.result import Result


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
    everything : label of the whole bar, such as "all 64 pixels"
    """

    found: str
    limit: str
    share: float
    most: float | None
    share_text: str
    most_text: str
    everything: str


def state_result(dataset: Dataset, problem: Problem, result: Result, k: int) -> Statement:
    """Return the statement about a component that may use k features."""
    one, best = component.noun(dataset), problem.leading_eigenvalue or 1.0
    used, certificate = int(np.count_nonzero(result.components[:, 0])), result.certificate
    share, most = result.value / best, None
    share_text, most_text = wording.down(share), ""
    optimal = False
    if certificate is not None:
        most = ratio_at_most(min(best, certificate.upper), best)
        optimal = 1 - certificate.ratio(result.value) <= OPTIMAL_GAP
        if not optimal:
            share_text, most_text = wording.shares(share, most)
    found = (
        f"{wording.things(used, one)} capture{'s' * (used == 1)} {share_text} of the variance of the first "
        f"principal component, which uses all {problem.n:,}."
    )
    limit = ""
    if certificate is not None:
        more = " more" if optimal else f" more than {most_text}"
        limit = f"{_nobody(problem, k, one)} {'captures' if k == 1 else 'capture'}{more}."
    return Statement(
        found, limit, share, most, share_text, most_text, f"all {wording.things(problem.n, one)}"
    )


def _nobody(problem: Problem, k: int, one: str) -> str:
    """Return the subject of the sentence about the bound: ``No 8 pixels with nonnegative weights``."""
    kept = len(problem.forced)
    those = f"No single {one}" if k == 1 else f"No {wording.things(k, one)}"
    those += f" that include the {wording.things(kept, one)} you kept" if kept and k > 1 else ""
    if k > 1 and problem.nonneg:
        those += ", with nonnegative weights," if kept else " with nonnegative weights"
    return those


def show(said: Statement, before: str = "") -> None:
    """Draw both sentences, with the words `before` in front, and the bar below them."""
    st.markdown(f"#### {before}{said.found} {said.limit}".rstrip())
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
    return render("bar", parts=parts, legend=legend)


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
    return (
        f"{said} No {sign}component with at most {wording.things(k, 'feature')}{those} can explain more than "
        f"{format_bound(certificate.upper)}."
    )
