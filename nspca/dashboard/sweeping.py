"""The run that the address names: waiting, filling in, ended in one way or another."""

from datetime import timedelta

import pandas as pd
import streamlit as st

import nspca
from nspca.dashboard import chosen, component, curve, frame, pinned, proof_panel, proofs, report, running, state, words
from nspca.dashboard.chosen import Chosen
from nspca.dashboard.running import Watched
from nspca.errors import JobError
from nspca.jobs import JobState

ENOUGH = 0.8  # of the largest value
WAITING = {"starting": "Starting workers …", "queued": "Waiting"}


def show(data: Chosen) -> None:
    """Whatever there is to see about the run, or what to do when there is none."""
    try:
        run = running.find()
    except JobError as error:
        st.error(words.plain(error), icon=":material/error:")
        return
    if run is None:
        st.info(
            "Nothing has run yet. Choose the values of k above and press Run; the curve then fills in here.", icon=":material/area_chart:"
        )
        return
    about = chosen.find(run.asked.data, state.get("w"))
    if about.content != run.asked.content:
        st.warning("This run was made from other data than those kept under the same name now; run it again to see its components.")
        return
    st.caption(f"Shown: {words.plain(about.dataset.name)}, {run.asked.describe()}")
    if not run.now.ended:
        _watch(about, run)
    elif run.now.state == "done":
        _finished(about, run)
    else:
        _ended(about, run)


def _watch(about: Chosen, run: Watched) -> None:
    problem = _problem(about, run)

    @st.fragment(run_every=timedelta(seconds=1))
    def live() -> None:
        with frame.guard():
            now = running.look(run.id)
            if now.ended:
                st.rerun()
            _progress(run, now)
            curve.filling(problem, list(now.rows), run.asked)

    live()


def _progress(run: Watched, now: JobState) -> None:
    total = len(run.asked.ks) * len(run.asked.methods)
    bar, button = st.columns([6, 1], vertical_alignment="center")
    with bar:
        st.progress(min(1.0, len(now.rows) / total), text=_says(now, total))
    with button:
        if st.button("Cancel", key="cancel", icon=":material/stop_circle:", width="stretch"):
            running.cancel(run.id)
            st.rerun()


def _says(now: JobState, total: int) -> str:
    """One line: how far, best so far, bound so far."""
    if now.state == "queued" and now.place:
        return f"Waiting: place {now.place} in the queue"
    if now.state in WAITING:
        return WAITING[now.state]
    line = f"{len(now.rows)} of {total} ready"
    if not now.rows:
        return f"{line}; {words.plain(now.event.stage)}" if now.event else line
    last = now.rows[-1]
    line += f"; k = {last['k']}: best {words.number(last['value'])}"
    return line if last["upper"] is None else f"{line}, nothing above {words.number(last['upper'])}"


def _ended(about: Chosen, run: Watched) -> None:
    """Failed, cancelled or interrupted: what there was stays, with a way to go on."""
    sentence = {
        "cancelled": "Cancelled. What was ready stays here.",
        "interrupted": "The server was restarted while this was running. What was ready stays here.",
        "failed": words.plain(run.now.error) or "The run failed.",
    }[run.now.state]
    (st.error if run.now.state == "failed" else st.warning)(sentence)
    if st.button("Run again", key="again", icon=":material/replay:"):
        running.again(run.id)
        st.rerun()
    if run.now.rows:
        curve.switches()
        curve.filling(_problem(about, run), list(run.now.rows), run.asked)


def _finished(about: Chosen, run: Watched) -> None:
    sweep, problem = running.opened(run.id, run.now.finished), _problem(about, run)
    tried = proofs.attempts(run.asked)
    table, methods = proofs.table(sweep, tried), list(dict.fromkeys(method for method, _ in sweep))
    k = state.get("k") if state.get("k") in set(table["k"]) else _telling(table)
    method = state.get("shown") if state.get("shown") in methods else methods[0]
    other = pinned.beside(run)
    with curve.switches():
        pinned.switch(run, other)
    drawn = curve.figure(problem, table, run.asked, selected_k=k, pinned=other and other.drawn(curve.axis()))
    curve.clickable(drawn, table, run.asked, k, method)
    result = sweep[method, k]
    proof = proofs.best(result, tried, k)
    x = result.components[:, 0]
    with st.container(border=True):
        component.statement(problem, result.with_certificate(proof and proof.certificate), k)
        left, right = st.columns(2, gap="medium")
        with left:
            component.picture(about.dataset, x, f"component_{run.id}")
        with right:
            component.samples(about.dataset, problem, x, f"scores_{run.id}")
        component.table(about.dataset, x)
        component.downloads(about, run.asked, result, k, method, table)
    with st.container(border=True):
        st.markdown("#### The proof")
        proof_panel.show(about, problem, run.asked, k, result, tried)
    report.offer(about, problem, run.asked, drawn, table, k, method)


def _telling(table: pd.DataFrame) -> int:
    """The k shown first: the smallest that reaches most of what the largest does."""
    best = table.groupby("k")["value"].max()
    return int(best.index[best >= ENOUGH * best.max()].min())


def _problem(about: Chosen, run: Watched) -> nspca.Problem:
    asked = run.asked
    problem = chosen.problem(about, asked.nonneg, asked.center, asked.scale)
    with st.spinner("Computing the leading eigenvalue, the 100 % of the curve …"):
        problem.leading_eigenvalue  # noqa: B018  kept by the problem; a large table needs some seconds
    return problem
