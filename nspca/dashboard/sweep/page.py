"""The sweep that the address names, filling in, stopped or finished with everything there is to see about it;
before it, the preview.
"""

from datetime import UTC, datetime

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

import nspca
from nspca.dashboard import open_data
from nspca.dashboard.app import frame, state, wording
from nspca.dashboard.export import offer
from nspca.dashboard.history import sharing
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.proof import attempts as proofs
from nspca.dashboard.proof import optimal
from nspca.dashboard.proof import panel as proof_panel
from nspca.dashboard.runs import lookup, progress
from nspca.dashboard.runs.lookup import Watched
from nspca.dashboard.runs.results import kept
from nspca.dashboard.runs.sweeps import SWEEP
from nspca.dashboard.runs.tasks import engine
from nspca.dashboard.sweep import (
    archive,
    enough,
    newtable,
    noise,
    other_rows,
    pinned,
    preview,
    report,
    whatif,
)
from nspca.dashboard.sweep.archive import Finished
from nspca.dashboard.sweep.preview import Preview
from nspca.dashboard.views import component, curve, membership
from nspca.jobs import JobState
from nspca.presentation.numerals import format_bound, format_value
from nspca.result import knee
from nspca.specs import SweepSpec
from nspca.specs.preview import METHOD
from nspca.specs.rows import unpack

PREVIEW = (
    "**Preview**: one quick pass over these data; its bounds are proved, and wide. **Run** finds better "
    "components, proves tighter bounds, and lets you check and take home each proof."
)


def show(seen: Preview | None) -> None:
    """Whatever there is to see about the run; the preview when there is none."""
    if state.get(SWEEP.key) is None and seen is not None:
        _previewed(seen)
        return
    run = lookup.in_address(SWEEP)
    if run is None:
        return
    problem, sweep, total = run.measured(), kept(run), run.asked.total
    if problem is None:
        _unmeasured(run)
        return
    if sweep is not None:
        if run.now.state == "cancelled":
            progress.ended(run.now, "again")
        _finished(run, problem, sweep)
        return
    pins = pinned.beside(run)
    before = None if run.of.table is not None else preview.look(run.of, run.asked)
    others = pinned.drawn(pins, curve.axis())
    ghost = None if before is None else before.table
    beside = f"{ghost is not None and before and before.id} {[(pin.id, pin.label) for pin in pins]}"

    def filling(now: JobState) -> None:
        if now.ended:
            curve.switches()
        curve.filling(problem, now.rows, run.asked, beside, ghost=ghost, pinned=others)

    with frame.picture():
        progress.show(
            run.now,
            lambda now: _says(now, total),
            lambda now: len(now.rows) / total,
            filling,
            stop=lambda: progress.stop(run.id),
        )


def shared(run: Watched) -> None:
    """Everything there is to see about a finished run that somebody shared."""
    sweep = kept(run) if run.of_these_data else None
    if sweep is None:
        st.warning(SWEEP.changed)
        return
    st.caption(wording.plain(run.asked.describe().line))
    problem = run.measured()
    if problem is None:
        _unmeasured(run)
    else:
        _finished(run, problem, sweep)


def _unmeasured(run: Watched) -> None:
    """How far a run about a folder is, until the 100 % of its curve is known."""

    def look(now: JobState) -> None:
        if run.measured() is not None:
            st.rerun()
        st.caption("The variance of all rows is being measured, once for this folder: the curve follows.")

    if run.now.ended:
        progress.each_second(lambda: look(run.now))
        return
    share = lambda now: len(now.rows) / run.asked.total  # noqa: E731
    progress.show(
        run.now, lambda now: _says(now, run.asked.total), share, look, stop=lambda: progress.stop(run.id)
    )


def _says(now: JobState, total: int) -> str:
    """One line: how far, best so far, bound so far."""
    if waits := progress.waiting(now):
        return waits
    line = f"{len(now.rows)} of {total} ready"
    last = next(iter(unpack(now.rows[-1:])), None)
    reading = now.event is not None and "(block" in now.event.stage
    if last is None or reading:
        return f"{line}; {wording.plain(now.event.stage)}" if now.event else line
    line += f"; k = {last.k}: best {format_value(last.value)}"
    return line if last.upper is None else f"{line}, nothing above {format_bound(last.upper)}"


def _previewed(seen: Preview) -> None:
    """The curve before anybody asked for one."""
    if seen.table is None or seen.sweep is None:
        _awaited(seen)
        return
    table, k = seen.table, _shown_k(seen.table)
    with frame.picture():
        curve.switches()
        st.markdown(PREVIEW)
        if seen.of.reference.folder is not None:
            st.caption(wording.plain(f"Of {seen.of.dataset.provenance}."))
        drawn = _drawn(seen.problem, table, seen.asked, k, note="preview")
        curve.clickable(seen.asked, drawn, table, [METHOD], k, METHOD)
    _enough(seen.of, seen.problem, table)
    with st.container(border=True):
        _component(seen.of, seen.problem, seen.sweep[METHOD, k], k, "preview")


def _awaited(seen: Preview) -> None:
    def look() -> None:
        now = engine().status(seen.id)
        if now.ended:
            st.rerun()
        curve.filling(seen.problem, now.rows, seen.asked, "preview")
        st.caption(f"A preview is on its way. {progress.waiting(now) or ''}")

    with frame.picture():
        progress.each_second(look)


def _finished(run: Watched, problem: nspca.Problem, sweep: nspca.Sweep) -> None:
    about, tried = run.of, proofs.attempts(run.asked)
    sweep = proofs.improved(sweep, tried)
    table, methods = proofs.table(sweep, tried), list(dict.fromkeys(method for method, _ in sweep))
    k = _shown_k(table)
    method = state.get("shown") if state.get("shown") in methods else methods[0]
    others = pinned.beside(run)
    drawn = _drawn(problem, table, run.asked, k, pinned=pinned.drawn(others, curve.axis()))
    with frame.picture():
        with curve.switches():
            pinned.switch(run, others)
            if run.own and run.now.state == "done":
                _share(run)
        curve.clickable(run.asked, drawn, table, methods, k, method)
    _enough(about, problem, table)
    result = sweep[method, k]
    proof = proofs.best(result, tried, k)
    with st.container(border=True):
        known = _component(about, problem, result.with_certificate(proof and proof.certificate), k, run.id)
        x = result.components[:, 0]
        if run.own and about.table is None:
            listed = component.table(about.dataset, x, f"table_{run.id}_{method}_{k}", known)
            whatif.features(about, *listed)
        else:
            component.table(about.dataset, x, found=known)
        component.downloads(about, run.asked, result, k, method, table, known)
    if proof is not None:
        with st.container(border=True):
            optimal.show(about, run.asked, k, result, tried, run.own)
    with st.container(border=True):
        st.markdown("#### The proof")
        proof_panel.show(about, problem, run.asked, k, result, tried, run.own)
    if run.own:
        other_rows.show(about, problem, run.asked, method)
        noise.show(about, problem.with_k(k), run.asked, method)
        newtable.show(about, run.asked, x, k)
    _whole(Finished(about, problem, run.asked, sweep, tried, table, k, method, run.own, known), drawn, run.id)


def _whole(done: Finished, drawn: go.Figure, name: str) -> None:
    """The report, and everything as one file."""
    with st.container(horizontal=True):
        report.offer(done.about, done.problem, done.asked, drawn, done.table, done.k, done.method)
        of = f"{name} {done.method} {done.k} {state.get('within')} {drawn.to_json()}"
        make = lambda figures, pictures: archive.pack(done, figures, pictures, datetime.now(UTC))  # noqa: E731
        offer.everything(f"{done.whole.folder}.zip", of, lambda: archive.figures(done, drawn), make)


def _share(run: Watched) -> None:
    stored = engine().store.find_run(run.id)
    if stored is not None:
        with st.popover("Share", icon=":material/qr_code:"):
            sharing.offer(stored)


def _shown_k(table: pd.DataFrame) -> int:
    """The k in force, or the smallest that reaches most of what the largest does."""
    return state.get("k") if state.get("k") in set(table["k"]) else knee(table)


def _drawn(problem: nspca.Problem, table: pd.DataFrame, asked: SweepSpec, k: int, **options):
    """The curve with what is marked in it."""
    share = enough.wanted()
    wanted = (share / 100 * problem.leading_eigenvalue, f"{share} % of the best direction")
    return curve.figure(problem, table, asked, selected_k=k, marked=knee(table), wanted=wanted, **options)


def _enough(about: Chosen, problem: nspca.Problem, table: pd.DataFrame) -> None:
    """The question how many features are enough, and its answer."""
    best, share, noun = problem.leading_eigenvalue, enough.wanted(), component.noun(about.dataset)
    left, right = st.columns([2, 3], vertical_alignment="bottom")
    with left:
        enough.ask()
    right.markdown(
        enough.sentence(
            enough.known(table, share / 100 * best),
            share,
            problem.n,
            noun,
            best or 1.0,
            problem.nonneg,
            len(problem.forced),
        )
    )


def _component(
    about: Chosen, problem: nspca.Problem, result: nspca.Result, k: int, name: str
) -> nspca.Membership | None:
    """What is said of a component, and its pictures; what is known of its features, where somebody asked."""
    x = result.components[:, 0]
    component.statement(about.dataset, problem, result, k)
    known = None
    if about.table is None:
        if result.certificate is not None:
            membership.ask()
        known = membership.of(about, problem.with_k(k), result)
    membership.legend(component.noun(about.dataset), known)
    left, right = st.columns(2, gap="medium")
    with left:
        component.picture(about.dataset, x, f"component_{name}", known)
    _samples(about, problem, x, name, right)
    return known


def _samples(about: Chosen, problem: nspca.Problem, x, name: str, beside) -> None:
    """Samples along the component: of a folder some of its rows."""
    try:
        seen = open_data.looked_at(about, problem)
    except nspca.InvalidProblem:
        beside.caption("The rows along the component are left out: some features take one value in a sample.")
        return
    with beside:
        component.samples(about.dataset, seen, x, f"scores_{name}")
        if about.table is not None:
            st.caption(f"Drawn are {wording.things(about.dataset.X.shape[0], 'row')} chosen at random.")
    component.heat_map(about.dataset, seen, x, f"heat_{name}")
