"""The sweep that the address names: filling in, stopped, or finished with everything there is to see about it."""

import pandas as pd
import streamlit as st

import nspca
from nspca.dashboard.proof import attempts as proofs
from nspca.dashboard.proof import panel as proof_panel
from nspca.dashboard.runs import found, goes
from nspca.dashboard.runs.found import Watched
from nspca.dashboard.runs.request import SWEEP
from nspca.dashboard.shell import state, words
from nspca.dashboard.sweep import pinned, report
from nspca.dashboard.views import component, curve
from nspca.jobs import JobState
from nspca.tasks.rows import unpack

ENOUGH = 0.8  # of the largest value


def show() -> None:
    """Whatever there is to see about the run, or what to do when there is none."""
    run = found.in_address(SWEEP)
    if run is None:
        return
    problem = run.measured()
    total = len(run.asked.ks) * len(run.asked.methods)

    def filling(now: JobState) -> None:
        if now.ended:
            curve.switches()
        curve.filling(problem, unpack(now.rows), run.asked)

    if goes.show(run.now, lambda now: _says(now, total), lambda now: len(now.rows) / total, filling):
        _finished(run, problem)


def _says(now: JobState, total: int) -> str:
    """One line: how far, best so far, bound so far."""
    if waits := goes.waiting(now):
        return waits
    rows = unpack(now.rows)
    line = f"{len(rows)} of {total} ready"
    if not rows:
        return f"{line}; {words.plain(now.event.stage)}" if now.event else line
    last = rows[-1]
    line += f"; k = {last.k}: best {words.number(last.value)}"
    return line if last.upper is None else f"{line}, nothing above {words.bound(last.upper)}"


def _finished(run: Watched, problem: nspca.Problem) -> None:
    about, sweep = run.of, found.opened(run.id, run.now.finished, nspca.Sweep.from_bytes)
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
