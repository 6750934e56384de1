"""The page Components: several components of one data set, found together, with what is proved of them.

Words and pictures follow the data: parts of images, topics of texts, components of every other table.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st
from scipy.optimize import linear_sum_assignment

import nspca
from nspca.dashboard import answer_page, open_data, share
from nspca.dashboard.answer_page import AnswerPage
from nspca.dashboard.app import state, wording
from nspca.dashboard.app.wording import TableKind, kind_of
from nspca.dashboard.export import Export
from nspca.dashboard.joint import annotations, form, lists, methods, parts, samples, table, take_home, topics
from nspca.dashboard.proof import alone, optimal
from nspca.dashboard.proof import attempts as proofs
from nspca.dashboard.proof.optimal import NEAR
from nspca.dashboard.runs import progress
from nspca.dashboard.runs.answer import Answer, display_order, in_order
from nspca.dashboard.runs.tasks import engine
from nspca.dashboard.views.section import refusals
from nspca.errors import NSPCAError
from nspca.jobs import JobState
from nspca.presentation.numerals import (
    OPTIMAL_GAP,
    format_guarantee,
    percent_down,
    percent_up,
    proved_ratio,
    ratio_at_most,
)
from nspca.problem import Problem
from nspca.specs import ComponentsSpec
from nspca.specs.optimum import Standing
from nspca.specs.rows import Climbed, Refused, Several, unpack

DIGITS = 1  # digits after the point of a percentage
TOGETHER = {"image": "vary together", "words": "occur together", "table": "move together"}
"""What features of a component do, by kind of table."""


def draw_headline(said: str) -> None:
    """Draw a sentence as the headline of the page."""
    st.markdown(wording.unbroken(f"## {said}"))


def follow(answer: Answer) -> None:
    """Draw the headline of a run, every second again while the run proves how good its answer is.

    During a later search the headline says nothing of the proof, which the line below reports.
    """
    if answer.now.ended:
        searches = answer.own and answer.working is not None
        draw_headline(describe(answer) if searches else headline(answer))
        return

    def look() -> None:
        event = engine().status(answer.id).event
        upper = math.inf if event is None or event.upper is None else event.upper
        draw_headline(headline(replace(answer, upper=upper)))

    progress.repeat(look)


def _one(answer: Answer) -> str:
    nouns = answer.nouns
    return "list" if nouns.kind == "table" and answer.of.dataset.kind == "table" else nouns.one


def describe(answer: Answer) -> str:
    """Return what the components are, and what their features have in common."""
    nouns, r = answer.nouns, answer.asked.r
    sizes = sorted(set(answer.k))
    each = nouns.features(sizes[0])
    if len(sizes) > 1:
        each = f"{wording.listed(list(map(str, answer.k)))} {nouns.feature}s"
    so_far = " so far" if answer.is_partial else ""
    said = f"{wording.things(r, _one(answer))} of {each}{so_far}."
    if max(sizes) > 1 and answer.of.table is None:
        those = f"In each, the {nouns.feature}s" if r > 1 else f"The {nouns.feature}s"
        said += f" {those} {TOGETHER[nouns.kind]}: they share {_shared(answer)} of their variance."
    return said


def headline(answer: Answer) -> str:
    """Return what the components are, what their features have in common, and the proof about all others."""
    said, one, r = describe(answer), _one(answer), answer.asked.r
    if math.isinf(answer.limit):
        return said
    kept = " so far" if answer.certificate is None or answer.upper < answer.certificate.upper else ""
    ratio = proved_ratio(answer.shown.value, answer.limit)
    if ratio < NEAR:
        these = "It is" if r == 1 else "They are"
        return f"{said} {these} at least {format_guarantee(ratio)} of the best possible: proved{kept}."
    others = f"No other {one} explains" if r == 1 else f"No other {wording.things(r, one)} explain"
    gain = (
        ""
        if _is_best(answer)
        else f" {percent_up(ratio_at_most(answer.limit, answer.shown.value) - 1, DIGITS)}"
    )
    return f"{said} {others}{gain} more: proved{kept}."


def _shared(answer: Answer) -> str:
    """Return what share of the variance of its features a component explains, from the least to the most."""
    A, X = answer.problem.covariance, answer.shown.components
    variances = A.diagonal @ (X != 0) * A.unit
    shares = np.minimum(1, answer.shown.values / np.where(variances > 0, variances, np.inf))
    least, most = (percent_down(float(share), 0) for share in (shares.min(), shares.max()))
    return most if least == most else f"{least.removesuffix(' %')} to {most}"


def sentences(answer: Answer) -> tuple[str, str]:
    """Return a sentence on what the components explain, and one on the choices that the proof is about.

    The limit itself stands in the headline. Rounded as a share of the whole variance, it would seem another.
    """
    this, explain = ("It", "explains") if answer.asked.r == 1 else ("They", "explain")
    reached = percent_down(answer.shown.value / answer.total, DIGITS)
    first = f"{this} {explain} {reached} of the variance of all {answer.nouns.features(answer.problem.n)}."
    if math.isinf(answer.limit):
        return first, "How much better another choice could be is not proved yet."
    any_such = answer.nouns.sized(answer.k).replace(", each of ", " of ").removeprefix("1 ")
    return first, f"The proof is about any {any_such}{_terms(answer)}."


def _is_best(answer: Answer) -> bool:
    """Return whether the components of an ended run are proved to be the best possible, up to rounding."""
    certificate = answer.certificate
    value = answer.shown.value
    return not answer.is_partial and certificate is not None and 1 - certificate.ratio(value) <= OPTIMAL_GAP


def _terms(answer: Answer) -> str:
    terms = ["with nonnegative weights"] if answer.problem.nonneg else []
    if answer.asked.r > 1:
        terms.append(f"without a {answer.nouns.feature} in common")
    return f", {' and '.join(terms)}" if terms else ""


def show_section(answer: Answer, fates: Callable[[Answer, nspca.Result, Standing], None]) -> None:
    """Draw what is proved, which features a search has decided, the check, and how the gap closed."""

    def draw(result: nspca.Result, standing: Standing) -> None:
        fates(answer, in_order(result), numbered(standing, result, answer.k))
        if answer.asked.r > 1 and 0 < np.mean(standing.possible & ~standing.certain) < 1:
            st.caption(f"The {answer.noun}s of a better answer can be numbered so that all of this holds.")

    best, now = answer.shown, answer.now
    st.markdown(" ".join(sentences(answer)))
    if not now.ended:
        progress.repeat(lambda: live(engine().status(answer.id), answer.problem, answer.id))
        return
    if answer.working is None:
        optimal.fates(answer, draw)
    else:
        working = answer.working.id
        progress.repeat(lambda: optimal.fates(answer, draw, engine().status(working)))
    if best.certificate is not None:
        optimal.verify_button(answer.of, answer.problem, best.certificate)
        optimal.verified(best, best.certificate, _unit(answer.problem))
        if answer.working is not None and proofs.checked(best.certificate) is not None:
            st.caption("Checked is the proof of before the search, whose own can be checked when it ends.")
    last = proofs.last_closed(answer.tried, answer.k)
    state, name = (now, answer.id) if last is None else (last.now, last.id)
    optimal.gap_closed(optimal.closers(state), _unit(answer.problem), name)


def live(now: JobState, problem: Problem, run_id: str) -> None:
    """Draw value and bound while a run works on its proof."""
    rows = optimal.closers(now)
    if rows and now.started is not None:
        before = sum(row.seconds for row in unpack(now.rows) if isinstance(row, Several))
        optimal.draw_gap(rows, _unit(problem), run_id, time.time() - now.started - before, key="closing")


def _unit(problem: Problem) -> tuple[float, str]:
    return problem.total_variance or 1.0, "the total variance"


KEEP = 1e-3  # preference for components that keep their numbers, smaller than one feature that they share


def numbered(standing: Standing, result: nspca.Result, sizes: Sequence[int]) -> Standing:
    """Return a standing whose components have the numbers that the page gives to the most similar ones found.

    A search numbers its components as it goes. Only components of one size can change places.
    """
    X = result.components
    used, size = (X != 0).astype(float), np.asarray(sizes)
    alike = used.T @ (2.0 * standing.certain + standing.possible) + KEEP * np.eye(len(size))
    alike[size[:, None] != size] = -2.0 * X.size - 1
    place = linear_sum_assignment(-alike)[1][display_order(result)]
    return replace(standing, certain=standing.certain[:, place], possible=standing.possible[:, place])


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
            draw_headline(headline(answer))
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
            follow(answer)
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
        show_section(seen, view.fates)
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
        return take_home.taken(seen, VIEWS[seen.nouns.kind].drawn, headline(seen))


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
