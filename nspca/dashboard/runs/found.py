"""A run found again: the one that the address names, or the one that was asked exactly this; and what it
returned.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import streamlit as st

import nspca
from nspca.dashboard import chosen
from nspca.dashboard.chosen import Chosen
from nspca.dashboard.runs import tables, tasks
from nspca.dashboard.runs.asked import Asked
from nspca.dashboard.runs.tasks import engine
from nspca.dashboard.shell import cache, state, words
from nspca.errors import JobError
from nspca.jobs import JobState, Run


@dataclass(frozen=True)
class Kind:
    """The runs that one page shows.

    Parameters
    ----------
    task : what a worker is asked to do, a name in `nspca.dashboard.runs.tasks`
    request : class of what is asked
    key : name of the run in the address
    anew : names in the address that a new run makes meaningless
    empty, icon : what to say when nothing has run yet
    stranger : what to say of a run of another kind
    changed : what to say of a run whose data are no longer there
    """

    task: str
    request: type[Asked]
    key: str
    anew: tuple[str, ...]
    empty: str
    icon: str
    stranger: str
    changed: str = (
        "This run was made from other data than those kept under the same name now; run it "
        "again to see its components."
    )


@dataclass(frozen=True, eq=False)
class Watched:
    """A run as a page sees it, with the data that are kept now under the name it was made from.

    `own` unless somebody shared it or it is everybody's; `stored` holds the results of an answer that came
    with the samples.
    """

    id: str
    of: Chosen
    asked: Any
    now: JobState
    own: bool = True
    stored: nspca.Sweep | None = None

    @property
    def of_these_data(self) -> bool:
        return self.of.content == self.asked.content

    def measured(self, leading: bool = True) -> nspca.Problem | None:
        """Its problem with the leading eigenvalue, which a large table keeps a person waiting for; of a
        folder of shards, None while a worker measures that.
        """
        if self.of.table is not None:
            return tables.measured(self.of, self.asked.problem(self.of), leading)
        with st.spinner("Computing the leading eigenvalue, the 100 % of the curve …"):
            return chosen.led(self.asked.problem(self.of))


def in_address(kind: Kind, describe: Callable[[Any], str] = lambda asked: asked.describe()) -> Watched | None:
    """The run that the address names, introduced in a line; or None, and what to do is said.

    Raises
    ------
    JobError
        When it is not a run of this workspace, or of another kind.
    """
    if state.get(kind.key) is None:
        st.info(kind.empty, icon=kind.icon)
        return None
    run = named(kind, state.get(kind.key))
    if not run.of_these_data:
        st.warning(kind.changed)
        return None
    st.caption(f"Shown: {words.plain(run.of.dataset.name)}, {words.plain(describe(run.asked))}")
    return run


def named(kind: Kind, run_id: str) -> Watched:
    """A run of this workspace.

    Raises
    ------
    JobError
        When it is not there, or of another kind.
    """
    return _watched(kind, engine().store.open_run(state.get("w") or "", run_id), own=True)


def shared(kind: Kind, run: Run) -> Watched:
    """A run that somebody shared, with the data of its own workspace, which is not told.

    Raises
    ------
    JobError
        When it is of another kind.
    """
    return _watched(kind, run, own=False)


def _watched(kind: Kind, run: Run, own: bool) -> Watched:
    if tasks.named(run.function) != kind.task:
        raise JobError(kind.stranger)
    asked = kind.request.from_dict(json.loads(run.parameters)["request"])
    return Watched(run.id, chosen.find(asked.data, run.workspace), asked, engine().status(run.id), own)


def every(task: str) -> Iterator[tuple[Run, dict[str, Any]]]:
    """The runs of this workspace that do the same, the newest first, each with what it was given: nothing,
    for a damaged one.
    """
    for run in engine().store.list_runs(state.get("w")) if state.get("w") else []:
        if tasks.named(run.function) == task:
            yield run, _given(run)


def _given(run: Run) -> dict[str, Any]:
    try:
        given = json.loads(run.parameters)
    except ValueError:
        given = None
    return given if isinstance(given, dict) else {}


def that_asks(task: str, request: dict[str, Any]) -> JobState | None:
    """The newest run of this workspace that was asked exactly this."""
    wanted = json.loads(json.dumps(request))
    return next(
        (engine().status(run.id) for run, given in every(task) if given.get("request") == wanted), None
    )


@cache.keep("Opening the run …")
def opened(run_id: str, finished: float | None, _read: Callable[[bytes], Any]) -> Any:
    """What a finished run returned, read once."""
    return _read(engine().result(run_id))
