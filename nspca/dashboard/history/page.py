"""Draw the page Runs: the runs of a workspace, newest first, with links and actions for each run.

Below them two sweeps can be compared, and the page Home shows the last run.

A run in the list is a `DescribedRun`, or a bare `Run` if it is damaged and cannot be described.
"""

import time
from functools import partial
from typing import Any

import streamlit as st

from nspca.dashboard.app import buttons, frame, state, times, wording
from nspca.dashboard.history import descriptions
from nspca.dashboard.history.descriptions import DAMAGE, DescribedRun, describe_runs, proved
from nspca.dashboard.runs import progress
from nspca.dashboard.runs.tasks import engine
from nspca.jobs import JobState, Run
from nspca.jobs.job import DAY
from nspca.presentation.numerals import OPTIMAL_GAP, format_guarantee
from nspca.specs import SweepSpec
from nspca.specs.rows import unpack

OF_A_PAGE = 25  # runs listed on one page
MOST_NAMED = 3  # own files that are named in the link to them
FEW = 8  # runs up to which no search field is drawn
LONGEST = 80  # characters of a name
FILES = {
    "optimum": ("Result, NPZ", "npz", "nspca.Result.from_bytes reads it, with its certificate."),
}
SWEEPS = ("Result, ZIP", "zip", "nspca.Sweep.from_bytes reads it.")
PLAIN = ("Result, JSON", "json", "The numbers behind the figures.")
# Kinds of runs whose result is a `nspca.Sweep`.
OF_SWEEPS = ("sweep", "components", "comparison")
BADGES = {
    "done": ":gray-badge[done]",
    "failed": ":red-badge[failed]",
    "cancelled": ":gray-badge[cancelled]",
    "interrupted": ":orange-badge[interrupted]",
}
DAMAGED = "This run cannot be read: it is damaged, or another version of the program stored it."
SHOWS_RUNS = (*state.OF_RUNS, "first", "second")  # names in the address that may hold the id of a run


def show() -> None:
    """Draw the whole page below its title."""
    workspace = state.get("w")
    runs = engine().store.list_runs(workspace) if workspace else []
    with frame.guard():
        _undo()
    if not runs:
        _empty()
        _files(workspace)
        return
    described = describe_runs(runs)
    line = f"You have **{wording.things(len(runs), 'run')}**{', the newest first' * (len(runs) > 1)}."
    more = "" if state.get("present") else " Open one to see its answer again. More renames or deletes it."
    st.markdown(line + more)
    found = _search(described) if len(described) > FEW else described
    last = max(1, -(-len(found) // OF_A_PAGE))
    page = min(max(1, state.get("listed")), last)
    place = times.zone(st.context.timezone)
    for one in found[OF_A_PAGE * (page - 1) : OF_A_PAGE * page]:
        with frame.guard():
            _row(one, place)
    if last > 1:
        _turn(page, last, len(found))
    with frame.guard():
        _kept(workspace)
    _files(workspace)
    with frame.guard():
        compare([one for one in described if isinstance(one, DescribedRun)])


def _kept(workspace: str) -> None:
    (count, size), limits = engine().store.kept(workspace), engine().limits
    days = wording.things(round(limits.result_age / DAY), "day")
    held = (
        f"{wording.things(count, 'result')}, {wording.size(size)} of {wording.size(limits.workspace_bytes)}"
    )
    st.caption(
        f"{held}. Each is kept for {days}. When there is no more space, the oldest go first. One that is "
        "gone can be computed again: press More, then Run again. Answers that pages show before you ask are "
        "not listed; they come back when you open the data."
    )


def _files(workspace: str | None) -> None:
    """Draw links to the answers about the visitor's file in use, and a link to all files."""
    kept = engine().store.list_uploads(workspace) if workspace else []
    files = {one["digest"]: one["meta"]["file"] for one in kept if not one["meta"].get("words")}
    if not files or state.get("present"):
        return
    if here := files.get(state.get("upload")):
        with st.container(horizontal=True, vertical_alignment="center", key="own"):
            st.markdown(f"Your data: **{wording.plain(here)}**", width="content")
            frame.way_on("pages/sweep.py", "Its answer on Sweep")
            frame.way_on("pages/components.py", "Its answer on Components")
    names = [*files.values()]
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    label = f"Your own files: {', '.join(map(wording.plain, names[:MOST_NAMED]))}{more}"
    query = {**state.link("pages/data.py"), "source": "upload"}
    st.page_link("pages/data.py", label=label, icon=":material/folder:", query_params=query)


def _empty() -> None:
    is_own = state.get("upload") is not None  # the links of `_files` name the data
    first = "The pages answer about your data before you ask." if is_own else "You have no runs yet."
    st.markdown(
        f"## {first}\nA run is a question that you started with a button. It is kept here, "
        "with its answer and its proof, for you and whoever you give the address. What a page answers before "
        "you ask is not listed: it comes back when you open the data."
    )
    if is_own:
        return
    with st.container(horizontal=True):
        for path, label in (
            ("pages/sweep.py", "How many features are enough?"),
            ("pages/components.py", "Components of a table"),
        ):
            frame.way_on(path, label)
        frame.ways_to_components()


def _search(described: list[DescribedRun | Run]) -> list[DescribedRun | Run]:
    wanted = st.text_input(
        "Search",
        placeholder="Search: digits, failed, nonnegative …",
        label_visibility="collapsed",
        width=420,
        **state.bind("find", then=lambda: state.put(listed=None)),
    )
    parts = wanted.lower().split()
    found = [one for one in described if all(part in _text(one) for part in parts)]
    if parts and not found:
        st.caption("No run says that: take a word away.")
    return found


def _text(one: DescribedRun | Run) -> str:
    run, line = (one.run, one.line) if isinstance(one, DescribedRun) else (one, DAMAGED)
    return f"{run.name} {run.title} {run.state} {run.error} {line}".lower()


def _turn(page: int, last: int, count: int) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        for label, to, icon in (
            ("Newer", page - 1, ":material/chevron_left:"),
            ("Older", page + 1, ":material/chevron_right:"),
        ):
            turn = partial(state.put, listed=to)
            buttons.button(label, f"turn_{label}", turn, icon=icon, disabled=not 1 <= to <= last)
        st.caption(f"Page {page} of {last}, {wording.things(count, 'run')}", width="content")


# --- one run --------------------------------------------------------------------------------------


def _row(one: DescribedRun | Run, place: Any) -> None:
    """Draw one run: picture, description, progress, link and actions. `place` is the visitor's time zone."""
    run = one.run if isinstance(one, DescribedRun) else one
    small, left, right = st.columns([1, 4, 3], vertical_alignment="center")
    try:
        if not isinstance(one, DescribedRun):
            raise ValueError(DAMAGED)
        now = engine().status(run.id)
        begun, drawn = _describe(one, now, place), descriptions.draw_small(one, unpack(now.rows))
        address = state.opening(one.query)
    except DAMAGE:
        with left:
            st.markdown(f":gray[{DAMAGED}]")
        with right.container(horizontal=True, horizontal_alignment="right"):
            _delete(run)
        return
    left.markdown(begun)
    if drawn is not None:
        small.image(drawn[0], alt=drawn[1])
    if not now.ended:
        status = lambda now: (says(one, now), share(one, now))  # noqa: E731
        progress.live(run.id, status=status, key=f"cancel_{run.id}")
    with right.container(horizontal=True, horizontal_alignment="right", vertical_alignment="center"):
        if one.page:
            st.page_link(one.page, label="Open", icon=":material/open_in_new:", query_params=address)
        if now.ended:
            if now.state != "done":
                goes_on = isinstance(one, DescribedRun) and one.spec.goes_on
                again = partial(engine().again, run.id, goes_on=goes_on)
                buttons.button("Run again", f"again_{run.id}", again, icon=":material/replay:")
            with st.popover("More", icon=":material/more_horiz:", key=f"more_{run.id}"):
                _more(one, now)


def _describe(one: DescribedRun, now: JobState, place: Any) -> str:
    lines = [f"**{wording.plain(one.run.name or one.line)}**"]
    if one.run.name:
        lines.append(f":gray[{wording.plain(one.line)}]")
    facts = [BADGES[now.state]] if now.ended else []
    facts.append(times.when(one.run.created, time.time(), place))
    if now.started and now.finished:
        facts.append(f"took {times.how_long(now.finished - now.started)}")
    rows = unpack(now.rows)
    if now.ended and now.state != "done" and one.total:
        facts.append(f"{min(len(rows), one.total)} of {one.total} ready")
    facts += _proof(proved(rows), now.state == "done")
    lines.append(f":small[{' · '.join(facts)}]")
    if now.error:
        lines.append(f":small[{wording.plain(now.error)}]")
    return "  \n".join(lines)


def _proof(ratios: tuple[float, float] | None, is_whole: bool) -> list[str]:
    """Return a phrase about the worst of the (worst, best) proved ratios over all k, or nothing."""
    if ratios is None:
        return []
    least, most = ratios
    if 1 - least <= OPTIMAL_GAP:
        return ["proved: the best possible"]
    every = "" if most == least else " at every k" if is_whole else " at each of these"
    return [f"proved: at least {format_guarantee(least)} of the best possible{every}"]


def says(one: DescribedRun, now: JobState) -> str:
    """Return the progress line of an unfinished run."""
    if waits := progress.waiting(now):
        return waits
    if one.total:
        return f"Running: {min(len(now.rows), one.total)} of {one.total} ready"
    seconds = getattr(one.spec, "seconds", 0)
    limit = f", for {times.how_long(seconds)} at most" if seconds else ""
    return f"Running{limit}: {wording.stage(now.event)}" if now.event else f"Running{limit}"


def share(one: DescribedRun, now: JobState) -> float:
    """Return the finished share of a run, from 0 to 1, for its progress bar."""
    if one.total:
        return len(now.rows) / one.total
    return progress.stage_status(now)[1]


def _more(one: DescribedRun, now: JobState) -> None:
    run, key = one.run, f"name_{one.run.id}"

    def rename() -> None:
        engine().store.rename_run(state.workspace(), run.id, " ".join(st.session_state[key].split()))

    look: dict[str, Any] = {"placeholder": one.name[:LONGEST], "max_chars": LONGEST}
    st.text_input("Name", on_change=rename, **look, **state.showing(key, run.name))
    if now.state == "done":
        label, ending, reads = FILES.get(one.spec.kind, SWEEPS if one.spec.kind in OF_SWEEPS else PLAIN)
        name = f"nspca-{one.spec.kind}-{run.id[:8]}.{ending}"
        take = partial(engine().result, run.id)
        buttons.download(label, take, name, None, key=f"export_{run.id}", help=reads)
    _delete(run)


# --- delete and undo ------------------------------------------------------------------------------


def _delete(run: Run) -> None:
    buttons.button(
        "Delete",
        f"delete_{run.id}",
        partial(_forget, run.id),
        icon=":material/delete:",
        help="It can be undone for an hour.",
    )


def _forget(run_id: str) -> None:
    deleted = st.session_state.setdefault(state.DELETED, [])
    if run_id not in deleted:  # Streamlit may call this twice, when a second rerun interrupts the first
        engine().store.delete_run(state.workspace(), run_id)
        deleted.append(run_id)
    state.forget(tuple(name for name in SHOWS_RUNS if state.get(name) == run_id))


def _undo() -> None:
    deleted = st.session_state.get(state.DELETED)
    if not deleted:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"{wording.things(len(deleted), 'run')} deleted.", width="content")
        last = deleted[-1]
        buttons.button(
            "Undo", f"undo_{last}", partial(_restore, deleted, last), icon=":material/undo:", type="tertiary"
        )


def _restore(deleted: list[str], run_id: str) -> None:
    """Restore a deleted run. A run that cannot be restored raises once, and is offered no more."""
    try:
        engine().store.restore_run(state.workspace(), run_id)
    finally:
        deleted.remove(run_id)


PLACES = ("first", "second")  # names in the address


def compare(runs: list[DescribedRun]) -> None:
    """Draw the choice of two finished sweeps, and the link to both; nothing if there are fewer than two."""
    sweeps = [one for one in runs if isinstance(one.spec, SweepSpec) and one.run.state == "done"]
    if len(sweeps) < 2:
        return
    by_id = {one.run.id: one for one in sweeps}
    with st.expander(
        "Compare two sweeps",
        icon=":material/compare_arrows:",
        expanded=any(state.get(name) in by_id for name in PLACES),
    ):
        first, second = (
            _choose_sweep(column, by_id, name) for column, name in zip(st.columns(2), PLACES, strict=True)
        )
        if first is None or second is None:
            return
        if first.run.id == second.run.id:
            st.caption("This is the same run twice: choose another one.")
            return
        st.page_link(
            "pages/sweep.py",
            label="Both curves in one figure, and their features side by side",
            icon=":material/area_chart:",
            query_params=state.opening(second.query | {"before": first.run.id}),
        )


def _choose_sweep(column: Any, by_id: dict[str, DescribedRun], name: str) -> DescribedRun | None:
    chosen = column.selectbox(
        name.capitalize(),
        list(by_id),
        index=None,
        placeholder="Choose a sweep",
        format_func=lambda run_id: by_id[run_id].run.name or by_id[run_id].line,
        **state.bind(name, state.get_one_of(name, by_id, None)),
    )
    return by_id.get(chosen)


NEWEST = 20  # newest runs that are tried until one can be opened
FORGET = (
    "This browser then forgets the workspace. Its runs and uploads stay, and open again with a link "
    "that you have kept: this page's is one."
)


def show_last() -> None:
    """Draw a box about the last run; nothing in a workspace without runs."""
    with st.container(), frame.guard():
        runs = engine().store.list_runs(state.get("w"), most=NEWEST) if state.get("w") else []
        one = next((one for one in describe_runs(runs) if isinstance(one, DescribedRun) and one.page), None)
        if one is not None:
            _draw_last(one)


def _draw_last(one: DescribedRun) -> None:
    try:
        now, address = engine().status(one.run.id), state.opening(one.query)
        said = now.state if now.ended else says(one, now)
    except DAMAGE:  # the list of runs shows this error
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**Continue where you were**: {wording.plain(one.name)}; {said}", width="content")
        st.page_link(one.page or "app.py", label="Open", icon=":material/open_in_new:", query_params=address)
        st.page_link(
            "pages/runs.py",
            label="All runs",
            icon=":material/history:",
            query_params=state.link("pages/runs.py"),
        )
        with st.popover("Start fresh", icon=":material/restart_alt:"):
            st.caption(FORGET)
            buttons.button("Forget this workspace", "fresh", state.start_fresh, icon=":material/logout:")
