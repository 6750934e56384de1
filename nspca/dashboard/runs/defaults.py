"""Default runs, shown before a visitor asks for anything. A worker makes each once per server, for all
sessions.
"""

import time
from collections.abc import Callable
from typing import Any

from nspca.dashboard.app.cache import Cache, keep
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.runs.tasks import engine
from nspca.jobs import JobState
from nspca.specs import ProblemSpec, Spec

EVERYBODY = "the previews of everybody"  # no address can name this workspace: the runs in it are nobody's own
AGAIN = 60.0  # seconds after which what failed is tried again
LARGEST = 40_000_000  # entries of a table; beyond, a person has to ask
NAMES = Cache(lambda: 100_000.0)
"""Names of some 1000 runs. Streamlit's cache would keep a lock of each question for ever."""


def small_enough(of: Chosen, most: int | None = None) -> bool:
    """Return whether a table has few enough entries for a default run: at most `LARGEST`, or `most`."""
    return of.table is None and getattr(of.dataset.X, "nnz", of.dataset.X.size) <= (
        LARGEST if most is None else most
    )


def answer(of: Chosen, asked: ProblemSpec, patient: bool = False) -> JobState:
    """Return how the run of everybody is that answers a question about these data, see `look`."""
    return look(asked.numbers_only(), of.content, lambda: of.given, patient)


def look(
    spec: Spec, content: str, given: Callable[[], dict[str, Any]] = dict, patient: bool = False
) -> JobState:
    """Return how the run of everybody is that answers a question, begun if need be.

    It is begun once more where it was dropped, or failed a while ago, as nobody has a button for it.

    Parameters
    ----------
    content : str
        What the question is about, where the spec does not say it.
    given : callable
        Returns the data of the run, by the names of the arguments of the spec's `run`.
    patient : bool
        Whether the run lets others pass.
    """
    question = (spec.to_json(), content, spec, given, patient)
    now = engine().status(_begun(*question))
    late = now.state == "failed" and time.time() - (now.finished or 0.0) > AGAIN
    if late or now.state in ("cancelled", "interrupted"):  # by a restart, say
        _begun.clear(*question)
        now = engine().status(_begun(*question))
    return now


@keep(within=NAMES)
def _begun(
    question: str, content: str, _spec: Spec, _given: Callable[[], dict[str, Any]], patient: bool
) -> str:
    arguments = {"spec": _spec.to_plain(), **_given()}
    return engine().submit(
        _spec.kind,
        arguments,
        viewer=f"{_spec.kind} of {content}",
        workspace=EVERYBODY,
        title=_spec.kind,
        patient=patient,
    )
