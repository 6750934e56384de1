"""The page Components: several components of one data set, found together.

Words and pictures follow the data: parts of images, topics of texts, components of every other table.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamlit as st

import nspca
from nspca.dashboard import answer_page, open_data, share
from nspca.dashboard.answer_page import AnswerPage
from nspca.dashboard.app import state, wording
from nspca.dashboard.app.wording import TableKind, kind_of
from nspca.dashboard.export import Export
from nspca.dashboard.joint import (
    annotations,
    form,
    headline,
    lists,
    methods,
    parts,
    samples,
    table,
    take_home,
    topics,
)
from nspca.dashboard.proof import alone, optimal
from nspca.dashboard.proof import attempts as proofs
from nspca.dashboard.runs import progress
from nspca.dashboard.runs.answer import Answer
from nspca.dashboard.views.section import refusals
from nspca.errors import NSPCAError
from nspca.jobs import JobState
from nspca.specs import ComponentsSpec
from nspca.specs.rows import Climbed, Refused, Several, unpack

NEARLY = 0.97  # maximum progress that is shown of a run that has not ended
TITLES: dict[TableKind, str] = {
    "image": "Which parts are images made of?",
    "words": "What are the texts about?",
    "table": "What belongs together?",
}


VIEWS: dict[TableKind, Any] = {"image": parts, "words": topics, "table": table}
"""Modules that draw the components of one kind of table.

Each has ``picture(answer)``, ``so_far(answer)`` of a run at work, ``look(answer)`` for what follows the
picture, ``recurring(answer, F, overlaps)`` of components on other rows, ``fates(answer, result, standing)``
of features in a search, and ``drawn(answer)``, the figures for export by file name.
"""


def show() -> None:
    """Draw the whole page for the open data."""
    form.begin()
    try:
        of = open_data.whole_folder(open_data.opened())
    except NSPCAError:
        share.title("Components")
        raise
    answer_page.open_page(TITLES[kind_of(of.dataset)], lambda: of)
    answer_page.show(JointPage(), of)


class JointPage(AnswerPage):
    """The page about several components."""

    kind, forms = form.COMPONENTS, form

    def status(self, run: Answer) -> tuple[str, float]:
        # The steps of a proof are counted anew when it finds more to do, so they may look finished too early.
        share = min(NEARLY, run.now.event.payload.get("share", 0.0)) if run.now.event else 0.0
        return progress_line(run.asked, run.now), share

    def ready(self, run: Answer) -> nspca.Sweep:
        """Return the results of all methods of a run whose proof is not finished; none before that."""
        done = [row for row in unpack(run.now.rows) if isinstance(row, Several | Refused)]
        if len(done) < run.asked.total:
            return nspca.Sweep({})
        results = so_far(run.now, run.of.dataset.X.shape[1])
        in_order = (name for name in run.asked.methods if name in results)
        return nspca.Sweep({(name, run.asked.r): results[name] for name in in_order})

    def filling(self, run: Answer) -> None:
        now, n = run.now, run.of.dataset.X.shape[1]
        (climb, at_work), results = climbed(now), so_far(now, n)
        X = climb[-1].components(n) if climb and at_work and run.of.table is None else None
        if X is not None and not results:  # the first method may have found some of the components
            asked = run.asked.but(sizes=run.asked.sizes[: X.shape[1]])
            run = replace(run, asked=asked, problem=open_data.problem_of(run.of, asked))
        if X is not None and X.shape[1] == run.asked.r:
            by = climb[-1].method
            results[by] = nspca.Result.of(run.problem, X, nspca.Status.CANCELLED, by)
        if results:
            answer = _best(run, results, is_partial=not now.ended)
            headline.show(answer)
            VIEWS[answer.nouns.kind].so_far(answer)
        elif (seen := form.seen_before(run.id)) is not None:
            st.caption(
                f"These are the {seen.nouns.many} from before: they give way as soon as a method is ready."
            )
            with st.container(key="seen_before"):
                VIEWS[seen.nouns.kind].so_far(seen)
        refusals(unpack(now.rows))

    def view(self, run: Answer) -> Answer:
        tried, sizes = proofs.attempts(run.asked), run.asked.sizes
        found = {key[0]: proofs.replaced(run.sweep[key], key[0], sizes, tried) for key in run.sweep}
        answer = _best(run, found, tried=tried)
        with st.container():  # one element in either case, so that those below keep their place
            headline.follow(answer)
        if run.now.ended:
            optimal.show(answer)
        VIEWS[answer.nouns.kind].picture(answer)
        if answer.own:
            form.draw_back(answer)
        refusals(unpack(run.now.rows))
        return answer

    def more(self, seen: Answer) -> None:
        view = VIEWS[seen.nouns.kind]
        with st.container(key=lists.SECTION):
            view.look(seen)
        st.markdown("### Can I trust it?")
        headline.show_section(seen, view.fates)
        sections = _sections(seen)
        labels = {key: label for key, (label, _) in sections.items()}
        opened = st.segmented_control(
            "More about this",
            list(labels),
            format_func=labels.__getitem__,
            label_visibility="collapsed",
            **state.bind("look", state.get_one_of("look", labels, None)),
        )
        if opened is not None:
            sections[opened][1](seen)

    def take_home(self, seen: Answer) -> Export:
        return take_home.taken(seen, VIEWS[seen.nouns.kind].drawn)


def _sections(answer: Answer) -> dict[str, tuple[str, Callable[[Answer], None]]]:
    """Return label and drawing function of each further question, by its key in the address."""
    nouns, view = answer.nouns, VIEWS[answer.nouns.kind]
    sections: dict[str, tuple[str, Callable[[Answer], None]]] = {
        "many": (f"How many {nouns.many}?", methods.show_how_many),
        "again": (f"Other {nouns.samples}", lambda seen: methods.show_stability(seen, view.recurring)),
        "alone": ("The only one?", alone.draw),
        "methods": ("All methods", methods.show),
    }
    if answer.of.dataset.is_covariance:
        del sections["again"], sections["many"]
    if nouns.kind == "words":
        sections["samples"] = ("Documents on a map", _map)
    return sections


def _map(answer: Answer) -> None:
    left, right = st.columns([3, 2], gap="large")
    with left:
        samples.show(answer)
    with right:
        annotations.show(answer)


def _best(run: Answer, results: dict[str, nspca.Result], **more: Any) -> Answer:
    """Return a run with results by method, of which the best is shown; `more` holds further fields."""
    asked = run.asked.but(noun=run.nouns.one)
    best = max(results, key=lambda method: results[method].value)
    sweep = nspca.Sweep({(method, asked.r): result for method, result in results.items()})
    return replace(run, asked=asked, sweep=sweep, k=asked.sizes, method=best, **more)


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
    is_proof = event.stage not in wording.PASSES and event.payload.get("method") == "proof"
    # Value and limit so far stand in the answer, as shares of the variance.
    return f"{line}; {'proving how good the best of them is' if is_proof else wording.stage(event)}"
