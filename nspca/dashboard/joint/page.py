"""The frame of the parts and the topics page: data, inputs, the run that the address names, and what came of
it.
"""

from dataclasses import replace
from datetime import UTC, datetime

import streamlit as st

import nspca
from nspca.dashboard import open_data
from nspca.dashboard.app import frame, state, wording
from nspca.dashboard.data import preview, standin
from nspca.dashboard.export import offer
from nspca.dashboard.joint import archive
from nspca.dashboard.joint import form as joint_form
from nspca.dashboard.joint import proof as joint_proof
from nspca.dashboard.joint import views as joint_views
from nspca.dashboard.joint.form import Subject
from nspca.dashboard.joint.outcome import Outcome, View
from nspca.dashboard.joint.sizes import DEFAULT, LARGE, MOST
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.proof import attempts as proofs
from nspca.dashboard.runs import cost_estimate, first_answer, lookup, progress, start
from nspca.dashboard.runs.lookup import Kind, Watched
from nspca.dashboard.runs.results import kept
from nspca.jobs import JobState
from nspca.presentation.numerals import format_bound, format_value
from nspca.specs import ComponentsSpec
from nspca.specs.rows import Climbed, Refused, Several, unpack

LIGHTER = "Of many features it was made by fewer methods than the form offers."


def show(title: str, about: Subject, view: View) -> None:
    """The whole page."""
    st.title(title)
    of = joint_form.data(about)
    about = replace(about, feature="word") if of.dataset.kind == "words" else about
    preview.line(of)
    preview.rows(of)
    standin.offer(of)
    kind = _kind(about, view)
    with frame.guard(), frame.form():
        asked = joint_form.asked(about, of)
        many = about.count(asked.r)
        begin = lambda: start.of_page(kind, of, asked)  # noqa: E731
        start.offer(f"Find {many}", of, asked, begin, lambda: cost_estimate.all_rows(of, asked))
    with frame.guard(), frame.picture():
        if not _arrived(kind, about, view, of):
            _run(kind, about, view)
    view.always()


def _kind(about: Subject, view: View) -> Kind:
    return Kind(
        spec=ComponentsSpec,
        key=about.key,
        anew=("using", "topic", "named"),
        empty=view.empty,
        icon=":material/play_arrow:",
        stranger=f"The run in this address is not about {about.one}s: start one here.",
    )


def _arrived(kind: Kind, about: Subject, view: View, of: Chosen) -> bool:
    """The answer that stands here before anybody asks; whether there is one."""
    if state.get(kind.key) is not None:
        return False
    of = open_data.some(of)
    usual = joint_form.usual(about, of)
    of_folder = of.reference.folder is not None
    if of_folder:  # some rows of it are for a first look
        usual = usual.but(effort="fast")
    run = first_answer.look(kind, of, usual)
    if run is None:
        return False
    many = of.dataset.X.shape[1] > LARGE and not of_folder
    fewer = LIGHTER if usual.methods != tuple(DEFAULT) and many else ""
    if of_folder:
        st.caption(wording.plain(f"Shown: {of.dataset.provenance}."))
    r = state.get("r") if state.get("r") in range(1, MOST + 1) else usual.r
    first_answer.announce(run, usual.describe().asked, f"Find {about.count(r)}", fewer)
    if run.now.state == "done":
        _finished(run, about, view)
    else:
        first_answer.await_it(
            run, lambda now: _says(usual, now), _share, lambda now: _filling(about, run, now, view)
        )
    return True


def _run(kind: Kind, about: Subject, view: View) -> None:
    run = lookup.in_address(kind)
    if run is None:
        return
    if run.of.table is not None and run.measured(leading=False) is None:
        _unmeasured(run)
        return
    if kept(run) is not None:
        if run.now.state == "cancelled":
            progress.ended(run.now, "again")
        _finished(run, about, view)
        return
    draw = lambda now: _filling(about, run, now, view)  # noqa: E731
    progress.show(
        run.now, lambda now: _says(run.asked, now), _share, draw, stop=lambda: progress.stop(run.id)
    )


def _unmeasured(run: Watched) -> None:
    """How far a run about a folder is, until its total variance is known."""

    def look(now: JobState) -> None:
        if run.measured(leading=False) is not None:
            st.rerun()
        st.caption("The variance of all rows is being measured, once for this folder.")

    if run.now.ended:
        progress.each_second(lambda: look(run.now))
        return
    progress.show(
        run.now, lambda now: _says(run.asked, now), _share, look, stop=lambda: progress.stop(run.id)
    )


def _filling(about: Subject, run: Watched, now: JobState, view: View) -> None:
    n, (climb, at_work) = run.of.dataset.X.shape[1], climbed(now)
    results = so_far(now, n)
    X = climb[-1].components(n) if climb and at_work else None
    if X is not None and run.of.table is None:
        results[climb[-1].method] = nspca.Result.of(
            open_data.problem_of(run.of, run.asked), X, nspca.Status.CANCELLED, climb[-1].method
        )
    if not now.ended and not _closing(run, now) and "joint" in run.asked.methods:
        joint_views.climb(climb, at_work, about, run.id)
    _draw(about, run, now, results, view, live=not now.ended)


def _closing(run: Watched, now: JobState) -> bool:
    """The two bounds of a proof that is at work, where it is."""
    return bool(joint_proof.closers(now)) and joint_proof.live(now, _problem(run), run.id)


def _problem(run: Watched) -> nspca.Problem:
    return (
        run.measured(leading=False) if run.of.table is not None else open_data.problem_of(run.of, run.asked)
    )


def _finished(run: Watched, about: Subject, view: View) -> None:
    sweep, tried = kept(run), proofs.attempts(run.asked)
    results = {method: sweep[method, r] for method, r in sweep}
    own = next((result.certificate for result in results.values()), None)
    tightest = joint_proof.tightest(results, run.asked, tried)
    _draw(about, run, run.now, tightest, view, tried=tried, own=own)


def so_far(now: JobState, n: int) -> dict[str, nspca.Result]:
    """The methods that are ready, while the run goes on or after it was stopped."""
    results = {row.method: row.result(n) for row in unpack(now.rows) if isinstance(row, Several)}
    return {method: result for method, result in results.items() if result is not None}


def climbed(now: JobState) -> tuple[list[Climbed], bool]:
    """What the last method that finds components together came upon, and whether it is still at work."""
    rows = unpack(now.rows)
    last = next((row.method for row in reversed(rows) if isinstance(row, Climbed)), None)
    ready = {row.method for row in rows if isinstance(row, Several | Refused)}
    return [row for row in rows if isinstance(row, Climbed) and row.method == last], last not in ready


def failures(now: JobState) -> dict[str, str]:
    """Methods that could not solve the problem, and why."""
    return {row.method: row.error for row in unpack(now.rows) if isinstance(row, Refused)}


def _share(now: JobState) -> float:
    return now.event.payload.get("share", 0.0) if now.event else 0.0


def _says(asked: ComponentsSpec, now: JobState) -> str:
    """One line: how far, what is being done, best so far, bound so far."""
    if waits := progress.waiting(now):
        return waits
    total = len(asked.methods)
    ready = sum(isinstance(row, Several | Refused) for row in unpack(now.rows))
    line = f"{min(ready, total)} of {wording.things(total, 'method')} ready"
    event = now.event
    if event is None:
        return line
    who = event.payload.get("method")
    line += f"; {wording.plain(who)}: " if who else "; "
    line += wording.plain(event.stage)
    if event.total:
        line += f" {event.done} of {event.total}" if "of" not in event.stage else ""
    if event.lower:
        line += f", best so far {format_value(event.lower)}"
    return line if event.upper is None else f"{line}, nothing above {format_bound(event.upper)}"


def _draw(
    about: Subject,
    run: Watched,
    now: JobState,
    results: dict,
    view: View,
    live: bool = False,
    **proofs_of,
) -> None:
    for method, sentence in failures(now).items():
        st.warning(f"{wording.plain(method)}: {wording.plain(sentence)}", icon=":material/warning:")
    if not results:
        return
    outcome = Outcome(about, run.of, run.asked, _problem(run), results, run.id, live, **proofs_of)
    joint_views.verdict(outcome)
    if proofs_of:
        joint_proof.show(outcome, now)
    view.components(outcome)
    joint_views.figures_of(outcome)
    if not live:
        view.more(outcome)
        joint_views.downloads(outcome)
        _whole(outcome, view)


def _whole(outcome: Outcome, view: View) -> None:
    """Everything as one file."""
    proved = next((one.certificate.upper for one in outcome.results.values() if one.certificate), None)
    of = f"{outcome.run_id} {list(outcome.results)} {state.get('over')} {proved}"
    weights = joint_views.weights(outcome)
    make = lambda drawn, pictures: archive.pack(outcome, weights, drawn, pictures, datetime.now(UTC))  # noqa: E731
    offer.everything(f"{archive.whole(outcome).folder}.zip", of, lambda: archive.figures(outcome, view), make)
