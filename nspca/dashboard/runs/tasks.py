"""The engine of this process, and the function that runs each kind of question."""

from nspca import jobs
from nspca.jobs import Engine, Run
from nspca.specs import Spec
from nspca.specs.base import load, load_kinds
from nspca.specs.job import RUN

load_kinds()
TASKS = dict.fromkeys(Spec.KINDS, RUN)
"""Kind of a question, and the function that a worker calls for it."""


def engine() -> Engine:
    """Return the engine of this process, which knows every kind of question."""
    return jobs.engine(TASKS)


def spec_of(run: Run) -> Spec:
    """Return what a stored run was asked.

    Raises
    ------
    InvalidOption
        For a run that is damaged, or that another version of the program stored.
    """
    return Spec.from_plain(load(run.parameters).get("spec") or {})
