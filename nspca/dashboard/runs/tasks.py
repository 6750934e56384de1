"""The engine of this process, and what it can be asked to do."""

from nspca import jobs
from nspca.jobs import Engine
from nspca.tasks import TASKS

FORMER = {
    "nspca.tasks:run_sweep": "sweep",
    "nspca.tasks:prove_more": "prove",
    "nspca.tasks:check": "check",
    "nspca.joint_tasks:run_joint": "joint",
    "nspca.compare_tasks:run_compare": "compare",
}
"""What stored runs from before there were names have instead."""


def engine() -> Engine:
    """The engine of this process, which knows the names of the tasks."""
    return jobs.engine(TASKS)


def named(stored: str) -> str:
    """The name of a stored run's task."""
    return FORMER.get(stored, stored)
