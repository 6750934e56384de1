"""The frame of the parts and the topics page: data, inputs, the run that the address names, and what came of it."""

from dataclasses import replace

import streamlit as st

import nspca
from nspca.dashboard.data import preview, standin
from nspca.dashboard.joint import form as joint_form
from nspca.dashboard.joint import views as joint_views
from nspca.dashboard.joint.form import Subject
from nspca.dashboard.joint.outcome import Outcome, View
from nspca.dashboard.joint.request import JointRequest
from nspca.dashboard.runs import found, goes, start
from nspca.dashboard.runs.found import Kind, Watched
from nspca.dashboard.shell import frame, words
from nspca.jobs import JobState
from nspca.tasks.rows import Refused, Several, unpack


def show(title: str, about: Subject, view: View) -> None:
    """The whole page."""
    st.title(title)
    of = joint_form.data(about)
    about = replace(about, feature="word") if of.dataset.kind == "words" else about
    preview.line(of)
    standin.offer(of)
    kind = _kind(about, view)
    with frame.guard(), st.container(border=True):
        asked = joint_form.asked(about, of)
        many = about.count(asked.r)
        start.button(f"Find {many}", lambda: start.of_page(kind, of, asked, many))
    with frame.guard():
        _run(kind, about, view)
    view.always()


def _kind(about: Subject, view: View) -> Kind:
    return Kind(
        task="joint",
        request=JointRequest,
        key=about.key,
        anew=("using", "topic"),
        empty=view.empty,
        icon=":material/play_arrow:",
        stranger=f"The run in this address is not about {about.one}s: start one here.",
    )


def _run(kind: Kind, about: Subject, view: View) -> None:
    run = found.in_address(kind, lambda asked: asked.describe(about.one, about.feature))
    if run is None:
        return
    n = run.of.dataset.X.shape[1]

    def ready(now: JobState) -> None:
        _draw(about, run, now, so_far(now, n), view, live=not now.ended)

    if goes.show(run.now, lambda now: _says(run.asked, now), _share, ready):
        sweep = found.opened(run.id, run.now.finished, nspca.Sweep.from_bytes)
        _draw(about, run, run.now, {method: sweep[method, r] for method, r in sweep}, view)


def so_far(now: JobState, n: int) -> dict[str, nspca.Result]:
    """The methods that are ready, while the run goes on or after it was stopped."""
    results = {row.method: row.result(n) for row in unpack(now.rows) if isinstance(row, Several)}
    return {method: result for method, result in results.items() if result is not None}


def failures(now: JobState) -> dict[str, str]:
    """Methods that could not solve the problem, and why."""
    return {row.method: row.error for row in unpack(now.rows) if isinstance(row, Refused)}


def _share(now: JobState) -> float:
    return now.event.payload.get("share", 0.0) if now.event else 0.0


def _says(asked: JointRequest, now: JobState) -> str:
    """One line: how far, what is being done, best so far, bound so far."""
    if waits := goes.waiting(now):
        return waits
    total = len(asked.methods)
    line = f"{min(len(now.rows), total)} of {words.things(total, 'method')} ready"
    event = now.event
    if event is None:
        return line
    line += f"; {words.plain(event.payload.get('method', ''))}: {words.plain(event.stage)}"
    if event.total:
        line += f" {event.done} of {event.total}" if "of" not in event.stage else ""
    if event.lower:
        line += f", best so far {words.number(event.lower)}"
    return line if event.upper is None else f"{line}, nothing above {words.bound(event.upper)}"


def _draw(about: Subject, run: Watched, now: JobState, results: dict, view: View, live: bool = False) -> None:
    for method, sentence in failures(now).items():
        st.warning(f"{words.plain(method)}: {words.plain(sentence)}", icon=":material/warning:")
    if not results:
        return
    outcome = Outcome(about, run.of, run.asked, run.asked.problem(run.of), results, run.id, live)
    joint_views.verdict(outcome)
    steps = [view.components, joint_views.figures_of]
    for step in reversed(steps) if view.figures_first else steps:
        step(outcome)
    if not live:
        view.more(outcome)
        joint_views.downloads(outcome)
