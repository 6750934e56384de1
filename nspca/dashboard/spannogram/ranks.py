"""The view of all ranks d: the guarantee of Theorem 1 (2014), the bound B3, and the cost of each rank.

`page` draws `show`, and `limit` takes the bound of rank 2 from `rank_at`.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from nspca.bounds import lowrank
from nspca.covariance.linalg import rank1
from nspca.dashboard.app import cache, tables, wording
from nspca.dashboard.components import figures
from nspca.dashboard.spannogram import lessons, low_rank
from nspca.dashboard.spannogram.low_rank import Subject
from nspca.local_search.single import power
from nspca.lowrank.rankd import rho
from nspca.lowrank.spannogram import cost
from nspca.plots import rho_figure
from nspca.plots.ranks import cost_figure, short
from nspca.presentation.numerals import (
    format_bound,
    format_guarantee,
    format_promise,
    format_value,
    format_value_share,
    proved_ratio,
)
from nspca.problem import Problem
from nspca.progress import Event, Report, silent

SMALL = 1000  # features, up to which a search may make `MANY` cones
MANY, FEW = 10_000, 5_000


@dataclass(frozen=True)
class Rank:
    """Guarantee, bound and cost of one rank d.

    `promised` is the share of Theorem 1. `upper` (bound B3) and `value` are in the units of the data.
    `supports` counts candidate supports, `cones` those of the search, and `finished` tells whether it ended.
    """

    d: int
    promised: float
    upper: float
    value: float
    supports: int
    cones: int
    finished: bool


def look_at(problem: Problem, d: int, report: Report = silent) -> Rank:
    """Compute guarantee, bound B3, the value of a component and the costs at rank d."""
    cap = MANY if problem.n <= SMALL else FEW
    certificate, cover = lowrank.bound(problem, d, cap=cap, report=report)
    U = certificate.witness["U"]
    x = np.zeros(problem.n)
    if U.size:
        x = power(problem, rank1(U @ cover.direction, problem.size, problem.nonneg)[:, None])[:, 0]
    counted = cost(problem.n, d, problem.size, problem.nonneg)
    supports = 2 ** min(d, problem.n) * counted.intersections
    return Rank(
        d, rho(problem, d), certificate.upper, problem.value(x), supports, cover.cones, bool(cover.finished)
    )


@cache.keep()
def _rank(key: tuple[Any, ...], d: int, _of: Subject, _report: Report) -> Rank:
    """Return `look_at` for a subject, cached by its key."""
    return look_at(_of.problem, d, _report)


def rank_at(of: Subject, d: int) -> Rank:
    """Return guarantee, bound and value at rank d, computed once for all visitors."""
    return _rank(of.key, d, of, silent)


def _all(of: Subject) -> list[Rank]:
    """Return all ranks, computed one after the other with progress on the page; any click stops that."""
    place = st.empty()
    found: list[Rank] = []
    most = min(low_rank.RANKS, of.problem.n)
    for d in range(1, most + 1):
        known = _known(found)

        def report(event: Event, d: int = d, known: str = known) -> None:
            place.progress((d - 1) / most, f"Rank {d} of {most}: {event.done:,} cones made. {known}")

        found.append(_rank(of.key, d, of, report))
    place.empty()
    return found


def _known(ranks: list[Rank]) -> str:
    """Return a sentence with the best value and the smallest bound of some ranks; empty for none."""
    if not ranks:
        return ""
    best, upper = max(rank.value for rank in ranks), min(rank.upper for rank in ranks)
    return f"Best so far {format_value(best)}, nothing above {format_bound(upper)}."


def show(of: Subject) -> None:
    """Draw the view: guarantees and costs against the rank, and as a table."""
    ranks = _all(of)
    best = max(rank.value for rank in ranks)
    proved = [proved_ratio(best, rank.upper) if rank.upper > 0 else math.nan for rank in ranks]
    st.markdown(f"## {_sentence(ranks, proved)}")
    left, right = st.columns(2, gap="medium")
    with left:
        figure = rho_figure([rank.d for rank in ranks], [rank.promised for rank in ranks], proved)
        figures.draw(figure, "rho", same=of.key)
    with right:
        figures.draw(
            cost_figure(
                [rank.d for rank in ranks], [rank.supports for rank in ranks], [rank.cones for rank in ranks]
            ),
            "cost",
            same=of.key,
        )
    tables.show(
        _table(ranks, proved),
        alt="For each rank what is promised, what is proved, and what it costs",
    )
    _say_counts(of, ranks)
    if not all(rank.finished for rank in ranks):
        st.caption(
            "A star marks a search that was stopped at its largest number of cones. Its bound holds, and "
            "is a little higher than it could be."
        )
    reached = format_value_share(best, of.problem.leading_eigenvalue)
    st.caption(f"The component behind the green line reaches {reached} of the first principal component.")


def _sentence(ranks: list[Rank], proved: list[float]) -> str:
    """Return the first sentence: the share that is proved with rank 1, and with the largest rank."""
    first, last = ranks[0], ranks[-1]
    if last.d == first.d or math.isnan(proved[0]):
        return "The data have one main direction only."
    return (
        "The more main directions are looked at, the more is proved: at least "
        f"{format_guarantee(proved[0])} of the best possible with one, at least "
        f"{format_guarantee(max(proved))} with up to {last.d}. The sets to check grow from at most "
        f"{lessons.count_in_words(first.supports)} to at most {lessons.count_in_words(last.supports)}, the "
        f"cones of the search from {first.cones:,} to {last.cones:,}."
    )


def _say_counts(of: Subject, ranks: list[Rank]) -> None:
    """Draw why two directions have fewer sets in the view of two directions than in this one."""
    if len(ranks) < 2:
        return
    found = len(low_rank.rank2(of).candidates)
    st.caption(
        f"“At most” counts a set for every crossing of curves: {ranks[1].supports:,} with two directions. "
        f"Most crossings are below the {of.problem.size} highest curves and change nothing. So “Two "
        f"directions” finds {wording.things(found, 'set')}."
    )


def _table(ranks: list[Rank], proved: list[float]) -> pd.DataFrame:
    """Return the table of guarantees, proved shares and costs by rank."""
    return pd.DataFrame(
        {
            "d": [rank.d for rank in ranks],
            "promised before": [format_promise(rank.promised) for rank in ranks],
            "proved afterwards": [format_guarantee(ratio) for ratio in proved],
            "sets to check, at most": [short(rank.supports) for rank in ranks],
            "cones made": [short(rank.cones) + ("" if rank.finished else " *") for rank in ranks],
        }
    )
