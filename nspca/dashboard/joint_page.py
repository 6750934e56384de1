"""The frame of the parts and the topics page: data, inputs, the run that the address names, and what came of it."""

from dataclasses import replace
from datetime import timedelta

import streamlit as st

from nspca.dashboard import chosen, frame, joint_form, joint_run, joint_views, preview, standin, state, words
from nspca.dashboard.chosen import Chosen
from nspca.dashboard.joint_form import Subject
from nspca.dashboard.joint_outcome import Outcome, View
from nspca.dashboard.joint_request import JointRequest
from nspca.dashboard.joint_run import Watched
from nspca.errors import JobError
from nspca.jobs import JobState, engine

WAITING = {"starting": "Starting workers …", "queued": "Waiting"}


def show(title: str, about: Subject, view: View) -> None:
    """The whole page."""
    st.title(title)
    of = joint_form.data(about)
    about = replace(about, feature="word") if of.dataset.kind == "words" else about
    preview.line(of)
    standin.offer(of)
    with frame.guard(), st.container(border=True):
        asked = joint_form.asked(about, of)
        label = f"Find {about.count(asked.r)}"
        if st.button(label, key="run", type="primary", icon=":material/play_arrow:"):
            joint_run.start(about, of, asked)
            st.rerun()
    with frame.guard():
        _run(about, view)
    view.always()


def _run(about: Subject, view: View) -> None:
    try:
        run = joint_run.find(about)
    except JobError as error:
        st.error(words.plain(error), icon=":material/error:")
        return
    if run is None:
        st.info(view.empty, icon=":material/play_arrow:")
        return
    of = chosen.find(run.asked.data, state.get("w"))
    if of.content != run.asked.content:
        st.warning("This run was made from other data than those kept under the same name now; run it again to see its components.")
        return
    st.caption(f"Shown: {words.plain(of.dataset.name)}, {run.asked.describe(about.one, about.feature)}")
    if not run.now.ended:
        _watch(about, of, run, view)
    elif run.now.state == "done":
        _draw(about, of, run, joint_run.opened(run.id, run.now.finished), view)
    else:
        _ended(about, of, run, view)


def _watch(about: Subject, of: Chosen, run: Watched, view: View) -> None:
    @st.fragment(run_every=timedelta(seconds=1))
    def live() -> None:
        with frame.guard():
            now = engine().status(run.id)
            if now.ended:
                st.rerun()
            _progress(run, now)
            _draw(about, of, run, joint_run.so_far(now, of.dataset.X.shape[1]), view, live=True)

    live()


def _progress(run: Watched, now: JobState) -> None:
    bar, button = st.columns([6, 1], vertical_alignment="center")
    share = now.event.payload.get("share", 0.0) if now.event else 0.0
    bar.progress(min(1.0, max(0.0, share)), text=_says(run.asked, now))
    if button.button("Cancel", key="cancel", icon=":material/stop_circle:", width="stretch"):
        engine().cancel(run.id, state.workspace())
        st.rerun()


def _says(asked: JointRequest, now: JobState) -> str:
    """One line: how far, what is being done, best so far, bound so far."""
    if now.state == "queued" and now.place:
        return f"Waiting: place {now.place} in the queue"
    if now.state in WAITING:
        return WAITING[now.state]
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
    return line if event.upper is None else f"{line}, nothing above {words.number(event.upper)}"


def _draw(about: Subject, of: Chosen, run: Watched, results: dict, view: View, live: bool = False) -> None:
    for method, sentence in joint_run.failures(run.now).items():
        st.warning(f"{words.plain(method)}: {words.plain(sentence)}", icon=":material/warning:")
    if not results:
        return
    outcome = Outcome(about, of, run.asked, joint_run.problem(of, run.asked), results, run.id, live)
    joint_views.verdict(outcome)
    steps = [view.components, joint_views.figures_of]
    for step in reversed(steps) if view.figures_first else steps:
        step(outcome)
    if not live:
        view.more(outcome)
        joint_views.downloads(outcome)


def _ended(about: Subject, of: Chosen, run: Watched, view: View) -> None:
    """Failed, cancelled or interrupted: what there was stays, with a way to go on."""
    sentence = {
        "cancelled": "Cancelled. What was ready stays here.",
        "interrupted": "The server was restarted while this was running. What was ready stays here.",
        "failed": words.plain(run.now.error) or "The run failed.",
    }[run.now.state]
    (st.error if run.now.state == "failed" else st.warning)(sentence)
    if st.button("Run again", key="again", icon=":material/replay:"):
        engine().again(run.id, viewer=state.workspace())
        st.rerun()
    _draw(about, of, run, joint_run.so_far(run.now, of.dataset.X.shape[1]), view)
