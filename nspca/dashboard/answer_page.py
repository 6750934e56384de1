"""The mechanism of every page that asks one question of the data and shows the answer.

Sweep and Components subclass `AnswerPage`: how to ask the question, and how to draw its answer. `show` does
the rest. Here `data` is the open data set (`Chosen`), `asked` the question of the form, and `run` a run as an
`Answer`, of which nothing is shown yet, and whose own question is ``run.asked``.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

import nspca
from nspca.dashboard import open_data, share
from nspca.dashboard.app import buttons, frame, state, wording
from nspca.dashboard.data import original
from nspca.dashboard.data import preview as data_line
from nspca.dashboard.export import Export
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.runs import cost_estimate, first_answer, lookup, progress, start
from nspca.dashboard.runs.answer import Answer
from nspca.dashboard.runs.lookup import Kind
from nspca.errors import InvalidData, NSPCAError
from nspca.jobs import JobState
from nspca.specs import ProblemSpec

MEASURED = "The variance of all rows is being measured, once for this folder: the picture follows."
STARTED = "runs_started"  # name in the session of the number of runs that the start button began


class AnswerPage(ABC):
    """Base class of a page with a question and its answer. `show` calls the methods in their order here."""

    kind: Kind  # of the runs that the page shows
    # Module of the form: ``question(data)`` returns the question in the address, ``inputs(data)`` draws it.
    # Of data and question ``line`` returns a few words, ``label`` the text of the start button, and ``usual``
    # the question of the first answer.
    forms: Any
    data: Chosen | None = None  # data and question of the form; None of a shared run, which has no form
    asked: Any = None

    def begin(self, data: Chosen, asked: Any) -> None:
        """Start the run."""
        start.of_page(self.kind, data, asked)

    def offer(self, data: Chosen, asked: Any) -> bool:
        """Draw the start button; return False where this server refuses the run, as too large or too long."""

        def begin() -> None:
            self.begin(data, asked)
            st.session_state[STARTED] = st.session_state.get(STARTED, 0) + 1

        refusal = cost_estimate.refusal(data, *asked.work)
        look: dict[str, Any] = {"type": "primary", "icon": ":material/play_arrow:"}
        buttons.button(self.forms.label(data, asked), "run", begin, disabled=bool(refusal), **look)
        cost_estimate.say(refusal)
        return not refusal

    def begin_unasked(self, data: Chosen, asked: Any) -> bool:
        """Start a run without a click on the start button, if suitable; return whether one was started."""
        return False

    @abstractmethod
    def status(self, run: Answer) -> tuple[str, float]:
        """Return one line about a run, with its best value and bound so far, and its progress from 0 to 1."""

    @abstractmethod
    def filling(self, run: Answer) -> None:
        """Draw the partial results of a run that is going on or stopped without a result."""

    def ready(self, run: Answer) -> nspca.Sweep:
        """Return the results of a run that has no more than its proof to do; none for any other run.

        The whole page is then drawn, below the progress of the proof.
        """
        return run.sweep

    @abstractmethod
    def view(self, run: Answer) -> Answer:
        """Draw the answer as one sentence, its picture and one control, and return what is shown."""

    @abstractmethod
    def more(self, seen: Answer) -> None:
        """Draw further sections about the answer, below the form."""

    def take_home(self, seen: Answer) -> Export | None:
        """Return the downloads of the answer; None for none."""
        return None


def open_page(title: str, find: Callable[[], Chosen], fills: bool = True) -> Chosen:
    """Draw the head of a page, and return its data. `fills` is that of `share.title`."""
    share.title(title, fills)
    data = find()
    data_line.line(data)
    data_line.rows(data)
    original.offer(data, asked=True)
    if obstacle := open_data.obstacle(data):
        raise InvalidData(obstacle)
    return data


def say_instead(shown: int, most: int) -> None:
    """Draw a caption if the page shows another k than that of the address; see `wording.instead_of`."""
    if said := wording.instead_of(state.get("k"), shown, most):
        st.caption(said)


def show(page: AnswerPage, data: Chosen) -> None:
    """Draw a page below its head: the answer first, then the form in one line, then everything else."""
    answer, asking, below = frame.picture(), frame.form(), st.container()
    asked, refusal, run = None, None, None
    try:
        page.data, asked = data, page.forms.question(data)
        page.asked = asked
    except NSPCAError as error:
        refusal = error
    with answer, frame.guard():
        run = _find(page, data, asked)
    with asking, frame.guard():
        _ask(page, data, asked, run)
        if refusal is not None:
            raise refusal
    if run is None:
        share.fill()
    else:
        _draw(page, run, asked, answer, below)


def show_shared(page: AnswerPage, run: Answer) -> None:
    """Draw the answer and all sections of a finished run that another person shared."""
    st.caption(wording.plain(run.asked.describe().line))
    _draw(page, run, run.asked, frame.picture(), st.container())


def _find(page: AnswerPage, data: Chosen, asked: ProblemSpec | None) -> Answer | None:
    """Return the run of the address, or the first answer; draw a hint and return None if there is neither."""
    name = state.get(page.kind.key)
    if name is not None:
        return lookup.find_own(page.kind, name)
    sample = open_data.row_sample(data)
    first = None if asked is None else first_answer.unasked(sample, page.forms.usual(sample, asked))
    if first is None and not data_line.offer_to_drop(data):
        st.info(page.kind.empty, icon=page.kind.icon)
    return first


def _ask(page: AnswerPage, data: Chosen, asked: ProblemSpec | None, run: Answer | None) -> None:
    """Draw the form: folded into one line if there is an answer, otherwise open."""
    folded = run is not None and asked is not None
    box = fold("" if asked is None else page.forms.line(data, asked), folded)
    with box:
        page.forms.inputs(data)
    if asked is None:
        return
    answered = run is not None and same(run.asked, asked)
    with box if answered or not folded else st.container():
        offered = page.offer(data, asked)
    if offered and page.begin_unasked(data, asked):
        st.rerun()


def fold(line: str, folded: bool = True) -> DeltaGenerator:
    """Return the box of a form: closed with the question `line` as its title, or open."""
    # Another key makes another element, so a form folds by itself when the first answer is there, and when a
    # run begins: its progress and its answer stand above.
    return st.expander(
        f"{wording.plain(line)} · **change**" if folded else "The question",
        expanded=not folded,
        key=f"question_folded_{st.session_state.get(STARTED, 0)}" if folded else "question_open",
        icon=":material/tune:",
    )


def same(one: ProblemSpec, other: ProblemSpec) -> bool:
    """Return whether two questions ask for the same numbers about the same data."""
    return one.content == other.content and one.numbers_only() == other.numbers_only()


def _draw(
    page: AnswerPage, run: Answer, asked: ProblemSpec | None, answer: DeltaGenerator, below: DeltaGenerator
) -> None:
    """Draw a run: its progress and partial results, or its answer in `answer` and `below`."""
    has_result = bool(run.sweep) and run.is_measured
    seen = run if has_result or not run.is_measured else replace(run, sweep=page.ready(run))
    is_drawn = bool(seen.sweep) and run.is_measured
    with answer, frame.guard():
        if not has_result:
            _watch(page, run, is_drawn)
        if not is_drawn:
            share.fill()
            return
        if run.now.state == "cancelled":
            progress.ended(run.now, "again", run.asked.goes_on)
        seen = page.view(seen)
        if run.is_default and asked is not run.asked and has_result:
            _introduce(run)
        if asked is not run.asked and (asked is None or not same(run.asked, asked)):
            st.caption(f"Shown: {wording.plain(run.asked.describe().line)}")
        with below, frame.guard():
            page.more(seen)
            share.fill(run, page.kind.key, lambda: page.take_home(seen))


def _watch(page: AnswerPage, run: Answer, is_drawn: bool) -> None:
    """Draw the progress of a run without a result, and its partial results or that a folder is measured."""

    def fill(now: JobState) -> None:
        here = replace(run, now=now)
        if is_drawn:
            return
        if run.is_measured and not page.ready(here):
            page.filling(here)
        elif run.is_measured or lookup.measured_problem(run.of, run.asked) is not None:
            st.rerun()
        else:
            st.caption(MEASURED)

    def status(now: JobState) -> tuple[str, float]:
        return page.status(replace(run, now=now))

    if run.now.ended and not run.is_measured:
        progress.repeat(lambda: fill(run.now))
    elif not run.is_default or not run.is_measured:
        progress.show(run.now, fill, status=status, stop=lambda: progress.stop(run.id))
    else:
        _introduce(run)
        progress.live(run.id, fill, status)


def _introduce(run: Answer) -> None:
    """Draw a caption about a first answer: the rows of a folder that it is about, if any."""
    if run.of.reference.folder is not None:
        st.caption(wording.plain(f"Of {run.of.dataset.provenance}."))
