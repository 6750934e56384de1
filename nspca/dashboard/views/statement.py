"""The statement about a component: two sentences and a bar about its variance and the proved bound."""

import math
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

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
    proved_ratio,
    ratio_at_most,
)
from nspca.problem import Problem
from nspca.result import Result

ANSWER = "answer"  # key of the container with the headline and its bar


@dataclass(frozen=True)
class Statement:
    """The statement about one component. Texts are in per cent, what is found rounded down and limits up."""

    found: str  # sentence about the variance of the component
    limit: str  # sentence about all others; empty without a proof
    share: float  # of the component in the variance of the first principal component
    most: float | None  # proved upper bound of `share` for any component
    share_text: str
    most_text: str
    everything: str  # label of the whole bar: what is 100 %, and its share in the total variance
    ceiling: float | None = None  # proved limit for any number of features, with the signs of the problem
    ceiling_text: str = ""
    digits: int = 1  # after the point of the percentages

    @property
    def is_best(self) -> bool:
        """Return whether the component is proved to be the best possible, up to rounding."""
        return bool(self.limit) and not self.most_text

    @property
    def text(self) -> str:
        """Return the headline: what was found, and before it that it is the best where that is proved."""
        return f"{self.limit} {self.found}" if self.is_best else self.found


def state_result(
    dataset: Dataset,
    problem: Problem,
    result: Result,
    k: int,
    *,
    ceiling: float = math.inf,
    upper: float = math.inf,
) -> Statement:
    """Return the statement about a component that may use k features.

    `ceiling` is a proved upper bound on nonnegative components of any number of features, and `upper` one
    that a search has proved so far, in the units of the data. The smallest bound is the limit, and the
    ceiling is named only where it is seen to be higher.
    """
    one, best = wording.noun(dataset), problem.leading_eigenvalue or 1.0
    used, certificate = int(np.count_nonzero(result.components[:, 0])), result.certificate
    share, most = result.value / best, None
    most_text, optimal = "", False
    if certificate is not None:
        limit_here = min(best, upper, certificate.upper, ceiling if problem.nonneg else math.inf)
        most = ratio_at_most(limit_here, best)
        optimal = 1 - proved_ratio(result.value, limit_here) <= OPTIMAL_GAP
    digits = wording.decimals(share if most is None or optimal else most)
    share_text = percent_down(share, digits)
    if most is not None and not optimal:
        most_text = percent_up(most, digits)
    few = f"These {wording.things(used, one)}" if used != 1 else f"This {one}"
    few += "" if used >= k else f" of the {k:,} allowed"
    kept = f"{share_text} of what all {wording.things(problem.n, one)} show in the main direction."
    keep = "keeps" if used == 1 else "keep"
    found, limit = f"{few} {keep} {kept}", ""
    if optimal:
        found = f"{'It' if used == 1 else 'They'} {keep} {kept}"
        best_of = f"{used:,}" if used >= k > 1 else "one" if k == 1 else "choice"
        limit = f"{few} {'is' if used == 1 else 'are'} the best {best_of}{_terms(problem, k, one)}: proved."
    elif certificate is not None:
        limit = nobody(problem, k, one, most_text)
    everything = f"all {wording.things(problem.n, one)}: 100 %"
    said = Statement(found, limit, share, most, share_text, most_text, everything, digits=digits)
    if not problem.nonneg or not ceiling < best or k >= problem.n:
        return said
    top = max(share, ratio_at_most(ceiling, best))
    if top - (most if most_text and most is not None else share) < 10.0 ** -(digits + 2):
        return said
    text = f"any number with nonnegative weights: at most {percent_up(top, digits)}"
    return replace(said, ceiling=top, ceiling_text=text)


def ceiling_of(table: pd.DataFrame, n: int) -> float:
    """Return the least upper bound that a sweep has at k = n, thus for any number of features."""
    bounds = table.loc[table["k"] == n, "upper"].astype(float)
    return float(bounds.min()) if bounds.notna().any() else math.inf


def nobody(problem: Problem, k: int, one: str, most: str) -> str:
    """Return the sentence about the bound: ``No 8 pixels keep more than 64.0 %: proved.``"""
    those = f"No single {one}" if k == 1 else f"No {wording.things(k, one)}{_terms(problem, k, one)}"
    return f"{those} keep{'s' * (k == 1)} more{f' than {most}' * bool(most)}: proved."


def _terms(problem: Problem, k: int, one: str) -> str:
    if k == 1:
        return ""
    kept = len(problem.forced)
    terms = [f"that include the {wording.things(kept, one)} you kept"] if kept else []
    return "".join(f" {term}" for term in [*terms, *["with nonnegative weights"] * problem.nonneg])


def show(said: Statement) -> DeltaGenerator:
    """Draw the headline, and return its container, for `bar` and for the line about the proof."""
    answer = st.container(key=ANSWER)
    answer.markdown(wording.unbroken(f"## {said.text}"))
    return answer


def bar(said: Statement) -> Markup:
    """Return HTML of a bar whose length is the variance of all features, with the component and the bound."""
    found = 100 * min(1.0, max(0.0, said.share))
    limit = found if said.most is None or not said.most_text else 100 * min(1.0, max(said.share, said.most))
    parts = [(found, FOUND, 1.0), (limit - found, PROVED, 0.45), (100 - limit, CONTEXT, 0.2)]
    texts = [f"proved limit {said.most_text}"] * bool(said.most_text) + [said.everything]
    at = None if said.ceiling is None else 100 * min(1.0, said.ceiling)
    alt = f"found {said.share_text}; {'; '.join([*texts, said.ceiling_text]).removesuffix('; ')}"
    return render("bar", alt=alt, parts=parts, texts=texts, tick=at, tick_text=said.ceiling_text)


def numbers(problem: Problem, result: Result, k: int) -> str:
    """Return the statement in the units of the data, for the section about the proof."""
    total, certificate = problem.total_variance or 1.0, result.certificate
    ratio = wording.proof(result.ratio)
    said = (
        f"{ratio[0].upper()}{ratio[1:]}. The component explains a variance of {format_value(result.value)}, "
        f"which is {format_value_share(result.value, total)} of the total variance; the main direction of "
        f"all features has {format_value_share(problem.leading_eigenvalue, total)}."
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
