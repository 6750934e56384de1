"""The page Spannogram: why few sets of features have to be checked, and how good the best of them is.

In two directions every set that can be best is found on curves over an angle. In three, a search over cones
is replayed. Everything is computed at once, for all visitors, so the page has no run of its own. In this
module `of` is an `Answer` without results, whose question is the sweep of one k that proves the limit.
"""

import math
from dataclasses import dataclass
from decimal import Decimal
from importlib.resources import files
from typing import Any

import numpy as np
import streamlit as st

import nspca
from nspca.bounds import lowrank
from nspca.covariance.linalg import Array, rank1
from nspca.dashboard import answer_page, open_data
from nspca.dashboard.app import buttons, cache, frame, state, wording
from nspca.dashboard.app.form import choose_one
from nspca.dashboard.components.cone_replay import cone_replay
from nspca.dashboard.components.spannogram_explorer import (
    UNIT,
    explorer_data,
    picture_of,
    spannogram_explorer,
)
from nspca.dashboard.open_data import Chosen, heavy
from nspca.dashboard.proof import attempts as proofs
from nspca.dashboard.runs import first_answer, progress
from nspca.dashboard.runs.answer import Answer
from nspca.dashboard.runs.methods import draw_signs, is_scaled
from nspca.dashboard.runs.tasks import engine
from nspca.errors import Refused
from nspca.lowrank.rankd import factor
from nspca.lowrank.spannogram import Band, direction, intervals_rank2
from nspca.plots.spannogram import Spans, spans
from nspca.presentation.numerals import OPTIMAL_GAP, RAISED, proved_ratio
from nspca.problem import Problem
from nspca.specs import SweepSpec

READY = "spannogram_ready"  # session key: heavy data sets whose eigenvalues were asked for
PATIENCE = 1.2
"""Seconds to wait for the tight limit of a small problem, so that its sentence does not change at once."""
CAP = 5_000  # cones of the search in two directions, which a bound seldom needs
RANKS = 3  # largest rank of an approximation on the page
LEAST_K, MOST_K = 10, 200  # default k, where there are at least 30 features, and largest k of the slider
TOLERANCES = range(1, 7)
HEIGHT = 360  # height of the curves in pixels, so that sentence, picture and angle fit on the first screen
EXPLORER = "explorer"  # session key: what the explorer itself keeps, the angle when it was let go
SEEN = "spannogram_seen"  # session key: the angle that the explorer last reported
MAGNITUDES = ((12, "trillion"), (9, "billion"), (6, "million"))
VIEWS = {"curves": "Two directions", "sphere": "Three directions"}
SPHERE_SENTENCE = (
    "With three main directions the angle becomes a point on a globe. The search splits the globe into "
    "cones, and settles each that cannot hold a better set. Drag the slider to follow it."
)


# --- the problem in two and three directions --------------------------------------------------------


def subject(data: Chosen, asked: SweepSpec) -> Answer:
    """Return the data with the problem of a question; this computes the eigenvalues that the page needs."""
    problem = open_data.problem_of(data, asked)
    problem.covariance.leading(min(RANKS + 1, problem.n))
    return Answer(data, asked, problem)


def _key(of: Answer) -> tuple[Any, ...]:
    """Return a cache key for the problem."""
    return of.of.content, of.asked.nonneg, of.asked.center, of.asked.scale, of.asked.first


def _unit(of: Answer) -> float:
    """Return the leading eigenvalue in the units of the matrix V of `_factor`, which may be scaled."""
    return float(of.problem.covariance.leading(1)[0][0])


def _factor(of: Answer, rank: int) -> Array:
    """Return the factor V (n, rank) of the low-rank problem; columns above the rank of the data are 0."""
    V = factor(of.problem.covariance, rank)[0]
    return np.pad(V, ((0, 0), (0, rank - V.shape[1])))


@dataclass(frozen=True, eq=False)
class Rank2:
    """The rank-2 spannogram."""

    V: Array  # (n, 2)
    found: Spans  # intervals of angles with their supports, for the drawing
    optimum: tuple[float, int]  # angle and sign of the optimum
    sets: int  # number of different supports, none of them empty, that are best at some angle
    exact: bool  # whether all intervals were computed; otherwise they come from a grid of angles


def rank2(of: Answer) -> Rank2:
    """Return the rank-2 spannogram of a problem, computed once for all visitors."""
    return _rank2(_key(of), of)


@cache.keep()
def _rank2(key: tuple[Any, ...], _of: Answer) -> Rank2:
    problem, V = _of.problem, _factor(_of, 2)
    found = spans(V, problem.size, problem.nonneg)
    sign, at = found.best
    optimum, is_exact = (float(found.phi[at]), 1 - 2 * sign), False
    try:
        bands, optimum = _exact(V, problem.size, problem.nonneg)
    except Refused:  # thousands of curves take turns: the grid of the drawing is all there is
        pass
    else:
        # Rows n and up of (V, -V) stand for features too.
        sets = tuple([np.sort(one[one >= 0] % len(V)) for one in band.supports] for band in bands)
        edges, is_exact = tuple(band.edges for band in bands), True
        found = Spans(found.phi, found.objective, edges, sets)
    different = {tuple(support.tolist()) for row in found.sets for support in row if len(support)}
    return Rank2(V, found, optimum, len(different), is_exact)


def _exact(V: Array, k: int, nonneg: bool) -> tuple[list[Band], tuple[float, int]]:
    """Return the intervals of angles, in nonnegative problems for c and -c, and the optimum with its sign."""
    # The k entries largest in size among n are the k largest positive ones among the rows of V and -V.
    found = intervals_rank2(V if nonneg else np.concatenate([V, -V]), k)
    if nonneg:
        return [found.positive, found.negative], (found.phi, found.sign)
    peak = np.argmax(found.positive.peak_value)
    return [found.positive], (float(found.positive.peak_phi[peak]), 1)


# --- the proved limit -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Limit:
    """The smallest proved bound that is known for a problem."""

    upper: float  # in the units of the data
    # whether no sweep has proved a bound yet, so that it is the one of the rank-2 picture
    is_quick: bool
    run: str | None = None  # the default run that is about to prove a smaller one


def find_limit(of: Answer) -> Limit:
    """Return the smallest bound of searches, of all sweeps, and of the rank-2 picture.

    Sweep has the same sweeps and searches in its curve, so that both pages print the same limit.
    """
    asked = of.asked
    k, tried = asked.first, proofs.attempts(asked)
    known = [one.certificate.upper for one in tried if one.k == k and one.certificate is not None]
    run = first_answer.unasked(of.of, asked)
    results = nspca.Sweep({}) if run is None else run.sweep
    grown = proofs.gathered(results, of.of, asked, tried).results.items()
    proved = [result.certificate for (_, size), result in grown if size == k]
    known += [certificate.upper for certificate in proved if certificate is not None]
    waits = None if run is None or results else run.id
    return Limit(min([*known, _quick(_key(of), of)]), not known, waits)


@cache.keep()
def _quick(key: tuple[Any, ...], _of: Answer) -> float:
    """Return the bound by the two main directions (B3), computed once for all visitors."""
    certificate, _ = lowrank.bound(_of.problem, 2, cap=CAP)
    return float(certificate.upper)


# --- the page ----------------------------------------------------------------------------------------


def show(data: Chosen) -> None:
    """Draw the page below its head: the answer first, then the form in one line, then the formula."""
    top, asking, below = frame.picture(), frame.form(), st.container()
    asked = question(data)
    noun = wording.noun(data.dataset)
    with asking, frame.guard():
        settings = [said for said in asked.details() if said != "auto"]
        line = ", ".join([wording.things(asked.first, noun), *settings, *asked.data.change_words()])
        with answer_page.fold(line):
            left, right = st.columns([3, 2], vertical_alignment="bottom")
            most = range_of_k(data.dataset.X.shape[1])[1]
            left.slider("k, the number of features", 1, most, **state.bind("k", asked.first))
            draw_signs(right)
            if _view() == "sphere":
                st.select_slider(
                    "Tolerance: how near to the optimum is near enough",
                    list(TOLERANCES),
                    format_func=lambda power: f"{100 * 10.0**-power:g} %",
                    **state.bind("tol", _exponent()),
                )
    with top, frame.guard():
        if _draw(data, asked):
            formula = files("nspca.dashboard").joinpath(f"spannogram_{_view()}.md")
            below.expander("The formula", icon=":material/function:", type="compact").markdown(
                formula.read_text("utf-8")
            )


def question(data: Chosen) -> SweepSpec:
    """Return the sweep of one k that proves the limit of the page; Sweep asks the same at this k."""
    start, most = range_of_k(data.dataset.X.shape[1])
    k = max(1, min(state.get("k") or start, most))
    signs = {"nonneg": not state.get("signed"), "center": state.get("center"), "scale": is_scaled(data)}
    return SweepSpec(data=data.spec, ks=(k,), **signs)


def range_of_k(n: int) -> tuple[int, int]:
    """Return the default k and the largest k of the slider for n features."""
    return min(LEAST_K, max(1, n // 3)), min(n, MOST_K)


def _view() -> str:
    return state.get_one_of("view", VIEWS, "curves")


def _exponent() -> int:
    return state.get_one_of("tol", TOLERANCES, 3)


def _draw(data: Chosen, asked: SweepSpec) -> bool:
    """Draw the answer as one sentence with its picture; return False where there is none yet."""
    if not _ready(data):
        return False
    with st.spinner("Computing the leading eigenvectors …"):
        of = subject(data, asked)
    if _unit(of) <= 0:
        st.info("Every feature is constant: there is no variance to explain. Choose other data.")
        return False
    answer_page.say_instead(asked.first, range_of_k(data.dataset.X.shape[1])[1])
    name, sentence = _view(), st.container()  # the picture is there before the limit is
    _curves(of) if name == "curves" else _sphere(of)
    if not state.get("present"):
        with st.container(horizontal=True, vertical_alignment="center"):
            choose_one("View", "view", VIEWS, width="content")
            noun = wording.noun(data.dataset)
            frame.way_on("pages/sweep.py", f"Sweep: the best {noun}s in all directions")
    with sentence:
        if name == "curves":
            _answer(of)
        else:
            st.markdown(f"## {SPHERE_SENTENCE}")
    return True


def _ready(data: Chosen) -> bool:
    """Return whether the eigenvectors may be computed; for a large table draw the button that allows it."""
    ready = st.session_state.setdefault(READY, set())
    if not heavy(data.dataset) or data.content in ready:
        return True
    st.info("For a table of this size the leading eigenvectors take up to a minute.")
    buttons.button(
        "Compute them",
        "compute",
        lambda: ready.add(data.content),
        type="primary",
        icon=":material/play_arrow:",
    )
    return False


def _answer(of: Answer) -> None:
    """Draw the answer and what to do next; it is drawn again once a smaller limit is proved."""
    known = find_limit(of)
    if known.run is not None and progress.wait_shortly(known.run, PATIENCE).ended:
        known = find_limit(of)
    st.markdown(f"## {wording.unbroken(answer(of))}")
    st.markdown(
        f"{wording.unbroken(how_good(of, known))} **Drag the angle**, and watch the set change. Each curve "
        f"is one {wording.noun(of.of.dataset)}, as high as its weight in the mix of two main directions."
    )
    if known.run is not None:
        run = known.run
        progress.redraw_once(lambda: engine().status(run).ended)


def answer(of: Answer) -> str:
    """Return the headline: how many sets have to be checked in two main directions."""
    found, every = rank2(of), math.comb(of.problem.n, of.problem.size)
    sets = found.sets
    if sets >= every:
        return f"All {wording.things(every, 'set')} have to be checked."
    few = "one" if sets == 1 else count_in_words(sets)
    size = wording.things(of.problem.size, wording.noun(of.of.dataset))
    have = "has" if sets == 1 else "have"
    return (
        f"Only {few}{'' if found.exact else ' or so'} of {count_in_words(every)} sets of {size} {have} to be "
        "checked."
    )


def how_good(of: Answer, known: Limit) -> str:
    """Return what is proved of the best set: its share of the best possible in all directions."""
    noun = wording.noun(of.of.dataset)
    they_are = f"this {noun} is" if of.problem.size == 1 else f"these {of.problem.size} {noun}s are"
    ratio = proved_ratio(_value(of), known.upper)
    is_best = 1 - ratio <= OPTIMAL_GAP
    later = "; a tighter limit is on its way" * (known.run is not None and not is_best)
    if not is_best and known.upper >= of.problem.leading_eigenvalue:
        return f"How good {they_are} in all directions is not proved yet{later}."
    quick = " That is a quick limit: Sweep proves a tighter one." * (
        known.is_quick and not later and not is_best
    )
    return f"In all directions {they_are} {wording.proof(ratio)}{later}.{quick}"


def _value(of: Answer) -> float:
    """Return the variance that the best component of two directions explains in all directions."""
    found, (phi, sign) = rank2(of), rank2(of).optimum
    return of.problem.value(rank1(sign * (found.V @ direction(phi)), of.problem.size, of.problem.nonneg))


# --- pictures --------------------------------------------------------------------------------------


def _curves(of: Answer) -> None:
    problem, data = of.problem, of.of.dataset
    found = rank2(of)
    noun = wording.noun(data)
    said: list[str] = []
    if not state.get("present"):  # in present mode the picture takes all the space
        said = steps(problem, noun)

    @st.fragment
    def explorer() -> None:
        _take(found)
        shown = explorer_data(
            found.V,
            problem.size,
            found.found,
            found.optimum,
            nonneg=problem.nonneg,
            names=data.feature_names,
            unit=_unit(of),
            phi=found.optimum[0] if state.get("phi") is None else float(np.radians(state.get("phi"))),
            height=HEIGHT,
            picture=picture_of(data),
            steps=said,
            noun=noun,
        )
        st.session_state[SEEN] = spannogram_explorer(shown, EXPLORER)

    explorer()
    if not found.exact:
        st.caption(
            "Too many curves take turns at the top to follow each. The sets and the star are those of 721 "
            "angles."
        )


def _take(found: Rank2) -> None:
    """Keep a moved angle in the address; none at the optimum, which is followed when k changes."""
    told = st.session_state.get(EXPLORER, {}).get("phi")
    if told is not None and told != st.session_state.get(SEEN):
        at_optimum = abs(told - found.optimum[0]) < 1e-9
        state.put(phi=None if at_optimum else round(float(np.degrees(told)), 2))


def _sphere(of: Answer) -> None:
    went = cone_replay(
        _key(of),
        _factor(of, 3),
        of.problem.size,
        nonneg=of.problem.nonneg,
        tol=10.0 ** -_exponent(),
        unit=_unit(of),
    )
    made = wording.things(went.cover.cones, "cone")
    st.caption(f"The search has just been run, with {made}, and is replayed here. 100 % is {UNIT}.")
    if not of.problem.nonneg:
        st.caption(
            "Weights may have any sign here. In the formula, read |·| for (·)₊. The directions c and −c "
            "are one, so half the sphere suffices."
        )


def count_in_words(count: int) -> str:
    """Return a count as text: "47", "12,582", "151 billion" or "4.1 × 10¹⁸"."""
    if count >= 10**15:
        leading, tens = f"{Decimal(count):.1e}".split("e+")
        return f"{leading} × 10{tens.translate(RAISED)}"
    for power, name in MAGNITUDES:
        if count >= 10**power:
            return f"{count // 10**power} {name}"
    return f"{count:,}"


def steps(problem: Problem, noun: str) -> list[str]:
    """Return the sentences beside the picture of rank 2; `noun` names a feature."""
    curves = "highest curves" if problem.nonneg else "curves farthest from zero"
    said = [
        f"A main direction is a weighting of all {noun}s along which the data vary most. The angle φ mixes "
        "the first two: 90° is the first principal component alone, 0° the second.",
        f"The {problem.size} {curves} are the best set for a mix. They change only where curves cross.",
    ]
    directions = min(problem.n, problem.covariance.shape[0])  # no more than rows, nor than features
    if directions > 2:
        more = wording.things(directions - 2, "more direction")
        most = "at most " * (directions < problem.n)
        said.append(
            f"The data have {most}{more}. They add to what a set keeps, and in them other sets may do "
            "better. The share above holds for all of them."
        )
    return said
