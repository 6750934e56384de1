"""The engine of this process, which runs every kind of question. Whoever starts or reads runs calls it."""

from nspca import jobs
from nspca.jobs import Engine, Run
from nspca.specs import Spec
from nspca.specs.base import load
from nspca.specs.job import RUN

TASKS = dict.fromkeys(Spec.KINDS, RUN)  # function that a worker calls, by kind of question


def engine() -> Engine:
    """Return the engine of this process, which knows every kind of question."""
    return jobs.engine(TASKS)


def spec_of(run: Run) -> Spec:
    """Return the spec of a stored run."""
    return Spec.from_plain(load(run.parameters).get("spec") or {})
