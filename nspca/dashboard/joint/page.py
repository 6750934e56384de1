"""The page Components: several components of one data set, found together.

The script pages/components.py calls `show`. Words and pictures follow the data: parts of images, topics of
texts, components of every other table.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go
import streamlit as st

import nspca
from nspca.dashboard import answer_page, open_data, share
from nspca.dashboard.answer_page import AnswerPage
from nspca.dashboard.app import wording
from nspca.dashboard.app.form import choose_one
from nspca.dashboard.export import Export
from nspca.dashboard.joint import (
    form,
    headline,
    lists,
    methods,
    parts,
    resampling,
    samples,
    take_home,
    topics,
)
from nspca.dashboard.joint import proof as joint_proof
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.proof import attempts as proofs
from nspca.dashboard.proof.answer import Answer
from nspca.dashboard.runs import progress
from nspca.dashboard.runs.lookup import Kind, Watched
from nspca.dashboard.views.nouns import Nouns, TableKind, nouns_of
from nspca.errors import NSPCAError
from nspca.jobs import JobState
from nspca.specs import ComponentsSpec
from nspca.specs.optimum import Standing
from nspca.specs.rows import Climbed, Refused, Several, unpack

NEARLY = 0.97
"""Maximum progress that is shown of a run that has not ended."""
TITLES: dict[TableKind, str] = {
    "image": "Which parts are images made of?",
    "words": "What are the texts about?",
    "table": "What belongs together?",
}


class View(NamedTuple):
    """Functions that draw the components of one kind of table.

    Parameters
    ----------
    picture : draws the components of the best method, with one control
    so_far : draws what a run at work has found
    after : returns the sentence on what to do next
    label, look : label of the first section, and the function that draws it
    recurring : draws how often features of components are found again on other rows
    drawn : returns the figures for export, by file name
    fates : draws which features are certain, possible or ruled out in a search for better components
    """

    picture: Callable[[Answer], None]
    so_far: Callable[[Answer], None]
    after: Callable[[Answer], str]
    label: str
    look: Callable[[Answer], None]
    recurring: Callable[[Answer, np.ndarray, list[float]], None]
    drawn: Callable[[Answer], dict[str, go.Figure]]
    fates: Callable[[Answer, nspca.Result, Standing], None]


VIEWS: dict[TableKind, View] = {
    "image": View(
        parts.picture,
        parts.so_far,
        parts.after,
        "One image",
        parts.look,
        parts.recurring,
        parts.drawn,
        parts.fates,
    ),
    "words": View(
        topics.picture,
        lists.so_far,
        topics.after,
        "One topic",
        topics.look,
        lists.recurring,
        topics.drawn,
        lists.fates,
    ),
    "table": View(
        lists.picture,
        lists.so_far,
        lists.after,
        "One component",
        lists.look,
        lists.recurring,
        lists.drawn,
        lists.fates,
    ),
}


def show() -> None:
    """Draw the whole page for the open data."""
    try:
        of = open_data.whole_folder(open_data.opened())
    except NSPCAError:
        share.title("Components")
        raise
    nouns = nouns_of(of.dataset)
    answer_page.open_page(TITLES[nouns.kind], lambda: of)
    answer_page.show(JointPage(nouns), of)


class JointPage(AnswerPage[ComponentsSpec]):
    """The page about several components of one kind of data.

    `AnswerPage` documents the methods. `line` and `label` are texts of the folded form and of the start
    button. `status`, `share` and `filling` follow a run. `view`, `more` and `take_home` show its results.

    Parameters
    ----------
    nouns : words of the form, such as "part" and "pixel"; an answer has those of its own data
    """

    leading = False

    def __init__(self, nouns: Nouns) -> None:
        self.nouns = nouns
        self.kind = Kind(
            spec=ComponentsSpec,
            page="components",
            key="components",
            anew=("using", "component", "named"),
            empty=f"Nothing has run yet. Choose how many {nouns.many} of how many {nouns.feature}s, and "
            "press Find.",
            icon=":material/play_arrow:",
            stranger=f"The run in this address is not about {nouns.many}: start one here.",
        )

    def question(self, data: Chosen) -> ComponentsSpec:
        return form.question(data)

    def usual(self, data: Chosen) -> ComponentsSpec:
        return form.usual(open_data.row_sample(data))

    def form(self, data: Chosen, asked: ComponentsSpec | None) -> None:
        form.inputs(data)

    def line(self, data: Chosen, asked: ComponentsSpec) -> str:
        signs = "nonnegative" if asked.nonneg else "weights of any sign"
        scaled = ["standardised"] if asked.scale else []
        return ", ".join([self.nouns.sized(asked.sizes), signs, *scaled, *asked.data.change_words()])

    def label(self, data: Chosen, asked: ComponentsSpec) -> str:
        return f"Find {self.nouns.count(asked.r)}"

    def status(self, run: Watched, now: JobState) -> str:
        return progress_line(run.asked, now)

    def share(self, run: Watched, now: JobState) -> float:
        # The steps of a proof are counted anew when it finds more to do, so they may look finished too early.
        return min(NEARLY, now.event.payload.get("share", 0.0)) if now.event else 0.0

    def ready(self, run: Watched) -> nspca.Sweep | None:
        """Return the results of all methods of a run whose proof is not finished; None before that."""
        done = [row for row in unpack(run.now.rows) if isinstance(row, Several | Refused)]
        if len(done) < run.asked.total:
            return None
        results = so_far(run.now, run.of.dataset.X.shape[1])
        named = {name: results[name] for name in run.asked.methods if name in results}
        return nspca.Sweep({(name, run.asked.r): result for name, result in named.items()}) if named else None

    def filling(self, run: Watched, now: JobState) -> None:
        n, (climb, at_work) = run.of.dataset.X.shape[1], climbed(now)
        results = so_far(now, n)
        X = climb[-1].components(n) if climb and at_work and run.of.table is None else None
        if X is not None and not results:  # the first method may have found some of the components
            run = replace(run, asked=run.asked.but(sizes=run.asked.sizes[: X.shape[1]]))
        problem = _problem(run)
        if X is not None and X.shape[1] == run.asked.r:
            results[climb[-1].method] = nspca.Result.of(problem, X, nspca.Status.CANCELLED, climb[-1].method)
        if results:
            answer = _answer(run, now, results, is_partial=not now.ended)
            headline.show(answer)
            VIEWS[answer.nouns.kind].so_far(answer)
        _say_failures(now)
        is_joint = bool(climb) and nspca.METHODS[climb[-1].method].joint
        if not now.ended and is_joint:
            headline.draw_climb(climb, at_work, self.nouns.many, run.id)

    def view(self, run: Watched, results: nspca.Sweep) -> Answer:
        tried, sizes = proofs.attempts(run.asked), run.asked.sizes
        found = {key[0]: proofs.replaced(results[key], key[0], sizes, tried) for key in results}
        proof = proofs.best(next(iter(found.values())), tried, sizes)
        if proof is not None:
            found = {method: one.with_certificate(proof.certificate) for method, one in found.items()}
        answer = _answer(run, run.now, found, tried=tried)
        view = VIEWS[answer.nouns.kind]
        with st.container():  # one element in either case, so that those below keep their place
            headline.follow(answer)
        st.markdown(view.after(answer))
        view.picture(answer)
        _say_failures(run.now)
        return answer

    def more(self, run: Watched, seen: Answer) -> None:
        view = VIEWS[seen.nouns.kind]
        if run.now.ended:
            joint_proof.show_search(seen, view.fates)
        sections = _sections(seen, view)
        labels = {key: label for key, (label, _) in sections.items()}
        chosen = choose_one("More about this", "look", labels)
        with st.container(border=True, key=lists.SECTION):
            sections[chosen][1](seen)

    def take_home(self, seen: Answer) -> Export:
        return take_home.taken(seen, VIEWS[seen.nouns.kind].drawn)


def _sections(answer: Answer, view: View) -> dict[str, tuple[str, Callable[[Answer], None]]]:
    """Return label and drawing function of each section, by its key in the address.

    A covariance has no samples, and no sections about them.
    """
    nouns = answer.nouns
    sections = {
        "one": (view.label, view.look),
        "samples": (f"{nouns.samples.capitalize()} on a map", samples.show),
        "many": (f"How many {nouns.many}?", resampling.show_how_many),
        "again": (f"Other {nouns.samples}", lambda seen: resampling.show_stability(seen, view.recurring)),
        "methods": ("All methods", methods.show),
        "proof": ("The proof", joint_proof.show),
    }
    if answer.of.dataset.is_covariance:
        del sections["samples"], sections["again"]
    return sections


def _answer(run: Watched, now: JobState, results: dict[str, nspca.Result], **more: Any) -> Answer:
    """Return the answer of a run at a state; `more` holds further fields of `Answer`."""
    asked = run.asked.but(noun=nouns_of(run.of.dataset).one)
    best = max(results, key=lambda method: results[method].value)
    sweep = nspca.Sweep({(method, asked.r): result for method, result in results.items()})
    how = {"own": not run.guest, "id": run.id, "now": now, **more}
    return Answer(run.of, asked, _problem(run), sweep, asked.sizes, best, **how)


def _problem(run: Watched) -> nspca.Problem:
    """Return the problem of a run. For a folder it has the total variance measured over all rows."""
    if run.of.table is not None:
        measured = run.measured(leading=False)
        assert measured is not None  # `answer_page` draws a run of a folder only after the measurement
        return measured
    return open_data.problem_of(run.of, run.asked)


def so_far(now: JobState, n: int) -> dict[str, nspca.Result]:
    """Return the results of the methods that have finished, by method, from the rows of a run."""
    results = {row.method: row.result(n) for row in unpack(now.rows) if isinstance(row, Several)}
    return {method: result for method, result in results.items() if result is not None}


def climbed(now: JobState) -> tuple[list[Climbed], bool]:
    """Return what the last method reported while it was at work, and whether it still is.

    A joint method reports improvements of all components, any other one those that it has found so far.
    """
    rows = unpack(now.rows)
    last = next((row.method for row in reversed(rows) if isinstance(row, Climbed)), None)
    ready = {row.method for row in rows if isinstance(row, Several | Refused)}
    return [row for row in rows if isinstance(row, Climbed) and row.method == last], last not in ready


def failures(now: JobState) -> dict[str, str]:
    """Return the methods that could not solve the problem, each with its error message."""
    return {row.method: row.error for row in unpack(now.rows) if isinstance(row, Refused)}


def _say_failures(now: JobState) -> None:
    for method, sentence in failures(now).items():
        st.caption(f":material/block: **{wording.plain(method)}** was left out: {wording.plain(sentence)}")


def progress_line(asked: ComponentsSpec, now: JobState) -> str:
    """Return the progress line of a run: methods ready, and the present stage."""
    if waits := progress.waiting(now):
        return waits
    total = len(asked.methods)
    ready = sum(isinstance(row, Several | Refused) for row in unpack(now.rows))
    line = f"{min(ready, total)} of {wording.things(total, 'method')} ready"
    event = now.event
    if event is None:
        return line
    said = wording.stage(event)
    if event.stage in wording.PASSES:
        return f"{line}; {said}"
    who = event.payload.get("method")
    if who == "proof":
        return f"{line}; proving how good the best of them is"
    line += f"; {wording.plain(who)}: " if who else "; "
    line += said
    if event.total:
        line += f", {event.done} of {event.total}" if "of" not in event.stage else ""
    return line  # value and limit so far stand in the answer, as shares of the variance
