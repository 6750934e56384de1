"""Background runs: an engine for tasks in worker processes, and the store of runs, results and uploads.

The dashboard submits tasks to `engine` and shows their states. Commands use `backup` and
`jobs.command_workers`.
"""

from nspca.jobs.engine import Engine, engine
from nspca.jobs.job import JobState, Limits, Run
from nspca.jobs.store import Store, backup, new_workspace

__all__ = ["Engine", "JobState", "Limits", "Run", "Store", "backup", "engine", "new_workspace"]
