"""Look up runs and their results: by the address, by a link, or by an equal question."""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import nspca
from nspca.dashboard import open_data
from nspca.dashboard.app import cache, state
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.open_folder import Outline
from nspca.dashboard.runs import defaults, tasks
from nspca.dashboard.runs.answer import Answer
from nspca.dashboard.runs.tasks import engine
from nspca.errors import InvalidOption, JobError
from nspca.jobs import JobState, Run
from nspca.specs import ComponentsSpec, ProblemSpec, Spec
from nspca.specs.job import MEASURE

CHANGED = (
    "This run was made from other data than those kept under the same name now; run it again to see its "
    "components."
)


@dataclass(frozen=True)
class Kind:
    """The kind of run that a page shows, with its name in the address and its sentences."""

    spec: type[ProblemSpec]  # class of the question
    page: str  # name of the page
    key: str  # name of the value in the address that holds the id of the run
    anew: tuple[str, ...]  # values in the address that a new run resets
    empty: str  # empty, icon: message and icon when there is no run yet
    icon: str
    stranger: str  # message for a run of another kind


def find_own(kind: Kind, run_id: str) -> Answer:
    """Return a run of this workspace by its id."""
    return _answered(kind, engine().store.open_run(state.get("w") or "", run_id))


def open_shared(kind: Kind, run: Run) -> Answer:
    """Return a shared run with its data, without revealing the workspace of its owner."""
    answer = _answered(kind, run)
    if not answer.sweep:
        raise JobError(CHANGED)
    return replace(answer, own=False)


def _answered(kind: Kind, run: Run) -> Answer:
    """Return a run with its data and results; raise `JobError` for another kind, and for other data."""
    try:
        asked = tasks.spec_of(run)
    except InvalidOption:
        raise JobError(kind.stranger) from None
    if not isinstance(asked, kind.spec):
        raise JobError(kind.stranger)
    of = open_data.find(asked.data, run.workspace)
    if of.content != asked.content:
        raise JobError(CHANGED)
    now = engine().status(run.id)
    problem = measured_problem(of, asked) or open_data.problem_of(of, asked)
    return Answer(of, asked, problem, read_sweep(now), now=now)


def read_sweep(now: JobState) -> nspca.Sweep:
    """Return the sweep of a run that is done, or cancelled with some rows; an empty one for any other run."""
    if now.state == "done":
        return read_result(now.id, now.finished, nspca.Sweep.from_bytes)
    ready = now.state == "cancelled" and engine().store.has_result(now.id)
    return read_stored(now.id, now.finished, nspca.Sweep.from_bytes) if ready else nspca.Sweep({})


def find_all(kind: type[Spec], everybody: str = "") -> Iterator[tuple[Run, Any]]:
    """Yield the runs of this workspace with a kind of question, newest first, each with its question.

    With the hash of data as `everybody`, the default runs about these data. Damaged runs are left out.
    """
    workspace = defaults.EVERYBODY if everybody else state.get("w")
    for run in engine().store.list_runs(workspace, about=everybody) if workspace else []:
        if run.function == kind.kind:
            with suppress(InvalidOption):
                yield run, tasks.spec_of(run)


def find_newest(spec: Spec) -> JobState | None:
    """Return the state of the newest run of this workspace with an equal question; None without one.

    Data that are equal under another name count as the same.
    """
    return next((engine().status(run.id) for run, asked in find_all(type(spec)) if _same(asked, spec)), None)


def _same(asked: Spec, spec: Spec) -> bool:
    """Tell whether two questions are equal; questions about problems need equal numbers only."""
    if isinstance(asked, ProblemSpec) and isinstance(spec, ProblemSpec):
        return asked.content == spec.content and asked.numbers_only() == spec.numbers_only()
    return asked == spec


def measured_problem(of: Chosen, asked: ProblemSpec) -> nspca.Problem | None:
    """Return the problem of a question; None while a worker measures the variances of a folder.

    They are measured once per server, and count as 100 %: the total variance and, but for `ComponentsSpec`,
    the leading eigenvalue.
    """
    problem = open_data.problem_of(of, asked)
    if of.table is None:
        return problem
    A = problem.covariance
    how = {"center": A.center, "scale": A.scale, "leading": not isinstance(asked, ComponentsSpec)}
    now = defaults.call(MEASURE, data=of.reference.to_dict(), **how)
    if not now.ended:
        return None
    if now.state != "done":
        raise JobError(now.error)
    known = Outline(of.table, A.center, A.scale, **read_result(now.id, now.finished, json.loads))
    return nspca.Problem(known, problem.k, problem.nonneg, problem.forced)


@cache.keep("Opening the run …")
def read_result(run_id: str, finished: float | None, _read: Callable[[bytes], Any]) -> Any:
    """Return the result of a finished run, which `_read` makes from its bytes, cached."""
    return _read(engine().result(run_id))


@cache.keep()
def read_stored(name: str, finished: float | None, _read: Callable[[bytes], Any]) -> Any:
    """Return what is stored under the id or key of an ended run, as `_read` makes it; it may be partial."""
    content = engine().store.result(name)
    assert content is not None  # the caller has checked that it is stored
    return _read(content)
