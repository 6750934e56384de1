"""Default runs, shown before a visitor asks for anything. Computed once per server, for all sessions."""

import json
import time
from collections.abc import Callable
from typing import Any

from nspca.dashboard.app.cache import Cache, keep
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.runs.tasks import engine
from nspca.jobs import JobState
from nspca.specs import Spec

EVERYBODY = "default runs"  # workspace of default runs; no address can contain this name
AGAIN = 60.0  # seconds after which a failed default run is started again
LARGEST = 40_000_000  # maximum entries of a table with default runs
NAMES = Cache(lambda: 100_000.0)
"""Cache for the ids of about 1000 runs. Streamlit's cache would keep a lock for each question forever."""


def small_enough(of: Chosen, most: int | None = None) -> bool:
    """Tell whether a table has few enough entries for a default run: at most `most`, or `LARGEST`."""
    return of.table is None and getattr(of.dataset.X, "nnz", of.dataset.X.size) <= (
        LARGEST if most is None else most
    )


def ask(
    spec: Spec, content: str, given: Callable[[], dict[str, Any]] = dict, automatic: bool = False
) -> JobState:
    """Return the state of the default run that answers a question, starting the run if necessary.

    A run that was dropped, or failed a while ago, is started again, since visitors have no button for that.

    Parameters
    ----------
    spec : Spec
    content : str
        Hash of the data, if the spec does not contain it.
    given : callable
        Returns the data of the run, as keyword arguments of the spec's `run`.
    automatic : bool
        Whether runs of visitors go first, and the run stops when no page looks at it any more.
    """
    return _looked(spec.kind, content, {"spec": spec.to_plain()}, given, automatic)


def call(function: str, **arguments: Any) -> JobState:
    """Return the state of the default run of a function of `nspca.specs.job`; see `ask`."""
    return _looked(function, "", arguments, dict, False)


def _looked(
    task: str, content: str, arguments: dict[str, Any], given: Callable[[], dict[str, Any]], automatic: bool
) -> JobState:
    asked = (task, content, json.dumps(arguments), given, automatic)
    now = engine().status(_begun(*asked))
    late = now.state == "failed" and time.time() - (now.finished or 0.0) > AGAIN
    if late or now.state in ("cancelled", "interrupted"):  # for example by a restart
        _begun.clear(*asked)
        now = engine().status(_begun(*asked))
    return now


@keep(within=NAMES)
def _begun(
    task: str, content: str, arguments: str, _given: Callable[[], dict[str, Any]], automatic: bool
) -> str:
    return engine().submit(
        task,
        {**json.loads(arguments), **_given()},
        workspace=EVERYBODY,
        person=f"{task} of {content}",
        title=task,
        automatic=automatic,
    )
