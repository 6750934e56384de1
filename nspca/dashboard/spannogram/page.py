"""The page Spannogram: its question, its sentence with the proved limit, and the choice of a picture.

pages/spannogram.py draws a `SpannogramPage`. In this module `of` is the data with their problem (`Subject`).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from nspca.dashboard import answer_page
from nspca.dashboard.answer_page import PicturePage
from nspca.dashboard.app import buttons, frame, state, wording
from nspca.dashboard.app.choices import choose_one
from nspca.dashboard.open_data import Chosen, heavy
from nspca.dashboard.runs import progress
from nspca.dashboard.runs.inputs import draw_signs, is_scaled
from nspca.dashboard.runs.tasks import engine
from nspca.dashboard.spannogram import lessons, limit, low_rank, pictures
from nspca.dashboard.spannogram.lessons import Lesson, teach
from nspca.dashboard.spannogram.limit import Limit
from nspca.dashboard.spannogram.low_rank import Subject
from nspca.dashboard.views import statement
from nspca.presentation.numerals import (
    OPTIMAL_GAP,
    percent_down,
    percent_up,
    proved_ratio,
    ratio_at_most,
)
from nspca.specs import SweepSpec

READY = "spannogram_ready"  # session key: heavy data sets whose eigenvalues were asked for
PATIENCE = 1.2
"""Seconds to wait for the tight limit of a small problem, so that its sentence does not change at once."""
SWEEP = "pages/sweep.py"


@dataclass(frozen=True)
class View:
    """One of the two pictures: its name on the page, what draws it, and its lesson."""

    title: str
    show: Callable[[Subject], None]
    lesson: Lesson


VIEWS = {
    "curves": View("Two directions", pictures.curves, lessons.CURVES),
    "sphere": View("Three directions", pictures.sphere, lessons.SPHERE),
}


class SpannogramPage(PicturePage[SweepSpec]):
    """Page that shows why few sets of features have to be checked."""

    def question(self, data: Chosen) -> SweepSpec:
        """Return the sweep of one k that proves the limit of the page; Sweep asks the same at this k."""
        start, most = low_rank.range_of_k(data.dataset.X.shape[1])
        k = max(1, min(state.get("k") or start, most))
        return SweepSpec(
            data=data.spec,
            ks=(k,),
            nonneg=not state.get("signed"),
            center=state.get("center"),
            scale=is_scaled(data),
        )

    def form(self, data: Chosen, asked: SweepSpec | None) -> None:
        assert asked is not None  # `question` raises for no address
        _, most = low_rank.range_of_k(data.dataset.X.shape[1])
        left, right = st.columns([3, 2], vertical_alignment="bottom")
        left.slider("k, the number of features", 1, most, **state.bind("k", asked.first))
        draw_signs(right)
        if _view() == "sphere":
            pictures.tolerance()

    def line(self, data: Chosen, asked: SweepSpec) -> str:
        size = wording.things(asked.first, wording.noun(data.dataset))
        settings = [said for said in asked.details() if said != "auto"]
        return ", ".join([size, *settings, *asked.data.change_words()])

    def view(self, data: Chosen, asked: SweepSpec) -> Subject | None:
        if not _ready(data):
            return None
        with st.spinner("Computing the leading eigenvectors …"):
            of = low_rank.subject(data, asked)
        if of.unit <= 0:
            st.info("Every feature is constant: there is no variance to explain. Choose other data.")
            return None
        answer_page.say_instead(asked.first, low_rank.range_of_k(data.dataset.X.shape[1])[1])
        name, sentence = _view(), st.container()  # the picture is there before the limit is
        VIEWS[name].show(of)
        below = None
        if not state.get("present"):
            _ways(wording.noun(data.dataset))
            if name == "curves":
                below = st.expander("How much do they capture in all directions?", icon=":material/verified:")
        with sentence:
            if name == "curves":
                _answer(of, asked, below)
            else:
                st.markdown(f"## {lessons.SPHERE_SENTENCE}")
        return of

    def more(self, data: Chosen, asked: SweepSpec, seen: Subject | None) -> None:
        if seen is not None:
            teach(VIEWS[_view()].lesson)


def _ways(noun: str) -> None:
    """Draw the choice of a picture, and the link to the page that looks in all directions."""
    with st.container(horizontal=True, vertical_alignment="center"):
        choose_one("View", "view", {name: view.title for name, view in VIEWS.items()}, width="content")
        frame.way_on(SWEEP, f"Sweep: the best {noun}s in all directions")


def _view() -> str:
    """Return the name of the open picture."""
    return state.get_one_of("view", VIEWS, "curves")


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


def _answer(of: Subject, asked: SweepSpec, below: DeltaGenerator | None) -> None:
    """Draw the answer and what to do next, and its numbers folded `below` the picture.

    All are drawn again once a smaller limit is proved. In present mode `below` is None.
    """
    known = limit.find(of, asked)
    if known.run is not None and progress.wait_shortly(known.run, PATIENCE).ended:
        known = limit.find(of, asked)
    st.markdown(f"## {wording.unbroken(answer(of, known))}")
    st.markdown(next_step(of))
    if below is not None:
        below.markdown(wording.unbroken(proof(of, known)))
    if known.run is not None:
        run = known.run
        progress.redraw_once(lambda: engine().status(run).ended)


def answer(of: Subject, known: Limit) -> str:
    """Return the sentences at the top: where the best set in two directions is found, and how good it is in
    all directions.
    """
    problem, found = of.problem, low_rank.rank2(of)
    noun = wording.noun(of.chosen.dataset)
    sets, every = len(found.candidates), math.comb(problem.n, problem.size)
    among = f"{'' if found.exact else 'at least '}{wording.things(sets, 'set')}"
    best, are = (noun, "is") if problem.size == 1 else (f"{problem.size} {noun}s", "are")
    they_are = "it is" if problem.size == 1 else "they are"
    return (
        f"With two main directions, the best {best} {are} among {among}"
        f"{lessons.instead_of_all(sets, every)}. {_how_good(of, known, they_are)}"
    )


def _how_good(of: Subject, known: Limit, they_are: str) -> str:
    """Return the proved share of the best possible in all directions, as the other pages state it."""
    ratio = proved_ratio(_value(of), known.upper)
    is_best = 1 - ratio <= OPTIMAL_GAP
    later = "; a tighter limit is on its way" * (known.run is not None and not is_best)
    if not is_best and known.upper >= of.problem.leading_eigenvalue:
        return f"How good {they_are} in all directions is not proved yet{later}."
    quick = " That is a quick limit: Sweep proves a tighter one." * (
        known.is_quick and not later and not is_best
    )
    return f"In all directions {they_are} {wording.proof(ratio)}{later}.{quick}"


def _value(of: Subject) -> float:
    """Return the variance that the best component of two directions explains in all directions."""
    found = low_rank.rank2(of)
    return of.problem.value(found.component(found.optimum[0], of.problem.size, of.problem.nonneg)[0])


def proof(of: Subject, known: Limit) -> str:
    """Return the folded line: what the best set captures in all directions, and the limit."""
    problem, value = of.problem, _value(of)
    noun = wording.noun(of.chosen.dataset)
    unit, it = problem.leading_eigenvalue, "it captures" if problem.size == 1 else "they capture"
    reached, limit = proved_ratio(value, unit), ratio_at_most(known.upper, unit)
    is_best = 1 - proved_ratio(value, known.upper) <= OPTIMAL_GAP
    has_limit = limit < 1 and not is_best
    digits = wording.digits_apart(reached, limit) if has_limit else statement.DIGITS
    share = percent_down(reached, digits)
    said = f"With these weights {it} {share} of the variance of the first principal component"
    if not has_limit and not is_best:
        return f"{said}."
    most = percent_up(limit, digits) if has_limit else ""
    return f"{said}. {statement.nobody(problem, problem.size, noun, most)}"


def next_step(of: Subject) -> str:
    """Return the line above the picture: what a curve is, and what to do."""
    noun = wording.noun(of.chosen.dataset)
    return (
        "**Drag the angle**, and watch the set change. In this spannogram each curve is one "
        f"{noun}, as high as its weight in the mix of directions."
    )
