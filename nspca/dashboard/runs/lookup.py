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
from nspca.dashboard.runs.tasks import engine
from nspca.errors import InvalidOption, JobError
from nspca.jobs import JobState, Run
from nspca.specs import ProblemSpec, Spec
from nspca.specs.job import MEASURE


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


@dataclass(frozen=True, eq=False)
class Watched:
    """A run as a page shows it."""

    id: str  # id, now: id and state of the run
    of: Chosen  # the data as they are opened now; they may have changed since the run was started
    asked: Any  # the question
    now: JobState
    own: bool = True  # whether it belongs to the visitor's workspace; not so for shared and default runs
    stored: nspca.Sweep | None = None  # results of an answer that ships with the samples
    # whether another person shared it; it is then not searched further, and its data stay
    guest: bool = False

    @property
    def of_these_data(self) -> bool:
        """True unless the data under the name that the run used have changed since it was started."""
        return self.of.content == self.asked.content

    @property
    def results(self) -> nspca.Sweep | None:
        """The sweep of a run that is stored, done, or cancelled with some rows; None for any other run."""
        if self.stored is not None:
            return self.stored
        if self.now.state == "done":
            return opened(self.id, self.now.finished, nspca.Sweep.from_bytes)
        ready = self.now.state == "cancelled" and engine().store.has_result(self.id)
        return handed_in(self.id, self.now.finished, nspca.Sweep.from_bytes) if ready else None

    def measured(self, leading: bool = True) -> nspca.Problem | None:
        """Return the problem with its leading eigenvalue; None while a worker computes that for a folder."""
        if self.of.table is not None:
            return _measured(self.of, open_data.problem_of(self.of, self.asked), leading)
        with cache.spinner("Computing the leading eigenvalue, the 100 % of the curve …"):
            return open_data.with_leading(open_data.problem_of(self.of, self.asked))


def named(kind: Kind, run_id: str) -> Watched:
    """Return a run of this workspace by its id."""
    return _watched(kind, engine().store.open_run(state.get("w") or "", run_id), own=True)


def shared(kind: Kind, run: Run) -> Watched:
    """Return a shared run with its data, without revealing the workspace of its owner."""
    return replace(_watched(kind, run, own=False), guest=True)


def _watched(kind: Kind, run: Run, own: bool) -> Watched:
    """Return a stored run with its open data; raise `JobError` for a run of another kind."""
    try:
        asked = tasks.spec_of(run)
    except InvalidOption:
        raise JobError(kind.stranger) from None
    if not isinstance(asked, kind.spec):
        raise JobError(kind.stranger)
    return Watched(run.id, open_data.find(asked.data, run.workspace), asked, engine().status(run.id), own)


def every(kind: type[Spec], everybody: str = "") -> Iterator[tuple[Run, Any]]:
    """Yield the runs of this workspace with a kind of question, newest first, each with its question.

    With the hash of data as `everybody`, the default runs about these data. Damaged runs are left out.
    """
    workspace = defaults.EVERYBODY if everybody else state.get("w")
    for run in engine().store.list_runs(workspace, outline=True, about=everybody) if workspace else []:
        if run.function == kind.kind:
            with suppress(InvalidOption):
                yield run, tasks.spec_of(run)


def that_asks(spec: Spec) -> JobState | None:
    """Return the state of the newest run of this workspace with an equal question; None without one.

    Data that are equal under another name count as the same.
    """
    return next((engine().status(run.id) for run, asked in every(type(spec)) if _same(asked, spec)), None)


def _same(asked: Spec, spec: Spec) -> bool:
    """Tell whether two questions are equal; questions about problems need equal numbers only."""
    if isinstance(asked, ProblemSpec) and isinstance(spec, ProblemSpec):
        return asked.content == spec.content and asked.numbers_only() == spec.numbers_only()
    return asked == spec


def _measured(of: Chosen, problem: nspca.Problem, leading: bool) -> nspca.Problem | None:
    """Return the problem of a folder with the variances that a worker computes in passes, once per server."""
    assert of.table is not None  # the caller passes a folder
    A = problem.covariance
    how = {"center": A.center, "scale": A.scale, "leading": leading}
    now = defaults.measured(MEASURE, data=of.reference.to_dict(), **how)
    if not now.ended:
        return None
    if now.state != "done":
        raise JobError(now.error)
    known = Outline(of.table, A.center, A.scale, **opened(now.id, now.finished, json.loads))
    return nspca.Problem(known, problem.k, problem.nonneg, problem.forced)


@cache.keep("Opening the run …")
def opened(run_id: str, finished: float | None, _read: Callable[[bytes], Any]) -> Any:
    """Return the result of a finished run, which `_read` makes from its bytes, cached."""
    return _read(engine().result(run_id))


@cache.keep()
def handed_in(name: str, finished: float | None, _read: Callable[[bytes], Any]) -> Any:
    """Return what is stored under the id or key of an ended run, as `_read` makes it; it may be partial."""
    content = engine().store.result(name)
    assert content is not None  # the caller has checked that it is stored
    return _read(content)
